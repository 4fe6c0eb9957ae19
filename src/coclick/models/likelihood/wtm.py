"""`wtm`: word translation from titles to queries (Gao et al. 2011 §2.1, Eq. 1, §5.2).

    P_model(t|d) = Σ_w t(t|w) P(w|d)

with t(q|w) learned by IBM Model 1 on clicked pairs of query and title (`coclick.solvers.ibm_model1`), and
P(w|d) the relative frequency of a word in the document. The null word is used in training and dropped for
ranking.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.kernels import values_at
from coclick.errors import UserError
from coclick.graph.click_graph import ClickGraph
from coclick.kernels.sparse_product import dense_product
from coclick.models.base import TopK
from coclick.models.document_expansion import top_of_sparse
from coclick.models.likelihood._base import LikelihoodModel, ProbabilityPart, clicked_pairs
from coclick.models.presets import Preset
from coclick.models.registry import register
from coclick.models.spec import Range
from coclick.models.text_model import GAO2011_TEXT
from coclick.progress import Progress
from coclick.solvers.ibm_model1 import TextPairs, fit_translations, prune
from coclick.storage.layout import Shape


@register
@dataclass
class WTM(LikelihoodModel):
    """A likelihood model whose P_model translates title words to query words."""

    name = "wtm"
    summary = "query likelihood through word translation, learned by IBM Model 1 from clicked pairs"
    relative_cost = 3.0
    capabilities = LikelihoodModel.capabilities | {"expand_docs", "translate"}
    presets = {
        "paper": Preset(
            "Gao et al. 2011",
            min_probability=(0.0, "Eq. 1: all translations"),
            use_null_word=(True, "§5.2: IBM Model 1, which has one (Brown et al. 1993)"),
            weight=("one", "§5.1: the title is paired with each unique query"),
            max_vocabulary=(500_000, "§5.2: the 500K most frequent words"),
            **GAO2011_TEXT,
        )
    }

    iterations: Annotated[int, Range(1)] = 10
    min_probability: Annotated[float, Range(0, 1)] = 0.001  # less probable translations are dropped
    use_null_word: bool = True
    weight: Literal["log1p", "clicks", "one"] = "log1p"
    max_vocabulary: Annotated[int, Range(1)] = 500_000  # most frequent words
    stem: bool = True

    translations_: Annotated[Csr, Shape("terms", "terms")] = field(init=False)  # one row per title word
    sources_: Annotated[Csr, Shape("terms", "terms")] = field(init=False)  # one row per query word

    def _fit(self, graph: ClickGraph, progress: Progress) -> None:
        """Learn translations by expectation maximisation on clicked pairs."""
        counts = self._count_words(graph, progress, self.max_vocabulary)
        query_of, title_of, weights = clicked_pairs(graph, counts, self.weight, self.fields)
        pairs = TextPairs(counts.queries, counts.docs, query_of, title_of, weights)
        table, curve = fit_translations(
            pairs, self.iterations, null_word=self.use_null_word, progress=progress
        )
        kept = prune(table, self.min_probability)
        self.translations_ = kept
        self.sources_ = kept.transpose()
        held = kept.row_nnz() > 0
        itself = kept.data[np.repeat(np.arange(kept.rows), kept.row_nnz()) == kept.indices]
        self.stats_["curve"] = curve
        self.stats_["translations"] = {
            "learned": table.nnz,
            "kept": kept.nnz,
            "mean_self_translation": float(itself.sum() / max(held.sum(), 1)),
        }

    def _word_probabilities(self, terms: NDArray[np.int32], docs: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return Σ_w t(t|w) P(w|d)."""
        found = np.zeros((len(terms), len(docs)))
        held = self.doc_words_.take_checked(docs, "the words of documents")
        doc_of = np.repeat(np.arange(len(docs)), held.row_nnz())
        for of_term, term in zip(found, terms, strict=True):
            words, probabilities = self.sources_.row(int(term))
            if len(words):
                place = np.minimum(np.searchsorted(words, held.indices), len(words) - 1)
                source = np.flatnonzero(words[place] == held.indices)
                likely = probabilities[place[source]].astype(np.float64) * held.data[source]
                of_term += np.bincount(doc_of[source], likely, len(docs))
        return found

    def _word_probabilities_block(
        self, terms: NDArray[np.int32], first: int, last: int
    ) -> NDArray[np.float32]:
        """Return the same, computed from the documents of each word."""
        words = self.sources_.take_checked(terms, "the translations")
        likely = words.data.astype(np.float64)
        sums = dense_product(words.indptr, words.indices, likely, self.word_docs_, first, last)
        return sums.astype(np.float32)

    def _explain_probability(self, term: int, doc: int) -> list[ProbabilityPart]:
        """List the words of the document that translate to the term."""
        words, shares = self.doc_words_.row(doc)
        table = self.translations_
        likely = values_at(table.indptr, table.indices, table.data, words, term)
        order = np.argsort(-likely * shares, kind="stable")
        return [
            ProbabilityPart(
                "translation", self.display_terms_[int(words[i])], float(likely[i]) * float(shares[i])
            )
            for i in order
        ]

    def _expand_docs(self, docs: NDArray[np.int32], excluded: Csr, k: int) -> TopK:
        """Find the query words that the words of the title translate to."""
        titles = self.doc_words_.take_checked(docs, "the words of documents").to_scipy()
        likely = Csr.from_scipy(titles @ self.translations_.to_scipy())
        return top_of_sparse(likely.with_data(self._word_weights(likely.data, likely.indices)), excluded, k)

    def _translate(self, word: str, k: int) -> list[tuple[str, float]]:
        """List the query words that a title word translates to, with probabilities."""
        term = self._title_term(word)
        words, likely = self.translations_.row(term)
        if not len(words):
            raise UserError(f"no clicked document has the word {word!r} in {'+'.join(self.fields_)}")
        order = np.argsort(-likely, kind="stable")[:k]
        return [(self.display_terms_[int(words[i])], float(likely[i])) for i in order]
