"""Readers of files that people write, each with valid files to start from and a structure to change.

A reader returns, or raises an error for people. Anything else is a bug: `check` lets it pass to hypothesis,
which makes the file smaller, or to the loop of `make fuzz`.
"""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from coclick import create
from coclick.errors import CoclickError
from coclick.evaluation.judgments import read_judgments, read_queries
from coclick.evaluation.similar_queries import read_intents
from coclick.logs import build, check
from coclick.logs.doc_features import read_doc_features
from coclick.logs.documents import read_docs
from coclick.logs.format import load_format
from coclick.ltr.letor import read_letor
from coclick.models.lexical._word_vector_files import read_word_vectors
from coclick.rules.review import COLUMNS, load_review
from coclick.storage.artefact import Artefact


@dataclass(frozen=True)
class Reader:
    """A function that reads a file, the names that the file may have, and contents."""

    read: Callable[[Path], Any]
    names: tuple[str, ...]
    content: st.SearchStrategy[bytes]


# Values that have been mistaken for something else before.
_ODD = (
    "", " ", "0", "-1", "1e308", "1e-320", "nan", "inf", "-inf", "9" * 400, "1_000", "٣", "²", "0x10", "true",
    "null", "\x00", "\x01\x02\x03\x04", "\ufeff", "\u2028", "\u202e", "\x85", "\x0b", "é" * 50, "e\u0301",
    "😀", "\ufffd", '"', '""', "'", "\\", "\\N", "--", ";", ",", "|", "=1+1", "@x", "../../x", "{}", "[]",
    "[[", "<b>", "a" * 140_000, "2024-02-30", "0000-00-00", "9999999999999999999", "24:61",
    "1970-01-01T00:00:00Z", "query", "doc", "clicks",
)  # fmt: skip
_ENDS = ("\n", "\r\n", "\r", "", "\n\n")


@st.composite
def tables(draw: Any, header: tuple[str, ...], rows: tuple[tuple[str, ...], ...]) -> bytes:
    """A table with odd, missing and more cells, other separators, quotes, ends and encodings."""
    separator = draw(st.sampled_from(("\t", "\t", "\t", ",", ";", "|", " ")))
    end = draw(st.sampled_from(_ENDS))
    lines = [list(header)] if header and draw(st.booleans()) else []
    lines += [list(row) for row in draw(st.lists(st.sampled_from(rows), max_size=6))]
    for _ in range(draw(st.integers(0, 4))):
        if not lines:
            break
        line = lines[draw(st.integers(0, len(lines) - 1))]
        how = draw(st.sampled_from(("cell", "cell", "drop", "add", "quote", "free")))
        place = draw(st.integers(0, max(len(line) - 1, 0)))
        if how == "add" or not line:
            line.append(draw(st.sampled_from(_ODD)))
        elif how == "drop":
            del line[place]
        elif how == "quote":
            line[place] = f'"{line[place]}' + draw(st.sampled_from(('"', "", '""', '\n"')))
        else:
            line[place] = draw(st.sampled_from(_ODD)) if how == "cell" else draw(st.text(max_size=9))
    text = "".join(separator.join(line) + (end or "\n") for line in lines)
    return draw(encoded(text))


@st.composite
def encoded(draw: Any, text: str) -> bytes:
    """A text as bytes: UTF-8, cut off, with other bytes in it, in another encoding, or packed."""
    how = draw(
        st.sampled_from(("utf-8", "utf-8", "utf-8", "cut", "bytes", "utf-16", "utf-8-sig", "latin-1", "gzip"))
    )
    content = text.encode("utf-8", "surrogatepass")
    if how == "cut":
        return content[: draw(st.integers(0, len(content)))]
    if how == "bytes":
        place = draw(st.integers(0, len(content)))
        return content[:place] + draw(st.binary(min_size=1, max_size=8)) + content[place:]
    if how == "gzip":
        packed = gzip.compress(content)
        return packed[: draw(st.integers(max(len(packed) - 12, 0), len(packed)))]
    return content if how == "utf-8" else text.encode(how, "replace")


@st.composite
def changed_json(draw: Any, samples: tuple[Any, ...], *, lines: bool = False) -> bytes:
    """JSON with values replaced or removed anywhere, alone or one document a line."""
    texts = []
    for sample in draw(st.lists(st.sampled_from(samples), min_size=1, max_size=4 if lines else 1)):
        value = json.loads(json.dumps(sample))
        for _ in range(draw(st.integers(0, 3))):
            value = _change(draw, value)
        texts.append(json.dumps(value, ensure_ascii=draw(st.booleans())))
    return draw(encoded("\n".join(texts)))


