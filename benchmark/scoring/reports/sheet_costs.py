"""What sheets and answers cost, from the ledger of calls: money and time, where known.

Columns added: ``cost_micro`` and ``seconds`` (the sheet's judgement, every attempt included),
``answer_cost_micro`` and ``answer_seconds`` (the writing of its answer; several choices of one
call share it). NaN where no call of ours made it, or an earlier reply was used again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Count, Q, QuerySet, Sum

from annotation.answers.models.answers import Answer
from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.models.runs import JudgementPart
from benchmark.scoring.models.sheets import ScoreSheet
from cqa_site.runs.models import Attempt

if TYPE_CHECKING:
    import pandas as pd

SHEET = ["run", "answer", "replicate"]


def with_costs(table: pd.DataFrame, rubric: RubricVersion) -> pd.DataFrame:
    """The table with its four columns of costs; at most five further queries."""
    runs = [int(each) for each in table["run"].unique() if each]
    judged = _of_calls(_sheet_calls(rubric, runs), runs)
    sums = judged.groupby(SHEET, as_index=False)[["cost_micro", "seconds"]].sum(min_count=1)
    table = table.merge(sums, how="left", on=SHEET)
    return table.merge(_of_answers(rubric), how="left", on="answer")


def _sheet_calls(rubric: RubricVersion, runs: list[int]) -> pd.DataFrame:
    """Calls behind the sheets of runs: one each, or several parts."""
    import pandas as pd

    columns = ["run_id", "answer_id", "replicate", "call_id"]
    rows: list[tuple] = []
    if runs:
        sheets = ScoreSheet.objects.filter(rubric=rubric, run__in=runs, call__isnull=False)
        rows += sheets.values_list(*columns)
        rows += JudgementPart.objects.filter(run__in=runs).values_list(*columns)
    return pd.DataFrame.from_records(rows, columns=[*SHEET, "call"]).astype("int64")


def _of_answers(rubric: RubricVersion) -> pd.DataFrame:
    """Cost and time of each answer that a call of ours wrote."""
    rows = Answer.objects.filter(study=rubric.study_id, call__isnull=False)
    written = _frame(rows.values_list("pk", "call_id", "run_id"), ["answer", "call", "run"])
    found = _of_calls(written, [int(each) for each in written["run"].unique()])
    share = found.groupby("call")["answer"].transform("count")
    return found.assign(
        answer_cost_micro=found["cost_micro"] / share, answer_seconds=found["seconds"] / share
    )[["answer", "answer_cost_micro", "answer_seconds"]]


def _of_calls(rows: pd.DataFrame, runs: list[int]) -> pd.DataFrame:
    """The rows with cost and seconds of their calls."""
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
