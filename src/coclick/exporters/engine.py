"""`Engine`: what the exports to all search engines have in common; a file for each of them says the rest."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from coclick.arrays.csr import Csr
from coclick.errors import UserError
from coclick.exporters.content import Content
from coclick.exporters.limits import Block, Fitting, Limits, Weights
from coclick.exporters.lines import joined, numbers, pairs, quoted
from coclick.exporters.sample import Sample
from coclick.storage.directories import write_file

_QUERIES_AT_A_TIME = 1000


class Engine(ABC):
    """One search engine: its limits, its files, how it is loaded and asked."""

    name: ClassVar[str]
    title: ClassVar[str]  # as the engine writes itself
    takes_images: ClassVar[bool] = False  # dense vectors, beside those of words
    limits: ClassVar[Limits] = Limits()
    queries_are: ClassVar[str] = "`queries.ndjson`"  # what holds the vectors of queries
    token_note: ClassVar[str] = ""  # how words are written, where that is not as they are

    def __init__(self, content: Content, index: str, max_weights: int | None = None) -> None:
        """Prepare to write into an index (collection, table …) of that name."""
        if content.dense and not self.takes_images:
            raise UserError(
                f"{content.model.name} has dense vectors, and the export to {self.title} is for words",
                hint="pgvector, qdrant and parquet take them; models of words are vpcg, bm25, vsm …",
            )
        if content.dense and content.columns > (self.limits.columns or content.columns):
            most = f"{self.limits.columns:,} dimensions"
            raise UserError(f"{content.model} has {content.columns:,}, and {self.title} holds up to {most}")
        self.content, self.index = content, index
        self.tokens = self.written(content.tokens)
        self.unit = 1.0  # the engine's scores times this are ours
        limits = [most for most in (max_weights, self.limits.weights) if most is not None]
        inside = replace(self.limits, weights=min(limits, default=None))
        self.fitting = Fitting(content, inside, self.tokens, self.stored)

    # -- for the engines to write ------------------------------------------------------------------------

    @abstractmethod
    def write_schema(self, folder: Path) -> None:
        """The mapping, schema or table."""

    @abstractmethod
    def write_documents(self, folder: Path, blocks: Iterator[Block]) -> None:
        """What is loaded."""

    @abstractmethod
    def write_sample(self, folder: Path, sample: Sample) -> None:
        """A real query in the engine's own words."""

    @abstractmethod
    def readme(self) -> str:
        """The commands to load it and to ask it, in Markdown."""

    def written(self, tokens: Sequence[str]) -> list[str]:
        """Tokens as the engine can take them."""
        return list(tokens)

    def stored(self, weights: Weights) -> Weights:
        """Weights of documents as the engine holds them."""
        return weights

    def asked(self, weights: Weights) -> Weights:
        """Weights of queries as the engine takes them."""
        return weights

    def query_vectors(self, vectors: Csr) -> list[str]:
        """Each query's vector as the JSON that the engine is asked with."""
        if self.content.dense:
            return [f"[{row}]" for row in joined(vectors, numbers(vectors.data), ",")]
        return [f"{{{row}}}" for row in pairs(vectors, self.keys, numbers(self.asked(vectors.data)), ",")]

    @cached_property
    def keys(self) -> list[str]:
        """Tokens as keys of JSON objects."""
        return [f"{token}:" for token in quoted(self.tokens)]

    # -- what follows ------------------------------------------------------------------------------------

    def write_queries(self, folder: Path, queries: Sequence[str]) -> None:
        """The vectors of queries, for those who cannot ask coclick for them."""
        write_file(folder / "queries.ndjson", self._query_lines(queries))

    def query_vector(self, sample: Sample) -> Any:
        """The sample's vector as the engine is asked with it."""
        return json.loads(self.query_vectors(self.usable(sample.vector))[0])

    def usable(self, vectors: Csr) -> Csr:
        """Vectors of queries without what the engine would refuse, or what is nothing to it."""
        return vectors if self.content.dense else self.fitting.only_usable(vectors, self.asked(vectors.data))

    def _query_lines(self, queries: Sequence[str]) -> Iterator[str]:
        for texts, vectors in self.query_blocks(queries):
            for text, vector in zip(quoted(texts), self.query_vectors(vectors), strict=True):
                yield f'{{"query":{text},"vector":{vector}}}\n'

    def query_blocks(self, queries: Sequence[str]) -> Iterator[tuple[list[str], Csr]]:
        """Queries that have a vector, some at a time."""
        for first in range(0, len(queries), _QUERIES_AT_A_TIME):
            texts = list(queries[first : first + _QUERIES_AT_A_TIME])
            vectors = self.usable(self.content.queries(texts))
            there = np.flatnonzero(vectors.row_nnz())
            yield [texts[i] for i in there.tolist()], vectors.take(there)
