"""Progress of rounds and raters, their pace, and the rounds on the home page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil, floor
from statistics import median
from typing import Any

from django.db.models import Avg, Count, Exists, Max, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.expressions import Window
from django.db.models.functions import Coalesce, RowNumber
from django.urls import reverse
from django.utils.translation import gettext as _

from cqa_site.people.models import Membership, Rater, Study, User
from .kind import Card, SheetKind, TaskKind, kind_of, kinds, sheet_kind_of
from .models import COUNTED, HANDED_IN, Participant, Place, Round, Sheet
from .queue import DONE, controls_coming, repeats_of, unseen_items, with_free_slot

SUBMITTED = Q(state=Sheet.State.SUBMITTED)
# Sheets that their rater still has to submit: not submitted yet, or changed since.
TO_DO = Q(state=Sheet.State.OPEN) | Q(draft__isnull=False)


@dataclass(frozen=True)
class RaterProgress:
    """A person's work in a round; ``figures`` are specific to the kind."""

    place: Place
    sheets: int
    repeats: int
    extras: int
    begun: int
    minutes: int
    last_at: datetime | None
    figures: dict[str, Any]

    @property
    def rater(self) -> Rater:
        return self.place.rater


def rounds_of(kind: TaskKind, study: Study) -> QuerySet[Any]:
    """Return a study's rounds of a kind with ``size``, ``wanted`` and ``done``, in one query."""
    return kind.Round._default_manager.filter(study=study).annotate(**kind.counts())


def seconds_each(kind: SheetKind, study: Study) -> float | None:
    """Return the mean seconds per sheet of the kind in the study; None if unknown."""
    rows = kind.Sheet._default_manager.filter(COUNTED, study=study, active_seconds__gt=0)
    average: float | None = rows.aggregate(mean=Avg("active_seconds"))["mean"]
    return average


def progress_of(round_: Round) -> list[RaterProgress]:
    """Return one row per person, in order of arrival, in two queries for any number of sheets."""
    kind = sheet_kind_of(round_)
    rows = (
        kind.Sheet._default_manager.filter(round=round_.pk)
        .order_by()
        .values("rater")
        .annotate(
            sheets=Count("pk", filter=HANDED_IN & Q(replicate=0)),
            repeats=Count("pk", filter=HANDED_IN & Q(replicate__gt=0)),
            extras=Count("pk", filter=SUBMITTED & Q(is_extra=True)),
            begun=Count("pk", filter=Q(state=Sheet.State.OPEN)),
            seconds=Sum("active_seconds"),
            last_at=Max("submitted_at"),
            **{f"own_{name}": figure for name, figure in kind.figures.items()},
        )
    )
    by_rater = {row.pop("rater"): row for row in rows}
    places = Place.objects.filter(round=round_.pk).select_related("rater__user").order_by("pk")
    return [_progress(kind, place, by_rater.get(place.rater_id, {})) for place in places]


def items_of(round_: Round) -> QuerySet[Any]:
    """Return items and examples with subjects and the numbers of needed and finished sheets."""
    kind = sheet_kind_of(round_)
    slots = kind.Slot._default_manager.filter(item=OuterRef("pk"))
    items = kind.Item._default_manager.filter(round=round_.pk)
    drawn: QuerySet[Any] = items.select_related(*kind.item_needed).annotate(
        wanted=count_of(slots, "item"), done=count_of(slots.filter(state=DONE), "item")
    )
    return drawn


def count_of(rows: QuerySet[Any], by: str = "round") -> Coalesce:
    """Return the number of rows as a separate subquery, so that counts do not multiply."""
    counted = rows.order_by().values(by).annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted), 0)


def _progress(kind: SheetKind, place: Place, row: dict[str, Any]) -> RaterProgress:
    names = ("sheets", "repeats", "extras", "begun")
    return RaterProgress(
        place=place,
        **{name: row.get(name, 0) for name in names},
        minutes=round((row.get("seconds") or 0) / 60),
        last_at=row.get("last_at"),
        figures={name: row.get(f"own_{name}") for name in kind.figures},
    )


# Progress of a person in a round, and the estimated time for the remaining work.
#
# All items count equally, including hidden control items and blind repeats.

# The weight of the planned time, in answers of the person, and the limit for the time of an
# answer, as a multiple of the planned time. label.js uses the same method.
PLANNED, LONGEST = 10, 5
# Number of answers that are enough for an estimate without a planned time.
ENOUGH = 3


@dataclass(frozen=True)
class TaskProgress:
    """The work done and the work left; ``seconds`` is the time for one item, if known."""

    done: int
    left: int
    seconds: float | None = None

    @property
    def all(self) -> int:
        return self.done + self.left

    @property
    def minutes(self) -> int | None:
        """Estimated minutes left; None if nothing is left or the pace is unknown."""
        if not self.left or self.seconds is None:
            return None
        return ceil(self.left * self.seconds / 60)

    @property
    def hours(self) -> int | None:
        """Estimated hours left, if `minutes` exceeds 120; otherwise None."""
        return round(self.minutes / 60) if self.minutes and self.minutes > 120 else None

    def at_most(self, wanted: int | None) -> "TaskProgress":
        """Limit the remaining items to those that a crowd link requires."""
        if wanted is None:
            return self
        return TaskProgress(self.done, max(0, min(self.left, wanted - self.done)), self.seconds)


