"""Vespa: versions side by side, and a document type that exists, through a server of the tests."""

import copy
import json
import re

import pytest

from exporters.http_server import serve
from exporters.small_exports import NASTY_ID, NASTY_TITLE, export, run_py, settings_of
from exporters.small_exports import run as run_program
from exporters.vespa_server import Vespa

OWN = {"coclick": dict.fromkeys(("doc", "title", "words", "version"))}
ADDED = ("learned_words", "learned_version", "learned_previous_words", "learned_previous_version")
SHOP = {"products": dict.fromkeys(("price", "sku", *ADDED))}


def export_into(path, docs, **options):
    return export(path, "vespa", docs, **{"name": "learned", "into": "shop.products"} | options)


def run(command, engine, folder):
    run_program("vespa_versions", command, engine, folder)


def run_into(command, engine, folder):
    run_program("vespa_into", command, engine, folder)


def deploy(vespa, folder):
    """Read the query profile, as `vespa deploy` does."""
    text = (folder / "application/search/query-profiles/coclick.xml").read_text()
    vespa.profiles = {"coclick": dict(re.findall('<field name="(.*)">(.*)</field>', text))}


def versions(vespa):
    return {fields["version"] for fields in vespa.docs.values()}


def words_of(folder):
    lines = (folder / "updates.jsonl").read_text().split("\n")[:-1]
    return {row["id"]: row["words"] for row in map(json.loads, lines)}


def held(vespa):
    return {
        name.split(":", 4)[4]: fields["learned_words"]
        for name, fields in vespa.docs.items()
        if "learned_words" in fields
    }


def products(*keys):
    return {f"id:shop:products::{key}": {"price": 7} for key in keys}


# -- versions side by side -------------------------------------------------------------------------------


def test_load_twice_replace_go_back_prune_remove(tmp_path):
    old = export(tmp_path / "old", "vespa", {"a": "red", NASTY_ID: NASTY_TITLE, "c": "x", "d": "y"})
    new = export(tmp_path / "new", "vespa", {"b": "blue", "a": "red"})
    vespa = Vespa(OWN)
    v1, v2 = (settings_of(folder)["version"] for folder in (old, new))
    with serve(vespa) as engine:
        for _ in range(2):
            run("load", engine, old)
            assert len(vespa.docs) == 4 and versions(vespa) == {v1}
        titles = {fields["doc"]: fields["title"] for fields in vespa.docs.values()}
        assert titles[NASTY_ID] == f"{NASTY_TITLE} lamp"
        deploy(vespa, old)
        run("check", engine, old)
        for _ in range(2):
            run("load", engine, new)
            assert len(vespa.docs) == 6
        run("check", engine, old)  # queries have the old version until the new one is deployed
        deploy(vespa, new)
        run("check", engine, new)
        with pytest.raises(SystemExit, match="not as expected"):
            run("check", engine, old)
        deploy(vespa, old)
        run("check", engine, old)
        deploy(vespa, new)
        for _ in range(2):
            run("prune", engine, new)
            assert len(vespa.docs) == 2 and versions(vespa) == {v2}
        for _ in range(2):
            run("remove", engine, new)
            assert not vespa.docs


def test_a_load_that_is_not_complete_says_so(tmp_path):
    folder = export(tmp_path / "out", "vespa", dict.fromkeys("abcdef", "blue"))
    vespa = Vespa(OWN)
    with serve(vespa) as engine:
        vespa.busy, vespa.broken = 3, ("/b", "/d", "/f")
        with pytest.raises(SystemExit, match=r"refused 3 documents, the first: '.': No field 'words'"):
            run("load", engine, folder)
        assert len(vespa.docs) == 3
        vespa.broken, vespa.fail_after = (), 2
        with pytest.raises(SystemExit, match="cannot ask"):
            run("load", engine, folder)
        vespa.fail_after = None
        vespa.docs["id:coclick:coclick::stranger"] = {"version": settings_of(folder)["version"]}
        with pytest.raises(
            SystemExit, match="has 7 documents instead of 6: run load again before you deploy"
        ):
            run("load", engine, folder)
        del vespa.docs["id:coclick:coclick::stranger"]
        run("load", engine, folder)
        assert len(vespa.docs) == 6


MONDAY = {"a": "red", "b": "blue", "c": "green", "d": "white"}
TUESDAY = {"a": "red", "b": "azure", "c": "green", "e": "black"}  # b changed, d deleted, e new


def of_version(vespa, folder):
    version = settings_of(folder)["version"]
    return {name: fields for name, fields in vespa.docs.items() if fields["version"] == version}


