"""`ClickGraph`: which documents were clicked for which queries, with all that later models need.

Rows are queries and columns are documents, always. A graph is immutable. On disk it is a directory that
opens by memory map; in memory it is the same class over plain arrays.

    clicks        weighted clicks (CSR), and the same by document
    pairs         every pair that was shown or clicked: impressions, users, sessions, navigational clicks
    daily         for each day of each pair the same counts, with a histogram of positions
    skips         for each query: (clicked document, document shown above it and passed over, how often)
    variants      raw spellings that normalisation merged into a query
    views         features of a user's own, by name: see `coclick.graph.user_views`

A log of aggregated clicks has `clicks` and perhaps `pairs`; the rest needs events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings, Vocab
from coclick.errors import ArtefactError, UserError
from coclick.graph.tables import click_rows, doc_texts, is_table
from coclick.graph.user_views import View, check_name, merged, placed, view_names
from coclick.storage import parquet_tables as tables
from coclick.storage.array_files import read_csr, read_strings, read_vocab, write_csr, write_strings
from coclick.storage.artefact import Artefact, ArtefactWriter, writing
from coclick.storage.manifest import ARRAY_NAME, a_kind
from coclick.text.analyzer import normalise_batch

if TYPE_CHECKING:
    from coclick.graph.split import Split
    from coclick.graph.user_views import Rows

Ints = NDArray[np.int32]
_MOST_CLICKS = 1e12  # of a row, as in a log


class _Columns:
    """A table: one array a column, stored as `<table>.<column>`; a missing optional column is None."""

    table: str

    @classmethod
    def read(cls, source: Artefact) -> Self | None:
        columns = {column.name: column.default for column in fields(cls)}  # type: ignore[arg-type]
        told = {name: f"{cls.table}.{name}" for name in columns if f"{cls.table}.{name}" in source}
        if not told:
            return None
        for name, default in columns.items():
            if default is MISSING and name not in told:
                raise ArtefactError(f"the table {cls.table!r} has no {name}", where=str(source.path))
        return cls(**{name: source.array(array) for name, array in told.items()})

    def write(self, out: ArtefactWriter) -> None:
        for column in fields(self):  # type: ignore[arg-type]
            values = getattr(self, column.name)
            if values is not None:
                out.array(f"{self.table}.{column.name}", values)


@dataclass(frozen=True)
class Pairs(_Columns):
    """Every pair that was shown or clicked, by query (`indptr`), documents ascending."""

    table = "pairs"
    indptr: NDArray[np.int64]
    docs: Ints
    impressions: Ints | None = None
    users: Ints | None = None
    sessions: Ints | None = None  # 30-minute sessions that showed the document for the query
    navigational: Ints | None = None  # sessions in which it was the only click


@dataclass(frozen=True)
class Daily(_Columns):
    """The days of each pair (`indptr` over pairs), and for each of those rows a histogram of positions."""

    table = "daily"
    indptr: NDArray[np.int64]
    day: Ints  # days since 1970-01-01, UTC
    clicks: NDArray[np.float32]
    impressions: Ints | None = None
    users: Ints | None = None
    sessions: Ints | None = None
    navigational: Ints | None = None
    position_indptr: NDArray[np.int64] | None = None  # over the rows of this table
    position: Ints | None = None
    shown: Ints | None = None  # impressions at that position


@dataclass(frozen=True)
class Skips(_Columns):
    """Joachims' pairs by query (`indptr`): clicked over one that stood above it and was not clicked."""

    table = "skips"
    indptr: NDArray[np.int64]
    clicked: Ints
    skipped: Ints
    count: Ints


