"""Rules of a log whose rules are known."""

import random
from dataclasses import replace

import numpy as np
import pytest

import coclick
from coclick.graph.click_graph import SkipPairs
from coclick.rules.corrections import _joined_phrases
from coclick.rules.words import LogWords
from rules import shop


@pytest.fixture(scope="module")
def found():
    return coclick.find_rules(shop.graph(), replay=False)


def of_kind(rules, kind):
    return {rule.left: rule for rule in rules if rule.kind == kind}


def test_synonyms_are_directed_and_grow_to_phrases(found):
    synonyms = of_kind(found, "synonym")
    assert {left: rule.right for left, rule in synonyms.items()} == {
        "cod": "call of duty",
        "hotels": "accommodation",
        "high blood pressure": "hypertension",  # and not "high", although nearly all of its clicks agree
        "gta": "grand theft auto",  # not the whole title
        "trainers": "running shoes",
    }


def test_evidence_is_counted_by_clicks(found):
    cod = of_kind(found, "synonym")["cod"]
    assert (cod.clicks, cod.share) == (42, pytest.approx(40 / 42))
    # Wilson's interval for 40 of 42, by the formula: (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n)
    p, n, z = 40 / 42, 42, 1.96
    root = z * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    expected = [(p + z * z / (2 * n) + sign * root) / (1 + z * z / n) for sign in (-1, 1)]
    assert cod.interval == pytest.approx(expected)


def test_rules_have_plain_numbers(found):
    for rule in found:
        assert {type(value) for value in (rule.clicks, rule.share, *rule.interval)} == {float}
    assert "np." not in repr(found)


def test_misspelt_words_and_other_spaces_are_corrected(found):
    corrections = of_kind(found, "correction")
    assert {left: rule.right for left, rule in corrections.items()} == {
        "batmna": "batman",
        "fall out": "fallout",
    }
    assert (corrections["batmna"].clicks, corrections["batmna"].share) == (7, 1)


def test_pins_need_nearly_all_clicks_on_one_document(found):
    pins = of_kind(found, "pin")
    assert pins["skyrim"].right == "sky" and pins["skyrim"].title == "Skyrim"
    assert pins["skyrim"].share == pytest.approx(0.99)
    assert "cod" not in pins and "xbox 360" not in pins


def test_stop_words_numbers_and_words_of_no_title_are_on_no_side(found):
    sides = {side for rule in found if rule.kind != "pin" for side in (rule.left, rule.right)}
    assert not sides & {"2", "the", "xbox", "xbox 360", "360", "of", "in"}


def test_rules_do_not_depend_on_the_order_of_the_log(found):
    rows = list(shop.CLICKS)
    random.Random(3).shuffle(rows)
    assert coclick.find_rules(shop.graph(rows), replay=False) == found


def test_thresholds(found):
    few = coclick.find_rules(shop.graph(), replay=False, min_clicks=45)
    assert of_kind(few, "synonym") == {}
    assert set(of_kind(few, "pin")) == {"skyrim"}  # of 100 clicks; others have 40 at most
    strict = coclick.find_rules(shop.graph(), replay=False, min_share=0.86)
    assert set(of_kind(strict, "synonym")) == {"hotels", "high blood pressure", "gta", "trainers"}
    with pytest.raises(coclick.UserError, match="min_share must be between 0 and 1"):
        coclick.find_rules(shop.graph(), min_share=2)
    with pytest.raises(coclick.UserError, match="min_clicks must be at least 1"):
        coclick.find_rules(shop.graph(), min_clicks=0)
    with pytest.raises(coclick.UserError, match="in a graph or a model"):
        coclick.find_rules(7)  # type: ignore[arg-type]


def test_a_whole_query_is_rewritten_to_one_with_the_same_clicks():
    clicks = [*shop.CLICKS, ("dragonborn", "sky", 20)]
    rewrites = of_kind(coclick.find_rules(shop.graph(clicks), replay=False), "rewrite")
    assert {left: rule.right for left, rule in rewrites.items()} == {"dragonborn": "skyrim"}


def test_a_model_and_a_directory_have_the_rules_of_their_graph(found, tmp_path):
    graph = shop.graph()
    model = coclick.train("bm25", graph)
    assert coclick.find_rules(model, replay=False) == found
    model.save(tmp_path / "model")
    graph.save(tmp_path / "graph")
    assert coclick.find_rules(tmp_path / "model", replay=False) == found
    assert coclick.find_rules(str(tmp_path / "graph"), replay=False) == found


def test_logs_without_titles_and_without_spaces_have_pins():
    plain = coclick.find_rules(shop.graph(titles=None), replay=True)
    assert {rule.kind for rule in plain} <= {"pin", "correction"}
    japanese = coclick.ClickGraph.from_clicks(
        [("東京 ホテル", "a", 30), ("東京ホテル", "a", 9)], {"a": "東京の宿"}, language="ja"
    )
    assert {rule.kind for rule in coclick.find_rules(japanese)} == {"pin"}


def test_documents_that_everybody_passes_over_are_excluded():
    """Votes of 200 clicks: all below document a; nearly all below b; c has too few."""
    plain = shop.graph(
        [("q", "a", 0.1), ("q", "b", 30), ("q", "d", 500)], {doc: f"Title {doc}" for doc in "abcd"}
    )
    [a, b, c, d] = (plain.docs.id(doc) for doc in "abcd")
    skipped = np.array([a, a, b, c], np.int32)
    counts = np.array([150, 50, 200, 50], np.int32)
    skips = SkipPairs(np.array([0, 4]), np.array([d, b, d, d], np.int32), skipped, counts)
    graph = replace(plain, skips=skips)
    [rule] = [rule for rule in coclick.find_rules(graph, replay=False) if rule.kind == "exclude"]
    assert (rule.left, rule.right, rule.title) == ("q", "a", "Title a")
    assert (rule.clicks, rule.share) == (pytest.approx(200.1), pytest.approx(200 / 200.1))


def test_phrases_are_found_inside_of_texts_only():
    words = LogWords.from_graph(shop.graph([("a b", "d", 1), ("b a b", "d", 1), ("a", "d", 1)], {"d": "x"}))
    a, b = (words.words.index(word) for word in "ab")
    texts = shop.graph([("a b", "d", 1), ("b a b", "d", 1), ("a", "d", 1)], {"d": "x"}).queries.to_list()
    for phrase, expected in (((a, b), {"a b", "b a b"}), ((b, a), {"b a b"})):
        assert {texts[row] for row in words.queries.rows_with(phrase)} == expected
        rows = np.array([2, 0, 1, 0, 2])
        have = words.queries.have(rows, phrase).tolist()
        assert have == [texts[row] in expected for row in rows], "in any order, also twice"


def test_letters_of_neighbouring_words_are_joined():
    """By hand: "black ops" in two texts, "a b c d" over four words, and nothing over the end of a text."""
    clicks = [("black ops", "d", 1), ("new black", "d", 1), ("ops now", "d", 1), ("a b c d", "d", 1)]
    words = LogWords.from_graph(shop.graph(clicks, {"d": "Black-Ops Black Ops"}))
    wanted = {"blackops", "abcd", "bcd", "blacknow"}
    found = list(_joined_phrases(words, (words.queries, words.titles), wanted))
    texts = {" ".join(words.words[stem] for stem in phrase): joined for phrase, joined in found}
    assert texts == {"black ops": "blackops", "a b c d": "abcd", "b c d": "bcd"}
    assert len(found) == len(texts), "each once"
