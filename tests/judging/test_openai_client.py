"""The real client against a server that misbehaves in every way the retry table knows."""

import asyncio
import functools
import io
import json
import subprocess
import sys
import traceback

import httpx2
import pytest

from cqa_site.judging.chat import CallFailed, ChatRequest, Failure
from cqa_site.judging.transport.egress import AllowedNetwork, GuardedTransport
from cqa_site.judging.transport.openai_client import OpenAIClient

KEY = "sk-SENTINEL-0123456789abcdefghijklmnopqrstuvwxyz"
SCHEMA = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "maxLength": 300},
        "label": {"type": "integer", "enum": [0, 1, 2, 3]},
    },
}
MESSAGES = ({"role": "system", "content": "Rate."}, {"role": "user", "content": "Oak is hard."})


def request(**options):
    return ChatRequest("judge-1", MESSAGES, **({"deadline": 5.0, "schema": SCHEMA} | options))


REQUEST = request()


def carried(stub, *, key=KEY, request=REQUEST, ask=None, **options):
    """What one method call of a fresh client returns."""

    async def run():
        allowed = [AllowedNetwork("127.0.0.1", stub.port)]
        client = OpenAIClient(stub.base_url, key, allowed, **options)
        try:
            return await (ask(client) if ask else client.complete(request))
        finally:
            await client.close()

    return asyncio.run(run())


def failure(stub, **options):
    with pytest.raises(CallFailed) as problem:
        carried(stub, **options)
    return problem.value


def sent(stub):
    """Bodies of chat requests, by looking over the stub's shoulder."""
    bodies = []
    original = stub.stub.completion
    stub.stub.completion = lambda document, *rest: (
        bodies.append(document) or original(document, *rest)
    )
    return bodies


def test_a_request_is_sent_as_it_was_made_and_a_reply_keeps_what_the_wire_said(stub):
    bodies = sent(stub)
    carried(stub, request=request(params={"temperature": 0, "seed": 7, "top_k": 5}))
    carried(stub, request=request(schema=None))
    schema = {"name": "answer", "schema": SCHEMA, "strict": True}
    assert bodies[0] == {
        "model": "judge-1",
        "messages": [dict(message) for message in MESSAGES],
        "response_format": {"type": "json_schema", "json_schema": schema},
    } | {"temperature": 0, "seed": 7, "top_k": 5}
    assert "response_format" not in bodies[1]
    assert stub.stub.last_headers["authorization"] == f"Bearer {KEY}"
    assert stub.stub.last_headers["user-agent"] == "Counterpoint"
    reply = carried(stub)
    assert json.loads(reply.text)["label"] in (0, 1, 2, 3)
    assert (reply.finish_reason, reply.model, reply.fingerprint) == ("stop", "stub-1", "fp-stub")
    assert reply.request_id.startswith("req-")
    assert reply.tokens_cached == reply.tokens_in // 2 > 0
    assert reply.tokens_out > 0
    assert reply.refusal == ""
    assert 0 <= reply.milliseconds < 5000
    assert json.loads(reply.body)["choices"][0]["message"]["content"] == reply.text
    body = len(carried(stub).body)
    assert carried(stub, max_bytes=body + 10).text
    assert failure(stub, max_bytes=body - 10).kind is Failure.TOO_LARGE


def test_the_environment_adds_nothing(stub, monkeypatch):
    for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID"):
        monkeypatch.setenv(f"OPENAI_{name}", f"of-the-environment-{name}")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://1.1.1.1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer x\nX-Own: 1\nCookie: x")
    ours = {"accept", "accept-encoding", "content-length", "content-type", "host", "user-agent"}
    for ask in (None, lambda client: client.upload(b"{}")):
        carried(stub, ask=ask)
        assert set(stub.stub.last_headers) == ours | {"authorization"}
        assert stub.stub.last_headers["authorization"] == f"Bearer {KEY}"
        assert stub.stub.last_headers["user-agent"] == "Counterpoint"
        carried(stub, key="", ask=ask)
        assert set(stub.stub.last_headers) == ours
    models = carried(stub, key="", ask=lambda client: client.models())
    assert models == ["stub-1"]
    assert set(stub.stub.last_headers) == ours - {"content-length", "content-type"}


