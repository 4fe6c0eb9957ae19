"""The requests of docs/serve.md get the answers that the page shows."""

import json
import re
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

import coclick
from coclick.service.settings import Settings
from coclick.simulate.sample import sample
from service.conftest import in_process

PAGE = (Path(__file__).resolve().parents[2] / "docs/serve.md").read_text("utf-8")
REQUEST = re.compile(
    r'^    \$ curl "?localhost:8765(?P<path>[^\s"]+)"?(?P<more>(?:.*\\\n)*.*)\n(?P<shown>(?:    .+\n)+)',
    re.MULTILINE,
)
TOLERANCE = 0.002


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    home = tmp_path_factory.mktemp("serve")
    sample(home / "log")
    graph = coclick.build([home / "log/events.parquet"], home / "log/docs.tsv", home / "graph")
    coclick.train("vpcg", graph).save(home / "vpcg")
    coclick.Suggestions.build(graph).save(home / "suggestions")
    return in_process(Settings((("vpcg", str(home / "vpcg")),), suggestions=str(home / "suggestions")))


@pytest.mark.slow
def test_answers_are_those_of_the_page(client):
    requests = list(REQUEST.finditer(PAGE))
    assert [one["path"].partition("?")[0] for one in requests] == ["/search", "/rank", "/correct"]
    for one in requests:
        body = re.search(r"-d '(.*)'", one["more"])
        path, _, given = one["path"].partition("?")
        answer = (
            client.post(path, **json.loads(body[1])) if body else client.get(path, **dict(parse_qsl(given)))
        )
        assert answer.status_code == 200, answer.text
        shown = json.loads(re.sub(r",…(?=[\]}])", "", one["shown"]))
        assert_same(shown, answer.json(), one["path"])


def assert_same(shown, found, where):
    """All that is shown is there; `…` ends a text that goes on, and lists may go on."""
    if isinstance(shown, dict):
        assert shown.keys() == found.keys(), where
        for key, value in shown.items():
            assert_same(value, found[key], f"{where} {key}")
    elif isinstance(shown, list):
        for one, other in zip(shown, found, strict=False):
            assert_same(one, other, where)
        assert len(shown) <= len(found), where
    elif isinstance(shown, float):
        assert found == pytest.approx(shown, abs=TOLERANCE), where
    elif isinstance(shown, str) and shown.endswith("…"):
        assert found.startswith(shown[:-1]), where
    else:
        assert shown == found, where
