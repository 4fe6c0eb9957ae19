"""Shared by all tests."""

import os
import shutil
import signal
from pathlib import Path

import pytest
from hypothesis import Phase, settings

# The first call of a compiled function takes as long as its compilation: no deadline per example.
# Derandomised, so that a clean clone and this one run the same examples.
# In continuous integration a failing example is reported as it is: to make it smaller can take minutes.
phases = [phase for phase in Phase if phase is not Phase.shrink or not os.environ.get("CI")]
settings.register_profile("coclick", deadline=None, derandomize=True, phases=phases)
settings.load_profile("coclick")

# A shell that starts us in the background makes us ignore Ctrl-C, and with us the processes that tests start
# in order to interrupt them.
signal.signal(signal.SIGINT, signal.default_int_handler)

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
NO_DATA = "the development data is not beside this repository"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
LONGEST = {"spark", "test_tutorial.py", "test_cli_judge.py"}
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason=NO_DATA)


@pytest.fixture(scope="session")
def data() -> Path:
    """The development data that is not part of the product; without it the test is skipped."""
    if not DATA.is_dir():
        pytest.skip(NO_DATA)
    return DATA


@pytest.fixture(scope="module")  # not longer: while it runs, no test can start another event loop
def browser():
    """A real browser."""
    from playwright.sync_api import sync_playwright

    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no browser is installed: apt-get install chromium")
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=found)
        yield opened
        opened.close()


@pytest.hookimpl(tryfirst=True)  # before pytest leaves out what `-m` does not choose
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what `make quick` leaves out, and put the longest files first, so that none starts last."""
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if item.path.parent.name == "spark" or fixtures & {"spark", "cluster"}:
            item.add_marker(pytest.mark.spark)
        if "browser" in fixtures:
            item.add_marker(pytest.mark.browser)
    items.sort(key=lambda item: not LONGEST & set(item.path.parts))  # stable: else their order stays


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In continuous integration a skipped test is a failure, unless it needs the development data."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if not os.environ.get("CI") or reporter is None:
        return
    for report in reporter.stats.get("skipped", []):
        if NO_DATA not in str(report.longrepr):
            reporter.write_line(f"skipped, which CI does not accept: {report.nodeid}")
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
