"""Solr, in a collection that exists: atomic updates, and a hybrid query with edismax.

From the reference guide of Solr 9 ("Partial document updates", "Schema API", "JSON query DSL", "Extended
DisMax query parser") and of Solr 9.11 and 10.1 ("JSON combined query DSL"). The words are stored, so that
atomic updates of your own keep them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coclick.arrays.strings import Strings
from coclick.exporters.existing_index import MISSING_IDS, ExistingIndex
from coclick.exporters.limits import DocBlock
from coclick.exporters.model_vectors import ModelVectors
from coclick.exporters.packed_rows import JSON, concatenate, escape, format_rows
from coclick.exporters.program_files import write_program
from coclick.exporters.sample_queries import SampleQuery
from coclick.exporters.solr import NOT_RUN, Solr, words_type
from coclick.exporters.tuned_hybrid import TunedHybrid
from coclick.storage.directories import write_file, write_json


class SolrInto(TunedHybrid, Solr):
    """Exports words for the documents of a collection, and a program that sends them."""

    documents_file = "updates-{:05}.ndjson"
    stores_titles = False
    existing: ExistingIndex

    def __init__(
        self, source: ModelVectors, index: str, max_weights: int | None, existing: ExistingIndex
    ) -> None:
        """Name the fields."""
        super().__init__(source, index, max_weights)
        self.existing = existing
        self.field, self._version_field = f"{index}_words", f"{index}_version"
        self._previous = f"{index}_previous_words", f"{index}_previous_version"

    def doc_rows(self, block: DocBlock) -> Strings:
        """Return the id and the words of each document."""
        words = escape(format_rows(block.vectors, self.prefixes, separator=" "), JSON)
        return concatenate('{"id":"', escape(block.packed_ids, JSON), '","words":"', words, '"}\n')

    def write_schema(self, folder: Path) -> None:
        """Write the schema additions and the program."""
        string, words = f"{self.index}_string", f"{self.index}_words"
        types = [words_type(words), {"name": string, "class": "solr.StrField"}]
        single = {"stored": True, "multiValued": False, "docValues": False}
        fields = [
            {"name": self.field, "type": words, "indexed": True, "stored": True, "multiValued": False},
            {"name": self._version_field, "type": string, "indexed": True, **single},
            {"name": self._previous[0], "type": string, "indexed": False, **single},
            {"name": self._previous[1], "type": string, "indexed": True, **single},
        ]
        write_json(folder / "schema.json", {"add-field-type": types, "add-field": fields})
        settings = {
            "index": self.existing.name,
            "id_field": self.existing.id_field,
            "words_field": self.field,
            "version_field": self._version_field,
            "previous_words_field": self._previous[0],
            "previous_version_field": self._previous[1],
            "versions": f"{self.index}_versions",
            "version": self.version,
            "base": self.base_version,
        }
        write_program(folder, self.title, "solr_into", ("solr",), settings)
        write_file(folder / MISSING_IDS, "")

    def search(self, query: dict[str, Any]) -> dict[str, Any]:
        """Return the body of a search request."""
        return {"query": query, "fields": [self.existing.id_field, "score"], "limit": 10}

    def write_sample(self, folder: Path, sample: SampleQuery) -> None:
        """Write the sample query, and a hybrid one."""
        super().write_sample(folder, sample)
        if not self.existing.text_fields:
            return
        fields = " ".join(self.existing.text_fields)
        text = {"edismax": {"qf": fields, "uf": "-*", "query": sample.query}}
        vector = self.vector_query(self.sample_vector(sample))
        words = {"boost": {"b": self.boost, "query": vector}}
        request = self.search({"bool": {"should": [text, words]}}) | {"filter": []}
        write_json(folder / "hybrid.json", request)
        combined = {"combiner": True, "combiner.query": ["text", "words"]}
        combined |= {"combiner.algorithm": "rrf", "combiner.rrf.k": 60}
        del request["query"]
        queries = {"queries": {"text": text, "words": vector}, "params": combined}
        write_json(folder / "rrf.json", queries | request)

    def readme(self) -> str:
        """Return the commands."""
        name = self.existing.name
        hybrid = f"\n\n### Mix with edismax\n\n{self._hybrid_readme()}" if self.existing.text_fields else ""
        return f"""
{NOT_RUN}

1. You need Python 3.10 or later. Run these commands in this folder, with the URL of Solr:

       URL=http://localhost:8983/solr
       python3 run.py $URL load
       python3 run.py $URL check

   If security is enabled, set the header of your requests first: `export AUTHORIZATION='Basic …'`. For a
   certificate of your own, set `SSL_CERT_FILE`. `{name}` may be a collection, an alias of one, or a core.

2. `load` adds the fields `{self.field}`, `{self._version_field}`, `{self._previous[0]}` and
   `{self._previous[1]}` to `{name}` and sets them in the documents whose `{self.existing.id_field}`
   is an id of this export. It uses atomic updates, which write a document anew from its stored fields and
   docValues: if there are other fields, which would be lost, it stops before anything is changed. Ids that
   `{name}` does not have are counted, and listed in `{MISSING_IDS}`; no document is created.
   Documents that only an earlier export has lose their words. If Solr refuses documents, `load` says which
   and why, and exits with status 1. It can be interrupted and run again: documents that are done are left
   alone.

3. `check` asks the queries of `sample-queries.ndjson` and compares the results with those of coclick.

4. Load the next export in the same way. A document that you index anew has lost the fields: run `load` again.

       python3 run.py $URL rollback     # back to the version that was loaded before this one
       python3 run.py $URL remove       # remove the values of all fields; the schema stays{hybrid}
"""

    def _hybrid_readme(self) -> str:
        fields = " ".join(self.existing.text_fields)
        return f"""`hybrid.json` adds edismax over `{fields}` to the learned words:

    curl $URL/{self.existing.name}/query -H 'Content-Type: application/json' -d @hybrid.json

The score is that of edismax plus `b` times that of the words. `b` is {self.boost:g}. {self.tuning_note()}
The weights of the fields are as given. Filters go into `filter`, in Solr's syntax;
boosts of your own into edismax (`"bq": "in_stock:true^2"`, `"boost": "log(popularity)"`). `"uf": "-*"`
keeps people from naming fields in what they type.

{self.rrf_note()} `rrf.json` is such a request, for Solr 9.11, 10.1 and later. It needs a
handler in `solrconfig.xml`:

    <searchComponent class="solr.CombinedQueryComponent" name="combined_query" />
    <requestHandler name="/combined" class="solr.CombinedQuerySearchHandler" />

    curl $URL/{self.existing.name}/combined -H 'Content-Type: application/json' -d @rrf.json"""


EXPORTER = SolrInto
