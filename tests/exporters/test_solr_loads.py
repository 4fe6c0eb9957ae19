"""Solr: a collection for each version, and one that exists, through a server that answers as documented."""

import copy
import json

import pytest

from exporters.http_server import serve
from exporters.small_exports import NASTY_ID, NASTY_TITLE, export, run_py, settings_of
from exporters.small_exports import run as run_program
from exporters.solr_server import Collection, Solr


def export_into(path, docs, **options):
    return export(path, "solr", docs, **{"name": "learned", "into": "Products"} | options)


def run(command, engine, folder):
    run_program("solr_alias", command, engine, folder)


def run_into(command, engine, folder):
    run_program("solr_into", command, engine, folder)


def collection_of(folder):
    return settings_of(folder)["index"]


def words_of(folder):
    lines = [line for part in sorted(folder.glob("updates-*")) for line in part.read_text().split("\n")[:-1]]
    return {row["id"]: row["words"] for row in map(json.loads, lines)}


def held(collection, field="learned_words"):
    return {key: doc[field] for key, doc in collection.docs.items() if field in doc}


# -- own collections -----------------------------------------------------------------------------------------


def test_load_twice_replace_roll_back_prune_remove(tmp_path):
    folders = [
        export(tmp_path / "1", "solr", {"a": "red", NASTY_ID: NASTY_TITLE}),
        export(tmp_path / "2", "solr", {"b": "blue", "c": "green", "a": "red"}),
        export(tmp_path / "3", "solr", {"b": "blue", "c": "white"}),
    ]
    first, second, third = map(collection_of, folders)
    mine = {"coclick-notes": Collection({"x": {}}), "coclick-0123456789ab": Collection()}
    solr = Solr(**mine)
    with serve(solr) as engine:
        for _ in range(2):
            run("load", engine, folders[0])
            assert solr.aliases == {"coclick": first}
        assert solr.collections[first].docs[NASTY_ID]["title"] == f"{NASTY_TITLE} lamp"
        with pytest.raises(SystemExit, match=r"no version before .* is kept"):
            run("rollback", engine, folders[0])
        for folder, name, before in ((folders[1], second, first), (folders[2], third, second)):
            for _ in range(2):
                run("load", engine, folder)
                assert solr.aliases == {"coclick": name, "coclick-previous": before}
            run("check", engine, folder)
        assert solr.collections[third].docs.keys() == {"b", "c"}
        for _ in range(2):
            run("rollback", engine, folders[2])
            assert solr.aliases == {"coclick": second}
        run("check", engine, folders[1])
        with pytest.raises(SystemExit, match="not as expected"):
            run("check", engine, folders[2])
        run("load", engine, folders[2])
        for _ in range(2):
            run("prune", engine, folders[2])
            assert solr.collections.keys() == {second, third, *mine}
        for _ in range(2):
            run("remove", engine, folders[2])
            assert solr.collections.keys() == mine.keys() and not solr.aliases


def test_the_alias_changes_only_when_everything_is_there(tmp_path):
    old = export(tmp_path / "old", "solr", {"a": "red"})
    new = export(tmp_path / "new", "solr", dict.fromkeys("abcdef", "blue"))
    solr = Solr()
    with serve(solr) as engine:
        run("load", engine, old)
        before = dict(solr.aliases)
        solr.broken = ("b", "d", "f")
        with pytest.raises(
            SystemExit, match=r"refused 3 documents, the first: 'b': ERROR: \[doc=b\] imm.*coclick has not"
        ):
            run("load", engine, new)
        assert solr.aliases == before and solr.collections[collection_of(new)].pending.keys() == set("ace")
        solr.broken, solr.fail_after = (), 2
        with pytest.raises(SystemExit, match="cannot ask"):
            run("load", engine, new)
        solr.fail_after = None
        solr.collections[collection_of(new)].pending["stranger"] = {"id": "stranger"}
        with pytest.raises(SystemExit, match=r"has 7 documents instead of 6, and the alias has not changed"):
            run("load", engine, new)
        assert solr.aliases == before
        del solr.collections[collection_of(new)].pending["stranger"]
        run("load", engine, new)
        run("check", engine, new)
        assert solr.aliases == {"coclick": collection_of(new), "coclick-previous": collection_of(old)}
    with serve(Solr(coclick=Collection())) as engine, pytest.raises(SystemExit, match="not an alias"):
        run("load", engine, new)


