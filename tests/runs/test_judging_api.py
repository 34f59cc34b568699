"""Endpoints, prompts and judge runs by a program: start one, watch it, read what it left."""

import hashlib
import hmac
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from unittest import mock

import pytest

from cqa_site.judging.chat import CallFailed, ChatReply, Failure
from cqa_site.runs import jobs as bell
from cqa_site.runs.carrying import clients, worker
from cqa_site.runs.ledger import gates
from cqa_site.runs.models import Endpoint, Job, Run
from cqa_site.web.limits import CourtesyThrottle
from tests.api.conftest import client_of
from tests.api.routes import ENDPOINT, PROMPT
from tests.runs.judging import Lab, answer_by_text, script
from tests.runs.made_runs import SENTINEL
from tests.worlds import built_once

pytestmark = pytest.mark.django_db

assert worker  # registers the jobs these tests run

SECRET = "a secret of more than sixteen characters"


@pytest.fixture(autouse=True)
def _no_throttle(monkeypatch):
    monkeypatch.setattr(CourtesyThrottle, "rate", None)


lab = built_once(Lab)


@pytest.fixture
def program(lab, django_capture_on_commit_callbacks):
    return Program(lab, django_capture_on_commit_callbacks)


class Program:
    """A client whose requests end with the work they asked for."""

    def __init__(self, lab, capture):
        self.client = client_of(lab.researcher)
        self.base = f"/api/v1/studies/{lab.study.public_id}/"
        self.capture = capture
        self.plan = {
            "label_round": str(lab.label_round.public_id),
            "endpoint": str(lab.endpoint.public_id),
            "prompt": str(lab.single.public_id),
        }

    def get(self, path, status=200):
        response = self.client.get(self.base + path)
        assert response.status_code == status, response.content
        return response.json()

    def send(self, method, path, status, body=None):
        with self.capture(execute=True):
            response = getattr(self.client, method)(self.base + path, body or {}, format="json")
        assert response.status_code == status, response.content
        return response.json()

    def post(self, path, status, **body):
        return self.send("post", path, status, body)

    def patch(self, path, status, **body):
        return self.send("patch", path, status, body)

    def start(self, status=201, **chosen):
        """The run as it is when its work is over, or the refusal."""
        answer = self.post("runs/", status, **self.plan | chosen)
        return self.get(f"runs/{answer['id']}/") if status < 400 else answer

    def move(self, run, name, status=200, **body):
        """The run after a move and the work it asked for."""
        answer = self.post(f"runs/{run['id']}/{name}/", status, **body)
        return self.get(f"runs/{answer['id']}/")


def test_a_key_goes_in_and_only_its_end_comes_out(program):
    body = ENDPOINT | {"key": SENTINEL, "price_in": "0.15", "extra_params": {"top_p": 0.5}}
    made = program.post("endpoints/", 201, **body)
    assert (made["has_key"], made["last4"]) == (True, "WXYZ")
    assert made["origin"] == "https://lab.example:443"
    assert (made["price_in"], made["extra_params"]) == ("0.150000", {"top_p": 0.5})
    assert gates.open_key(Endpoint.objects.get(public_id=made["id"])) == SENTINEL
    here = f"endpoints/{made['id']}/"
    kept = program.patch(here, 200, model="other", key="")
    assert (kept["model"], kept["has_key"], kept["name"]) == ("other", True, "Lab")
    moved = program.patch(here, 200, base_url="https://elsewhere.example/v1")
    assert (moved["has_key"], moved["last4"]) == (False, "")
    assert program.patch(here, 200, key=SENTINEL)["has_key"]
    archived = program.post(f"{here}archive/", 200)
    assert (archived["is_archived"], archived["has_key"]) == (True, False)
    (listed,) = program.get("endpoints/?is_archived=true")["results"]
    assert listed["id"] == made["id"]
    for method, path in (("patch", here), ("post", f"{here}probe/"), ("post", f"{here}archive/")):
        program.send(method, path, 404)


