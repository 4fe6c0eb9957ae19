"""Check request bodies with the types of the official clients: PYTHONPATH=tests:src python THIS_FILE FOLDER.

The JavaScript clients of Elasticsearch and OpenSearch have types of all requests, generated from the
specifications of the engines. Install them in FOLDER, which needs Node.js; `make test` does not run this:

    npm install typescript @types/node @elastic/elasticsearch @opensearch-project/opensearch

The programs of exports run against the server of the tests; what they send, and the files for applications,
become TypeScript literals of those types. It passes with @elastic/elasticsearch 9.4.3,
@opensearch-project/opensearch 3.9.0 and typescript 7.0.2.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from exporters.bulk_api_server import Cluster, Index
from exporters.http_server import serve
from exporters.small_exports import export, run

TYPES = {  # by method and path: types of Elasticsearch and of OpenSearch
    r"POST /\w+/_search": ("SearchRequest", "Search_RequestBody"),
    r"POST /[\w-]+/_update_by_query": ("UpdateByQueryRequest", "UpdateByQuery_RequestBody"),
    r"PUT /\w+/_mapping": ("IndicesPutMappingRequest", "Indices_PutMapping_RequestBody"),
    r"PUT /[\w-]+": ("IndicesCreateRequest", "Indices_Create_RequestBody"),
    r"PUT /_scripts/\w+": ("PutScriptRequest", "PutScript_RequestBody"),
    r"POST /_reindex": ("ReindexRequest", "Reindex_RequestBody"),
    r"POST /_aliases": ("IndicesUpdateAliasesRequest", "Indices_UpdateAliases_RequestBody"),
    r"PUT /_search/pipeline/\w+": (None, "SearchPipeline_Put_Request['body']"),
    r"POST /[\w-]+/_bulk": ("BulkRequest['operations']", "Bulk_RequestBody"),
}
ADDED = {  # what the types of Elasticsearch have beside the body
    "UpdateByQueryRequest": {"index": "x"},
    "IndicesPutMappingRequest": {"index": "x"},
    "IndicesCreateRequest": {"index": "x"},
    "PutScriptRequest": {"id": "x"},
}
IMPORTS = (
    "import type { estypes as T } from '@elastic/elasticsearch'",
    "import type { API as T } from '@opensearch-project/opensearch'",
)


def requests(kind, work):
    """Everything that the programs send for an export with its own index and one into an existing index."""
    alias = [export(work / f"{kind}-{i}", kind, {"a": "red", str(i): "blue"}) for i in range(2)]
    options = {"into": "products", "id_field": "sku", "hybrid": "title^3"}
    into = export(work / f"{kind}-into", kind, {"s": "red"}, **options)
    products = Index({"1": {"sku": "s"}}, {"properties": {"sku": {"type": "keyword"}}})
    cluster = Cluster(products=products)
    with serve(cluster) as engine:
        for folder in alias:
            run("bulk_api_alias", "load", engine, folder)
        for command in ("check", "rollback", "prune"):
            run("bulk_api_alias", command, engine, alias[1])
        increment = export(work / f"{kind}-changes", kind, {"a": "red", "z": "blue"}, changes_from=alias[0])
        run("bulk_api_alias", "load", engine, increment)
        for command in ("load", "check", "rollback", "remove"):
            run("bulk_api_into", command, engine, into)
    files = {"hybrid.json": "POST /products/_search"}
    fusion = {"elasticsearch": "rrf.json", "opensearch": "rrf-pipeline.json"}[kind]
    files[fusion] = "PUT /_search/pipeline/rrf" if "pipeline" in fusion else "POST /products/_search"
    sent = [(*request.split(" ", 1), (into / name).read_text()) for name, request in files.items()]
    return [*cluster.requests, *sent]


def typescript(kind, sent):
    """Each body as a literal of its type."""
    engine = ("elasticsearch", "opensearch").index(kind)
    lines, checked = [IMPORTS[engine]], set()
    for method, path, body in sent:
        request = f"{method} {path.partition('?')[0]}"
        names = next((names for form, names in TYPES.items() if re.fullmatch(form, request)), None)
        if not body or names is None:
            assert not body, f"no type for {request}"
            continue
        name = names[engine]
        lines_of_json = "_bulk" in request
        value = [json.loads(x) for x in body.split("\n")[:-1]] if lines_of_json else json.loads(body)
        if engine == 0:
            value = value if isinstance(value, list) else ADDED.get(name, {}) | value
        checked.add(name)
        lines.append(f"export const v{len(lines)}: T.{name} = {json.dumps(value)} // {request}")
    return "\n".join(lines) + "\n", checked


def main(folder):
    """Print the errors of the compiler, or what was checked."""
    with tempfile.TemporaryDirectory() as work:
        for kind in ("elasticsearch", "opensearch"):
            text, checked = typescript(kind, requests(kind, Path(work)))
            (folder / f"{kind}.ts").write_text(text)
            options = ["--noEmit", "--strict", "--skipLibCheck", "--types", "node", "--module", "nodenext"]
            done = subprocess.run(["npx", "tsc", *options, f"{kind}.ts"], cwd=folder)
            if done.returncode:
                sys.exit(f"the client of {kind} has other types")
            print(f"{kind}: {text.count('export const')} requests of {len(checked)} types are right")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
