"""Progress without a terminal."""

import pytest

from coclick.progress import Lines


def test_lines_are_written_when_enough_time_has_passed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("coclick.progress.time.monotonic", lambda: now[0])
    lines = Lines(10)
    with lines("words"):
        now[0] = 109
    with lines("folds", 2000) as done:
        now[0] = 111
        done(1200)
        now[0] = 119
        done(300)
        now[0] = 122
        done(500)
    now[0] = 140
    with lines("trees") as done:
        done(7)
    assert capsys.readouterr().err.splitlines() == [
        "folds: 1,200 of 2,000 (11 s)",
        "folds: 2,000 of 2,000 (22 s)",
        "trees (40 s)",
    ]
