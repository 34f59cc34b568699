"""Changes to endpoints and prompt versions."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Now

from cqa_site.judging.prompts import load_prompt_file, prompt_hash
from cqa_site.people.access import is_administrator, record
from cqa_site.people.models import Study, User
from cqa_site.runs import jobs
from cqa_site.runs.carrying import clients
from cqa_site.runs.kinds import PromptKind
from cqa_site.runs.ledger import gates
from cqa_site.runs.ledger.gates import locked_gate
from cqa_site.runs.model_box import embedded
from cqa_site.runs.models import Endpoint, Gate, Job, PromptVersion, Run

FIELDS = (
    "name", "base_url", "model", "price_in", "price_out", "max_in_flight", "requests_per_minute",
    "tokens_per_minute", "deadline_seconds", "extra_params",
)  # fmt: skip
# Changing one of these means a different server or model, so probe results no longer apply.
IDENTITY = ("base_url", "model", "extra_params")
# A study may change these for an endpoint that another study offered.
OWN = ("name", "max_in_flight")
PROBED = ("capabilities", "probed_at")
KEY = ("key_ciphertext", "key_origin", "key_last4")


class EndpointInUse(Exception):
    """The identity of an endpoint cannot change while a run uses it."""


@transaction.atomic
def create_endpoint(
    *, study: Study, actor: User, values: dict[str, Any], key: str = ""
) -> Endpoint:
    """Create an endpoint; its key, if any, is stored encrypted for its address."""
    endpoint = Endpoint(study=study, created_by=actor, **values)
    if key:
        gates.set_key(endpoint, key)
    endpoint.save()
    Gate.objects.create(endpoint=endpoint)
    record(study=study, actor=actor, verb="endpoint_created", subject=endpoint.name)
    return endpoint


@transaction.atomic
def change_endpoint(
    *, endpoint: Endpoint, actor: User, values: dict[str, Any], key: str = ""
) -> Endpoint:
    """Change the settings of an endpoint.

    A new origin clears the key, so that a key is never sent to an address that it was not
    entered for. Runs keep the address and model they were planned with, so these cannot
    change while a run is active.
    """
    changed = [name for name in values if getattr(endpoint, name) != values[name]]
    if set(changed) & set(IDENTITY):
        _refuse_if_in_use(endpoint)
        endpoint.capabilities, endpoint.probed_at = {}, None
    for name in changed:
        setattr(endpoint, name, values[name])
    if key:
        gates.set_key(endpoint, key)
    elif not endpoint.has_key:
        gates.clear_key(endpoint)
    endpoint.save(update_fields=[*FIELDS, *PROBED, *KEY])
    if {"base_url", "model"} & set(changed):
        # The administrator offered a different server or model.
        _withdraw(endpoint, actor)
    _pass_on(endpoint)
    if changed or key:
        fields = sorted(changed) + (["key"] if key else [])
        about: dict[str, Any] = {"study": endpoint.study, "subject": endpoint.name}
        record(actor=actor, verb="endpoint_changed", fields=fields, **about)
    return endpoint


@transaction.atomic
def archive_endpoint(*, endpoint: Endpoint, actor: User) -> None:
    """Remove an endpoint from the lists and delete its key, but keep its runs."""
    _refuse_if_in_use(endpoint)
    gates.clear_key(endpoint)
    endpoint.is_archived = True
    endpoint.save(update_fields=["is_archived", *KEY])
    _withdraw(endpoint, actor)
    record(study=endpoint.study, actor=actor, verb="endpoint_archived", subject=endpoint.name)


def offers(study: Study) -> QuerySet[Endpoint]:
    """Return the endpoints that other studies offer."""
    rows = Endpoint.objects.filter(is_offered=True).exclude(study=study)
    return rows.order_by("name", "pk")


def new_offers(study: Study) -> QuerySet[Endpoint]:
    """Return the offered endpoints that the study has not added."""
    same = {name: OuterRef(name) for name in ("base_url", "model")}
    added = study.endpoints.filter(original=OuterRef("pk"), is_archived=False, **same)
    return offers(study).exclude(Exists(added))


@transaction.atomic
def set_offered(*, endpoint: Endpoint, actor: User, is_offered: bool) -> None:
    """Offer an endpoint to all studies on the site, or withdraw the offer.

    Only site administrators may offer an endpoint; raises PermissionDenied. People who may archive
    the endpoint may withdraw the offer. After that, other studies send no more requests, and
    their runs pause.
    """
    if not is_offered:
        _withdraw(endpoint, actor)
        return
    if not is_administrator(actor):
        raise PermissionDenied
    # Offer only the server and model that the administrator saw.
    seen = {"base_url": endpoint.base_url, "model": endpoint.model, "is_archived": False}
    seen |= {"pk": endpoint.pk, "kind": Endpoint.Kind.REMOTE, "is_offered": False}
    if Endpoint.objects.filter(**seen).update(is_offered=True):
        endpoint.is_offered = True
        record(study=endpoint.study, actor=actor, verb="endpoint_offered", subject=endpoint.name)
        _pass_on(endpoint)


@transaction.atomic
def add_offered(*, study: Study, actor: User, offered: Endpoint) -> Endpoint:
    """Add an endpoint that another study offers, or return the one already added."""
    # This lock prevents two people from adding the same endpoint twice.
    Study.objects.select_for_update().get(pk=study.pk)
    same = study.endpoints.filter(original=offered, is_archived=False)
    for endpoint in same.select_related("original"):
        if not endpoint.is_withdrawn:
            return endpoint
    names = set(study.endpoints.values_list("name", flat=True))
    tries = (f"{offered.name[:110]} ({number})" for number in range(2, len(names) + 3))
    name = next(candidate for candidate in (offered.name, *tries) if candidate not in names)
    values = {field: getattr(offered, field) for field in (*FIELDS, *PROBED)} | {"name": name}
    shared = {"kind": Endpoint.Kind.SHARED, "original": offered}
    endpoint = Endpoint.objects.create(study=study, created_by=actor, **shared, **values)
    record(study=study, actor=actor, verb="endpoint_added", subject=endpoint.name)
    return endpoint


def request_probe(*, endpoint: Endpoint, actor: User) -> Job:
    """Queue a job that probes the endpoint's capabilities."""
    key, study = str(endpoint.public_id), endpoint.study
    return jobs.enqueue(study=study, kind="probe_endpoint", key=key, actor=actor, endpoint=key)


