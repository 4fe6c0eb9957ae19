"""The sample queries of an export, compared with what the engine finds; ids that are missing or deleted."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import Any

from coclick.exporters.programs.engine import read_lines, stop

TOLERANCE = 0.01  # of scores, relative
_RANKING_TOLERANCE = 0.02  # the scores of rankings add up rounded weights
MISSING_IDS = "missing-ids.txt"  # a JSON string on each line

Hit = tuple[str, float]  # document, score


def check_samples(folder: Path, search: Callable[[dict[str, Any]], list[Hit]]) -> None:
    """Ask all sample queries; stop if a score or a document is not the expected one.

    `search` sends the body of a request and returns the hits. Documents that the index does not have
    (`missing-ids.txt`) need not be found.
    """
    missing = set(read_missing_ids(folder))
    wrong: list[str] = []
    samples = [json.loads(line) for line in read_lines(folder / "sample-queries.ndjson")]
    for sample in samples:
        found = search(sample["request"])
        problems = compare([(row["doc"], row["score"]) for row in sample["results"]], found, missing)
        print(f"{sample['query']!r:.60}: {len(found)} found, {len(problems)} not as expected", flush=True)
        wrong += [f"{sample['query']!r:.60}: {problem}" for problem in problems]
    if wrong:
        stop(
            f"{len(wrong)} results are not as expected, the first: {wrong[0]}. "
            "Is this version loaded? Run load, then check again."
        )
    print(f"{len(samples)} sample queries have the expected results")


def is_search_folder(folder: Path) -> bool:
    """Return whether a folder has rankings and the program that asks them, not documents."""
    return (folder / "ask.json").exists()


def check_rankings(search: Path, *connection: Any) -> None:
    """Ask the queries of `expected.json` with `ask.py` beside it; stop if a result is not as expected.

    Parameters: the folder `search` of an export; the connection to an engine that is a server.
    """
    sys.path.insert(0, str(search))
    from ask import ask  # type: ignore[import-not-found]  # in that folder

    missing = set(read_missing_ids(search.parent))
    samples: list[dict[str, Any]] = json.loads((search / "expected.json").read_text(encoding="utf-8"))
    for sample in samples:
        wanted = [(row["doc"], row["score"]) for row in sample["results"]]
        if problems := compare(wanted, ask(sample["query"], *connection), missing, _RANKING_TOLERANCE):
            stop(
                f"{sample['query']!r:.60}: {problems[0]}. Is this version loaded? Run load, then check again."
            )
    print(f"{len(samples)} rankings are as expected")


def compare(
    expected: list[Hit], found: list[Hit], missing: Collection[str] = (), tolerance: float = TOLERANCE
) -> list[str]:
    """Return the differences between the ten best documents expected and the ten best found."""
    wanted, scores = dict(expected), dict(found)
    lowest_found = min(scores.values()) if len(found) == 10 else 0.0
    lowest_wanted = min(wanted.values()) if len(wanted) == 10 else 0.0  # otherwise there are no others
    problems = []
    for doc, score in wanted.items():
        if doc in scores and abs(scores[doc] - score) > tolerance * abs(score):
            problems.append(f"{doc!r:.100} has the score {scores[doc]:.6g} instead of {score:.6g}")
        if doc not in scores and doc not in missing and score > lowest_found * (1 + tolerance):
            problems.append(f"{doc!r:.100} with the score {score:.6g} is not found")
    for doc, score in scores.items():
        if doc not in wanted and (not lowest_wanted or score > lowest_wanted * (1 + tolerance)):
            problems.append(f"{doc!r:.100} with the score {score:.6g} is not expected")
    return problems


def read_missing_ids(folder: Path) -> list[str]:
    """Return the ids that the index did not have when the folder was loaded."""
    path = folder / MISSING_IDS
    return [json.loads(line) for line in read_lines(path)] if path.exists() else []


def write_missing_ids(folder: Path, ids: Iterable[str]) -> None:
    """Write the ids that the index does not have."""
    lines = "".join(json.dumps(doc, ensure_ascii=False) + "\n" for doc in ids)
    (folder / MISSING_IDS).write_text(lines, encoding="utf-8")


def read_deletions(folder: Path) -> list[str]:
    """Return the ids of documents that an increment deletes."""
    path = folder / "deleted-docs.ndjson"
    return [json.loads(line) for line in read_lines(path)] if path.exists() else []