def _change(draw: Any, value: Any) -> Any:
    """Replace a part of a JSON value, remove it, or put it a hundred levels deep."""
    if isinstance(value, dict | list) and value and draw(st.integers(0, 9)):
        key = (
            draw(st.sampled_from(sorted(value)))
            if isinstance(value, dict)
            else draw(st.integers(0, len(value) - 1))
        )
        if draw(st.integers(0, 5)) == 0:
            del value[key]
        else:
            value[key] = _change(draw, value[key])
        return value
    how = draw(st.sampled_from(("odd", "odd", "number", "nested", "plain")))
    if how == "odd":
        return draw(st.sampled_from(_ODD))
    if how == "number":
        return draw(
            st.sampled_from((None, True, -1, 2**63, 2**64, 10**30, 1e308, float("nan"), float("inf"), 0.5))
        )
    if how == "plain":
        return draw(st.sampled_from(([], {}, [[]], {"a": None}, [{}], [None], ["a", 1])))
    for _ in range(draw(st.sampled_from((3, 100, 600)))):
        value = [value]
    return value


@st.composite
def changed_lines(draw: Any, *texts: str) -> bytes:
    """A text with characters removed, repeated and put in, and lines that change places."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, len(text)))
        how = draw(st.sampled_from(("put", "put", "cut", "repeat", "swap")))
        if how == "put":
            text = text[:place] + draw(st.sampled_from(_ODD) | st.text(max_size=4)) + text[place:]
        elif how == "cut":
            text = text[:place] + text[place + draw(st.integers(1, 20)) :]
        elif how == "repeat":
            text = text[:place] + text[max(place - 20, 0) :]
        else:
            lines = text.splitlines(keepends=True)
            text = "".join(draw(st.permutations(lines))) if len(lines) < 12 else text
    return draw(encoded(text))


def _build(path: Path) -> None:
    build([path], None, path.parent / "graph", max_rejected=1, force=True, memory="1GB", threads=1)


def _read_manifest(path: Path) -> None:
    source = Artefact(path.parent, check_sizes=False)
    list(source.damage())


_MANIFEST = {
    "format": 2, "coclick": "1.0", "kind": "graph", "stats": {"rows": 1}, "build": {},
    "files": {
        "clicks.data": {"file": "clicks.data-0123456789abcdef.npy", "dtype": "<f4", "shape": [3],
                        "bytes": 140, "digest": "00"},
    },
}  # fmt: skip
_EVENTS = (
    ("2024-03-01T10:00:00Z", "u1", "red shoe", "D1", "click", "1"),
    ("1709287200", "u2", "shoe", "D2", "impression", "2"),
)
_UBI = (
    {"query_id": "q1", "user_query": "Red Shoe", "client_id": "c1", "timestamp": "2024-03-01T10:00:00Z",
     "query_response_id": "r1", "query_response_hit_ids": ["A", "B", "", "D"]},
    {"action_name": "click", "query_id": "q1", "client_id": "c1", "session_id": "s1",
     "timestamp": 1709287200000, "event_attributes": {
         "object": {"object_id": "B", "object_id_field": "sku"}, "position": {"ordinal": 2}}},
)  # fmt: skip
_OPENSEARCH = (
    {"judgmentRatings": [{"query": "shoe", "ratings": [{"docId": "D1", "rating": "2.0"}]}]},
    {
        "hits": {
            "hits": [
                {"_source": {"judgmentRatings": [{"query": "a", "ratings": [{"docId": 1, "rating": 1}]}]}}
            ]
        }
    },
)
_TOML = (
    'title = "mine"\nrecognise = ["a", "b|c"]\njoin = "query_id"\nshown = ["hits[]"]\nfirst_position = 1\n'
    'encoding = "latin-1"\ntime_format = "ms"\ntimezone = "UTC"\n\n[fields]\nquery = "q"\n'
    'doc = ["x.y", "z[k=v].w"]\nquery_id = "q"\n'
    'action = { sql = "CASE WHEN a IS NULL THEN \'search\' END" }\n\n[actions]\nclick = ["tap"]\n',
    'rows = "clicks"\ncolumns = [["query", "doc", "clicks"]]\n\n[fields]\nquery = "query"\ndoc = "doc"\n',
)
_REVIEW = "\t".join(COLUMNS) + (
    "\n3f6a\tsynonym\tshoe\tboot\t\t12\t0.5\t0.4 to 0.6\t0.1 to 0.2 in 3\taccept\tnote\n"
)
_SPECS = (
    "vpcg(start=query,max_terms=20)", "0.8*rw + 0.2*bm25", "backoff(neighbours + bm25)",
    "pls(dim=10,views=title+chars)", "ltr(parts=bm25 + clicks,n_trees=5)", "bm25(preset=wu2013)",
    "mix(parts=0.5*bm25 + 0.5*(0.2*clicks + vpcg))",
)  # fmt: skip

READERS: dict[str, Reader] = {
    "clicks": Reader(
        _build,
        ("log.tsv", "log.csv", "log.tsv.gz", "log"),
        tables(
            ("query", "doc", "clicks"), (("red shoe", "D1", "3"), ("shoe", "D2", "1"), ("hat", "D1", "0.5"))
        ),
    ),
    "events": Reader(
        _build,
        ("log.tsv", "log.csv"),
        tables(("timestamp", "user", "query", "doc", "action", "position"), _EVENTS),
    ),
    "JSON logs": Reader(_build, ("log.ndjson", "log.json", "log.jsonl.gz"), changed_json(_UBI, lines=True)),
    "check": Reader(
        lambda path: check([path]),
        ("log.tsv", "log.json"),
        tables(("query", "doc", "clicks"), (("red shoe", "D1", "3"), ("shoe", "D2", "1")))
        | changed_json(_UBI, lines=True),
    ),
    "documents": Reader(
        read_docs,
        ("docs.tsv", "docs.csv", "docs.json"),
        tables(("doc", "title", "body"), (("D1", "Red shoe", "a b"), ("D2", "", "c")))
        | changed_json(({"doc": "D1", "title": "Red", "tags": ["a"]}, {"doc": 2, "title": None}), lines=True),
    ),
    "features": Reader(
        lambda path: read_doc_features([path], {"D1", "D2"}),
        ("features.tsv", "features.csv"),
        tables(("doc", "feature", "value"), (("D1", "red", "1"), ("D2", "size", "2.5"))),
    ),
    "queries": Reader(
        read_queries, ("queries.tsv",), tables(("id", "text"), (("q1", "red shoe"), ("q2", "hat")))
    ),
    "judgments": Reader(
        lambda path: read_judgments(None, path),
        ("qrels.tsv", "qrels.csv", "qrels.txt", "qrels.tsv.gz"),
        tables(
            ("query", "docid", "rating"), (("shoe", "D1", "2"), ("q1", "0", "D1", "3"), ("hat", "D2", "good"))
        )
        | changed_json(_OPENSEARCH),
    ),
    "intents": Reader(
        read_intents, ("intents.tsv",), tables(("query", "intent"), (("shoe", "a/b"), ("hat", "c")))
    ),
    "LETOR": Reader(
        read_letor, ("train.txt",), changed_lines("2 qid:1 1:0.5 2:1e-3 # D1\n0 qid:1 2:7 # D2\n# names\n")
    ),
    "word vectors": Reader(
        lambda path: read_word_vectors(str(path), ["red", "shoe"]),
        ("vectors.txt", "vectors.bin"),
        changed_lines("2 3\nred 1 2 3\nshoe 4 5 6\n", "red 1 2\nshoe 3 4\n"),
    ),
    "formats": Reader(load_format, ("mine.toml",), changed_lines(*_TOML)),
    "review": Reader(load_review, ("review.tsv",), changed_lines(_REVIEW)),
    "specifications": Reader(
        lambda path: create(path.read_bytes().decode("utf-8", "replace")),
        ("spec.txt",),
        changed_lines(*_SPECS),
    ),
    "manifests": Reader(
        _read_manifest, ("manifest.json",), changed_json((_MANIFEST,)) | changed_lines(json.dumps(_MANIFEST))
    ),
}


def check_reader(name: str, content: bytes, file: str) -> str:
    """Give a file to a reader; return "read" or the error for people. Any other error is raised."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "given" / file
        path.parent.mkdir()
        path.write_bytes(content)
        try:
            READERS[name].read(path)
        except CoclickError as error:
            return str(error)
        return "read"
