"""Score sheets as a table, compared by criterion, with costs and integrity checks."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Exists, Model, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Length
from django.shortcuts import get_object_or_404

from annotation.answers.models import Answer, Condition, System, is_learned
from annotation.corpus.models import Question
from benchmark.rubrics.methods.rubric import Rubric, rubric_sha256
from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.models import JudgementPart, ScoreSheet, ScoringRun
from cqa_site.people.models import Rater, Study
from cqa_site.rounds.models import Place
from cqa_site.runs.models import Attempt, Run

if TYPE_CHECKING:
    import pandas as pd


# Sheets as one table with a row per sheet, the basis of every statistic.

FETCH = 5_000
# The column has the same name in `benchmark.leaderboard.methods.paper`.
OFF_SCALE = "off_scale_points"
# Columns read as keys and returned as public ids; looking up the few distinct keys is much faster
# than reading an id with every sheet.
PUBLIC = {"question_id": Question, "system_id": System, "rater_id": Rater}
# Column of the table → database field.
COLUMNS = {
    "sheet": "public_id",
    "answer": "answer_id",
    "answer_id": "answer__public_id",
    "question": "answer__question_id",
    "question_id": "answer__question_id",
    "object1": "answer__question__comparison__object1",
    "object2": "answer__question__comparison__object2",
    "aspect": "answer__question__aspect",
    "system": "answer__system__name",
    "system_id": "answer__system_id",
    "system_kind": "answer__system__kind",
    "model": "answer__system__model",
    "scenario": "answer__scenario",
    "choice": "answer__choice",
    "condition_id": "answer__condition_id",
    "dataset": "answer__source",
    "characters": "characters",
    "rater": "rater_id",
    "rater_id": "rater_id",
    "rater_kind": "rater__kind",
    "rater_name": "rater__name",
    "round": "round_id",
    "run": "run_id",
    "source": "source",
    "replicate": "replicate",
    "state": "state",
    "reason": "reason",
    "total": "total",
}


def counted_sheets(rubric: RubricVersion) -> QuerySet[ScoreSheet]:
    """Return the submitted and unscored sheets that count.

    It leaves out examples of a qualification, sheets beyond the number a round needs, sheets of
    excluded raters, runs whose canaries show that the judge obeys the texts it judges, active runs
    for which this is not yet known, and answers to questions that their system's model was trained
    on.
    """
    return _counted(rubric).filter(~is_learned("answer__"))


def count_learned_sheets(rubric: RubricVersion) -> int:
    """Count the sheets excluded only because the model was trained on the question."""
    return _counted(rubric).filter(is_learned("answer__")).count()


def _counted(rubric: RubricVersion) -> QuerySet[ScoreSheet]:
    trust = ScoringRun.Trust
    excluded = Place.objects.filter(
        round=OuterRef("round"), rater=OuterRef("rater"), excluded_at__isnull=False
    )
    return (
        ScoreSheet.objects.filter(
            study=rubric.study_id,
            rubric=rubric,
            state__in=(ScoreSheet.State.SUBMITTED, ScoreSheet.State.UNSCORED),
            is_example=False,
            is_extra=False,
            known__isnull=True,
        )
        .exclude(run__scoring__trust=trust.UNTRUSTED)
        .exclude(Q(run__scoring__trust=trust.PENDING) & Q(run__state__in=Run.ACTIVE))
        .filter(~Exists(excluded))
    )


def sheet_table(sheets: QuerySet[ScoreSheet], rubric: Rubric) -> pd.DataFrame:
    """Return one row per sheet with points, totals and answer details, in at most five queries.

    Parameters
    ----------
    sheets
        Sheets to include; see `counted_sheets`.
    rubric
        Rubric whose criteria and groups name the columns of points and group totals.

    Returns
    -------
    pandas.DataFrame
        The columns of `COLUMNS` (keys of rows as whole numbers, public ids as text; ``round`` and
        ``run`` are 0 if missing), ``off_scale_points`` (JSON of the points in an unscored reply
        with points outside the scale, else empty), one float column for each criterion (NaN: no
        points), one for each group's key (NaN if any of its criteria has no points), and ``total``
        (points, NaN for unscored and incomplete sheets). The rows are sorted by key, so the same
        sheets give the same table.
    """
    import pandas as pd

    rows = (
        sheets.annotate(characters=Length("answer__text"))
        .order_by("pk")
        .values_list(*COLUMNS.values(), "given", "points")
    )
    records = list(rows.iterator(FETCH))
    table = pd.DataFrame.from_records([row[:-1] for row in records], columns=[*COLUMNS, OFF_SCALE])
    table[OFF_SCALE] = [
        json.dumps(content, sort_keys=True) if content else "" for content in table[OFF_SCALE]
    ]
    for name in ("sheet", "answer_id"):
        table[name] = table[name].astype(str)
    for name, model in PUBLIC.items():
        table[name] = _public_ids(model, table[name])
    table = _with_conditions(table)
    for name in ("round", "run"):
        table[name] = table[name].fillna(0).astype("int64")
    table["total"] = table["total"].astype("float64")
    points = pd.DataFrame(
        [[row[-1].get(key) for key in rubric.keys] for row in records],
        columns=list(rubric.keys),
        dtype="float64",
    )
    groups = {
        group.key: points[[criterion.key for criterion in rubric.of_group(group.key)]].sum(
            axis=1, skipna=False
        )
        for group in rubric.groups
    }
    return pd.concat([table, points, pd.DataFrame(groups, index=table.index)], axis=1)


def _with_conditions(table: pd.DataFrame) -> pd.DataFrame:
    """Replace each condition by its public id and name; ``is_plain`` is 1 if it is plain."""
    keys = [int(key) for key in table["condition_id"].unique()]
    known = Condition.objects.in_bulk(keys)
    named = {
        "condition_id": {key: str(condition.public_id) for key, condition in known.items()},
        "condition": {key: str(condition) for key, condition in known.items()},
        "is_plain": {key: int(condition.is_plain) for key, condition in known.items()},
    }
    columns = {name: table["condition_id"].map(values) for name, values in named.items()}
    return table.assign(
        **{
            name: values.astype("int64" if name == "is_plain" else str)
            for name, values in columns.items()
        }
    )


def _public_ids(model: type[Model], keys: pd.Series) -> pd.Series:
    """Return the public ids of rows by their keys, as text."""
    rows = model._default_manager.filter(pk__in=[int(key) for key in keys.unique()])
    known = {pk: str(public_id) for pk, public_id in rows.values_list("pk", "public_id")}
    return keys.map(known).astype(str)


MOST_BESIDE = 12
# Raters shown under pseudonyms wherever their points appear.
NAMED = (Rater.Kind.PERSON, Rater.Kind.EXPERT)


@dataclass(frozen=True)
class SheetColumn:
    """One sheet for the answer as a column of the table."""

    sheet: ScoreSheet
    name: str
    is_this: bool


def sheet_or_404(study: Study, sheet_id: uuid.UUID) -> ScoreSheet:
    """Return one sheet with its answer, question and source; drafts raise 404."""
    rows = study.score_sheets.exclude(state=ScoreSheet.State.OPEN).select_related(
        "rater",
        "rubric",
        "round",
        "run",
        "call",
        "answer__system",
        "answer__question__comparison",
        "answer__question__study",
    )
    return get_object_or_404(rows, public_id=sheet_id)


def rater_name(sheet: ScoreSheet) -> str:
    """Return a person's pseudonym, or the name of a judge or imported table."""
    return sheet.rater.pseudonym if sheet.rater.kind in NAMED else str(sheet.rater)


