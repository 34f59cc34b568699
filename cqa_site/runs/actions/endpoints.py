"""Making, changing and probing endpoints."""

import asyncio
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from cqa_site.people.access import record
from cqa_site.people.models import Study, User
from cqa_site.runs import jobs, keys
from cqa_site.runs.carrying import clients
from cqa_site.runs.model_box import embedded
from cqa_site.runs.models import Endpoint, Gate, Job, Run

FIELDS = (
    "name",
    "base_url",
    "model",
    "price_in",
    "price_out",
    "max_in_flight",
    "requests_per_minute",
    "tokens_per_minute",
    "deadline_seconds",
    "extra_params",
)
# A change of one of these means another server or model; what was found out about it is void.
IDENTITY = ("base_url", "model", "extra_params")


class EndpointInUse(Exception):
    """What identifies an endpoint cannot change while a run uses it."""


@transaction.atomic
def create_endpoint(
    *, study: Study, actor: User, values: dict[str, Any], key: str = ""
) -> Endpoint:
    """Make an endpoint; the key, if any, is stored encrypted for its address."""
    endpoint = Endpoint(study=study, created_by=actor, **values)
    if key:
        keys.set_key(endpoint, key)
    endpoint.save()
    Gate.objects.create(endpoint=endpoint)
    record(study=study, actor=actor, verb="endpoint_created", subject=endpoint.name)
    return endpoint


@transaction.atomic
def change_endpoint(
    *, endpoint: Endpoint, actor: User, values: dict[str, Any], key: str = ""
) -> Endpoint:
    """Change an endpoint.

    A new origin clears the key, so that a key is never sent to an address it was not given
    for. Runs keep the address and model they were planned with, so those cannot change
    while a run is active.
    """
    changed = [name for name in values if getattr(endpoint, name) != values[name]]
    if set(changed) & set(IDENTITY):
        _refuse_if_in_use(endpoint)
        endpoint.capabilities, endpoint.probed_at = {}, None
    for name in changed:
        setattr(endpoint, name, values[name])
    if key:
        keys.set_key(endpoint, key)
    elif not endpoint.has_key:
        keys.clear_key(endpoint)
    endpoint.save()
    if changed or key:
        record(
            study=endpoint.study,
            actor=actor,
            verb="endpoint_changed",
            subject=endpoint.name,
            fields=sorted(changed) + (["key"] if key else []),
        )
    return endpoint


@transaction.atomic
def archive_endpoint(*, endpoint: Endpoint, actor: User) -> None:
    """Take an endpoint out of the lists and forget its key; its runs stay."""
    _refuse_if_in_use(endpoint)
    keys.clear_key(endpoint)
    endpoint.is_archived = True
    endpoint.save()
    record(study=endpoint.study, actor=actor, verb="endpoint_archived", subject=endpoint.name)


def request_probe(*, endpoint: Endpoint, actor: User) -> Job:
    """Ask a worker to find out what the endpoint can do."""
    return jobs.enqueue(
        study=endpoint.study,
        kind="probe_endpoint",
        key=str(endpoint.public_id),
        actor=actor,
        endpoint=str(endpoint.public_id),
    )


def probe(endpoint: Endpoint) -> dict[str, Any]:
    """Ask the endpoint a few tiny questions and keep what they show; raises CallFailed."""

    async def ask() -> dict[str, Any]:
        client = clients.client_for(endpoint)
        try:
            return (await client.probe(endpoint.model)).as_dict()
        finally:
            await client.close()

    found = asyncio.run(ask())
    Endpoint.objects.filter(pk=endpoint.pk).update(capabilities=found, probed_at=Now())
    endpoint.capabilities = found
    return found


def embedded_endpoint(*, study: Study, actor: User | None = None) -> Endpoint:
    """The study's endpoint for the model in the box; made when first asked for.

    Another model file is another endpoint: its replies are not those of the packaged model.
    """
    model = embedded.model_name()
    name = "Model in the box"
    endpoint, is_new = Endpoint.objects.get_or_create(
        study=study,
        kind=Endpoint.Kind.EMBEDDED,
        model=model,
        defaults={
            "name": name if model == embedded.DEMO_MODEL else f"{name}: {model}"[:120],
            "base_url": "http://127.0.0.1/v1",
            "max_in_flight": 1,
            "created_by": actor,
        },
    )
    if is_new:
        Gate.objects.create(endpoint=endpoint)
    return endpoint


def _refuse_if_in_use(endpoint: Endpoint) -> None:
    if endpoint.runs.filter(state__in=Run.ACTIVE).exists():
        raise EndpointInUse(
            "A run uses this endpoint. Cancel it or wait for its end, or make another endpoint."
        )
