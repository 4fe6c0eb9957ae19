"""Commands that query a trained model: search, similar, expand, explain, vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coclick.cli.arguments import MAX_COUNT, Force, Json, ModelPath, read_doc_ids, read_query_texts
from coclick.cli.terminal import output, print_json, say
from coclick.errors import UserError, counted

K = Annotated[int, typer.Option("-k", min=1, max=MAX_COUNT, help="Number of results.")]
Query = Annotated[str, typer.Argument(metavar="QUERY", help="Text of the query.")]
OptionalQuery = Annotated[str | None, typer.Argument(metavar="QUERY", help="Text of the query.")]


def search(
    model: ModelPath,
    query: Query,
    k: K = 10,
    allow: Annotated[
        Path | None, typer.Option(help="Return only these documents: a file with one id per line.")
    ] = None,
    block: Annotated[
        Path | None, typer.Option(help="Never return these documents: a file with one id per line.")
    ] = None,
    json_: Json = False,
) -> None:
    """Rank documents for a query."""
    from coclick import answers, open_model
    from coclick.cli import render

    opened = open_model(model)
    allowed, blocked = read_doc_ids(allow, opened), read_doc_ids(block, opened)
    [answer] = answers.search(opened, [query], k, allow=allowed, block=blocked)
    output(answer, json_, render.answer, answer)


def similar(
    model: ModelPath,
    query: OptionalQuery = None,
    docs: Annotated[
        str | None, typer.Option("--docs", metavar="DOC", help="Find documents similar to this one.")
    ] = None,
    queries: Annotated[
        Path | None,
        typer.Option(
            "--queries",
            metavar="FILE",
            help="Find the similar queries of every query in a file: one per line, or id<TAB>text.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Write them to a .tsv, .jsonl or .parquet file; without --queries, those of the whole log.",
        ),
    ] = None,
    k: K = 10,
    force: Force = False,
    json_: Json = False,
) -> None:
    """Find similar queries or, with --docs, similar documents, with their clicks.

    Queries for which there is little evidence, such as a single click that they share, get lower scores.
    """
    from coclick import answers, open_model
    from coclick.cli import render

    if queries is not None or out is not None:
        if query is not None or docs is not None:
            raise UserError("one query or document and many at once", hint="leave out --queries and -o")
        _similar_of_many(model, queries, out, k, force, json_)
        return
    name = _query_or_doc(query, docs)
    opened = open_model(model)
    find = answers.similar_queries if docs is None else answers.similar_docs
    [answer] = find(opened, [name], k)
    output(answer, json_, render.answer, answer)


def _similar_of_many(
    model: Path, queries: Path | None, out: Path | None, k: int, force: bool, json_: bool
) -> None:
    """Print or write the similar queries of the queries in a file, or of all queries of the log."""
    from coclick import answers, open_model
    from coclick.cli import render
    from coclick.exporters.similar_queries import write_similar_queries
    from coclick.progress import for_terminal

    texts = None if queries is None else read_query_texts(queries)
    opened = open_model(model)
    if out is None:
        found = answers.similar_queries(opened, texts or [], k)
        if json_:
            print_json(found)
            return
        for answer in found:
            render.answer(answer)
        return
    stats = write_similar_queries(opened, out, texts, k, force=force, progress=for_terminal())
    asked, without = counted(stats["queries"], "query"), stats["queries"] - stats["with_similar"]
    line = f"wrote {stats['rows']:,} similar queries of {asked} to {out}"
    output(stats, json_, say, f"{line}; {without:,} have none" if without else line)


def expand(
    model: ModelPath,
    query: OptionalQuery = None,
    docs: Annotated[
        list[str] | None,
        typer.Option(
            "--docs", metavar="DOC", help="Show the learned words of this document; with -o, repeat."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Write the learned words of documents, by default of all: .tsv, .ndjson or .parquet.",
        ),
    ] = None,
    k: K = 10,
    own_words: Annotated[
        bool, typer.Option("--own-words", help="Also list words that are in the title of the document.")
    ] = False,
    force: Force = False,
    json_: Json = False,
) -> None:
    """Show the words in a query's vector or, with --docs, the words that were learned for a document."""
    from coclick import answers, open_model
    from coclick.cli import render

    if out is not None:
        if query is not None:
            raise UserError("a query is not written to a file", hint="leave out the query, or -o")
        _write_learned_words(model, out, docs, k, not own_words, force, json_)
        return
    if docs and len(docs) > 1:
        raise UserError(f"{len(docs)} documents at once", hint="write them to a file: -o words.tsv")
    name = _query_or_doc(query, docs[0] if docs else None)
    opened = open_model(model)
    answer = answers.expand_doc(opened, name, k, new=not own_words) if docs else answers.expand(opened, name)
    output(answer, json_, render.words, name, answer["words"])


def _write_learned_words(
    model: Path, out: Path, docs: list[str] | None, k: int, new: bool, force: bool, json_: bool
) -> None:
    from coclick import open_model
    from coclick.exporters.learned_words import write_learned_words
    from coclick.progress import for_terminal

    stats = write_learned_words(
        open_model(model), out, docs, k, new=new, force=force, progress=for_terminal()
    )
    documents = counted(stats["with_words"], "document")
    output(stats, json_, say, f"wrote {stats['rows']:,} words of {documents} to {out}")


def explain(
    model: ModelPath,
    query: Query,
    doc: Annotated[str, typer.Argument(metavar="DOC", help="Id of the document.")],
    clicks: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=MAX_COUNT,
            help="Number of clicks to show for each part, 0 for all; default 3, with --json 10.",
        ),
    ] = None,
    parts: Annotated[
        int,
        typer.Option(min=0, max=MAX_COUNT, help="Number of parts to show, 0 for all; --json has all."),
    ] = 10,
    json_: Json = False,
) -> None:
    """Explain a score: the words and weights it is the sum of, and the clicks each was learned from."""
    from coclick import open_model
    from coclick.cli import render

    if clicks is None:
        clicks = 10 if json_ else 3
    opened = open_model(model)
    explanation = opened.explain(query, doc, clicks or None)
    output(explanation.to_dict(), json_, render.explanation, explanation, opened.title(doc), parts)


def vectors(
    model: ModelPath,
    query: OptionalQuery = None,
    docs: Annotated[
        str | None, typer.Option("--docs", metavar="DOC", help="Print the vector of this document.")
    ] = None,
) -> None:
    """Print the vector of a query or, with --docs, of a document, as JSON."""
    from coclick import answers, open_model

    name = _query_or_doc(query, docs)
    find = answers.query_vectors if docs is None else answers.doc_vectors
    [answer] = find(open_model(model), [name])
    print_json(answer)


def _query_or_doc(query: str | None, doc: str | None) -> str:
    if (query is None) == (doc is None):
        raise UserError("give either a query or, with --docs, a document")
    return str(query if doc is None else doc)
