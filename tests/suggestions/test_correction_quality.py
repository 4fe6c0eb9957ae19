"""Corrections judged on the simulator's typos, whose truth is known: precision and recall over several seeds.

`python -m benchmarks._correction_study` prints the same for more logs; the confidence was fitted on others.
"""

import pytest

from coclick import Suggestions
from coclick.logs import build
from coclick.simulate import sample
from coclick.simulate.world import World

pytestmark = pytest.mark.slow
SEEDS = (0, 1, 2)


def test_nine_of_ten_corrections_are_right(tmp_path):
    """Every query of the world is asked; a correction of a text without typos is wrong, whatever it says."""
    corrected = right = typos = 0
    for seed in SEEDS:
        place = tmp_path / str(seed)
        sample(place, 3000, 5000, seed=seed)
        graph = build([place / "events.parquet"], place / "docs.tsv", place / "graph")
        suggestions = Suggestions.build(graph)
        world = World.make(3000, 5000, seed).queries
        for text, clean in zip(world.texts, world.clean_texts, strict=True):
            found = suggestions.correct(text)
            typos += text != clean
            corrected += found is not None
            right += found is not None and text != clean and found.query == clean
    precision, recall = right / corrected, right / typos
    print(
        f"precision {precision:.3f}, recall {recall:.3f}: {right} of {corrected} corrections, {typos} typos"
    )
    assert precision >= 0.9
    assert recall >= 0.6
