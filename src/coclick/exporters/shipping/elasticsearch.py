"""Elasticsearch: see `bulk_api`."""

from __future__ import annotations

from pathlib import Path

from coclick.exporters.bulk_api import BulkApiExporter
from coclick.exporters.elasticsearch import FIELD_TYPE
from coclick.exporters.shipping import bulk_api
from coclick.exporters.shipping.form import ShippedModel

commands = bulk_api.commands


def write_search(exporter: BulkApiExporter, shipped: ShippedModel, folder: Path, queries: int | None) -> None:
    """Write the index of queries, whose vectors are `sparse_vector` fields that are not pruned."""
    bulk_api.write_search(exporter, shipped, folder, queries, FIELD_TYPE, "sparse_vector")
