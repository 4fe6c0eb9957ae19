"""The wiring of re-ranking: an engine finds, coclick ranks; if coclick is away, the engine's order stays."""

import json
import runpy
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

import pytest

import planted
from coclick import train
from coclick.answers import rank
from coclick.exporters import export


class Both(BaseHTTPRequestHandler):
    """Answers as a search engine, and as `POST /rank` of `coclick serve`."""

    model: ClassVar[Any] = None
    asked: ClassVar[list[Any]] = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((self.path, body))
        if self.path == "/rank":
            answer = rank(self.model, body["query"], body["candidates"])
        else:
            hits = [{"_id": doc, "_score": 1.0, "_source": {"title": "t"}} for doc in ("pizza-0", "hotel-0")]
            answer = {"hits": {"hits": hits}}
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    Both.model, Both.asked = train("bm25", planted.graph()), []
    with HTTPServer(("127.0.0.1", 0), Both) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()


def test_rerank(server, tmp_path, capsys):
    stats = export(Both.model, "rerank", tmp_path / "out")
    assert stats["engine"] == "rerank"
    program = runpy.run_path(str(tmp_path / "out/rerank.py"))
    query = 'a "hotel"'
    arguments = ["--engine", f"{server}/products/_search", "--coclick", server, query]
    program["main"](arguments)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("\t")[1] for line in lines] == ["hotel-0", "pizza-0"]
    assert Both.asked[0][1]["query"] == {"match": {"title": query}}
    assert Both.asked[1][1] == {
        "query": query,
        "candidates": [{"doc": "pizza-0", "title": "t"}, {"doc": "hotel-0", "title": "t"}],
    }
    away = ["--engine", f"{server}/products/_search", "--coclick", "http://127.0.0.1:1", query]
    program["main"](away)
    shown = capsys.readouterr()
    assert [line.split("\t")[1] for line in shown.out.splitlines()] == ["pizza-0", "hotel-0"]
    assert "does not answer" in shown.err
