"""Wu, Lu & Li 2012: the first paper on RMLS; its tables add mean average precision."""

from __future__ import annotations

from dataclasses import replace

from reproduce.paper import Ablation, Paper, Table
from reproduce.wu2013 import MANY_DIMENSIONS, NORMALISED_CLICKS, SYSTEMS, THREADS

_MEASURES = ("AP", "nDCG@1", "nDCG@3", "nDCG@5")
_PROJECTIONS = "{RMLS, PLS} > {RW, RW+BM25, LSI_qd, LSI_qd+BM25, LSI_dt, BM25}"
_WALKS = "RW+BM25 > RW > {BM25, LSI_dt} > LSI_qd"
_HALF_YEAR = "RMLS > PLS(word) > BM25"
_BASELINE = "The same order on a tenth of the log: the baseline of the row below."

PAPER = Paper(
    "wu2012",
    "Wu, Lu & Li 2012",
    "regularised mapping to latent structures, first report",
    "The systems are those of Wu, Lu & Li 2013.",
    "sign",
    0.01,
    "half",
    {
        name: SYSTEMS[name]
        for name in ("RMLS", "PLS", "PLS(word)", "RW", "RW+BM25", "LSI_qd", "LSI_qd+BM25", "LSI_dt", "BM25")
    },
    (
        Table(
            "Table 2",
            "web-week",
            _MEASURES,
            {
                "RMLS": (0.554, 0.686, 0.732, 0.729),
                "PLS": (0.552, 0.676, 0.728, 0.736),
                "RW": (0.484, 0.655, 0.704, 0.704),
                "RW+BM25": (0.497, 0.671, 0.718, 0.716),
                "LSI_qd": (0.449, 0.588, 0.665, 0.676),
                "LSI_qd+BM25": (0.481, 0.649, 0.705, 0.706),
                "LSI_dt": (0.460, 0.616, 0.675, 0.680),
                "BM25": (0.462, 0.637, 0.690, 0.690),
            },
            (
                _PROJECTIONS,
                _WALKS,
                "LSI_qd+BM25 > {LSI_qd, BM25}",
            ),
        ),
        replace(THREADS, name="Figure 1"),
        Table(
            "Table 3",
            "web-halfyear",
            _MEASURES,
            {
                "RMLS": (0.578, 0.717, 0.743, 0.753),
                "PLS(word)": (0.474, 0.638, 0.666, 0.677),
                "BM25": (0.441, 0.643, 0.663, 0.670),
            },
            (_HALF_YEAR,),
        ),
    ),
    (
        Ablation(
            "Table 2",
            _PROJECTIONS,
            "Raw numbers of clicks as features outweigh words: with normalised clicks PLS should rise.",
            NORMALISED_CLICKS,
        ),
        Ablation("Table 2", _PROJECTIONS, _BASELINE, log="week-small"),
        Ablation(
            "Table 2",
            _PROJECTIONS,
            "Too few dimensions: 1,000 for a tenth of the log should be enough for PLS.",
            MANY_DIMENSIONS,
            log="week-small",
        ),
        Ablation("Table 2", _WALKS, _BASELINE, log="week-small"),
        Ablation(
            "Table 2",
            _WALKS,
            "RW cannot rank the third of the judged documents that have no clicks, which AP counts "
            "and nDCG@5 "
            "hardly does: if all have clicks RW should rise.",
            log="week-clicked-documents",
        ),
        Ablation("Table 3", _HALF_YEAR, _BASELINE, log="halfyear-small"),
        Ablation(
            "Table 3",
            _HALF_YEAR,
            "Too few dimensions for the words of this log: with 1,000 for a tenth of it PLS should rise.",
            {"PLS(word)": "pls(preset=wu2013,dim={many},views=words{fields})"},
            log="halfyear-small",
        ),
    ),
)
