"""Rules in the studio: pages of them, decisions in the review file, and who may decide."""

import pytest
from playwright.sync_api import expect

from coclick.rules.review import load_review, update_review
from coclick.rules.rule import Effect, Rule
from coclick.service.settings import Settings
from service.conftest import in_process, running

EVIL = '<img src=x onerror="window.broken = true">'
RULES = [
    Rule("synonym", "flu", "influenza", 40, 0.8, (0.65, 0.9), effect=Effect(0.5, 0.62, 12)),
    Rule("synonym", "pizza", EVIL, 30, 0.7, (0.52, 0.83), effect=Effect(0.5, 0.4, 3)),
    Rule("correction", "hotle", "hotel", 12, 0.9, (0.6, 0.98)),
    Rule("pin", "ny hotel", "hotel-1", 20, 1.0, (0.84, 1.0), "The best hotel"),
]


@pytest.fixture
def review(tmp_path):
    update_review(tmp_path / "review.tsv", RULES)
    return tmp_path / "review.tsv"


@pytest.fixture
def reviewer(home, review):
    return in_process(Settings((("vpcg", str(home / "vpcg")),), review=str(review), api_key="secret"))


KEY = {"X-API-Key": "secret"}


def send(client, body, origin="http://localhost", **headers):
    return client("POST", "/studio/rules.json", json=body, headers={**KEY, "Origin": origin, **headers})


def test_rules_with_their_evidence(reviewer):
    found = reviewer.get("/studio/rules.json", headers=KEY).json()
    assert [(one["left"], one["right"]) for one in found["rules"]] == [(one.left, one.right) for one in RULES]
    assert found["kinds"] == {"synonym": 2, "correction": 1, "pin": 1}
    assert found["decisions"] == {"open": 4}
    first = found["rules"][0]
    assert (first["clicks"], first["share"], first["interval"]) == (40, 0.8, [0.65, 0.9])
    assert first["effect"]["change"] == pytest.approx(0.12)
    assert found["rules"][2]["effect"] is None
    only = reviewer.get("/studio/rules.json", headers=KEY, kind="pin").json()
    assert [one["title"] for one in only["rules"]] == ["The best hotel"]
    assert reviewer.get("/studio/rules.json", headers=KEY, kind="nothing").status_code == 422


def test_a_decision_is_kept_in_the_file(reviewer, review):
    rule = RULES[1].id
    assert send(reviewer, {"id": rule, "decision": "reject"}).json() == {"id": rule, "decision": "reject"}
    assert {one.rule.id: one.decision for one in load_review(review)}[rule] == "reject"
    still_open = reviewer.get("/studio/rules.json", headers=KEY).json()
    assert rule not in [one["id"] for one in still_open["rules"]]
    assert still_open["decisions"] == {"open": 3, "reject": 1}
    rejected = reviewer.get("/studio/rules.json", headers=KEY, decision="reject").json()
    assert [one["id"] for one in rejected["rules"]] == [rule]
    assert send(reviewer, {"id": rule, "decision": ""}).status_code == 200
    assert {one.decision for one in load_review(review)} == {""}


def test_who_may_decide(reviewer, review, home):
    before = review.read_bytes()
    body = {"id": RULES[0].id, "decision": "accept"}
    assert send(reviewer, body, origin="http://evil.example").status_code == 403
    assert send(reviewer, body, **{"X-API-Key": "guessed"}).status_code == 401
    assert send(reviewer, {**body, "decision": "perhaps"}).status_code == 422
    unknown = send(reviewer, {**body, "id": "unknown"})
    assert unknown.status_code == 400 and "no rule" in unknown.json()["error"]["message"]
    without = in_process(Settings((("vpcg", str(home / "vpcg")),)))
    assert without("POST", "/studio/rules.json", json=body).status_code in (404, 405)
    assert "--review" in without.get("/studio/rules.json").json()["error"]["hint"]
    assert review.read_bytes() == before


def test_review_by_keyboard(browser, home, review):
    with running(home / "vpcg", "--review", review) as (_, address):
        page = browser.new_page(base_url=address, viewport={"width": 400, "height": 800})
        wrong = []
        page.on("console", lambda message: wrong.append(message.text))
        page.goto("/studio/rules")
        rows = page.locator(".to-rate > li")
        expect(rows).to_have_count(4)
        assert EVIL in rows.nth(1).inner_text()
        assert "nDCG@10 +0.120 (0.500 to 0.620) in 12 held-out queries" in rows.first.inner_text()
        page.keyboard.press("j")
        page.keyboard.press("a")
        page.keyboard.press("r")
        expect(rows.first.get_by_role("button", name="Accept")).to_have_attribute("aria-pressed", "true")
        expect(rows.nth(1).get_by_role("button", name="Reject")).to_have_attribute("aria-pressed", "true")
        rows.nth(1).get_by_role("button", name="Reject").click()
        expect(rows.nth(1).get_by_role("button", name="Reject")).to_have_attribute("aria-pressed", "false")
        assert [one.decision for one in load_review(review)] == ["accept", "", "", ""]
        page.select_option("#decision", "accept")
        expect(rows).to_have_count(1)
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        assert page.evaluate("window.broken") is None and wrong == []
        page.close()
