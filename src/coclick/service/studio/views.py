"""The data of each page as plain values. Lists are limited, so that pages stay small."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from coclick import answers
from coclick.errors import UserError
from coclick.models.base import Model
from coclick.service.studio.clicks import clicks_of, row_of, walk
from coclick.text.normalise import normalise

if TYPE_CHECKING:
    from coclick.service.studio.doc_fields import DocFields
    from coclick.service.studio.engine import Engine

MAX_WORDS = 40  # of a vector
MAX_SIMILAR = 15
MAX_PARTS = 20  # of each part of an explanation; the others are summed
MAX_CLICKS = 6  # of each part
MAX_RANK = 50  # how far down the ranking a document is searched for

View = dict[str, Any]


def compare(query: str, k: int, sides: Sequence[Callable[[str, int], View]]) -> View:
    """Return one or two rankings, each by a function, and the rank of each document in both."""
    rankings = [rank(query, k) for rank in sides]
    ranks = [{hit["doc"]: i + 1 for i, hit in enumerate(side["results"])} for side in rankings]
    moves = []
    if len(ranks) == 2:
        first, second = ranks
        moves = [{"doc": doc, "a": first.get(doc), "b": second.get(doc)} for doc in first | second]
    return {"query": query, "k": k, "sides": rankings, "moves": moves}


def why(name: str, model: Model, query: str, doc: str) -> View:
    """Explain a score: a tree whose values add up, with the clicks it was learned from."""
    model.rows_of_docs([doc])  # raises if the model does not have it
    found = [hit["doc"] for hit in answers.search(model, [query], MAX_RANK)[0]["results"]] if query else []
    view: View = {
        "model": name,
        "query": query,
        "doc": doc,
        "title": model.title(doc),
        "known": row_of(model.graph_, "query", query) >= 0,
        "rank": found.index(doc) + 1 if doc in found else None,
        "max_rank": MAX_RANK,
        "score": float(model.score([query], [[doc]])[0][0]),
        "explanation": _if_supported(model, "explain", answers.explain, query, doc, MAX_CLICKS),
    }
    if explained := view["explanation"]["answer"]:
        _limit_parts(explained)
        if "words" in explained:
            explained["words"] = explained["words"][:MAX_PARTS]
        view["titles"] = {clicked: model.title(clicked) for clicked in sorted(_clicked_docs(explained))}
    return view


def query_page(name: str, model: Model, query: str) -> View:
    """Return the vector of a query, similar queries, and its clicks."""
    row = row_of(model.graph_, "query", query)
    return {
        "model": name,
        "query": query,
        "normalised": normalise(query),
        "known": row >= 0,
        "words": _if_supported(model, "expand", _query_words, query),
        "similar": _if_supported(model, "similar", _similar_queries, query),
        "clicks": clicks_of(model.graph_, "query", row) if row >= 0 else None,
    }


def document_page(name: str, model: Model, fields: DocFields, doc: str) -> View:
    """Return the fields and vector of a document, similar documents, and its clicks."""
    row = int(model.rows_of_docs([doc])[0])
    return {
        "model": name,
        "doc": doc,
        "title": model.title(doc),
        **fields.of(doc),
        "words": _if_supported(model, None, _doc_words, doc),
        "similar": _if_supported(model, "similar", _similar_docs, doc),
        "clicks": clicks_of(model.graph_, "doc", row),
    }


def walk_page(name: str, model: Model, query: str, doc: str) -> View:
    """Return the neighbours of a query or document in the click graph; for an unseen query, similar ones."""
    if not query:
        model.rows_of_docs([doc])  # raises if the model does not have it
        return {"model": name, **walk(model.graph_, "doc", doc)}
    view = {"model": name, **walk(model.graph_, "query", query)}
    if not view["known"]:
        view["similar"] = _if_supported(model, "similar", _similar_queries, query)
    return view


def translation(model: Model, word: str, k: int = 12) -> View:
    """Return the translations of a title word into query words."""
    return {"word": word, **_if_supported(model, "translate", answers.translate, word, k)}


def topics(model: Model) -> list[View]:
    """Return the topics: their words in queries and their words in titles."""
    return answers.topics(model, 10)


def ranking(name: str, model: Model, query: str, k: int) -> View:
    """Return the ranking of a model, with the clicks of each document for the query."""
    answer: View = {"results": [], "guess": False}
    if query:
        answer = answers.search(model, [query], k)[0]
    found = _with_clicks(model, query, answer["results"])
    return {"model": name, "live": False, "problem": None, "guess": answer["guess"], **found}


def live_ranking(name: str, engine: Engine, model: Model, query: str, k: int) -> View:
    """Return the ranking of the user's own engine, or why there is none; clicks are those of the model."""
    results: list[View] = []
    problem = None
    try:
        for hit in engine.search(query, k) if query else []:
            known = model.trained_on.docs.id(hit["doc"]) >= 0
            title = hit["title"] or (model.title(hit["doc"]) if known else "")
            results.append({"doc": hit["doc"], "title": title, "score": None, "known": known})
    except UserError as error:
        problem = {"message": error.what, "hint": error.hint}
    return {
        "model": name,
        "live": True,
        "problem": problem,
        "guess": False,
        **_with_clicks(model, query, results),
    }