def pace(own: Sequence[float], planned: float | None = None) -> float | None:
    """Estimate seconds per item from the planned time and the person's mean, or from the median.

    The more answers there are, the more weight the mean has. The median is for rounds without a
    planned time.

    Examples
    --------
    >>> pace([], planned=20), pace([9] * 10, planned=20), pace([900], planned=20)
    (20.0, 14.5, 27.272727272727273)
    >>> pace([10, 40, 12]), pace([10, 40])
    (12, None)
    """
    if planned:
        counted = [min(seconds, LONGEST * planned) for seconds in own]
        return (PLANNED * planned + sum(counted)) / (PLANNED + len(own))
    return median(own) if len(own) >= ENOUGH else None


def how_far(round_: Any, rater: Rater, wanted: int | None = None) -> TaskProgress:
    """Return a rater's progress in a round of sheets, limited to ``wanted`` items if given."""
    kind = sheet_kind_of(round_)
    own = kind.Sheet._default_manager.filter(round=round_.pk, rater=rater, is_example=False)
    own = own.annotate(is_changed=Q(draft__isnull=False))
    columns = (kind.subject, "replicate", "state", "is_changed", "active_seconds")
    rows = list(own.order_by("pk").values_list(*columns))
    # In assigned work, a changed sheet counts as remaining, as in all other counts.
    done = [
        seconds
        for _thing, _replicate, state, is_changed, seconds in rows
        if state == Sheet.State.SUBMITTED and not (kind.is_assigned and is_changed)
    ]
    left = len(rows) - len(done)
    if round_.state != Round.State.OPEN:
        left = 0
    elif not kind.is_assigned:
        firsts = [thing for thing, replicate, *_rest in rows if replicate == 0]
        coming = with_free_slot(round_, unseen_items(round_, firsts)).count()
        if firsts or coming:
            coming += len(controls_coming(round_, rater.pk, firsts, coming))
        again = repeats_of(len(firsts) + coming, round_.repeat_share)
        left += coming + max(0, again - (len(rows) - len(firsts)))
    seconds = pace([duration for duration in done if duration])
    return TaskProgress(len(done), left, seconds).at_most(wanted)


def newest_of_each(rows: QuerySet[Any], most: int, *order: str) -> QuerySet[Any]:
    """Return each rater's newest rows, up to a maximum per rater, in the given order."""
    turn = Window(RowNumber(), partition_by="rater", order_by=order)
    newest: QuerySet[Any] = rows.annotate(turn=turn).filter(turn__lte=most)
    return newest.order_by("rater", "turn")


# Pace and skips of people in a round, which are shown but have no consequences.

# A person is hasty below this share of the expected or usual time per item.
HASTY_SHARE = 0.2


@dataclass(frozen=True)
class Pace:
    """A person's pace; less than ``mark`` seconds per item is very fast."""

    done: int = 0
    skipped: int = 0
    seconds: float | None = None
    mark: float | None = None
    is_skipping: bool = False

    @property
    def skipped_share(self) -> float | None:
        """Share of skipped items among the items done; None before the first item."""
        return self.skipped / self.done if self.done else None

    @property
    def is_hasty(self) -> bool:
        """Whether a person answered too fast to have read the items."""
        return self.seconds is not None and self.mark is not None and self.seconds < self.mark


def paces_of(round_: Any, **where: Any) -> dict[int, Pace]:
    """Return the pace of each rater with work, in one query; ``where`` filters raters."""
    kind = kind_of(round_)
    rows = list(kind.paces(round_, **where))
    usual = getattr(kind.own(round_), "expected_seconds", None)
    if not usual and len(rows) > 1:
        times = [seconds for *_counts, seconds in rows if seconds]
        usual = sum(times) / len(times) if times else None
    mark = usual * HASTY_SHARE if usual else None
    return {
        rater: Pace(done, skipped, seconds, mark, skipped > skips_allowed(round_, done))
        for rater, done, skipped, seconds in rows
    }


def skips_allowed(round_: Any, items: int) -> float:
    """Return how many of the items a person may skip; infinite if there is no limit."""
    share = round_.skip_share
    return float("inf") if share is None else max(1, floor(round(share * items, 9)))


def skips_paid(round_: Any, items: int) -> float:
    """Return how many skips a crowd link accepts, always fewer than the number of items."""
    return min(skips_allowed(round_, items), items - 1)


def skipped_by(round_: Any, user: User) -> int:
    return sum(
        skipped
        for _rater, _done, skipped, _time in kind_of(round_).paces(round_, rater__user=user)
    )


