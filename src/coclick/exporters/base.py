"""`Exporter`: the base class of the exports to all search engines; each engine has its own module."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from coclick.arrays.csr import Csr
from coclick.arrays.strings import Strings
from coclick.errors import UserError
from coclick.exporters.existing_index import ExistingIndex
from coclick.exporters.formatting import format_floats, join_entries, join_pairs, json_strings
from coclick.exporters.limits import DocBlock, Limits, VectorFilter, Weights
from coclick.exporters.model_vectors import SPARSE, ModelVectors
from coclick.exporters.packed_rows import hash_numbers, hash_texts, write_row_parts, write_rows
from coclick.exporters.sample_queries import SampleQuery, pick_sample_queries
from coclick.storage.directories import write_file

_QUERY_BLOCK = 5000  # queries that are embedded at a time


class Exporter(ABC):
    """Writes the files of one search engine: schema, documents, query vectors, a sample query, a README."""

    name: ClassVar[str]
    title: ClassVar[str]  # the engine's name as its makers spell it
    accepts: ClassVar[frozenset[str]] = frozenset({SPARSE})  # forms of models that the engine takes
    limits: ClassVar[Limits] = Limits()
    documents_file: ClassVar[str] = "documents-{:05}.ndjson"  # {} stands for the number of a part
    query_vectors_in: ClassVar[str] = "`queries.ndjson`"  # the file or table of query vectors
    part_size: ClassVar[int] = 16 << 20  # bytes of a part
    stores_titles: ClassVar[bool] = True
    existing: ExistingIndex | None = None  # the index that the export adds vectors to
    token_note: ClassVar[str] = ""  # how tokens are encoded, if they are

    def __init__(self, source: ModelVectors, index: str, max_weights: int | None = None) -> None:
        """Prepare an export to the index (collection, table …) of that name."""
        if source.form not in self.accepts:
            raise UserError(
                f"{source.model.name} has dense vectors; the export to {self.title} takes only sparse ones",
                hint="pgvector, qdrant and parquet take dense vectors; vpcg, bm25 and vsm have sparse ones",
            )
        if source.dense and source.dim > (self.limits.max_dim or source.dim):
            limit = f"{self.limits.max_dim:,} dimensions"
            raise UserError(f"{source.model} has {source.dim:,}, but {self.title} allows at most {limit}")
        self.source, self.index = source, index
        self.model_name = str(source.model)  # of the exported model, whose documents these are
        self.version = ""  # of the documents and queries, known when they are written
        self.base_version: str | None = None  # of an increment: the version that it changes
        self.n_documents = 0  # in the engine once the export is loaded
        self.tokens = self.encode_tokens(source.tokens)
        self.score_unit = 1.0  # score of the engine × score_unit = score of coclick
        limits = [limit for limit in (max_weights, self.limits.max_weights) if limit is not None]
        stricter = replace(self.limits, max_weights=min(limits, default=None))
        self.filter = VectorFilter(source, stricter, self.tokens, self.round_weights)

    # -- implemented by each engine ----------------------------------------------------------------------

    @abstractmethod
    def write_schema(self, folder: Path) -> None:
        """Write the mapping, schema or table definition."""

    def doc_texts(self, block: DocBlock) -> Iterator[str]:
        """Yield the text of each document in the engine's format; `doc_rows` is faster."""
        raise NotImplementedError  # abstract

    def doc_rows(self, block: DocBlock) -> Strings:
        """Return the text of each document in the engine's format."""
        return Strings.from_list(self.doc_texts(block))

    @abstractmethod
    def write_sample(self, folder: Path, sample: SampleQuery) -> None:
        """Write the sample query in the engine's query language."""

    @abstractmethod
    def readme(self) -> str:
        """Return the commands that load and query the export, in Markdown."""

    def encode_tokens(self, tokens: Sequence[str]) -> list[str]:
        """Return tokens as the engine accepts them."""
        return list(tokens)

    def round_weights(self, weights: Weights) -> Weights:
        """Return document weights as the engine stores them."""
        return weights

    def round_query_weights(self, weights: Weights) -> Weights:
        """Return query weights as the engine uses them."""
        return weights

    def format_query_vectors(self, vectors: Csr) -> list[str]:
        """Return each query's vector as JSON in the engine's syntax."""
        if self.source.dense:
            return [f"[{row}]" for row in join_entries(vectors, format_floats(vectors.data), ",")]
        weights = format_floats(self.round_query_weights(vectors.data))
        return [f"{{{row}}}" for row in join_pairs(vectors, self.keys, weights, ",")]

    @cached_property
    def packed_keys(self) -> Strings:
        """Tokens as keys of JSON objects, for `format_rows`."""
        return Strings.from_list(self.keys)

    @cached_property
    def keys(self) -> list[str]:
        """Tokens as keys of JSON objects."""
        return [f"{token}:" for token in json_strings(self.tokens)]

    def keep_score_unit(self, unit: float) -> None:
        """Take the score unit of the base of an increment, where the engine's weights depend on it."""
        return  # most engines have a unit of one

    # -- the same for all engines ------------------------------------------------------------------------

    def write_documents(self, folder: Path, blocks: Iterator[DocBlock]) -> None:
        """Write the documents to load, in parts small enough for one request if the engine needs that.

        An increment has only documents that are new or changed.
        """
        rows = map(self.doc_rows, blocks)
        if "{" in self.documents_file:
            write_row_parts(folder, self.documents_file, rows, self.part_size)
        else:
            write_rows(folder / self.documents_file, rows)

    def write_deletions(self, folder: Path, docs: Sequence[str], queries: Sequence[str]) -> None:
        """Write what an increment removes: documents and queries of the base that are gone."""
        for name, gone in (("docs", docs), ("queries", queries)):
            write_file(folder / f"deleted-{name}.ndjson", (f"{text}\n" for text in json_strings(gone)))

    def column_hashes(self) -> NDArray[np.uint64]:
        """Return a hash of the name of each column, the same in every export."""
        if self.source.dense:
            return hash_numbers(np.arange(self.source.dim))
        return hash_texts(Strings.from_list(self.tokens))

    def write_queries(self, folder: Path, queries: Sequence[str]) -> None:
        """Write query vectors, for clients that cannot call coclick at query time."""
        write_file(folder / "queries.ndjson", self._query_lines(queries))

    @cached_property
    def samples(self) -> list[SampleQuery]:
        """Queries of the log with their results, by which `check` compares the engine with coclick."""
        return pick_sample_queries(self)

    def sample_vector(self, sample: SampleQuery) -> Any:
        """Return the sample's vector as a JSON value in the engine's syntax."""
        return json.loads(self.format_query_vectors(self.filter_query_vectors(sample.vector))[0])

    def filter_query_vectors(self, vectors: Csr) -> Csr:
        """Drop the query weights that the engine would reject or that round to zero."""
        if self.source.dense:
            return vectors
        return self.filter.filter_query_vectors(vectors, self.round_query_weights(vectors.data))

    def _query_lines(self, queries: Sequence[str]) -> Iterator[str]:
        for texts, vectors in self.query_blocks(queries):
            for text, vector in zip(json_strings(texts), self.format_query_vectors(vectors), strict=True):
                yield f'{{"query":{text},"vector":{vector}}}\n'

    def query_blocks(self, queries: Sequence[str]) -> Iterator[tuple[list[str], Csr]]:
        """Yield the queries that have a vector, with their vectors, in blocks."""
        for first in range(0, len(queries), _QUERY_BLOCK):
            texts = list(queries[first : first + _QUERY_BLOCK])
            vectors = self.filter_query_vectors(self.source.query_vectors(texts))
            kept = np.flatnonzero(vectors.row_nnz())
            yield [texts[i] for i in kept.tolist()], vectors.take(kept)
