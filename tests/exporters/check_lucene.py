"""Load exports into Lucene itself: PYTHONPATH=tests python tests/exporters/check_lucene.py JAR.

JAR must contain all of Lucene 9, such as the one in the package pyserini
(pyserini/resources/jars/anserini-*-fatjar.jar). It has 140 MB and depends on transformers, spaCy and more, so
`make test` does not run this. It passes with version 0.22.1 (Lucene 9.5) on Java 17.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import planted
from coclick import create
from coclick.exporters import export
from exporters.documented import json_lines
from exporters.same_ranking import assert_same_ranking

SOURCES = Path(__file__).parent / "lucene"


def tokens(words):
    return " ".join(f"{word}|{weight!r}" for word, weight in words.items())


def java(jar, program, *given):
    """Run a program; return its output lines, split at tabs."""
    command = ["java", "-cp", jar, SOURCES / f"{program}.java", *given]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [line.split("\t") for line in shown.splitlines()]


def found(jar, how, docs, queries, work):
    """Return {query: [(document, score)]} as ranked by Lucene."""
    (work / "docs").write_text("".join(f"{i}\t{words}\n" for i, words in enumerate(docs.values())))
    (work / "queries").write_text(
        "".join(f"{i}\t{tokens(words)}\n" for i, words in enumerate(queries.values()))
    )
    answers = {query: [] for query in queries}
    names, texts = list(docs), list(queries)
    for query, doc, score in java(jar, "SearchExport", how, work / "docs", work / "queries"):
        answers[texts[int(query)]].append((names[int(doc)], float(score)))
    return answers


def main(jar):
    graph = planted.graph()
    for spec in ("vpcg", "bm25", "cos_words"):
        model = create(spec).fit(graph)
        for engine, how in (("elasticsearch", "features"), ("opensearch", "features"), ("solr", "payloads")):
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name) / "out"
                stats = export(model, engine, folder)
                lines = [line for part in sorted(folder.glob("documents-*")) for line in json_lines(part)]
                if how == "features":
                    docs = {line["doc"]: tokens(line["words"]) for line in lines[1::2]}
                else:
                    docs = {line["id"]: line["words"] for line in lines}
                queries = {row["query"]: row["vector"] for row in json_lines(folder / "queries.ndjson")}
                tolerance = max(2 * stats["score_error"]["largest"], 1e-5)
                for query, hits in found(jar, how, docs, queries, Path(name)).items():
                    assert_same_ranking(model, query, hits, tolerance, set(docs))
                print(f"{spec}, {engine}: {len(queries)} queries, scores within {tolerance:.1e}")


if __name__ == "__main__":
    main(sys.argv[1])
