"""Key points that a language model wrote: who wrote them, and what became of every text."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from argsum.analysis.models import Analysis, FoundPoint, WrittenPoint
from cqa_site.people.models import Study
from cqa_site.runs.kind_parts import CallSubjects, Item, Titles
from cqa_site.runs.kinds import Subject
from cqa_site.runs.models import Call, Run

Verdict = WrittenPoint.Verdict


class Asked(NamedTuple):
    """The keys of a request: a key point at a revision, which attempt, and its statements."""

    point: int
    attempt: int
    seen: int
    statements: tuple[int, ...]

    @classmethod
    def of(cls, ids: Sequence[int]) -> "Asked":
        """As the request's row keeps it."""
        point, attempt, seen, *statements = ids
        return cls(point, attempt, seen, tuple(statements))

    @property
    def subject(self) -> Subject:
        """As the engine keeps it; the name is unique in a run."""
        ids = (self.point, self.attempt, self.seen, *self.statements)
        return Subject(f"p{self.point}-{self.attempt}", ids)

    @property
    def again(self) -> "Asked":
        """The next attempt about the same statements."""
        return self._replace(attempt=self.attempt + 1)


@dataclass(frozen=True)
class Writing:
    """What became of the key points that a run was to write, by number.

    ``kept`` have the text they had: ``refused`` of them because what was written was nearer to
    another key point, ``unusable`` because no reply could be used. ``changed`` were changed by
    somebody meanwhile, and ``unchecked`` are not looked at yet.
    """

    run: Run
    written: int
    same: int
    refused: int
    unusable: int
    changed: int
    unchecked: int

    @property
    def kept(self) -> int:
        """How many have the text they had."""
        return self.same + self.refused + self.unusable

    @property
    def points(self) -> int:
        """How many key points it was asked for."""
        return self.written + self.kept + self.changed + self.unchecked


def writing_of(run: Run) -> Writing:
    """What became of its key points, by the last attempt of each; one query."""
    rows = WrittenPoint.objects.filter(run=run).order_by("attempt")
    # A key point of an analysis that was deleted is known by its request alone.
    last = {
        point or -call: verdict if text else ""
        for point, call, verdict, text in rows.values_list("point", "call", "verdict", "text")
    }
    found = list(last.values())
    return Writing(
        run,
        written=found.count(Verdict.TAKEN),
        same=found.count(Verdict.SAME),
        refused=found.count(Verdict.REFUSED),
        unusable=found.count(""),
        changed=found.count(Verdict.CHANGED),
        unchecked=found.count(Verdict.UNCHECKED),
    )


def writer_in_words(point: FoundPoint) -> str:
    """The language model and prompt that wrote a key point; empty where none did."""
    return in_words(point.writer) if point.writer else ""


def in_words(run: Run) -> str:
    """A language model with its prompt, as people cite it."""
    said = {"model": run.spec["model"], "n": run.prompt.number}
    return _("%(model)s, prompt v%(n)d") % said


def writers_of(points: QuerySet[FoundPoint]) -> dict[str, int]:
    """Model and prompt → how many of the key points it wrote, the most first; two queries."""
    grouped = points.exclude(writer=None).order_by().values_list("writer")
    numbers = dict(grouped.annotate(n=Count("pk")))
    counts: dict[str, int] = {}
    for run in Run.objects.filter(pk__in=numbers).select_related("prompt"):
        words = in_words(run)
        counts[words] = counts.get(words, 0) + numbers[run.pk]
    return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def analysis_of_run(run: Run) -> Analysis | None:
    """The analysis that a run writes for; None once it is deleted."""
    return run.study.analyses.filter(public_id=run.spec["target"]["analysis"]).first()


def about(run: Run) -> str:
    """The analysis that a run writes for, by name."""
    found = analysis_of_run(run)
    return found.name if found else _("a deleted analysis")


def _items(study: Study, calls: Sequence[Call]) -> dict[int, list[Item | None]]:
    asked = {call.pk: Asked.of(call.subject_ids) for call in calls}
    rows = FoundPoint.objects.filter(analysis__study=study)
    points = rows.in_bulk({each.point for each in asked.values()})
    written = WrittenPoint.objects.filter(call__in=list(asked))
    said = {row.call_id: row for row in written}
    return {pk: [_item(points.get(each.point), each, said.get(pk))] for pk, each in asked.items()}


def _item(point: FoundPoint | None, asked: Asked, row: WrittenPoint | None) -> Item | None:
    if point is None:
        return None
    context = _("attempt %d") % asked.attempt
    if row is None:
        return Item(point.written, context)
    note = str(row.get_verdict_display()) if row.text else ""
    if row.nearest:
        note = f"{note}: {row.nearest}"
    return Item(point.written, context, row.text, row.note or note, row.reason)


POINT_CALLS = CallSubjects(
    Titles(lazy("Key point as found"), lazy("What was written"), lazy("What became of it")), _items
)
