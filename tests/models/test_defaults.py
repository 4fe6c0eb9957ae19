"""The default of every parameter. A default is a decision: if you change one, say so in CHANGELOG.md.

Those of vpcg, pls, mpls and wtm are what measures best on most of the logs at hand: docs/models.md.
"""

import pytest

from coclick import create, model_names
from coclick.models.registry import model_class
from coclick.models.spec import parameters_of

WORDS = {
    "fields": "all",
    "language": "auto",
    "stem": True,
    "remove_stop_words": False,
    "tokenizer": "pieces",  # 8ft matches 8 ft: docs/logs.md
}
CONTENT_WORDS = {**WORDS, "remove_stop_words": True}
TITLES = {**WORDS, "fields": "title", "stem": False}  # Gao et al. 2011
CONTENT_TITLES = {**CONTENT_WORDS, "fields": "title"}
SPACE = {"seed": 0, "index": "exact"}  # of projections
GAO = {"dim": 100, **TITLES, **SPACE, "max_vocabulary": 40_000}
LANGUAGE_MODEL = {
    "lambda_collection": 0.5,
    "lambda_doc": 0.5,
    **TITLES,
    "weight": "log1p",
    "max_vocabulary": 500_000,
}
TOPICS = {
    **LANGUAGE_MODEL,
    "n_topics": 100,
    "iterations": 20,
    "topic_prior": 1.1,
    "word_prior": 1.01,
    "held_out": 0.02,
    "tolerance": 1e-4,
    "seed": 0,
}
BM25 = {**WORDS, "k1": 1.2, "b": 0.75}
PROXIMITY = {**BM25, "word_weight": 0.8, "ordered_weight": 0.15, "unordered_weight": 0.05}
GRADIENT = {"n_negatives": 4, "iterations": 20, "patience": 3, "held_out": 0.05}

