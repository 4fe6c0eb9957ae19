"""Completions and corrections of a million queries, beside marisa-trie and symspellpy. One thread.

    python -m benchmarks --only suggest

Whatever the shape, the log is that of shape M: a million queries of pseudo-words. Texts, words and uses are
the same on both sides.

    completions   the ten most used queries that begin with a text. marisa-trie lists all that begin so, and
                  heapq selects ten; ours also finds later words, and typos where there are fewer than ten.
    words         words within one edit (up to 7 letters) or two of a misspelt one, nearest and most used
                  first; ours also computes what typing them so costs
    queries       queries of several words with one typo; symspellpy corrects them with `lookup_compound`
    open          time to open what was saved, and memory that this and 1,000 completions add to a process
"""

from __future__ import annotations

import argparse
import heapq
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import marisa_trie
import numpy as np
from symspellpy import SymSpell, Verbosity

from benchmarks._row import make_row
from benchmarks._saved_graphs import saved_graph
from coclick.graph.click_graph import ClickGraph
from coclick.suggestions.delete_index import allowed_edits
from coclick.suggestions.suggestions import Suggestions

K = 10
N_TEXTS, N_WORDS, N_QUERIES = 1000, 1000, 300
LETTERS = (1, 2, 3, 4, 6, 8, 12)  # typed so far
LIMIT = 2e-3  # seconds, of a completion with a typo


def rows(shape: str, threads: int) -> list[dict]:
    graph = ClickGraph.open(saved_graph("M"))
    with tempfile.TemporaryDirectory() as place:
        began = time.perf_counter()
        made = Suggestions.build(graph).save(Path(place, "suggestions"))
        seconds = time.perf_counter() - began
        print(f"built in {seconds:.0f} s, {made.artefact.size() / 1e6:.0f} MB", file=sys.stderr)  # type: ignore[union-attr]
        shown = np.flatnonzero(made.completions.merits > 0)
        texts = made.completions.texts.take(shown).to_list()
        weights = made.completions.weights[shown].tolist()
        trie = marisa_trie.RecordTrie("<f", zip(texts, ((w,) for w in weights), strict=True))
        trie.save(str(Path(place, "trie")))
        found = _completions(made, trie, texts) + _openings(Path(place))
        del trie, texts
        return found + _corrections(made)


def _completions(made: Suggestions, trie: Any, texts: Sequence[str]) -> list[dict]:
    def theirs(prefix: str) -> list[float]:
        best = heapq.nlargest(K, trie.items(prefix), key=lambda item: item[1])
        return [weight for _, (weight,) in best]

    def ours(prefix: str, typos: bool = False) -> list[float]:
        found = made.complete(prefix, K, typos=typos)
        return [one.score for one in found if one.query.startswith(prefix)]

    rng = random.Random(1)
    chosen = rng.sample(list(texts), N_TEXTS)
    found = []
    for letters in LETTERS:
        asked = [text[:letters] for text in chosen if len(text) >= letters]
        few = asked[: max(10, min(len(asked), 2 * letters**3))]  # the shortest take them long
        same = sum(ours(text) == theirs(text)[: len(ours(text))] for text in few)
        check = f"{same} of {len(few)} the same scores"
        times = _mean(ours, asked), _mean(theirs, few)
        found.append(_row("completions", f"{letters} letters", "marisa-trie", *times, check))
    keys = [text[:end] for text in chosen[:20] for end in range(1, len(text) + 1)]
    times = _mean(ours, keys), _mean(theirs, keys)
    found.append(_row("completions", "every key of 20 queries", "marisa-trie", *times, ""))
    wrong = [_with_typo(text[:8], rng) for text in chosen if len(text) >= 8]
    seconds = _mean(lambda text: made.complete(text, K), wrong)
    found.append(_row("completions", "8 letters, one wrong", "limit", seconds, LIMIT, ""))
    return found


def _corrections(made: Suggestions) -> list[dict]:
    words, edits = made.words, made.edits
    dictionary = SymSpell(max_dictionary_edit_distance=2, prefix_length=7)
    known = sorted(set(edits.entries.tolist()))
    counts = {word: max(int(words.uses[word] + words.titles[word]), 1) for word in known}
    for word, count in counts.items():
        dictionary.create_dictionary_entry(words.words[word], count)
    rng = random.Random(2)
    chosen = [words.words[word] for word in rng.sample(known, 2 * N_WORDS)]
    typed = [_with_typo(word, rng) for word in chosen if len(word) >= 5][:N_WORDS]

    def ours(word: str) -> tuple[int, int] | None:
        found, distances, _ = edits.near(words.words, word, allowed_edits(len(word)), 8)
        return (int(distances[0]), counts[int(found[0])]) if len(found) else None

    def theirs(word: str) -> tuple[int, int] | None:
        near = dictionary.lookup(word, Verbosity.CLOSEST, max_edit_distance=allowed_edits(len(word)))
        return (near[0].distance, near[0].count) if near else None

    same = sum(ours(word) == theirs(word) for word in typed)
    check = f"{same} of {len(typed)} the same distance and uses"
    times = _mean(ours, typed), _mean(theirs, typed)
    return [
        _row("corrections", f"words of {len(known):,}", "symspellpy", *times, check),
        _queries(made, dictionary, rng),
    ]


