"""Spark as a real cluster, a master and two workers: the same graph and the same models again, and the same
although a job was cut off or a worker died."""

import threading
import time
from pathlib import Path

import pytest

from benchmarks._event_log import all_logged, events, tasks
from coclick import ClickGraph, create, open_model
from coclick.errors import UserError
from spark.agreement import assert_same_rows
from spark.conftest import FEW_PARTS, PARTS, assert_little_reached_the_driver, start_session
from spark.same_as_local import SameAsLocal

SPECS = {
    "vpcg(rho=1000)": FEW_PARTS,  # so that the regression has few rounds
    "rw": PARTS,
    "rmls(views=words,dim=16,iterations=0.5,held_out=0)": FEW_PARTS,
}
FAULTY = "vpcg(units=none,iterations=2)"


@pytest.fixture(scope="module")
def spark(cluster, event_log):
    session = start_session(cluster.address, event_log, **cluster.settings())
    yield session
    session.stop()


class TestCluster(SameAsLocal):
    pass


class CutOff(Exception):
    """The driver's end, as far as the directory that it writes to can tell."""


@pytest.fixture
def cut_off(monkeypatch):
    """Let a job die when it comes to a table of the work directory, with no time to remove anything."""
    from coclick.spark.storage import Place, Work

    saved = Work.saved

    def at(name):
        def dies(self, table, frame):
            if table == name:
                monkeypatch.setattr(Place, "remove", lambda self, name: None)
                raise CutOff
            return saved(self, table, frame)

        monkeypatch.setattr(Work, "saved", dies)

    return at


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("models") / "model"


def test_what_a_dead_job_leaves_is_not_a_model(spark, graph, place, cut_off):
    import coclick.spark

    cut_off("others-2")
    with pytest.raises(CutOff):
        coclick.spark.train(spark, FAULTY, graph, str(place), parts=PARTS)
    assert list(place.glob("_work-*/*-texts-1"))  # its edges lay on the executors, and not any more
    assert spark._jsparkSession.sharedState().cacheManager().isEmpty()
    with pytest.raises(UserError, match="no manifest"):
        open_model(place)


@pytest.fixture(scope="module")
def survived(spark, graph, place, cluster):
    """A model trained where a dead job lies, while a worker dies, and its first checkpoints are lost, too."""
    import coclick.spark
    from coclick.spark.storage import Work

    saved = Work.saved

    def with_faults(self, table, frame):
        path = Path(self.path.removeprefix("file:"))
        if table == "others-2":
            threading.Thread(target=_kill_while_written, args=(cluster, path), daemon=True).start()
        if table == "texts-2":
            for old in [*path.glob("*-start"), *path.glob("*-others-1")]:
                old.rename(old.with_name(f"lost-{old.name}"))
        return saved(self, table, frame)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Work, "saved", with_faults)
        coclick.spark.train(spark, FAULTY, graph, str(place), parts=PARTS)
    all_logged(spark)
    return place


def _kill_while_written(cluster, work: Path) -> None:
    """When its first part is: others are under way, and what this worker sent them is lost with it."""
    while not list(work.glob("*-others-2/_temporary/*/_temporary/attempt_*")):
        time.sleep(0.01)
    cluster.kill_worker(0)


def test_a_worker_that_dies_costs_a_retry(survived, graph, event_log):
    assert len(list(events(event_log, "ExecutorRemoved"))) == 1
    assert not all(task.succeeded for task in tasks(event_log))
    here = create(FAULTY).fit(ClickGraph.open(graph.path.removeprefix("file:")))
    there = open_model(survived)
    names = there.terms_.to_list(), here.terms_.to_list()
    assert_same_rows(there.query_index_.vectors, here.query_index_.vectors, *names)
    assert_same_rows(there.doc_index_.vectors, here.doc_index_.vectors, *names)


def test_no_edge_and_no_vector_reaches_the_driver(spark, survived, trained, event_log):
    for spec in SPECS:
        trained(spec)
    assert_little_reached_the_driver(spark, event_log)


def test_only_what_was_finished_is_left(survived):
    assert not list(survived.glob("_*"))
    tables = [path.name.rpartition("-")[0] for path in survived.iterdir() if path.is_dir()]
    assert sorted(tables) == sorted(set(tables))


def test_a_model_stays_when_its_successor_fails(spark, graph, survived, cut_off):
    import coclick.spark

    before = (survived / "manifest.json").read_bytes()
    cut_off("words")
    with pytest.raises(CutOff):
        coclick.spark.train(
            spark, "vpcg(units=none,max_terms=3)", graph, str(survived), parts=PARTS, force=True
        )
    assert (survived / "manifest.json").read_bytes() == before
    assert open_model(survived).k == create(FAULTY).k
