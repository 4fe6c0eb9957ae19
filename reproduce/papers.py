"""The papers' results: the orders of systems in their tables, and our models for their systems.

The papers' data is private, so only orders can be compared, not values. Systems without a registered model
are reported as not implemented. Weights and parameters are those of the papers, else our defaults: nothing is
tuned to make an order hold.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Expectation:
    """An order from a paper's table, its experiment and its measures; the first measure is shown."""

    table: str
    order: str
    measures: tuple[str, ...]
    experiment: str = "ranking"


@dataclass(frozen=True)
class Paper:
    """A paper's systems and expected orders."""

    citation: str
    title: str
    differences: str  # between its experiments and ours
    systems: dict[str, str]  # name in the orders → model
    expectations: tuple[Expectation, ...]


def _ranker(parts: str) -> str:
    """Boosted trees over these parts, smaller than the default to save time."""
    return f"ltr({parts},n_folds=2,max_queries=500,n_negatives=30,n_trees=100)"


_AT_10 = ("nDCG@10", "nDCG@1", "nDCG@3")
_AT_5 = ("nDCG@5", "nDCG@1", "nDCG@3")

_BASE0 = "bm25 + bm25sd(fields=title+body) + um + vsm + clicks + popularity"
_BASE = f"{_BASE0} + ctr + bm25sd_mult"
_QUERY, _DOC = "vpcg", "vpcg(start=doc,fields=title)"
_QUERY_ONLY, _DOC_ONLY = "vpcg(units=none)", "vpcg(start=doc,units=none,fields=title)"

VPCG = Paper(
    "Jiang et al. 2016",
    "vector propagation on the click graph",
    "Our wmd uses word vectors learned from the log's texts and clicks; the paper's were learned from news. "
    "Our base rankers have a few models as features and learn from clicks; the paper's has 2,400 other "
    "features and learns from judgments. Importance is summed over all features of a model's score.",
    {
        "vpcg&vg_query": _QUERY,
        "vpcg_query": _QUERY_ONLY,
        "vpcg&vg_doc": _DOC,
        "vpcg_doc": _DOC_ONLY,
        "bm25sd": "bm25sd(fields=title+body)",
        "bm25sd_mult": "bm25sd_mult",
        "ctr": "ctr",
        "wmd": "wmd",
        "bm25": "bm25",
        "um": "um",
        "vsm": "vsm",
        "clicks": "clicks",
        "popularity": "popularity",
        "vg": "unit vectors, regression weights",
        "units": "unit vectors, equal weights",
        "unigrams": "vectors of one-word queries, equal weights",
        "bag_of_words": "bag of words",
        "base0": _ranker(_BASE0),
        "base": _ranker(_BASE),
        "base+wmd": _ranker(f"{_BASE} + wmd"),
        "base+vpcg": _ranker(f"{_BASE} + {_QUERY_ONLY} + {_DOC_ONLY}"),
        "base+vpcg&vg": _ranker(f"{_BASE} + {_QUERY} + {_DOC}"),
    },
    (
        Expectation("Table 1", "vpcg&vg_query > vpcg_query > bm25sd_mult > ctr", _AT_10),
        Expectation("Table 1", "vpcg_query > vpcg_doc > wmd > bm25sd", _AT_10),
        Expectation("Table 1", "vpcg&vg_doc > vpcg_doc", _AT_10),
        Expectation("Table 1", "vpcg&vg_query > vpcg_query > bm25sd_mult > ctr", _AT_10, "seen queries"),
        Expectation("Table 1", "vpcg_query > vpcg_doc > wmd > bm25sd", _AT_10, "seen queries"),
        Expectation("Table 2", "{base+vpcg&vg, base+vpcg} > base", _AT_10),
        Expectation("Table 2", "base+wmd ≈ base", _AT_10),
        Expectation("Table 2", "base0 ≈ base", _AT_10),
        Expectation(
            "Figure 3",
            "{vpcg&vg_query, vpcg&vg_doc} > {ctr, bm25sd_mult, bm25sd, bm25, um, vsm, clicks, popularity}",
            ("importance",),
            "importance",
        ),
        Expectation(
            "Table 5",
            "vg > units > unigrams > bag_of_words",
            ("cosine", "nDCG@10"),
            "vectors of unseen queries",
        ),
    ),
)

MPLS = Paper(
    "Wu, Li & Xu 2013",
    "multi-view partial least squares",
    "The weights of combinations are those of the paper for its web data. Queries are similar if they have "
    "the same simulated intent; the paper used human judgments.",
    {
        "weighted": "mpls(combine=weighted)",
        "concat": "mpls(combine=concat)",
        "words": "mpls(views=words)",
        "clicks": "mpls(views=clicks)",
        "weighted+bm25": "0.8*mpls(combine=weighted) + 0.2*bm25",
        "rw": "rw",
        "bm25": "bm25",
        "lsi": "lsi_qd",
        "rw+bm25": "0.8*rw + 0.2*bm25",
        "lsi+bm25": "0.8*lsi_qd + 0.2*bm25",
        "cos_b": "cos_clicks",
        "cos_w": "cos_words",
        "cos_b+cos_w": "0.9*cos_clicks + 0.1*cos_words",
        "rw+cos_w": "0.9*rw + 0.1*cos_words",
    },
    (
        Expectation("Tables 3–4", "weighted > concat > words > clicks", _AT_5, "seen queries"),
        Expectation("Tables 3–4", "weighted > {rw+bm25, lsi+bm25}", _AT_5, "seen queries"),
        Expectation("Tables 3–4", "rw+bm25 ≥ rw > bm25", _AT_5, "seen queries"),
        Expectation("Table 4", "{rw, bm25} > clicks", _AT_5, "seen queries"),
        Expectation("Table 5", "weighted+bm25 > weighted", ("AP", "nDCG@1"), "seen queries"),
        Expectation("Figures 5–6", "weighted > {cos_b, cos_w, lsi, rw}", ("grade@3",), "similar queries"),
        Expectation("Figures 5–6", "weighted > {cos_b+cos_w, rw+cos_w}", ("grade@3",), "similar queries"),
        Expectation("§5.4.2", "weighted > {cos_b+cos_w, rw+cos_w}", ("grade@3",), "similar queries, tail"),
        Expectation("§5.4.2", "rw > cos_b", ("grade@3",), "similar queries"),
    ),
)

