"""Where a model can be used: what the targets say is what `export` does."""

import pytest

import planted
from coclick import train
from coclick.errors import UserError
from coclick.exporters import ENGINES, export
from coclick.exporters.targets import ALIASES, TARGETS, find_target, targets_of


@pytest.mark.parametrize("spec", ["bm25", "pls(dim=2)", "clicks", "backoff(bm25 + clicks)"])
def test_targets_are_the_engines_that_take_the_model(spec, tmp_path):
    model = train(spec, planted.graph())
    taken = []
    for engine in ENGINES:
        try:
            export(model, engine, tmp_path / engine, queries=2, measure=False)
        except UserError:
            continue
        taken.append(engine)
    assert targets_of(model) == ["serve", "rerank", *taken]


def test_names_of_targets():
    assert find_target("postgres") == "pgvector"
    assert all(find_target(name) == name for name in TARGETS)
    assert {*ALIASES.values()} <= {*TARGETS}
    with pytest.raises(UserError, match="unknown target 'sphinx'"):
        find_target("sphinx")
