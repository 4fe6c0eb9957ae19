"""The pages are true: systems, commands, API, parameters, model specifications, citations and links."""

import itertools
import re
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from coclick import create, model_names
from coclick.cli import app
from coclick.models.registry import model_class
from coclick.models.spec import RENAMED, parameters_of

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
DESCRIBED = {  # pages with tables of parameters: the models that they describe
    "vpcg": ["vpcg"],
    "bilinear": ["pls", "mpls", "rmls", "lsi_qd"],
    "likelihood": ["bltm", "bltm_pr", "bltm_pr_1v", "plsa", "wtm", "um"],
}


def systems():
    """{name: [(file, test)]} for the rows of docs/systems.md."""
    found: dict[str, list[tuple[str, str]]] = {}
    for line in (ROOT / "docs/systems.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 5 and cells[0] not in ("#", "---"):
            for name in re.findall(r"`([a-z0-9_]+)`", cells[1]):
                found.setdefault(name, []).append((cells[3].strip("`"), cells[4].strip("`")))
    return found


@pytest.mark.parametrize("name", model_names())
def test_every_model_has_a_file_and_an_independent_test(name):
    rows = systems()[name]
    for file, test in rows:
        assert (ROOT / file).is_file(), f"{name}: no file {file!r}"
        path, _, function = test.partition("::")
        assert (ROOT / path).is_file(), f"{name}: no test {test!r}"
        if function:
            assert f"def {function}(" in (ROOT / path).read_text(), f"{name}: no test {test!r}"


def test_no_row_of_the_systems_names_a_missing_file():
    for name, rows in systems().items():
        for file, test in rows:
            assert bool(file) == bool(test), name
            assert not file or (ROOT / file).is_file(), name


def command_names():
    group: Any = get_command(app)
    return group.list_commands(None)


def test_the_command_reference_is_what_help_prints():
    """`python -m docs.commands` in a development checkout rewrites it."""
    from docs.commands import reference

    assert (ROOT / "docs/commands.md").read_text() == reference(), "run: make docs"


def test_the_api_reference_is_what_docstrings_say():
    from docs.api import reference

    assert (ROOT / "docs/api.md").read_text() == reference(), "run: make docs"


def test_the_table_of_presets_is_what_models_declare():
    from docs.presets import PAGE, page

    assert PAGE.read_text() == page(PAGE.read_text()), "run: make docs"


def test_every_command_has_help():
    for name in command_names():
        result = CliRunner().invoke(app, [name, "--help"])
        assert result.exit_code == 0, name
        assert len(result.output) > 100, name


def table_rows(page, first):
    """The rows of the page's tables whose first column has this name."""
    inside = False
    for line in (ROOT / page).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            inside = False
        elif cells[0] == first:
            inside = True
        elif inside and not set(cells[0]) <= {"-"}:
            yield cells


@pytest.mark.parametrize(("page", "models"), DESCRIBED.items())
def test_tables_of_parameters_are_those_of_the_models(page, models):
    defaults: dict[str, set[str]] = {}
    for field in itertools.chain.from_iterable(parameters_of(model_class(name)) for name in models):
        text = str(field.default).lower() if isinstance(field.default, bool) else str(field.default)
        defaults.setdefault(field.name, set()).add(text.removesuffix(".0"))
    rows = list(table_rows(f"docs/{page}.md", "parameter"))
    assert {cells[0].strip("`") for cells in rows} == set(defaults)
    for name, default, *_ in rows:
        shown = re.split(r"[ ,(]", default)[0].strip("`")
        assert shown in defaults[name.strip("`")], f"{name}: {default}"


def test_every_parameter_is_described():
    rows = table_rows("docs/parameters.md", "parameter")
    described = [name for cells in rows for name in re.findall(r"`([a-z_0-9]+)`", cells[0])]
    known = {field.name for name in model_names() for field in parameters_of(model_class(name))}
    assert sorted(described) == sorted(known)


def specifications():
    names = "|".join(sorted(model_names(), key=len, reverse=True))
    for page in PAGES:
        if page.name == "CHANGELOG.md":
            continue
        for match in re.finditer(rf"\b(?:{names})\((?:[^()\"`]|\([^()]*\))*\)", page.read_text()):
            if "=" in match[0] and "…" not in match[0]:
                yield page.name, match[0]


@pytest.mark.parametrize(("page", "spec"), sorted(set(specifications())))
def test_models_in_the_pages_can_be_created(page, spec):
    assert create(spec).name


def test_no_page_uses_an_old_name_of_a_parameter():
    known = {field.name for name in model_names() for field in parameters_of(model_class(name))}
    for page in PAGES:
        for name in re.findall(r"`([a-z_0-9]+)=[^`]*`", page.read_text()):
            assert name not in RENAMED.keys() - known, f"{page.name}: {name}"


def test_papers_are_cited_by_author_and_year():
    for page in PAGES:
        found = re.search(
            r"papers? 00\d|\b00[0-4] (?:§|Theorem|Eq|Table|Figure)", page.read_text(), re.IGNORECASE
        )
        assert not found, f"{page.name}: {found[0]}"


def test_files_in_the_pages_exist():
    for page in PAGES:
        for name in re.findall(r"`((?:\w+/)+\w+\.py)", page.read_text()):
            assert any((folder / name).is_file() for folder in (ROOT, ROOT / "src/coclick")), (
                f"{page.name}: {name}"
            )


def test_the_tests_that_prove_promises_exist():
    """docs/security.md names them by file and function."""
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "docs/security.md").read_text())
    assert len(named) > 40
    for file, function in named:
        assert f"def {function}(" in (ROOT / file).read_text(), f"{file}::{function}"


