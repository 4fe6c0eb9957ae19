"""`Trees`: boosted regression trees as plain arrays. Searching needs no LightGBM, and nothing is pickled.

A row goes left at a node if its feature is ≤ the threshold. Features are float32. A float32 is ≤ a double
exactly if it is ≤ the largest float32 that is not above that double. So thresholds are stored as float32, and
outputs are bitwise equal to those of LightGBM.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coclick.errors import UserError
from coclick.ltr._tree_kernels import add_outputs
from coclick.storage.layout import Index, Shape
from coclick.storage.state import stored

ZERO, LEFT, RIGHT = 0, 1, 2  # a missing value counts as zero, goes left, or goes right
LEAF = -1

Ints = NDArray[np.int32]


@stored
@dataclass(frozen=True)
class Trees:
    """The nodes of all trees, tree by tree; each node comes before its children."""

    dimensions: ClassVar = ("features",)
    width: int  # number of features
    roots: Annotated[Ints, Shape("trees"), Index("nodes")]
    feature: Annotated[Ints, Shape("nodes"), Index("features", lowest=LEAF)]
    threshold: Annotated[NDArray[np.float32], Shape("nodes")]
    left: Annotated[Ints, Shape("nodes")]
    right: Annotated[Ints, Shape("nodes")]
    missing: Annotated[NDArray[np.uint8], Shape("nodes")]
    # The output of a leaf; the mean of an inner node, for explanations.
    value: Annotated[NDArray[np.float64], Shape("nodes")]

    def sizes(self) -> dict[str, int]:
        """Return the number of features."""
        return {"features": self.width}

    def find_defect(self) -> str | None:
        """Return what would lead outside the nodes or into a cycle, or None."""
        nodes = np.arange(len(self.feature))
        inner = self.feature >= 0
        for child in (self.left[inner], self.right[inner]):
            if np.any(child <= nodes[inner]) or np.any(child >= len(nodes)):
                return "a child that does not follow its parent"
        return None

    # -- conversion ------------------------------------------------------------------------------------

    @classmethod
    def from_lightgbm(cls, booster: Any, trees: int | None = None) -> Trees:
        """Convert the first `trees` trees of a LightGBM booster; all by default."""
        model = booster.dump_model(num_iteration=trees or -1)
        return cls.from_nested([_convert_node(tree["tree_structure"]) for tree in model["tree_info"]],
                               model["max_feature_idx"] + 1)  # fmt: skip

    @classmethod
    def from_nested(cls, trees: Sequence[dict[str, Any]], width: int) -> Trees:
        """Convert nested nodes: leaves have `value`, others also feature, threshold, missing, left, right."""
        nodes: list[tuple[int, float, int, int, int, float]] = []
        roots = [_append_node(tree, nodes) for tree in trees]
        columns = list(zip(*nodes, strict=True)) or [()] * 6
        types = (np.int32, np.float32, np.int32, np.int32, np.uint8, np.float64)
        arrays = [np.array(column, kind) for column, kind in zip(columns, types, strict=True)]
        return cls(width, np.array(roots, np.int32), *arrays)

    def to_nested(self) -> list[dict[str, Any]]:
        """Return nested nodes, the inverse of `from_nested`."""
        return [self._nested(root) for root in self.roots.tolist()]

    def _nested(self, node: int) -> dict[str, Any]:
        value = float(self.value[node])
        if self.feature[node] < 0:
            return {"value": value}
        return {
            "feature": int(self.feature[node]),
            "threshold": float(self.threshold[node]),
            "missing": int(self.missing[node]),
            "value": value,
            "left": self._nested(int(self.left[node])),
            "right": self._nested(int(self.right[node])),
        }

    # -- prediction ------------------------------------------------------------------------------------

    def outputs(self, rows: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the sum of all trees for each row of features."""
        if rows.shape[1] != self.width:
            raise UserError(f"the trees have {self.width} features, not {rows.shape[1]}")
        out = np.zeros(len(rows))
        rows = np.ascontiguousarray(rows, np.float32)
        add_outputs(rows, self.roots, self.feature, self.threshold, self.left, self.right, self.missing,
                    self.value, out)  # fmt: skip
        return out

    def lowest(self) -> float:
        """Return a lower bound of the output."""
        leaves = np.where(self.feature < 0, self.value, np.inf)
        return float(np.minimum.reduceat(leaves, self.roots).sum()) if len(self.roots) else 0.0

    def explain(self, row: NDArray[np.float32]) -> tuple[float, NDArray[np.float64]]:
        """Return the mean output of the trees, and the contribution of each feature of one row.

        Each step from a node to its child adds the difference of their values to the node's feature. So mean
        and contributions add up to the row's output.
        """
        parts = np.zeros(self.width)
        base = 0.0
        for node in self.roots.tolist():
            base += float(self.value[node])
            while self.feature[node] >= 0:
                child = self._next(node, float(row[self.feature[node]]))
                parts[self.feature[node]] += self.value[child] - self.value[node]
                node = child
        return base, parts

    def _next(self, node: int, x: float) -> int:
        missing = int(self.missing[node])
        if np.isnan(x) and missing != ZERO:
            goes_left = missing == LEFT
        else:
            goes_left = (0.0 if np.isnan(x) else x) <= float(self.threshold[node])
        return int((self.left if goes_left else self.right)[node])

    def importance(self) -> NDArray[np.float64]:
        """Return for each feature the sum of |child − node| over its splits and both children."""
        inner = np.flatnonzero(self.feature >= 0)
        moved = sum(np.abs(self.value[side[inner]] - self.value[inner]) for side in (self.left, self.right))
        return np.bincount(self.feature[inner], moved, self.width).astype(np.float64)


def largest_float32_below(number: float) -> float:
    """Return the largest float32 that is not above a number."""
    nearest = np.float32(np.clip(number, np.finfo(np.float32).min, np.finfo(np.float32).max))
    return float(np.nextafter(nearest, np.float32(-np.inf)) if float(nearest) > number else nearest)


def _convert_node(node: dict[str, Any]) -> dict[str, Any]:
    """Convert a node of LightGBM's dump, with its children."""
    if "split_feature" not in node:
        return {"value": node["leaf_value"]}
    if node["decision_type"] != "<=" or node["missing_type"] == "Zero":
        raise UserError("only trees with numeric splits and without zero as missing value are supported")
    default = LEFT if node["default_left"] else RIGHT
    return {
        "feature": node["split_feature"],
        "threshold": node["threshold"],
        "missing": default if node["missing_type"] == "NaN" else ZERO,
        "value": node["internal_value"],
        "left": _convert_node(node["left_child"]),
        "right": _convert_node(node["right_child"]),
    }


def _append_node(node: dict[str, Any], nodes: list[tuple[int, float, int, int, int, float]]) -> int:
    """Append a node and its children; return its position."""
    place = len(nodes)
    nodes.append((LEAF, 0.0, 0, 0, 0, node["value"]))
    if "left" in node:
        left, right = _append_node(node["left"], nodes), _append_node(node["right"], nodes)
        threshold = largest_float32_below(node["threshold"])
        nodes[place] = (node["feature"], threshold, left, right, node["missing"], node["value"])
    return place
