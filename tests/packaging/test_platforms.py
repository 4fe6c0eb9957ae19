"""Where the package runs: Linux and macOS."""

import subprocess
import sys

import pytest

from coclick.jit.compiler import cache_home


def imported_on(platform: str) -> subprocess.CompletedProcess:
    command = f"import sys; sys.platform = {platform!r}; import coclick"
    return subprocess.run([sys.executable, "-c", command], capture_output=True, text=True)


def test_windows_is_refused_in_one_sentence():
    done = imported_on("win32")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "ImportError: coclick supports Linux and macOS; on Windows, use WSL"
    )


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_linux_and_macos_are_not(platform):
    assert imported_on(platform).returncode == 0


def test_the_cache_is_where_the_user_says(monkeypatch, tmp_path):
    monkeypatch.setenv("COCLICK_CACHE", str(tmp_path / "chosen"))
    assert cache_home() == tmp_path / "chosen"


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS has a cache directory of its own")
def test_the_cache_is_where_the_platform_keeps_caches(monkeypatch, tmp_path):
    monkeypatch.delenv("COCLICK_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_home() == tmp_path / "coclick"


def test_without_affinity_every_core_counts(monkeypatch):
    """As on macOS."""
    import os

    from coclick.jit import threads

    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    monkeypatch.setattr(threads, "_threads", None)
    assert threads.threads() == 7