def test_increments(tmp_path):
    monday = export(tmp_path / "monday", "vespa", MONDAY)
    whole = export(tmp_path / "whole", "vespa", TUESDAY)
    changes = export(tmp_path / "changes", "vespa", TUESDAY, changes_from=monday)
    other, vespa = Vespa(OWN), Vespa(OWN)
    with serve(other) as engine:
        run("load", engine, whole)
    with serve(vespa) as engine:
        with pytest.raises(
            SystemExit, match=r"only the changes since version \w+, which Vespa does not have"
        ):
            run("load", engine, changes)
        run("load", engine, monday)
        before = copy.deepcopy(vespa.docs)
        vespa.fail_after = 1
        with pytest.raises(SystemExit, match="cannot ask"):
            run("load", engine, changes)
        vespa.fail_after = None
        for _ in range(2):
            run("load", engine, changes)
            assert of_version(vespa, changes) == other.docs
        deploy(vespa, changes)
        run("check", engine, changes)
        assert of_version(vespa, monday) == before
        deploy(vespa, monday)  # the way back
        run("check", engine, monday)


# -- a document type that exists ---------------------------------------------------------------------------


def test_into_load_twice_replace_roll_back_remove(tmp_path, capsys):
    old = export_into(tmp_path / "old", {"a": "red", "b": "blue", NASTY_ID: NASTY_TITLE, "lost": "green"})
    new = export_into(tmp_path / "new", {"b": "blue sky", "c": "white"})
    docs = products("a", "b", "c", "d", NASTY_ID) | {"id:other:products::a": {"price": 7}}
    vespa = Vespa(SHOP, docs)
    before_all = copy.deepcopy(docs)
    with serve(vespa) as engine:
        for times in range(2):
            run_into("load", engine, old)
            assert ("0 updated, 3 unchanged" if times else "3 updated") in capsys.readouterr().out
            assert (old / "missing-ids.txt").read_text() == '"lost"\n'
            expected = words_of(old)
            assert expected.pop("lost") and held(vespa) == expected
            run_into("check", engine, old)
        assert docs.keys() == before_all.keys()  # no document is created
        before = copy.deepcopy(docs)
        for _ in range(2):
            run_into("load", engine, new)
            assert held(vespa) == words_of(new)
            run_into("check", engine, new)
        for _ in range(2):
            run_into("rollback", engine, new)
            for name, fields in before.items():
                assert docs[name] == {key: fields[key] for key in fields if "previous" not in key}
        run_into("rollback", engine, old)  # the version before was not kept: nothing changes
        assert len(held(vespa)) == 3
        for _ in range(2):
            run_into("remove", engine, old)
            assert docs == before_all


def test_into_increments(tmp_path):
    monday = export_into(tmp_path / "monday", MONDAY)
    whole = export_into(tmp_path / "whole", TUESDAY)
    changes = export_into(tmp_path / "changes", TUESDAY, changes_from=monday)
    assert words_of(changes).keys() == {"b", "e"}
    later = export_into(tmp_path / "later", MONDAY, changes_from=changes)
    vespa = Vespa(SHOP, products(*"abcdef"))
    with serve(vespa) as engine:
        with pytest.raises(SystemExit, match="products has version none, and this folder has only the"):
            run_into("load", engine, changes)
        run_into("load", engine, monday)
        for command in ("load", "rollback", "load"):
            vespa.fail_after = 2
            with pytest.raises(SystemExit, match="cannot ask"):
                run_into("load", engine, changes)
            vespa.fail_after = None
            for _ in range(2):
                run_into(command, engine, changes)
                assert held(vespa) == words_of(monday if command == "rollback" else whole)
            if command == "load":
                run_into("check", engine, changes)
                run_into("rollback", engine, changes)
                assert held(vespa) == words_of(monday)
        other = export_into(tmp_path / "other", dict.fromkeys("abcde", "other"))
        run_into("load", engine, other)
        with pytest.raises(SystemExit, match=f"has version {settings_of(other)['version']}, and this folder"):
            run_into("load", engine, changes)
        run_into("rollback", engine, other)
        run_into("load", engine, changes)
        run_into("load", engine, later)
        assert held(vespa) == words_of(monday)
        run_into("rollback", engine, later)
        assert held(vespa) == words_of(whole)
        run_into("remove", engine, later)
        assert vespa.docs == products(*"abcdef")


