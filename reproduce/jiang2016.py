"""Jiang et al. 2016: vector propagation on the click graph (VPCG) and vector generation (VG)."""

from __future__ import annotations

from reproduce.paper import Ablation, Examples, Importance, Paper, Ranker, Separability, Table, UnseenVectors

_MEASURES = ("nDCG@10", "nDCG@1", "nDCG@3", "nDCG@5")
_BASE0 = (
    "BM25SD",
    "BM25_title",
    "BM25_body",
    "BM25_url",
    "BM25_anchor",
    "UM",
    "VSM",
    "clicks",
    "popularity",
    "Cos_W",
)
_BASE = (*_BASE0, "CTR", "BM25SD_MULT")
_OURS = ("VPCG&VG_QUERY", "VPCG&VG_DOC")
_FIRST = "VPCG&VG_QUERY > {VPCG_QUERY, BM25SD_MULT, CTR, WMD, BM25SD, VPCG_DOC, VPCG&VG_DOC}"
_RANKERS = "Base+VPCG&VG > Base+VPCG > {Base+WMD, Base, Base0}"
_IMPORTANT = "{VPCG&VG_DOC, VPCG&VG_QUERY} > {CTR, BM25SD_MULT}"
_MOST_IMPORTANT = "{VPCG&VG_DOC, VPCG&VG_QUERY} > {" + ", ".join(_BASE) + "}"
_UNSEEN = "VG > Unit+equal > Unigram+equal > BOW"
_BASELINE = "The same order on a smaller log: the baseline of the row below."


def _table(name: str, rows: dict[str, tuple[float, float, float, float]], *orders: str) -> Table:
    """A table whose columns are NDCG@1, @3, @5 and @10."""
    values = {system: (at_10, at_1, at_3, at_5) for system, (at_1, at_3, at_5, at_10) in rows.items()}
    return Table(name, "web-unseen", _MEASURES, values, orders)


