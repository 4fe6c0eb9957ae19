"""The gate between files and values: what it refuses, when it reads, and that nothing passes around it."""

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

import planted
from coclick import ClickGraph, create, model_names, open_model, train
from coclick.arrays.content_checks import ascends, is_finite, is_not_negative, is_within
from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings, Vocab
from coclick.errors import ArtefactError
from coclick.models.persistence import declared_state
from coclick.models.verify import verify
from coclick.storage.artefact import Artefact, writing
from coclick.storage.gate import Gate, Gated, Scope
from coclick.storage.layout import Index, MayBeMissing, NotNegative, Pointers, Shape
from storage.damage import Case, Damaged

ROOT = Path(__file__).resolve().parents[2]
LARGE = 3 << 20  # several blocks, checked by several threads


@dataclass(frozen=True)
class Lists:
    """A list of places for each term."""

    dimensions: ClassVar = ("terms", "docs")
    indptr: Annotated[NDArray[np.int64], Pointers("terms", "entries")]
    places: Annotated[NDArray[np.int32], Shape("entries"), Index("docs")]
    weights: Annotated[NDArray[np.float32] | None, Shape("entries")] = None
    ages: Annotated[NDArray[np.float32] | None, Shape("entries"), MayBeMissing] = None
    above: Annotated[NDArray[np.int32] | None, Shape("entries"), Index("docs", lowest=-1)] = None


class Owner(Gated):
    """Has an attribute from a file."""

    lists: Lists


@pytest.fixture
def gate(tmp_path):
    with writing(tmp_path / "a") as out:
        out.array("lists.places", np.zeros(1, np.int32))
        out.commit("graph")
    return Gate(Artefact(tmp_path / "a"))


def ints(*values):
    return np.array(values, np.int32)


def sizes(**known):
    scope = Scope()
    for name, size in known.items():
        assert scope.set(name, size) is None
    return scope


def admit(gate, lists, scope):
    owner = Owner()
    owner._admit(gate, "lists", Annotated[Lists, Shape("terms", "docs")], lists, "lists", scope)
    return owner


POINTERS = np.array([0, 2, 2, 3])  # of three terms
PLACES = ints(0, 1, 4)
OUTSIDE, FALL = "a number of docs is out of bounds", "row pointers do not ascend"


def floats(*values, dtype: Any = np.float32):
    return np.array(values, dtype)


@pytest.mark.parametrize(
    ("lists", "scope", "wrong"),
    [
        (
            Lists(POINTERS.astype(np.int32), PLACES),
            {},
            "indptr: its entries are int32, not int64",
        ),
        (Lists(POINTERS[None], PLACES), {}, "lists.indptr: it is not a list of row pointers"),
        (Lists(POINTERS[:0], PLACES), {}, "lists.indptr: it is not a list of row pointers"),
        (Lists(POINTERS, PLACES[None]), {}, "lists.places: it has 2 dimensions, not 1"),
        (Lists(POINTERS, PLACES), {"terms": 4}, "it has 3 terms, and other parts have 4"),
        (
            Lists(POINTERS, PLACES, floats(1, 1)),
            {},
            "2 entries, and other parts have 3",
        ),
        (
            Lists(POINTERS, PLACES, floats(1, 1, 1, dtype=np.float64)),
            {},
            "its entries are float64, not float32",
        ),
        (Lists(POINTERS, [0, 1, 4]), {}, "lists.places: it is not ndarray"),  # type: ignore[arg-type]
        (Csr.empty(3, 5), {}, "lists: it is not Lists"),
        (None, {}, "lists: it is not Lists"),
    ],
)
def test_types_and_sizes_are_checked_at_once(gate, lists, scope, wrong):
    with pytest.raises(ArtefactError, match="the graph is damaged") as error:
        admit(gate, lists, sizes(docs=5, **scope))
    assert wrong in error.value.what
    assert str(error.value.where).endswith((".npy", "manifest.json"))


@pytest.mark.parametrize(
    ("lists", "wrong"),
    [
        (Lists(np.array([0, 2, 2, 4]), PLACES), f"lists.indptr: {FALL}"),
        (Lists(np.array([0, 3, 2, 3]), PLACES), f"lists.indptr: {FALL}"),
        (Lists(np.array([1, 2, 2, 3]), PLACES), f"lists.indptr: {FALL}"),
        (Lists(POINTERS, ints(0, 1, 5)), f"lists.places: {OUTSIDE}"),
        (Lists(POINTERS, ints(-1, 1, 4)), f"lists.places: {OUTSIDE}"),
        (
            Lists(POINTERS, PLACES, floats(1, np.nan, 1)),
            "lists.weights: a value is not",
        ),
        (
            Lists(POINTERS, PLACES, floats(1, 1, np.inf)),
            "lists.weights: a value is not",
        ),
        (
            Lists(POINTERS, PLACES, above=ints(-2, 0, 0)),
            f"lists.above: {OUTSIDE}",
        ),
    ],
)
def test_content_is_checked_before_the_first_use(gate, lists, wrong):
    owner = admit(gate, lists, sizes(docs=5))
    for _ in range(2):
        with pytest.raises(ArtefactError) as error:
            owner.lists  # noqa: B018
        assert wrong in error.value.what


