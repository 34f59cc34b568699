"""A model server that answers at once, for tests: same start as the real one, no model.

``python -m tests.runs.pretend_server HOW``, where HOW is ``answers``, ``refuses`` (says why and
ends), ``dies`` (says nothing) or ``hangs`` (never gets ready). The message ``sleep 0.5`` is
answered half a second later. The reply's text tells what the server saw.
"""

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = sys.stdin.readline().strip()
COUNTING = threading.Lock()
IN_FLIGHT = [0, 0]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers.get("Authorization") != f"Bearer {KEY}":
            return self.send(401, {"error": {"message": "no"}})
        with COUNTING:
            IN_FLIGHT[0] += 1
            IN_FLIGHT[1] = max(IN_FLIGHT)
        word, _space, seconds = asked["messages"][-1]["content"].partition(" ")
        time.sleep(float(seconds) if word == "sleep" else 0)
        with COUNTING:
            IN_FLIGHT[0] -= 1
        seen = {"pid": os.getpid(), "most": IN_FLIGHT[1], "environment": sorted(os.environ)}
        message = {"role": "assistant", "content": json.dumps(seen)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        self.send(200, {"model": "pretended", "choices": [choice], "object": "chat.completion"})

    def send(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


def main(how):
    if how == "refuses":
        print("There is no such model.", flush=True)
        return 1
    if how == "dies":
        return 3
    if how == "hangs":
        time.sleep(60)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever(0.01)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
