"""A Spark cluster of a master and two workers: the same graph and models as locally, also after a killed job
or a lost worker."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from benchmarks._spark_metrics import events, tasks, wait_for_log
from coclick import ClickGraph, create, open_model
from coclick.errors import UserError
from spark.agreement import assert_same_rows
from spark.conftest import FEW_PARTS, PARTS, assert_driver_results_small, start_session
from spark.same_as_local import SameAsLocal

SPECS = {
    "vpcg(units=words,own_weight=0,rho=1000)": FEW_PARTS,  # few rounds of regression
    "rw": PARTS,
    "rmls(views=words,dim=16,iterations=0.5,held_out=0)": FEW_PARTS,
}
FAULTY = "vpcg(units=none,own_weight=0,iterations=2)"


@pytest.fixture(scope="module")
def spark(cluster, event_log):
    session = start_session(cluster.address, event_log, **cluster.settings())
    yield session
    session.stop()


class TestCluster(SameAsLocal):
    pass


class Killed(Exception):
    """Stands for the death of the driver."""


@pytest.fixture
def kill_at(monkeypatch):
    """Kill a job when it writes the given table of the work directory, before it can clean up."""
    from coclick.spark.storage import HadoopDir, WorkDir

    checkpoint = WorkDir.checkpoint

    def at(name):
        def dies(self, table, frame):
            if table == name:
                monkeypatch.setattr(HadoopDir, "remove", lambda self, name: None)
                raise Killed
            return checkpoint(self, table, frame)

        monkeypatch.setattr(WorkDir, "checkpoint", dies)

    return at


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("models") / "model"


def test_killed_job_leaves_no_model(spark, graph, place, kill_at):
    import coclick.spark

    kill_at("others-2")
    with pytest.raises(Killed):
        coclick.spark.train(spark, FAULTY, graph, str(place), n_parts=PARTS)
    assert list(place.glob("_work-*/*-texts-1"))  # so matrices were persisted
    assert spark._jsparkSession.sharedState().cacheManager().isEmpty()
    with pytest.raises(UserError, match="no manifest"):
        open_model(place)


@pytest.fixture(scope="module")
def survived(spark, graph, place, cluster):
    """A model trained over a killed job, while a worker dies and early checkpoints are lost."""
    import coclick.spark
    from coclick.spark.storage import WorkDir

    checkpoint = WorkDir.checkpoint

    def with_faults(self, table, frame):
        path = Path(self.path.removeprefix("file:"))
        if table == "others-2":
            threading.Thread(target=_kill_while_written, args=(cluster, path), daemon=True).start()
        if table == "texts-2":
            for old in [*path.glob("*-start"), *path.glob("*-others-1")]:
                old.rename(old.with_name(f"lost-{old.name}"))
        return checkpoint(self, table, frame)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WorkDir, "checkpoint", with_faults)
        coclick.spark.train(spark, FAULTY, graph, str(place), n_parts=PARTS)
    wait_for_log(spark)
    return place


def _kill_while_written(cluster, work: Path) -> None:
    """Kill a worker once the first part is written: shuffle data for the other parts is lost."""
    while not list(work.glob("*-others-2/_temporary/*/_temporary/attempt_*")):
        time.sleep(0.01)
    cluster.kill_worker(0)


def test_lost_worker_is_retried(survived, graph, event_log):
    assert len(list(events(event_log, "ExecutorRemoved"))) == 1
    assert not all(task.succeeded for task in tasks(event_log))
    here: Any = create(FAULTY).fit(ClickGraph.open(graph.path.removeprefix("file:")))
    there: Any = open_model(survived)
    names = there.terms_.to_list(), here.terms_.to_list()
    assert_same_rows(there.query_index_.vectors, here.query_index_.vectors, *names)
    assert_same_rows(there.doc_index_.vectors, here.doc_index_.vectors, *names)


def test_driver_receives_no_edges_or_vectors(spark, survived, trained, event_log):
    for spec in SPECS:
        trained(spec)
    assert_driver_results_small(spark, event_log)


def test_only_finished_tables_are_left(survived):
    assert not list(survived.glob("_*"))
    tables = [path.name.rpartition("-")[0] for path in survived.iterdir() if path.is_dir()]
    assert sorted(tables) == sorted(set(tables))


def test_failed_training_keeps_the_previous_model(spark, graph, survived, kill_at):
    import coclick.spark

    before = (survived / "manifest.json").read_bytes()
    kill_at("words")
    with pytest.raises(Killed):
        coclick.spark.train(
            spark,
            "vpcg(units=none,own_weight=0,max_terms=3)",
            graph,
            str(survived),
            n_parts=PARTS,
            force=True,
        )
    assert (survived / "manifest.json").read_bytes() == before
    kept: Any = open_model(survived)
    asked: Any = create(FAULTY)
    assert kept.max_terms == asked.max_terms