def test_into_interrupted_loads(tmp_path):
    old = export_into(tmp_path / "old", dict.fromkeys("abcd", "red"))
    new = export_into(tmp_path / "new", dict.fromkeys("cdef", "blue"))
    vespa = Vespa(SHOP, products(*"abcdef"))
    with serve(vespa) as engine:
        run_into("load", engine, old)
        for command in ("rollback", "load"):
            vespa.fail_after = 2
            with pytest.raises(SystemExit, match="cannot ask"):
                run_into("load", engine, new)
            vespa.fail_after = None
            run_into(command, engine, new)
            assert held(vespa) == words_of(new if command == "load" else old)
        run_into("rollback", engine, new)
        assert held(vespa) == words_of(old)


def test_into_ids_in_a_field_and_grouped_documents(tmp_path):
    folder = export_into(tmp_path / "out", {"s1": "red", "s2": "blue", "s3": "x"}, id_field="sku")
    docs = {
        "id:shop:products:g=a b:1": {"sku": "s1"},
        "id:shop:products:n=17:2:x": {"sku": "s2"},
        "id:shop:products::3": {"sku": "s2"},
    }
    vespa = Vespa(SHOP, docs)
    with serve(vespa) as engine:
        run_into("load", engine, folder)
        run_into("check", engine, folder)
    words = words_of(folder)
    assert [fields["learned_words"] for fields in docs.values()] == [words["s1"], words["s2"], words["s2"]]
    assert (folder / "missing-ids.txt").read_text() == '"s3"\n'


def test_into_errors_are_sentences(tmp_path):
    folder = export_into(tmp_path / "out", {"a": "red", "b": "blue"})
    vespa = Vespa({"products": {"price": None}}, products("a", "b"))
    with serve(vespa) as engine:
        with pytest.raises(
            SystemExit, match=r"cannot read the fields of products .*add the fields of fields\.sd"
        ):
            run_into("load", engine, folder)
        vespa.types, vespa.broken = SHOP, ("::b",)
        with pytest.raises(SystemExit, match="refused 1 documents, the first: 'b': No field 'words'"):
            run_into("load", engine, folder)
        vespa.broken = ()
        run_into("load", engine, folder)
        other = export_into(tmp_path / "ids", {"z": "red"})
        with pytest.raises(SystemExit, match=r"none of the 1 ids is in products as documentid"):
            run_into("load", engine, other)
        assert held(vespa) == words_of(folder)  # nothing is lost
        other = export_into(tmp_path / "other", {"a": "red"}, into="products")
        with pytest.raises(
            SystemExit, match=r"none of the 1 ids is in products as documentid: .*NAMESPACE\.TYPE"
        ):
            run_into("load", engine, other)
        assert held(vespa) == words_of(folder)


def test_schema_additions_and_hybrid_query(tmp_path):
    folder = export_into(tmp_path / "out", {"a": "red"}, hybrid="title^3, body")
    fields = (folder / "fields.sd").read_text()
    assert re.findall(r"field (\w+) type", fields) == [ADDED[0], ADDED[1], *ADDED[2:]]
    assert fields.count("{") == fields.count("}")
    words = (folder / "schemas/products/learned_words.profile").read_text()
    assert "rank-profile learned_words {" in words
    assert "expression: rawScore(learned_words) / 1000000000000.0\n" in words
    hybrid = (folder / "schemas/products/learned_hybrid.profile").read_text()
    assert (
        "query(text_weight) * (3 * bm25(title) + bm25(body)) + query(words_weight) * rawScore(learned_words)"
        in hybrid
    )
    assert hybrid.count("{") == hybrid.count("}")
    request = json.loads((folder / "hybrid.json").read_text())
    assert request["text"] == "lamp" and request["ranking"] == "learned_hybrid"
    assert request["model.restrict"] == "products"
    assert '{defaultIndex: "title", grammar: "weakAnd"}userInput(@text)' in request["yql"]
    assert "wand(learned_words, " in request["yql"] and "lamp" not in request["yql"].partition("wand")[0]
    assert "not run on a real Vespa" in (folder / "README.md").read_text()


def test_run_py_is_complete(tmp_path):
    folders = export(tmp_path / "own", "vespa", {"a": "red"}), export_into(tmp_path / "into", {"a": "red"})
    vespa = Vespa(OWN | SHOP, products("a"))
    with serve(vespa) as engine:
        deploy(vespa, folders[0])
        for folder in folders:
            for command in ("load", "check", "remove"):
                done = run_py(folder, engine.url, command)
                assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    export(folders[0], "vespa", {"a": "red"}, force=True)
