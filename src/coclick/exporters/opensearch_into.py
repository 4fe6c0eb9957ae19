"""OpenSearch, in an index that exists; hybrid queries normalise both scores in a search pipeline.

From the documentation of OpenSearch 3.2 ("Hybrid search", "Normalization processor", since version 2.10;
"Score ranker processor", since 2.19).
"""

from __future__ import annotations

from typing import Any, ClassVar

from coclick.exporters.bulk_api_into import BulkApiInto, Query
from coclick.exporters.hybrid_weights import HybridWeight, Way
from coclick.exporters.opensearch import FIELD_TYPE, OpenSearch


class OpenSearchInto(BulkApiInto, OpenSearch):
    """Exports partial updates, and a pipeline for hybrid queries."""

    field_type = FIELD_TYPE
    mixes: ClassVar[Way] = "normalised"

    def hybrid_query(
        self, multi_match: Query, vector_query: Query, filters: list[Any], boosts: list[Any]
    ) -> Query:
        """Combine both; a hybrid query is the outermost one, so filters go into each part."""
        text = {"bool": {"must": [multi_match], "filter": filters, "should": boosts}}
        words = {"bool": {"must": [vector_query], "filter": filters}}
        return {"hybrid": {"queries": [text, words]}}

    def pipeline(self) -> dict[str, Any]:
        """Scale both scores to 0…1 and take their mean."""
        combination = {"technique": "arithmetic_mean", "parameters": {"weights": self._weights}}
        processor = {"normalization": {"technique": "min_max"}, "combination": combination}
        return {"phase_results_processors": [{"normalization-processor": processor}]}

    @property
    def _weights(self) -> list[float]:
        """The weights of text and vectors."""
        share = self.tuned.weight if isinstance(self.tuned, HybridWeight) else 0.5
        return [round(1 - share, 2), round(share, 2)]

    def hybrid_note(self) -> str:
        """Say where the weights are."""
        return f"""`pipeline.json` scales both scores to 0…1 and takes their mean with the weights
{self._weights[0]} and {self._weights[1]}; `load` stores it as the search pipeline `{self.pipeline_id}`.
{self.tuning_note()} The weights of the fields are as given. Filters go into both lists `filter` of
`hybrid.json`, your own boosts into `should` of the first part."""

    def rrf_file(self, multi_match: Query, vector_query: Query) -> tuple[str, dict[str, Any]]:
        """Return a second pipeline, for the same request."""
        ranker = {"combination": {"technique": "rrf", "rank_constant": 60}}
        return "rrf-pipeline.json", {"phase_results_processors": [{"score-ranker-processor": ranker}]}

    def rrf_commands(self) -> str:
        """Return how the second pipeline is stored and used."""
        name = f"{self.index}_rrf"
        return f"""It is a second pipeline for the same request, since 2.19, which you store yourself:

    curl -X PUT $URL/_search/pipeline/{name} -H 'Content-Type: application/json' -d @rrf-pipeline.json
    curl "$URL/{self.existing.name}/_search?search_pipeline={name}" \\
        -H 'Content-Type: application/json' -d @hybrid.json"""

    def version_note(self) -> str:
        """Name the versions that have what the queries use."""
        return "`neural_sparse` accepts `query_tokens` since 2.14; `hybrid` queries exist since 2.10."


EXPORTER = OpenSearchInto
