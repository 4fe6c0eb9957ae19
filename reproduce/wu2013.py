"""Wu, Lu & Li 2013: regularised mapping to latent structures (RMLS)."""

from __future__ import annotations

from reproduce.paper import Ablation, Cost, Mix, Paper, Ranker, System, Table, Threads

AT_1_3_5 = ("nDCG@5", "nDCG@1", "nDCG@3")
_BASELINES = ("SVDFeature", "BLTM", "SSI", "RW", "RW+BM25", "LSI_qd", "LSI_qd+BM25", "LSI_dt", "BM25")
_HALF_YEAR_BASELINES = ("SVDFeature", "BLTM", "BM25")

SYSTEMS: dict[str, System] = {
    "RMLS": "rmls(preset=wu2013,dim={dim}{fields})",
    "PLS": "pls(preset=wu2013,dim={dim}{fields})",
    "PLS(word)": "pls(preset=wu2013,dim={dim},views=words{fields})",
    "SVDFeature": "svdfeature(preset=wu2013,dim={svd_dim},iterations={svd_iterations},learning_rate=0.002"
    "{fields})",
    "BLTM": "bltm(preset=wu2013,n_topics={topics}{fields})",
    "SSI": "ssi(preset=wu2013,dim={ssi_dim}{fields})",
    "RW": "rw(preset=wu2013)",
    "RW+BM25": Mix("RW", "BM25"),
    "LSI_qd": "lsi_qd(preset=wu2013,dim={dim})",
    "LSI_qd+BM25": Mix("LSI_qd", "BM25"),
    "LSI_dt": "lsi_dt(preset=wu2013,dim={dim}{fields})",
    "BM25": "bm25(preset=wu2013{fields})",
}


def _bin(values: dict[str, tuple[float, float, float]], name: str, *orders: str) -> Table:
    """One bin of Table 6; the paper's columns are @1, @3 and @5."""
    return Table("Table 6", "web-week", AT_1_3_5, _at_5_first(values), orders, name)


def _at_5_first(values: dict[str, tuple[float, float, float]]) -> dict[str, tuple[float, ...]]:
    return {system: (at_5, at_1, at_3) for system, (at_1, at_3, at_5) in values.items()}


THREADS = Threads("Figure 2", "web-week", "RMLS", (1, 2), {1: 1380, 20: 277})

# Changed systems of the ablations: one cause each, and shared by several tables.
LOG_WEIGHTS = {"PLS": "pls(preset=wu2013,dim={dim},weight=log1p{fields})"}
NORMALISED_CLICKS = {"PLS": "pls(preset=wu2013,dim={dim},views=words+clicks{fields})"}
WORDS_ONLY = {"PLS": "pls(preset=wu2013,dim={dim},views=words{fields})"}
MANY_DIMENSIONS = {"PLS": "pls(preset=wu2013,dim={many}{fields})"}
LOG_TARGETS = {
    "SVDFeature": "svdfeature(preset=wu2013,dim={svd_dim},iterations={svd_iterations},weight=log1p,"
    "learning_rate=0.002{fields})"
}
FAST_LOG_TARGETS = {
    "SVDFeature": "svdfeature(preset=wu2013,dim={svd_dim},iterations={svd_iterations},weight=log1p{fields})"
}
RMLS_WITHOUT_WORDS = {"RMLS": "rmls(preset=wu2013,dim={dim},views=raw_clicks{fields})"}
RMLS_NORMALISED_CLICKS = {"RMLS": "rmls(preset=wu2013,dim={dim},views=words+clicks{fields})"}
RMLS_DISCOUNT = {"RMLS": "rmls(preset=wu2013,dim={dim},frequency_discount=1{fields})"}
RMLS_THRESHOLD = {"RMLS": "rmls(preset=wu2013,dim={dim},relative_threshold=1{fields})"}
RMLS_FULL_ROUNDS = {"RMLS": "rmls(preset=wu2013,dim={dim},frequency_discount=1,relative_threshold=1{fields})"}

