"""`Suggestions`: completions and corrections for a search box, learned from the queries of a click graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings
from coclick.errors import ArtefactError, UserError, check_path, check_whole, corrupt_error
from coclick.graph.click_graph import ClickGraph
from coclick.progress import Progress, quiet
from coclick.storage.artefact import Artefact, writing
from coclick.storage.gate import Gate, Gated, Scope, declarations_of
from coclick.storage.layout import Shape
from coclick.storage.manifest import with_article
from coclick.storage.reading import read_current
from coclick.storage.state import read_value, write_value
from coclick.suggestions.channel import MAX_TEXT, MAX_WORDS, Channel, is_plain
from coclick.suggestions.completion_index import CompletionIndex
from coclick.suggestions.confidence import QueryEvidence, confidence, features
from coclick.suggestions.delete_index import MAX_LETTERS, MIN_LETTERS, DeleteIndex
from coclick.suggestions.misspelt import find_misspelt
from coclick.suggestions.word_statistics import WordStatistics, find_texts
from coclick.text.languages import DEFAULT
from coclick.text.normalise import normalise

KIND = "suggestion index"
MAX_COMPLETIONS = 100
MAX_TYPED = 1000  # characters; longer texts have no suggestions
MIN_CONFIDENCE = 0.6
_MIN_QUERIES = 3  # of a word in no title that others are corrected to
_MAX_DOCS = 8  # documents of a query whose clicks are kept, to compare queries by
_PARTS = ("completions", "words", "edits", "clicks", "weights")


class Completion(NamedTuple):
    """A query that completes what was typed."""

    query: str
    score: float  # how much it is used: searches times the share of them with a click, or clicks
    typos: int  # in what was typed


class Correction(NamedTuple):
    """What a query was probably meant to be."""

    query: str
    confidence: float  # the probability that it was meant


@dataclass(frozen=True, eq=False)
class Suggestions(Gated):
    """Completions and corrections. `Suggestions.build` makes them from a graph, `open` opens saved ones."""

    completions: Annotated[CompletionIndex, Shape("queries")]
    words: Annotated[WordStatistics, Shape("words")]
    edits: Annotated[DeleteIndex, Shape("words")]
    clicks: Annotated[Csr, Shape("queries", "docs")]  # most clicked documents of a query, rows of length 1
    # How much each query is used, without its other spellings.
    weights: Annotated[NDArray[np.float32], Shape("queries")]
    language: str = DEFAULT
    stats: Mapping[str, Any] = field(default_factory=dict)
    artefact: Artefact | None = None

    def __repr__(self) -> str:
        return f"Suggestions({self.stats.get('suggested', 0):,} queries, {len(self.words.words):,} words)"

    # -- build, open, save -----------------------------------------------------------------------------

    @classmethod
    def build(cls, graph: ClickGraph, *, min_users: int = 1, progress: Progress = quiet) -> Suggestions:
        """Learn suggestions from the queries and titles of a graph.

        Only queries with clicks are suggested, and none that looks like personal data or is likely misspelt.
        A query needs at least `min_users` users; a graph that was built with `min_users` has no others.
        """
        from coclick.suggestions.query_selection import select_queries  # imports DuckDB, which takes long

        check_whole(min_users, "min_users", 1)
        with progress("selecting queries"):
            selected = select_queries(graph, min_users)
        if not len(selected.texts):
            raise UserError(
                "the graph has no query that may be suggested",
                hint="it needs clicks, and as many users as asked for",
            )
        with progress("sorting completions"):
            completions = CompletionIndex.build(selected.texts, selected.shown_weights, selected.shown)
        with progress("counting words"):
            language = str((graph.stats.get("language") or {}).get("code") or DEFAULT)
            titles = graph.texts.get("title", Strings.from_list([]))
            words = WordStatistics.count(selected.texts, selected.weights, titles, language)
            edits = DeleteIndex.build(words.words, _correct_words(words), words.uses + words.titles)
        stats: dict[str, Any] = {
            "queries": len(graph.queries),
            "suggested": int(selected.shown.sum()),
            "left_out": selected.stats,
            "words": len(words.words),
            "min_users": max(min_users, int(graph.stats.get("min_users", 1))),
            "graph": graph.digest,
        }
        clicks = _most_clicked(graph.clicks, selected.rows)
        made = cls(completions, words, edits, clicks, selected.weights, language, stats)
        with progress("leaving out misspelt queries"):
            misspelt = find_misspelt(made)
        stats["suggested"] -= len(misspelt)
        stats["left_out"] = {**selected.stats, "misspelt": len(misspelt)}
        return replace(made, completions=completions.hide(misspelt))

    @classmethod
    def open(cls, path: str | Path) -> Suggestions:
        """Open saved suggestions. Their arrays are memory-mapped, so this takes milliseconds at any size."""
        path = check_path(path, "path")
        return read_current(path, lambda: cls._open(path))

    @classmethod
    def _open(cls, path: Path) -> Suggestions:
        source = Artefact(path)
        if source.kind != KIND:
            what = f"this is {with_article(source.kind)}, not {with_article(KIND)}"
            raise UserError(what, where=str(path), hint="coclick suggest build GRAPH -o DIR makes one")
        return cls.read(source)

    @classmethod
    def read(cls, source: Artefact) -> Suggestions:
        """Read the suggestions of an artefact."""
        entries = source.manifest.get("parts")
        if not isinstance(entries, dict):
            raise ArtefactError("the manifest does not describe the parts", where=str(source.path))
        found = object.__new__(cls)
        language = str(source.manifest.get("language", DEFAULT))
        found.__dict__.update(language=language, stats=source.manifest.get("stats", {}), artefact=source)
        gate, scope, declared = Gate(source), Scope(), declarations_of(cls)
        for name in _PARTS:
            value = read_value(source, name, entries.get(name, {}))
            found._admit(gate, name, declared[name], value, name, scope)
        return found

    def save(self, path: str | Path, *, force: bool = False) -> Suggestions:
        """Write the suggestions to a directory, and return them opened from there."""
        with writing(check_path(path, "path"), force=force) as out:
            parts = {name: write_value(out, name, getattr(self, name)) for name in _PARTS}
            out.commit(KIND, parts=parts, language=self.language, stats=dict(self.stats))
        return Suggestions.open(path)

    # -- suggest ---------------------------------------------------------------------------------------

    def complete(self, text: str, k: int = 10, *, typos: bool = True) -> list[Completion]:
        """Return the k best queries that begin with a text, or have a later word that does.

        Queries are ordered by use and success. If fewer than k begin with the text, those follow that do so
        with a typo in it: one from 4 characters on, two from 9, unless in its first character. The empty text
        has the most used queries. A query that is likely misspelt is found, first, if it is the text itself.
        """
        _check_text(text)
        if check_whole(k, "k", 1) > MAX_COMPLETIONS:
            raise UserError(f"k is {k}", hint=f"ask for at most {MAX_COMPLETIONS} completions")
        if len(text) > MAX_TYPED:
            return []
        typed = normalise(text)
        if typed and text[-1:].isspace():
            typed += " "  # the word is complete
        rows, scores, n_typos = self.completions.complete(typed, k, typos=typos)
        data, offsets = self._text_bytes
        texts = [str(data[offsets[row] : offsets[row + 1]], "utf-8", "replace") for row in rows.tolist()]
        found = list(map(Completion, texts, scores.tolist(), n_typos.tolist()))
        if typed in self._misspelt:
            [row] = find_texts(self.completions.texts, [typed])
            found = [Completion(typed, float(self.completions.weights[row]), 0), *found[: k - 1]]
        return found

    def correct(self, text: str, *, min_confidence: float = MIN_CONFIDENCE) -> Correction | None:
        """Return what a query was probably meant to be; None if the text is likely right, or unknown.

        The confidence is the probability that the correction is what was meant.
        """
        found = self.propose(text)
        if found is None:
            return None
        proposal, evidence = found
        sure = confidence(evidence)
        return Correction(proposal, sure) if sure >= min_confidence else None

    def propose(self, text: str) -> tuple[str, dict[str, float]] | None:
        """Return the most likely other reading of a text, and the evidence for it by name, or None."""
        _check_text(text)
        if len(text) > MAX_TYPED:
            return None
        typed_text = normalise(text)
        tokens = typed_text.split(" ")
        if not typed_text or len(typed_text) > MAX_TEXT or len(tokens) > MAX_WORDS:
            return None
        try:
            typed, proposed = self.channel.readings(tokens)
            if proposed is None or proposed.text == typed_text:
                return None
            queries = self._compare(typed_text, proposed.text)
            return proposed.text, features(self.words, typed, proposed, queries)
        except (ValueError, ArithmeticError):  # a logarithm of a negative count
            raise corrupt_error("the counts of words are") from None

    @cached_property
    def channel(self) -> Channel:
        """What finds other readings of a text."""
        return Channel(self.words, self.edits, self.language)

    @cached_property
    def _misspelt(self) -> frozenset[str]:
        return self.completions.hidden_texts()

    @cached_property
    def _text_bytes(self) -> tuple[memoryview, memoryview]:
        """The bytes of all queries and their offsets, as memoryviews, which are read faster than arrays."""
        texts = self.completions.texts
        return texts.data.data, texts.offsets.data

    def _compare(self, typed: str, proposed: str) -> QueryEvidence:
        """What the log says of two texts as whole queries."""
        rows = find_texts(self.completions.texts, [typed, proposed])
        weight, other = (float(self.weights[row]) if row >= 0 else 0.0 for row in rows)
        if min(rows) < 0:
            return QueryEvidence(weight, other)
        one, two = (dict(zip(*map(np.ndarray.tolist, self.clicks.row(row)), strict=False)) for row in rows)
        return QueryEvidence(weight, other, sum(share * two.get(doc, 0.0) for doc, share in one.items()))


def _check_text(text: Any) -> None:
    if not isinstance(text, str):
        raise UserError(f"the text must be a string, not {text!r:.50}")


def _correct_words(words: WordStatistics) -> np.ndarray[Any, np.dtype[np.int32]]:
    """The words that others may be corrected to: in a title, or in several queries."""
    known = np.flatnonzero((words.titles > 0) | (words.queries >= _MIN_QUERIES))
    texts = words.words.take(known).to_list()
    plain = [MIN_LETTERS - 2 <= len(text) <= MAX_LETTERS and is_plain(text) for text in texts]
    return known[np.array(plain, np.bool_)].astype(np.int32)


def _most_clicked(clicks: Csr, rows: np.ndarray[Any, np.dtype[np.int64]]) -> Csr:
    """The most clicked documents of some queries, each row of length 1."""
    matrix = clicks.take(rows.astype(np.int32))
    owner = np.repeat(np.arange(matrix.rows), np.diff(matrix.indptr))
    best_first = np.lexsort((matrix.indices, -matrix.data, owner))
    rank = np.arange(len(owner)) - matrix.indptr[owner]
    kept = np.sort(best_first[rank < _MAX_DOCS])
    owner, data = owner[kept], matrix.data[kept].astype(np.float64)
    lengths = np.sqrt(np.bincount(owner, data**2, matrix.rows))
    indptr = np.searchsorted(owner, np.arange(matrix.rows + 1)).astype(np.int64)
    return Csr(indptr, matrix.indices[kept], (data / lengths[owner]).astype(np.float32), clicks.columns)
