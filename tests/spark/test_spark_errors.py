"""What people hear before any Spark has started."""

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
def test_a_package_is_missing(monkeypatch, missing):
    found = importlib.metadata.version

    def version(name):
        if name == missing:
            raise importlib.metadata.PackageNotFoundError(name)
        return found(name)

    monkeypatch.setattr(importlib.metadata, "version", version)
    with pytest.raises(UserError, match=missing) as error:
        requirements.check_packages()
    assert error.value.hint == 'pip install "coclick[spark]"'


def test_a_spark_that_is_too_old():
    requirements.check_version("4.1.0")
    with pytest.raises(UserError, match=r"Spark 3\.5\.1, and 4\.1 or later"):
        requirements.check_version("3.5.1")


def test_a_master_that_nobody_answers_at():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        address = f"spark://127.0.0.1:{taken.getsockname()[1]}"
        started = time.monotonic()
        result = CliRunner().invoke(
            app, ["train", "vpcg", "g", "-o", "m", "--engine", "spark", "--master", address]
        )
    assert isinstance(result.exception, UserError)
    assert "no Spark master answers" in result.exception.what
    assert time.monotonic() - started < 20


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--engine", "sparc"], "no engine 'sparc'"),
        (["--master", "local[2]"], "--master is for --engine spark"),
        (["--engine", "spark", "--master", "mesos://host"], "no master 'mesos://host'"),
        (["--engine", "spark", "--master", "spark://host"], "names no host and port"),
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
            "Spark gave up: ModuleNotFoundError: No module named 'coclick'",
            "on all workers",
        ),
        (
            "[JAVA_GATEWAY_EXITED] Java exited.",
            "Spark gave up: [JAVA_GATEWAY_EXITED] Java exited.",
            "Java 17",
        ),
        ("\nNo space left.\n\tat java.io", "Spark gave up: No space left.", "nothing was finished"),
    ],
)
def test_what_spark_says_is_said_in_a_line(monkeypatch, message, what, hint):
    from py4j.protocol import Py4JError

    from coclick.spark import session

    def fails(master):
        raise Py4JError(message)

    monkeypatch.setattr(session, "started", fails)
    result = CliRunner().invoke(app, ["train", "vpcg", "g", "-o", "m", "--engine", "spark"])
    assert isinstance(result.exception, CoclickError)
    assert result.exception.what == what and hint in result.exception.hint


def test_the_first_error_is_the_one_that_people_hear():
    """Where the JVM died, what it leaves cannot be removed: that is no news."""
    from coclick.spark.storage import cleaning

    tried = []

    def clean():
        tried.append("clean")
        raise ConnectionRefusedError

    with pytest.raises(CoclickError, match="the real reason"), cleaning(clean):
        raise CoclickError("the real reason")
    with pytest.raises(ConnectionRefusedError), cleaning(clean):
        pass
    assert len(tried) == 2


def test_workers_here_are_the_python_that_has_coclick(monkeypatch):
    """Called by its path, without an activated environment, `python3` of the path would be another one."""
    from coclick.spark.session import work_with_this_python

    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    work_with_this_python()
    assert os.environ["PYSPARK_PYTHON"] == sys.executable
    monkeypatch.setenv("PYSPARK_PYTHON", "/opt/theirs/python")
    work_with_this_python()
    assert os.environ["PYSPARK_PYTHON"] == "/opt/theirs/python"