_FEATURES = (
    "Raw numbers of clicks as features outweigh words, whose tf-idf is small: with normalised clicks PLS "
    "should rise."
)
_FASTER = (
    "The same, and the learning rate is too low, as raw clicks allow no higher one: with both changed "
    "SVDFeature should rise."
)
_BASELINE = "The same order on a tenth of the log: the baseline of the rows below."
_TABLE_2 = "{RMLS, PLS} > {SVDFeature, RW+BM25}"
_UP_TO_100 = "{RW+BM25, RW} > {RMLS, PLS, SVDFeature, BM25}"
_UP_TO_1000 = "{RMLS, PLS} > {SVDFeature, RW+BM25, RW, BLTM, BM25}"
_ABOVE_1000 = "PLS > {RMLS, SVDFeature} > {RW+BM25, RW, BM25}"
_HALF_YEAR = (
    ("Table 3", "RMLS > SVDFeature > BLTM > {PLS(word), BM25}"),
    ("Table 7", "RMLS > BLTM > {SVDFeature, BM25, PLS(word)}"),
    ("Table 7", "RMLS > BLTM > SVDFeature > {BM25, PLS(word)}"),
    ("Table 7", "RMLS > SVDFeature > BLTM > {BM25, PLS(word)}"),
    ("Table 7", "{RMLS, SVDFeature} > BLTM > {BM25, PLS(word)}"),
)

