"""docs/new-model.md as written: a model out of tree, its entry point, and a saved one reopened."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs/new-model.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}[^\n]*\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.fixture
def package(tmp_path):
    """The page's module and entry point, as an installed package would have them."""
    model, usage = blocks("python")
    [project] = blocks("toml")
    place = tmp_path / "site"
    info = place / "my_models-1.dist-info"
    info.mkdir(parents=True)
    (place / "my_models.py").write_text(model)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-models\nVersion: 1\n")
    entries = tomllib.loads(project)["project"]["entry-points"]["coclick.models"]
    lines = "".join(f"{name} = {value}\n" for name, value in entries.items())
    (info / "entry_points.txt").write_text(f"[coclick.models]\n{lines}")

    def run(*command: str) -> str:
        environment = {
            "PYTHONPATH": f"{place}:{':'.join(sys.path)}",
            "PATH": "/usr/bin:/bin",
            "HOME": str(tmp_path),
        }
        done = subprocess.run(
            [sys.executable, *command], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return model, usage, run


def test_the_model_is_short(package):
    code = [line for line in package[0].splitlines() if line.strip()]
    assert len(code) <= 25


@pytest.mark.slow
def test_it_trains_and_opens_in_a_new_process(package):
    _, usage, run = package
    hits = eval(run("-c", usage))
    # By hand: one shared word each; popularity is ln(1 + clicks) to the power of a half.
    assert [doc for doc, _ in hits] == ["d1", "d2"]
    assert hits[0][1] == pytest.approx(2.19722**0.5, rel=1e-5)
    assert hits[1][1] == pytest.approx(0.693147**0.5, rel=1e-5)
    assert "d1" in run("-m", "coclick", "search", "saved", "hotels")
    assert "title_match" in run("-m", "coclick", "models")
