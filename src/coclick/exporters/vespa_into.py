"""Vespa, in a document type that exists: schema additions, partial updates and rank profiles.

From the documentation of Vespa 8 ("Schema reference", "Partial updates", "/document/v1 API reference"): rank
profiles may be files of their own in a folder named after the schema; fields go into the schema itself. A
global phase can fuse ranks ("Phased ranking", "Cross-hit normalization").
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coclick.arrays.strings import Strings
from coclick.exporters.existing_index import MISSING_IDS, ExistingIndex
from coclick.exporters.hybrid_weights import VESPA
from coclick.exporters.limits import DocBlock
from coclick.exporters.model_vectors import ModelVectors
from coclick.exporters.packed_rows import JSON, concatenate, escape, format_rows
from coclick.exporters.program_files import write_program
from coclick.exporters.sample_queries import SampleQuery
from coclick.exporters.tuned_hybrid import TunedHybrid
from coclick.exporters.vespa import NOT_RUN, WORDS_FIELD, Vespa
from coclick.storage.directories import write_file, write_json

_HYBRID_HITS = 100  # documents that the words add to those of the text

_FIELDS = """        field {name}_version type string {{
            indexing: attribute
            attribute: fast-search
            rank: filter
        }}
        field {name}_previous_words type weightedset<string> {{}}
        field {name}_previous_version type string {{}}
"""

_PROFILE = """rank-profile {profile} {{
{inputs}    first-phase {{
        expression: {expression}
    }}
}}
"""

_INPUTS = """    inputs {{
        query(text_weight) double: 1.0
        query(words_weight) double: {boost}
    }}
"""

_FUSION = """rank-profile {name}_rrf inherits {name}_hybrid {{
    function text_score() {{
        expression: {text}
    }}
    function words_score() {{
        expression: {words}
    }}
    match-features {{
        text_score
        words_score
    }}
    global-phase {{
        expression: reciprocal_rank_fusion(text_score, words_score)
        rerank-count: 200
    }}
}}
"""


_INCREMENT = """ Documents whose words did not change only get the
   new version."""


class VespaInto(TunedHybrid, Vespa):
    """Exports words for the documents of a type, and a program that sends them."""

    documents_file = "updates.jsonl"
    stores_titles = False
    text_scores = VESPA
    existing: ExistingIndex

    def __init__(
        self, source: ModelVectors, index: str, max_weights: int | None, existing: ExistingIndex
    ) -> None:
        """Name the fields."""
        super().__init__(source, index, max_weights)
        self.existing = existing
        namespace, _, self.type = existing.name.rpartition(".")
        self.namespace = namespace or self.type
        self.field = f"{index}_words"

    def doc_rows(self, block: DocBlock) -> Strings:
        """Return the id and the words of each document."""
        words = format_rows(block.vectors, self.packed_keys)
        return concatenate('{"id":"', escape(block.packed_ids, JSON), '","words":{', words, "}}\n")

    def write_schema(self, folder: Path) -> None:
        """Write the fields and rank profiles to add, and the program."""
        write_file(
            folder / "fields.sd", WORDS_FIELD.format(name=self.field) + _FIELDS.format(name=self.index)
        )
        profiles = folder / "schemas" / self.type
        profiles.mkdir(parents=True)
        words = f"rawScore({self.field}) / {self.score_divisor:.1f}"
        self._write_profile(profiles, f"{self.index}_words", words)
        if self.existing.text_fields:
            text = " + ".join(_weighted(field) for field in self.existing.text_fields)
            both = f"query(text_weight) * ({text}) + query(words_weight) * {words}"
            self._write_profile(profiles, f"{self.index}_hybrid", both, _INPUTS.format(boost=self.boost))
            fusion = _FUSION.format(name=self.index, text=text, words=words)
            write_file(profiles / f"{self.index}_rrf.profile", fusion)
        settings = {
            "namespace": self.namespace,
            "type": self.type,
            "id_field": self.existing.id_field,
            "words_field": self.field,
            "version_field": f"{self.index}_version",
            "previous_words_field": f"{self.index}_previous_words",
            "previous_version_field": f"{self.index}_previous_version",
            "version": self.version,
            "base": self.base_version,
        }
        write_program(folder, self.title, "vespa_into", ("vespa",), settings)
        write_file(folder / MISSING_IDS, "")

    def _write_profile(self, folder: Path, name: str, expression: str, inputs: str = "") -> None:
        text = _PROFILE.format(profile=name, inputs=inputs, expression=expression)
        write_file(folder / f"{name}.profile", text)

    def sample_request(self, sample: SampleQuery) -> dict[str, Any]:
        """Return the body of a search request."""
        wand = self.wand(self.sample_vector(sample))
        yql = f"select {self.existing.id_field} from sources * where {wand}"
        return {"yql": yql, "model.restrict": self.type, "hits": 10, "ranking": f"{self.index}_words"}

    def write_sample(self, folder: Path, sample: SampleQuery) -> None:
        """Write the sample query, and a hybrid one."""
        super().write_sample(folder, sample)
        if not self.existing.text_fields:
            return
        names = [field.partition("^")[0] for field in self.existing.text_fields]
        text = [f'({{defaultIndex: "{name}", grammar: "weakAnd"}}userInput(@text))' for name in names]
        either = " or ".join([*text, self.wand(self.sample_vector(sample), _HYBRID_HITS)])
        yql = f"select * from sources * where ({either})"
        weights = {"input.query(text_weight)": 1.0, "input.query(words_weight)": self.boost}
        request = {"yql": yql, "model.restrict": self.type, "text": sample.query, "hits": 10, **weights}
        for profile in ("hybrid", "rrf"):
            write_json(folder / f"{profile}.json", request | {"ranking": f"{self.index}_{profile}"})

    def readme(self) -> str:
        """Return the commands."""
        ids = self.existing.id_field
        where = "the last part of the document id" if ids == "documentid" else f"`{ids}`"
        hybrid = f"\n\n### Mix with bm25\n\n{self._hybrid_readme()}" if self.existing.text_fields else ""
        return f"""
{NOT_RUN}