def _with_clicks(model: Model, query: str, results: list[View]) -> View:
    graph = model.trained_on
    row = row_of(graph, "query", query)
    clicked: dict[int, float] = {}
    if row >= 0:
        docs, clicks = graph.clicks.row(row)
        clicked = dict(zip(docs.tolist(), clicks.tolist(), strict=True))
    hits = [{**hit, "clicks": clicked.get(graph.docs.id(hit["doc"]), 0.0)} for hit in results]
    return {"known": row >= 0, "clicks": sum(clicked.values()), "results": hits}


def _if_supported(model: Model, capability: str | None, compute: Callable[..., Any], *args: Any) -> View:
    """The answer `compute(model, *args)`, or why the model has none, which the page shows instead."""
    if capability and capability not in model.capabilities:
        return {"supported": False, "reason": "", "answer": None}
    try:
        return {"supported": True, "reason": "", "answer": compute(model, *args)}
    except UserError as error:
        return {"supported": False, "reason": error.what, "answer": None}


def _similar_queries(model: Model, query: str) -> list[View]:
    return answers.similar_queries(model, [query], MAX_SIMILAR)[0]["results"]


def _similar_docs(model: Model, doc: str) -> list[View]:
    return answers.similar_docs(model, [doc], MAX_SIMILAR)[0]["results"]


def _query_words(model: Model, query: str) -> list[View]:
    return answers.expand(model, query)["words"][:MAX_WORDS]


def _doc_words(model: Model, doc: str) -> list[View]:
    vector = answers.doc_vectors(model, [doc])[0]
    if "terms" not in vector:
        raise UserError(f"the vector is dense: {vector['dimensions']} numbers, no words")
    return [{"word": term["word"], "weight": term["weight"]} for term in vector["terms"][:MAX_WORDS]]


def _limit_parts(part: View) -> None:
    """Keep the first parts at every level; `rest` counts and sums the others."""
    rest = part["parts"][MAX_PARTS:]
    part["rest"] = {"parts": len(rest), "value": sum(one["value"] for one in rest)}
    part["parts"] = part["parts"][:MAX_PARTS]
    for one in part["parts"]:
        _limit_parts(one)


def _clicked_docs(part: View) -> set[str]:
    """The documents of all clicks in an explanation, and of parts that are clicked documents."""
    found = {click["doc"] for key in ("clicks", "query_clicks") for click in part.get(key, ())}
    if part.get("kind") == "query clicks":
        found.add(part["label"])
    return found.union(*(_clicked_docs(one) for key in ("parts", "words") for one in part.get(key, ())))
