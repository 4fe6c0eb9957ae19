"""Export `ltr` to the learning to rank of engines: features, trees, and fields of documents.

    ltr-opensearch     the plugin that OpenSearch includes (feature set and `model/xgboost+json`)
    ltr-es-plugin      the same plugin for Elasticsearch
    ltr-elasticsearch  Elasticsearch's own learning to rank (a trained model, since 8.12)
    ltr-solr           Solr's learning to rank (`MultipleAdditiveTreesModel`)

The requests follow the documentation of the engines; none of them was run against a server.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from coclick.errors import UserError
from coclick.exporters.formatting import write_parts
from coclick.exporters.ltr_elasticsearch import trained_model
from coclick.exporters.ltr_engine_model import (
    GRAMS_FIELD,
    QUERIES_FIELD,
    EngineLtr,
    clicked_queries,
    measure_ltr_loss,
)
from coclick.exporters.ltr_json import doc_fields, identifier, ltr_json
from coclick.exporters.output_folder import create_folder, write_manifest
from coclick.exporters.shipping.readme import loss_text
from coclick.ltr.features import OF_QUERIES
from coclick.ltr.model import Ltr
from coclick.models.base import Model
from coclick.progress import Progress, quiet
from coclick.storage.directories import write_file, write_json
from coclick.text.analyzer import word_grams

_TITLES = {
    "ltr-elasticsearch": "Elasticsearch",
    "ltr-es-plugin": "Elasticsearch with the learning-to-rank plugin",
    "ltr-opensearch": "OpenSearch",
    "ltr-solr": "Solr",
}
_WINDOW = 200  # documents that are ranked by the trees
_SAMPLE = "some query"
_PART_SIZE, _PART_DOCS = 8 << 20, 1000  # characters, documents of a request
_MISSING = (
    "Documents that are not in the index are refused; the others are updated.",
    "Solr creates documents that are not in the index: remove them from `updates-*` first, if there are any.",
)


def export_ltr(
    model: Model,
    engine: str,
    path: Path,
    *,
    name: str = "coclick",
    index: str | None = None,
    measure: bool = True,
    force: bool = False,
    progress: Progress = quiet,
) -> dict[str, Any]:
    """Train trees over features of the engine, and write what it needs; return the statistics.

    Parameters: `name` of the model and of the feature store; `index`, the index that has the documents; the
    others as of `export`.
    """
    if not isinstance(model, Ltr):
        raise UserError(
            f"--to {engine} exports trees, and {model.name} has none",
            hint="train one: coclick train ltr GRAPH -o MODEL; other models go to opensearch, pgvector …",
        )
    trained = EngineLtr.train(model, model.trained_on, progress)
    used = trained.used()
    with create_folder(path, force=force) as folder:
        _write_model(folder, trained, engine, name)
        write_json(folder / "search.json", search_request(trained, engine, name))
        _write_documents(folder, trained, engine)
        loss = measure_ltr_loss(model, model.trained_on, progress) if measure else None
        stats: dict[str, Any] = {
            "engine": engine,
            "index": index or "products",
            "name": name,
            "model": str(model),
            "graph": model.graph_digest,
            "trees": len(trained.ltr.trees_.roots),
            "features": [identifier(feature) for feature in used],
            "documents": len(trained.ltr.graph_.docs),
        }
        stats |= {} if loss is None else {"loss": loss}
        write_file(folder / "README.md", _readme(trained, engine, stats))
        write_manifest(folder, stats)
    return stats


def search_request(trained: EngineLtr, engine: str, name: str) -> dict[str, Any]:
    """Return the search that ranks the best documents by the trees."""
    fields = [field for field in trained.fields.values() if field != GRAMS_FIELD]
    grams = " ".join(word_grams(_SAMPLE))
    parameters: dict[str, Any] = {"keywords": _SAMPLE, "grams": grams}
    for feature, value in zip(OF_QUERIES[:2], (len(_SAMPLE.split()), len(_SAMPLE)), strict=True):
        if feature in trained.used():
            parameters[identifier(feature)] = value
    words: dict[str, Any]
    if engine == "ltr-solr":
        given = " ".join(f"efi.{key}='{value}'" for key, value in parameters.items())
        rerank = f"{{!ltr model={name} reRankDocs={_WINDOW} {given}}}"
        words = {"edismax": {"qf": " ".join(fields), "uf": "-*", "query": _SAMPLE}}
        either = {"bool": {"should": [words, {"dismax": {"qf": GRAMS_FIELD, "query": grams}}]}}
        return {"query": either, "params": {"rq": rerank}, "fields": ["id", "score"], "limit": 10}
    words = {"multi_match": {"query": _SAMPLE, "fields": fields}}
    query = {"bool": {"should": [words, {"match": {GRAMS_FIELD: grams}}]}}
    if engine == "ltr-elasticsearch":
        rescore: dict[str, Any] = {"learning_to_rank": {"model_id": name, "params": parameters}}
    else:
        trees = {"sltr": {"params": parameters, "model": name, "store": name}}
        rescore = {"query": {"rescore_query": trees, "query_weight": 0, "rescore_query_weight": 1}}
    return {"query": query, "rescore": {"window_size": _WINDOW} | rescore, "size": 10}


def _write_model(folder: Path, trained: EngineLtr, engine: str, name: str) -> None:
    model = trained.engine_trees()
    if engine == "ltr-solr":
        solr = {
            feature: {"q": f"{{!dismax qf={field}}}${{{_parameter(field)}}}"}
            for feature, field in trained.fields.items()
        }
        written = ltr_json(model, "solr", name, solr)
        write_json(folder / "features.json", written["features"])
        write_json(folder / "model.json", written["model"])
        return
    match = {
        feature: {"match": {field: f"{{{{{_parameter(field)}}}}}"}}
        for feature, field in trained.fields.items()
    }
    if engine == "ltr-elasticsearch":
        write_json(folder / "trained-model.json", trained_model(model, match))
        return
    written = ltr_json(model, "opensearch", name, match)
    write_json(folder / "featureset.json", written["featureset"])
    write_json(folder / "model.json", written["model"])


def _parameter(field: str) -> str:
    """The parameter of the request that a field is searched with."""
    return "grams" if field == GRAMS_FIELD else "keywords"


def _write_documents(folder: Path, trained: EngineLtr, engine: str) -> None:
    """Write the new fields of documents, as partial updates."""
    numbers = [
        identifier(feature) for feature in trained.used() if feature in trained.ltr.features_.doc_names
    ]
    if engine == "ltr-solr":
        added = [{"name": field, "type": "pfloat", "docValues": True, "stored": False} for field in numbers]
        added.append({"name": QUERIES_FIELD, "type": "text_en", "stored": True})
        added.append({"name": GRAMS_FIELD, "type": "text_ws", "stored": True})
        write_json(folder / "schema.json", {"add-field": added})
    else:
        properties = {field: {"type": "float"} for field in numbers}
        text = {QUERIES_FIELD: {"type": "text", "analyzer": "english"}}
        grams = {GRAMS_FIELD: {"type": "text", "analyzer": "whitespace", "index_options": "freqs"}}
        write_json(folder / "mapping.json", {"properties": properties | text | grams})
    changes = _changes(trained, {*numbers})
    if engine == "ltr-solr":
        atomic = ({"id": doc} | {name: {"set": value} for name, value in new.items()} for doc, new in changes)
        for number, part in enumerate(iter(lambda: list(islice(atomic, _PART_DOCS)), [])):
            write_json(folder / f"updates-{number:05}.json", part)
    else:
        lines = (f"{_json({'update': {'_id': doc}})}\n{_json({'doc': new})}\n" for doc, new in changes)
        write_parts(folder, "updates-{:05}.ndjson", lines, _PART_SIZE)


def _changes(trained: EngineLtr, kept: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the id of each document, and its new fields."""
    for row, values in enumerate(doc_fields(trained.ltr)):
        doc = values.pop("doc")
        fields = {name: value for name, value in values.items() if name in kept}
        queries = clicked_queries(trained.ltr.graph_, row)
        grams = " ".join(gram for query in queries for gram in word_grams(query))
        yield doc, fields | {QUERIES_FIELD: " ".join(queries), GRAMS_FIELD: grams}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _readme(trained: EngineLtr, engine: str, stats: dict[str, Any]) -> str:
    title, index, name = _TITLES[engine], stats["index"], stats["name"]
    filled = (QUERIES_FIELD, GRAMS_FIELD)
    fields = ", ".join(f"`{field}`" for field in trained.fields.values() if field not in filled)
    if engine == "ltr-solr":
        commands = f"""    URL=http://localhost:8983/solr/{index} JSON='Content-Type: application/json'
    curl -X POST $URL/schema -H "$JSON" -d @schema.json
    for part in updates-*.json; do
        curl -X POST "$URL/update?commit=true" -H "$JSON" --data-binary @$part; done
    curl -X PUT $URL/schema/feature-store -H "$JSON" -d @features.json
    curl -X PUT $URL/schema/model-store -H "$JSON" -d @model.json
    curl -X POST $URL/query -H "$JSON" -d @search.json"""
    else:
        if engine == "ltr-elasticsearch":
            upload = f'    curl -X PUT $URL/_ml/trained_models/{name} -H "$JSON" -d @trained-model.json'
        else:
            upload = f"""    curl -X PUT $URL/_ltr/{name}
    curl -X POST $URL/_ltr/{name}/_featureset/{name} -H "$JSON" -d @featureset.json
    curl -X POST $URL/_ltr/{name}/_featureset/{name}/_createmodel -H "$JSON" -d @model.json"""
        commands = f"""    URL=http://localhost:9200 JSON='Content-Type: application/json'
    curl -X PUT $URL/{index}/_mapping -H "$JSON" -d @mapping.json
    for part in updates-*.ndjson; do
        curl -X POST "$URL/{index}/_bulk?filter_path=errors" -H "$JSON" --data-binary @$part; done
    curl -X POST $URL/{index}/_refresh
{upload}
    curl -X POST $URL/{index}/_search -H "$JSON" -d @search.json"""
    return f"""# {title}: learning to rank

Written by coclick from the model `{stats["model"]}`. The {stats["trees"]:,} trees were trained anew, on
features that the engine computes itself: {len(stats["features"])} of them are used.

## Load and search

The requests follow the documentation of {title}. They were **not run against a server**: try them on a
copy of the index first. It needs the text fields {fields}, analysed as English text (or in the language of
your log).

{commands}

`updates-*` adds numbers and two fields to documents: `{QUERIES_FIELD}`, the queries that each was clicked
for, and `{GRAMS_FIELD}`, the n-grams of their characters. {_MISSING[engine == "ltr-solr"]}
To go back, search without `{"rq" if engine == "ltr-solr" else "rescore"}`.

With each request send `keywords`, the query; the other parameters of `search.json`, its words and characters;
and `grams`, its n-grams, which also find documents for misspelt queries. They are what this function returns,
joined with spaces, for the query in lower case:

    def grams(query):
        words = re.findall(r"[^\\W_]+", query.replace("'", ""))
        return [word[i : i + n] for word in (f"_{{word}}_" for word in words)
                for n in (3, 4) for i in range(len(word) - n + 1)]

## What is lost

{loss_text(stats.get("loss"))}

Not measured: the engine's analyzer splits and stems words in its own way, and stores the length of a text
in one byte, so its BM25 differs a little from ours; clicked queries are repeated a whole number of times.
"""
