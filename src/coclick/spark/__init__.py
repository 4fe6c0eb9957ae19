"""The same graph build and the same models on a cluster: `build`, `train` and `score` with a Spark session.

What a user calls is in here; `docs/how-to/spark.md` says how. It needs `pip install "coclick[spark]"`.
"""

from __future__ import annotations

from coclick.spark.session import check_packages

check_packages()

from coclick.spark.build import build  # noqa: E402
from coclick.spark.graph import SparkGraph  # noqa: E402
from coclick.spark.scoring import score  # noqa: E402
from coclick.spark.training import MODELS, train  # noqa: E402

__all__ = ["MODELS", "SparkGraph", "build", "score", "train"]