STATUSES = {
    Failure.REQUEST: (400, 404, 405, 413, 422),
    Failure.DENIED: (401, 403),
    Failure.QUOTA: (402,),
    Failure.SERVER: (408, 409, 425, 500, 502, 503, 504, 529),
}


def test_a_status_becomes_its_failure_after_one_request(stub):
    told = [(status, kind) for kind in STATUSES for status in STATUSES[kind]]
    for n, (status, kind) in enumerate(told, start=1):
        stub.conduct.broken, stub.conduct.broken_status = 1.0, status
        found = failure(stub)
        assert (found.kind, found.status) == (kind, status)
        assert found.body == '{"error": {"message": "broken"}}'
        assert str(found) == f"the endpoint answered {status}: broken"
        assert found.retry_after == (1.0 if status == 503 else None)
        assert stub.counts["requests"] == n


FAULTS = [
    ({"throttled": 1.0, "retry_after": "7"}, Failure.THROTTLED, 7.0),
    ({"throttled": 1.0, "retry_after": ""}, Failure.THROTTLED, None),
    ({"quota": 1.0, "retry_after": "7"}, Failure.QUOTA, 7.0),
    ({"hung": 1.0}, Failure.TIMEOUT, None),
    ({"reset": 1.0}, Failure.CONNECTION, None),
    ({"garbage": 1.0}, Failure.GARBAGE, None),
    ({"misshaped": 1.0}, Failure.GARBAGE, None),
    ({"huge": 1.0}, Failure.TOO_LARGE, None),
]


@pytest.mark.parametrize(("conduct", "kind", "after"), FAULTS)
def test_a_fault_becomes_its_failure_after_one_request(conduct, kind, after, stub):
    for name, value in conduct.items():
        setattr(stub.conduct, name, value)
    found = failure(stub, request=request(deadline=1.0))
    assert (found.kind, found.retry_after) == (kind, after)
    assert found.milliseconds < 2500
    assert stub.counts["requests"] == 1
    # Nothing of the request hangs on the failure, where a debug page would show it.
    assert found.__cause__ is None
    assert found.__suppress_context__ or found.__context__ is None


def test_a_failure_inside_the_http_library_is_a_connection_failure(stub, monkeypatch):
    async def fail(self, request):
        raise httpx2.ReadError("internals")

    monkeypatch.setattr(GuardedTransport, "handle_async_request", fail)
    found = failure(stub, ask=lambda client: client.upload(b"{}"))
    assert (found.kind, str(found)) == (Failure.CONNECTION, "the connection broke")


def test_an_answered_request_is_a_reply_whatever_it_says(stub):
    declined = "I can't help with that."
    for fault, told in {
        "cut": ("length", ""),
        "refused": ("stop", declined),
        "empty": ("", ""),
    }.items():
        setattr(stub.conduct, fault, 1.0)
        reply = carried(stub)
        setattr(stub.conduct, fault, 0.0)
        assert (reply.finish_reason, reply.refusal) == told, fault
        assert reply.tokens_in > 0
        assert reply.text == "" or fault == "cut"


DEEP = functools.reduce(lambda inside, _: [inside], range(100_000), [])


def test_what_cannot_be_asked_is_not_sent(stub):
    stops = ({1, 2}, "\ud800", DEEP)
    for params in (
        *({"temperature": float("nan")}, {"stream": True}, {"model": "other"}),
        *({"stop": stop} for stop in stops),
    ):
        assert failure(stub, request=request(params=params)).kind is Failure.REQUEST
    assert stub.counts["requests"] == 0


def test_keys_never_come_back(stub):
    stub.conduct.key = "sk-another-key-0123456789"
    found = failure(stub)
    assert found.kind is Failure.DENIED
    assert "Incorrect API key provided: [key]" in str(found)
    shown = "".join(traceback.format_exception(found)) + repr(found) + found.body
    shown += repr(OpenAIClient("https://api.example.org/v1", KEY))
    for start in range(len(KEY) - 3):
        assert KEY[start : start + 4] not in shown
    stub.conduct.key = ""
    stub.stub._answer = lambda document: f"you sent {KEY} EMPTY"
    reply = carried(stub)
    assert reply.text == "you sent [key] EMPTY"
    assert "SENTINEL" not in reply.body
    # Placeholders leave texts alone.
    assert carried(stub, key="EMPTY").text == f"you sent {KEY} EMPTY"


