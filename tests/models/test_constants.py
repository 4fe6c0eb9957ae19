"""Numbers in the code that decide what users see, beside the defaults of parameters.

Like a default, such a number is a decision: if you change one, say so in CHANGELOG.md. Sizes of blocks, which
decide about memory alone, are not here.
"""

import importlib
from typing import Any

import pytest

CONSTANTS: dict[str, dict[str, Any]] = {
    "models.click_graph.ctr": {"Z": 1.96},  # normal quantile of 97.5 %
    "models.combination._base": {"_SIMILAR": 1000},
    "models.lexical._proximity": {"WINDOW": 8},
    "models.lexical._word_vector_files": {"MAX_DIM": 4096, "_MAX_WORD": 4096, "_MAX_NUMBER": 64},
    "models.lexical.wmd": {"_MAX_COUNT": 1_048_576},
    "models.likelihood._topics": {"_MIN_PAIRS": 1000, "_EXPANSION_WORDS": 20, "_EXPLAINED_TOPICS": 5},
    "models.projection._base": {"_EXPANSION_WORDS": 20, "_WITH_CLICKS": 10, "MIN_NORM": 1e-5},
    "models.projection.bounds": {"DELTA": 0.05},
    "models.projection.rmls": {"_LOST_RANK": 0.2, "_PATIENCE": 2},
    "models.projection.svdfeature": {"_START": 0.1},
    "models.propagation.iterations": {
        "MAX_ITERATIONS": 20,
        "CONVERGED": 0.999,
        "_SAMPLED_PAIRS": 10_000,
        "_HELD_OUT": 0.1,
        "_VALIDATION_QUERIES": 2000,
        "_VALIDATION_ITERATIONS": 5,
    },
    "models.propagation.regression": {"MAX_CG_ITERATIONS": 50, "TOLERANCE": 1e-5},
    "models.propagation.units": {"_MAX_LEAST_SQUARES_ITERATIONS": 1000},
    "recommendation.budget": {"DEFAULT": "3m", "_GRACE": 1.15},
    "recommendation.candidates": {"_MAX_PARTS": 3},
    "recommendation.entries": {"SIGNIFICANCE_LEVEL": 0.05},
    "recommendation.recommend": {
        "ONE_STANDARD_ERROR": 0.3173,
        "EQUAL": 0.002,
        "FASTER": 5.0,
    },
    "recommendation.schedule": {"FIRST_TABLE": 20.0, "_LEADING": 0.03, "_OUT_OF_REACH": 0.1},
    "solvers.em": {"_MIN_ITERATIONS": 5, "_FOLD_ITERATIONS": 20},
    "solvers.large_margin": {"BATCH": 256},
    "solvers.rmls": {"_START_ENTRIES": 8, "_START_SHARE": 8, "_MAX_RANK_ROWS": 20_000},
    "solvers.sampling": {"_MAX_REDRAWS": 20, "_MIN_PAIRS": 20, "_MAX_SHARE": 0.1, "MIN_HELD_OUT": 200},
    "solvers.validation": {"_MAX_PAIRS": 1000},
    "evaluation.breakdown": {"_MAX_WORDS": 5},
    "evaluation.cross_validation": {"MIN_QUERIES": 4},
    "evaluation.holdout": {"MAX_QUERIES": 2000, "MAX_CLICK_GRADE": 4},
    "evaluation.judgments": {"MAX_GRADE": 1000},
    "evaluation.protocol": {"DEPTH": 100, "_MAX_EXPONENT": 30},
    "evaluation.report": {"SHOWN": 10, "MAX_RANKINGS": 4_000_000, "_MAX_TEXT": 80},
    "evaluation.separability": {"POINTS": 41},
    "evaluation.significance": {"N_PERMUTATIONS": 10_000, "N_RESAMPLES": 2000},
    "evaluation.similar_queries": {"MAX_QUERIES": 5000, "MAX_GRADE": 100, "_DEPTH": 10},
    "evaluation.tune": {"_FACTORS": (0.25, 0.5, 0.8, 1.25, 2.0, 4.0), "_MAX_ATTEMPTS": 50},
}


@pytest.mark.parametrize("module", CONSTANTS)
def test_constants(module):
    found = importlib.import_module(f"coclick.{module}")
    assert {name: getattr(found, name) for name in CONSTANTS[module]} == CONSTANTS[module]
