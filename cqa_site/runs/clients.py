"""The client that carries an endpoint's requests."""

from collections.abc import Callable

from django.conf import settings

from cqa_site.judging.chat import ChatClient

from . import keys
from .models import Endpoint


def remote_client(endpoint: Endpoint) -> ChatClient:
    """A client of an OpenAI-compatible server, through the guarded transport."""
    from cqa_site.judging.egress import parse_allowed
    from cqa_site.judging.openai_client import OpenAIClient

    return OpenAIClient(
        base_url=endpoint.base_url,
        api_key=keys.open_key(endpoint),
        allowed=parse_allowed(settings.EGRESS_ALLOW),
    )


def embedded_client(endpoint: Endpoint) -> ChatClient:
    """A client of the model in the box, which starts its server when it is first asked."""
    from .embedded import EmbeddedClient

    return EmbeddedClient(endpoint)


MAKERS: dict[str, Callable[[Endpoint], ChatClient]] = {
    Endpoint.Kind.REMOTE: remote_client,
    Endpoint.Kind.EMBEDDED: embedded_client,
}


def client_for(endpoint: Endpoint) -> ChatClient:
    """A client for one endpoint; the caller closes it."""
    return MAKERS[endpoint.kind](endpoint)
