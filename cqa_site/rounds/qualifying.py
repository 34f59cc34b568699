"""Who may work on a round: the examples' known answers, and what researchers decide."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.utils import timezone

from cqa_site.people.access import record
from cqa_site.people.models import User

from .kind import TaskKind, kind_of
from .models import Place, Sheet
from .slots import free_slots, hold_slot

# What a researcher decides about one person of a round.
DECISIONS = ("pass", "fail", "exclude", "reinstate")
# Of kinds without a qualification.
EXCLUSIONS = ("exclude", "reinstate")


def qualify(round_: Any, place: Place) -> None:
    """After the last example: the share of known answers that were met decides."""
    kind = kind_of(round_)
    examples = kind.Item._default_manager.filter(round=round_, key_points__isnull=False)
    keys = dict(examples.values_list(kind.subject, "key_points"))
    own = kind.Sheet._default_manager.filter(
        round=round_, rater=place.rater_id, is_example=True, state=Sheet.State.SUBMITTED
    )
    given = {getattr(sheet, f"{kind.subject}_id"): sheet for sheet in own}
    if given.keys() < keys.keys():
        return
    place.score = agreement(
        kind, ((given[thing], key) for thing, key in keys.items() if thing in given)
    )
    if not place.is_decided_by_person:
        place.is_passed = place.score >= round_.pass_mark
    place.save(update_fields=["score", "is_passed"])


def agreement(kind: TaskKind, answered: Iterable[tuple[Any, Any]]) -> float:
    """Share of all parts of known answers that the sheets met; 0 without any."""
    marks = [kind.mark(sheet, key) for sheet, key in answered]
    wanted = sum(of for _met, of in marks)
    return sum(met for met, _of in marks) / wanted if wanted else 0.0


@transaction.atomic
def decide_rater(*, place: Place, actor: User, decision: str, reason: str = "") -> Place:
    """Let somebody in or keep somebody out, or take sheets out of the figures; see `DECISIONS`."""
    rows = Place.objects.select_for_update(of=("self",))
    stored = rows.select_related("round__study", "rater").get(pk=place.pk)
    if decision in ("pass", "fail"):
        stored.is_passed, stored.is_decided_by_person = decision == "pass", True
    else:
        is_excluded = decision == "exclude"
        stored.excluded_at = timezone.now() if is_excluded else None
        stored.exclusion_reason = reason if is_excluded else ""
        (_leave_out if is_excluded else _count_again)(stored)
    stored.save()
    record(
        study=stored.round.study,
        actor=actor,
        verb=f"{kind_of(stored.round).audit.person}_{decision}",
        subject=f"{stored.round.name}: {stored.rater.pseudonym}",
        reason=reason,
    )
    return stored


def _leave_out(place: Place) -> None:
    """What somebody excluded held is open to others, so that no item stays short of sheets."""
    sheets = _sheets(place)
    free_slots(kind_of(place.round), sheets)
    sheets.filter(state=Sheet.State.SUBMITTED, is_example=False).update(is_extra=True)


def _count_again(place: Place) -> None:
    """Sheets count again where nobody else has filled their place meanwhile."""
    sheets = _sheets(place).filter(state=Sheet.State.SUBMITTED, is_example=False, is_extra=True)
    sheets.filter(replicate__gt=0).update(is_extra=False)
    for sheet in sheets.filter(replicate=0).select_related("round").order_by("pk"):
        hold_slot(sheet)
        sheet.save(update_fields=["slot", "is_extra"])


def _sheets(place: Place) -> Any:
    kind = kind_of(place.round)
    return kind.Sheet._default_manager.filter(round=place.round_id, rater=place.rater_id)
