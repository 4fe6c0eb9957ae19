"""Fields and pictures of documents."""

import pytest

from coclick.graph.click_graph import ClickGraph
from coclick.service.settings import Settings
from coclick.service.studio.doc_fields import MAX_LENGTH, DocFields
from service.conftest import in_process

PICTURE = "https://images.example/a.PNG?size=1"


@pytest.fixture
def graph(tmp_path):
    docs = {
        "a": {"title": "Shoe", "brand": "X<b>", "image_url": PICTURE, "body": "w" * 500},
        "b": {"title": "Boot", "thumbnail": "http://images.example/b"},
        "c": {"title": "Sock", "image": "javascript:alert(1)"},
        "d": {
            "title": "Cap",
            "image": "https://x.example/a.png onerror=alert(1)",
            "url": "https://x.example/d",
        },
    }
    return str(ClickGraph.from_clicks([("shoe", "a", 1)], docs).save(tmp_path / "graph").artefact.path)


def test_pictures_are_urls_and_only_with_the_option(graph):
    fields = DocFields(graph, True)
    shown = fields.of("a")
    assert shown["image"] == PICTURE
    assert dict(shown["fields"])["brand"] == "X<b>"
    assert len(dict(shown["fields"])["body"]) == MAX_LENGTH
    assert {name for name, _ in shown["fields"]} == {"brand", "body"}, "neither title nor picture"
    assert fields.of("b")["image"] == "http://images.example/b", "by the name of the field"
    assert fields.of("c") == {"fields": [["image", "javascript:alert(1)"]], "image": None}
    assert fields.of("d")["image"] is None
    assert fields.of("unknown") == {"fields": [], "image": None}
    without = DocFields(graph, False).of("a")
    assert without["image"] is None
    assert dict(without["fields"])["image_url"] == PICTURE, "as text"
    assert DocFields(None, True).of("a") == {"fields": [], "image": None}


def test_the_policy_allows_pictures_only_with_the_option(home):
    model = (("vpcg", str(home / "vpcg")),)
    strict = in_process(Settings(model)).get("/").headers["content-security-policy"]
    assert strict == "default-src 'self'; frame-ancestors 'none'; base-uri 'none'"
    open_ = in_process(Settings(model, images=True)).get("/").headers["content-security-policy"]
    assert open_ == strict + "; img-src 'self' http: https:"
