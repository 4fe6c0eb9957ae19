"""Readers of files that people write: any file is read or refused with an error for people."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faults.readers import READERS, check_reader

FOUND = Path(__file__).parent / "found"
SLOW = {"clicks", "events", "JSON logs", "check", "documents", "features"}  # they start DuckDB


@pytest.mark.parametrize("name", READERS)
def test_any_file_is_read_or_refused(name):
    reader = READERS[name]

    @settings(max_examples=8 if name in SLOW else 60, suppress_health_check=list(HealthCheck))
    @given(content=reader.content, file=st.sampled_from(reader.names))
    def run(content, file):
        assert check_reader(name, content, file).strip()

    run()


@pytest.mark.parametrize("path", sorted(FOUND.iterdir()), ids=lambda path: path.name)
def test_found_cases(path):
    """Files that once were neither read nor refused; their names are READER--number--FILE."""
    name, _, file = path.name.split("--")
    assert check_reader(name.replace("-", " "), path.read_bytes(), file).strip()
