"""Verdicts on citations with the texts they are about."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.answers.models.answers import Answer
from annotation.answers.reports.argument_lists import numbered_texts
from annotation.faithfulness.models import CoherenceVerdict
from cqa_site.runs.models import Run
from cqa_site.web.strict_query import id_from
from cqa_site.web.tables import TableData

WRITTEN = 500
SAID = {"yes": True, "no": False, "none": None}


class Cited(NamedTuple):
    """What the numbers of a run's subject mean; ``revision`` is 0 for the answer itself."""

    answer: int
    revision: int
    start: int
    end: int
    number: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which verdicts: what was said, about whose texts; ``texts`` is answers, edited, or both."""

    said: str = ""
    system: Any = None
    scenario: int | None = None
    condition: Any = None
    texts: str = ""

    @classmethod
    def from_query(cls, query: QueryDict) -> Self:
        """Read the part of an address behind the question mark; the unknown narrows nothing."""
        scenario, said, texts = (query.get(name, "") for name in ("scenario", "said", "texts"))
        return cls(
            said=said if said in SAID else "",
            system=id_from(query.get("system", "")),
            scenario=int(scenario) if scenario in map(str, Answer.Scenario.values) else None,
            condition=id_from(query.get("condition", "")),
            texts=texts if texts in ("answers", "edited") else "",
        )


@dataclass(frozen=True, slots=True)
class Shown:
    """A verdict with the segment and the argument that it is about."""

    verdict: CoherenceVerdict
    passage: str
    argument: str


def verdicts_of(run: Run, wanted: Wanted) -> QuerySet[CoherenceVerdict]:
    """Verdicts of a run, text by text."""
    rows = run.coherence_verdicts.select_related(
        "call",
        "answer__system",
        "answer__condition",
        "answer__question__comparison",
        "revision",
    )
    if wanted.said:
        rows = rows.filter(is_coherent=SAID[wanted.said])
    if wanted.system is not None:
        rows = rows.filter(answer__system__public_id=wanted.system)
    if wanted.scenario is not None:
        rows = rows.filter(answer__scenario=wanted.scenario)
    if wanted.condition is not None:
        rows = rows.filter(answer__condition__public_id=wanted.condition)
    if wanted.texts:
        rows = rows.filter(revision__isnull=wanted.texts == "answers")
    return rows.order_by("answer", "revision", "start", "number", "replicate")


def shown(verdicts: Sequence[CoherenceVerdict]) -> list[Shown]:
    """Add segments and arguments; one query."""
    keys = {row.answer.argument_list_id for row in verdicts if row.answer.argument_list_id}
    lists = numbered_texts(keys)
    return [
        Shown(
            row,
            (row.revision or row.answer).text[row.start : row.end],
            lists.get(row.answer.argument_list_id, {}).get(row.number, ""),
        )
        for row in verdicts
    ]


def verdicts_table(run: Run, rows: QuerySet[CoherenceVerdict]) -> TableData:
    """Verdicts for a file."""
    columns = [
        _("Answer"), _("Revision"), _("System"), _("Scenario"), _("Condition"), _("Object 1"),
        _("Object 2"),
        _("Cited number"), _("Segment"), _("Argument"), _("Coherent"), _("Unscored because"),
        _("The judge's reason"), _("Replicate"),
    ]  # fmt: skip
    cells = [_cells(one) for piece in _pieces(rows) for one in shown(piece)]
    return TableData(columns, cells, name=f"coherence-run-{run.number}")


def _pieces(rows: QuerySet[CoherenceVerdict]) -> Iterator[list[CoherenceVerdict]]:
    start = 0
    while piece := list(rows[start : start + WRITTEN]):
        start += WRITTEN
        yield piece


def _cells(one: Shown) -> list[Any]:
    row = one.verdict
    pair = row.answer.question.comparison
    said = {True: "1", False: "0", None: ""}[row.is_coherent]
    return [
        str(row.answer.public_id),
        str(row.revision.public_id) if row.revision else "",
        row.answer.system.name,
        str(row.answer.scenario),
        row.answer.condition.name,
        pair.object1,
        pair.object2,
        str(row.number),
        one.passage,
        one.argument,
        said,
        row.reason,
        row.rationale,
        str(row.replicate + 1),
    ]
