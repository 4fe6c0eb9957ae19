"""What people hear before any Spark has started."""

import importlib.metadata
import socket
import time

import pytest
from typer.testing import CliRunner

from coclick.cli import app
from coclick.errors import UserError
from coclick.spark import session


def test_no_java(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(UserError, match="needs Java") as error:
        session.check_java()
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
        session.check_packages()
    assert error.value.hint == 'pip install "coclick[spark]"'


def test_a_spark_that_is_too_old():
    session.check_version("4.1.0")
    with pytest.raises(UserError, match=r"Spark 3\.5\.1, and 4\.1 or later"):
        session.check_version("3.5.1")


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
