"""The trees of `ltr` in the formats of the LTR plugins of Elasticsearch and OpenSearch, and of Solr.

Each feature that the trees use becomes a query of the engine. Features of documents are fields to index
(`doc_fields`); features of queries are parameters of the search request; scores of other models need a query
template, because only the user knows how those models are indexed. Other features raise an error.

The engines compare float32 numbers, each with its own rule; a feature without a match is 0:

    model/xgboost+json            left where x < split_condition: the next float32 above our threshold
    MultipleAdditiveTreesModel    left where x ≤ threshold + 10⁻⁶: our threshold minus Solr's tolerance

Solr's addition rounds, so thresholds below 10⁻⁶ are exact only to about 10⁻¹³. One more tree with a single
leaf makes all scores positive, as engines require, and equal to those of `coclick search`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import numpy as np

from coclick.errors import UserError
from coclick.ltr.features import OF_QUERIES
from coclick.ltr.model import Ltr
from coclick.ltr.trees import LEFT, ZERO

LtrEngine = Literal["elasticsearch", "opensearch", "solr"]
Templates = Mapping[str, Mapping[str, Any]]
_TOLERANCE = np.float32(1e-6)  # Solr adds it to every threshold
_REASONS = {
    "relative": "it needs the maximum of the model's scores over all documents",
    "rank": "it needs the model's whole ranking",
    "score": "the model's scores are not in the index: give a query template",
}


def ltr_json(model: Ltr, engine: LtrEngine, name: str, templates: Templates | None = None) -> dict[str, Any]:
    """Return the feature set and the model to upload.

    `name` is the name of the feature store and of the model. `templates` maps names of features to the
    engine's queries that compute them.
    """
    if model.start_weight_:
        raise UserError(
            "the scores of ltr(task=reranking) start from BM25, which these formats do not have",
            hint="train ltr with task=retrieval",
        )
    names, used = model.features_.names, used_features(model, templates or {})
    write = _solr_feature if engine == "solr" else _elastic_feature
    features = [write(names[i], name, (templates or {}).get(names[i])) for i in used]
    trees, lift = model.trees_.to_nested(), 1 - model.trees_.lowest()
    if engine == "solr":
        roots = [*(_solr_node(tree, names) for tree in trees), {"value": repr(lift)}]
        return {
            "features": features,
            "model": {
                "class": "org.apache.solr.ltr.model.MultipleAdditiveTreesModel",
                "name": name,
                "store": name,
                "features": [{"name": identifier(names[i])} for i in used],
                "params": {"trees": [{"weight": "1", "root": root} for root in roots]},
            },
        }
    nodes = [*(_xgboost_nodes(tree, names) for tree in trees), {"nodeid": 0, "depth": 0, "leaf": lift}]
    definition = {"type": "model/xgboost+json", "definition": json.dumps(nodes)}
    return {
        "featureset": {"featureset": {"name": name, "features": features}},
        "model": {"model": {"name": name, "model": definition}},
    }


def used_features(model: Ltr, templates: Templates) -> list[int]:
    """Return the features that the trees use; raise if an engine cannot compute one of them."""
    used = sorted({int(feature) for feature in model.trees_.feature if feature >= 0})
    _check(model, used, templates)
    return used


def doc_fields(model: Ltr) -> Iterator[dict[str, Any]]:
    """Yield the fields to index for each document, which the features of documents read."""
    fields = [identifier(name) for name in model.features_.doc_names]
    for doc, values in zip(model.graph_.docs, model.features_.doc_values.tolist(), strict=True):
        known = {field: value for field, value in zip(fields, values, strict=True) if not math.isnan(value)}
        yield {"doc": doc, **known}


def identifier(feature: str) -> str:
    """Return a feature's name as engines accept it: `doc clicks` becomes `coclick_doc_clicks`."""
    return "coclick_" + re.sub(r"[^a-z0-9]+", "_", feature.lower()).strip("_")


