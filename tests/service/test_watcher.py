"""The watcher of model directories survives every error, reports it, pauses longer, and recovers."""

import asyncio
import logging
import shutil
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

import planted
from coclick import Suggestions, train
from coclick.errors import ArtefactError
from coclick.service import loaded_models, loaded_suggestions
from coclick.service.app import create_app
from coclick.service.loaded_models import LoadedModels
from coclick.service.loaded_suggestions import ServedSuggestions
from coclick.service.metrics import Metrics
from coclick.service.reloading import LONGEST_PAUSE, Retries, problem_of
from coclick.service.settings import Settings
from coclick.service.watcher import Watcher

QUERY = next(iter(planted.TOPICS))
ERRORS = [
    OverflowError("Python int too large to convert to C long"),
    MemoryError(),
    RuntimeError("can't start new thread"),
    RecursionError("maximum recursion depth exceeded"),
    SystemExit(3),
    KeyboardInterrupt(),
]


@pytest.fixture
def place(models, tmp_path):
    shutil.copytree(models / "vpcg", tmp_path / "model")
    return tmp_path / "model"


def touch(place):
    """Make a new version of a model that is the same."""
    (place / "manifest.json").write_bytes((place / "manifest.json").read_bytes())


async def until(condition, seconds=10.0):
    for _ in range(int(seconds / 0.01)):
        if await condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not happen")


def served(settings, story):
    """Run a story with a client of an application whose lifespan has begun."""
    app = create_app(LoadedModels(settings.models), settings)

    async def run():
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
        ):
            await story(client)

    asyncio.run(run())


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_unexpected_error_is_reported_and_the_mended_model_is_served(
    place, graph, monkeypatch, caplog, error
):
    real = loaded_models.open_model

    def broken(_):
        raise error

    async def story(client):
        async def problems():
            return (await client.get("/models")).json()["problems"]

        monkeypatch.setattr(loaded_models, "open_model", broken)
        touch(place)
        await until(problems)
        [problem] = await problems()
        assert type(error).__name__ in problem and problem.startswith("one: ")
        [model] = (await client.get("/models")).json()["models"]
        assert type(error).__name__ in model["problem"]
        ready = await client.get("/ready")
        assert ready.status_code == 200 and "1 model changed on disk" in ready.json()["problems"][0]
        assert str(place) not in ready.text, "/ready needs no key, so it names nothing"
        assert (await client.get("/search", params={"q": QUERY})).json()["results"], "the old one is served"

        async def counted():
            return "coclick_problems 1.0" in (await client.get("/metrics")).text

        await until(counted)
        assert "coclick_model_problems_total 1.0" in (await client.get("/metrics")).text
        monkeypatch.setattr(loaded_models, "open_model", real)
        train("bm25", graph).save(place, force=True)

        async def mended():
            return (await client.get("/models")).json()["models"][0]["model"] == "bm25"

        async def logged():
            return "was reloaded" in caplog.text

        await until(mended)
        await until(logged)
        assert await problems() == [] and (await client.get("/ready")).json()["problems"] == []

    with caplog.at_level(logging.WARNING, "coclick.service"):
        served(Settings((("one", str(place)),), watch=0.02), story)
    assert type(error).__name__ in caplog.text and "still served" in caplog.text
    assert "was reloaded" in caplog.text


def test_a_check_that_fails_as_a_whole_is_reported_and_repeated(place, monkeypatch, caplog):
    """As when no thread can be started: the error comes before any model is looked at."""
    real, failing = ThreadPoolExecutor.submit, True

    def submit(pool, function, *args):
        if failing and getattr(function, "__name__", "") == "_refresh":
            raise RuntimeError("can't start new thread")
        return real(pool, function, *args)

    async def story(client):
        nonlocal failing

        async def noticed():
            return (await client.get("/models")).json()["problems"]

        await until(noticed)
        assert "can't start new thread" in (await noticed())[0]
        assert (await client.get("/ready")).json()["problems"] == [
            "changes on disk are not noticed at present: see /models"
        ]
        found = (await client.get("/metrics")).text
        assert "coclick_problems 1.0" in found and "coclick_watcher_failures_total 1.0" in found
        failing = False

        async def recovered():
            return not await noticed()

        await until(recovered)

    monkeypatch.setattr(ThreadPoolExecutor, "submit", submit)
    with caplog.at_level(logging.WARNING, "coclick.service"):
        served(Settings((("one", str(place)),), watch=0.02), story)
    assert "cannot be noticed: unexpected RuntimeError" in caplog.text and "noticed again" in caplog.text