def test_a_probe_is_a_job_whose_findings_the_endpoint_shows(program, monkeypatch):
    prober = mock.AsyncMock(probe=mock.Mock(side_effect=CallFailed(Failure.CERTIFICATE, "Own.")))
    monkeypatch.setitem(clients.MAKERS, Endpoint.Kind.REMOTE, lambda endpoint: prober)
    here = f"endpoints/{program.plan['endpoint']}/"
    job = program.post(f"{here}probe/", 202)
    assert job["kind"] == "probe_endpoint"
    found = program.get(f"jobs/{job['id']}/")
    assert (found["state"], found["error"]) == ("failed", "certificate: Own.")
    Endpoint.objects.update(capabilities={"seed": {"works": True, "evidence": "twice the same"}})
    found = {"works": True, "evidence": "twice the same"}
    found |= {"refused": False, "parameter": "", "proposed": 0}
    assert program.get(here)["capabilities"] == {"seed": found}


def test_a_prompt_is_one_version_a_text_and_can_be_changed_until_a_run_used_it(
    program, monkeypatch
):
    script(monkeypatch, answer_by_text)
    made = program.post("prompts/", 201, **PROMPT)
    same = program.post("prompts/", 200, **PROMPT | {"name": "Another name"})
    assert (same["id"], made["number"]) == (made["id"], 2)
    faulty = PROMPT | {"system": "Read.\n{{nothing}}"}
    assert program.post("prompts/", 400, **faulty)["errors"]["system"][0].startswith("Line 2")
    here = f"prompts/{made['id']}/"
    changed = program.patch(here, 200, user="{{sentence}} {{object1}} {{object2}}", note="Order.")
    assert (changed["system"], changed["note"]) == (PROMPT["system"], "Order.")
    assert changed["sha256"] != made["sha256"]
    program.start(prompt=made["id"], preflight="off", choice="sample", sample=2)
    assert "new version" in program.patch(here, 409, note="Late.")["detail"]
    (frozen,) = program.get("prompts/?is_frozen=true&kind=relevance_single")["results"]
    assert (frozen["id"], bool(frozen["frozen_at"])) == (made["id"], True)


def test_a_program_steers_a_run_and_asks_again_for_what_is_unscored(program, monkeypatch):
    script(monkeypatch, lambda request: ChatReply(text="None.", body='{"x": "None."}', model="m"))
    run = program.start(preflight="off")
    here = f"runs/{run['id']}/"
    counts = {"calls/?state=unscored&reason=no_json": 30, "calls/?state=done": 0, "replies/": 60}
    counts |= {"labels/?is_unscored=true": 30, "labels/?label=1": 0}
    assert {path: program.get(here + path)["count"] for path in counts} == counts
    assert "body" not in program.get(f"{here}replies/")["results"][0]["reply"]
    script(monkeypatch, lambda request: CallFailed(Failure.DENIED, "HTTP 401.", status=401))
    assert "unscored" in program.post(f"{here}retry/", 409, reasons=["refused"])["detail"]
    paused = program.move(run, "retry", reasons=["no_json"])
    assert paused["message"].startswith("The endpoint refused the key. HTTP 401.")
    assert program.post(f"{here}pause/", 409)["detail"] == "The run is paused."
    assert program.patch(here, 200, ceiling=4, cap_micro=None)["ceiling"] == 4
    assert program.patch(here, 200, cap_micro=9)["ceiling"] == 4
    assert program.patch(here, 200, ceiling=None)["cap_micro"] == 9
    script(monkeypatch, answer_by_text)
    assert program.move(run, "resume")["pause_reason"] == "budget"
    assert program.move(run, "cancel")["state"] == "cancelled"
    again = program.move(run, "again", 201)
    assert (again["number"], again["spec"]["reuse"]) == (2, False)


class Receiver(BaseHTTPRequestHandler):
    """Somebody's program that waits for the message."""

    heard: list[tuple[str, str, bytes]] = []
    statuses: list[int] = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        signed = self.headers["X-Counterpoint-Signature"]
        type(self).heard.append((self.path, signed, body))
        self.send_response(self.statuses.pop(0) if self.statuses else 204)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args):
        """Say nothing."""


@pytest.fixture
def receiver(settings, monkeypatch):
    monkeypatch.setattr(worker, "WAITS", (0, 0, 0))
    Receiver.heard, Receiver.statuses = [], []
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
    settings.EGRESS_ALLOW = f"127.0.0.1/32:{server.server_port}"
    yield f"http://127.0.0.1:{server.server_port}/ended?from=counterpoint"
    server.shutdown()
    server.server_close()


