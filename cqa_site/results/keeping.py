"""Snapshots through their lives: stored, frozen, shown to everybody, withdrawn."""

import uuid
from typing import Any

from django.db import models, transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from cqa_site.people.access import record
from cqa_site.people.models import User

from .kind import Computed, ResultKind
from .models import Snapshot
from .rows import json_sha256


class SnapshotNotReady(Exception):
    """The snapshot is not in the state that this asks for; the message says why."""


def make(work: Any, kind: ResultKind, subject: Any) -> None:
    """Handle a job: compute a subject's figures and store them together with the job's end."""
    computed = kind.compute(subject)
    with transaction.atomic():
        work.finish()
        store_live(kind, subject, computed)


def refresh(kind: ResultKind, subject: Any) -> Any:
    """Return the newest snapshot, computed anew at once if the rows moved on; takes seconds."""
    newest = kind.Model._default_manager.filter(**kind.place(subject)).defer("rows").first()
    if newest is not None and newest.marker == kind.marker(subject):
        return newest
    return store_live(kind, subject, kind.compute(subject))


@transaction.atomic
def store_live(kind: ResultKind, subject: Any, computed: Computed) -> Any:
    """Write the figures into the live snapshot; frozen ones are never touched."""
    fresh = kind.Model(**kind.place(subject))
    owner = getattr(fresh, f"{kind.owner}_id")
    _lock(kind, owner)
    values = {
        "rows": computed.rows,
        "sha256": computed.sha256,
        "marker": computed.marker,
        "recipe": computed.recipe | {"figures_sha256": json_sha256(computed.figures)},
        "figures": computed.figures,
        "computed_at": timezone.now(),
    }
    live = kind.live(subject)
    if live.update(**values):
        return live.defer("rows").get()
    taken = _owned(kind, owner).aggregate(last=Max("number"))
    for name, value in values.items():
        setattr(fresh, name, value)
    fresh.number = (taken["last"] or 0) + 1
    fresh.save(force_insert=True)
    return fresh


@transaction.atomic
def freeze(
    kind: ResultKind, *, owner: models.Model, number: int, note: str, actor: User, seen: str = ""
) -> Any:
    """Make a live snapshot immutable and write down what moved since the last frozen one.

    ``seen`` is the seal of what somebody looked at; nothing else is frozen in its place. Raises
    SnapshotNotReady.
    """
    _lock(kind, owner.pk)
    rows = _owned(kind, owner.pk)
    snapshot = rows.filter(
        number=number, frozen_at__isnull=True, computed_at__isnull=False
    ).first()
    if snapshot is None:
        raise SnapshotNotReady(_("Snapshot #%d is already frozen or has no figures yet.") % number)
    if seen and seen != snapshot.seal:
        raise SnapshotNotReady(
            _("Snapshot #%d has other figures since you opened the page. Look at it once more.")
            % number
        )
    snapshot.changes = kind.changes(_frozen_before(kind, snapshot), snapshot)
    snapshot.frozen_at, snapshot.frozen_by, snapshot.note = timezone.now(), actor, note
    snapshot.save(update_fields=["changes", "frozen_at", "frozen_by", "note"])
    _record(kind, snapshot, actor, "frozen", reason=note, sha256=snapshot.sha256)
    return snapshot


@transaction.atomic
def publish(kind: ResultKind, *, owner: models.Model, number: int, actor: User) -> Any:
    """Give a frozen snapshot an address that anybody may read."""
    snapshot = _frozen(kind, owner, number)
    if snapshot.public_token is None:
        snapshot.public_token = uuid.uuid4()
        snapshot.save(update_fields=["public_token"])
        _record(kind, snapshot, actor, "published")
    return snapshot


@transaction.atomic
def withdraw(kind: ResultKind, *, owner: models.Model, number: int, actor: User) -> Any:
    """Take the public address back; it never comes again."""
    snapshot = _frozen(kind, owner, number)
    if snapshot.public_token is not None:
        snapshot.public_token = None
        snapshot.save(update_fields=["public_token"])
        _record(kind, snapshot, actor, "withdrawn")
    return snapshot


def _lock(kind: ResultKind, owner: int) -> None:
    rows: models.QuerySet[models.Model] = getattr(kind.Model, kind.owner).get_queryset()
    rows.select_for_update().get(pk=owner)


def _owned(kind: ResultKind, owner: int) -> models.QuerySet[Snapshot]:
    return kind.Model._default_manager.filter(**{kind.owner: owner})


def _frozen_before(kind: ResultKind, snapshot: Any) -> Any:
    same = {name: getattr(snapshot, name) for name in kind.subject}
    return (
        _owned(kind, getattr(snapshot, f"{kind.owner}_id"))
        .filter(**same, frozen_at__isnull=False)
        .first()
    )


def _frozen(kind: ResultKind, owner: models.Model, number: int) -> Any:
    rows = _owned(kind, owner.pk).select_for_update(of=("self",)).defer("rows", "figures")
    found = rows.filter(number=number, frozen_at__isnull=False).first()
    if found is None:
        raise SnapshotNotReady(_("Only a frozen snapshot can be made public."))
    return found


def _record(kind: ResultKind, snapshot: Any, actor: User, verb: str, **details: Any) -> None:
    about = f"{kind.about(snapshot)} #{snapshot.number}".strip()
    record(
        study=kind.study_of(snapshot),
        actor=actor,
        verb=f"{kind.name}_{verb}",
        subject=about,
        **details,
    )
