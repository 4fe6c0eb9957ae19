"""Serve an engine of the tests over HTTP: an object with `answer(method, path, body)`."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from coclick.exporters.programs.engine import Engine


@contextmanager
def serve(answering):
    """Yield an `Engine` for the URL; a `ConnectionResetError` of `answer` breaks the connection."""

    class Handler(BaseHTTPRequestHandler):
        def _respond(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            try:
                status, answer = answering.answer(self.command, self.path, body)
            except ConnectionResetError:
                self.close_connection = True
                return
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_PUT = do_POST = do_DELETE = _respond

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield Engine(f"http://127.0.0.1:{server.server_port}", pause=0.001)
    finally:
        server.shutdown()
        server.server_close()