def probe(endpoint: Endpoint) -> dict[str, Any]:
    """Probe the endpoint with a few tiny requests and store the result; raises CallFailed."""

    async def ask() -> dict[str, Any]:
        client = clients.client_for(endpoint)
        try:
            return (await client.probe(endpoint.model)).as_dict()
        finally:
            await client.close()

    findings = asyncio.run(ask())
    source = endpoint.source
    # Update only if the server and model have not changed in the meantime.
    endpoints = Endpoint.objects.filter(base_url=endpoint.base_url, model=endpoint.model)
    endpoints.filter(Q(pk=source.pk) | Q(original=source)).update(
        capabilities=findings, probed_at=Now()
    )
    endpoint.capabilities = findings
    return findings


def embedded_endpoint(*, study: Study, actor: User | None = None) -> Endpoint:
    """Return the study's endpoint for the built-in model, created on first use.

    A different model file gets its own endpoint, because its replies differ from the packaged
    model's.
    """
    model = embedded.model_name()
    name = "Built-in model"
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


def _withdraw(endpoint: Endpoint, actor: User) -> None:
    offered = Endpoint.objects.filter(pk=endpoint.pk, is_offered=True)
    with locked_gate(endpoint):
        # Senders hold the same lock, so no request leaves after the withdrawal.
        was_offered = offered.update(is_offered=False)
    endpoint.is_offered = False
    if not was_offered:
        return
    record(study=endpoint.study, actor=actor, verb="endpoint_withdrawn", subject=endpoint.name)
    # Only the study that offered the endpoint records who withdrew it.
    for added in endpoint.added.filter(is_archived=False).select_related("study"):
        record(study=added.study, actor=None, verb="endpoint_withdrawn", subject=added.name)


def _pass_on(endpoint: Endpoint) -> None:
    """Copy prices, parameters and capabilities to the endpoints added from this one."""
    names = {*FIELDS, *PROBED} - {*OWN}
    same = endpoint.added.filter(base_url=endpoint.base_url, model=endpoint.model)
    same.update(**{name: getattr(endpoint, name) for name in names})


def _refuse_if_in_use(endpoint: Endpoint) -> None:
    if endpoint.runs.filter(state__in=Run.ACTIVE).exists():
        raise EndpointInUse(
            "A run uses this endpoint. Cancel the run, wait until it ends, or "
            "add another endpoint."
        )


class PromptFrozen(Exception):
    """A run used this version, so a change needs a new version."""


@transaction.atomic
def save_prompt(
    *,
    study: Study,
    actor: User | None,
    kind: str,
    name: str,
    system: str,
    user: str,
    note: str = "",
    version: PromptVersion | None = None,
) -> PromptVersion:
    """Change an unused version, create a new one, or return the version that has the same text."""
    sha256 = prompt_hash(system, user, form=kind)
    if version is not None:
        return _change(version, name=name, system=system, user=user, note=note, sha256=sha256)
    Study.objects.select_for_update().get(pk=study.pk)
    if same := study.prompt_versions.filter(kind=kind, sha256=sha256).first():
        return same
    last = study.prompt_versions.filter(kind=kind).aggregate(last=Max("number"))["last"] or 0
    version = PromptVersion.objects.create(
        study=study,
        kind=kind,
        name=name,
        number=last + 1,
        system=system,
        user=user,
        note=note,
        sha256=sha256,
        created_by=actor,
    )
    if actor:
        record(study=study, actor=actor, verb="prompt_version_created", subject=str(version))
    return version


def freeze(version: PromptVersion) -> None:
    """Freeze a version, so that runs keep the text they used."""
    PromptVersion.objects.filter(pk=version.pk, frozen_at=None).update(frozen_at=Now())


def _change(version: PromptVersion, **values: str) -> PromptVersion:
    if PromptVersion.objects.filter(pk=version.pk, frozen_at=None).update(**values) != 1:
        raise PromptFrozen("A run used this version. Save the text as a new version.")
    version.refresh_from_db()
    return version


def first_prompts(
    study: Study, kinds: Mapping[str, PromptKind], actor: User | None = None
) -> list[PromptVersion]:
    """Return the newest prompt of each kind, in order; create missing prompts from the default."""
    same = PromptVersion.objects.filter(study=OuterRef("study"), kind=OuterRef("kind"))
    newest = Subquery(same.order_by("-number").values("pk")[:1])
    rows = study.prompt_versions.filter(kind__in=kinds, pk=newest)
    versions = {version.kind: version for version in rows}
    return [versions.get(kind) or _first(study, kind, kinds[kind].file, actor) for kind in kinds]


def _first(study: Study, kind: str, path: Path, actor: User | None) -> PromptVersion:
    file = load_prompt_file(path)
    return save_prompt(
        study=study,
        actor=actor,
        kind=kind,
        name=file.name[:1].upper() + file.name[1:],
        system=file.parts.system,
        user=file.parts.user,
    )
