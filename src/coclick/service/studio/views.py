"""What each page shows of models, as plain values. Lists are bounded, so that pages stay small."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from coclick import answers
from coclick.errors import UserError
from coclick.models.base import Model
from coclick.service.studio.clicks import clicks_of, row_of, walk
from coclick.text.normalise import normalise

WORDS = 40  # of a vector
SIMILAR = 15
PARTS = 20  # of a part in an explanation; the others are added up
CLICKS = 6  # behind each of them
DEEP = 50  # how far down a document's place is looked for

View = dict[str, Any]


def compare(query: str, k: int, sides: Sequence[tuple[str, Model]]) -> View:
    """The rankings of one or two models, and where each document stands in both."""
    rankings = [_ranking(name, model, query, k) for name, model in sides]
    places = [{hit["doc"]: i + 1 for i, hit in enumerate(side["results"])} for side in rankings]
    moves = []
    if len(places) == 2:
        first, second = places
        moves = [{"doc": doc, "a": first.get(doc), "b": second.get(doc)} for doc in first | second]
    return {"query": query, "k": k, "sides": rankings, "moves": moves}


def why(name: str, model: Model, query: str, doc: str) -> View:
    """Why a document has its score: a tree whose values add up, and the clicks behind it."""
    model.rows_of_docs([doc])  # raises for one that the model does not have
    found = [hit["doc"] for hit in answers.search(model, [query], DEEP)[0]["results"]] if query else []
    view: View = {
        "model": name,
        "query": query,
        "doc": doc,
        "title": model.title(doc),
        "known": row_of(model.graph_, "query", query) >= 0,
        "place": found.index(doc) + 1 if doc in found else None,
        "deep": DEEP,
        "score": float(model.score([query], [[doc]])[0][0]),
        "explanation": _able(model, "can_explain", lambda: answers.explain(model, query, doc, CLICKS)),
    }
    if explained := view["explanation"]["answer"]:
        _shorten(explained)
        if "words" in explained:
            explained["words"] = explained["words"][:PARTS]
        view["titles"] = {clicked: model.title(clicked) for clicked in sorted(_clicked_docs(explained))}
    return view


def query_page(name: str, model: Model, query: str) -> View:
    """A query's vector, the queries like it, and its clicks."""
    row = row_of(model.graph_, "query", query)
    return {
        "model": name,
        "query": query,
        "normal": normalise(query),
        "known": row >= 0,
        "words": _able(model, "can_expand", lambda: answers.expand(model, query)["words"][:WORDS]),
        "similar": _able(
            model, "can_similar", lambda: answers.similar_queries(model, [query], SIMILAR)[0]["results"]
        ),
        "clicks": clicks_of(model.graph_, "query", row) if row >= 0 else None,
    }


def document_page(name: str, model: Model, doc: str) -> View:
    """A document's vector, the documents like it, and its clicks."""
    row = int(model.rows_of_docs([doc])[0])
    return {
        "model": name,
        "doc": doc,
        "title": model.title(doc),
        "words": _able(model, None, lambda: _doc_words(model, doc)),
        "similar": _able(
            model, "can_similar", lambda: answers.similar_docs(model, [doc], SIMILAR)[0]["results"]
        ),
        "clicks": clicks_of(model.graph_, "doc", row),
    }


def walk_page(name: str, model: Model, query: str, doc: str) -> View:
    """A query or a document in the click graph and what is near it; for a query that the graph does not have,
    queries like it."""
    if not query:
        model.rows_of_docs([doc])  # raises for one that the model does not have
        return {"model": name, **walk(model.graph_, "doc", doc)}
    view = {"model": name, **walk(model.graph_, "query", query)}
    if not view["known"]:
        view["similar"] = _able(
            model, "can_similar", lambda: answers.similar_queries(model, [query], SIMILAR)[0]["results"]
        )
    return view


def translation(model: Model, word: str, k: int = 12) -> View:
    """The words of queries that a word of titles stands for."""

    def ask() -> list[View]:
        return [{"word": other, "probability": p} for other, p in model.translate(word, k)]

    return {"word": word, **_able(model, "can_translate", ask)}


def topics(model: Model, words: int = 10) -> list[View]:
    """The topics in two languages: what queries call them, and what titles do."""

    def named(found: Sequence[tuple[str, float]]) -> list[View]:
        return [{"word": word, "probability": likely} for word, likely in found]

    sides = ("query_words", "title_words")
    return [
        {**topic, **{side: named(topic[side]) for side in sides}} for topic in model.describe_topics(words)
    ]


def _ranking(name: str, model: Model, query: str, k: int) -> View:
    graph = model.trained_on
    row = row_of(graph, "query", query)
    clicked: dict[int, float] = {}
    if row >= 0:
        docs, clicks = graph.clicks.row(row)
        clicked = dict(zip(docs.tolist(), clicks.tolist(), strict=True))
    results = answers.search(model, [query], k)[0]["results"] if query else []
    for hit in results:
        hit["clicks"] = clicked.get(graph.docs.id(hit["doc"]), 0.0)
    return {"model": name, "known": row >= 0, "clicks": sum(clicked.values()), "results": results}


def _able(model: Model, flag: str | None, ask: Callable[[], Any]) -> View:
    """An answer, or why there is none: what a model cannot do is no error of the page."""
    if flag and not getattr(model, flag):
        return {"able": False, "said": "", "answer": None}
    try:
        return {"able": True, "said": "", "answer": ask()}
    except UserError as error:
        return {"able": False, "said": error.what, "answer": None}


def _doc_words(model: Model, doc: str) -> list[View]:
    vector = answers.doc_vectors(model, [doc])[0]
    if "terms" not in vector:
        raise UserError(f"its vector has {vector['dimensions']} plain numbers and no words")
    return [{"word": term["word"], "weight": term["weight"]} for term in vector["terms"][:WORDS]]


def _shorten(part: View) -> None:
    """Keep the first parts at every level; `rest` says how many more there are and what they add up to."""
    rest = part["parts"][PARTS:]
    part["rest"] = {"parts": len(rest), "value": sum(one["value"] for one in rest)}
    part["parts"] = part["parts"][:PARTS]
    for one in part["parts"]:
        _shorten(one)


def _clicked_docs(part: View) -> set[str]:
    """The documents of all clicks in an explanation, and those by which a query is known."""
    found = {click["doc"] for key in ("clicks", "query_clicks") for click in part.get(key, ())}
    if part.get("kind") == "query clicks":
        found.add(part["label"])
    return found.union(*(_clicked_docs(one) for key in ("parts", "words") for one in part.get(key, ())))
