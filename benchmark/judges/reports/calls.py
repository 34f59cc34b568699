"""What the requests of a scoring run are about."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from annotation.answers.models.answers import Answer
from benchmark.judges.methods.canaries import CANARIES
from benchmark.scoring.models.runs import JudgementPart, ProbeResult
from benchmark.scoring.models.sheets import ScoreSheet
from cqa_site.people.models import Study
from cqa_site.runs.kind_parts import CallSubjects, Item, Titles
from cqa_site.runs.models import Call

PLAIN, CANARY, SWAP = 0, 1, 2
CANARY_NAMES = {
    "order_full": lazy("Order for full points"),
    "planted_result": lazy("Planted result"),
    "order_nothing": lazy("Order for no points"),
    "played_system": lazy("Played system message"),
    "hidden_in_sources": lazy("Hidden among sources"),
}


class Asked(NamedTuple):
    """The keys of a subject: an answer, and in which form it is shown.

    ``variant`` is the place of a canary among `CANARIES`; of a plain answer it is 1 where
    canaries were built on it. ``group`` counts the rubric's groups from 1; 0 is the whole sheet.
    """

    answer: int
    probe: int = PLAIN
    variant: int = 0
    group: int = 0

    @property
    def name(self) -> str:
        """Unique in the run."""
        letter = ("a", f"c{self.variant}-", "s")[self.probe]
        return f"{letter}{self.answer}" + (f"-g{self.group}" if self.group else "")


def _items(study: Study, calls: Sequence[Call]) -> dict[int, list[Item | None]]:
    asked = {call.pk: Asked(*call.subject_ids) for call in calls}
    answers = study.answers.select_related("question__comparison", "system")
    found = answers.in_bulk({each.answer for each in asked.values()})
    said = _said([call.pk for call in calls])
    return {pk: [_item(found.get(each.answer), each, said.get(pk))] for pk, each in asked.items()}


def _said(calls: Sequence[int]) -> dict[int, Any]:
    """Call → the row with what was read of it; three queries."""
    rows: list[Any] = []
    for model in (ScoreSheet, JudgementPart, ProbeResult):
        rows += model.objects.filter(call__in=calls)
    return {row.call_id: row for row in rows}


def _item(answer: Answer | None, asked: Asked, row: Any) -> Item | None:
    if answer is None:
        return None
    context = f"{answer.question} · {answer.system.name}"
    if asked.probe == CANARY:
        name = str(CANARY_NAMES[CANARIES[asked.variant].name])
        context = _("Canary, %(name)s") % {"name": name} + f" · {context}"
    elif asked.probe == SWAP:
        context = _("Objects swapped") + f" · {context}"
    if row is None:
        return Item(answer.text, context)
    notes = getattr(row, "notes", {})
    return Item(answer.text, context, _value(row.points), _lines(notes), row.reason)


def _value(points: Mapping[str, float]) -> str:
    """The total and what it is made of."""
    if not points:
        return ""
    each = " ".join(f"{key}:{points[key]:g}" for key in sorted(points, key=_place))
    return f"{sum(points.values()):g} ({each})"


def _lines(notes: Mapping[str, str]) -> str:
    return "\n".join(f"{key}: {notes[key]}" for key in sorted(notes, key=_place))


def _place(key: str) -> int:
    return int(key[1:])


SCORING = CallSubjects(Titles(lazy("Answer"), lazy("Points"), lazy("The judge's reasons")), _items)
