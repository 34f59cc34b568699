"""Rounds on the first page of those who work on them."""

from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _

from cqa_site.people.models import Membership

from .kind import Card, kind_of, kinds
from .models import Participant, Place, Round

LISTED = 50
# Of so many of their rounds at most it is looked whether anything is left for somebody.
LOOKED_AT = 10


@dataclass(frozen=True, slots=True)
class Waiting:
    """One card on a person's first page.

    Parameters
    ----------
    title, text
        What there is to do, and a sentence about it; nothing that the person may not know.
    button, url
        What leads there.
    badge
        How much of it is done or open; may be empty.
    """

    title: str
    text: str
    button: str
    url: str
    badge: str = ""


def waiting_for(membership: Membership) -> list[Waiting]:
    """One card for every open round; for people of a crowd link that of the link alone.

    Two queries, and one more for every kind that has an open round; a few for each of the first
    rounds that the person began. A round whose sheets are assigned waits only for those who have
    some to do. What the person began comes first, what nothing is left of comes last.
    """
    participant = getattr(membership.user, "participant", None)
    opened = _rounds_for(membership)
    if participant is not None:
        opened = opened.filter(links=participant.link_id)
    rounds = list(opened[:LISTED])
    counts = _own_counts(membership, rounds)
    places = _places(membership, rounds)
    begun = [each for each in rounds if each.pk in counts and each.pk in places]
    done = set() if participant else _done(begun, places)
    shown = [each for each in rounds if each.pk in counts or not kind_of(each).is_assigned]
    waiting = []
    for each in sorted(shown, key=lambda each: (each.pk in done, each.pk not in counts)):
        count = counts.get(each.pk, 0)
        is_held = each.pk in places and places[each.pk].is_held_back
        if participant is not None and (is_held or _is_over(participant, count)):
            waiting.append(_ended(each, participant))
            continue
        is_done = each.pk in done
        waiting.append(_card(membership, each, count, is_done=is_done, is_held=is_held))
    return waiting


def _rounds_for(membership: Membership) -> QuerySet[Round]:
    # An app that was taken out leaves its rounds behind.
    free = [kind.name for kind in kinds() if not kind.is_assigned]
    assigned = [kind.name for kind in kinds() if kind.is_assigned]
    opened = Round.objects.filter(study=membership.study, state=Round.State.OPEN)
    mine = Place.objects.filter(round=OuterRef("pk"), rater__user=membership.user)
    return opened.filter(Q(kind__in=free) | Q(Exists(mine), kind__in=assigned))


def _own_counts(membership: Membership, rounds: list[Round]) -> dict[int, int]:
    counts: dict[int, int] = {}
    for kind in {each.kind: kind_of(each) for each in rounds}.values():
        mine = [each for each in rounds if each.kind == kind.name]
        counts |= kind.count_own(mine, membership.user)
    return counts


def _places(membership: Membership, rounds: list[Round]) -> dict[int, Place]:
    mine = Place.objects.filter(round__in=rounds, rater__user=membership.user)
    return {place.round_id: place for place in mine.select_related("rater")}


def _done(begun: list[Round], places: dict[int, Place]) -> set[int]:
    """Rounds in which nothing is left for somebody who began, among the first ones."""
    free = [each for each in begun if not kind_of(each).is_assigned][:LOOKED_AT]
    return {each.pk for each in free if kind_of(each).is_done_by(each, places[each.pk])}


def _card(
    membership: Membership, round_: Round, count: int, *, is_done: bool, is_held: bool
) -> Waiting:
    kind = kind_of(round_)
    card = kind.card(count)
    if is_done:
        card = Card(
            text=_("Nothing is left for you here at present. You can look at your answers."),
            button=_("Look at it"),
            badge=card.badge,
        )
    elif is_held:
        card = Card(
            text=_("The practice did not agree with the key often enough."),
            button=_("Look at it"),
            badge=_("Waits for a researcher"),
        )
    return Waiting(
        title=round_.name,
        text=card.text,
        button=card.button,
        url=reverse(kind.work_page, args=[membership.study.public_id, round_.public_id]),
        badge=card.badge,
    )


def _ended(round_: Round, participant: Participant) -> Waiting:
    """A round in which nothing more can come to somebody who came by a crowd link."""
    text = _("Every answer is saved; nothing more is asked of you.")
    if participant.outcome == Participant.Outcome.WITHDRAWN:
        text = _("You withdrew your answers; nothing more is asked of you.")
    return Waiting(
        title=round_.name,
        text=text,
        button=_("To your completion code"),
        url=reverse("participation_end"),
    )


def _is_over(participant: Participant, done: int) -> bool:
    """Whether nothing more is asked of somebody who came by a crowd link."""
    is_running = participant.outcome == Participant.Outcome.RUNNING
    return not is_running or done >= participant.link.required_items
