"""`EngineLtr`: trees like those of an `ltr`, over features that a search engine computes itself.

    BM25 of each text field             a `match` query of the engine
    BM25 of the clicked queries         the same, over the field `coclick_queries`, which the export fills
    BM25 of their character n-grams     the same, over `coclick_grams`: finds misspelt words
    numbers of the document             fields, which the export fills: clicks, recent clicks, price …
    words and characters of the query   parameters of the request, as the query and its n-grams are

The trees are trained on these features alone, from the same examples as `ltr`: all other columns are
constant. Lucene's BM25 lacks the factor k₁ + 1 of ours, so thresholds of scores are divided by it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.errors import UserError
from coclick.evaluation.holdout import hold_out
from coclick.evaluation.protocol import Protocol, evaluate_model
from coclick.exporters.shipping.measure import loss_figures
from coclick.graph.click_graph import ClickGraph
from coclick.ltr.boosting import Boosting
from coclick.ltr.doc_values import OF_DAYS
from coclick.ltr.features import OF_QUERIES
from coclick.ltr.model import Ltr
from coclick.ltr.trees import Trees
from coclick.models.registry import create
from coclick.progress import Progress, quiet

QUERIES_FIELD, GRAMS_FIELD = "coclick_queries", "coclick_grams"
_ONLY_CLICKED = (
    "content_weight=0,anchor_weight=0,query_weight=1,word_weight=1,ordered_weight=0,unordered_weight=0,"
    "idf_docs=field"  # as Lucene: documents without clicks have no such field
)
_CLICKED_QUERIES = f"bm25sd_mult({_ONLY_CLICKED})"
_CLICKED_GRAMS = f"bm25sd_mult({_ONLY_CLICKED},stem=false,tokenizer=grams)"
_K1 = 1.2
_MAX_REPEATS = 20  # of a clicked query in the text of a document


@dataclass(frozen=True)
class EngineLtr:
    """A trained `ltr` whose trees read only features of the engine, and the text field of each score."""

    ltr: Ltr
    fields: dict[str, str]  # of features that are BM25: name of the feature → field of the index

    @classmethod
    def train(cls, like: Ltr, graph: ClickGraph, progress: Progress = quiet) -> EngineLtr:
        """Train trees with the parameters of an `ltr` on the features of an engine."""
        if "texts" not in graph.provides:
            raise UserError("the graph has no texts, and an engine ranks by the words of texts")
        names = _text_fields(graph)
        parts = {str(create(f"bm25(fields={name})")): name for name in names}
        parts[str(create(_CLICKED_QUERIES))] = QUERIES_FIELD
        parts[str(create(_CLICKED_GRAMS))] = GRAMS_FIELD
        model = Ltr(
            parts=" + ".join(parts),
            objective=like.objective,
            n_trees=like.n_trees,
            n_leaves=like.n_leaves,
            learning_rate=like.learning_rate,
            n_candidates=like.n_candidates,
            n_folds=like.n_folds,
            max_queries=like.max_queries,
            n_negatives=like.n_negatives,
            seed=like.seed,
        )
        fields = {f"{spec} score": name for spec, name in parts.items()}
        known, examples = model.examples(graph, progress=progress)
        hidden = [i for i, name in enumerate(known) if not _is_known(name, fields, model)]
        values = _without_gaps(examples.features, known)
        values[:, hidden] = 0
        boosting = Boosting(model.objective, model.n_trees, model.n_leaves, model.learning_rate, model.seed)
        with progress("trees"):
            model.trees_ = boosting.grow(replace(examples, features=values))
        model.features_ = replace(model.features_, doc_values=np.nan_to_num(model.features_.doc_values))
        model.parts_ = [create(spec).fit(graph, progress) for spec in model.part_specs]
        model.graph_, model.start_weight_, model.stats_ = graph, 0.0, {}
        model._update_capabilities()
        return cls(model, fields)

    def engine_trees(self) -> Ltr:
        """Return the model with thresholds for the scores of Lucene."""
        trees, names = self.ltr.trees_, self.ltr.features_.names
        scores = [i for i, name in enumerate(names) if name in self.fields]
        scaled = np.where(
            np.isin(trees.feature, scores), trees.threshold / np.float32(_K1 + 1), trees.threshold
        )
        shallow = Ltr(parts=self.ltr.parts)
        shallow.__dict__ |= self.ltr.__dict__ | {
            "trees_": replace(trees, threshold=scaled.astype(np.float32))
        }
        return shallow

    def used(self) -> list[str]:
        """Return the names of the features that the trees read."""
        return [self.ltr.features_.names[i] for i in sorted({*_features(self.ltr.trees_)})]


def measure_ltr_loss(like: Ltr, graph: ClickGraph, progress: Progress = quiet) -> dict[str, Any]:
    """Return nDCG@10 by held-out clicks: of such an `ltr`, and of trees over features of the engine."""
    try:
        held_out = hold_out(graph)
        full = create(str(like)).fit(held_out.train, progress)
        reduced = EngineLtr.train(like, held_out.train, progress).ltr
    except UserError as error:
        return {"not_measured": error.reason}
    protocol = Protocol(depth=10)
    ours, theirs = (
        evaluate_model(one, held_out.judgments, protocol, max_scored=0).values() for one in (full, reduced)
    )
    return loss_figures(ours, theirs, held_out)


def clicked_queries(graph: ClickGraph, doc: int) -> list[str]:
    """Return the queries that a document was clicked for, each repeated round(log(1 + clicks)) times."""
    by_doc: Csr = graph.clicks_by_doc
    rows, clicks = by_doc.row(doc)
    repeats = np.clip(np.rint(np.log1p(clicks)), 1, _MAX_REPEATS).astype(int)
    pairs = zip(rows.tolist(), repeats.tolist(), strict=True)
    return [graph.queries[row] for row, times in pairs for _ in range(times)]


def _text_fields(graph: ClickGraph) -> list[str]:
    """The fields with words: most texts have letters."""
    found = []
    for name, texts in graph.texts.items():
        sample = [text for text in texts.to_list(0, min(len(texts), 100)) if text]
        if sum(any(map(str.isalpha, text)) for text in sample) > len(sample) / 2:
            found.append(name)
    return found


def _is_known(name: str, scores: dict[str, str], model: Ltr) -> bool:
    return name in scores or name in OF_QUERIES[:2] or name in model.features_.doc_names


def _without_gaps(values: NDArray[np.float32], names: list[str]) -> NDArray[np.float32]:
    """Missing values as zeros, as engines have them; those of days are missing only in examples."""
    days = np.isin(names, OF_DAYS)
    return np.where(np.isnan(values) & ~days, np.float32(0), values)


def _features(trees: Trees) -> list[int]:
    return [int(feature) for feature in trees.feature.tolist() if feature >= 0]
