"""The rooms of the package: who may import whom, and that the drawing in the documentation shows it."""

import textwrap

from docs import rooms

MAX_ROOT_MODULES = 6
IMPORTS = rooms.read_imports()
ARROWS = rooms.room_arrows(IMPORTS)


def test_rooms_import_only_rooms_on_their_left():
    assert rooms.forbidden(ARROWS) == []


def test_no_rooms_import_each_other_in_a_circle():
    assert rooms.find_cycle(ARROWS) == []


def test_only_the_command_line_goes_through_the_package_root():
    assert {module.split(".")[1] for module, other in IMPORTS.items() if "coclick" in other} <= {"cli"}


def test_families_of_models_are_independent():
    arrows = rooms.family_arrows(IMPORTS)
    assert rooms.forbidden_in_models(arrows) == []
    assert rooms.find_cycle(arrows) == []


def test_few_modules_lie_at_the_package_root():
    modules = {path.stem for path in rooms.PACKAGE.glob("*.py")} - {"__init__", "__main__", "_version"}
    assert len(modules) <= MAX_ROOT_MODULES, sorted(modules)


def test_the_drawing_shows_the_imports():
    assert rooms.DRAWING.read_text() == rooms.draw(ARROWS), "run: make docs"


def package(tmp_path, files):
    root = tmp_path / "coclick"
    for name, code in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(code))
    return rooms.read_imports(root)


def test_all_kinds_of_imports_are_seen(tmp_path):
    imports = package(
        tmp_path,
        {
            "__init__.py": "from coclick.graph import click_graph",
            "errors.py": "",
            "text/__init__.py": "",
            "text/terms.py": "import numpy",
            "graph/__init__.py": "import coclick.errors",
            "graph/click_graph.py": """
                from typing import TYPE_CHECKING
                if TYPE_CHECKING:
                    from coclick.models import base
                def late():
                    from coclick.text.terms import Terms
                    import coclick
            """,
            "models/__init__.py": "",
            "models/base.py": "from coclick.errors import UserError",
        },
    )
    assert imports["coclick.graph.click_graph"] == {"coclick.models.base", "coclick.text.terms", "coclick"}
    arrows = rooms.room_arrows(imports)
    assert set(arrows) == {("graph", "errors"), ("graph", "text"), ("graph", "models"), ("models", "errors")}
    assert rooms.forbidden(arrows) == [
        "coclick.graph.click_graph imports coclick.models.base: graph may not import models"
    ]


def test_neighbours_and_what_only_the_command_line_may_import():
    def why(room, other):
        return rooms.forbidden({(room, other): [("a", "b")]})

    assert why("index", "features") == ["a imports b: index may not import features"]
    assert why("service", "spark") and why("spark", "cli") and why("spark", "simulate")
    assert why("graph", "cellar") == ["a imports b: cellar is no room of ORDER"]
    assert not why("spark", "service") and not why("cli", "simulate") and not why("cli", "errors")


def test_a_circle_is_found():
    assert rooms.find_cycle([("a", "b"), ("b", "c"), ("c", "b")]) == ["b", "c", "b"]
    assert rooms.find_cycle([("a", "b"), ("b", "c"), ("a", "c")]) == []


def test_families_may_share_the_lexical_one_only(tmp_path):
    imports = package(
        tmp_path,
        {
            "models/__init__.py": "",
            "models/base.py": "def late():\n    from coclick.models.lexical import bm25",
            "models/lexical/__init__.py": "",
            "models/lexical/bm25.py": "from coclick.models.base import Model",
            "models/projection/__init__.py": "",
            "models/projection/pls.py": "from coclick.models.lexical.bm25 import BM25",
            "models/propagation/__init__.py": "",
            "models/propagation/vpcg.py": "from coclick.models.projection import pls",
        },
    )
    arrows = rooms.family_arrows(imports)
    assert rooms.forbidden_in_models(arrows) == [
        "coclick.models.base imports coclick.models.lexical.bm25: what families share may not import one",
        "coclick.models.propagation.vpcg imports coclick.models.projection.pls: only lexical is shared",
    ]
    assert rooms.find_cycle(arrows) == ["lexical", "models", "lexical"]
