"""Any text of an id, a title or a query arrives in PostgreSQL as it is, and is never run as SQL."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coclick.exporters
from coclick import ClickGraph, create
from exporters.postgres import psql, rows

pytestmark = pytest.mark.slow

PIECES = [
    "'", '"', "`", "\\", "\\\\", "\n", "\r", "\t", "\x00", "\x1b", "\b", "\\.", "\\N", "\\x41", "$$",
    "$coclick$", "; DROP TABLE texts; --", "'); DROP TABLE texts; --", "/*", "*/", ":name", ":'name'",
    "\\copy", "\\! id", "<script>", "&amp;", "=1+1", "+1", "-1", "@sum", "|", "{", "}", "%s", "\u2028",
    "\u2029", "\ufeff", "ü", "文", "🙂",
]  # fmt: skip
TEXTS = st.one_of(
    st.text(max_size=20), st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)
)


@settings(max_examples=3, deadline=None)
@given(docs=st.dictionaries(TEXTS, TEXTS, min_size=30, max_size=60))
def test_texts_arrive_as_they_are(docs, database, tmp_path_factory):
    docs = {clean(doc): clean(title) for doc, title in docs.items()}
    graph = ClickGraph.from_clicks(
        [("lamp", next(iter(docs)), 1.0)], {d: f"{t} lamp" for d, t in docs.items()}
    )
    folder = tmp_path_factory.mktemp("texts") / "out"
    coclick.exporters.export(create("bm25(tokenizer=words)").fit(graph), "pgvector", folder, name="texts")
    for script in ("load.sql", "check.sql"):
        psql(database, folder, "-f", script)
    found = {row["doc"]: row["title"] for row in rows(database, "SELECT doc, title FROM texts")}
    kept = set(graph.docs)  # the graph drops empty ids
    assert found == {
        doc: f"{title} lamp".replace("\x00", " ")
        for doc, title in docs.items()
        if doc in kept and doc and "\x00" not in doc
    }
    psql(database, folder, "-f", "remove.sql")


def clean(text):
    """UTF-8 has no lone surrogates."""
    return text.encode("utf-8", "replace").decode()