class TestBatches:
    def lines(self, count):
        bodies = [
            {
                "custom_id": f"call-{number}",
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": {"model": "m", "messages": [{"role": "user", "content": f"{number}"}]},
            }
            for number in range(count)
        ]
        return "".join(json.dumps(body) + "\n" for body in bodies).encode()

    def test_go_from_upload_to_download(self, stub):
        async def run(client):
            file = await client.upload(io.BytesIO(self.lines(20)))
            made = await client.create_batch(file, {"run": "7"})
            state = await client.batch(made.id)
            target = io.BytesIO()
            size = await client.download(state.output_file, target)
            return made, state, size, target.getvalue()

        made, state, size, content = carried(stub, ask=run)
        assert (state.id, state.status, state.error_file) == (made.id, "completed", "")
        assert (state.total, state.completed, state.failed) == (20, 20, 0)
        assert size == len(content)
        results = [json.loads(line) for line in content.splitlines()]
        assert {one["custom_id"] for one in results} == {f"call-{n}" for n in range(20)}
        assert results[0]["custom_id"] == "call-19"  # in any order but the one sent

    def test_name_what_was_not_done(self, stub):
        stub.conduct.broken, stub.conduct.batch_unfinished = 0.5, 0.2

        async def run(client):
            state = await client.create_batch(await client.upload(self.lines(50)))
            target = io.BytesIO()
            await client.download(state.error_file, target)
            return state, target.getvalue().splitlines()

        state, errors = carried(stub, ask=run)
        assert state.status == "expired"
        assert state.completed + state.failed == state.total == 50
        assert len(errors) == state.failed >= 10

    def test_that_are_unknown_or_too_large_say_so(self, stub):
        for ask in (
            lambda client: client.batch("../../models"),
            lambda client: client.download("file-none", io.BytesIO()),
        ):
            found = failure(stub, ask=ask)
            assert (found.kind, found.status) == (Failure.REQUEST, 404)
        stub.stub.batches.files["file-big"] = b"x" * 3_000_000
        target = io.BytesIO()
        size = carried(stub, ask=lambda client: client.download("file-big", target))
        assert size == len(target.getvalue()) == 3_000_000
        found = failure(
            stub, ask=lambda client: client.download("file-big", io.BytesIO(), max_bytes=2_000_000)
        )
        assert found.kind is Failure.TOO_LARGE


def test_many_at_once_share_connections_and_lose_nothing(stub):
    stub.conduct.latency, stub.conduct.throttled = 0.05, 0.2

    async def run(client):
        asked = [request(params={"user": str(number)}) for number in range(300)]
        slots = asyncio.Semaphore(32)

        async def one(each):
            async with slots:
                return await client.complete(each)

        return await asyncio.gather(*map(one, asked), return_exceptions=True)

    results = carried(stub, ask=run)
    failed = [one for one in results if isinstance(one, CallFailed)]
    assert {one.kind for one in failed} == {Failure.THROTTLED}
    assert len(failed) == stub.counts["throttled"]
    assert len(results) - len(failed) == stub.counts["answered"]
    assert stub.counts["most_in_flight"] <= 32
    assert stub.counts["connections"] <= 32
    assert stub.counts["duplicates"] == 0


@pytest.mark.long
def test_the_sdk_is_loaded_for_files_and_not_before(stub):
    code = (
        "import asyncio, sys, cqa_site.judging.transport.openai_client as module\n"
        "from cqa_site.judging.chat import ChatRequest\n"
        f"allowed = [module.AllowedNetwork('127.0.0.1', {stub.port})]\n"
        f"client = module.OpenAIClient({stub.base_url!r}, 'key', allowed)\n"
        "asyncio.run(client.complete(ChatRequest('m', ({'role': 'user', 'content': '?'},))))\n"
        "assert 'openai' not in sys.modules and 'django' not in sys.modules\n"
        "asyncio.run(client.upload(b'{}'))\n"
        "assert 'openai' in sys.modules\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
