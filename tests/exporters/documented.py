"""Simulations of engines that are too large to install, written from their documentation.

Each class reads an export like its engine, rejects what the engine rejects, and computes the same scores. The
assertions come from the pages named in the docstrings, not from the exports.
"""

import json
import math
import re
import struct

SMALLEST = 2.0**-126  # of normal float32 numbers


def json_lines(path):
    """Read one JSON value per line; reject duplicate keys in objects."""
    with path.open(encoding="utf-8", newline="\n") as lines:
        return [json.loads(line, object_pairs_hook=distinct) for line in lines]


def distinct(pairs):
    found = dict(pairs)
    assert len(found) == len(pairs), f"a key occurs twice: {pairs}"
    return found


def nine_bits(value):
    """Lucene's encoding of features: the upper 17 bits of the float32; the rest is truncated."""
    bits = struct.unpack(">I", struct.pack(">f", value))[0]
    return struct.unpack(">f", struct.pack(">I", bits >> 15 << 15))[0]


def best(scores, k=10):
    return sorted(((doc, score) for doc, score in scores.items() if score > 0), key=lambda row: -row[1])[:k]


class Elasticsearch:
    """Elasticsearch reference 9.1.

    "Sparse vector field type" and "Rank features field type": strictly positive values, nine significant
    bits, pruning unless `index_options.prune` is false. "Bulk API": an action and a source line for each
    document, the last line ends with a newline; `http.max_content_length` is 100 MB. "_id field": up to 512
    bytes. Dots in names are paths ("Object field type"). "Sparse vector query", "Rank feature query"
    (linear), "Dynamic: strict".
    """

    field_types: tuple[dict, ...] = (
        {"type": "sparse_vector", "index_options": {"prune": False}},
        {"type": "rank_features"},
    )
    mappings: tuple[str, ...] = ("index.json", "index-rank-features.json")

    def __init__(self, folder):
        self.folder, self.docs, self.titles = folder, {}, {}
        for name, kind in zip(self.mappings, self.field_types, strict=True):
            mapping = json.loads((folder / name).read_text())["mappings"]
            assert mapping["properties"]["words"] == kind
            assert mapping["properties"].keys() == {"doc", "title", "words"}
        parts = sorted(folder.glob("documents-*.ndjson"))
        for part in parts:
            assert part.stat().st_size < 100e6
            assert part.read_bytes()[-1:] == b"\n"
            lines = json_lines(part)
            for action, source in zip(lines[::2], lines[1::2], strict=True):
                self.index(action, source)

    def index(self, action, source):
        (name,) = action["index"].values()
        assert action == {"index": {"_id": name}}
        assert 1 <= len(name.encode()) <= 512
        assert name not in self.docs
        assert source.keys() == {"doc", "title", "words"}
        assert source["doc"] == name
        assert source["words"]
        for word, weight in source["words"].items():
            self.check(word, weight)
        self.docs[name] = {word: nine_bits(weight) for word, weight in source["words"].items()}
        self.titles[name] = source["title"]

    @staticmethod
    def check(word, weight):
        assert word and "." not in word, word
        assert len(word.encode()) <= 32_766
        assert isinstance(weight, int | float) and math.isfinite(weight) and weight >= SMALLEST

    def search(self, words):
        for word, weight in words.items():
            self.check(word, weight)
        return best(
            {doc: sum(w * has.get(word, 0) for word, w in words.items()) for doc, has in self.docs.items()}
        )

    def sample(self):
        body = json.loads((self.folder / "sample.json").read_text(), object_pairs_hook=distinct)
        query = body["query"]["sparse_vector"]
        assert query["field"] == "words" and query["prune"] is False
        features = json.loads((self.folder / "sample-rank-features.json").read_text())["query"]["bool"][
            "should"
        ]
        linear = {f["rank_feature"]["field"]: f["rank_feature"]["boost"] for f in features}
        assert all(f["rank_feature"]["linear"] == {} for f in features)
        assert linear == {f"words.{word}": weight for word, weight in query["query_vector"].items()}
        return self.search(query["query_vector"])


class OpenSearch(Elasticsearch):
    """OpenSearch documentation 3.2.

    "Rank field types" (rank_features: positive values), "Neural sparse search using raw vectors" and "Neural
    sparse query" (`query_tokens`), "Bulk". Lucene 10's `FeatureField.newLinearQuery`: a weight in (0, 64].
    """

    field_types = ({"type": "rank_features"},)
    mappings = ("index.json",)

    def sample(self):
        body = json.loads((self.folder / "sample.json").read_text(), object_pairs_hook=distinct)
        tokens = body["query"]["neural_sparse"]["words"]["query_tokens"]
        assert all(weight <= 64 for weight in tokens.values())
        return self.search(tokens)


