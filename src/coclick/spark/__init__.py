"""Run coclick on a Spark cluster: `build`, `train` and `score` take a Spark session.

This module holds the public functions; `docs/spark.md` shows how to use them. Importing it requires
`pip install "coclick[spark]"`.
"""

from __future__ import annotations

from coclick.spark.requirements import check_packages

check_packages()

from coclick.spark.build import build  # noqa: E402
from coclick.spark.graph import SparkGraph  # noqa: E402
from coclick.spark.scoring import score  # noqa: E402
from coclick.spark.training import MODELS, train  # noqa: E402

__all__ = ["MODELS", "SparkGraph", "build", "score", "train"]
