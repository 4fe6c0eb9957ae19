"""Rating in the studio: the queue by hand, and who may write."""

import math
from typing import Any

import pytest

from coclick.service.settings import Settings
from coclick.service.studio.uncertain_pairs import uncertain_pairs
from service.conftest import in_process


class Ranks:
    """A model that always has the same rankings."""

    def __init__(self, rankings):
        self._rankings = rankings

    def search(self, queries, k):
        assert k == 10
        rankings = [self._rankings[query] for query in queries]
        return type("Run", (), {"hits": staticmethod(lambda i: rankings[i])})


def test_pairs_on_which_models_disagree_come_first():
    first: Any = Ranks({"q": [("a", 9.0), ("b", 5.0), ("c", 4.0)], "r": [("x", 1.0)]})
    second: Any = Ranks({"q": [("b", 0.3), ("a", 0.2)], "r": [("x", 0.4)]})
    pairs = uncertain_pairs([first, second], ["q", "r"])
    # c is third in one list and in no other; a and b swap the first two ranks; x is first in both.
    third, swap = 1 / math.log2(4), 1 - 1 / math.log2(3)
    assert [(pair.query, pair.doc) for pair in pairs] == [("q", "c"), ("q", "a"), ("q", "b"), ("r", "x")]
    assert [pair.uncertainty for pair in pairs] == pytest.approx([third, swap, swap, 0])
    assert [pair.ranks for pair in pairs] == [(3, None), (1, 2), (2, 1), (1, 1)]


def test_of_one_model_those_with_near_scores_come_first():
    alone: Any = Ranks({"q": [("a", 10.0), ("b", 4.0), ("c", 3.0), ("d", 3.0)], "r": [("x", 1.0)]})
    found = {pair.doc: pair.uncertainty for pair in uncertain_pairs([alone], ["q", "r"])}
    # gaps to the nearest neighbour: 6, 1, 0, 0 of 10; the only result of r has none.
    expected = {"a": 0.4, "b": 0.9 / math.log2(3), "c": 1 / math.log2(4), "d": 1 / math.log2(5), "x": 0}
    assert found == pytest.approx(expected)
    assert list(found) == sorted(expected, key=lambda doc: -expected[doc])


@pytest.fixture
def rated(tmp_path):
    return tmp_path / "rated.tsv"


@pytest.fixture
def rater(home, rated):
    models = tuple((name, str(home / name)) for name in ("vpcg", "bm25"))
    return in_process(Settings(models, judgments=str(rated), api_key="secret"))


def send(client, body, headers=None, key="secret"):
    given = {"Origin": "http://localhost", **({"X-API-Key": key} if key else {}), **(headers or {})}
    return client("POST", "/studio/rate.json", json=body, headers=given)


RATING = {"query": "Flu", "doc": "flu-1", "grade": 3}


def test_a_rated_pair_leaves_the_queue(rater, rated):
    key = {"X-API-Key": "secret"}
    queue = rater.get("/studio/rate.json", headers=key).json()
    assert queue["rated"] == {"queries": 0, "pairs": 0}
    first = queue["pairs"][0]
    assert [one["uncertainty"] for one in queue["pairs"]] == sorted(
        (one["uncertainty"] for one in queue["pairs"]), reverse=True
    )
    answer = send(rater, {"query": first["query"], "doc": first["doc"], "grade": 4})
    assert answer.status_code == 200
    assert rated.read_text() == f"query\tdoc\tgrade\n{first['query']}\t{first['doc']}\t4\n"
    after = rater.get("/studio/rate.json", headers=key).json()
    assert after["left"] == queue["left"] - 1
    assert [one["doc"] for one in after["pairs"][:5]] == [one["doc"] for one in queue["pairs"][1:6]]
    of_query = rater.get("/studio/rate.json", headers=key, q=first["query"]).json()
    assert {one["doc"]: one["grade"] for one in of_query["pairs"]}[first["doc"]] == 4
    compared = rater.get("/studio/compare.json", headers=key, q=first["query"]).json()
    assert compared["grades"] == {first["doc"]: 4}


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "http://localhost:81"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_pages_of_other_sites_cannot_write(rater, rated, headers):
    answer = send(rater, RATING, headers)
    assert answer.status_code == 403
    assert "own page" in answer.json()["error"]["message"]
    assert not rated.exists()


def test_writing_needs_the_key_json_and_valid_values(rater, rated):
    assert send(rater, RATING, key=None).status_code == 401
    assert send(rater, RATING, key="guessed").status_code == 401
    form = rater(
        "POST",
        "/studio/rate.json",
        content=b'{"query":"flu","doc":"flu-1","grade":1}',
        headers={"Origin": "http://localhost", "X-API-Key": "secret", "Content-Type": "text/plain"},
    )
    assert form.status_code == 422
    for wrong in ({"grade": 5}, {"grade": -1}, {"grade": "x"}, {"query": "x" * 1001}, {"more": 1}):
        assert send(rater, {**RATING, **wrong}).status_code == 422
    for wrong in ({"query": " "}, {"doc": "a\tb"}):
        assert send(rater, {**RATING, **wrong}).status_code == 400
    assert not rated.exists()


def test_without_a_key_only_fixed_addresses_may_write(home, rated):
    """The owner of a domain can let it point to 127.0.0.1, and its pages then have our origin."""
    served = (("vpcg", str(home / "vpcg")),)
    client = in_process(Settings(served, judgments=str(rated), allowed_hosts=("*",)))
    for host, code in (
        ("evil.example:8765", 403),
        ("127.0.0.1.evil.example", 403),
        ("localhost:8765", 200),
        ("127.0.0.1:8765", 200),
        ("[::1]:8765", 200),
    ):
        answer = send(client, RATING, {"Origin": f"http://{host}", "Host": host}, key=None)
        assert answer.status_code == code, host


def test_without_the_option_nothing_can_be_rated(home):
    client = in_process(Settings((("vpcg", str(home / "vpcg")),)))
    assert not any(client.get("/studio/options.json").json().values())
    assert client.get("/studio/rate.json").status_code == 404
    assert send(client, RATING, key=None).status_code in (404, 405)
    assert client.get("/studio/compare.json", q="flu").json()["grades"] is None