def beside_sheet(sheet: ScoreSheet) -> dict[str, Any]:
    """Return the sheet and the other sheets for its answer under the same rubric, as a table."""
    others = (
        sheet.answer.score_sheets.filter(rubric=sheet.rubric_id, study=sheet.study_id)
        .exclude(pk=sheet.pk)
        .exclude(state=ScoreSheet.State.OPEN)
        .select_related("rater")
        .order_by("rater__kind", "rater", "replicate", "pk")
    )
    sheets = list(others[:MOST_BESIDE])
    columns = [
        SheetColumn(score_sheet, rater_name(score_sheet), score_sheet is sheet)
        for score_sheet in (sheet, *sheets)
    ]
    rubric = sheet.rubric.rubric
    return {
        "columns": columns,
        "left_out": others.count() - len(sheets) if len(sheets) == MOST_BESIDE else 0,
        "groups": [_group(rubric, group, columns) for group in rubric.groups],
    }


def _group(rubric: Any, group: Any, columns: list[SheetColumn]) -> dict[str, Any]:
    criteria = rubric.of_group(group.key)
    sums = [
        _sum([column.sheet.points.get(criterion.key) for criterion in criteria])
        for column in columns
    ]
    this = columns[0].sheet
    return {
        "group": group,
        "sums": sums,
        "rows": [
            {
                "criterion": criterion,
                "note": this.notes.get(criterion.key, ""),
                "cells": [_cell(column.sheet, criterion.key) for column in columns],
            }
            for criterion in criteria
        ],
    }


def _cell(sheet: ScoreSheet, key: str) -> dict[str, Any]:
    """Return the points, or the reason why they are missing; missing points are not 0."""
    reason = sheet.unable.get(key, "")
    words = dict(ScoreSheet.Unable.choices)
    return {
        "points": sheet.points.get(key),
        "reason": words.get(reason, reason),
        "is_off_scale": key in sheet.off_scale,
    }


def _sum(points: list[float | None]) -> float | None:
    known = [point for point in points if point is not None]
    return sum(known) if len(known) == len(points) else None


# Costs of sheets and answers in money and time, where known from the stored calls.
#
# Added columns: ``cost_micro`` and ``seconds`` (for judging, including every attempt),
# ``answer_cost_micro`` and ``answer_seconds`` (for writing the answer; several choices from one
# call share them). NaN if the sheet or answer did not come from a call here, or if an earlier
# reply was reused.

SHEET = ["run", "answer", "replicate"]


