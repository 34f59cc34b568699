"""Stands for the package of this name, where no model is loaded: the same key, one answer."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

ANSWER = json.dumps({"reason": "Short.", "label": 2})
USAGE = {"prompt_tokens": 5, "completion_tokens": 2}


class CommonParams(SimpleNamespace):
    """Takes whatever is set."""

    def __init__(self):
        super().__init__(model=SimpleNamespace(), cpuparams=SimpleNamespace())
        self.cpuparams_batch = SimpleNamespace()


class Server:
    """Answers from a thread, as llama.cpp does."""

    def __init__(self, params):
        self.params = params
        server = ThreadingHTTPServer((params.hostnames[0], params.port), Handler)
        server.params = params
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        self.listening_address = f"http://{params.hostnames[0]}:{server.server_port}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        params = self.server.params
        said = self.headers.get("Authorization")
        if said not in [f"Bearer {key}" for key in params.api_keys]:
            return self.send(401, {"error": {"message": "no"}})
        message = {"role": "assistant", "content": ANSWER}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        (model,) = params.model_alias
        reply = {"model": model, "choices": [choice], "usage": USAGE}
        self.send(200, reply | {"object": "chat.completion"})

    def send(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Say nothing."""