def test_files_that_the_code_mentions_exist():
    """Docstrings, comments and messages cite only pages and scripts that the repository has."""
    missing = {}
    for path in sorted((ROOT / "src").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        named = re.findall(r"\b(?:docs|tests|benchmarks|reproduce)/[\w./-]+\.(?:md|py)\b", text)
        named += [f"docs/{name.lower()}" for name in re.findall(r"(?<![\w/])[A-Z]{4,}\.md\b", text)]
        missing |= {name: path.name for name in named if not (ROOT / name).is_file()}
    missing.pop("docs/readme.md", None)  # written by `coclick export`
    assert not missing


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) < 120


def heading_ids(page):
    """The anchors of a page's headings, as both GitHub and the site make them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        yield re.sub(r"[^\w\s-]", "", heading).strip().lower().replace(" ", "-")


def test_links_in_the_documentation_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
            if "://" in target:
                continue
            path, _, anchor = target.partition("#")
            linked = (page.parent / path).resolve() if path else page
            assert linked.exists(), f"{page.name}: {target}"
            if anchor:
                assert anchor in heading_ids(linked), f"{page.name}: {target}"
            if ROOT / "docs" in page.parents:
                assert ROOT / "docs" in linked.parents, f"{page.name}: {target} is not on the site"


def test_tables_of_commands_show_in_a_browser():
    """A bar in a cell would begin the next one, and a browser hides what looks like a tag."""
    rows = [line for line in (ROOT / "docs/commands.md").read_text().splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} == {4} and not any("<" in row for row in rows)
    assert any("`--replay, --no-replay`" in row for row in rows)


def test_the_requests_of_the_pages_exist():
    """Pages about an engine have the engine's requests, too."""
    table = (ROOT / "docs/serve.md").read_text()
    rows = re.findall(r"^\| (`/.*?`) \|", table, re.MULTILINE)
    ours = {path for row in rows for path in re.findall(r"`(/\w+)", row)}
    assert {"/search", "/rank", "/suggest", "/similar"} <= ours
    for page in (page for page in PAGES if page.parent.name != "ship"):
        named = set(re.findall(r"`(?:GET|POST) (/\w+)[^`]*`", page.read_text()))
        assert named <= ours, page.name