def test_a_sound_value_is_read_once(gate, monkeypatch):
    missing = np.array([np.nan, 1, 1], np.float32)
    lists = Lists(POINTERS, PLACES, np.ones(3, np.float32), missing, ints(-1, 0, 4))
    checked: list[Any] = []
    monkeypatch.setattr(gate, "check", lambda *arguments: checked.append(arguments))
    owner = admit(gate, lists, sizes(docs=5))
    assert checked == [], "nothing is read when it is admitted"
    assert owner.lists is lists and owner.lists is lists
    assert len(checked) == 1, "that it passed is remembered"
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        owner.other  # noqa: B018


def test_a_forked_process_does_not_wait_for_threads_that_it_lacks(tmp_path):
    train("bm25", planted.graph()).save(tmp_path / "model")
    program = """
import os, signal, sys, threading
from coclick import open_model
from coclick.storage import gate

model = open_model(sys.argv[1])
holds = threading.Event()

def check_for_long():
    with gate._CHECKING:
        holds.set()
        threading.Event().wait()

threading.Thread(target=check_for_long, daemon=True).start()
holds.wait()
child = os.fork()
if not child:
    signal.alarm(20)  # ends a child that waits
    model.search("query")
    os._exit(0)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
os._exit(code if code >= 0 else 1)
"""
    done = subprocess.run([sys.executable, "-c", program, tmp_path / "model"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_numbers_of_the_manifest_have_their_types(gate):
    cases: list[tuple[Any, list[Any], list[Any]]] = [
        (float, [1, 2.5], [True, "1", None, float("nan"), float("inf"), 10**400]),
        (int, [7], [True, 1.0, "7"]),
        (list[str], [[], ["a"]], [["a", 1], "a", {"a": 1}]),
        (dict[str, float], [{}, {"a": 1.5}], [{"a": "b"}, [1.5]]),
        (int | None, [None, 3], [2.5]),
    ]
    for declared, good, bad in cases:
        for value in good:
            gate.fit(declared, value, "x", Scope())
        for value in bad:
            with pytest.raises(ArtefactError):
                gate.fit(declared, value, "x", Scope())


def test_large_arrays_are_checked_to_the_last_entry():
    ascending = np.arange(LARGE)
    assert ascends(ascending, LARGE - 1) and not ascends(ascending, LARGE)
    assert is_within(ascending, 0, LARGE) and not is_within(ascending, 0, LARGE - 1)
    ones = np.ones(LARGE, np.float32)
    assert is_finite(ones) and is_not_negative(ones)
    for place in (0, 1 << 18, (1 << 18) - 1, LARGE - 1):
        wrong = ascending.copy()
        wrong[place] = LARGE + 1 if place < LARGE - 1 else 0
        assert not ascends(wrong, LARGE - 1) and (place == LARGE - 1 or not is_within(wrong, 0, LARGE))
        ones[place] = np.nan
        assert not is_finite(ones)
        ones[place] = -1
        assert not is_not_negative(ones)
        ones[place] = 0
        assert is_not_negative(ones)
    assert is_not_negative(ones[:0])
    assert not ascends(ascending[:0], 0) and is_within(ascending[:0], 0, 0) and is_finite(ones[:0])


def test_texts_and_vocabularies_point_into_their_bytes():
    texts = Strings.from_list(["a", "", "bc"])
    assert texts.find_defect() is None
    assert Strings(np.array([0, 1, 1, 4]), texts.data).find_defect()
    assert Strings(np.array([0, 2, 1, 3]), texts.data).find_defect()
    for order in ([0, 1, 3], [-1, 0, 1], [0, 1]):
        assert Vocab(texts.offsets, texts.data, ints(*order)).find_defect()
    assert Vocab(texts.offsets, texts.data, ints(1, 0, 2)).find_defect() is None


@pytest.mark.parametrize("name", model_names())
def test_every_model_declares_its_state(name):
    """State without a declaration would be opened unchecked. What a declaration lacks, the trial finds."""
    declared = declared_state(type(create(name)))
    stored = re.compile("ndarray|csr|strings|vocab", re.IGNORECASE)  # a recent NumPy shows NDArray as such
    bare = {key for key, hint in declared.items() if "Shape" not in repr(hint) and stored.search(repr(hint))}
    assert not bare, f"arrays, matrices and texts without a shape: {bare}"


# Those that read stored values and hand them to the gate; the service only maps them.
READERS = {
    "graph/array_table.py",
    "graph/click_graph.py",
    "graph/user_views.py",
    "logs/spellings.py",
    "models/persistence.py",
    "service/loaded_models.py",
    "suggestions/suggestions.py",
}


def test_only_these_files_read_stored_arrays():
    """A new reader must pass what it reads to the gate; then add it here."""
    source = ROOT / "src" / "coclick"
    reads = re.compile(
        r"\b(source|artefact_?|opened)\.array\(|\bread_(csr|strings|vocab|value)\(source|np\.memmap"
    )
    found = {
        str(path.relative_to(source))
        for path in source.rglob("*.py")
        if path.parent.name != "storage" and reads.search(path.read_text())
    }
    assert found == READERS


def last_entry(file: Path, value: Any) -> None:
    file.write_bytes(file.read_bytes()[: -value.nbytes] + value.tobytes())


def coclick(*arguments, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(
        [sys.executable, "-m", "coclick", *map(str, arguments)],
        env=environment, capture_output=True, text=True, timeout=120, **options,
    )  # fmt: skip


def test_a_forged_index_does_not_crash_explain(tmp_path):
    """An index of 2^30 reached SciPy, which wrote there: the process died."""
    train("pls(dim=5)", planted.graph()).save(tmp_path / "model")
    file = Artefact(tmp_path / "model").file("model.query_features.indices")
    last_entry(file, np.int32(2**30))
    found = coclick("explain", tmp_path / "model", "hotel", "hotel-1")
    assert found.returncode == 3, found.stderr
    assert "model.query_features." in found.stderr and "Traceback" not in found.stderr


def test_without_the_transposed_clicks_they_are_made_from_checked_ones(tmp_path):
    """`clicks_by_doc` is made from `clicks` where a manifest does not have it: that wrote out of bounds."""
    train("vpcg", planted.graph()).save(tmp_path / "model")
    manifest = json.loads((tmp_path / "model" / "manifest.json").read_text())
    manifest["files"] = {
        name: entry for name, entry in manifest["files"].items() if not name.startswith("clicks_by_doc.")
    }
    (tmp_path / "model" / "manifest.json").write_text(json.dumps(manifest))
    assert open_model(tmp_path / "model").explain("hotel", "hotel-1").score > 0
    last_entry(Artefact(tmp_path / "model").file("clicks.indices"), np.int32(2**30))
    found = coclick("explain", tmp_path / "model", "hotel", "hotel-1")
    assert found.returncode == 3, found.stderr
    assert "clicks.ind" in found.stderr and "Traceback" not in found.stderr


def test_clicks_are_not_negative(tmp_path, gate):
    """Negative clicks would become negative weights, which no index can hold; 0 is a small number rounded."""
    planted.graph().save(tmp_path / "graph")
    for name in ("clicks", "clicks_by_doc"):
        file = Artefact(tmp_path / "graph").file(f"{name}.data")
        last_entry(file, np.float32(0))
        assert getattr(ClickGraph.open(tmp_path / "graph"), name).data.min() == 0
        last_entry(file, np.float32(-1))
        with pytest.raises(ArtefactError, match=rf"{name}.data: a value is negative"):
            getattr(ClickGraph.open(tmp_path / "graph"), name)
    declared = Annotated[NDArray[np.float32], Shape("days"), NotNegative]
    assert gate.checked(declared, floats(0, 1), "x", Scope()) is not None
    with pytest.raises(ArtefactError, match="x: a value is negative"):
        gate.checked(declared, floats(0, -1), "x", Scope())


def test_opening_reads_no_content(tmp_path):
    """An array that is not used is not checked, but `verify` finds the damage."""
    train("pls(dim=5)", planted.graph()).save(tmp_path / "model")
    damaged = Damaged(tmp_path / "model")
    assert damaged.apply(Case("model.query_features.indices", "last is 2^30"))
    opened = open_model(tmp_path / "model")
    assert opened.search("hotel").hits()
    assert verify(tmp_path / "model")
    damaged.restore()
    assert not verify(tmp_path / "model")
    assert damaged.apply(Case("clicks.indices", "last is 2^30"))
    with pytest.raises(ArtefactError, match="clicks: a column is out of bounds"):
        ClickGraph.read(Artefact(tmp_path / "model")).clicks  # noqa: B018


@pytest.mark.slow
def test_no_damage_crashes_or_passes_unnoticed():
    """Every stored type of graphs, suggestions and all models, with damage to its arrays, to all consumers.

    A sample of the trial; `python tests/storage/gate_trial.py 1` runs all of it.
    """
    path = f"{ROOT / 'src'}{os.pathsep}{ROOT / 'tests'}"
    found = subprocess.run(
        [sys.executable, ROOT / "tests" / "storage" / "gate_trial.py", "50"],
        env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    report = json.loads(found.stdout)
    assert report["wrong"] == {} and report["cases"] > 400