1. Only for the first export of this `--name`: add the fields of `fields.sd` to the `document` block of
   `{self.type}.sd` in your application package, copy the folder `schemas/{self.type}` into its folder
   `schemas`, and deploy. Vespa needs no new feed for added fields.

       cp -r schemas MY_APPLICATION/ && vespa deploy --wait 300 MY_APPLICATION

2. You need Python 3.10 or later. Run these commands in this folder, with the URL of a container:

       URL=http://localhost:8080
       python3 run.py $URL load
       python3 run.py $URL check

   For a token, set the header of your requests first: `export AUTHORIZATION='Bearer …'`. The namespace of the
   documents is `{self.namespace}`; if it is another one, export with `--into NAMESPACE.{self.type}`.

3. `load` visits all documents of `{self.type}` and sends partial updates to those for which {where} is an
   id of this export. Nothing else changes. Ids that Vespa does not have are counted, and listed in
   `{MISSING_IDS}`; no document is created. Documents that only an earlier export has lose their words. If
   Vespa refuses documents, `load` says which and why, and exits with status 1. It can be interrupted and run
   again: documents that are done are left alone.{_INCREMENT if self.base_version else ""}

4. `check` asks the queries of `sample-queries.ndjson` and compares the results with those of coclick.

5. Load the next export in the same way. A document that you put anew has lost the fields: run `load` again.

       python3 run.py $URL rollback     # back to the version that was loaded before this one
       python3 run.py $URL remove       # remove the values of all fields; the schema stays{hybrid}
"""

    def _hybrid_readme(self) -> str:
        fields = ", ".join(self.existing.text_fields)
        return f"""`hybrid.json` finds documents by `{fields}` or by the learned words, and the rank profile
`{self.index}_hybrid` adds both scores:

    curl $URL/search/ -H 'Content-Type: application/json' -d @hybrid.json

The fields need `index: enable-bm25` in the schema. The weights of the two sides are inputs of the query: that
of the text is 1, that of the words {self.boost:g}. {self.tuning_note()} The weights of the
fields are as given. Filters are conditions after `and` in the YQL, boosts are terms of the rank profile.

{self.rrf_note()} `rrf.json` asks for it, by the rank profile `{self.index}_rrf`. It fuses
the 200 best documents of `{self.index}_hybrid`; a document that one side does not find is last there:

    curl $URL/search/ -H 'Content-Type: application/json' -d @rrf.json"""


def _weighted(field: str) -> str:
    """Return `title^3` as an expression."""
    name, _, weight = field.partition("^")
    return f"{weight} * bm25({name})" if weight else f"bm25({name})"


EXPORTER = VespaInto
