"""Elasticsearch, in an index that exists; hybrid queries add both scores in a `bool` query.

From its reference ("Retrievers", "Reciprocal rank fusion"): `rrf` is a retriever since 8.16, before that a
preview.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from coclick.exporters.bulk_api_into import BulkApiInto, Query
from coclick.exporters.elasticsearch import FIELD_TYPE, OLD_FIELD_TYPE, Elasticsearch
from coclick.storage.directories import write_json


class ElasticsearchInto(BulkApiInto, Elasticsearch):
    """Exports partial updates, with a second mapping for old versions."""

    field_type = FIELD_TYPE

    def write_schema(self, folder: Path) -> None:
        """Write the second mapping too."""
        super().write_schema(folder)
        write_json(folder / "mapping-rank-features.json", self.added_fields(OLD_FIELD_TYPE))

    def hybrid_query(
        self, multi_match: Query, vector_query: Query, filters: list[Any], boosts: list[Any]
    ) -> Query:
        """Add the scores."""
        vector_query["sparse_vector"]["boost"] = self.boost
        either = {"bool": {"should": [multi_match, vector_query], "minimum_should_match": 1}}
        return {"bool": {"must": [either], "filter": filters, "should": boosts}}

    def hybrid_note(self) -> str:
        """Say where the weights are."""
        return f"""The score is that of `multi_match` plus `boost` times that of the vectors. The boost is
{self.boost:g}. {self.tuning_note()} The weights of the fields are as given. Filters go into
`filter` of `hybrid.json`, your own boosts into the last `should`."""

    def rrf_file(self, multi_match: Query, vector_query: Query) -> tuple[str, dict[str, Any]]:
        """Return a request with a retriever for each part."""
        parts = [{"standard": {"query": query}} for query in (multi_match, vector_query)]
        rrf = {"retrievers": parts, "rank_constant": 60, "rank_window_size": 100, "filter": []}
        body = self.search({})
        del body["query"]
        return "rrf.json", body | {"retriever": {"rrf": rrf}}

    def rrf_commands(self) -> str:
        """Return how the request is sent."""
        return f"""`rrf.json` is such a request, for 8.16 and later; clusters with a basic license
refuse it. Filters go into `filter`.

    curl "$URL/{self.existing.name}/_search" -H 'Content-Type: application/json' -d @rrf.json"""

    def version_note(self) -> str:
        """Say which file is for which version."""
        return """`mapping.json` is for 8.19, 9.1 and later. For 8.15 to 8.18 and 9.0, remove
`index_options` from it. For versions before 8.15, copy `mapping-rank-features.json` over `mapping.json` and
`sample-rank-features.json` over `sample.json`; the updates are the same, but `check` needs `sparse_vector`
queries. An index that was created by 8.0 to 8.10 cannot have a `sparse_vector`: use `rank_features` there."""


EXPORTER = ElasticsearchInto
