"""Samples of every format with repeated, damaged and blank lines: each record is right or rejected."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coclick.logs import build, rejects
from logs.format_samples import SAMPLES


def without_key(line, place):
    """A JSON line without one of its top-level keys; others as they are."""
    try:
        record = json.loads(line)
    except ValueError:
        return line
    keys = list(record)
    return json.dumps({key: record[key] for key in keys if key != keys[place % len(keys)]}) if keys else line


def without_character(line, place):
    at = place % max(len(line), 1)
    return line[:at] + line[at + 1 :]


DAMAGE = {
    "none": lambda line, place: line,
    "blank": lambda line, place: "",
    "character": without_character,
    "half": lambda line, place: line[: place % max(len(line), 1)],
    "key": without_key,
}
damages = st.lists(
    st.tuples(st.integers(0, 99), st.sampled_from(sorted(DAMAGE)), st.integers(0, 400)),
    min_size=4,
    max_size=12,
)


@pytest.mark.parametrize("name", sorted(SAMPLES))
@settings(max_examples=3, deadline=None, derandomize=True, database=None)
@given(damages=damages)
def test_right_and_rejected_are_all_records(name, damages):
    sample = SAMPLES[name]
    lines = sample.text.splitlines()
    records = lines[name == "aol" :]  # one line is the header
    more = [DAMAGE[kind](records[which % len(records)], place) for which, kind, place in damages]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, sample.name)
        path.write_bytes(("\n".join([*lines, *more]) + "\n").encode(sample.encoding))
        graph = build([path], None, f"{folder}/graph", like=name, actions=sample.actions, max_rejected=1)
        stats, found = graph.stats, list(rejects(graph))
    assert stats["rows"] == len(records) + sum(line != "" for line in more)
    assert stats["right"] + sum(stats["rejected"].values()) == stats["rows"]
    assert len(found) == sum(stats["rejected"].values())
    for file, line, _, reason, _ in found:
        assert file == str(path) and 1 <= line <= len(lines) + len(more) and reason
    assert sum(stats.get("other_actions", {}).values()) <= stats["right"]