DEFAULTS = {
    "backoff": {"parts": "neighbours + vpcg(units=words,own_weight=0) + bm25"},
    "bltm": TOPICS,
    "bltm_pr": {**TOPICS, "iterations": 16},
    "bltm_pr_1v": {**TOPICS, "iterations": 16},
    "bm25": BM25,
    "bm25sd": PROXIMITY,
    "bm25sd_mult": {
        **PROXIMITY,
        "content_weight": 1.0,
        "anchor_weight": 1.0,
        "query_weight": 2.0,
        "idf_docs": "all",
    },
    "cl_lsa": {**GAO, "weight": "log1p", "centre": False},
    "clicks": {},
    "cos_clicks": {"weight": "log1p"},
    "cos_words": {**CONTENT_WORDS, "tf": "log"},
    "ctr": {},
    "large_margin": {
        "dim": 300,
        **CONTENT_WORDS,
        **SPACE,
        "views": "words",
        "weight": "log1p",
        "margin": 0.3,
        "n_negatives": 4,
        "learning_rate": 0.02,
        "iterations": 3,
    },
    "logged": {},
    "lsa": {**GAO, "corpus": "distinct", "centre": False},
    "lsi_dt": {"dim": 300, **CONTENT_WORDS, **SPACE},
    "lsi_qd": {"dim": 300, **CONTENT_WORDS, **SPACE, "weight": "log1p"},
    "ltr": {
        "parts": "bm25 + bm25sd_mult + vsm + neighbours(word_weight=1) + neighbours(word_weight=0) + vpcg"
        " + vpcg(start=doc,units=words) + wtm + clicks + popularity",
        "task": "retrieval",
        "objective": "lambdarank",
        "n_trees": 100,
        "n_leaves": 15,
        "learning_rate": 0.05,
        "n_candidates": 200,
        "n_folds": 5,
        "max_queries": 1500,
        "n_negatives": 40,
        "seed": 0,
    },
    "mix": {"parts": "0.8*vpcg + 0.2*bm25"},
    "mpls": {
        "dim": 300,
        **CONTENT_WORDS,
        **SPACE,
        "views": "words+chars+clicks",
        "combine": "weighted",
        "weight": "log1p",
    },
    "neighbours": {
        "n_neighbours": 100,
        "power": 4.0,
        "word_weight": 0.4,
        "min_n": 3,
        "max_n": 4,
        "language": "auto",
        "stem": True,
        "remove_stop_words": False,
        "tokenizer": "pieces",
    },
    "opca": {**GAO, "weight": "log1p", "ridge": 0.2},
    "pls": {"dim": 600, **CONTENT_WORDS, **SPACE, "views": "words+chars", "weight": "log1p"},
    "plsa": {**TOPICS, "corpus": "distinct"},
    "popularity": {},
    "rmls": {
        "dim": 1000,
        **CONTENT_WORDS,
        **SPACE,
        "views": "words+clicks",
        "weight": "degree",  # Wu, Lu & Li 2013 §4
        "relative_threshold": 1.5,
        "query_threshold": 0.0,
        "doc_threshold": 0.0,
        "query_length": 1.0,
        "doc_length": 1.0,
        "initial_map": "sparse",
        "iterations": 10.0,
        "held_out": 0.1,
        "frequency_discount": 0.0,
    },
    "rw": {"stay_probability": 0.9, "iterations": 5, "max_nodes": 10_000},  # Craswell & Szummer 2007
    "s2net": {
        **GAO,
        "corpus": "distinct",
        "centre": False,
        "n_negatives": 4,
        "negative_docs": "all",
        "gamma": 10.0,
        "epsilon": 0.1,
        "l2_to_start": 0.0,
        "optimiser": "lbfgs",
        "learning_rate": 0.02,
        "iterations": 40,
        "patience": 5,
        "held_out": 0.005,
        "min_held_out": 200,
    },
    "ssi": {
        "dim": 100,
        **CONTENT_TITLES,
        **SPACE,
        **GRADIENT,
        "max_vocabulary": 40_000,
        "pairs": "both",
        "learning_rate": 0.02,
    },
    "svdfeature": {
        "dim": 100,
        **CONTENT_TITLES,
        **SPACE,
        **GRADIENT,
        "views": "words+clicks",
        "weight": "log1p",
        "loss": "squared",
        "scale_targets": True,
        "learning_rate": 0.05,
        "l2": 0.002,
    },
    "um": {**WORDS, "lambda_collection": 0.5},
    "vpcg": {
        **WORDS,
        "start": "query",
        "max_terms": 20,  # K of Jiang et al. 2016 §4.1
        "weight": "clicks",
        "iterations": 1,
        "units": "words+chars",  # + .04 on bestbuy, + .49 on zerozero, with own_weight
        "unit_weights": "regression",
        "rho": 100.0,
        "own_weight": 1.0,
        "min_texts": 2,
        "seed": 0,
    },
    "vsm": {**WORDS, "tf": "log"},
    "wmd": {"dim": 100, "word_vectors": "", **CONTENT_WORDS, "fields": "short", "seed": 0},
    "wtm": {
        **LANGUAGE_MODEL,
        "stem": True,
        "iterations": 10,
        "min_probability": 0.001,
        "use_null_word": True,
    },
}


@pytest.mark.parametrize("name", model_names())
def test_defaults(name):
    found = {field.name: field.default for field in parameters_of(model_class(name))}
    assert name in DEFAULTS, f"add the defaults of {name} to this file"
    assert found == DEFAULTS[name]


MAX_DOCS = {
    "bltm_pr": 500_000,
    "bltm_pr_1v": 500_000,
    "large_margin": 500_000,
    "ltr": 500_000,
    "opca": 200_000,
    "s2net": 500_000,
    "ssi": 200_000,
    "svdfeature": 500_000,
    "wmd": 100_000,
}


@pytest.mark.parametrize("name", model_names())
def test_number_of_documents_up_to_which_compare_takes_a_model(name):
    assert model_class(name).max_docs == MAX_DOCS.get(name, float("inf"))


@pytest.mark.parametrize("name", sorted({*model_names()} - {"backoff", "mix"}))  # written as sums
def test_a_model_with_its_defaults_is_written_by_its_name(name):
    assert str(create(name)) == name
