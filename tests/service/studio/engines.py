"""A local server that answers as OpenSearch documents it for `POST /INDEX/_search`."""

import json
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def hit(doc, score, **source):
    return {"_index": "products", "_id": doc, "_score": score, "_source": source}


def found(*hits):
    return {
        "took": 3,
        "timed_out": False,
        "_shards": {"total": 1, "successful": 1, "skipped": 0, "failed": 0},
        "hits": {"total": {"value": len(hits), "relation": "eq"}, "max_score": 9.0, "hits": list(hits)},
    }


@contextmanager
def engine(answer):
    """Start a server whose `answer(path, body)` returns a status and a value; yields its address and what it
    was asked: (method, path, headers, body)."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            asked.append((self.command, self.path, dict(self.headers), body.decode()))
            status, value = answer(self.path, body.decode())
            content = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            if 300 <= status < 400:
                self.send_header("location", "http://127.0.0.1:9/elsewhere")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            with suppress(ConnectionError):  # the other side has read enough
                self.wfile.write(content)

        do_GET = do_POST

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


def slow(seconds):
    def answer(*_):
        time.sleep(seconds)
        return 200, found()

    return answer
