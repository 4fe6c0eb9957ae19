"""`ClickGraph`: which documents were clicked for which queries.

Rows are queries and columns are documents, always. A graph is immutable. On disk it is a directory that is
memory-mapped on open; in memory it is the same class over plain arrays.

    clicks        weighted clicks (CSR), and the same by document
    pairs         every pair that was shown or clicked: impressions, users, sessions, navigational clicks
    daily         the same counts per day of each pair, with a histogram of positions
    skips         for each query: (clicked document, skipped document above it, count)
    searches      for each query and day: searches, those without results, those without clicks
    followups     for each query: (query that came next in the session, count, users)
    variants      raw spellings that normalisation merged into a query
    views         user-defined features by name: see `coclick.graph.user_views`

A log of aggregated clicks has `clicks` and perhaps `pairs`; the rest needs a log of events.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings, Vocab
from coclick.errors import UserError, check_path, counted
from coclick.graph.array_table import ArrayTable
from coclick.graph.search_tables import FollowUps, SearchStats
from coclick.graph.tables import check_docs, check_rows, click_rows, doc_texts, is_table
from coclick.graph.user_views import UserView, align_rows, check_view_name, view_names
from coclick.storage import parquet_tables as tables
from coclick.storage.array_files import read_csr, read_strings, read_vocab, write_csr, write_strings
from coclick.storage.artefact import Artefact, ArtefactWriter, writing
from coclick.storage.gate import Gate, Gated, Scope, declarations_of
from coclick.storage.layout import Index, NotNegative, Pointers, Shape
from coclick.storage.manifest import ARRAY_NAME, with_article
from coclick.storage.reading import read_current
from coclick.text.languages import named_language
from coclick.text.normalise import normalise_batch

if TYPE_CHECKING:
    from coclick.graph.split import Split
    from coclick.graph.user_views import FeatureRows

Ints = NDArray[np.int32]
PairCounts = Annotated[Ints | None, Shape("pairs")]
DayCounts = Annotated[Ints | None, Shape("rows")]
PositionCounts = Annotated[Ints | None, Shape("positions")]
_MIN_CLICKS, _MAX_CLICKS = 1e-6, 1e12  # of one row, as for log files


@dataclass(frozen=True)
class PairStats(ArrayTable):
    """Counts of every pair that was shown or clicked, by query (`indptr`), documents ascending."""

    table = "pairs"
    dimensions: ClassVar = ("queries", "docs", "pairs")
    indptr: Annotated[NDArray[np.int64], Pointers("queries", "pairs")]
    docs: Annotated[Ints, Shape("pairs"), Index("docs")]
    impressions: PairCounts = None
    users: PairCounts = None
    sessions: PairCounts = None  # 30-minute sessions that showed the document for the query
    navigational: PairCounts = None  # sessions in which it was the only click


@dataclass(frozen=True)
class DailyStats(ArrayTable):
    """Counts per day of each pair (`indptr` over pairs), each row with a histogram of positions."""

    table = "daily"
    dimensions: ClassVar = ("pairs",)
    indptr: Annotated[NDArray[np.int64], Pointers("pairs", "rows")]
    day: Annotated[Ints, Shape("rows")]  # days since 1970-01-01, UTC
    clicks: Annotated[NDArray[np.float32], Shape("rows"), NotNegative]
    impressions: DayCounts = None
    users: DayCounts = None
    sessions: DayCounts = None
    navigational: DayCounts = None
    position_indptr: Annotated[NDArray[np.int64] | None, Pointers("rows", "positions")] = None
    position: PositionCounts = None
    shown: PositionCounts = None  # impressions at that position

    def find_defect(self) -> str | None:
        """Return what is wrong with the histogram of positions, or None."""
        missing = {column is None for column in (self.position_indptr, self.position, self.shown)}
        return "a part of the histogram of positions is missing" if len(missing) > 1 else None


@dataclass(frozen=True)
class SkipPairs(ArrayTable):
    """Pairs of a clicked document and a skipped one above it (Joachims 2002), by query (`indptr`)."""

    table = "skips"
    dimensions: ClassVar = ("queries", "docs")
    indptr: Annotated[NDArray[np.int64], Pointers("queries", "rows")]
    clicked: Annotated[Ints, Shape("rows"), Index("docs")]
    skipped: Annotated[Ints, Shape("rows"), Index("docs")]
    count: Annotated[Ints, Shape("rows")]


_BY_DOC = {"clicks_by_doc": Annotated[Csr, Shape("docs", "queries"), NotNegative]}
_STORED_AS = {"texts": "text", "views": "view"}


def _none() -> None:
    """Return the default None; `= None` would be found in the class, before what is read from a file."""


@dataclass(frozen=True, eq=False)
class ClickGraph(Gated):
    """An immutable click graph: queries, documents and the clicks between them.

    `coclick.build` makes one from log files, `ClickGraph.from_clicks` from rows in memory. The parts are
    listed at the top of this module.
    """

    _scope: ClassVar[Scope]  # of a graph from a file: its sizes

    queries: Annotated[Vocab, Shape("queries")]
    docs: Annotated[Vocab, Shape("docs")]
    clicks: Annotated[Csr, Shape("queries", "docs"), NotNegative]
    texts: Mapping[str, Annotated[Strings, Shape("docs")]] = field(
        default_factory=dict
    )  # by field: title, body, url, anchor …
    pairs: Annotated[PairStats | None, Shape("queries", "docs", "pairs")] = field(default_factory=_none)
    daily: Annotated[DailyStats | None, Shape("pairs")] = field(default_factory=_none)
    skips: Annotated[SkipPairs | None, Shape("queries", "docs")] = field(default_factory=_none)
    stats: Mapping[str, Any] = field(default_factory=dict)  # counts of the build: rows, rejects, users …
    artefact: Artefact | None = None
    views: Mapping[str, Annotated[UserView, Shape("queries", "docs")]] = field(default_factory=dict)
    searches: Annotated[SearchStats | None, Shape("queries")] = field(default_factory=_none)
    followups: Annotated[FollowUps | None, Shape("queries")] = field(default_factory=_none)

    def __repr__(self) -> str:
        sizes = {"query": len(self.queries), "doc": len(self.docs), "edge": self.clicks.nnz}
        return f"ClickGraph({', '.join(counted(size, noun) for noun, size in sizes.items())})"

    # -- create, open, save ----------------------------------------------------------------------------

    @classmethod
    def from_clicks(cls, clicks: Any, docs: Any = None, *, language: str | None = None) -> ClickGraph:
        """Make a graph in memory.

        Parameters: `clicks`, an iterable of (query, document, clicks), or a table (pandas, polars, Arrow)
        with columns query, doc and, unless every row is one click, clicks; `docs`, a mapping from id to title
        or to fields, or a table with columns doc, title and further texts; `language` of the texts, by code
        or name, which models take as their default. Returns the graph.

        For logs on disk use `coclick.build`, which also counts and keeps invalid rows.
        """
        if is_table(docs):
            docs = doc_texts(docs)
        given = click_rows(clicks) if is_table(clicks) else clicks
        rows = check_rows(given)
        if any(not _MIN_CLICKS <= count <= _MAX_CLICKS for _, _, count in rows):
            raise UserError(f"clicks must be positive numbers, from {_MIN_CLICKS:g} to {_MAX_CLICKS:g}")
        docs = {} if docs is None else check_docs(docs)
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
            hint = "use lower-case letters, digits and _"
            raise UserError(f"a field cannot be called {wrong[0]!r}", hint=hint)
        fields_of = [given.get(doc, {}) for doc in documents]
        columns = {name: Strings.from_list(texts.get(name, "") for texts in fields_of) for name in names}
        stats = {} if language is None else {"language": named_language(language)}
        return cls(queries, documents, matrix, columns, stats=stats)

    @classmethod
    def open(cls, path: str | Path) -> ClickGraph:
        """Open a graph on disk. Its arrays are memory-mapped, so this takes milliseconds at any size."""
        path = check_path(path, "path")
        return read_current(path, lambda: cls._open(path))

    @classmethod
    def _open(cls, path: Path) -> ClickGraph:
        source = Artefact(path)
        if source.kind != "graph":
            raise UserError(
                f"this is {with_article(source.kind)}, not a graph",
                where=str(path),
                hint="name the graph that it was made from; coclick build makes one from a log",
            )
        return cls.read(source)

    @classmethod
    def read(cls, source: Artefact) -> ClickGraph:
        """Read the graph of an artefact, which is a graph or a model."""
        if tables.is_parquet(source):
            return cls._read_tables(source)
        stored = [name for name in source.files if name.startswith("text.") and name.endswith(".offsets")]
        queries, docs = read_vocab(source, "queries"), read_vocab(source, "docs")
        parts: dict[str, Any] = {
            "queries": queries,
            "docs": docs,
            "clicks": read_csr(source, "clicks", len(docs)),
            "texts": {name[5:-8]: read_strings(source, name[:-8]) for name in sorted(stored)},
            "views": {name: UserView.read(source, name) for name in view_names(source.files)},
        }
        parts |= {
            kind.table: kind.read(source)
            for kind in (PairStats, DailyStats, SkipPairs, SearchStats, FollowUps)
        }
        if any(name.startswith("clicks_by_doc.") for name in source.files):
            parts["clicks_by_doc"] = read_csr(source, "clicks_by_doc", len(queries))
        return cls._admit_parts(source, parts)

    @classmethod
    def _read_tables(cls, source: Artefact) -> ClickGraph:
        """Read a graph that Spark wrote, as Parquet tables."""
        queries, docs = (tables.read_vocab(source, *of) for of in (("queries", "text"), ("docs", "name")))
        sizes = len(queries), len(docs)
        texts = {
            name: tables.read_strings(source, "docs", f"text_{name}") for name in tables.text_fields(source)
        }
        pairs = tables.read_pairs(source, *sizes)
        daily, skips = tables.read_daily(source, pairs), tables.read_skips(source, *sizes)
        searches, followups = (
            read(source, len(queries)) for read in (tables.read_searches, tables.read_followups)
        )
        parts = {
            "queries": queries,
            "docs": docs,
            "clicks": tables.read_edges(source, *sizes),
            "texts": texts,
            "views": {},
            "pairs": PairStats(**pairs) if pairs else None,
            "daily": DailyStats(**daily) if daily else None,
            "skips": SkipPairs(**skips) if skips else None,
            "searches": SearchStats(**searches) if searches else None,
            "followups": FollowUps(**followups) if followups else None,
        }
        return cls._admit_parts(source, parts)

    @classmethod
    def _admit_parts(cls, source: Artefact, parts: Mapping[str, Any]) -> ClickGraph:
        """A graph of these parts; what an artefact has is checked before its first use."""
        gate, scope, declared = Gate(source), Scope(), declarations_of(cls) | _BY_DOC
        if parts.get("daily") is not None and parts["pairs"] is None:
            raise gate.error("daily", "there are days of pairs, but no pairs")
        graph = object.__new__(cls)
        stats = source.manifest.get("stats" if source.kind == "graph" else "build", {})
        graph.__dict__.update(stats=stats, artefact=source, _scope=scope)
        for name, value in parts.items():
            graph._admit(gate, name, declared[name], value, _STORED_AS.get(name, name), scope)
        return graph

    def save(self, path: str | Path, *, force: bool = False) -> ClickGraph:
        """Write the graph to a directory, and return it opened from there."""
        with writing(check_path(path, "path"), force=force) as out:
            self.write(out)
            out.commit("graph", stats=dict(self.stats))
        return ClickGraph.open(path)

    def write(self, out: ArtefactWriter) -> None:
        """Write all parts into an artefact."""
        write_strings(out, "queries", self.queries)
        write_strings(out, "docs", self.docs)
        for name, column in self.texts.items():
            write_strings(out, f"text.{name}", column)
        write_csr(out, "clicks", self.clicks)
        write_csr(out, "clicks_by_doc", self.clicks_by_doc)
        for table in (self.pairs, self.daily, self.skips, self.searches, self.followups):
            if table is not None:
                table.write(out)
        for name, view in self.views.items():
            view.write(out, name)

    def with_view(
        self,
        name: str,
        queries: FeatureRows,
        docs: FeatureRows,
        *,
        query_features: Sequence[str] | None = None,
        doc_features: Sequence[str] | None = None,
    ) -> ClickGraph:
        """Return the graph with one more view: user-defined features of queries and documents.

        `queries` and `docs` are pairs of ids and a sparse matrix with a row for each id. Without
        `query_features` and `doc_features`, features are named by their column number. Ids that the graph
        does not have are ignored, and counted in `stats`.
        """
        check_view_name(name, self.texts)
        query_rows, query_names, unknown_queries = align_rows(
            queries, query_features, self.queries, "queries"
        )
        doc_rows, doc_names, unknown_docs = align_rows(docs, doc_features, self.docs, "documents")
        view = UserView(query_rows, doc_rows, query_names, doc_names)
        unknown = {"unknown_queries": unknown_queries, "unknown_docs": unknown_docs}
        stats = {**self.stats, "views": {**self.stats.get("views", {}), name: unknown}}
        return replace(self, views={**self.views, name: view}, stats=stats, artefact=None)

    # -- inspect ---------------------------------------------------------------------------------------

    @cached_property
    def clicks_by_doc(self) -> Csr:
        """The transpose of `clicks`: rows are documents."""
        stored = self.__dict__.get("_gated", {}).get("clicks_by_doc")
        return stored.get() if stored else self.clicks.transpose()

    @property
    def digest(self) -> str:
        """A digest of the content; empty for a graph that was never saved."""
        return self.artefact.digest if self.artefact else ""

    def title(self, doc: int | str) -> str:
        """Return the title of a document, given by its row or id, or the empty string."""
        row = self.docs.id(doc) if isinstance(doc, str) else doc
        if not -1 <= row < len(self.docs):
            raise UserError(f"no document has the row {row}", hint=f"rows are from 0 to {len(self.docs) - 1}")
        return self.texts["title"][row] if row >= 0 and "title" in self.texts else ""

    @cached_property
    def provides(self) -> frozenset[str]:
        """The optional data of this graph: texts, impressions, sessions, days, positions, skips, searches,
        followups."""
        pairs, daily = self.pairs, self.daily
        present = {
            "texts": bool(self.texts),
            "impressions": pairs is not None and pairs.impressions is not None,
            "sessions": pairs is not None and pairs.navigational is not None,
            "days": daily is not None,
            "positions": daily is not None
            and daily.position is not None
            and bool((daily.position > 0).any()),
            "skips": self.skips is not None,
            "searches": self.searches is not None,
            "followups": self.followups is not None,
        }
        return frozenset(name for name, found in present.items() if found)

    # -- filter, split and merge -----------------------------------------------------------------------

    def filter_pairs(self, *, min_score: float = 0, min_clicks: float = 0) -> ClickGraph:
        """Return the graph without the clicked pairs below a score or a number of clicks.

        The score compares the clicks of a pair with those that its impressions and positions let expect; 1 is
        the average: see `coclick.graph.pair_filter`.
        """
        from coclick.graph.pair_filter import filter_pairs

        return filter_pairs(self, min_score, min_clicks)

    def split(self, by: str = "time", fraction: float = 0.2, seed: int = 0) -> Split:
        """Hold out clicks by `time`, `queries` or `pairs`: see `coclick.graph.split`."""
        from coclick.graph.split import split

        return split(self, by, fraction, seed)

    def merge(self, other: ClickGraph) -> ClickGraph:
        """Return the graph of this log and another one together: see `coclick.graph.merge`."""
        from coclick.graph.merge import merge

        return merge(self, other)
