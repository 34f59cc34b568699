"""An API key leaves in one header of one request; it is nowhere else, and it can be replaced."""

import json
import logging
import sqlite3
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command
from django.db import connection
from django.urls import reverse
from rest_framework.test import APIClient

from annotation.exports import actions as exports
from annotation.labelling.models import Assignment
from cqa_site.files.actions.exports import ExportOptions
from cqa_site.judging.chat import CallFailed, Failure
from cqa_site.judging.transport.openai_client import OpenAIClient
from cqa_site.people.access import create_token
from cqa_site.people.models import AuditEvent
from cqa_site.runs import jobs
from cqa_site.runs.actions.endpoints import change_endpoint, request_probe
from cqa_site.runs.carrying import clients, worker
from cqa_site.runs.ledger import gates
from cqa_site.runs.models import Attempt, Endpoint, Job, Reply, Run
from cqa_site.runs.progress import pause_in_words
from cqa_site.web.logging import JsonLines
from tests.annotation.voting import vote
from tests.cast import sign_in
from tests.judging.scripted import ScriptedClient
from tests.runs.judging import Lab, answer_by_text, good
from tests.runs.made_runs import SENTINEL

pytestmark = pytest.mark.django_db

assert worker  # registers the jobs these tests run


class Model(BaseHTTPRequestHandler):
    """A model that repeats the key wherever it can, and refuses when it is told to."""

    protocol_version = "HTTP/1.1"
    refuses = has_broken = False
    seen: list[str | None] = []

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        header = self.headers.get("Authorization")
        type(self).seen.append(header)
        if self.refuses:
            return self.answer(401, {"error": {"message": f"Incorrect API key: {SENTINEL}"}})
        message = {"role": "assistant", "content": good(2), "note": header}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        self.answer(200, {"model": f"echo {SENTINEL}", "choices": [choice], "id": SENTINEL})

    def answer(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Request-Id", SENTINEL)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        """Say nothing."""


@pytest.fixture
def model(settings):
    Model.refuses, Model.has_broken, Model.seen = False, False, []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
    settings.EGRESS_ALLOW = f"127.0.0.1/32:{server.server_port}"
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


@pytest.fixture
def lab():
    return Lab(items=6)


@pytest.fixture
def everything_is_logged(caplog):
    """As with LOG_LEVEL=DEBUG."""
    caplog.set_level(logging.DEBUG)
    return caplog


def with_key(lab, name="Keyed", key=SENTINEL, **values):
    endpoint = lab.make_endpoint(name, **values)
    change_endpoint(endpoint=endpoint, actor=lab.researcher, values={}, key=key)
    return endpoint


def database_bytes(folder: Path) -> bytes:
    """What lies on the disk: the file of SQLite, or every row of every table."""
    if connection.vendor == "sqlite":
        path = folder / "copy.sqlite3"
        target = sqlite3.connect(path)
        connection.connection.backup(target)
        target.close()
        return path.read_bytes()
    found = []
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            cursor.execute(f'SELECT t::text FROM "{table}" t')
            found += [row[0] for row in cursor.fetchall()]
    return "\n".join(found).encode()


@pytest.mark.django_db(transaction=True)
def test_the_key_is_in_the_request_and_nowhere_else(
    lab, model, settings, tmp_path, monkeypatch, everything_is_logged
):
    settings.MEDIA_ROOT = tmp_path / "files"
    endpoint = with_key(lab, base_url=model)
    lab.start(endpoint=endpoint)
    Model.refuses = True
    refused = lab.start(endpoint=endpoint, seed=2, reuse=False)
    request_probe(endpoint=endpoint, actor=lab.researcher)
    monkeypatch.setattr(OpenAIClient, "_ask", broken)
    lab.start(endpoint=endpoint, seed=3, reuse=False)
    assert set(Model.seen) == {f"Bearer {SENTINEL}"}
    assert Reply.objects.exclude(body="").count() == 6
    refused.refresh_from_db()
    assert refused.state == Run.State.PAUSED
    assert Attempt.objects.filter(message="The request could not be sent.").exists()

    vote(lab.label_round.items.first(), Run.objects.first().relevance.rater, 1)
    assert Assignment.objects.exists()
    exports.request_exports(
        label_round=lab.label_round,
        snapshot=None,
        contents=["votes", "annotators", "figures"],
        format="jsonl",
        options=ExportOptions(with_comments=True),
        actor=lab.researcher,
    )
    files = [path.read_bytes() for path in settings.MEDIA_ROOT.rglob("*") if path.is_file()]
    assert len(files) >= 3

    stored = database_bytes(tmp_path)
    assert endpoint.name.encode() in stored
    logged = everything_is_logged.text + "\n".join(
        JsonLines().format(record) for record in everything_is_logged.records
    )
    assert "other than CallFailed" in logged
    endpoint.refresh_from_db()
    shown = [endpoint, clients.client_for(endpoint), lab.plan(endpoint=endpoint), refused]
    said = "\n".join(f"{each!r} {each}" for each in shown)
    audit = str(list(AuditEvent.objects.values()))
    assert "endpoint_changed" in audit
    for text in (stored, logged.encode(), said.encode(), audit.encode(), *files):
        assert SENTINEL.encode() not in text
        assert SENTINEL.encode().hex().encode() not in text


async def broken(self, *args, **kwargs):
    """What no client should do, with the key in a local variable; then the run is paused."""
    header = f"Bearer {self._key}"
    if not Model.has_broken:
        Model.has_broken = True
        raise RuntimeError(f"no way to carry {len(header)} characters")
    raise CallFailed(Failure.DENIED, "HTTP 401.", status=401)


@pytest.mark.parametrize("where", ["page", "api"])
def test_an_error_page_with_debug_on_shows_no_key(
    lab, settings, monkeypatch, everything_is_logged, where
):
    settings.DEBUG = True

    def seal(secret):
        copied = list(secret)
        raise RuntimeError(f"sealing {len(copied)} characters failed")

    monkeypatch.setattr(gates, "seal", seal)
    body = {"name": "New", "base_url": "https://models.example/v1", "model": "m", "key": SENTINEL}
    body |= {"price_in": "0", "price_out": "0", "max_in_flight": 4, "deadline_seconds": 60}
    if where == "page":
        client = sign_in(lab.researcher)
        client.raise_request_exception = False
        url = reverse("endpoint_new", args=[lab.study.public_id])
        response = client.post(url, body, headers={"accept": "text/html"})
    else:
        client = APIClient(raise_request_exception=False)
        secret = create_token(user=lab.researcher, name="t", scope="write")[1]
        url = reverse("api_endpoints", args=[lab.study.public_id])
        headers = {"accept": "*/*", "authorization": f"Bearer {secret}"}
        response = client.post(url, body, format="json", headers=headers)
        assert secret not in response.text
    assert response.status_code == 500
    # A page says where it failed, the problem document of the API that the log does.
    assert ("sealing 33 characters failed" in response.text) == (where == "page")
    assert ("set_key" in response.text) == (where == "page")
    assert "sealing 33 characters failed" in everything_is_logged.text
    # The characters of the copied list would stand apart.
    for text in (response.text, everything_is_logged.text):
        assert SENTINEL not in text
        assert "&#x27;S&#x27;, &#x27;E&#x27;" not in text


STAYS = ("https://models.example/v2", "https://models.example:443/v1", "https://MODELS.example/v1")
GOES = (
    *("http://models.example/v1", "https://models.example:8443/v1"),
    *("https://models.example.evil.example/v1", "https://evil.example/models.example/v1"),
)


def test_another_origin_clears_the_key(lab):
    for number, address in enumerate((*STAYS, *GOES)):
        endpoint = with_key(lab, f"{number}", base_url="https://models.example/v1")
        change_endpoint(endpoint=endpoint, actor=lab.researcher, values={"base_url": address})
        endpoint.refresh_from_db()
        assert gates.open_key(endpoint) == (SENTINEL if address in STAYS else ""), address
        assert bool(endpoint.key_ciphertext) is bool(endpoint.key_last4) is (address in STAYS)
    # Nor does an address that was changed behind the back get one.
    endpoint = with_key(lab, base_url="https://models.example/v1")
    Endpoint.objects.filter(pk=endpoint.pk).update(base_url="https://evil.example/v1")
    endpoint.refresh_from_db()
    assert gates.open_key(endpoint) == ""


def test_an_old_key_can_go_when_everything_was_sealed_anew(lab, settings, capsys):
    old, new = (Fernet.generate_key().decode() for _ in range(2))
    settings.SECRETS_KEYS = [old]
    endpoint, before, run = with_key(lab), with_key(lab, "Before"), lab.start()
    Run.objects.filter(pk=run.pk).update(webhook_ciphertext=gates.seal("a webhook's secret"))
    settings.SECRETS_KEYS = [new, old]
    after = with_key(lab, "After")
    assert (gates.open_key(before), gates.open_key(after)) == (SENTINEL, SENTINEL)
    settings.SECRETS_KEYS = [new]
    assert gates.open_key(after) == SENTINEL
    with pytest.raises(gates.KeyUnreadable, match="Enter it again"):
        gates.open_key(before)
    with pytest.raises(CallFailed) as refusal:
        clients.client_for(before)
    assert refusal.value.kind is Failure.KEY
    settings.SECRETS_KEYS = [new, old]
    call_command("reseal_keys")
    assert capsys.readouterr().out.startswith("4 stored secrets")
    settings.SECRETS_KEYS = [new]
    endpoint.refresh_from_db()
    run.refresh_from_db()
    assert gates.open_key(endpoint) == SENTINEL
    assert gates.unseal(run.webhook_ciphertext) == "a webhook's secret"
    # With none of the keys, nothing changes.
    settings.SECRETS_KEYS = [old]
    with pytest.raises(CommandError, match=r"Nothing was changed\. No key in"):
        call_command("reseal_keys")


@pytest.fixture
def two_lanes(lab, settings, monkeypatch):
    """An endpoint whose key nobody can read any more, and one without a key, both with a run."""
    settings.SECRETS_KEYS = [Fernet.generate_key().decode()]
    # Another address: identical requests would be answered without any key.
    lost = with_key(lab, "Lost", base_url="https://lost.example/v1")
    settings.SECRETS_KEYS = [Fernet.generate_key().decode()]

    def make(endpoint):
        gates.open_key(endpoint)
        return ScriptedClient(answer_by_text)

    monkeypatch.setitem(clients.MAKERS, Endpoint.Kind.REMOTE, make)
    monkeypatch.setattr(jobs, "ring", lambda: None)
    runs = [lab.start(endpoint=endpoint) for endpoint in (lost, lab.endpoint)]
    jobs.drain()
    return runs


@pytest.mark.django_db(transaction=True)
def test_a_worker_with_a_key_it_cannot_read_serves_the_other_lanes(two_lanes, lab):
    worker.drain_runs(20)
    for run in two_lanes:
        run.refresh_from_db()
    stopped, other = two_lanes
    assert other.state == Run.State.DONE
    assert other.judge_labels.filter(label__isnull=False).count() == 6
    assert stopped.state == Run.State.PAUSED
    words = pause_in_words(stopped)
    assert words.startswith("The endpoint's key cannot be used.")
    assert "Enter it again" in words
    assert stopped.calls.filter(state="ready").count() == 6
    assert not worker.has_work()
    change_endpoint(endpoint=stopped.endpoint, actor=lab.researcher, values={}, key=SENTINEL)
    Run.objects.filter(pk=stopped.pk).update(state=Run.State.RUNNING)
    worker.drain_runs(20)
    stopped.refresh_from_db()
    assert stopped.state == Run.State.DONE


def test_a_probe_without_a_readable_key_says_so(lab, settings, monkeypatch):
    monkeypatch.setattr(jobs, "ring", lambda: None)
    endpoint = with_key(lab)
    settings.SECRETS_KEYS = [Fernet.generate_key().decode()]
    request_probe(endpoint=endpoint, actor=lab.researcher)
    jobs.drain()
    job = Job.objects.get(kind="probe_endpoint")
    assert job.state == Job.State.FAILED
    assert job.error.startswith("key: A stored secret cannot be read")
