"""A language model that is none: an OpenAI-compatible server with settable misbehaviour.

In a test: ``with StubServer(latency=0.2, throttled=0.1) as stub: … stub.base_url``. An ``answer``
that returns bytes is sent as the whole body.

Every share is drawn from the seed, the body's hash and how often that body came before, so
that a run misbehaves the same way whatever the order of its requests.
"""

import asyncio
import gzip
import hashlib
import json
import random
import ssl
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from . import stub_answers
from .stub_batches import Batches
from .stub_http import Connection, Request, Wire, head

LIMITS = ("max_tokens", "max_completion_tokens")
FAULTS = (
    "throttled", "quota", "broken", "hung", "reset", "dripped", "garbage", "cut", "refused",
    "empty", "gzipped", "redirected", "huge", "endless", "headers", "misshaped",
)  # fmt: skip


@dataclass
class Conduct:
    """How the stub behaves; shares are between 0 and 1 and add up to at most 1."""

    latency: float = 0.0
    seed: int = 0
    cap: int = 0  # most requests in flight before 429; 0 means none
    retry_after: str = "1"  # sent with every 429 and 503; empty sends none
    throttled: float = 0.0  # 429
    quota: float = 0.0  # 429 insufficient_quota
    broken: float = 0.0  # status `broken_status`
    broken_status: int = 500
    hung: float = 0.0  # never answered
    reset: float = 0.0  # the connection is torn
    dripped: float = 0.0  # a byte every `drip_seconds`
    drip_seconds: float = 0.1
    garbage: float = 0.0  # 200 with a page instead of JSON
    cut: float = 0.0  # the answer ends in the middle, finish_reason length
    refused: float = 0.0  # the model declines
    empty: float = 0.0  # no choices
    gzipped: float = 0.0
    redirected: float = 0.0
    redirect_status: int = 307
    redirect_to: str = "/elsewhere"
    huge: float = 0.0  # `huge_bytes` with a length
    huge_bytes: int = 10_000_000
    endless: float = 0.0  # no length, no end
    headers: float = 0.0  # headers that never end
    misshaped: float = 0.0  # JSON, but no completion
    faults_once: bool = False  # a body that comes again is answered well
    key: str = ""  # required as bearer token; refusals repeat part of what was sent
    model: str = "stub-1"  # name the stub answers with
    refuses: str = ""  # a parameter that gets a 400 which names it; several with commas
    honours_limit: bool = True
    honours_schema: bool = True
    honours_seed: bool = True
    has_logprobs: bool = True
    honours_n: bool = True
    batch_seconds: float = 0.0
    batch_unfinished: float = 0.0  # share of a batch's lines that expire


