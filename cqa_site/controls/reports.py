"""Report on a round's control items, their answers, and each person's record."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cqa_site.judging.chat import digest
from cqa_site.people.models import Rater
from cqa_site.rounds.examples import known_text
from cqa_site.rounds.kind import sheet_kind_of
from cqa_site.rounds.models import Place
from cqa_site.rounds.rules.actions import record_of
from cqa_site.rounds.rules.measures import FALL, MEASURES
from cqa_site.rounds.rules.records import ControlRecord

if TYPE_CHECKING:
    from cqa_site.stats.drift import AccuracyChart, AccuracyFall

# With at least this many answers, a majority of misses may mean that the known answer is wrong.
LEAST_TO_DOUBT = 3


@dataclass(frozen=True)
class ControlRow:
    """A control item and the number of right answers to it."""

    item: Any
    known: str
    answers: int
    right: int

    @property
    def is_contested(self) -> bool:
        """Whether most people missed the known answer."""
        return self.answers >= LEAST_TO_DOUBT and 2 * self.right < self.answers


@dataclass(frozen=True)
class PersonOnControls:
    """A person's record, and any fall in accuracy that the round's chart signals."""

    place: Place
    controls: ControlRecord
    fall: AccuracyFall | None

    @property
    def rater(self) -> Rater:
        return self.place.rater


@dataclass(frozen=True)
class ControlReport:
    """Figures on a round's control items; ``state`` changes with every answer and setting."""

    rows: list[ControlRow]
    people: list[PersonOnControls]
    chart: AccuracyChart
    state: str


def control_report(round_: Any) -> ControlReport:
    """Return control items and the people who answered them, in a fixed number of queries."""
    from cqa_site.stats.drift import accuracy_chart

    kind = sheet_kind_of(round_)
    answers = kind.control_answers(round_)
    every = [answer for own in answers.values() for answer in own]
    counts = Counter(answer.thing for answer in every)
    right = Counter(answer.thing for answer in every if answer.is_right)
    items: Any = kind.Item._default_manager.filter(round=round_.pk, known__isnull=False)
    items = items.select_related(*kind.item_needed).order_by("position")
    things = [(item, getattr(item, f"{kind.subject}_id")) for item in items]
    rows = [
        ControlRow(item, known_text(kind, round_, item.known), counts[thing], right[thing])
        for item, thing in things
    ]
    rule = round_.rules.get(FALL) or vars(MEASURES[FALL])
    chart = accuracy_chart(rule["usual"], rule["threshold"])
    people = []
    places = Place.objects.filter(round=round_.pk, rater__in=answers)
    for place in places.select_related("rater__user").order_by("pk"):
        record = record_of(place, answers[place.rater_id])
        people.append(PersonOnControls(place, record, record.fall_on(chart)))
    seen = [[person.rater.pk, *map(int, person.controls.answers)] for person in people]
    starts = [person.controls.start for person in people]
    state = digest([round_.name, chart.usual, chart.fallen, starts, seen])[:16]
    return ControlReport(rows, people, chart, state)