PAPER = Paper(
    "jiang2016",
    "Jiang et al. 2016",
    "vector propagation on the click graph",
    "Base has ten models as features and learns from half of the judgments; the paper's has 2,400 features. "
    "The word "
    "vectors of WMD are learned from the log; the paper's were learned from news.",
    "t",
    0.01,
    "two-fold",
    {
        "VPCG_QUERY": "vpcg(preset=paper,units=none)",
        "VPCG&VG_QUERY": "vpcg(preset=paper)",
        "VPCG_DOC": "vpcg(preset=paper,start=doc,fields=title,units=none)",
        "VPCG&VG_DOC": "vpcg(preset=paper,start=doc,fields=title)",
        "BM25SD": "bm25sd(preset=jiang2016,fields=title+body)",
        "BM25SD_MULT": "bm25sd_mult(preset=jiang2016)",
        "CTR": "ctr(preset=jiang2016)",
        "WMD": "wmd",
        "BM25_title": "bm25(fields=title)",
        "BM25_body": "bm25(fields=body)",
        "BM25_url": "bm25(fields=url)",
        "BM25_anchor": "bm25(fields=anchor)",
        "UM": "um",
        "VSM": "vsm",
        "clicks": "clicks",
        "popularity": "popularity",
        "Cos_W": "cos_words",
        "Base0": Ranker(_BASE0, (), "lambdarank"),
        "Base": Ranker(_BASE, (), "lambdarank"),
        "Base+WMD": Ranker(_BASE, ("WMD",), "lambdarank"),
        "Base+VPCG_QUERY": Ranker(_BASE, ("VPCG_QUERY",), "lambdarank"),
        "Base+VPCG": Ranker(_BASE, ("VPCG_QUERY", "VPCG_DOC"), "lambdarank"),
        "Base+VPCG&VG": Ranker(_BASE, _OURS, "lambdarank"),
    },
    (
        _table(
            "Table 1",
            {
                "BM25SD": (0.4373, 0.4937, 0.5460, 0.6542),
                "BM25SD_MULT": (0.6132, 0.6346, 0.6668, 0.7464),
                "CTR": (0.5769, 0.5941, 0.6238, 0.7064),
                "WMD": (0.4585, 0.5145, 0.5641, 0.6674),
                "VPCG_QUERY": (0.6268, 0.6498, 0.6797, 0.7509),
                "VPCG&VG_QUERY": (0.6344, 0.6618, 0.6948, 0.7687),
                "VPCG_DOC": (0.5648, 0.6209, 0.6623, 0.7382),
                "VPCG&VG_DOC": (0.5668, 0.6268, 0.6717, 0.7509),
            },
            _FIRST,
            "VPCG_QUERY > BM25SD_MULT > CTR",
            "VPCG_QUERY > VPCG_DOC > WMD > BM25SD",
            "VPCG&VG_DOC > VPCG_DOC",
            "CTR > {WMD, BM25SD}",
        ),
        _table(
            "Table 2",
            {
                "Base0": (0.6872, 0.7024, 0.7288, 0.7925),
                "Base": (0.6862, 0.7014, 0.7281, 0.7923),
                "Base+WMD": (0.6881, 0.7023, 0.7291, 0.7934),
                "Base+VPCG": (0.7068, 0.7207, 0.7470, 0.8080),
                "Base+VPCG&VG": (0.7096, 0.7256, 0.7506, 0.8108),
            },
            _RANKERS,
            "Base ≈ Base0",
            "Base+WMD ≈ Base",
        ),
        Importance(
            "Figure 3",
            "web-unseen",
            "Base+VPCG&VG",
            (
                _IMPORTANT,
                _MOST_IMPORTANT,
            ),
        ),
        Separability(
            "Figure 4",
            "web-unseen",
            ("BM25SD", "BM25SD_MULT", "CTR", "WMD", "VPCG&VG_QUERY", "VPCG&VG_DOC"),
            ("{VPCG&VG_QUERY, VPCG&VG_DOC} > {BM25SD, BM25SD_MULT, CTR, WMD}", "BM25SD_MULT > BM25SD"),
        ),
        Examples(
            "Table 3",
            "web-unseen",
            "vectors",
            ("VPCG&VG_QUERY",),
            "hotel california eagles: hotel 0.675, california 0.667, eagles 0.300, album 0.057, song 0.053, "
            "lyrics 0.041; "
            "dtd amc: amc 0.707, disney 0.475, downtown 0.414, island 0.158, theater 0.146, movie 0.121",
            ("Base", "Base+VPCG"),
        ),
        Examples(
            "Table 4",
            "web-unseen",
            "both sides",
            ("VPCG&VG_QUERY", "VPCG&VG_DOC"),
            "choise fm from queries: choise 0.714, fm 0.666, radio 0.148, choicefm 0.110, london 0.085, "
            "capital 0.033, xtra "
            "0.027; from titles: xtra 0.446, capital 0.446, urban 0.439, dance 0.438, uk 0.426, choise 0.112",
            ("Base+VPCG_QUERY", "Base+VPCG"),
        ),
        UnseenVectors(
            "Table 5",
            "web-unseen",
            "vpcg(preset=paper)",
            {"BOW": 0.4833, "Unigram+equal": 0.5368, "Unit+equal": 0.5927, "VG": 0.6057},
            (_UNSEEN,),
        ),
        Examples(
            "Table 6",
            "web-unseen",
            "units",
            ("VPCG&VG_QUERY",),
            "how long is into the storm: how long is (0.363), is into the (0.562), into the storm (1.038: "
            "storm 0.665, into "
            "0.641, movie 0.159, 2014 0.050, watch 0.041)",
            ("Base+VPCG", "Base+VPCG&VG"),
        ),
    ),
    (
        Ablation(
            "Table 1",
            "VPCG_QUERY > BM25SD_MULT > CTR",
            "Propagation until convergence mixes the queries of a component; with one iteration VPCG should "
            "rise.",
            {"VPCG_QUERY": "vpcg(preset=paper,iterations=1,units=none)"},
        ),
        Ablation(
            "Table 1",
            "VPCG_QUERY > VPCG_DOC > WMD > BM25SD",
            "The vectors of WMD are learned from this log and its clicks, so they know its synonyms; the "
            "vectors of "
            "the paper do not. With 10 dimensions WMD should fall.",
            {"WMD": "wmd(dim=10)"},
        ),
        Ablation(
            "Table 1",
            _FIRST,
            "Least squares without a prior give rare units extreme weights: with a prior the "
            "generated vectors "
            "should be better.",
            {"VPCG&VG_QUERY": "vpcg(preset=paper,unit_weights=regression)"},
        ),
        Ablation(
            "Table 1",
            _FIRST,
            "Propagation until convergence mixes the queries of a component; with one iteration "
            "VPCG&VG_QUERY "
            "should rise.",
            {"VPCG&VG_QUERY": "vpcg(preset=paper,iterations=1)"},
        ),
        Ablation(
            "Table 1",
            _FIRST,
            "Both: a prior and one iteration.",
            {"VPCG&VG_QUERY": "vpcg(preset=paper,unit_weights=regression,iterations=1)"},
        ),
        Ablation(
            "Table 1",
            "VPCG_QUERY > VPCG_DOC > WMD > BM25SD",
            _BASELINE,
            log="unseen-small",
        ),
        Ablation(
            "Table 1",
            "VPCG_QUERY > VPCG_DOC > WMD > BM25SD",
            "Titles say what a page is about; those of the paper are noisy. With the name of the "
            "site in every "
            "title VPCG_DOC should fall.",
            log="unseen-noisy-titles",
        ),
        Ablation(
            "Table 1",
            "VPCG_QUERY > BM25SD_MULT > CTR",
            _BASELINE,
            log="unseen-small",
        ),
        Ablation(
            "Table 1",
            "VPCG_QUERY > BM25SD_MULT > CTR",
            "Clicks are too clean: with more users who click nearly everything CTR should fall.",
            log="unseen-careless-users",
        ),
        Ablation(
            "Table 2",
            _RANKERS,
            "The vectors of WMD are learned from this log: with 10 dimensions Base+WMD should fall.",
            {"WMD": "wmd(dim=10)"},
        ),
        Ablation("Table 2", "Base ≈ Base0", _BASELINE, log="unseen-small"),
        Ablation(
            "Table 2",
            "Base ≈ Base0",
            "Clicks are too clean, so CTR adds much: with more users who click nearly everything it "
            "should add "
            "less.",
            log="unseen-careless-users",
        ),
        *(
            Ablation(
                "Figure 3",
                order,
                "Extreme weights of rare units spoil the generated vectors: with a prior, VPCG&VG "
                "should be more "
                "important.",
                {
                    "VPCG&VG_QUERY": "vpcg(preset=paper,unit_weights=regression)",
                    "VPCG&VG_DOC": "vpcg(preset=paper,start=doc,fields=title,unit_weights=regression)",
                },
            )
            for order in (_IMPORTANT, _MOST_IMPORTANT)
        ),
        Ablation(
            "Table 5",
            _UNSEEN,
            "Few one-word queries are in the log, and a query without any counts as 0: among "
            "queries for which "
            "every method has a vector Unigram+equal should be above BOW.",
            queries="covered",
        ),
        Ablation(
            "Table 5",
            _UNSEEN,
            "A query that shares no document with others keeps its own words, so BOW has a cosine "
            "of nearly 1: "
            "among those that share one BOW should fall.",
            queries="linked",
        ),
        Ablation("Table 5", _UNSEEN, "Both.", queries="covered+linked"),
        Ablation(
            "Table 5",
            _UNSEEN,
            "Least squares without a prior give rare units extreme weights: with a prior VG should "
            "rise above "
            "Unit+equal.",
            spec="vpcg(preset=paper,unit_weights=regression)",
        ),
        Ablation(
            "Table 5",
            _UNSEEN,
            "The same without a prior, but only with units that occur in ten queries or more: VG should rise "
            "above Unit+equal.",
            spec="vpcg(preset=paper,min_texts=10)",
        ),
        Ablation("Table 5", _UNSEEN, _BASELINE, log="unseen-small"),
        Ablation(
            "Table 5",
            _UNSEEN,
            "The log of the paper is denser, so more queries share documents: BOW should fall.",
            log="unseen-dense",
        ),
        Ablation(
            "Table 5",
            _UNSEEN,
            "All of them: the denser log, queries that are covered and linked, and a prior.",
            log="unseen-dense",
            spec="vpcg(preset=paper,unit_weights=regression)",
            queries="covered+linked",
        ),
    ),
)