LISTED = 50
# Maximum number of a person's rounds that are checked for remaining work.
LOOKED_AT = 10


@dataclass(frozen=True, slots=True)
class TaskCard:
    """One card on a person's home page.

    Parameters
    ----------
    title, text
        The task, and a sentence about it without anything that the person must not know.
    button, url
        Label and address of the button.
    badge
        How much work is done or left; may be empty.
    is_done
        Whether no work is left at present.
    """

    title: str
    text: str
    button: str
    url: str
    badge: str = ""
    is_done: bool = False


def waiting_for(membership: Membership) -> list[TaskCard]:
    """Return a card for every open round; crowd participants get only their link's round.

    Rounds with assigned sheets are left out for people who have none to do. Rounds that the person
    has begun come first, and finished rounds last. Takes two queries, plus one for every kind with
    an open round, and a few for each of the first rounds that the person has begun.
    """
    participant = getattr(membership.user, "participant", None)
    opened = _rounds_for(membership)
    if participant is not None:
        opened = opened.filter(links=participant.link_id)
    rounds = list(opened[:LISTED])
    counts = _own_counts(membership, rounds)
    places = _places(membership, rounds)
    begun = [
        candidate for candidate in rounds if candidate.pk in counts and candidate.pk in places
    ]
    done = set() if participant else _done(begun, places)
    candidates = [
        candidate
        for candidate in rounds
        if candidate.pk in counts or not kind_of(candidate).is_assigned
    ]
    waiting = []
    for round_ in sorted(
        candidates, key=lambda candidate: (candidate.pk in done, candidate.pk not in counts)
    ):
        count = counts.get(round_.pk, 0)
        is_held = round_.pk in places and places[round_.pk].is_held_back
        if participant is not None and (
            is_held
            or count >= participant.link.required_items
            or participant.outcome != Participant.Outcome.RUNNING
        ):
            waiting.append(_ended(round_, participant))
            continue
        is_done = round_.pk in done
        waiting.append(_card(membership, round_, count, is_done=is_done, is_held=is_held))
    return waiting


def _rounds_for(membership: Membership) -> QuerySet[Round]:
    # Rounds remain in the database after their app is removed.
    free = [kind.name for kind in kinds() if not kind.is_assigned]
    assigned = [kind.name for kind in kinds() if kind.is_assigned]
    opened = Round.objects.filter(study=membership.study, state=Round.State.OPEN)
    mine = Place.objects.filter(round=OuterRef("pk"), rater__user=membership.user)
    listed = opened.filter(Q(kind__in=free) | Q(Exists(mine), kind__in=assigned))
    return listed.order_by(Exists(mine).desc(), "-created_at", "-pk")


def _own_counts(membership: Membership, rounds: list[Round]) -> dict[int, int]:
    counts: dict[int, int] = {}
    for kind in {round_.kind: kind_of(round_) for round_ in rounds}.values():
        mine = [round_ for round_ in rounds if round_.kind == kind.name]
        counts |= kind.count_own(mine, membership.user)
    return counts


def _places(membership: Membership, rounds: list[Round]) -> dict[int, Place]:
    mine = Place.objects.filter(round__in=rounds, rater__user=membership.user)
    return {place.round_id: place for place in mine.select_related("rater")}


def _done(begun: list[Round], places: dict[int, Place]) -> set[int]:
    """Return the ids of begun rounds with no work left; only the first `LOOKED_AT` are checked."""
    free = [round_ for round_ in begun if not kind_of(round_).is_assigned][:LOOKED_AT]
    return {round_.pk for round_ in free if kind_of(round_).is_done_by(round_, places[round_.pk])}


def _card(
    membership: Membership, round_: Round, count: int, *, is_done: bool, is_held: bool
) -> TaskCard:
    kind = kind_of(round_)
    card = kind.card(count)
    if is_done:
        card = Card(
            text=_("You have nothing left to do here at the moment. You can view your answers."),
            button=_("View"),
            badge=card.badge,
        )
    elif is_held:
        card = Card(
            text=_("Your practice answers did not match the known answers often enough."),
            button=_("View"),
            badge=_("Waiting for a researcher"),
        )
    return TaskCard(
        title=round_.name,
        text=card.text,
        button=card.button,
        url=reverse(kind.work_page, args=[membership.study.public_id, round_.public_id]),
        badge=card.badge,
        is_done=is_done,
    )


def _ended(round_: Round, participant: Participant) -> TaskCard:
    """Return the card for a round in which a crowd participant has no work left."""
    text = _("Every answer is saved. You have nothing left to do.")
    if participant.outcome == Participant.Outcome.WITHDRAWN:
        text = _("You withdrew your answers. You have nothing left to do.")
    return TaskCard(
        title=round_.name,
        text=text,
        button=_("Show your completion code"),
        url=reverse("participation_end"),
    )