class Solr:
    """Apache Solr reference guide 9.

    "Filters: delimited payload filter" (the payload follows the first |), "Tokenizers: white space tokenizer"
    (at most 256 characters), "Other parsers: payload score parser" (func=sum, without the span's score) and
    "boost", "JSON query DSL" (`query` is the parser's v), "Schema API", "Transforming and indexing custom
    JSON" (one document after the other at /update/json/docs). Lucene's longest term has 32,766 bytes.
    """

    def __init__(self, folder):
        self.folder, self.docs, self.titles = folder, {}, {}
        schema = json.loads((folder / "schema.json").read_text())
        (kind,) = schema["add-field-type"]
        assert (
            kind["indexAnalyzer"]["tokenizer"] == kind["queryAnalyzer"]["tokenizer"] == {"name": "whitespace"}
        )
        assert kind["indexAnalyzer"]["filters"] == [{"name": "delimitedPayload", "encoder": "float"}]
        assert {field["name"]: field["type"] for field in schema["add-field"]}["words"] == kind["name"]
        for part in sorted(folder.glob("documents-*.ndjson")):
            for doc in json_lines(part):
                self.index(doc)

    def index(self, doc):
        assert doc.keys() == {"id", "title", "words"}
        assert 1 <= len(doc["id"].encode()) <= 32_766
        assert doc["id"] not in self.docs
        payloads = {}
        for token in doc["words"].split():
            assert len(token) <= 256
            word, _, weight = token.partition("|")
            assert word and word not in payloads
            payloads[word] = struct.unpack(">f", struct.pack(">f", float(weight)))[0]
        assert payloads
        self.docs[doc["id"]], self.titles[doc["id"]] = payloads, doc["title"]

    def search(self, words):
        assert len(words) <= 1024  # maxBooleanClauses
        for word in words:
            assert word.split() == [word] and "|" not in word
        return best(
            {doc: sum(w * has.get(word, 0) for word, w in words.items()) for doc, has in self.docs.items()}
        )

    def sample(self):
        words = {}
        for clause in json.loads((self.folder / "sample.json").read_text())["query"]["bool"]["should"]:
            (parser,) = clause["boost"]["query"].items()
            assert parser[0] == "payload_score"
            assert parser[1] | {"query": ""} == {"f": "words", "func": "sum", "query": ""}
            words[parser[1]["query"]] = clause["boost"]["b"]
        return self.search(words)


class Vespa:
    """Vespa documentation 8.

    "Document JSON format" (put, fields; weighted sets are objects of whole numbers), "Documents" (ids
    `id:<namespace>:<document type>::<name>`), "Schema reference" (weightedset, fast-search, dictionary),
    "Multivalue query operators" and "Query language reference" (wand with a map of whole numbers; rawScore).
    Strings have no control characters except tab, line feed and carriage return.
    """

    controls = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f]")

    def __init__(self, folder, name="coclick"):
        self.folder, self.name, self.docs, self.titles = folder, name, {}, {}
        schema = (folder / "application/schemas" / f"{name}.sd").read_text()
        words = re.search(r"field words type weightedset<string> \{(.*?)\n        \}", schema, re.DOTALL)[1]
        assert "attribute: fast-search" in words and re.search("indexing:.*attribute", words)
        self.scale = float(re.search(r"expression: rawScore\(words\) / ([\d.]+)\n", schema)[1])
        assert f'<document type="{name}"' in (folder / "application/services.xml").read_text()
        for line in json_lines(folder / "documents.jsonl"):
            self.index(line)

    def index(self, line):
        head, fields = f"id:{self.name}:{self.name}::", line["fields"]
        assert line.keys() == {"put", "fields"} and fields.keys() == {"doc", "title", "words"}
        assert line["put"] == head + fields["doc"] and line["put"] != head
        assert not any(
            self.controls.search(text) for text in (fields["doc"], fields["title"], *fields["words"])
        )
        assert fields["words"] and fields["doc"] not in self.docs
        assert all(type(weight) is int and 0 < weight < 2**31 for weight in fields["words"].values())
        self.docs[fields["doc"]], self.titles[fields["doc"]] = fields["words"], fields["title"]

    def search(self, words):
        assert all(type(weight) is int and 0 < weight < 2**31 for weight in words.values())
        raw = {doc: sum(w * has.get(word, 0) for word, w in words.items()) for doc, has in self.docs.items()}
        assert all(score < 2**63 for score in raw.values())
        return best({doc: score / self.scale for doc, score in raw.items()})

    def sample(self):
        body = json.loads((self.folder / "sample.json").read_text())
        assert body["ranking"] == "words"
        yql = re.fullmatch(
            r"select doc, title from sources \* where version contains @coclick_version "
            r"and \(\{targetHits: 10\}wand\(words, (\{.*\})\)\)",
            body["yql"],
        )
        assert body["model.restrict"] == self.name == body["queryProfile"]
        profile = (self.folder / "application/search/query-profiles/coclick.xml").read_text()
        version = re.search('<field name="coclick_version">(.*)</field>', profile)[1]
        assert version == json.loads((self.folder / "settings.json").read_text())["version"]
        return self.search(json.loads(yql[1], object_pairs_hook=distinct))