def _check(model: Ltr, used: list[int], templates: Templates) -> None:
    """Raise if the trees use features that no engine can compute, and list them all."""
    names, trees = model.features_.names, model.trees_
    known = {*OF_QUERIES, *model.features_.doc_names, *templates}
    errors = {
        names[i]: _REASONS.get(names[i].rpartition(" ")[2], "only the model itself can compute this evidence")
        for i in used
        if names[i] not in known
    }
    known_docs = (~np.any(np.isnan(model.features_.doc_values), axis=0)).tolist()
    never_missing = {name for name, known in zip(model.features_.doc_names, known_docs, strict=True) if known}
    for node in np.flatnonzero((trees.feature >= 0) & (trees.missing != ZERO)).tolist():
        if names[trees.feature[node]] in never_missing:  # only in training examples
            continue
        if (trees.missing[node] == LEFT) != (trees.threshold[node] >= 0):
            name = names[trees.feature[node]]
            errors.setdefault(
                name, "the trees treat a missing value differently from zero, which engines cannot do"
            )
    if errors:
        lines = "".join(f"\n    {name}: {why}" for name, why in errors.items())
        raise UserError(f"{len(errors)} features cannot be computed by a search engine:{lines}",
                        hint="give query templates for them, or train ltr with other parts")  # fmt: skip


def feature_query(name: str, template: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the query of Elasticsearch and OpenSearch whose score is a feature."""
    field = identifier(name)
    if template is not None:
        return dict(template)
    if name in OF_QUERIES:
        return {"constant_score": {"filter": {"match_all": {}}, "boost": f"{{{{{field}}}}}"}}
    value = {"field": field, "factor": 1, "modifier": "none", "missing": 0}
    return {"function_score": {"query": {"match_all": {}}, "field_value_factor": value,
                               "boost_mode": "replace"}}  # fmt: skip


def _elastic_feature(name: str, store: str, template: Mapping[str, Any] | None) -> dict[str, Any]:
    query = feature_query(name, template)
    parameters = sorted({*re.findall(r"\{\{\s*(\w+)\s*\}\}", json.dumps(query))})
    return {
        "name": identifier(name),
        "params": parameters,
        "template_language": "mustache",
        "template": query,
    }


def _solr_feature(name: str, store: str, template: Mapping[str, Any] | None) -> dict[str, Any]:
    field = identifier(name)
    if template is not None:
        kind, parameters = "SolrFeature", dict(template)
    elif name in OF_QUERIES:
        kind, parameters = "ValueFeature", {"value": f"${{{field}}}", "required": True}
    else:
        kind, parameters = "FieldValueFeature", {"field": field}
    return {"store": store, "name": field, "class": f"org.apache.solr.ltr.feature.{kind}",
            "params": parameters}  # fmt: skip


def _xgboost_nodes(tree: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    """A tree in XGBoost's dump format; nodes are numbered in depth-first order."""
    numbers = iter(range(1 << 31))

    def write(node: Mapping[str, Any], depth: int) -> dict[str, Any]:
        number = next(numbers)
        if "left" not in node:
            return {"nodeid": number, "depth": depth, "leaf": node["value"]}
        yes, no = write(node["left"], depth + 1), write(node["right"], depth + 1)
        threshold = np.float32(node["threshold"])
        return {
            "nodeid": number,
            "depth": depth,
            "split": identifier(names[node["feature"]]),
            "split_condition": float(np.nextafter(threshold, np.float32(np.inf))),
            "yes": yes["nodeid"],
            "no": no["nodeid"],
            "missing": (yes if threshold >= 0 else no)["nodeid"],  # as zero
            "children": [yes, no],
        }

    return write(tree, 0)


def _solr_node(node: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    if "left" not in node:
        return {"value": repr(node["value"])}
    return {
        "feature": identifier(names[node["feature"]]),
        "threshold": str(_without_tolerance(np.float32(node["threshold"]))),
        "left": _solr_node(node["left"], names),
        "right": _solr_node(node["right"], names),
    }


def _without_tolerance(threshold: np.float32) -> np.float32:
    """The number that becomes the threshold, or the nearest below it, when Solr adds its tolerance."""
    less = np.float32(threshold - _TOLERANCE)
    while np.float32(less + _TOLERANCE) > threshold:
        less = np.nextafter(less, np.float32(-np.inf))
    more = np.nextafter(less, np.float32(np.inf))
    return more if np.float32(more + _TOLERANCE) == threshold else less