PAPER = Paper(
    "wu2013",
    "Wu, Lu & Li 2013",
    "regularised mapping to latent structures",
    "The half year is about five times the week here, and 68 times in the paper. The trees are LightGBM's, "
    "with the number of leaves and the rate of RankLib's MART; they sample rows and features. Training of "
    "SVDFeature on raw clicks diverges with larger learning rates. On the half year it has 100 dimensions "
    "and at most 10 iterations, a bound set by the time of one iteration, before any result was seen.",
    "t",
    0.05,
    "half",
    {
        **SYSTEMS,
        "MART-Baseline": Ranker(_BASELINES),
        "MART-PLS": Ranker(_BASELINES, ("PLS",)),
        "MART-RMLS": Ranker(_BASELINES, ("RMLS",)),
        "MART-All": Ranker(_BASELINES, ("PLS", "RMLS")),
        "MART-Baseline(half-year)": Ranker(_HALF_YEAR_BASELINES),
        "MART-PLS(half-year)": Ranker(_HALF_YEAR_BASELINES, ("PLS(word)",)),
        "MART-RMLS(half-year)": Ranker(_HALF_YEAR_BASELINES, ("RMLS",)),
        "MART-All(half-year)": Ranker(_HALF_YEAR_BASELINES, ("PLS(word)", "RMLS")),
    },
    (
        Table(
            "Table 2",
            "web-week",
            AT_1_3_5,
            _at_5_first(
                {
                    "RMLS": (0.686, 0.732, 0.729),
                    "PLS": (0.676, 0.728, 0.736),
                    "SVDFeature": (0.663, 0.720, 0.727),
                    "BLTM": (0.657, 0.702, 0.701),
                    "SSI": (0.538, 0.621, 0.629),
                    "RW": (0.655, 0.704, 0.704),
                    "RW+BM25": (0.671, 0.718, 0.716),
                    "LSI_qd": (0.588, 0.665, 0.676),
                    "LSI_qd+BM25": (0.649, 0.705, 0.706),
                    "LSI_dt": (0.616, 0.675, 0.680),
                    "BM25": (0.637, 0.690, 0.690),
                }
            ),
            (
                _TABLE_2,
                "{SVDFeature, RW+BM25} > {BLTM, RW, LSI_qd+BM25}",
                "{BLTM, RW, LSI_qd+BM25} > BM25 > LSI_dt > LSI_qd > SSI",
                "RW+BM25 > RW",
                "LSI_qd+BM25 > LSI_qd",
            ),
        ),
        Cost(
            "§6.3, training time",
            "web-week",
            {"RMLS": 1380, "PLS": 945_382},
            ("RMLS > PLS",),
        ),
        THREADS,
        Table(
            "Table 3",
            "web-halfyear",
            AT_1_3_5,
            _at_5_first(
                {
                    "RMLS": (0.742, 0.767, 0.776),
                    "PLS(word)": (0.638, 0.666, 0.677),
                    "SVDFeature": (0.742, 0.746, 0.749),
                    "BLTM": (0.684, 0.708, 0.717),
                    "BM25": (0.643, 0.663, 0.670),
                }
            ),
            ("RMLS > SVDFeature > BLTM > {PLS(word), BM25}",),
        ),
        Table(
            "Table 4",
            "web-week",
            AT_1_3_5,
            _at_5_first(
                {
                    "MART-Baseline": (0.661, 0.737, 0.779),
                    "MART-PLS": (0.683, 0.751, 0.792),
                    "MART-RMLS": (0.681, 0.750, 0.789),
                    "MART-All": (0.689, 0.757, 0.797),
                }
            ),
            (
                "{MART-PLS, MART-RMLS} > MART-Baseline",
                "MART-All > {MART-PLS, MART-RMLS}",
                "MART-PLS ≈ MART-RMLS",
            ),
        ),
        Table(
            "Table 5",
            "web-halfyear",
            AT_1_3_5,
            _at_5_first(
                {
                    "MART-Baseline(half-year)": (0.708, 0.760, 0.791),
                    "MART-PLS(half-year)": (0.706, 0.760, 0.792),
                    "MART-RMLS(half-year)": (0.757, 0.799, 0.827),
                    "MART-All(half-year)": (0.756, 0.798, 0.826),
                }
            ),
            (
                "MART-RMLS(half-year) > MART-Baseline(half-year) ≈ MART-PLS(half-year)",
                "MART-All(half-year) > MART-Baseline(half-year)",
            ),
        ),
        _bin(
            {
                "RMLS": (0.754, 0.795, 0.767),
                "PLS": (0.704, 0.776, 0.764),
                "SVDFeature": (0.648, 0.732, 0.707),
                "BLTM": (0.758, 0.787, 0.755),
                "SSI": (0.633, 0.730, 0.700),
                "RW": (0.769, 0.793, 0.760),
                "RW+BM25": (0.773, 0.786, 0.758),
                "LSI_qd": (0.631, 0.717, 0.687),
                "LSI_qd+BM25": (0.696, 0.745, 0.719),
                "LSI_dt": (0.685, 0.745, 0.730),
                "BM25": (0.698, 0.746, 0.724),
            },
            "≤10",
            "{RMLS, RW, BLTM} > {BM25, SVDFeature, SSI, LSI_qd}",
        ),
        _bin(
            {
                "RMLS": (0.749, 0.791, 0.766),
                "PLS": (0.706, 0.769, 0.748),
                "SVDFeature": (0.684, 0.742, 0.727),
                "BLTM": (0.750, 0.795, 0.766),
                "SSI": (0.607, 0.696, 0.673),
                "RW": (0.773, 0.809, 0.780),
                "RW+BM25": (0.770, 0.815, 0.787),
                "LSI_qd": (0.634, 0.709, 0.696),
                "LSI_qd+BM25": (0.726, 0.777, 0.759),
                "LSI_dt": (0.688, 0.752, 0.727),
                "BM25": (0.719, 0.772, 0.748),
            },
            "≤100",
            _UP_TO_100,
        ),
        _bin(
            {
                "RMLS": (0.679, 0.744, 0.755),
                "PLS": (0.650, 0.727, 0.754),
                "SVDFeature": (0.647, 0.723, 0.750),
                "BLTM": (0.636, 0.700, 0.726),
                "SSI": (0.523, 0.616, 0.657),
                "RW": (0.622, 0.709, 0.740),
                "RW+BM25": (0.654, 0.726, 0.750),
                "LSI_qd": (0.584, 0.676, 0.703),
                "LSI_qd+BM25": (0.646, 0.716, 0.736),
                "LSI_dt": (0.608, 0.676, 0.705),
                "BM25": (0.641, 0.701, 0.722),
            },
            "≤1000",
            _UP_TO_1000,
        ),
        _bin(
            {
                "RMLS": (0.557, 0.612, 0.655),
                "PLS": (0.655, 0.661, 0.695),
                "SVDFeature": (0.576, 0.632, 0.669),
                "BLTM": (0.485, 0.557, 0.603),
                "SSI": (0.403, 0.491, 0.540),
                "RW": (0.458, 0.527, 0.582),
                "RW+BM25": (0.485, 0.554, 0.601),
                "LSI_qd": (0.496, 0.573, 0.621),
                "LSI_qd+BM25": (0.500, 0.576, 0.619),
                "LSI_dt": (0.473, 0.549, 0.596),
                "BM25": (0.463, 0.544, 0.592),
            },
            ">1000",
            _ABOVE_1000,
        ),
        *(
            Table("Table 7", "web-halfyear", AT_1_3_5, _at_5_first(values), orders, name)
            for name, values, orders in (
                (
                    "≤10",
                    {
                        "RMLS": (0.804, 0.801, 0.792),
                        "PLS(word)": (0.723, 0.720, 0.708),
                        "SVDFeature": (0.728, 0.730, 0.721),
                        "BLTM": (0.783, 0.775, 0.763),
                        "BM25": (0.747, 0.739, 0.717),
                    },
                    ("RMLS > BLTM > {SVDFeature, BM25, PLS(word)}",),
                ),
                (
                    "≤100",
                    {
                        "RMLS": (0.785, 0.794, 0.796),
                        "PLS(word)": (0.681, 0.697, 0.703),
                        "SVDFeature": (0.738, 0.734, 0.734),
                        "BLTM": (0.750, 0.757, 0.760),
                        "BM25": (0.710, 0.713, 0.712),
                    },
                    ("RMLS > BLTM > SVDFeature > {BM25, PLS(word)}",),
                ),
                (
                    "≤1000",
                    {
                        "RMLS": (0.780, 0.795, 0.797),
                        "PLS(word)": (0.668, 0.691, 0.697),
                        "SVDFeature": (0.766, 0.765, 0.761),
                        "BLTM": (0.725, 0.745, 0.749),
                        "BM25": (0.690, 0.703, 0.704),
                    },
                    ("RMLS > SVDFeature > BLTM > {BM25, PLS(word)}",),
                ),
                (
                    ">1000",
                    {
                        "RMLS": (0.698, 0.742, 0.760),
                        "PLS(word)": (0.599, 0.642, 0.660),
                        "SVDFeature": (0.728, 0.740, 0.748),
                        "BLTM": (0.626, 0.669, 0.688),
                        "BM25": (0.582, 0.622, 0.641),
                    },
                    ("{RMLS, SVDFeature} > BLTM > {BM25, PLS(word)}",),
                ),
            )
        ),
    ),
    (
        Ablation(
            "Table 2",
            _TABLE_2,
            "Raw clicks as weights: the singular vectors go to the most frequent queries. With the logarithm "
            "of clicks PLS should rise.",
            LOG_WEIGHTS,
        ),
        Ablation("Table 2", _TABLE_2, _FEATURES, NORMALISED_CLICKS),
        Ablation("Table 2", _TABLE_2, "The same with words as the only features.", WORDS_ONLY),
        Ablation(
            "Table 2",
            _TABLE_2,
            "Too few dimensions: with a third of them PLS should fall.",
            {"PLS": "pls(preset=wu2013,dim={third}{fields})"},
        ),
        Ablation("Table 2", _TABLE_2, _BASELINE, log="week-small"),
        Ablation(
            "Table 2",
            _TABLE_2,
            "Too few dimensions for the subjects of this log: 1,000 for a tenth of it should be "
            "enough for PLS.",
            MANY_DIMENSIONS,
            log="week-small",
        ),
        Ablation(
            "Table 2",
            _TABLE_2,
            "Both: 1,000 dimensions for a tenth of the log, and normalised clicks as features.",
            {"PLS": "pls(preset=wu2013,dim={many},views=words+clicks{fields})"},
            log="week-small",
        ),
        Ablation(
            "Table 2",
            _TABLE_2,
            "Clicks by users who click nearly everything: without them the view of clicks should be cleaner.",
            log="week-careful-users",
        ),
        Ablation(
            "Table 2",
            "{BLTM, RW, LSI_qd+BM25} > BM25 > LSI_dt > LSI_qd > SSI",
            "This order holds. The paper blames the low rank of SSI on its pairs from skips, 49 % of which "
            "contradict the judgments: with random pairs SSI should rise.",
            {"SSI": "ssi(preset=wu2013,dim={ssi_dim},pairs=sampled{fields})"},
        ),
        Ablation(
            "Table 2",
            "{SVDFeature, RW+BM25} > {BLTM, RW, LSI_qd+BM25}",
            "Raw clicks as targets: with their logarithm SVDFeature should rise.",
            LOG_TARGETS,
        ),
        Ablation("Table 2", "{SVDFeature, RW+BM25} > {BLTM, RW, LSI_qd+BM25}", _FASTER, FAST_LOG_TARGETS),
        Ablation(
            "§6.3, training time",
            "RMLS > PLS",
            "RMLS trains twice: once to choose the number of half-iterations on held-out clicks. With the "
            "number given it should take half of the time.",
            {"RMLS": "rmls(preset=wu2013,dim={dim},held_out=0,iterations=0.5{fields})"},
        ),
        Ablation(
            "Table 4",
            "MART-PLS ≈ MART-RMLS",
            "PLS is weak alone, because of raw clicks as features: with normalised clicks the two should be "
            "equal.",
            NORMALISED_CLICKS,
        ),
        Ablation(
            "Table 6",
            _UP_TO_100,
            "RMLS knows words, which RW does not: without them RMLS should fall below RW.",
            RMLS_WITHOUT_WORDS,
        ),
        Ablation("Table 6", _UP_TO_100, _BASELINE, log="week-small"),
        Ablation(
            "Table 6",
            _UP_TO_100,
            "RW knows nothing of the third of the judged documents that have no clicks: if all have "
            "clicks RW "
            "should rise.",
            log="week-clicked-documents",
        ),
        Ablation("Table 6", _UP_TO_1000, _FEATURES, NORMALISED_CLICKS),
        Ablation("Table 6", _UP_TO_1000, "The same with words as the only features.", WORDS_ONLY),
        Ablation("Table 6", _UP_TO_1000, _BASELINE, log="week-small"),
        Ablation(
            "Table 6",
            _UP_TO_1000,
            "Too few dimensions: 1,000 for a tenth of the log.",
            MANY_DIMENSIONS,
            log="week-small",
        ),
        Ablation(
            "Table 6",
            _ABOVE_1000,
            "Raw clicks as targets of SVDFeature: with their logarithm it should rise above RW.",
            LOG_TARGETS,
        ),
        Ablation("Table 6", _ABOVE_1000, _FASTER, FAST_LOG_TARGETS),
        Ablation("Table 6", _ABOVE_1000, _FEATURES, NORMALISED_CLICKS),
        Ablation(
            "Table 6",
            _ABOVE_1000,
            "All three, as two relations of this order fail.",
            {**FAST_LOG_TARGETS, **NORMALISED_CLICKS},
        ),
        Ablation("Table 6", _ABOVE_1000, _BASELINE, log="week-small"),
        Ablation(
            "Table 6",
            _ABOVE_1000,
            "Too few dimensions for PLS: 1,000 for a tenth of the log.",
            MANY_DIMENSIONS,
            log="week-small",
        ),
        *(
            Ablation(table, order, why, systems, log)
            for table, order in _HALF_YEAR
            for why, systems, log in (
                (
                    "Too few dimensions for a log five times as large: with half of them RMLS should fall.",
                    {"RMLS": "rmls(preset=wu2013,dim={third}{fields})"},
                    "",
                ),
                (
                    "Raw numbers of clicks as features outweigh words: with normalised clicks RMLS "
                    "should rise.",
                    RMLS_NORMALISED_CLICKS,
                    "",
                ),
                (
                    "Early stopping ends after few half-iterations, as more lose the rank: with "
                    "frequency_discount=1 more can be run, and RMLS should rise.",
                    RMLS_DISCOUNT,
                    "",
                ),
                (
                    "Thresholds drop too much: with lower ones RMLS should rise.",
                    RMLS_THRESHOLD,
                    "",
                ),
                ("Both: the discount and lower thresholds.", RMLS_FULL_ROUNDS, ""),
                (
                    "Raw clicks as targets: with their logarithm SVDFeature should rise.",
                    LOG_TARGETS,
                    "",
                ),
                (_FASTER, FAST_LOG_TARGETS, ""),
                (_BASELINE, {}, "halfyear-small"),
                (
                    "Too few dimensions: with 1,000 for a tenth of the log RMLS should rise.",
                    {"RMLS": "rmls(preset=wu2013,dim={many}{fields})"},
                    "halfyear-small",
                ),
            )
        ),
        Ablation(
            "Table 5",
            "MART-RMLS(half-year) > MART-Baseline(half-year) ≈ MART-PLS(half-year)",
            "PLS of words knows what the baselines do not, as SVDFeature is weak on raw clicks: with their "
            "logarithm and the default learning rate for SVDFeature PLS should add less.",
            FAST_LOG_TARGETS,
        ),
    ),
)
