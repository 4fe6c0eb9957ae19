"""The trees of `ltr` as a trained model of Elasticsearch (its own learning to rank, 8.12 and later).

The body of `PUT _ml/trained_models/ID`, as eland writes it: an ensemble of trees whose outputs are added, and
a query for each feature. A feature without a match has the default score 0. The engine compares doubles with
`lte`, so thresholds are those of ours: float32 numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coclick.exporters.ltr_json import Templates, feature_query, identifier, used_features
from coclick.ltr.model import Ltr


def trained_model(model: Ltr, templates: Templates) -> dict[str, Any]:
    """Return the body of the request that creates the model."""
    names = model.features_.names
    used = used_features(model, templates)
    columns = {feature: column for column, feature in enumerate(used)}
    labels = [identifier(names[i]) for i in used]
    lift = 1 - model.trees_.lowest()
    trees = [_tree(tree, columns, labels) for tree in model.trees_.to_nested()]
    trees.append({"tree": _head(labels) | {"tree_structure": [{"node_index": 0, "leaf_value": lift}]}})
    ensemble = _head(labels) | {
        "trained_models": trees,
        "aggregate_output": {"weighted_sum": {"weights": [1.0] * len(trees)}},
    }
    extractors = [
        {
            "query_extractor": {
                "feature_name": identifier(names[i]),
                "query": feature_query(names[i], templates.get(names[i])),
                "default_score": 0,
            }
        }
        for i in used
    ]
    return {
        "description": f"coclick: {model.name}",
        "input": {"field_names": labels},
        "inference_config": {"learning_to_rank": {"feature_extractors": extractors}},
        "definition": {"trained_model": {"ensemble": ensemble}},
    }


def _head(labels: list[str]) -> dict[str, Any]:
    return {"target_type": "regression", "feature_names": labels}


def _tree(tree: Mapping[str, Any], columns: Mapping[int, int], labels: list[str]) -> dict[str, Any]:
    """Nodes in depth-first order, numbered from 0."""
    nodes: list[dict[str, Any]] = []

    def write(node: Mapping[str, Any]) -> int:
        place = len(nodes)
        nodes.append({"node_index": place})
        if "left" not in node:
            nodes[place]["leaf_value"] = node["value"]
        else:
            nodes[place] |= {
                "decision_type": "lte",
                "split_feature": columns[node["feature"]],
                "threshold": node["threshold"],
                "default_left": node["threshold"] >= 0,  # as zero
                "left_child": write(node["left"]),
                "right_child": write(node["right"]),
            }
        return place

    write(tree)
    return {"tree": _head(labels) | {"tree_structure": nodes}}
