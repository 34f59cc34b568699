"""The texts behind a faithfulness figure: filtered, sorted and written to a file."""

import uuid
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

from django.db.models import Avg, F, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Cast
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from annotation.answers.models.answers import Answer
from annotation.editing.reports.edited_texts import newest_revisions
from annotation.faithfulness.models import CoherenceVerdict, FaithfulnessFigures
from cqa_site.people.models import Study
from cqa_site.runs.models import Run
from cqa_site.web.strict_query import id_from
from cqa_site.web.tables import TableData

from .labels import SCORES, Relabel, RelabelledRows, answer_of
from .tables import MEASURES

SORTED = (*MEASURES, "segments", "out_of_range", "malformed")
TITLES = {name: measure.title for name, measure in MEASURES.items()} | {
    "segments": lazy("Segments"),
    "out_of_range": lazy("No such argument"),
    "malformed": lazy("Malformed"),
}
PROBLEMS = ("out_of_range", "malformed", "unscored")


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which texts, in which order; ``sort`` names a column, with a minus from high to low."""

    mode: str
    is_edited: bool = False
    system: uuid.UUID | None = None
    scenario: int | None = None
    condition: uuid.UUID | None = None
    problem: str = ""
    sort: str = ""
    # Whose labels the scores are by; empty takes them as they are stored.
    labels: str = ""

    @classmethod
    def from_query(cls, query: QueryDict, mode: str, labels: str = "") -> Self:
        """Read the part of an address behind the question mark; the unknown narrows nothing."""
        scenario, sort = query.get("scenario", ""), query.get("sort", "")
        problem = query.get("problem", "")
        return cls(
            mode=mode,
            is_edited=query.get("texts") == "edited",
            system=id_from(query.get("system", "")),
            scenario=int(scenario) if scenario in map(str, Answer.Scenario.values) else None,
            condition=id_from(query.get("condition", "")),
            problem=problem if problem in PROBLEMS else "",
            sort=sort if sort.removeprefix("-") in SORTED else "",
            labels=labels,
        )


def rows_of(study: Study, wanted: Wanted, run: Run | None) -> QuerySet[FaithfulnessFigures]:
    """Figures of single texts with ``coherence``, the share of the run's verdicts that say yes."""
    rows = FaithfulnessFigures.objects.filter(mode=wanted.mode)
    path = "revision__sheet__answer" if wanted.is_edited else "answer"
    if wanted.is_edited:
        rows = rows.filter(revision__in=newest_revisions(study).order_by().values("pk"))
        rows = rows.select_related("revision__sheet__rater__user")
    else:
        rows = rows.filter(answer__study=study)
    if wanted.system is not None:
        rows = rows.filter(**{f"{path}__system__public_id": wanted.system})
    if wanted.scenario is not None:
        rows = rows.filter(**{f"{path}__scenario": wanted.scenario})
    if wanted.condition is not None:
        rows = rows.filter(**{f"{path}__condition__public_id": wanted.condition})
    rows = _with_problem(rows, wanted.problem).annotate(coherence=_coherence(run, wanted))
    rows = rows.select_related(
        f"{path}__system", f"{path}__condition", f"{path}__question__comparison"
    )
    return rows.order_by(*_order(wanted.sort), f"{path}__question", f"{path}__choice", "pk")


def relabelled_rows(
    study: Study, wanted: Wanted, run: Run | None
) -> QuerySet[FaithfulnessFigures] | RelabelledRows:
    """The same, by the labels that are wanted: scores of other labels are not stored."""
    if not wanted.labels:
        return rows_of(study, wanted, run)
    only_unscored = wanted.problem == "unscored"
    by_score = wanted.sort.removeprefix("-") in SCORES
    everything = replace(
        wanted,
        problem="" if only_unscored else wanted.problem,
        sort="" if by_score else wanted.sort,
    )
    return RelabelledRows(
        rows_of(study, everything, run),
        Relabel(study, wanted.mode, wanted.labels),
        path="revision__sheet__answer" if wanted.is_edited else "answer",
        sort=wanted.sort,
        only_unscored=only_unscored,
    )


def _with_problem(rows: QuerySet, problem: str) -> QuerySet:
    if problem == "unscored":
        return rows.filter(f1__isnull=True)
    return rows.filter(**{f"{problem}__gt": 0}) if problem else rows


def _order(sort: str) -> list[Any]:
    if not sort:
        return []
    column = F(sort.removeprefix("-"))
    is_down = sort.startswith("-")
    return [column.desc(nulls_last=True) if is_down else column.asc(nulls_last=True)]


def _coherence(run: Run | None, wanted: Wanted) -> Subquery:
    verdicts = CoherenceVerdict.objects.filter(run=run, is_coherent__isnull=False)
    if wanted.is_edited:
        same = verdicts.filter(revision=OuterRef("revision"))
    else:
        same = verdicts.filter(answer=OuterRef("answer"), revision__isnull=True)
    said = Avg(Cast("is_coherent", IntegerField()))
    return Subquery(same.order_by().values("run").annotate(share=said).values("share"))


def rows_table(rows: QuerySet[FaithfulnessFigures] | RelabelledRows, mode: str) -> TableData:
    """Every text with its figures, for a file."""
    columns = [
        _("Answer"), _("Revision"), _("System"), _("Scenario"), _("Condition"), _("Choice"),
        _("Object 1"), _("Object 2"), _("Aspect"), _("Segments"),
        *(str(one.title) for one in MEASURES.values()),
        _("Cited"), _("Cited numbers without an argument"), _("Malformed citations"),
        _("Left out"), _("Embedding model"),
    ]  # fmt: skip
    return TableData(columns, list(_written(rows)), name=f"faithfulness-texts-{mode}")


def _written(rows: QuerySet[FaithfulnessFigures] | RelabelledRows) -> Iterator[list[Any]]:
    for row in rows.iterator(500):
        answer, values = answer_of(row), row.values
        pair = answer.question.comparison
        left_out = "; ".join(f"{name} {count}" for name, count in values["skipped"].items())
        yield [
            str(answer.public_id),
            str(row.revision.public_id) if row.revision else "",
            answer.system.name,
            str(answer.scenario),
            answer.condition.name,
            str(answer.choice),
            pair.object1,
            pair.object2,
            answer.question.aspect,
            row.segments,
            *(getattr(row, name) for name in MEASURES),
            " ".join(map(str, values["cited"])),
            " ".join(map(str, values["out_of_range"])),
            " ".join(values["malformed"]),
            left_out,
            row.embedding,
        ]
