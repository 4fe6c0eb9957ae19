"""Commands that ask a trained model: search, similar, expand, explain, vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coclick.cli.arguments import Json, ModelPath, listed_docs
from coclick.cli.terminal import print_json
from coclick.errors import UserError

K = Annotated[int, typer.Option("-k", min=1, help="How many results.")]
Query = Annotated[str, typer.Argument(metavar="QUERY", help="The query's text.")]
OneQuery = Annotated[str | None, typer.Argument(metavar="QUERY", help="The query's text.")]


def search(
    model: ModelPath,
    query: Query,
    k: K = 10,
    allow: Annotated[
        Path | None, typer.Option(help="Only these documents: a file with one id a line.")
    ] = None,
    block: Annotated[
        Path | None, typer.Option(help="Never these documents: a file with one id a line.")
    ] = None,
    json_: Json = False,
) -> None:
    """Rank documents for a query."""
    from coclick import answers, open_model
    from coclick.cli import render as show

    opened = open_model(model)
    only, never = listed_docs(allow, opened), listed_docs(block, opened)
    [answer] = answers.search(opened, [query], k, allow=only, block=never)
    if json_:
        print_json(answer)
    else:
        show.results(query, answer["results"])


def similar(
    model: ModelPath,
    query: OneQuery = None,
    docs: Annotated[
        str | None, typer.Option("--docs", metavar="DOC", help="A document: find similar ones.")
    ] = None,
    k: K = 10,
    json_: Json = False,
) -> None:
    """Find similar queries or, with --docs, similar documents."""
    from coclick import answers, open_model
    from coclick.cli import render as show

    asked = _either(query, docs)
    opened = open_model(model)
    find = answers.similar_queries if docs is None else answers.similar_docs
    [answer] = find(opened, [asked], k)
    if json_:
        print_json(answer)
    else:
        show.results(asked, answer["results"])


def expand(model: ModelPath, query: Query, json_: Json = False) -> None:
    """Show the words that the query's vector holds, with their weights."""
    from coclick import answers, open_model
    from coclick.cli import render as show

    answer = answers.expand(open_model(model), query)
    if json_:
        print_json(answer)
    else:
        show.words(query, answer["words"])


def explain(
    model: ModelPath,
    query: Query,
    doc: Annotated[str, typer.Argument(metavar="DOC", help="The document's id.")],
    clicks: Annotated[
        int | None,
        typer.Option(
            min=0, help="How many clicks to show behind each word, 0 for all; default 3, in JSON 10."
        ),
    ] = None,
    json_: Json = False,
) -> None:
    """Say exactly why: words × weights = score, and the clicks behind each word."""
    from coclick import open_model
    from coclick.cli import render as show

    if clicks is None:
        clicks = 10 if json_ else 3
    opened = open_model(model)
    explanation = opened.explain(query, doc, clicks or None)
    if json_:
        print_json(explanation.to_dict())
    else:
        show.explanation(explanation, opened.title(doc))


def vectors(
    model: ModelPath,
    query: OneQuery = None,
    docs: Annotated[str | None, typer.Option("--docs", metavar="DOC", help="A document instead.")] = None,
) -> None:
    """Print the vector of a query or, with --docs, of a document, as JSON: what a search engine is given."""
    from coclick import answers, open_model

    asked = _either(query, docs)
    find = answers.query_vectors if docs is None else answers.doc_vectors
    [answer] = find(open_model(model), [asked])
    print_json(answer)


def _either(query: str | None, doc: str | None) -> str:
    """The one of the two that was given."""
    if (query is None) == (doc is None):
        raise UserError("name either a query or, with --docs, a document")
    return str(query if doc is None else doc)
