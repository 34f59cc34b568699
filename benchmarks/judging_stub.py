"""The stub for the judging benchmark: it answers all runners and counts good answers.

    python -m benchmarks.judging_stub --port 9600 --style relevance --conduct '{"latency": 0.2}'

A request is identified by its model, messages and sampling parameters, without the token limit.
A runner that repeats a request with a higher limit asks the same question; with ``faults_once``,
it then gets a good answer.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.judging_meter import STUB_CORE, on_core
from tests.judging.llmstub import Conduct, Stub
from tests.judging.stub_http import Request, Wire

REASON = "The sentence names both objects and says which one is ahead in one respect. " * 4
LIMITS = ("max_tokens", "max_completion_tokens")
ANSWERS = {
    "relevance": json.dumps({"reason": REASON[:280], "label": 2}),
    "rubric": json.dumps({"reason": REASON[:280], "pass": True, "score": 1.0}),
    "grade": f"{REASON[:300]}\n\nGRADE: C",
}


class CountingStub(Stub):
    """A stub that also counts the questions that got a complete answer."""

    def reset(self) -> None:
        super().reset()
        self.well_answered: set[str] = set()

    def summary(self) -> dict[str, Any]:
        """Return the stub's counts, including distinct questions asked and answered well."""
        asked = {"asked": len(self.seen), "well_answered": len(self.well_answered)}
        return super().summary() | asked

    async def _chat(self, request: Request, wire: Wire) -> None:
        document = json.loads(request.body)
        for name in LIMITS:
            document.pop(name, None)
        request.body = json.dumps(document, sort_keys=True).encode()
        await super()._chat(request, wire)

    async def _complete(self, request: Request, wire: Wire, name: str, fault: str) -> None:
        if fault != "cut":
            self.well_answered.add(name)
        await super()._complete(request, wire, name, fault)


@contextmanager
def running_stub(port: int, style: str, conduct: dict[str, Any]) -> Iterator["StubProcess"]:
    """Run a stub in its own process on its own core."""
    command = [
        sys.executable, "-m", "benchmarks.judging_stub", "--port", str(port),
        "--style", style, "--conduct", json.dumps(conduct),
    ]  # fmt: skip
    with on_core(STUB_CORE):
        process = subprocess.Popen(command)
    try:
        stub = StubProcess(port)
        stub.wait()
        yield stub
    finally:
        process.kill()
        process.wait()


class StubProcess:
    """A running stub, seen from outside."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"http://127.0.0.1:{port}/v1"

    @property
    def counts(self) -> dict[str, Any]:
        """The stub's counts so far."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/stub/counts", timeout=5) as got:
            return json.load(got)

    def wait(self) -> None:
        """Wait until the stub listens."""
        for _ in range(200):
            try:
                if self.counts["requests"] == 0:
                    return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError(f"no fresh stub listens on port {self.port}")


async def serve(stub: Stub, port: int) -> None:
    server = await stub.serve(port)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=9600)
    parser.add_argument("--style", choices=(*ANSWERS, "varied"), default="relevance")
    parser.add_argument("--conduct", type=json.loads, default={})
    options = parser.parse_args()
    fixed_answer = ANSWERS.get(options.style)
    stub = CountingStub(
        Conduct(**options.conduct),
        answer=(lambda _document: fixed_answer) if fixed_answer else None,
    )
    asyncio.run(serve(stub, options.port))


if __name__ == "__main__":
    main()
