"""An sdist and a wheel are built from a copy of this checkout; what the wheel installs works on its own."""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path, PurePosixPath

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
DATA_FILES = 51  # pages, scripts and styles of the studio and of the report; log formats; py.typed
EPOCH = {"SOURCE_DATE_EPOCH": "1700000000"}
NOT_PACKAGED = {".venv", "demo", "shared", "dist", ".git", ".ci", "__pycache__", ".mypy_cache", ".hypothesis"}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The sdist, and the wheel that is built from it, as `pip install` does from a package index."""
    place = tmp_path_factory.mktemp("dist")
    source = place / "checkout"
    left_out = shutil.ignore_patterns(*(NOT_PACKAGED - {"demo"}))
    shutil.copytree(ROOT, source, ignore=left_out, symlinks=True)
    for stray in ("demo/graph/manifest.json", ".venv/pyvenv.cfg", "src/coclick/__pycache__/cli.pyc"):
        (source / stray).parent.mkdir(parents=True, exist_ok=True)
        (source / stray).write_text("{}")
    run(sys.executable, "-m", "build", "--outdir", place, source, env=os.environ | EPOCH)
    (sdist,), (wheel,) = place.glob("*.tar.gz"), place.glob("*.whl")
    return sdist, wheel


def run(*command, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **more)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def files_of(built):
    """The files of the sdist without its first directory, and those of the wheel."""
    sdist, wheel = built
    with tarfile.open(sdist) as archive:
        members = [PurePosixPath(*PurePosixPath(one.name).parts[1:]) for one in archive if one.isfile()]
    with zipfile.ZipFile(wheel) as archive:
        return members, [PurePosixPath(name) for name in archive.namelist()]


def test_the_wheel_has_the_modules_and_data_files_of_the_package(built):
    _, members = files_of(built)
    ours = {one for one in members if one.parts[0] == "coclick"}
    here = ROOT / "src"
    expected = {
        PurePosixPath(path.relative_to(here).as_posix())
        for path in (here / "coclick").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert ours == expected
    assert len([one for one in ours if one.suffix != ".py"]) == DATA_FILES
    assert {one.parts[0] for one in members} == {"coclick", f"coclick-{version(built)}.dist-info"}


def version(built):
    return built[1].name.split("-")[1]


def test_the_sdist_has_what_building_and_testing_need_and_nothing_of_this_machine(built):
    members, _ = files_of(built)
    assert not [one for one in members if NOT_PACKAGED & set(one.parts)]
    assert {one.parts[0] for one in members if len(one.parts) > 1} == {
        "src", "tests", "benchmarks", "reproduce", "docs"
    }  # fmt: skip
    assert {PurePosixPath("pyproject.toml"), PurePosixPath("README.md")} <= set(members)


def test_both_have_the_licence(built):
    members, in_wheel = files_of(built)
    assert PurePosixPath("LICENSE") in members
    assert [one for one in in_wheel if one.name == "LICENSE"]


def test_the_metadata_names_what_pyproject_does(built):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    with zipfile.ZipFile(built[1]) as archive:
        name = next(one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
        metadata = archive.read(name).decode()
    for line in (
        f"Summary: {project['description']}",
        "License-Expression: Apache-2.0",
        *(f"Project-URL: {label}, {url}" for label, url in project["urls"].items()),
        *(f"Classifier: {one}" for one in project["classifiers"]),
    ):
        assert line in metadata.splitlines()


def test_the_wheel_is_reproducible(built, tmp_path):
    """The same bytes from another directory, with other times and permissions, and not by way of an sdist."""
    source = tmp_path / "elsewhere"
    shutil.copytree(ROOT / "src", source / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    for path in source.rglob("*"):
        os.utime(path, (1_000_000_000, 1_000_000_000))
        path.chmod(0o700 if path.is_dir() else 0o600)
    run(sys.executable, "-m", "build", "--wheel", "--outdir", tmp_path, source, env=os.environ | EPOCH)
    (again,) = tmp_path.glob("*.whl")
    assert again.name == built[1].name
    digests = [hashlib.sha256(wheel.read_bytes()).hexdigest() for wheel in (again, built[1])]
    assert digests[0] == digests[1]


def test_the_wheel_runs_the_demo_from_an_empty_environment(built, tmp_path):
    environment = tmp_path / "environment"
    run(sys.executable, "-m", "venv", environment)
    pip = [environment / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(*pip, "--prefer-binary", f"{built[1]}[eval]")
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    alone["COCLICK_CACHE"] = str(tmp_path / "cache")
    out = run(environment / "bin" / "coclick", "demo", "demo", cwd=tmp_path, env=alone)
    assert (tmp_path / "demo").is_dir() and out
    where = run(
        environment / "bin" / "python",
        "-c",
        "import coclick; print(coclick.__file__)",
        cwd=tmp_path,
        env=alone,
    )
    assert Path(where.strip()).is_relative_to(environment)
