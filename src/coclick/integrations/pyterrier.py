"""Models as PyTerrier transformers (`pip install "coclick[pyterrier]"`).

retriever = Retriever("model")                 # first stage: rank all documents
pipeline = bm25 >> Retriever("model")          # second stage: re-rank the results of the first
pipeline = Expander("model") >> bm25           # expand queries with learned words
"""

from __future__ import annotations

import re
from pathlib import Path

from coclick import answers
from coclick.errors import UserError
from coclick.models.base import Model
from coclick.models.persistence import open_model

try:
    import pandas as pd
    import pyterrier as pt
except ModuleNotFoundError as missing:
    raise UserError(
        f"coclick.integrations.pyterrier needs {missing.name}", hint='pip install "coclick[pyterrier]"'
    ) from None

_RANKED = ["qid", "query", "docno", "score", "rank", "title"]
_NOT_TEXT = {"qid", "query", "query_0", "docno", "docid", "score", "rank", "features"}


class Retriever(pt.Transformer):
    """Ranks all documents for each query, or re-ranks given results.

    Documents that the model does not know are scored by their text columns.
    """

    def __init__(self, model: Model | str | Path, k: int = 1000) -> None:
        self.model = model if isinstance(model, Model) else open_model(model)
        self.k = k

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return a ranking for `qid, query`, or re-rank `qid, query, docno …`."""
        with pt.validate.any(inp) as accepts:
            accepts.query_frame(extra_columns=["query"], mode="retrieve")
            accepts.result_frame(extra_columns=["query"], mode="rerank")
        return self._rerank(inp) if "docno" in inp.columns else self._retrieve(inp)

    def _retrieve(self, queries: pd.DataFrame) -> pd.DataFrame:
        texts = queries["query"].tolist()
        found = answers.search(self.model, texts, self.k) if texts else []
        rows = [
            (qid, query, hit["doc"], hit["score"], rank, hit["title"])
            for qid, query, answer in zip(queries["qid"], texts, found, strict=True)
            for rank, hit in enumerate(answer["results"])
        ]
        return pd.DataFrame(rows, columns=_RANKED)

    def _rerank(self, results: pd.DataFrame) -> pd.DataFrame:
        scored = results.copy()
        scored["score"] = 0.0
        texts = [
            name for name in results.columns
            if name not in _NOT_TEXT and pd.api.types.is_string_dtype(results[name])
        ]  # fmt: skip
        fields = [name for name in texts if name != "title"]
        for _, group in results.groupby("qid", sort=False):
            candidates = []
            for row in group[["docno", *texts]].to_dict("records"):
                texts_of = {field: str(row[field]) for field in fields}
                candidates.append({"doc": str(row["docno"]), "title": str(row.get("title", "")), **texts_of})
            ranked = answers.rank(self.model, group["query"].iloc[0], candidates)["results"]
            scores = {hit["doc"]: hit["score"] for hit in ranked}
            scored.loc[group.index, "score"] = [scores[doc["doc"]] for doc in candidates]
        return pt.model.add_ranks(scored)


class Expander(pt.Transformer):
    """Expands queries with weighted words of the model, in Terrier's query language.

    `words` is the number of added words; `weight` is the weight of the heaviest of them, where the words of
    the query have 1.
    """

    def __init__(self, model: Model | str | Path, words: int = 10, weight: float = 0.5) -> None:
        self.model = model if isinstance(model, Model) else open_model(model)
        self.words = words
        self.weight = weight

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        """Return the queries with `query` expanded and the original in `query_0`."""
        pt.validate.query_frame(inp, extra_columns=["query"])
        expanded = pt.model.push_queries(inp, keep_original=True)
        expanded["query"] = [self._expand(query) for query in inp["query"]]
        return expanded

    def _expand(self, query: str) -> str:
        own = re.findall(r"\w+", query)
        found = [(word, weight) for word, weight in self.model.expand(query) if re.fullmatch(r"\w+", word)]
        known = {word.lower() for word in own}
        new = [(word, weight) for word, weight in found if word not in known][: self.words]
        heaviest = max((weight for _, weight in new), default=1.0)
        return " ".join([*own, *(f"{word}^{self.weight * weight / heaviest:.4f}" for word, weight in new)])
