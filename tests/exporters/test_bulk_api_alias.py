"""An index for each version and an alias that is swapped, through a server that answers as documented."""

import pytest

from exporters.bulk_api_server import Cluster, Index
from exporters.http_server import serve
from exporters.small_exports import NASTY_ID, NASTY_TITLE, export, run_py, settings_of
from exporters.small_exports import run as run_program

ENGINES = ["opensearch", "elasticsearch"]


def run(command, engine, folder):
    run_program("bulk_api_alias", command, engine, folder)


def index_of(folder):
    return settings_of(folder)["index"]


@pytest.mark.parametrize("kind", ENGINES)
def test_load_twice_replace_roll_back_prune_remove(kind, tmp_path):
    folders = [
        export(tmp_path / "1", kind, {"a": "red", NASTY_ID: NASTY_TITLE}),
        export(tmp_path / "2", kind, {"b": "blue", "c": "green", "a": "red"}),
        export(tmp_path / "3", kind, {"b": "blue", "c": "white"}),
    ]
    first, second, third = map(index_of, folders)
    mine = Index({"x": {}})  # of the user, with a name that looks like ours
    cluster = Cluster(**{"coclick-notes": mine, "coclick-0123456789ab": mine})
    with serve(cluster) as engine:
        for _ in range(2):
            run("load", engine, folders[0])
            assert cluster.aliases == {"coclick": {first}}
        assert cluster.indexes[first].docs[NASTY_ID]["title"] == f"{NASTY_TITLE} lamp"
        with pytest.raises(SystemExit, match=r"no version before .* is kept"):
            run("rollback", engine, folders[0])
        for folder, name, before in ((folders[1], second, first), (folders[2], third, second)):
            for _ in range(2):
                run("load", engine, folder)
                assert cluster.aliases == {"coclick": {name}, "coclick-previous": {before}}
            run("check", engine, folder)
        assert cluster.indexes[third].docs.keys() == {"b", "c"}
        for _ in range(2):
            run("rollback", engine, folders[2])
            assert cluster.aliases == {"coclick": {second}}
        run("check", engine, folders[1])
        run("load", engine, folders[2])
        assert cluster.aliases == {"coclick": {third}, "coclick-previous": {second}}
        for _ in range(2):
            run("prune", engine, folders[2])
            assert cluster.indexes.keys() == {second, third, "coclick-notes", "coclick-0123456789ab"}
        for _ in range(2):
            run("remove", engine, folders[2])
            assert cluster.indexes.keys() == {"coclick-notes", "coclick-0123456789ab"}
        assert cluster.aliases == {} and mine.docs == {"x": {}}


def test_the_alias_changes_only_when_everything_is_there(tmp_path):
    old = export(tmp_path / "old", "opensearch", {"a": "red"})
    new = export(tmp_path / "new", "opensearch", dict.fromkeys("abcdef", "blue"))
    cluster = Cluster()
    with serve(cluster) as engine:
        run("load", engine, old)
        before = dict(cluster.aliases)
        cluster.broken = ("b", "d", "f")
        with pytest.raises(SystemExit, match=r"refused 3 documents, the first: 'b'.*coclick has not changed"):
            run("load", engine, new)
        assert cluster.aliases == before
        cluster.broken, cluster.fail_after = (), 2
        with pytest.raises(SystemExit, match="cannot ask"):
            run("load", engine, new)
        assert cluster.aliases == before
        cluster.fail_after, cluster.busy = None, 4
        cluster.indexes[index_of(new)].docs["stranger"] = {}
        with pytest.raises(SystemExit, match=r"has 7 documents instead of 6, and the alias has not changed"):
            run("load", engine, new)
        del cluster.indexes[index_of(new)].docs["stranger"]
        run("load", engine, new)
        assert cluster.aliases["coclick"] == {index_of(new)}
        run("check", engine, new)


def test_an_index_with_the_name_of_the_alias_is_left_alone(tmp_path):
    folder = export(tmp_path / "out", "elasticsearch", {"a": "red"})
    cluster = Cluster(coclick=Index({"x": {}}))
    with serve(cluster) as engine, pytest.raises(SystemExit, match="coclick is an index, not an alias"):
        run("load", engine, folder)
    assert cluster.indexes.keys() == {"coclick"} and not cluster.aliases


def test_run_py_and_readme(tmp_path):
    folder = export(tmp_path / "out", "opensearch", {"a": "red"}, name="shop")
    with serve(Cluster()) as engine:
        for command in ("load", "check", "load"):
            done = run_py(folder, engine.url, command)
            assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
    assert "is this version already" in done.stdout
    readme = (folder / "README.md").read_text()
    assert index_of(folder) in readme and "not run against a real server" in readme
    export(folder, "opensearch", {"a": "red"}, force=True)


def test_check_finds_what_is_wrong():
    from coclick.exporters.programs.samples import compare

    ten = [(str(i), 20.0 - i) for i in range(10)]  # scores from 20 to 11
    assert compare(ten, ten) == []
    assert compare(ten, [(doc, score * 1.009) for doc, score in ten]) == []
    assert compare(ten, [("0", 20.3), *ten[1:]]) == ["'0' has the score 20.3 instead of 20"]
    assert compare(ten, [*ten[:9], ("other", 11.05)]) == []  # as good as the tenth
    assert compare(ten, [*ten[:8], ("other", 12.5), ten[8]]) == [
        "'other' with the score 12.5 is not expected"
    ]
    assert compare(ten, ten[:9]) == ["'9' with the score 11 is not found"]
    assert compare(ten, ten[1:], missing={"0"}) == []
    assert compare(ten[:2], ten[:3]) == ["'2' with the score 18 is not expected"]
    assert compare([], []) == []
