"""Mutants written by hand: misreadings of a paper, and faults that the syntax alone does not suggest."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from mutation.operators import Mutant


class Named(NamedTuple):
    """`old` occurs once in the file and becomes `new`; `name` says what is wrong then."""

    name: str
    file: str
    old: str
    new: str


NAMED = [
    Named(
        "Table 5: the row of equal weights has the learned ones",
        "evaluation/unit_vectors.py",
        "weights=np.ones_like(units.weights)",
        "weights=units.weights",
    ),
    Named(
        "Table 5: the truth does not know held-out clicks",
        "evaluation/unit_vectors.py",
        "truth.fit(graph, progress)",
        "truth.fit(train, progress)",
    ),
    Named(
        "Table 5: one-word queries without clicks count",
        "evaluation/unit_vectors.py",
        "known = (rows >= 0) & (model.graph_.clicks.row_nnz()[rows] > 0)",
        "known = rows >= 0",
    ),
    Named(
        "generated vectors are not pruned to K",
        "models/propagation/units.py",
        "return propagate_once(mixture, vectors, k)",
        "return propagate_once(mixture, vectors, 1000)",
    ),
    Named(
        "units of documents come from all fields",
        "models/propagation/vpcg.py",
        'if self.start == "query" else (titles(graph.texts), None)',
        'if self.start == "query" else (Strings.from_list(" ".join(row) for row in '
        "zip(*map(Strings.to_list, graph.texts.values()), strict=True)), None)",
    ),
    Named(
        "propagation from documents ignores `fields`",
        "models/propagation/vpcg.py",
        "fields = choose_fields(graph.texts, self.fields)",
        'fields = choose_fields(graph.texts, "all")',
    ),
    Named(
        "validation prefers more iterations where several are best",
        "models/propagation/iterations.py",
        '-row["rounds"]',
        'row["rounds"]',
    ),
    Named(
        "validation ranks documents of training",
        "models/propagation/iterations.py",
        "(ranked >= 0) & ~np.isin(ranked, known)",
        "ranked >= 0",
    ),
    Named(
        "the regression of unit weights includes the whole text as a unit",
        "models/propagation/units.py",
        "others = held.without_full_text()",
        "others = held",
    ),
    Named(
        "a unit inside a longer one counts as well",
        "models/propagation/units.py",
        "units = table.decompose(sequences)",
        "units = table.incidence(sequences)",
    ),
    Named(
        "words of new documents are weighted by the idf of queries",
        "features/views.py",
        "return tf_idf(count_terms(tokens, len(self.terms)), self.doc_idf, self.tf)",
        "return tf_idf(count_terms(tokens, len(self.terms)), self.query_idf, self.tf)",
    ),
    Named(
        "n-grams of new documents are weighted by the idf of queries",
        "features/views.py",
        'self.units.incidence(sequences)), self.doc_idf, "count")',
        'self.units.incidence(sequences)), self.query_idf, "count")',
    ),
    Named(
        "the limit of a bin of clicks belongs to the next bin",
        "evaluation/breakdown.py",
        "if count <= limit",
        "if count < limit",
    ),
    Named(
        "labels of similar queries are symmetric",
        "evaluation/similar_queries.py",
        "rank_discounts(explaining.take(np.flatnonzero(has_train)))",
        "_row_shares(explaining.take(np.flatnonzero(has_train)))",
    ),
    Named(
        "bltm_pr has no posterior regularisation",
        "models/likelihood/bltm.py",
        'return {"regularise": True}',
        "return {}",
    ),
    Named(
        "plsa learns from clicked documents only",
        "models/likelihood/bltm.py",
        "held = np.flatnonzero(counts.docs.row_nnz())",
        "held = np.flatnonzero((counts.docs.row_nnz() > 0) & (graph.clicks_by_doc.row_nnz() > 0))",
    ),
    Named(
        "rmls weights pairs like pls",
        "models/projection/rmls.py",
        'weight: Weight = "degree"',
        'weight: Weight = "log1p"',
    ),
]


def named_mutant(named: Named, package: Path) -> Mutant:
    """Return the mutant; where the code has changed, say which row has to change with it."""
    source = (package / named.file).read_bytes()
    if source.count(named.old.encode()) != 1:
        raise SystemExit(
            f"tests/mutation/named.py: {named.file} does not have {named.old!r} once ({named.name})"
        )
    start = source.index(named.old.encode())
    return Mutant(named.file, source, start, start + len(named.old.encode()), named.new)
