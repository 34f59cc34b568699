"""Who may work on a round: the examples' known answers, and what researchers decide."""

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from cqa_site.people.access import record
from cqa_site.people.models import Study, User

from .kind import SheetKind, TaskKind, kind_of, sheet_kind_of
from .models import Place, Round, Sheet

# What a researcher decides about one person of a round.
DECISIONS = ("pass", "fail", "exclude", "reinstate")
# Of kinds without a qualification.
EXCLUSIONS = ("exclude", "reinstate")
LONGEST_REASON = 300


def qualify(round_: Any, place: Place) -> None:
    """After the last example: the share of known answers that were met decides."""
    kind = sheet_kind_of(round_)
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


def count_examples(round_: Round) -> int:
    """Sheets of practice before somebody's first real one."""
    kind = kind_of(round_)
    if not isinstance(kind, SheetKind):
        return 0
    examples = kind.Item._default_manager.filter(round=round_.pk, key_points__isnull=False)
    count: int = examples.count()
    return count


def held_back(study: Study) -> QuerySet[Place]:
    """Members' places in open rounds about whose practice a researcher has not decided yet.

    Whoever came by a crowd link goes back to the platform, and waits for nobody.
    """
    places = Place.objects.filter(round__study=study, round__state=Round.State.OPEN)
    members = places.filter(rater__user__participant__isnull=True)
    return members.filter(
        score__isnull=False, is_passed=False, is_decided_by_person=False, excluded_at=None
    )


def agreement(kind: SheetKind, answered: Iterable[tuple[Any, Any]]) -> float:
    """Share of all parts of known answers that the sheets met; 0 without any."""
    marks = [kind.mark(sheet, key) for sheet, key in answered]
    wanted = sum(of for _met, of in marks)
    return sum(met for met, _of in marks) / wanted if wanted else 0.0


@transaction.atomic
def decide_rater(
    *, place: Place, actor: User | None, decision: str, reason: str = ""
) -> Place | None:
    """Let somebody in or keep somebody out, or take work out of the figures; see `DECISIONS`.

    Without an actor a rule decides, which never overturns a person; it may also ``pause``. None
    where nothing was to be done.
    """
    stored = Place.objects.select_for_update().get(pk=place.pk)
    stored.round, stored.rater = place.round, place.rater
    if actor is None and stored.is_decided_by_person:
        return None
    if _stands(stored, decision):
        return None
    kind = kind_of(stored.round)
    details = _apply(kind, stored, decision, reason)
    if kind.excludes_by_rule:
        stored.is_decided_by_person = actor is not None
    stored.save()
    record(
        study=stored.round.study,
        actor=actor,
        verb=f"{kind.audit.person}_{kind.audit.decisions.get(decision, decision)}",
        subject=f"{stored.round.name}: {stored.rater.pseudonym}",
        reason=reason,
        **details,
    )
    return stored


def _stands(place: Place, decision: str) -> bool:
    """Whether it was decided so already; who may go on can be decided anew."""
    if decision == "exclude":
        return place.is_excluded
    if decision == "pause":
        return place.is_stopped
    return decision == "reinstate" and not (place.is_excluded or place.is_stopped)


def _apply(kind: TaskKind, place: Place, decision: str, reason: str) -> dict[str, int]:
    """Change the place, which the caller saves; return what the history says of it."""
    if decision in ("pass", "fail"):
        place.is_passed, place.is_decided_by_person = decision == "pass", True
        return {}
    if decision == "pause":
        place.is_stopped = True
        return {}
    if decision == "exclude":
        place.excluded_at, place.exclusion_reason = timezone.now(), reason[:LONGEST_REASON]
        return {"freed_slots": kind.leave_out(place)}
    place.excluded_at, place.exclusion_reason, place.is_stopped = None, "", False
    return {"regained_slots": kind.count_again(place)}