def is_genuine(header, body, secret=SECRET):
    """What docs/judging.md tells a receiver to do."""
    parts = dict(part.split("=", 1) for part in header.split(","))
    told = f"{parts['t']}.".encode() + body
    expected = hmac.new(secret.encode(), told, hashlib.sha256).hexdigest()
    is_fresh = abs(time.time() - int(parts["t"])) < 300
    return is_fresh and hmac.compare_digest(expected, parts["v1"])


def test_the_end_of_a_run_is_told_once_and_signed(program, receiver, monkeypatch):
    script(monkeypatch, answer_by_text)
    run = program.start(webhook_url=receiver, webhook_secret=SECRET)
    assert Receiver.heard == []
    assert SECRET not in json.dumps(run)
    done = program.move(run, "go-on")
    ((path, header, body),) = Receiver.heard
    assert path == "/ended?from=counterpoint"
    assert is_genuine(header, body)
    assert not is_genuine(header, body.replace(b"30", b"31"))
    assert not is_genuine(header, body, secret=SECRET + "!")
    told = json.loads(body)
    assert told["event"] == "run_ended"
    ended = (told["run"], told["state"], told["done"], told["unscored"])
    assert ended == (run["id"], "done", 30, 0)
    assert told["spent_micro"] == done["spent_micro"]
    assert b"beats" not in body
    assert SECRET.encode() not in bytes(Run.objects.get().webhook_ciphertext)


def test_a_receiver_that_stumbles_is_told_again(program, receiver, monkeypatch):
    script(monkeypatch, answer_by_text)
    Receiver.statuses = [500, 503]
    program.start(preflight="off", webhook_url=receiver, webhook_secret=SECRET)
    assert len(Receiver.heard) == 3
    assert all(is_genuine(header, body) for _path, header, body in Receiver.heard)
    assert program.get("jobs/?kind=run_webhook")["results"][0]["state"] == "done"


@pytest.mark.long
def test_the_message_goes_to_no_address_that_is_not_allowed(program, receiver, monkeypatch):
    script(monkeypatch, answer_by_text)
    addresses = (
        *("http://127.0.0.1:1/", "http://169.254.169.254/latest/meta-data/"),
        *("https://10.0.0.1/", "http://[::ffff:127.0.0.1]:9/"),
    )
    hook = {"webhook_secret": SECRET, "preflight": "off", "choice": "sample", "sample": 1}
    for place, address in enumerate(addresses):
        assert program.start(webhook_url=address, seed=place, **hook)["state"] == "done"
    jobs = program.get("jobs/?kind=run_webhook")["results"]
    told = ("failed", "address not allowed")
    assert [(job["state"], job["error"]) for job in jobs] == [told] * len(addresses)
    assert Receiver.heard == []


@pytest.mark.long
def test_a_message_whose_secret_cannot_be_read_says_so(program, receiver, monkeypatch):
    script(monkeypatch, answer_by_text)
    run = program.start(webhook_url=receiver, webhook_secret=SECRET)
    Run.objects.update(webhook_ciphertext=b"of another installation")
    program.post(f"runs/{run['id']}/go-on/", 200)
    (job,) = program.get("jobs/?kind=run_webhook")["results"]
    said = "A stored secret cannot be read with SECRETS_KEYS"
    assert (job["state"], job["error"].split(".")[0]) == ("failed", said)


def test_a_message_is_asked_for_in_the_transaction_that_ends_the_run(
    program, receiver, monkeypatch
):
    """A process killed right after the commit has forgotten nothing."""
    script(monkeypatch, answer_by_text)
    run = program.start(webhook_url=receiver, webhook_secret=SECRET)
    response = program.client.post(f"{program.base}runs/{run['id']}/cancel/", {}, format="json")
    assert response.status_code == 200
    assert Job.objects.get(kind="run_webhook").state == Job.State.READY
    bell.drain()
    told = json.loads(Receiver.heard[0][2])
    assert (told["state"], told["done"], told["cancelled"]) == ("cancelled", 20, 10)
