"""Rounds on the first page of those who work on them."""

from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from cqa_site.people.models import Membership
from cqa_site.people.own_work import Waiting

from .kind import TaskKind, kind_of, kinds, known_rounds
from .models import Participant, Place, Round
from .progress import SUBMITTED, TO_DO

LISTED = 50


def waiting_for(membership: Membership) -> list[Waiting]:
    """One card for every open round; for people of a crowd link that of the link alone.

    One query, and one more for every kind that has an open round. A round whose sheets are
    assigned waits only for those who have some to do.
    """
    participant = getattr(membership.user, "participant", None)
    opened = _rounds_for(membership)
    if participant is not None:
        opened = opened.filter(links=participant.link_id)
    rounds = list(opened[:LISTED])
    counts = _own_sheets(membership, rounds)
    return [
        _card(membership, each, counts.get(each.pk, 0), participant)
        for each in rounds
        if each.pk in counts or not kind_of(each).is_assigned
    ]


def _rounds_for(membership: Membership) -> QuerySet[Round]:
    opened = known_rounds().filter(study=membership.study, state=Round.State.OPEN)
    assigned = [kind.name for kind in kinds() if kind.is_assigned]
    mine = Place.objects.filter(round=OuterRef("pk"), rater__user=membership.user)
    return opened.filter(~Q(kind__in=assigned) | Exists(mine))


def _own_sheets(membership: Membership, rounds: list[Round]) -> dict[int, int]:
    """How many sheets the member has submitted, or of assigned ones has to do, by round."""
    counts: dict[int, int] = {}
    for kind in {each.kind: kind_of(each) for each in rounds}.values():
        sheets = kind.Sheet._default_manager.filter(
            _counted(kind), round__in=rounds, rater__user=membership.user, is_example=False
        )
        counts |= dict(sheets.order_by().values_list("round").annotate(Count("pk")))
    return counts


def _counted(kind: TaskKind) -> Q:
    return TO_DO if kind.is_assigned else SUBMITTED


def _card(
    membership: Membership, round_: Round, count: int, participant: Participant | None
) -> Waiting:
    if participant is not None and _is_over(participant, count):
        return Waiting(
            title=round_.name,
            text=_("Every answer is saved; nothing more is asked of you."),
            button=_("To your completion code"),
            url=reverse("participation_end"),
        )
    kind = kind_of(round_)
    card = kind.card(count)
    return Waiting(
        title=round_.name,
        text=card.text,
        button=card.button,
        url=reverse(kind.work_page, args=[membership.study.public_id, round_.public_id]),
        badge=card.badge,
    )


def _is_over(participant: Participant, done: int) -> bool:
    """Whether nothing more is asked of somebody who came by a crowd link."""
    is_running = participant.outcome == Participant.Outcome.RUNNING
    return not is_running or done >= participant.link.required_items
