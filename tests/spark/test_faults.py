"""A cluster on which something goes wrong: a worker dies, a job is cut off, the driver has little memory."""

import threading
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from benchmarks._event_log import all_logged, events, tasks
from coclick import ClickGraph, create, open_model
from coclick.errors import UserError
from coclick.simulate.shapes import WordRows, shaped_graph, text_rows
from coclick.strings import Strings
from spark.agreement import assert_same_rows
from spark.conftest import PARTS, start_session

SPEC = "vpcg(units=none,iterations=2)"
RESULTS = 16 << 20  # bytes: more than the driver takes
SMALL = 64 << 10


@pytest.fixture(scope="module")
def spark(cluster, event_log):
    session = start_session(cluster.address, event_log, **cluster.settings())
    yield session
    session.stop()


@pytest.fixture(scope="module")
def graph(spark, tmp_path_factory):
    """A graph whose vectors together do not fit through the driver."""
    import coclick.spark

    place = tmp_path_factory.mktemp("graph")
    clicks = _write_clicks(place / "clicks.parquet")
    return coclick.spark.build(spark, spark.read.parquet(str(clicks)), None, str(place / "graph"))


def _write_clicks(path: Path) -> Path:
    drawn = shaped_graph(6_000, 6_000, 40_000)
    texts = _texts(drawn.query_words)
    queries = [f"{text} {number}" for number, text in enumerate(texts)]
    pairs = [
        (queries[q], f"d{d}", w)
        for q in range(len(queries))
        for d, w in zip(*drawn.clicks.row(q), strict=True)
    ]
    query, doc, weight = zip(*pairs, strict=True)
    pq.write_table(pa.table({"query": query, "doc": doc, "clicks": weight}), path)
    return path


def _texts(words: WordRows) -> list[str]:
    data, offsets = text_rows(words)
    return Strings(offsets, data).to_list()


class CutOff(Exception):
    """The driver's end, as far as the directory that it writes to can tell."""


@pytest.fixture
def cut_off(monkeypatch):
    """Let a job die when it comes to a table of the work directory, with no time to clean up."""
    from coclick.spark.storage import Output, Work

    saved, clear = Work.saved, Output.clear

    def at(name):
        def dies(self, table, frame):
            if table == name:
                monkeypatch.setattr(Output, "clear", lambda self: None)
                raise CutOff
            return saved(self, table, frame)

        monkeypatch.setattr(Work, "saved", dies)

    yield at
    monkeypatch.setattr(Output, "clear", clear)


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("models") / "model"


def test_what_a_dead_job_leaves_is_not_a_model(spark, graph, place, cut_off):
    import coclick.spark

    cut_off("to-others")
    with pytest.raises(CutOff):
        coclick.spark.train(spark, SPEC, graph, str(place), parts=PARTS)
    assert list(place.glob("_work-*/*"))
    with pytest.raises(UserError, match="no manifest"):
        open_model(place)


@pytest.fixture(scope="module")
def trained(spark, graph, place, cluster):
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
        coclick.spark.train(spark, SPEC, graph, str(place), parts=PARTS)
    all_logged(spark)
    return place


def _kill_while_written(cluster, work: Path) -> None:
    while not list(work.glob("*-others-2/_temporary")):
        time.sleep(0.01)
    cluster.kill_worker(0)


def test_a_worker_that_dies_costs_a_retry(trained, graph, event_log):
    assert len(list(events(event_log, "ExecutorRemoved"))) == 1
    assert not all(task.succeeded for task in tasks(event_log))
    here = create(SPEC).fit(ClickGraph.open(graph.path.removeprefix("file:")))
    there = open_model(trained)
    names = there.terms_.to_list(), here.terms_.to_list()
    assert_same_rows(there.query_index_.vectors, here.query_index_.vectors, *names)
    assert_same_rows(there.doc_index_.vectors, here.doc_index_.vectors, *names)


def test_only_what_was_finished_is_left(trained):
    assert not list(trained.glob("_*"))
    tables = [path.name.rpartition("-")[0] for path in trained.iterdir() if path.is_dir()]
    assert sorted(tables) == sorted(set(tables))


def test_the_driver_sees_no_edge_and_no_vector(trained, event_log):
    ended = tasks(event_log)
    assert sum(task.shuffle_written for task in ended) > RESULTS
    assert max(task.result_bytes for task in ended) < SMALL


def test_a_model_stays_when_its_successor_fails(spark, graph, trained, cut_off):
    import coclick.spark

    before = (trained / "manifest.json").read_bytes()
    cut_off("words")
    with pytest.raises(CutOff):
        coclick.spark.train(spark, "vpcg(units=none,k=3)", graph, str(trained), parts=PARTS, force=True)
    assert (trained / "manifest.json").read_bytes() == before
    assert open_model(trained).k == create(SPEC).k