def test_a_model_that_fails_does_not_stop_the_others(models, tmp_path, graph, monkeypatch):
    for name in ("first", "second"):
        shutil.copytree(models / "vpcg", tmp_path / name)
    served_ = LoadedModels([(name, str(tmp_path / name)) for name in ("first", "second")])
    real = loaded_models.open_model

    def broken(path):
        if path.name == "first":
            raise OverflowError("too large")
        return real(path)

    monkeypatch.setattr(loaded_models, "open_model", broken)
    for name in ("first", "second"):
        train("bm25", graph).save(tmp_path / name, force=True)
    first, second = served_.refresh()
    assert first.problem == "unexpected OverflowError: too large" and second.problem is None
    assert str(served_.get("second").model) == "bm25" and served_.problems() == [("first", first.problem)]


def test_a_directory_that_is_put_back_has_no_problem_any_more(place):
    served_ = LoadedModels([("one", str(place))])
    (place / "manifest.json").rename(place / "aside")
    [changed] = served_.refresh()
    assert changed.problem
    (place / "aside").rename(place / "manifest.json")
    [changed] = served_.refresh()
    assert changed.problem is None and changed.model is served_.get().model and served_.problems() == []


def test_suggestions_that_fail_are_reported(suggestions, tmp_path, monkeypatch):
    shutil.copytree(suggestions, tmp_path / "saved")
    served_ = ServedSuggestions(str(tmp_path / "saved"))

    def broken(_):
        raise OverflowError("too large")

    monkeypatch.setattr(loaded_suggestions.Suggestions, "open", broken)
    touch(tmp_path / "saved")
    assert served_.refresh()[0].problem == "unexpected OverflowError: too large"
    assert served_.problems() == [("saved", "unexpected OverflowError: too large")]
    assert served_.refresh() == []
    monkeypatch.undo()
    Suggestions.build(planted.graph()).save(tmp_path / "saved", force=True)
    assert served_.refresh()[0].problem is None and served_.problems() == []


def test_pauses_double_up_to_a_minute_and_a_new_version_is_tried_at_once():
    now = 100.0
    retries = Retries(lambda: now)
    assert retries.due("a")
    pauses = []
    for _ in range(9):
        pauses.append(retries.failed("a"))
        assert not retries.due("a") and retries.due("b")
        now += pauses[-1]
        assert retries.due("a")
    assert pauses == [1, 2, 4, 8, 16, 32, LONGEST_PAUSE, LONGEST_PAUSE, LONGEST_PAUSE]
    assert retries.failed("b") == 1
    retries.succeeded()
    assert retries.due("b")


def test_a_bad_model_is_not_opened_again_and_again(place, monkeypatch):
    served_, attempts = LoadedModels([("one", str(place))]), []

    def broken(path):
        attempts.append(path)
        raise OverflowError

    monkeypatch.setattr(loaded_models, "open_model", broken)
    touch(place)
    for _ in range(20):
        served_.refresh()
    assert len(attempts) == 1


def test_a_check_that_hangs_is_a_problem(place, monkeypatch):
    watcher = Watcher(LoadedModels([("one", str(place))]), ServedSuggestions(None), 1.0, Metrics())
    assert watcher.problems() == [] and watcher.public_problems() == []
    monkeypatch.setattr("coclick.service.watcher.time.monotonic", lambda: 1000.0)
    watcher._checking_since = 900.0
    assert watcher.problems() == ["a check for changes on disk has been running for 100 seconds"]
    assert watcher.public_problems() == ["changes on disk are not noticed at present: see /models"]
    watcher.close()


def test_problems_as_text():
    assert problem_of(MemoryError()) == "unexpected MemoryError"
    assert problem_of(ValueError("x" * 5000)) == "unexpected ValueError: " + "x" * 1000
    assert problem_of(ArtefactError("damaged", where="here")) == "damaged\n  where: here"
    assert problem_of(FileNotFoundError(2, "No such file", "a")) == "[Errno 2] No such file: 'a'"
