"""A round's way: opened, paused, closed, opened again; a draft may be removed."""

from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from cqa_site.people.access import record
from cqa_site.people.models import User

from .kind import RoundNotReady, kind_of
from .models import Round

# A round is a row of two tables. Without the shared one, which has the state, whoever waited for
# the lock would go on with the state from before.
WHOLE = ("self", "round_ptr")


@transaction.atomic
def open_round(*, round_: Round, actor: User) -> None:
    """Make the slots and start serving, or go on after a pause; raises RoundNotReady."""
    stored = locked_round(round_, Round.State.DRAFT, Round.State.PAUSED)
    if stored.state == Round.State.DRAFT:
        kind_of(stored).make_slots(stored)
        stored.opened_at = timezone.now()
    _move(stored, Round.State.OPEN, actor)


@transaction.atomic
def pause_round(*, round_: Round, actor: User) -> None:
    """Stop serving for a while; raises RoundNotReady for kinds that do not pause."""
    stored = locked_round(round_, Round.State.OPEN)
    if not kind_of(stored).pauses:
        raise RoundNotReady(_("Rounds of this kind do not pause: close it and open it again."))
    _move(stored, Round.State.PAUSED, actor)


@transaction.atomic
def close_round(*, round_: Round, actor: User) -> None:
    """Stop serving; what was submitted counts, drafts stay where they are."""
    stored = locked_round(round_, Round.State.OPEN, Round.State.PAUSED)
    stored.closed_at = timezone.now()
    _move(stored, Round.State.CLOSED, actor)
    kind = kind_of(stored)
    kind.closed(stored, actor)
    for follow in kind.after_closing:
        follow(round_=stored, actor=actor)


@transaction.atomic
def reopen_round(*, round_: Round, actor: User) -> None:
    """Let people go on; raises RoundNotReady for kinds that are closed for good."""
    stored = locked_round(round_, Round.State.CLOSED)
    if kind_of(stored).pauses:
        raise RoundNotReady(_("Rounds of this kind are closed for good."))
    stored.closed_at = None
    _move(stored, Round.State.OPEN, actor)


@transaction.atomic
def delete_round(*, round_: Round, actor: User) -> None:
    """Remove a draft; nobody has worked on it yet. Raises RoundNotReady."""
    stored = locked_round(round_, Round.State.DRAFT)
    kind_of(stored).check_removal(stored)
    verb = kind_of(stored).audit.of_round("deleted")
    record(study=stored.study, actor=actor, verb=verb, subject=stored.name)
    stored.delete()


def locked_round(round_: Round, *states: str) -> Any:
    """The round as stored, in one of the states until this transaction ends.

    Raises RoundNotReady.
    """
    rounds = kind_of(round_).Round._default_manager
    rows = rounds.select_for_update(of=WHOLE).select_related("study")
    stored = rows.get(pk=round_.pk)
    if stored.state not in states:
        raise RoundNotReady(
            _("The round is %s; that is not possible now.") % stored.get_state_display()
        )
    return stored


def _move(stored: Any, state: str, actor: User) -> None:
    before, stored.state = stored.state, state
    stored.save(update_fields=["state", "opened_at", "closed_at"])
    record(
        study=stored.study,
        actor=actor,
        verb=kind_of(stored).audit.of_round(state),
        subject=stored.name,
        before=before,
    )