def test_increments(tmp_path):
    tuesday = {"a": "red", "b": "azure", "c": "green", "e": "black"}  # b changed, d deleted, e new
    monday = export(tmp_path / "monday", "solr", {"a": "red", "b": "blue", "c": "green", "d": "white"})
    whole = export(tmp_path / "whole", "solr", tuesday)
    changes = export(tmp_path / "changes", "solr", tuesday, changes_from=monday)
    name = collection_of(whole)
    assert collection_of(changes) == name
    solr, other = Solr(), Solr()
    with serve(other) as engine:
        run("load", engine, whole)
        run("load", engine, changes)  # the same version: nothing is copied
    expected = other.collections[name].docs
    with serve(solr) as engine:
        with pytest.raises(SystemExit, match=r"only the changes since coclick-\w+, which Solr does not have"):
            run("load", engine, changes)
        assert not solr.collections
        run("load", engine, monday)
        solr.fail_after = 2
        with pytest.raises(SystemExit, match="cannot ask"):
            run("load", engine, changes)
        assert solr.aliases == {"coclick": collection_of(monday)}
        solr.fail_after = None
        for _ in range(2):
            run("load", engine, changes)
            assert solr.collections[name].docs == expected
        run("check", engine, changes)
        run("rollback", engine, changes)
        assert solr.aliases == {"coclick": collection_of(monday)}
        run("check", engine, monday)
        for doc in solr.collections[collection_of(monday)].docs.values():
            del doc["words"]  # as earlier releases loaded them: not stored
        with pytest.raises(SystemExit, match="an earlier release of coclick loaded them"):
            run("load", engine, changes)


def test_many_refused_documents_stop_the_load(tmp_path):
    folder = export(tmp_path / "out", "solr", {str(i): "red" for i in range(200)})
    solr = Solr()
    solr.broken = tuple(map(str, range(200)))
    with serve(solr) as engine, pytest.raises(SystemExit, match=r"refused 20 documents.*There may be more"):
        run("load", engine, folder)
    assert len(solr.requests) < 120


# -- a collection that exists ------------------------------------------------------------------------------


def test_into_load_twice_replace_roll_back_remove(tmp_path, capsys):
    old = export_into(tmp_path / "old", {"a": "red", "b": "blue", NASTY_ID: NASTY_TITLE, "lost": "green"})
    new = export_into(tmp_path / "new", {"b": "blue sky", "c": "white"})
    products = Collection({key: {"price": 7} for key in ("a", "b", "c", "d", NASTY_ID)}, {"price": "pint"})
    before_all = copy.deepcopy(products.docs)
    with serve(Solr(Products=products)) as engine:
        for times in range(2):
            run_into("load", engine, old)
            assert ("3 unchanged" if times else "3 sent") in capsys.readouterr().out
            assert (old / "missing-ids.txt").read_text() == '"lost"\n'
            expected = words_of(old)
            assert expected.pop("lost") and held(products) == expected
            run_into("check", engine, old)
        assert products.docs.keys() == before_all.keys()  # no document is created
        before = copy.deepcopy(products.docs)
        for _ in range(2):
            run_into("load", engine, new)
            assert held(products) == words_of(new)
            run_into("check", engine, new)
        for _ in range(2):
            run_into("rollback", engine, new)
            for key, doc in before.items():
                unversioned = {name: doc[name] for name in doc if "previous" not in name}
                assert products.docs[key] == unversioned
        run_into("rollback", engine, old)  # the version before was not kept: nothing changes
        assert len(held(products)) == 3
        for _ in range(2):
            run_into("remove", engine, old)
            assert products.docs == before_all


def test_into_increments(tmp_path):
    tuesday = {"a": "red", "b": "blue sky", "c": "green", "e": "black"}  # b changed, d deleted, e new
    monday = export_into(tmp_path / "monday", {"a": "red", "b": "blue", "c": "green", "d": "white"})
    whole = export_into(tmp_path / "whole", tuesday)
    changes = export_into(tmp_path / "changes", tuesday, changes_from=monday)
    products = Collection({key: {} for key in "abcde"})
    with serve(Solr(Products=products)) as engine:
        with pytest.raises(SystemExit, match="Products has version none, and this folder has only the"):
            run_into("load", engine, changes)
        run_into("load", engine, monday)
        for _ in range(2):
            run_into("load", engine, changes)
            assert held(products) == words_of(whole)
        run_into("check", engine, changes)
        for _ in range(2):
            run_into("rollback", engine, changes)
            assert held(products) == words_of(monday)
        run_into("load", engine, changes)
        assert held(products) == words_of(whole)


