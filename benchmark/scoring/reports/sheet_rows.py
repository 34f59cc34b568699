"""Sheets as one table: a row a sheet, what every statistic begins with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from django.db.models import Exists, Model, OuterRef, Q, QuerySet
from django.db.models.functions import Length

from annotation.answers.models.answers import System
from annotation.answers.models.conditions import Condition
from annotation.answers.reports.learned import is_learned
from annotation.corpus.models.questions import Question
from benchmark.rubrics.methods.rubric import Rubric
from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.models.runs import ScoringRun
from benchmark.scoring.models.sheets import ScoreSheet
from cqa_site.people.models import Rater
from cqa_site.rounds.models import Place
from cqa_site.runs.models import Run

if TYPE_CHECKING:
    import pandas as pd

FETCH = 5_000
# As `benchmark.leaderboard.methods.paper` names it.
GIVEN = "off_scale_points"
# Columns that come as keys and are given out as public ids: so few that looking each up once is
# much faster than reading an id with every sheet.
PUBLIC = {"question_id": Question, "system_id": System, "rater_id": Rater}
# Column of the table → where the database has it.
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
    """Sheets that count: submitted ones and unscored replies, of raters and runs in good standing.

    Left out: examples of a qualification, sheets beyond a round's number, sheets of excluded
    raters, runs whose canaries say that the judge obeys the texts it judges, runs under way
    of which that is not known yet, and answers to what their system's model was trained on.
    """
    return _counted(rubric).filter(~is_learned("answer__"))


def count_learned_sheets(rubric: RubricVersion) -> int:
    """Sheets that would count, had the model not been trained on the question."""
    return _counted(rubric).filter(is_learned("answer__")).count()


def _counted(rubric: RubricVersion) -> QuerySet[ScoreSheet]:
    trust = ScoringRun.Trust
    excluded = Place.objects.filter(
        round=OuterRef("round"),
        rater=OuterRef("rater"),
        excluded_at__isnull=False,
    )
    return (
        ScoreSheet.objects.filter(
            study=rubric.study_id,
            rubric=rubric,
            state__in=(ScoreSheet.State.SUBMITTED, ScoreSheet.State.UNSCORED),
            is_example=False,
            is_extra=False,
        )
        .exclude(run__scoring__trust=trust.UNTRUSTED)
        .exclude(Q(run__scoring__trust=trust.PENDING) & Q(run__state__in=Run.ACTIVE))
        .filter(~Exists(excluded))
    )


def sheet_table(sheets: QuerySet[ScoreSheet], rubric: Rubric) -> pd.DataFrame:
    """One row a sheet with its points, totals and what the answer is; five queries at most.

    Parameters
    ----------
    sheets
        Which rows; see `counted_sheets`.
    rubric
        Names the columns of points and of group totals.

    Returns
    -------
    pandas.DataFrame
        The columns of `COLUMNS` (keys of rows as whole numbers, public ids as text; ``round``
        and ``run`` 0 where there is none), ``off_scale_points`` (JSON of what an unscored reply
        with points off the scale gave, else empty), one float column for each criterion (NaN:
        no points), one for each group's key (NaN as soon as one of its criteria has no points),
        and ``total`` (points, NaN for unscored and incomplete sheets). Sorted by key, so the same
        sheets give the same table.
    """
    import pandas as pd

    rows = (
        sheets.annotate(characters=Length("answer__text"))
        .order_by("pk")
        .values_list(*COLUMNS.values(), "given", "points")
    )
    found = list(rows.iterator(FETCH))
    table = pd.DataFrame.from_records([row[:-1] for row in found], columns=[*COLUMNS, GIVEN])
    table[GIVEN] = [json.dumps(said, sort_keys=True) if said else "" for said in table[GIVEN]]
    for name in ("sheet", "answer_id"):
        table[name] = table[name].astype(str)
    for name, model in PUBLIC.items():
        table[name] = _public_ids(model, table[name])
    table = _with_conditions(table)
    for name in ("round", "run"):
        table[name] = table[name].fillna(0).astype("int64")
    table["total"] = table["total"].astype("float64")
    points = pd.DataFrame(
        [[row[-1].get(key) for key in rubric.keys] for row in found],
        columns=list(rubric.keys),
        dtype="float64",
    )
    groups = {
        group.key: points[[each.key for each in rubric.of_group(group.key)]].sum(
            axis=1, skipna=False
        )
        for group in rubric.groups
    }
    return pd.concat([table, points, pd.DataFrame(groups, index=table.index)], axis=1)


def _with_conditions(table: pd.DataFrame) -> pd.DataFrame:
    """Public id and name of each answer's condition, and 1 where nothing in it deviates."""
    keys = [int(key) for key in table["condition_id"].unique()]
    known = Condition.objects.in_bulk(keys)
    named = {
        "condition_id": {key: str(each.public_id) for key, each in known.items()},
        "condition": {key: str(each) for key, each in known.items()},
        "is_plain": {key: int(each.is_plain) for key, each in known.items()},
    }
    found = {name: table["condition_id"].map(values) for name, values in named.items()}
    return table.assign(
        **{
            name: values.astype("int64" if name == "is_plain" else str)
            for name, values in found.items()
        }
    )


def _public_ids(model: type[Model], keys: pd.Series) -> pd.Series:
    """The public ids of rows by their keys, as text."""
    rows = model._default_manager.filter(pk__in=[int(key) for key in keys.unique()])
    known = {pk: str(public_id) for pk, public_id in rows.values_list("pk", "public_id")}
    return keys.map(known).astype(str)