def with_costs(table: pd.DataFrame, rubric: RubricVersion) -> pd.DataFrame:
    """Add the four cost columns to the table, in at most five more queries."""
    runs = [int(run) for run in table["run"].unique() if run]
    judged = _of_calls(_sheet_calls(rubric, runs), runs)
    sums = judged.groupby(SHEET, as_index=False)[["cost_micro", "seconds"]].sum(min_count=1)
    table = table.merge(sums, how="left", on=SHEET)
    return table.merge(_of_answers(rubric), how="left", on="answer")


def _sheet_calls(rubric: RubricVersion, runs: list[int]) -> pd.DataFrame:
    """Return the calls behind the sheets of runs: one per sheet, or one for each part."""
    import pandas as pd

    columns = ["run_id", "answer_id", "replicate", "call_id"]
    rows: list[tuple] = []
    if runs:
        sheets = ScoreSheet.objects.filter(rubric=rubric, run__in=runs, call__isnull=False)
        rows += sheets.values_list(*columns)
        rows += JudgementPart.objects.filter(run__in=runs).values_list(*columns)
    return pd.DataFrame.from_records(rows, columns=[*SHEET, "call"]).astype("int64")


def _of_answers(rubric: RubricVersion) -> pd.DataFrame:
    """Return the cost and time of each answer that was written by a call on this site."""
    rows = Answer.objects.filter(study=rubric.study_id, call__isnull=False)
    written = _frame(rows.values_list("pk", "call_id", "run_id"), ["answer", "call", "run"])
    calls = _of_calls(written, [int(run) for run in written["run"].unique()])
    share = calls.groupby("call")["answer"].transform("count")
    return calls.assign(
        answer_cost_micro=calls["cost_micro"] / share, answer_seconds=calls["seconds"] / share
    )[["answer", "answer_cost_micro", "answer_seconds"]]


def _of_calls(rows: pd.DataFrame, runs: list[int]) -> pd.DataFrame:
    """Add the cost and seconds of the calls to the rows."""
    import pandas as pd

    spent: list[tuple] = []
    if runs:
        attempts: QuerySet = Attempt.objects.filter(call__run__in=runs)
        spent = list(
            attempts.order_by()
            .values("call")
            .annotate(
                cost=Sum("cost_micro"),
                spent=Sum("milliseconds", filter=Q(outcome=Attempt.Outcome.REPLIED)),
                reused=Count("pk", filter=Q(outcome=Attempt.Outcome.REUSED)),
            )
            .values_list("call", "cost", "spent", "reused")
        )
    paid = [row[:3] for row in spent if not row[3]]
    calls = pd.DataFrame.from_records(paid, columns=["call", "cost_micro", "seconds"])
    calls = calls.astype({"call": "int64", "cost_micro": "float64", "seconds": "float64"})
    calls["seconds"] = calls["seconds"] / 1_000
    return rows.merge(calls, how="left", on="call")


def _frame(rows: QuerySet, columns: list[str]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame.from_records(list(rows), columns=columns).astype("int64")


# People's points for answers, proposed as the known points of examples.

PEOPLE = (Rater.Kind.PERSON, Rater.Kind.EXPERT, Rater.Kind.REFERENCE)


def people_sheets(rubric: RubricVersion) -> QuerySet[ScoreSheet]:
    """Return the counted sheets that people submitted under a rubric."""
    handed_in = counted_sheets(rubric).filter(state=ScoreSheet.State.SUBMITTED)
    return handed_in.filter(rater__kind__in=PEOPLE)


def proposed_key(answer: Answer, rubric: RubricVersion) -> dict[str, int]:
    """Return the median of people's points, rounded down; empty if no person scored the answer."""
    sheets = list(people_sheets(rubric).filter(total__isnull=False, answer=answer))
    if not sheets:
        return {}
    most = {criterion.key: criterion.maximum for criterion in rubric.rubric.criteria}
    return {
        key: min(most[key], int(median(sheet.points.get(key, 0) for sheet in sheets)))
        for key in rubric.rubric.keys
    }


INTEGRITY_FETCH = 1_000


def find_violations() -> Iterator[str]:
    """Yield every violated invariant."""
    yield from _changed_rubrics()
    yield from _wrong_totals()


def _changed_rubrics() -> Iterator[str]:
    for version in RubricVersion.objects.iterator(INTEGRITY_FETCH):
        if rubric_sha256(version.rubric) != version.sha256:
            yield f"rubric version {version.pk} no longer matches its hash"


def _wrong_totals() -> Iterator[str]:
    """Yield totals that differ from the sum of all criteria or exist despite missing points."""
    rubrics = {version.pk: version.rubric for version in RubricVersion.objects.all()}
    rows = ScoreSheet.objects.values_list("pk", "rubric", "state", "points", "total", "maximum")
    for pk, key, state, points, total, maximum in rows.iterator(INTEGRITY_FETCH):
        rubric = rubrics[key]
        is_complete = state in ("submitted", "void") and points.keys() >= set(rubric.keys)
        wanted = sum(points[name] for name in rubric.keys) if is_complete else None
        if total != wanted:
            yield f"sheet {pk} has the total {total}, but its points add up to {wanted}"
        if maximum != rubric.maximum:
            yield f"sheet {pk} and its rubric have different maxima"