def test_into_interrupted_loads(tmp_path):
    old = export_into(tmp_path / "old", dict.fromkeys("abcd", "red"))
    new = export_into(tmp_path / "new", dict.fromkeys("cdef", "blue"))
    products = Collection({key: {} for key in "abcdef"})
    solr = Solr(Products=products)
    with serve(solr) as engine:
        run_into("load", engine, old)
        for command in ("rollback", "load"):
            solr.fail_after = 3
            with pytest.raises(SystemExit, match="cannot ask"):
                run_into("load", engine, new)
            solr.fail_after = None
            run_into(command, engine, new)
            assert held(products) == words_of(new if command == "load" else old)
        run_into("rollback", engine, new)
        assert held(products) == words_of(old)


class LateCommits(Solr):
    """Solr in which searches see no updates of the test."""

    def update(self, collection, method, body):
        return (200, {}) if body == {"commit": {}} else super().update(collection, method, body)


def test_into_ids_in_a_field_and_documents_deleted_meanwhile(tmp_path):
    folder = export_into(tmp_path / "out", {"s1": "red", "s2": "blue", "s3": "x"}, id_field="sku")
    skus = {"1": "s1", "2": "s2", "3": "s2", "4": "other"}
    products = Collection({key: {"sku": sku} for key, sku in skus.items()}, {"sku": "string"})
    del products.pending["2"]  # deleted, not committed: searches find it
    with serve(LateCommits(Products=products)) as engine:
        run_into("load", engine, folder)
    products.commit()
    words = words_of(folder)
    assert held(products) == {"1": words["s1"], "3": words["s2"]}
    assert sorted((folder / "missing-ids.txt").read_text().split()) == ['"s2"', '"s3"']


def test_into_errors_are_sentences(tmp_path):
    folder = export_into(tmp_path / "out", {"a": "red"})
    products = Collection({"a": {"body": "x", "all": "x", "_text_": "x"}})
    products.flags = {"body": "IT---", "all": "IT---", "_text_": "IT---"}
    before = copy.deepcopy(products.docs)
    with serve(Solr(Products=products)) as engine:
        with pytest.raises(SystemExit, match="an update would lose body of Products: atomic updates need"):
            run_into("load", engine, folder)
        products.flags["body"] = "I--D-"
        products.fields["learned_version"] = "text_general"
        with pytest.raises(SystemExit, match="learned_version of Products has the type text_general, and"):
            run_into("load", engine, folder)
        del products.fields["learned_version"]
        other = export_into(tmp_path / "other", {"z": "red"})
        with pytest.raises(SystemExit, match="none of the 1 ids is in Products as id"):
            run_into("load", engine, other)
        assert products.docs == before
    with serve(Solr()) as engine, pytest.raises(SystemExit, match="404: no collection Products"):
        run_into("load", engine, folder)


def test_hybrid_query_and_readme(tmp_path):
    folder = export_into(tmp_path / "out", {"a": "red"}, hybrid="title^3, body")
    request = json.loads((folder / "hybrid.json").read_text())
    text, words = request["query"]["bool"]["should"]
    assert text == {"edismax": {"qf": "title^3 body", "uf": "-*", "query": "lamp"}}
    ((weighted,),) = (words["boost"]["query"]["bool"]["should"],)
    assert weighted["boost"]["query"]["payload_score"] == {
        "f": "learned_words",
        "func": "sum",
        "query": "lamp",
    }
    assert request["filter"] == [] and words["boost"]["b"] == 1.0
    readme = (folder / "README.md").read_text()
    assert "Solr**, only against a test server" in readme and "edismax over `title^3 body`" in readme


def test_run_py_is_complete(tmp_path):
    folders = export(tmp_path / "own", "solr", {"a": "red"}), export_into(tmp_path / "into", {"a": "red"})
    with serve(Solr(Products=Collection({"a": {}}))) as engine:
        for folder in folders:
            for command in ("load", "check", "rollback" if folder is folders[1] else "prune"):
                done = run_py(folder, engine.url, command)
                assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    export(folders[0], "solr", {"a": "red"}, force=True)
