"""Mutants that no test can notice, with the reason. A row that matches no mutant any more is harmless."""

from __future__ import annotations

from typing import NamedTuple

from mutation.operators import Mutant


class Equivalent(NamedTuple):
    """The line before and after the change, without indentation; an empty `new` is every change of it."""

    file: str
    old: str
    new: str
    reason: str


EQUIVALENT = [
    Equivalent(
        "models/propagation/regression.py",
        "run_blocks(work, [(part, part + 1) for part in range(len(self.parts))])",
        "run_blocks(work, [(part, part + 2) for part in range(len(self.parts))])",
        "a task is one part: its end is not read",
    ),
    Equivalent(
        "models/click_graph/text_similarity.py",
        "_BLOCK = 1 << 16  # rows per scaling step",
        "",
        "rows are scaled one by one: the size of a block does not matter",
    ),
    Equivalent(
        "models/click_graph/text_similarity.py",
        "for text in np.flatnonzero(unknown_words > 1).tolist():  # a repeated word counts once",
        "for text in np.flatnonzero(unknown_words >= 1).tolist():  # a repeated word counts once",
        "one unknown word is distinct: counting it again gives 1",
    ),
    Equivalent(
        "models/combination/_base.py",
        "for part in parts[1:]:",
        "for part in parts[2:]:",
        "the graphs of the parts are equal: sharing one only saves memory",
    ),
    Equivalent(
        "models/lexical/wmd.py",
        "if bounds[order[first]] < kth - _SLACK:",
        "if bounds[order[first]] <= kth - _SLACK:",
        "a score is at most its bound, which is below the k-th score in both cases",
    ),
    Equivalent(
        "models/propagation/iterations.py",
        "_EDGES_PER_BLOCK = 4_000_000",
        "",
        "vectors of units are computed one by one: the size of a block does not matter",
    ),
    Equivalent(
        "models/propagation/units.py",
        "_TEXTS_PER_BLOCK = 200_000  # converted to Python strings",
        "",
        "vectors are generated one by one: the size of a block does not matter",
    ),
    Equivalent(
        "models/lexical/_proximity.py",
        "return Explanation(query.text, self.graph_.docs[doc], score, parts)",
        "return Explanation(self.graph_.docs[doc], query.text, score, parts)",
        "the public `explain` sets query and document to what was asked",
    ),
    Equivalent(
        "models/sparse_vectors.py",
        "return Explanation(query.text, self.graph_.docs[doc], score, parts, words)",
        "return Explanation(self.graph_.docs[doc], query.text, score, parts, words)",
        "the public `explain` sets query and document to what was asked",
    ),
    Equivalent(
        "models/projection/_base.py",
        "return Explanation(query.text, self.graph_.docs[doc], score, parts)",
        "return Explanation(self.graph_.docs[doc], query.text, score, parts)",
        "the public `explain` sets query and document to what was asked",
    ),
    Equivalent(
        "models/combination/_base.py",
        "return Explanation(query.text, self.graph_.docs[doc], sum(part.value for part in parts), parts)",
        "return Explanation(self.graph_.docs[doc], query.text, sum(part.value for part in parts), parts)",
        "the public `explain` sets query and document to what was asked",
    ),
    Equivalent(
        "models/likelihood/_base.py",
        "return Explanation(query.text, self.graph_.docs[doc], float(self._score(query, row)[0]), nonzero)",
        "return Explanation(self.graph_.docs[doc], query.text, float(self._score(query, row)[0]), nonzero)",
        "the public `explain` sets query and document to what was asked",
    ),
    Equivalent(
        "models/click_graph/neighbours.py",
        "return Explanation(query.text, doc_id, score, parts)",
        "return Explanation(doc_id, query.text, score, parts)",
        "the public `explain` sets query and document to what was asked",
    ),
    Equivalent(
        "models/likelihood/_base.py",
        "_BLOCK = 1 << 14  # documents per step",
        "",
        "it decides about memory alone: results do not depend on blocks, as tests with other sizes show",
    ),
    Equivalent(
        "models/likelihood/_base.py",
        "_MAX_SCORES = 1 << 22  # in memory at a time",
        "",
        "it decides about memory alone: results do not depend on blocks, as tests with other sizes show",
    ),
    Equivalent(
        "models/projection/bounds.py",
        "_BLOCK = 1 << 16  # queries per step",
        "",
        "it decides about memory alone: results do not depend on blocks, as tests with other sizes show",
    ),
    Equivalent(
        "models/lexical/wmd.py",
        "_BLOCK = 1024  # documents per step",
        "",
        "it decides about memory alone: results do not depend on blocks, as tests with other sizes show",
    ),
    Equivalent(
        "models/document_expansion.py",
        "DOCS_PER_BLOCK = 4096",
        "",
        "it decides about memory alone: results do not depend on blocks, as tests with other sizes show",
    ),
    Equivalent(
        "models/document_expansion.py",
        "_MAX_WEIGHTS = 1 << 23  # of one block of dense weights",
        "",
        "it decides about memory alone: results do not depend on blocks, as tests with other sizes show",
    ),
    Equivalent(
        "models/lexical/_word_vector_files.py",
        "_CHUNK = 1 << 20",
        "",
        "it decides about memory alone: results do not depend on blocks, as tests with other sizes show",
    ),
    Equivalent(
        "models/lexical/_word_vector_files.py",
        "_SAMPLE = 1 << 16",
        "",
        "a sample of any such size has bytes that text cannot have",
    ),
    Equivalent(
        "models/propagation/regression.py",
        "_PARTS = 8  # of the texts; a fixed number, so that sums do not depend on the number of threads",
        "",
        "sums are in float64: their order changes the last bits alone",
    ),
    Equivalent(
        "models/propagation/iterations.py",
        "for row in np.flatnonzero(counts.row_nnz() > MAX_ENTRIES).tolist():",
        "for row in np.flatnonzero(counts.row_nnz() >= MAX_ENTRIES).tolist():",
        "a row of exactly as many entries loses none of them",
    ),
    Equivalent(
        "models/propagation/iterations.py",
        "deepest = int(train.row_nnz()[sample].max(initial=0)) + 10",
        "deepest = int(train.row_nnz()[sample].max(initial=0)) + 11",
        "results below the first ten new documents do not count in nDCG@10",
    ),
    Equivalent(
        "models/propagation/iterations.py",
        "deepest = int(train.row_nnz()[sample].max(initial=0)) + 10",
        "deepest = int(train.row_nnz()[sample].max(initial=1)) + 10",
        "results below the first ten new documents do not count in nDCG@10",
    ),
    Equivalent(
        "models/propagation/iterations.py",
        "found, _ = index.search(query_vectors.take(sample), min(deepest, doc_vectors.rows))",
        "found, _ = index.search(query_vectors.take(sample), max(deepest, doc_vectors.rows))",
        "results below the first ten new documents do not count in nDCG@10",
    ),
    Equivalent(
        "models/propagation/regression.py",
        "return np.where(found > 0, found, 1.0)",
        "return np.where(found > 0, found, 2.0)",
        "the residual that it divides is 0",
    ),
    Equivalent(
        "models/propagation/units.py",
        "if (mixture.data < 0).any():  # which `propagate_once` cannot add up",
        "if (mixture.data <= 0).any():  # which `propagate_once` cannot add up",
        "weights of 0 are dropped before",
    ),
    Equivalent(
        "models/propagation/vpcg.py",
        "if query.row >= 0 and len(self.graph_.clicks.row(query.row)[0]):",
        "if query.row >= 0 and len(self.graph_.clicks.row(query.row)[1]):",
        "both arrays of a row have the same length",
    ),
    Equivalent(
        "models/propagation/vpcg.py",
        "if len(self.graph_.clicks_by_doc.row(doc)[0]):",
        "if len(self.graph_.clicks_by_doc.row(doc)[1]):",
        "both arrays of a row have the same length",
    ),
    Equivalent(
        "models/click_graph/neighbours.py",
        "if own >= 0 and len(self.graph_.clicks.row(own)[0]):",
        "if own >= 0 and len(self.graph_.clicks.row(own)[1]):",
        "both arrays of a row have the same length",
    ),
    Equivalent(
        "models/projection/linear_map.py",
        "if features.nnz >= self.matrix.rows:",
        "if features.nnz > self.matrix.rows:",
        "all rows are read, or those that are needed: the products are the same",
    ),
    Equivalent(
        "models/projection/bounds.py",
        '"vacuous": found > largest * space.B,',
        '"vacuous": found >= largest * space.B,',
        "a bound of real numbers is never exactly the largest objective",
    ),
    Equivalent(
        "models/lexical/wmd.py",
        "return np.zeros(self.docs_.rows)",
        "return np.ones(self.docs_.rows)",
        "without words of the query all scores are 0, solved or not",
    ),
    Equivalent(
        "models/lexical/wmd.py",
        "if bounds[order[first]] < kth - _SLACK:",
        "if bounds[order[first]] < kth + _SLACK:",
        "bounds have a margin for rounding already: only a tie within 1e-6 could be lost",
    ),
    Equivalent(
        "models/lexical/wmd.py",
        "first, size = first + len(batch), 2 * size",
        "first, size = first + len(batch), 3 * size",
        "the number of documents solved at a time: it decides about time alone",
    ),
    Equivalent(
        "models/lexical/_word_vector_files.py",
        "entries = _binary(stream, name, dim, words or 0) if is_binary else _text(stream, name, dim, words)",
        "entries = _binary(stream, name, dim, words or 1) if is_binary else _text(stream, name, dim, words)",
        "a binary file has a header: the alternative is for the type checker",
    ),
    Equivalent(
        "models/likelihood/_base.py",
        "batch = max(1, _MAX_SCORES // max(len(self.graph_.docs), 1))",
        "batch = max(1, _MAX_SCORES // min(len(self.graph_.docs), 1))",
        "it decides about memory alone: results do not depend on batches, as tests with other sizes show",
    ),
    Equivalent(
        "models/likelihood/_base.py",
        "batch = max(1, _MAX_SCORES // max(len(self.graph_.docs), 1))",
        "batch = max(1, _MAX_SCORES // max(len(self.graph_.docs), 2))",
        "it decides about memory alone: results do not depend on batches, as tests with other sizes show",
    ),
    Equivalent(
        "models/likelihood/_base.py",
        "batch = max(1, _MAX_SCORES // max(len(self.graph_.docs), 1))",
        "batch = max(2, _MAX_SCORES // max(len(self.graph_.docs), 1))",
        "it decides about memory alone: results do not depend on batches, as tests with other sizes show",
    ),
    Equivalent(
        "models/projection/svdfeature.py",
        "pattern = Csr.from_triples(asked, clicked, np.ones(len(asked)), (weights.rows, weights.columns))",
        "pattern = Csr.from_triples(asked, clicked, np.zeros(len(asked)), (weights.rows, weights.columns))",
        "only the places of the pattern are read",
    ),
    Equivalent(
        "models/spec.py",
        'depth += (character == "(") - (character == ")")',
        'depth -= (character == "(") - (character == ")")',
        "the depth counts down instead of up: only 0 is asked for",
    ),
    Equivalent(
        "models/projection/_base.py",
        "found[found < MIN_NORM * found.max(axis=1, keepdims=True)] = 0  # rounding errors",
        "found[found <= MIN_NORM * found.max(axis=1, keepdims=True)] = 0  # rounding errors",
        "real numbers are not exactly at the limit, and zeros become zeros",
    ),
    Equivalent(
        "models/propagation/regression.py",
        "while iterations < max_iterations and energy > goal:",
        "while iterations < max_iterations and energy >= goal:",
        "the energy, a real number, is never exactly the goal",
    ),
    Equivalent(
        "models/sparse_vectors.py",
        "shared, in_query, in_doc = "
        "np.intersect1d(q_terms, d_terms, assume_unique=True, return_indices=True)",
        "shared, in_query, in_doc = "
        "np.intersect1d(q_terms, d_terms, assume_unique=False, return_indices=True)",
        "the terms of a vector are distinct: it only saves time",
    ),
    Equivalent(
        "models/lexical/_word_embeddings.py",
        "information = cooccurrences.copy()",
        "information = cooccurrences",
        "the counts are not used any more",
    ),
]


def equivalent_reason(mutant: Mutant) -> str | None:
    """Return why a mutant is equivalent; None if it is not listed."""
    old, new = mutant.diff()
    for row in EQUIVALENT:
        if row.file == mutant.file and row.old == old and row.new in ("", new):
            return row.reason
    return None
