"""The contract of all models with texts: they split them in the language of the graph, also when opened."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import planted
from coclick import create, model_names, open_model
from coclick.errors import UserError
from coclick.evaluation.holdout import hold_out
from coclick.evaluation.leaderboard import Trainer
from coclick.models.registry import model_class
from coclick.models.spec import parameters_of
from coclick.text.analyzer import Analyzer
from coclick.text.languages import named_language

QUICK = ("bm25", "vpcg", "neighbours", "wtm")
WITH_TEXTS = [
    name
    for name in model_names()
    if "language" in {parameter.name for parameter in parameters_of(model_class(name))}
]
GERMAN = {"language": named_language("de")}


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The languages of all analyzers that are made."""
    languages: set[str] = set()
    check = Analyzer.__post_init__

    def record(self: Analyzer) -> None:
        check(self)
        languages.add(self.language)

    monkeypatch.setattr(Analyzer, "__post_init__", record)
    return languages


@pytest.mark.parametrize(
    "spec",
    [
        *(name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in WITH_TEXTS),
        pytest.param("0.8*vpcg + 0.2*bm25", marks=pytest.mark.slow),
    ],
)
def test_models_use_the_language_of_the_graph(spec: str, used: set[str], tmp_path: Path) -> None:
    graph = replace(planted.graph(), stats=GERMAN)
    model = create(spec).fit(graph)
    before = model.search(["hotel", "never seen hotels"], 5)
    assert used == {"german"}
    assert str(model) == str(create(spec))
    model.graph_ = planted.graph()  # what was resolved is stored; the graph is not asked again
    model.save(tmp_path / "model")
    after = open_model(tmp_path / "model").search(["hotel", "never seen hotels"], 5)
    assert [after.hits(i) for i in range(2)] == [before.hits(i) for i in range(2)]
    assert used == {"german"}


def test_a_graph_without_a_language_is_english(used: set[str]) -> None:
    model = create("bm25").fit(planted.graph())
    model.search("hotels", 1)
    assert used == {"english"}
    named = create("bm25(language=de)").fit(planted.graph())
    named.search("hotels", 1)
    assert used == {"english", "german"}


def test_a_model_that_is_trained_again_takes_the_new_language() -> None:
    model = create("bm25").fit(replace(planted.graph(), stats=GERMAN))
    assert model._analyzer.language == "german"  # type: ignore[attr-defined]
    model.fit(planted.graph())
    assert model._analyzer.language == "english"  # type: ignore[attr-defined]


def test_stop_words_of_a_language_that_has_none() -> None:
    basque = replace(planted.graph(), stats={"language": named_language("eu")})
    assert create("cos_words").fit(basque).search("hotel", 1).hits()
    with pytest.raises(UserError, match="no stop words for 'basque'"):
        create("cos_words(language=eu)").fit(basque)


def test_evaluation_trains_in_the_language_of_the_graph(used: set[str]) -> None:
    train, judgments, _ = hold_out(replace(planted.graph(), stats=GERMAN), "queries:0.2")
    assert judgments.queries
    Trainer(train).get("bm25")
    assert used == {"german"}
