"""Errors and traces that go to other servers hold no more than the log does.

The packages are in requirements-watching.txt, which no test installs; that nothing of them is
loaded by default is in tests/web/test_light_start.py.
"""

import gzip
import os
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec

import brotli
import pytest

PRIVATE = "PRIVATE-SECRET-0123456789"
# A page that breaks, a job that breaks, and a call; each with something that must stay here.
WORK = f"""
import django
django.setup()
from unittest import mock
from django.test import Client
from cqa_site.web.outages import health
from cqa_site.web.logging import around
import logging
client = Client(raise_request_exception=False)
broken = mock.Mock(side_effect=ValueError("{PRIVATE}"))
with mock.patch.object(health.pulse, "reaches_database", broken):
    headers = {{"X-Request-ID": "the-request-7", "Referer": "{PRIVATE}"}}
    client.get("/healthz?q={PRIVATE}", headers=headers)
client.get("/join/{PRIVATE}/%00")
with around("job", request="the-request-7", job="the-job"), around("call", call="the-call"):
    try:
        {{}}["{PRIVATE}"]
    except KeyError:
        secret = "{PRIVATE}"
        logging.getLogger("worker").exception("the job of %s failed", secret)
"""


class Receiver(BaseHTTPRequestHandler):
    """Takes whatever is sent."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        unpacks = {"gzip": gzip.decompress, "br": brotli.decompress}
        body = unpacks.get(self.headers.get("Content-Encoding"), bytes)(body)
        self.server.got.append((self.path, body))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        """Say nothing."""


@pytest.fixture
def receiver():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    server.got = []
    threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def do(script, folder, **environment):
    """Run a script in a process with these settings; return its lines."""
    kept = {name: each for name, each in os.environ.items() if not name.startswith("OTEL_")}
    own = {"DJANGO_SETTINGS_MODULE": "cqa_site.settings", "DATA_DIR": str(folder)}
    own |= {"ALLOWED_HOSTS": "testserver", "LOG_LEVEL": "CRITICAL"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=kept | own | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.long
def test_lines_are_few_and_for_people_and_in_production_for_machines(tmp_path):
    script = """
from django.conf import settings
print(settings.LOG_LEVEL, settings.LOGGING["handlers"]["console"]["formatter"])
"""
    production = {"PRODUCTION": "true", "SECRET_KEY": "x" * 60, "SECRETS_KEYS": "a"}
    assert do(script, tmp_path, LOG_LEVEL="") == ["WARNING plain"]
    assert do(script, tmp_path, LOG_LEVEL="", **production) == ["INFO json"]


@pytest.mark.long
def test_the_address_of_traces_may_stand_in_a_file(tmp_path):
    """Without the path that standard variables add, or with another one."""
    script = "from django.conf import settings; print(settings.TRACES_ENDPOINT)"
    file = tmp_path / "collector"
    file.write_text("http://collector.example:4318/\n")
    named = {"OTEL_EXPORTER_OTLP_ENDPOINT_FILE": str(file)}
    assert do(script, tmp_path, **named) == ["http://collector.example:4318/v1/traces"]
    named["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] = "http://traces.example/own"
    assert do(script, tmp_path, **named) == ["http://traces.example/own"]


@pytest.mark.skipif(not find_spec("sentry_sdk"), reason="needs requirements-watching.txt")
def test_a_report_of_an_error_holds_what_its_line_holds(tmp_path, receiver):
    address = f"http://key@127.0.0.1:{receiver.server_port}/1"
    flush = "\nimport sentry_sdk; sentry_sdk.flush(10)"
    do(WORK + flush, tmp_path, SENTRY_DSN=address, LOG_LEVEL="ERROR")
    text = b"\n".join(body for _path, body in receiver.got).decode()
    assert text.count('"type":"ValueError"') == text.count('"type":"KeyError"') == 1
    for expected in ("the-request-7", '"route":"health"', "the-job", "the-call", "the job of %s"):
        assert expected in text
    assert PRIVATE not in text


@pytest.mark.skipif(not find_spec("opentelemetry"), reason="needs requirements-watching.txt")
def test_traces_name_requests_jobs_and_calls_as_lines_do(tmp_path, receiver):
    address = tmp_path / "collector"
    address.write_text(f"http://127.0.0.1:{receiver.server_port}/")
    flush = """
from opentelemetry import trace
trace.get_tracer_provider().force_flush()
"""
    do(WORK + flush, tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT_FILE=str(address))
    assert {path for path, _body in receiver.got} == {"/v1/traces"}
    sent = b"\n".join(body for _path, body in receiver.got)
    for expected in (b"GET health", b"counterpoint.request", b"the-request-7", b"the-call"):
        assert expected in sent
    assert b"http.status_code" in sent
    assert PRIVATE.encode() not in sent
    assert b"/join/" not in sent