TOPICS = Paper(
    "Gao et al. 2011",
    "clickthrough-based latent semantic models",
    "Half of the documents are new: their clicks are held out, and only they are ranked, by their titles. "
    "The weights of combinations are not tuned.",
    {
        "um": "um(stem=false)",
        "plsa": "plsa",
        "plsa_alone": "plsa(lambda_doc=0)",
        "bltm": "bltm",
        "bltm_pr": "bltm_pr",
        "bltm_pr_1v": "bltm_pr_1v",
        "wtm": "wtm",
        "vsm": "vsm(stem=false)",
        "lsa": "lsa",
        "cl_lsa": "cl_lsa",
        "opca": "opca",
        "s2net": "s2net",
        "lsa+vsm": "0.5*lsa + 0.5*vsm(stem=false)",
        "cl_lsa+vsm": "0.5*cl_lsa + 0.5*vsm(stem=false)",
        "opca+vsm": "0.5*opca + 0.5*vsm(stem=false)",
        "s2net+vsm": "0.5*s2net + 0.5*vsm(stem=false)",
    },
    (
        Expectation("Table 1", "bltm_pr_1v ≥ bltm_pr > bltm ≈ wtm > plsa > um", _AT_10, "new documents"),
        Expectation("Table 1", "um > plsa_alone", ("nDCG@1", "nDCG@3"), "new documents"),
        Expectation("Table 2", "s2net > vsm > {opca, lsa, cl_lsa}", _AT_10, "new documents"),
        Expectation("Table 2", "lsa+vsm > vsm > lsa", _AT_10, "new documents"),
        Expectation("Table 2", "cl_lsa+vsm > vsm > cl_lsa", _AT_10, "new documents"),
        Expectation("Table 2", "opca+vsm > vsm > opca", _AT_10, "new documents"),
        Expectation("Table 2", "s2net+vsm > {s2net, lsa+vsm, cl_lsa+vsm, opca+vsm}", _AT_10, "new documents"),
    ),
)

_BASELINES = "bm25 + rw + lsi_qd + lsi_dt + bltm + ssi + svdfeature"

RMLS = Paper(
    "Wu, Lu & Li 2013",
    "regularised mapping to latent structures",
    "The weights of combinations are those of Wu, Li & Xu 2013, not tuned. Our mart rankers learn from "
    "clicks; the paper's learned from judgments.",
    {
        "rmls": "rmls",
        "pls": "pls",
        "pls_words": "pls(views=words)",
        "svdfeature": "svdfeature",
        "bltm": "bltm",
        "ssi": "ssi",
        "rw": "rw",
        "rw+bm25": "0.8*rw + 0.2*bm25",
        "lsi_qd": "lsi_qd",
        "lsi_qd+bm25": "0.8*lsi_qd + 0.2*bm25",
        "lsi_dt": "lsi_dt",
        "bm25": "bm25",
        "mart": _ranker(f"{_BASELINES},objective=pointwise"),
        "mart+rmls": _ranker(f"{_BASELINES} + rmls,objective=pointwise"),
        "mart+pls": _ranker(f"{_BASELINES} + pls,objective=pointwise"),
        "mart+pls_words": _ranker(f"{_BASELINES} + pls(views=words),objective=pointwise"),
    },
    (
        Expectation(
            "Table 2",
            "{rmls, pls} > {svdfeature, rw+bm25} > {bltm, rw, lsi_qd+bm25} > bm25 > lsi_dt > lsi_qd > ssi",
            _AT_5,
            "seen queries",
        ),
        Expectation("Table 3", "rmls ≥ svdfeature > bltm > {bm25, pls_words}", _AT_5, "seen queries"),
        Expectation("Table 4", "{mart+rmls, mart+pls} > mart", _AT_5, "seen queries"),
        Expectation("Table 5", "mart+rmls > mart ≈ mart+pls_words", _AT_5, "seen queries"),
        Expectation("Table 6", "{rw+bm25, rw} > {rmls, pls, bm25, lsi_dt}", ("nDCG@1",), "clicks ≤10"),
        Expectation("Table 6", "{rw+bm25, rw} > {rmls, pls, bm25, lsi_dt}", _AT_5, "clicks ≤100"),
        Expectation("Table 6", "rmls > {pls, svdfeature, rw+bm25, rw, bm25}", _AT_5, "clicks ≤1000"),
        Expectation("Table 6", "pls > {rmls, svdfeature, rw+bm25, rw, bm25}", _AT_5, "clicks >1000"),
    ),
)

PAPERS = (VPCG, MPLS, TOPICS, RMLS)
