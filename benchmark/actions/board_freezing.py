"""Freezing a board for good, and showing a frozen one to everybody."""

import uuid

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from benchmark.models import BoardSnapshot
from benchmark.reports.board_changes import changes_between
from cqa_site.people.access import record
from cqa_site.people.models import Study, User


class BoardNotReady(Exception):
    """The snapshot is not in the state that this asks for; the message says why."""


@transaction.atomic
def freeze_board(
    *, study: Study, number: int, note: str, actor: User, seen: str = ""
) -> BoardSnapshot:
    """Make a live snapshot immutable and write down what moved since the last frozen one.

    ``seen`` is the hash of the rows that somebody looked at; others are not frozen in their place.
    """
    Study.objects.select_for_update().get(pk=study.pk)
    live = study.board_snapshots.filter(
        number=number, frozen_at__isnull=True, computed_at__isnull=False
    ).select_related("rubric")
    snapshot = live.first()
    if snapshot is None:
        raise BoardNotReady(_("Snapshot #%d is already frozen or has no figures yet.") % number)
    if seen and seen != snapshot.sha256:
        raise BoardNotReady(
            _("Snapshot #%d has new sheets since you opened the page. Look at it once more.")
            % number
        )
    frozen = snapshot.rubric.snapshots.filter(frozen_at__isnull=False).order_by("-number")
    snapshot.changes = changes_between(frozen.first(), snapshot)
    snapshot.frozen_at, snapshot.frozen_by, snapshot.note = timezone.now(), actor, note
    snapshot.save(update_fields=["changes", "frozen_at", "frozen_by", "note"])
    record(
        study=study,
        actor=actor,
        verb="board_frozen",
        subject=f"{snapshot.rubric} #{number}",
        reason=note,
        sha256=snapshot.sha256,
    )
    return snapshot


@transaction.atomic
def publish_board(*, study: Study, number: int, actor: User) -> BoardSnapshot:
    """Give a frozen snapshot an address that anybody may read."""
    snapshot = _frozen(study, number)
    if snapshot.public_token is None:
        snapshot.public_token = uuid.uuid4()
        snapshot.save(update_fields=["public_token"])
        _recorded(snapshot, actor, "board_published")
    return snapshot


@transaction.atomic
def withdraw_board(*, study: Study, number: int, actor: User) -> BoardSnapshot:
    """Take the public address back; it never comes again."""
    snapshot = _frozen(study, number)
    if snapshot.public_token is not None:
        snapshot.public_token = None
        snapshot.save(update_fields=["public_token"])
        _recorded(snapshot, actor, "board_withdrawn")
    return snapshot


def _frozen(study: Study, number: int) -> BoardSnapshot:
    rows = study.board_snapshots.select_for_update(of=("self",)).defer("rows", "figures")
    found = rows.filter(number=number, frozen_at__isnull=False).first()
    if found is None:
        raise BoardNotReady(_("Only a frozen snapshot can be made public."))
    return found


def _recorded(snapshot: BoardSnapshot, actor: User, verb: str) -> None:
    record(study=snapshot.study, actor=actor, verb=verb, subject=f"#{snapshot.number}")
