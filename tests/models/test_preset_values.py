"""The parameters of every preset, read from the papers. Gao et al. 2011 is 001, Jiang et al. 2016 is 003."""

import pytest

from coclick import model_names
from coclick.models.registry import model_class

WHOLE = {"tokenizer": "words"}
ENGLISH = {"language": "english", "stem": True, "remove_stop_words": True, **WHOLE}
GAO_TEXT = {
    "fields": "title",
    "language": "english",
    "tokenizer": "whitespace",
    "stem": False,
    "remove_stop_words": False,
}  # 001 §5.1
GAO_SPACE = {**GAO_TEXT, "dim": 100, "max_vocabulary": 40_000}  # 001 §5.3
GAO_TOPICS = {
    **GAO_TEXT,
    "n_topics": 100,
    "topic_prior": 1.1,
    "word_prior": 1.01,
    "weight": "one",
    "max_vocabulary": 500_000,
}  # 001 §5.2
GAO_ALL_ITERATIONS = {"held_out": 0.0, "tolerance": 0.0}
WU_WORDS = {**ENGLISH, "fields": "title+url"}
WU_DATA = {**WU_WORDS, "views": "words+raw_clicks", "weight": "mean"}  # Wu, Lu & Li 2013 §6.1, Eq. 2
WU_LI_XU_DATA = {**ENGLISH, "fields": "url", "views": "words+log_clicks", "weight": "log"}  # 2013 §5.1
RANDOM_WALK = {"stay_probability": 0.9, "iterations": 5, "max_nodes": 2_147_483_647}
BM25 = {"k1": 1.2, "b": 0.75, "stem": True, "remove_stop_words": True, **WHOLE}
RMLS = {**WU_DATA, "dim": 1000, "query_length": 1.0, "doc_length": 1.0, "initial_map": "dense",
        "frequency_discount": 0.0}  # fmt: skip
JIANG_WORDS = {"stem": False, "remove_stop_words": False, **WHOLE}

PRESETS = {
    ("bltm", "paper"): {**GAO_TOPICS, **GAO_ALL_ITERATIONS, "iterations": 20},
    ("bltm", "wu2013"): {
        **WU_WORDS,
        "n_topics": 1000,
        "weight": "one",
        "topic_prior": 1.1,
        "word_prior": 1.01,
        "max_vocabulary": 500_000,
    },
    ("bltm_pr", "paper"): {**GAO_TOPICS, **GAO_ALL_ITERATIONS, "iterations": 16},
    ("bltm_pr_1v", "paper"): {**GAO_TOPICS, **GAO_ALL_ITERATIONS, "iterations": 16},
    ("bm25", "wu2013b"): {**BM25, "fields": "url"},
    ("bm25", "wu2013"): {**BM25, "fields": "title+url"},
    ("bm25", "wu2012"): {**BM25, "fields": "title+url"},
    ("bm25sd", "jiang2016"): JIANG_WORDS,
    ("bm25sd_mult", "jiang2016"): JIANG_WORDS,
    ("cl_lsa", "paper"): {**GAO_SPACE, "weight": "one", "centre": True},
    ("cos_clicks", "wu2013b"): {"weight": "log"},
    ("cos_words", "wu2013b"): {"stem": True, "remove_stop_words": True, **WHOLE},
    ("ctr", "jiang2016"): {},
    ("lsa", "paper"): {**GAO_SPACE, "corpus": "pairs", "centre": True},
    ("lsi_dt", "wu2013"): {**WU_WORDS, "dim": 1000},
    ("lsi_qd", "wu2013"): {"dim": 1000, "weight": "clicks"},
    ("lsi_qd", "wu2013b"): {"dim": 1000, "weight": "log"},
    ("mpls", "paper"): {**WU_LI_XU_DATA, "dim": 1000, "combine": "weighted"},
    ("opca", "paper"): {**GAO_SPACE, "weight": "one"},
    ("pls", "paper"): {**WU_DATA, "dim": 1000},
    ("pls", "wu2013"): {**WU_DATA, "dim": 1000},
    ("pls", "wu2013b"): {**WU_LI_XU_DATA, "dim": 1000},
    ("plsa", "paper"): {**GAO_TOPICS, "corpus": "pairs"},
    ("rmls", "wu2013"): {**RMLS, "iterations": 10.0, "held_out": 0.1, "relative_threshold": 1.5},
    ("rmls", "wu2012"): {**RMLS, "query_threshold": 0.1, "doc_threshold": 0.1},
    ("rw", "wu2013b"): RANDOM_WALK,
    ("rw", "wu2013"): RANDOM_WALK,
    ("rw", "wu2012"): RANDOM_WALK,
    ("s2net", "paper"): {
        **GAO_SPACE,
        "corpus": "pairs",
        "centre": True,
        "n_negatives": 4,
        "negative_docs": "clicked",
        "gamma": 10.0,
        "epsilon": 0.0,
        "l2_to_start": 0.0,
        "optimiser": "lbfgs",
        "iterations": 40,
        "held_out": 0.005,
        "min_held_out": 0,
    },
    ("ssi", "wu2013"): {**WU_WORDS, "pairs": "skips", "max_vocabulary": 271_561},
    ("svdfeature", "wu2013"): {
        **WU_DATA,
        "dim": 1000,
        "loss": "squared",
        "scale_targets": True,
        "weight": "clicks",
    },
    ("um", "gao2011"): GAO_TEXT,
    ("vpcg", "paper"): {
        **JIANG_WORDS,
        "max_terms": 20,
        "weight": "clicks",
        "iterations": "converge",
        "units": "words",
        "unit_weights": "least_squares",
        "own_weight": 0.0,
        "min_texts": 1,
    },
    ("vsm", "gao2011"): GAO_TEXT,
    ("wmd", "jiang2016"): {"stem": False, **WHOLE},
    ("wtm", "paper"): {
        **GAO_TEXT,
        "min_probability": 0.0,
        "use_null_word": True,
        "weight": "one",
        "max_vocabulary": 500_000,
    },
}


def test_every_preset_is_in_the_table():
    registered = {(name, preset) for name in model_names() for preset in model_class(name).presets}
    assert registered == set(PRESETS)


@pytest.mark.parametrize(("name", "preset"), PRESETS)
def test_a_preset_has_the_values_of_its_paper(name, preset):
    assert model_class(name).presets[preset].parameters == PRESETS[name, preset]
