"""Increments in Elasticsearch and OpenSearch, through a server that answers in the documented form."""

import copy
import json

import pytest

from exporters.bulk_api_server import Cluster, Index
from exporters.http_server import serve
from exporters.small_exports import export, run, settings_of

ENGINES = ["opensearch", "elasticsearch"]
MONDAY = {"a": "red", "b": "blue", "c": "green", "d": "white"}
TUESDAY = {"a": "red", "b": "blue sky", "c": "green", "e": "black"}  # b changed, d deleted, e new
NAMES = {"name": "learned"}
INTO = {**NAMES, "into": "products"}


def contents(index):
    return {key: doc["words"] for key, doc in index.docs.items()}


def held(index):
    return {key: doc["learned_words"] for key, doc in index.docs.items() if "learned_words" in doc}


@pytest.mark.parametrize("kind", ENGINES)
def test_an_increment_makes_the_same_index_as_the_whole_export(kind, tmp_path):
    monday = export(tmp_path / "monday", kind, MONDAY, **NAMES)
    whole = export(tmp_path / "whole", kind, TUESDAY, **NAMES)
    changes = export(tmp_path / "changes", kind, TUESDAY, **NAMES, changes_from=monday)
    index = settings_of(whole)["index"]
    assert settings_of(changes)["index"] == index
    cluster, other = Cluster(), Cluster()
    with serve(other) as engine:
        run("bulk_api_alias", "load", engine, whole)
        expected = other.indexes[index].docs
        with pytest.raises(SystemExit, match="already"):
            run("bulk_api_alias", "load", engine, changes)
            raise SystemExit("already")  # the same version: nothing is copied
    with serve(cluster) as engine:
        with pytest.raises(
            SystemExit, match=r"only the changes since learned-\w+, which the engine does not"
        ):
            run("bulk_api_alias", "load", engine, changes)
        run("bulk_api_alias", "load", engine, monday)
        cluster.fail_after = 1
        with pytest.raises(SystemExit, match="cannot ask"):
            run("bulk_api_alias", "load", engine, changes)
        cluster.fail_after = None
        for _ in range(2):
            run("bulk_api_alias", "load", engine, changes)
            assert cluster.aliases["learned"] == {index} and cluster.indexes[index].docs == expected
        run("bulk_api_alias", "check", engine, changes)
        run("bulk_api_alias", "rollback", engine, changes)
        assert cluster.aliases == {"learned": {settings_of(monday)["index"]}}


@pytest.mark.parametrize("kind", ENGINES)
def test_an_increment_into_an_index(kind, tmp_path):
    monday = export(tmp_path / "monday", kind, MONDAY, **INTO)
    whole = export(tmp_path / "whole", kind, TUESDAY, **INTO)
    changes = export(tmp_path / "changes", kind, TUESDAY, **INTO, changes_from=monday)
    index = Index({key: {} for key in "abcde"}, {"_meta": {"mine": 1}})
    with serve(Cluster(products=index)) as engine:
        run("bulk_api_into", "load", engine, whole)
        expected = held(index)
        run("bulk_api_into", "remove", engine, whole)
        assert index.mappings["_meta"] == {"mine": 1, "coclick": {"learned": {}}}
        with pytest.raises(
            SystemExit, match="products has version none, and this folder has only the changes"
        ):
            run("bulk_api_into", "load", engine, changes)
        assert not held(index)
        run("bulk_api_into", "load", engine, monday)
        before, meta = copy.deepcopy(held(index)), copy.deepcopy(index.mappings["_meta"])
        for _ in range(2):
            run("bulk_api_into", "load", engine, changes)
            assert held(index) == expected
        run("bulk_api_into", "check", engine, changes)
        untouched = [key for key, doc in index.docs.items() if doc["learned_version"] != _version(changes)]
        assert len(untouched) < 5
        for _ in range(2):
            run("bulk_api_into", "rollback", engine, changes)
            assert held(index) == before
        assert index.mappings["_meta"]["coclick"]["learned"]["version"] == _version(monday)
        assert meta["mine"] == 1
        run("bulk_api_into", "load", engine, changes)  # again, after the way back
        assert held(index) == expected


def test_an_increment_is_refused_after_another_load_was_interrupted(tmp_path):
    monday = export(tmp_path / "monday", "opensearch", MONDAY, **INTO)
    other = export(tmp_path / "other", "opensearch", dict.fromkeys("abcde", "other"), **INTO)
    changes = export(tmp_path / "changes", "opensearch", TUESDAY, **INTO, changes_from=monday)
    index = Index({key: {} for key in "abcde"})
    cluster = Cluster(products=index)
    with serve(cluster) as engine:
        run("bulk_api_into", "load", engine, monday)
        before = held(index)
        cluster.fail_after = 2
        with pytest.raises(SystemExit, match="cannot ask"):
            run("bulk_api_into", "load", engine, other)
        cluster.fail_after = None
        with pytest.raises(SystemExit, match=f"products has a part of version {_version(other)}, and this"):
            run("bulk_api_into", "load", engine, changes)
        run("bulk_api_into", "rollback", engine, other)
        assert held(index) == before
        run("bulk_api_into", "load", engine, changes)
        run("bulk_api_into", "check", engine, changes)


def _version(folder):
    return json.loads((folder / "manifest.json").read_text())["version"]