def _queries(made: Suggestions, dictionary: Any, rng: random.Random) -> dict:
    texts = made.completions.texts
    drawn = [texts[rng.randrange(len(texts))] for _ in range(8 * N_QUERIES)]
    plain = [text for text in drawn if 2 <= len(text.split()) <= 5 and text.replace(" ", "").isalpha()]
    meant = plain[:N_QUERIES]
    asked = [_with_typo(text, rng) for text in meant]

    def ours(text: str) -> str:
        found = made.correct(text, min_confidence=0)
        return text if found is None else found.query

    def theirs(text: str) -> str:
        return dictionary.lookup_compound(text, max_edit_distance=2)[0].term

    right = [sum(map(str.__eq__, map(function, asked), meant)) for function in (ours, theirs)]
    check = f"right: {right[0]} and {right[1]} of {len(asked)}"
    times = _mean(ours, asked), _mean(theirs, asked)
    return _row("corrections", "queries with one typo", "symspellpy", *times, check)


def _with_typo(text: str, rng: random.Random) -> str:
    """Swap, drop, double or change a letter that is not the first."""
    at = rng.choice([i for i in range(1, len(text)) if text[i] != " "] or [0])
    kind = rng.randrange(4)
    if kind == 0 and at > 1 and text[at - 1] != " ":
        return text[: at - 1] + text[at] + text[at - 1] + text[at + 1 :]
    if kind == 1:
        return text[:at] + text[at + 1 :]
    if kind == 2:
        return text[:at] + text[at] + text[at:]
    return text[:at] + rng.choice("abdfghijkmnoprstuvwz") + text[at + 1 :]


def _openings(place: Path) -> list[dict]:
    """Open both in processes of their own: seconds, and megabytes that are added."""
    ours, theirs = (_open_alone(side, place) for side in ("ours", "theirs"))
    return [
        make_row("suggest", "M", "open", 1, "marisa-trie", ours[0], theirs[0], "s", "trie.mmap"),
        make_row(
            "suggest",
            "M",
            "memory added, 1,000 completions",
            1,
            "marisa-trie",
            ours[1],
            theirs[1],
            "MB",
            "RSS, mapped pages included",
        ),
    ]


def _open_alone(side: str, place: Path) -> tuple[float, float]:
    command = [sys.executable, "-m", "benchmarks.suggest", "--open", side, str(place)]
    seconds, memory = subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()
    return float(seconds), float(memory)


def _open(side: str, place: Path) -> None:
    from coclick.suggestions import _completion_kernels  # noqa: F401  # loaded before anything is measured

    before = _resident()
    began = time.perf_counter()
    complete: Callable[[str], Any]
    if side == "ours":
        complete = Suggestions.open(place / "suggestions").complete
    else:
        trie = marisa_trie.RecordTrie("<f").mmap(str(place / "trie"))
        complete = lambda prefix: heapq.nlargest(K, trie.items(prefix), key=lambda item: item[1])  # noqa: E731
    seconds = time.perf_counter() - began
    rng = random.Random(3)
    for _ in range(1000):
        complete("".join(rng.choice("bdfghjkmnprstvwz") + rng.choice("aiou") for _ in range(3)))
    print(seconds, _resident() - before)


def _resident() -> float:
    found = Path("/proc/self/status").read_text().partition("VmRSS:")[2].split()
    return int(found[0]) * 1024 / 1e6


def _mean(function: Callable[[str], object], texts: Sequence[str]) -> float:
    """The mean seconds of a call, after one that may compile."""
    function(texts[0])
    began = time.perf_counter()
    for text in texts:
        function(text)
    return (time.perf_counter() - began) / len(texts)


def _row(name: str, params: str, peer: str, ours: float, theirs: float, check: str) -> dict:
    return make_row(f"suggest: {name}", "M", params, 1, peer, 1e6 * ours, 1e6 * theirs, "µs (mean)", check)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--open", nargs=2, metavar=("SIDE", "DIR"))
    given = parser.parse_args()
    _open(given.open[0], Path(given.open[1]))
