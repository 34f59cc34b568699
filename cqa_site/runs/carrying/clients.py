"""The client that carries an endpoint's requests."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from django.conf import settings

from cqa_site.judging.chat import CallFailed, ChatClient, ChatReply, ChatRequest, Failure

from .. import keys
from ..models import Endpoint

if TYPE_CHECKING:
    from cqa_site.judging.probing import Capabilities


class EndpointClient(ChatClient, Protocol):
    """Carries requests of one endpoint, and finds out what its models honour."""

    async def probe(self, model: str) -> "Capabilities":
        """Ask a few tiny questions; raises CallFailed."""


def remote_client(endpoint: Endpoint) -> EndpointClient:
    """A client of an OpenAI-compatible server, through the guarded transport."""
    from cqa_site.judging.transport.egress import parse_allowed
    from cqa_site.judging.transport.openai_client import OpenAIClient

    return OpenAIClient(
        base_url=endpoint.base_url,
        api_key=keys.open_key(endpoint),
        allowed=parse_allowed(settings.EGRESS_ALLOW),
    )


def embedded_client(endpoint: Endpoint) -> EndpointClient:
    """A client of the model in the box, which starts its server when it is first asked."""
    from ..model_box.embedded import EmbeddedClient

    return EmbeddedClient(endpoint)


MAKERS: dict[str, Callable[[Endpoint], EndpointClient]] = {
    Endpoint.Kind.REMOTE: remote_client,
    Endpoint.Kind.EMBEDDED: embedded_client,
}


class RefusingClient:
    """Stands where there can be no client: whatever is asked fails with the same reason."""

    def __init__(self, failure: CallFailed) -> None:
        self._failure = failure

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Raise the failure; nothing is sent."""
        raise CallFailed(self._failure.kind, str(self._failure))

    async def close(self) -> None:
        """There is nothing to close."""


def client_for(endpoint: Endpoint) -> EndpointClient:
    """A client for one endpoint, which the caller closes; raises CallFailed without its key."""
    try:
        return MAKERS[endpoint.kind](endpoint)
    except keys.KeyUnreadable as reason:
        raise CallFailed(Failure.KEY, str(reason)) from None


def client_or_refusal(endpoint: Endpoint) -> ChatClient:
    """A client that fails call by call where there is none, so that the ledger hears of it."""
    try:
        return client_for(endpoint)
    except CallFailed as failure:
        return RefusingClient(failure)
