"""Elasticsearch, in an index that exists; hybrid queries add both scores in a `bool` query."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from coclick.exporters.bulk_api_into import BulkApiInto, Query
from coclick.exporters.elasticsearch import FIELD_TYPE, OLD_FIELD_TYPE, Elasticsearch
from coclick.exporters.hybrid_weights import HybridWeight, Way
from coclick.storage.directories import write_json


class ElasticsearchInto(BulkApiInto, Elasticsearch):
    """Exports partial updates, with a second mapping for old versions."""

    field_type = FIELD_TYPE
    mixes: ClassVar[Way] = "added"

    def write_schema(self, folder: Path) -> None:
        """Write the second mapping too."""
        super().write_schema(folder)
        write_json(folder / "mapping-rank-features.json", self.added_fields(OLD_FIELD_TYPE))

    def hybrid_query(
        self, multi_match: Query, vector_query: Query, filters: list[Any], boosts: list[Any]
    ) -> Query:
        """Add the scores."""
        vector_query["sparse_vector"]["boost"] = self._boost
        either = {"bool": {"should": [multi_match, vector_query], "minimum_should_match": 1}}
        return {"bool": {"must": [either], "filter": filters, "should": boosts}}

    @property
    def _boost(self) -> float:
        """The factor of the vectors' score."""
        return self.tuned.weight if isinstance(self.tuned, HybridWeight) else 1.0

    def hybrid_note(self) -> str:
        """Say where the weights are."""
        return f"""The score is that of `multi_match` plus `boost` times that of the vectors. The boost is
{self._boost:g}. {self.tuning_note()} The weights of the fields are as given. Filters go into
`filter` of `hybrid.json`, your own boosts into the last `should`."""

    def version_note(self) -> str:
        """Say which file is for which version."""
        return """`mapping.json` is for 8.19, 9.1 and later. For 8.15 to 8.18 and 9.0, remove
`index_options` from it. For versions before 8.15, copy `mapping-rank-features.json` over `mapping.json` and
`sample-rank-features.json` over `sample.json`; the updates are the same, but `check` needs `sparse_vector`
queries. An index that was created by 8.0 to 8.10 cannot have a `sparse_vector`: use `rank_features` there."""


EXPORTER = ElasticsearchInto
