"""`BulkApiInto`: Elasticsearch and OpenSearch, in an index that exists.

Three fields are added to the documents: the words, the version of the export, and the words of the version
before, which are stored but not indexed. Documents are changed by scripted updates: a partial `doc` would
merge its words with those of an earlier export (both references, "Update API": objects are merged).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from coclick.arrays.strings import Strings
from coclick.exporters.bulk_api import NOT_RUN, BulkApiExporter
from coclick.exporters.existing_index import MISSING_IDS, ExistingIndex
from coclick.exporters.limits import DocBlock
from coclick.exporters.model_vectors import ModelVectors
from coclick.exporters.packed_rows import JSON, concatenate, escape, format_rows
from coclick.exporters.program_files import write_program
from coclick.exporters.sample_queries import SampleQuery
from coclick.exporters.tuned_hybrid import TunedHybrid
from coclick.storage.directories import write_file, write_json

Query = dict[str, Any]  # of the engine's query language

_SEARCH_MARKS = {  # what a search template fills in, by what stands for it in the JSON
    '{"WORDS": 0}': "{{#toJson}}words{{/toJson}}",
    '["FILTER"]': "{{#toJson}}filter{{/toJson}}",
    '["BOOSTS"]': "{{#toJson}}boosts{{/toJson}}",
}


class BulkApiInto(TunedHybrid, BulkApiExporter):
    """Exports a mapping update, partial updates, and a script that sends them."""

    documents_file = "updates-{:05}.ndjson"
    field_type: ClassVar[dict[str, Any]]
    stores_titles = False
    existing: ExistingIndex

    def __init__(
        self, source: ModelVectors, index: str, max_weights: int | None, existing: ExistingIndex
    ) -> None:
        """Name the fields."""
        super().__init__(source, index, max_weights)
        self.existing = existing
        self.field = f"{index}_words"
        self._version_field, self._previous_field = f"{index}_version", f"{index}_previous"
        self.script_id, self.template_id = f"{index}_update", f"{index}_search"
        self.pipeline_id = f"{index}_hybrid"

    def hybrid_query(
        self, multi_match: Query, vector_query: Query, filters: list[Any], boosts: list[Any]
    ) -> Query:
        """Combine BM25 and vectors in the way of the engine; `boosts` add to scores, `filters` do not."""
        raise NotImplementedError  # abstract

    def hybrid_note(self) -> str:
        """Return how scores are combined, for the README."""
        raise NotImplementedError  # abstract

    def rrf_file(self, multi_match: Query, vector_query: Query) -> tuple[str, dict[str, Any]]:
        """Return the name and content of the file for reciprocal rank fusion."""
        raise NotImplementedError  # abstract

    def rrf_commands(self) -> str:
        """Return how reciprocal rank fusion is asked for, for the README."""
        raise NotImplementedError  # abstract

    def version_note(self) -> str:
        """Return which versions of the engine take the files."""
        raise NotImplementedError  # abstract

    def pipeline(self) -> dict[str, Any] | None:
        """Return the search pipeline of hybrid queries, if they need one."""
        return None

    def doc_rows(self, block: DocBlock) -> Strings:
        """Return an action and an update for each document; titles stay as they are in the index."""
        action = '{"update":{"_id":"', escape(block.packed_ids, JSON), '"}}\n'
        words = format_rows(block.vectors, self.packed_keys)
        script = f'{{"script":{{"id":"{self.script_id}","params":{{"words":{{'
        return concatenate(*action, script, words, "}}}}\n")

    def added_fields(self, field_type: dict[str, Any]) -> dict[str, Any]:
        """Return the mapping update."""
        return {
            "properties": {
                self.field: field_type,
                self._version_field: {"type": "keyword"},
                self._previous_field: {"type": "object", "enabled": False},
            }
        }

    def write_schema(self, folder: Path) -> None:
        """Write the mapping update, the scripts and the settings of `run.py`."""
        write_json(folder / "mapping.json", self.added_fields(self.field_type))
        script = {"lang": "painless", "source": self._update_script()}
        write_json(folder / "script.json", {"script": script})
        for name, query, source in self._queries():
            body = {"query": query, "script": {"lang": "painless", "source": source}}
            write_json(folder / f"{name}.json", body)
        settings = {
            "index": self.existing.name,
            "id_field": self.existing.id_field,
            "name": self.index,
            "script": self.script_id,
            "template": self.template_id,
            "pipeline": self.pipeline_id,
            "version": self.version,
            "base": self.base_version,
        }
        write_program(folder, self.title, "bulk_api_into", ("bulk_api",), settings)
        write_file(folder / MISSING_IDS, "")
        pipeline = self.pipeline()
        if self.existing.text_fields and pipeline:
            write_json(folder / "pipeline.json", pipeline)

    def write_sample(self, folder: Path, sample: SampleQuery) -> None:
        """Write the sample query, and a hybrid one as request and as template."""
        super().write_sample(folder, sample)
        if not self.existing.text_fields:
            return
        words = self.vector_query(self.sample_vector(sample))
        write_json(
            folder / "hybrid.json", self.search(self.hybrid_query(self._text(sample.query), words, [], []))
        )
        name, content = self.rrf_file(self._text(sample.query), self.vector_query(self.sample_vector(sample)))
        write_json(folder / name, content)
        write_json(folder / "template.json", {"script": {"lang": "mustache", "source": self._template()}})

    def _text(self, query: str) -> Query:
        return {"multi_match": {"query": query, "fields": list(self.existing.text_fields)}}

    def _template(self) -> str:
        """Return a hybrid search whose query, words, filter, boosts, size and start are filled in."""
        marked = self.search(
            self.hybrid_query(
                self._text("{{query}}"), self.vector_query({"WORDS": 0}), ["FILTER"], ["BOOSTS"]
            )
        )
        paging = {"size": "{{size}}{{^size}}10{{/size}}", "from": "{{from}}{{^from}}0{{/from}}"}
        template = json.dumps(marked | paging)
        for mark, filled in _SEARCH_MARKS.items():
            template = template.replace(mark, filled)
        return template

    def search(self, query: dict[str, Any]) -> dict[str, Any]:
        """Return the body of a search request; large fields of ours are not returned."""
        body: dict[str, Any] = {"size": 10, "_source": {"excludes": [self.field, self._previous_field]}}
        if self.existing.id_field != "_id":
            body["fields"] = [self.existing.id_field]
        return body | {"query": query}

    def _update_script(self) -> str:
        words, version, previous = self.field, self._version_field, self._previous_field
        return (
            f"if (ctx._source['{version}'] == '{self.version}') {{ ctx.op = 'none' }} else {{ "
            f"ctx._source['{previous}'] = "
            f"['words': ctx._source['{words}'], 'version': ctx._source['{version}']]; "
            f"ctx._source['{version}'] = '{self.version}'; "
            f"if (params.words == null) {{ ctx._source.remove('{words}') }} "
            f"else {{ ctx._source['{words}'] = params.words }} }}"
        )

    def _queries(self) -> Iterator[tuple[str, dict[str, Any], str]]:
        """Yield the name, query and script of each update by query."""
        words, version, previous = self.field, self._version_field, self._previous_field
        loaded = {"exists": {"field": version}}
        this = {"term": {version: self.version}}
        yield (
            "vanished",
            {"bool": {"filter": [loaded], "must_not": [this]}},
            f"def words = ctx._source.remove('{words}'); "
            f"ctx._source['{previous}'] = ['words': words, 'version': ctx._source['{version}']]; "
            f"ctx._source['{version}'] = '{self.version}'",
        )
        yield (
            "rollback",
            this,
            f"def old = ctx._source.remove('{previous}'); if (old == null) {{ ctx.op = 'noop' }} else {{ "
            f"ctx._source.remove('{words}'); ctx._source.remove('{version}'); "
            f"if (old['words'] != null) {{ ctx._source['{words}'] = old['words'] }} "
            f"if (old['version'] != null) {{ ctx._source['{version}'] = old['version'] }} }}",
        )
        removals = "; ".join(f"ctx._source.remove('{name}')" for name in (words, version, previous))
        yield "remove", loaded, removals

    def readme(self) -> str:
        """Return the commands."""
        index = self.existing.name
        hybrid = f"\n\n### Mix with BM25\n\n{self._hybrid_readme()}" if self.existing.text_fields else ""
        return f"""
{NOT_RUN.format(title=self.title)}

