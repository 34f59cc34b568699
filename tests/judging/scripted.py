"""A chat client that answers from a script, for tests."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator

from cqa_site.judging.chat import CallFailed, ChatReply, ChatRequest

Answer = ChatReply | CallFailed | str
Responder = Callable[[ChatRequest], Answer | Awaitable[Answer]]


class ScriptEnded(Exception):
    """More requests came than the script has answers."""


class ScriptedClient:
    """Answers requests as told and remembers them.

    ``script`` holds answers in order, or is a function (plain or asynchronous) that makes one from
    the request. A string is the text of a reply that ended with ``stop``; a `CallFailed` is
    raised. Every answer takes ``latency`` seconds.
    """

    def __init__(self, script: Iterable[Answer] | Responder, *, latency: float = 0.0) -> None:
        self._respond = script if callable(script) else _in_order(iter(script))
        self._latency = latency
        self.requests: list[ChatRequest] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.is_closed = False

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Return the next answer, or raise it as the script says."""
        if self.is_closed:
            raise RuntimeError("the client is closed")
        self.requests.append(request)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self._latency)
            answer = self._respond(request)
            return _reply_of(await answer if inspect.isawaitable(answer) else answer, request)
        finally:
            self.in_flight -= 1

    async def close(self) -> None:
        """Answer nothing any more."""
        self.is_closed = True


def _in_order(answers: Iterator[Answer]) -> Responder:
    def respond(request: ChatRequest) -> Answer:
        for answer in answers:
            return answer
        raise ScriptEnded("the script has no answer left")

    return respond


def _reply_of(answer: Answer, request: ChatRequest) -> ChatReply:
    if isinstance(answer, CallFailed):
        raise answer
    if isinstance(answer, str):
        return ChatReply(text=answer, finish_reason="stop", model=request.model)
    return answer