class Stub:
    """The server's state; belongs to one event loop."""

    def __init__(
        self,
        conduct: Conduct,
        answer: Callable[[dict[str, Any]], str | bytes] | None = None,
    ) -> None:
        self.conduct = conduct
        self._answer = answer
        self._tasks: set[asyncio.Task] = set()
        self.reset()

    def reset(self) -> None:
        self.counts: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()
        self.paid: Counter[str] = Counter()
        self.in_flight = self.most_in_flight = self.connections = 0
        self.first_at = self.last_at = 0.0
        self.last_headers: dict[str, str] = {}
        self.batches = Batches(self._complete_for_batch, self.conduct)

    def summary(self) -> dict[str, Any]:
        """Counts; ``duplicates`` is how many answers were given to a body already answered."""
        return {
            **{name: self.counts[name] for name in ("requests", "answered", "capped", *FAULTS)},
            "duplicates": sum(self.paid.values()) - len(self.paid),
            "in_flight": self.in_flight,
            "most_in_flight": self.most_in_flight,
            "connections": self.connections,
            "span": self.last_at - self.first_at,
        }

    async def serve(self, port: int, tls: ssl.SSLContext | None = None) -> asyncio.Server:
        loop = asyncio.get_running_loop()
        make = lambda: Connection(self.handle, self._tasks, self._opened)  # noqa: E731
        return await loop.create_server(make, "127.0.0.1", port, ssl=tls, backlog=1024)

    def _opened(self) -> None:
        self.connections += 1

    async def handle(self, request: Request, wire: Wire) -> None:
        match request.path.partition("?")[0].strip("/").split("/"):
            case ["stub", "counts"]:
                wire.send_json(self.summary())
            case ["v1", *parts]:
                await self._interface(request, wire, parts)
            case _:
                self.counts["elsewhere"] += 1
                wire.send_json({"error": {"message": "not here"}}, 404)

    async def _interface(self, request: Request, wire: Wire, parts: list[str]) -> None:
        self.last_headers = request.headers
        sent = request.headers.get("authorization", "").removeprefix("Bearer ")
        if self.conduct.key and sent != self.conduct.key:
            words = f"Incorrect API key provided: {sent[:8]}*****{sent[-4:]} ({sent})."
            wire.send_json({"error": {"message": words, "code": "invalid_api_key"}}, 401)
        elif parts == ["chat", "completions"]:
            await self._chat(request, wire)
        elif parts == ["models"]:
            model = {"id": self.conduct.model, "object": "model", "created": 0, "owned_by": "stub"}
            wire.send_json({"object": "list", "data": [model]})
        else:
            self.batches.handle(request, wire, parts)

    async def _chat(self, request: Request, wire: Wire) -> None:
        name = hashlib.sha256(request.body).hexdigest()
        self.counts["requests"] += 1
        self.first_at = self.first_at or time.monotonic()
        if self.conduct.cap and self.in_flight >= self.conduct.cap:
            self.counts["capped"] += 1
            self._refuse(wire, "rate_limit_exceeded")
            return
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            fault = self._fault(name)
            if fault not in ("throttled", "quota", "redirected"):
                await asyncio.sleep(self.conduct.latency)
            self.counts[fault or "answered"] += 1
            await self._reply(request, wire, name, fault)
        finally:
            self.in_flight -= 1
            self.last_at = time.monotonic()

    def _fault(self, name: str) -> str:
        times = self.seen[name]
        self.seen[name] += 1
        if times and self.conduct.faults_once:
            return ""
        drawn = random.Random(f"{self.conduct.seed}|{name}|{times}").random()
        for fault in FAULTS:
            drawn -= getattr(self.conduct, fault)
            if drawn < 0:
                return fault
        return ""

    def _refuse(self, wire: Wire, code: str) -> None:
        after = {"retry-after": self.conduct.retry_after} if self.conduct.retry_after else {}
        wire.send_json(
            {"error": {"message": "slow down", "code": code, "type": code}}, 429, **after
        )

    async def _reply(self, request: Request, wire: Wire, name: str, fault: str) -> None:
        conduct = self.conduct
        if fault == "throttled":
            self._refuse(wire, "rate_limit_exceeded")
        elif fault == "quota":
            self._refuse(wire, "insufficient_quota")
        elif fault == "broken":
            after = {"retry-after": conduct.retry_after} if conduct.broken_status == 503 else {}
            wire.send_json({"error": {"message": "broken"}}, conduct.broken_status, **after)
        elif fault == "hung":
            await self._wait_until_gone(wire)
        elif fault == "reset":
            wire.hang_up()
        elif fault == "redirected":
            wire.send(conduct.redirect_status, b"", {"location": conduct.redirect_to})
        elif fault == "garbage":
            wire.send(200, b"<html><body>Bad gateway</body></html>", {"content-type": "text/html"})
        elif fault == "misshaped":
            wire.send_json({"id": 7, "choices": {"0": "no"}, "usage": "none"})
        elif fault in ("huge", "endless", "headers"):
            await self._flood(wire, fault)
        else:
            await self._complete(request, wire, name, fault)

    async def _complete(self, request: Request, wire: Wire, name: str, fault: str) -> None:
        document = json.loads(request.body)
        for parameter in filter(None, self.conduct.refuses.split(",")):
            if parameter in document:
                said = f"Unsupported parameter: '{parameter}' is not supported with this model."
                error = {"message": said, "type": "invalid_request_error", "param": parameter}
                wire.send_json({"error": error | {"code": "unsupported_parameter"}}, 400)
                return
        # Asked once, because who answers may count.
        said = self._answer(document) if self._answer else None
        is_body = isinstance(said, bytes)
        body = (
            said if is_body else json.dumps(self.completion(document, name, fault, said)).encode()
        )
        # Paid for from here on, whether or not anybody is left to read it.
        self.paid[name] += 1
        about = {"content-type": "application/json", "x-request-id": f"req-{uuid.uuid4().hex}"}
        if fault == "gzipped":
            body, about["content-encoding"] = gzip.compress(body), "gzip"
        if fault != "dripped":
            wire.send(200, body, about)
            return
        wire.write(head(200, about | {"content-length": str(len(body))}))
        for place in range(len(body)):
            if wire.is_gone:
                return
            wire.write(body[place : place + 1])
            await asyncio.sleep(self.conduct.drip_seconds)

    async def _wait_until_gone(self, wire: Wire) -> None:
        while not wire.is_gone:
            await asyncio.sleep(0.05)

    async def _flood(self, wire: Wire, fault: str) -> None:
        if fault == "huge":
            wire.send(200, b" " * self.conduct.huge_bytes, {"content-type": "application/json"})
            return
        wire.write(b"HTTP/1.1 200 Stub\r\n")
        if fault == "endless":
            wire.write(b"content-type: application/json\r\n\r\n")
        block = b" " * 65_536 if fault == "endless" else b"x-more: and more\r\n" * 100
        while not wire.is_gone:
            wire.write(block)
            await asyncio.sleep(0.001)

    def completion(
        self, document: dict[str, Any], name: str, fault: str = "", said: str | None = None
    ) -> dict[str, Any]:
        """The document of a chat completion; ``said`` is the first answer, if it is there."""
        count = document.get("n", 1) if self.conduct.honours_n else 1
        texts = [said, *[None] * (count - 1)]
        choices = [self._choice(document, at, fault, text) for at, text in enumerate(texts)]
        tokens_in = len(json.dumps(document.get("messages", []))) // 4
        tokens_out = sum(len(choice["message"]["content"] or "") for choice in choices) // 4 + 1
        tokens = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}
        tokens["total_tokens"] = tokens_in + tokens_out
        return {
            "id": f"chatcmpl-{name[:12]}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": self.conduct.model,
            "system_fingerprint": "fp-stub",
            "choices": [] if fault == "empty" else choices,
            "usage": tokens | {"prompt_tokens_details": {"cached_tokens": tokens_in // 2}},
        }

    def _choice(
        self, document: dict[str, Any], place: int, fault: str, said: str | None
    ) -> dict[str, Any]:
        text = self._text(document, place) if said is None else said
        limits = [document[name] for name in LIMITS if name in document]
        if self.conduct.honours_limit and limits and len(text) > 4 * limits[0]:
            text, fault = text[: 4 * limits[0]], fault or "limited"
        message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
        reason = "stop"
        if fault == "cut":
            message["content"], reason = text[: len(text) * 2 // 3], "length"
        elif fault == "limited":
            reason = "length"
        elif fault == "refused":
            message |= {"content": None, "refusal": "I can't help with that."}
        logprobs = None
        if document.get("logprobs") and self.conduct.has_logprobs:
            top = [{"token": text[:1], "logprob": -0.1, "bytes": None}]
            logprobs = {"content": [top[0] | {"top_logprobs": top}], "refusal": None}
        return {"index": place, "message": message, "finish_reason": reason, "logprobs": logprobs}

    def _text(self, document: dict[str, Any], place: int) -> str:
        if self._answer:
            return self._answer(document)
        salt = ""
        if document.get("temperature", 1) > 0:
            is_seeded = self.conduct.honours_seed and "seed" in document
            salt = f"{document['seed'] if is_seeded else random.random()}|{place}"
        if not self.conduct.honours_schema:
            document = {key: document[key] for key in document if key != "response_format"}
        return stub_answers.answer(document, salt)

    def _complete_for_batch(self, document: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        name = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()
        fault = self._fault(name)
        if fault in ("broken", "throttled"):
            return self.conduct.broken_status, {"error": {"message": "broken"}}
        self.paid[name] += 1
        return 200, self.completion(document, name, fault)


class StubServer:
    """The stub in a thread of its own, for tests whose code has other loops."""

    def __init__(
        self,
        *,
        port: int = 0,
        answer: Callable[[dict[str, Any]], str | bytes] | None = None,
        tls: ssl.SSLContext | None = None,
        **conduct: Any,
    ) -> None:
        self.conduct = Conduct(**conduct)
        self.stub = Stub(self.conduct, answer)
        self._port, self._tls = port, tls
        self._loop = asyncio.new_event_loop()
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "StubServer":
        self._thread.start()
        assert self._started.wait(10), "the stub did not start"
        return self

    def __exit__(self, *_exc: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    @property
    def base_url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}/v1"

    @property
    def counts(self) -> dict[str, Any]:
        return self.stub.summary()

    def reset(self) -> None:
        self._loop.call_soon_threadsafe(self.stub.reset)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(self.stub.serve(self._port, self._tls))
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        self._loop.run_forever()
        server.close()
        left = asyncio.all_tasks(self._loop)
        for task in left:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.close()