1. You need Python 3.10 or later. Run these commands in this folder, with the URL of the cluster:

       URL=http://localhost:9200
       python3 run.py $URL load
       python3 run.py $URL check

   If security is enabled, set the header of your requests first: `export AUTHORIZATION='ApiKey …'`. For a
   certificate of your own, set `SSL_CERT_FILE`. `load` may change the index and store a script.

2. `load` adds the fields `{self.field}`, `{self._version_field}` and `{self._previous_field}` to
   `{index}` and sets them in the documents whose `{self.existing.id_field}` is an id of this export.
   Nothing else changes. Ids that the index does not have are counted, and listed in `{MISSING_IDS}`.
   Documents that only an earlier export has lose their words. If the engine refuses documents, `load` says
   which and why, and exits with status 1. It can be interrupted and run again:
   documents that are done are left alone.

3. `check` asks the queries of `sample-queries.ndjson` and compares the results with those of coclick.

4. Load the next export in the same way. A document that you index anew has lost the fields: run `load` again.

       python3 run.py $URL rollback     # back to the version that was loaded before this one
       python3 run.py $URL remove       # remove all values, and what was stored; the mapping stays

{self.version_note()}{hybrid}
"""

    def _hybrid_readme(self) -> str:
        template = "pipeline and template" if self.pipeline() else "template"
        suffix = f"?search_pipeline={self.pipeline_id}" if self.pipeline() else ""
        fields = ", ".join(self.existing.text_fields)
        return f"""`hybrid.json` adds `multi_match` over `{fields}` to the vectors:

    curl "$URL/{self.existing.name}/_search{suffix}" -H 'Content-Type: application/json' -d @hybrid.json

{self.hybrid_note()}

`load` also stores the {template}, so that an application sends only what changes. `filter` and `boosts`
are lists of queries in the syntax of {self.title}, and may be empty: a filter restricts the results, a boost
adds its score to that of the documents that match. `size` and `from` may be left out. Texts are escaped by
the engine.

    POST /{self.existing.name}/_search/template{suffix}
    {{"id": "{self.template_id}", "params": {{"query": "…", "words": {{"word": 0.5}},
     "filter": [{{"term": {{"in_stock": true}}}}], "boosts": [], "size": 10}}}}

{self.rrf_note()} {self.rrf_commands()}"""
