"""Start the built-in model, send it two requests, and report the result."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from cqa_site.judging.chat import CallFailed, ChatReply, ChatRequest
from cqa_site.judging.reply_parsing import label_schema
from cqa_site.runs.model_box.embedded import SERVER, EmbeddedClient, model_name
from cqa_site.runs.models import Endpoint

SCHEMA = label_schema([0, 1, 2, 3])
SYSTEM = (
    "You rate sentences for people who want to decide between two objects. 0: the sentence does "
    "not help. 1: it helps to know one of the objects. 2: it compares both without a reason. "
    "3: it compares both with a reason. Answer with one JSON object: the reason in one short "
    "sentence, then the label."
)
SENTENCES = ("Trains are faster than buses because they have their own tracks.", "Buses are red.")


class Command(BaseCommand):
    help = "Start the built-in model and send it two requests; exit with 1 if something fails."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            asyncio.run(self._ask_twice())
        except CallFailed as failure:
            raise CommandError(str(failure)) from None
        finally:
            SERVER.stop()

    async def _ask_twice(self) -> None:
        client = EmbeddedClient(Endpoint(kind=Endpoint.Kind.EMBEDDED, model=model_name()))
        try:
            for sentence in SENTENCES:
                began = time.monotonic()
                reply = await client.complete(_request(sentence))
                self._tell(reply, time.monotonic() - began)
            if memory := _memory_mib(SERVER.pid):
                self.stdout.write(f"The server used at most {memory} MiB of memory.")
        finally:
            await client.close()

    def _tell(self, reply: ChatReply, seconds: float) -> None:
        self.stdout.write(
            f"{reply.model} answered after {seconds:.2f} s, {reply.milliseconds / 1000:.2f} s of "
            f"them for the request itself: {reply.tokens_in} tokens in, "
            f"{reply.tokens_cached or 0} of them remembered, {reply.tokens_out} tokens out."
        )
        self.stdout.write(f"The answer is {_shape(reply)}.")


def _request(sentence: str) -> ChatRequest:
    return ChatRequest(
        model=model_name(),
        messages=(
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": f"Object 1: trains\nObject 2: buses\n\n{sentence}"},
        ),
        params={"temperature": 0, "max_tokens": 1000},
        schema=SCHEMA,
    )


def _shape(reply: ChatReply) -> str:
    """Describe the answer's fields and their types, but not its values."""
    try:
        answer = json.loads(reply.text)
    except ValueError:
        raise CommandError(f"The answer is not JSON ({reply.finish_reason}).") from None
    if not isinstance(answer, dict) or set(answer) != set(SCHEMA["properties"]):
        raise CommandError("The answer does not have the requested fields.")
    return ", ".join(f"{name}: {type(value).__name__}" for name, value in answer.items())


def _memory_mib(pid: int | None) -> int | None:
    """Return the peak resident memory of a process in MiB on Linux; otherwise None."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return None
    lines = status.read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM:"))
