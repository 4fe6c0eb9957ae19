"""`Exporter`: the base class of the exports to all search engines; each engine has its own module."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from coclick.arrays.csr import Csr
from coclick.errors import UserError
from coclick.exporters.formatting import format_floats, join_entries, join_pairs, json_strings, write_parts
from coclick.exporters.limits import DocBlock, Limits, VectorFilter, Weights
from coclick.exporters.model_vectors import SPARSE, ModelVectors
from coclick.exporters.sample_queries import SampleQuery
from coclick.storage.directories import write_file

_QUERY_BLOCK = 1000  # queries that are embedded at a time


class Exporter(ABC):
    """Writes the files of one search engine: schema, documents, query vectors, a sample query, a README."""

    name: ClassVar[str]
    title: ClassVar[str]  # the engine's name as its makers spell it
    accepts: ClassVar[frozenset[str]] = frozenset({SPARSE})  # forms of models that the engine takes
    limits: ClassVar[Limits] = Limits()
    documents_file: ClassVar[str] = "documents-{:05}.ndjson"  # {} stands for the number of a part
    query_vectors_in: ClassVar[str] = "`queries.ndjson`"  # the file or table of query vectors
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
        self.version = ""  # of the documents and queries, known when they are written
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
        """Yield the text of each document in the engine's format."""
        raise NotImplementedError  # abstract

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
    def keys(self) -> list[str]:
        """Tokens as keys of JSON objects."""
        return [f"{token}:" for token in json_strings(self.tokens)]

    # -- the same for all engines ------------------------------------------------------------------------

    def write_documents(self, folder: Path, blocks: Iterator[DocBlock]) -> None:
        """Write the documents to load, in parts small enough for one request if the engine needs that."""
        texts = chain.from_iterable(map(self.doc_texts, blocks))
        if "{" in self.documents_file:
            write_parts(folder, self.documents_file, texts)
        else:
            write_file(folder / self.documents_file, texts)

    def write_queries(self, folder: Path, queries: Sequence[str]) -> None:
        """Write query vectors, for clients that cannot call coclick at query time."""
        write_file(folder / "queries.ndjson", self._query_lines(queries))

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