@dataclass(frozen=True, eq=False)
class ClickGraph:
    """An immutable click graph; see the module's docstring for its parts."""

    queries: Vocab
    docs: Vocab
    clicks: Csr
    texts: Mapping[str, Strings] = field(default_factory=dict)  # by field: title, body, url, anchor …
    pairs: Pairs | None = None
    daily: Daily | None = None
    skips: Skips | None = None
    figures: Mapping[str, Any] = field(default_factory=dict)  # what the build counted
    artefact: Artefact | None = None
    views: Mapping[str, View] = field(default_factory=dict)  # the user's own

    # -- making one ------------------------------------------------------------------------------------

    @classmethod
    def from_clicks(
        cls,
        clicks: Any,
        docs: Any = None,
    ) -> ClickGraph:
        """Make a graph in memory.

        Parameters: `clicks`, an iterable of (query, document, clicks), or a table (pandas, polars, Arrow)
        with columns query, doc and, unless every row is one click, clicks; `docs`, a mapping from id to title
        or to fields, or a table with columns doc, title and further texts. Returns the graph.

        For logs on disk use `coclick.build`, which also counts and keeps invalid rows.
        """
        if is_table(docs):
            docs = doc_texts(docs)
        given = click_rows(clicks) if is_table(clicks) else clicks
        try:
            rows = [(query, doc, float(count)) for query, doc, count in given]
        except (TypeError, ValueError) as error:
            raise UserError(
                f"clicks must be rows of (query, document, number of clicks): {error}",
                hint='for example [("ny hotels", "d1", 3)], or a table with columns query, doc, clicks',
            ) from None
        if not all(isinstance(text, str) for query, doc, _ in rows for text in (query, doc)):
            raise UserError("queries and documents must be texts", hint="str(id) makes one of a number")
        if any(not 0 < count <= _MOST_CLICKS for _, _, count in rows):
            raise UserError(f"clicks must be positive numbers, up to {_MOST_CLICKS:g}")
        docs = {} if docs is None else docs
        texts = normalise_batch([query for query, _, _ in rows])
        if not all(texts):
            raise UserError("a query is empty", hint="leave such rows out")
        queries = Vocab.from_list(texts)
        documents = Vocab.from_list([*docs, *(doc for _, doc, _ in rows)])
        matrix = Csr.from_triples(
            queries.lookup(texts),
            documents.lookup([doc for _, doc, _ in rows]),
            np.array([count for _, _, count in rows], np.float64),
            (len(queries), len(documents)),
        )
        given = {doc: {"title": text} if isinstance(text, str) else text for doc, text in docs.items()}
        names = sorted({name for text in given.values() for name in text})
        if wrong := [name for name in names if not ARRAY_NAME.fullmatch(name)]:
            raise UserError(
                f"a field cannot be called {wrong[0]!r}", hint="lower-case letters, digits and _ can be used"
            )
        columns = {
            name: Strings.from_list(given.get(doc, {}).get(name, "") for doc in documents) for name in names
        }
        return cls(queries, documents, matrix, columns)

    @classmethod
    def open(cls, path: str | Path) -> ClickGraph:
        """Open a graph on disk, in milliseconds whatever its size."""
        source = Artefact(path)
        if source.kind != "graph":
            raise UserError(f"this is {a_kind(source.kind)}, not a graph", where=str(path))
        return cls.read(source)

    @classmethod
    def read(cls, source: Artefact) -> ClickGraph:
        """The graph in an artefact: a graph of its own, or the one that a model carries."""
        if tables.is_parquet(source):
            return cls._read_tables(source)
        queries, docs = read_vocab(source, "queries"), read_vocab(source, "docs")
        names = [
            name[5:-8] for name in source.files if name.startswith("text.") and name.endswith(".offsets")
        ]
        texts = {name: read_strings(source, f"text.{name}") for name in sorted(names)}
        if any(len(column) != len(docs) for column in texts.values()):
            raise ArtefactError("the documents' texts do not fit the documents", where=str(source.path))
        return cls(
            queries,
            docs,
            read_csr(source, "clicks", len(queries), len(docs)),
            texts,
            Pairs.read(source),
            Daily.read(source),
            Skips.read(source),
            source.manifest.get("figures" if source.kind == "graph" else "build", {}),
            source,
            {name: View.read(source, name, len(queries), len(docs)) for name in view_names(source.files)},
        )

    @classmethod
    def _read_tables(cls, source: Artefact) -> ClickGraph:
        """A graph that Spark wrote, read whole."""
        queries, docs = (
            tables.read_vocab(source, "queries", "text"),
            tables.read_vocab(source, "docs", "name"),
        )
        sizes = len(queries), len(docs)
        fields = source.manifest.get("texts", [])
        texts = {name: tables.read_strings(source, "docs", f"text_{name}") for name in sorted(fields)}
        pairs = tables.read_pairs(source, *sizes)
        daily, skips = tables.read_daily(source, pairs), tables.read_skips(source, *sizes)
        return cls(
            queries,
            docs,
            tables.read_edges(source, *sizes),
            texts,
            Pairs(**pairs) if pairs else None,
            Daily(**daily) if daily else None,
            Skips(**skips) if skips else None,
            figures=source.manifest.get("figures" if source.kind == "graph" else "build", {}),
            artefact=source,
        )

    def save(self, path: str | Path, *, force: bool = False) -> ClickGraph:
        """Write to a directory and return the graph opened from there."""
        with writing(path, force=force) as out:
            self.write(out)
            out.commit("graph", figures=dict(self.figures))
        return ClickGraph.open(path)

    def write(self, out: ArtefactWriter) -> None:
        """Store every part."""
        write_strings(out, "queries", self.queries)
        write_strings(out, "docs", self.docs)
        for name, column in self.texts.items():
            write_strings(out, f"text.{name}", column)
        write_csr(out, "clicks", self.clicks)
        write_csr(out, "clicks_by_doc", self.clicks_by_doc)
        for table in (self.pairs, self.daily, self.skips):
            if table is not None:
                table.write(out)
        for name, view in self.views.items():
            view.write(out, name)

    def with_view(
        self,
        name: str,
        queries: Rows,
        docs: Rows,
        *,
        query_features: Sequence[str] | None = None,
        doc_features: Sequence[str] | None = None,
    ) -> ClickGraph:
        """The graph with one more view: for each side ids and a sparse matrix with a row for each of them.

        Features are called as given or, without names, by the number of their column. Ids that the graph
        does not have are counted in `figures` and left out.
        """
        check_name(name, self.texts)
        query_rows, query_names, unknown_queries = placed(queries, query_features, self.queries, "queries")
        doc_rows, doc_names, unknown_docs = placed(docs, doc_features, self.docs, "documents")
        view = View(query_rows, doc_rows, query_names, doc_names)
        unknown = {"unknown_queries": unknown_queries, "unknown_docs": unknown_docs}
        figures = {**self.figures, "views": {**self.figures.get("views", {}), name: unknown}}
        return replace(self, views={**self.views, name: view}, figures=figures, artefact=None)

    # -- looking at it ---------------------------------------------------------------------------------

    @cached_property
    def clicks_by_doc(self) -> Csr:
        """The transpose of `clicks`: rows are documents."""
        if self.artefact and "clicks_by_doc.indptr" in self.artefact:
            return read_csr(self.artefact, "clicks_by_doc", len(self.docs), len(self.queries))
        return self.clicks.transpose()

    @property
    def digest(self) -> str:
        """The content's identity, empty for a graph that was never saved."""
        return self.artefact.digest if self.artefact else ""

    def title(self, doc: int) -> str:
        """A document's title, or the empty string."""
        return self.texts["title"][doc] if "title" in self.texts else ""

    @cached_property
    def provides(self) -> frozenset[str]:
        """What there is beyond clicks: texts, impressions, sessions, days, positions, skips."""
        pairs, daily = self.pairs, self.daily
        there = {
            "texts": bool(self.texts),
            "impressions": pairs is not None and pairs.impressions is not None,
            "sessions": pairs is not None and pairs.sessions is not None,
            "days": daily is not None,
            "positions": daily is not None
            and daily.position is not None
            and bool((daily.position > 0).any()),
            "skips": self.skips is not None,
        }
        return frozenset(name for name, found in there.items() if found)

    # -- cutting it ------------------------------------------------------------------------------------

    def split(self, by: str = "time", fraction: float = 0.2, seed: int = 0) -> Split:
        """Hold clicks out by `time`, `queries` or `pairs`: see `coclick.graph.split`."""
        from coclick.graph.split import split

        return split(self, by, fraction, seed)

    def merge(self, other: ClickGraph) -> ClickGraph:
        """The clicks of both graphs; texts, and rows of views, from the other where this one has none."""
        queries = Vocab.from_list([*self.queries, *other.queries])
        docs = Vocab.from_list([*self.docs, *other.docs])
        graphs = (self, other)
        edges = [graph.clicks.to_scipy().tocoo() for graph in graphs]
        new_query = [queries.lookup(graph.queries.to_list()) for graph in graphs]
        new_doc = [docs.lookup(graph.docs.to_list()) for graph in graphs]
        clicks = Csr.from_triples(
            np.concatenate([new[edge.row] for new, edge in zip(new_query, edges, strict=True)]),
            np.concatenate([new[edge.col] for new, edge in zip(new_doc, edges, strict=True)]),
            np.concatenate([edge.data for edge in edges]),
            (len(queries), len(docs)),
        )
        texts = {}
        for name in sorted({*self.texts, *other.texts}):
            column = [""] * len(docs)
            for graph, new in ((other, new_doc[1]), (self, new_doc[0])):
                for doc, text in zip(new.tolist(), graph.texts.get(name, ()), strict=False):
                    column[doc] = text or column[doc]
            texts[name] = Strings.from_list(column)
        parts = [(graph.views, q, d) for graph, q, d in zip(graphs, new_query, new_doc, strict=True)]
        views = merged(parts, len(queries), len(docs))
        return ClickGraph(queries, docs, clicks, texts, views=views)
