"""A service on the loopback that answers every GET with what a test has put there."""

import contextlib
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


class JsonStub:
    """In a test: ``with JsonStub({"a": 1}) as stub: … stub.address``."""

    def __init__(self, document=None, *, status=200, body=None, seconds=0.0, headers=None):
        self.status, self.seconds, self.headers = status, seconds, headers or {}
        self.body = json.dumps(document).encode() if body is None else body
        self.asked = []

    def __enter__(self):
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                stub._answer(self)

            def log_message(self, *_args):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self.address = f"http://127.0.0.1:{self.port}/cam"
        self.allow = f"127.0.0.1/32:{self.port}"
        threading.Thread(target=self._server.serve_forever, args=[0.01], daemon=True).start()
        return self

    def __exit__(self, *_error):
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, handler):
        parts = urlsplit(handler.path)
        self.asked.append((parts.path, {k: v[0] for k, v in parse_qs(parts.query).items()}))
        time.sleep(self.seconds)
        with contextlib.suppress(OSError):  # whoever asked had enough
            handler.send_response(self.status)
            for name, value in {"Content-Length": str(len(self.body)), **self.headers}.items():
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(self.body)
