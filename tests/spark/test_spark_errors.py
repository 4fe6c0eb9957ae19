"""Errors that are reported before Spark starts."""

import importlib.metadata
import os
import socket
import sys
import time

import pytest
from typer.testing import CliRunner

from coclick.cli import app
from coclick.errors import CoclickError, UserError
from coclick.spark import requirements


def test_no_java(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(UserError, match="needs Java") as error:
        requirements.check_java()
    assert "openjdk-17" in error.value.hint


@pytest.mark.parametrize("missing", ["pyspark", "pyarrow", "pandas"])
def test_missing_package(monkeypatch, missing):
    found = importlib.metadata.version

    def version(name):
        if name == missing:
            raise importlib.metadata.PackageNotFoundError(name)
        return found(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    with pytest.raises(UserError, match=missing) as error:
        requirements.check_packages()
    assert error.value.hint == 'pip install "coclick[spark]"'


def test_old_spark_version():
    requirements.check_version("4.1.0")
    with pytest.raises(UserError, match=r"Spark 4\.1 or later .* this is Spark 3\.5\.1"):
        requirements.check_version("3.5.1")


def test_unreachable_master():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but not listening
        address = f"spark://127.0.0.1:{taken.getsockname()[1]}"
        started = time.monotonic()
        result = CliRunner().invoke(
            app, ["train", "vpcg", "g", "-o", "m", "--engine", "spark", "--master", address]
        )
    assert isinstance(result.exception, UserError)
    assert "cannot connect to the Spark master" in result.exception.what
    assert time.monotonic() - started < 20


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--master", "local[2]"], "--master requires --engine spark"),
        (["--engine", "spark", "--master", "mesos://host"], "unknown master 'mesos://host'"),
        (["--engine", "spark", "--master", "spark://host"], "has no host and port"),
    ],
)
def test_wrong_options(arguments, what):
    result = CliRunner().invoke(app, ["train", "vpcg", "g", "-o", "m", *arguments])
    assert isinstance(result.exception, UserError)
    assert what in result.exception.what


@pytest.mark.parametrize(
    ("message", "what", "hint"),
    [
        (
            "[PYTHON_EXCEPTION] From the Python worker: Traceback (most recent call last):\n"
            '  File "worker.py", line 6, in main\n    import it\n'
            "ModuleNotFoundError: No module named 'coclick'\n SQLSTATE: 38000",
            "Spark failed: ModuleNotFoundError: No module named 'coclick'",
            "of all workers",
        ),
        ("[JAVA_GATEWAY_EXITED] Java exited.", "Spark failed: [JAVA_GATEWAY_EXITED] Java exited.", "Java 17"),
        ("\nNo space left.\n\tat java.io", "Spark failed: No space left.", "no output was written"),
    ],
)
def test_spark_errors_become_one_line(monkeypatch, message, what, hint):
    from py4j.protocol import Py4JError

    from coclick.spark import session

    def fails(master):
        raise Py4JError(message)

    monkeypatch.setattr(session, "start_session", fails)
    result = CliRunner().invoke(app, ["train", "vpcg", "g", "-o", "m", "--engine", "spark"])
    assert isinstance(result.exception, CoclickError)
    assert result.exception.what == what and hint in result.exception.hint


def test_first_error_is_reported():
    """A failing cleanup, for example without a JVM, does not hide the original error."""
    from coclick.spark.storage import cleanup

    tried = []

    def clean():
        tried.append("clean")
        raise ConnectionRefusedError

    with pytest.raises(CoclickError, match="the real reason"), cleanup(clean):
        raise CoclickError("the real reason")
    with pytest.raises(ConnectionRefusedError), cleanup(clean):
        pass
    assert len(tried) == 2


def test_local_workers_use_this_python(monkeypatch):
    """Without an activated environment, `python3` on the path would be another Python."""
    from coclick.spark.session import use_this_python

    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    use_this_python()
    assert os.environ["PYSPARK_PYTHON"] == sys.executable
    monkeypatch.setenv("PYSPARK_PYTHON", "/opt/theirs/python")
    use_this_python()
    assert os.environ["PYSPARK_PYTHON"] == "/opt/theirs/python"
