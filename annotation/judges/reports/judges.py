"""The machines that labelled arguments of a campaign, each with one label an argument.

A judge is a run of a language model, a version of the trained judge, or the labels of a model
that came in a file. None of them is ever counted among people's votes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import pandas as pd
from django.db.models import F, QuerySet

from annotation.consensus.reports import machine_labels
from annotation.judges.models import JudgeLabel, RelevanceRun, TrainedJudge
from annotation.labelling.models.campaigns import Campaign
from cqa_site.people.models import Rater
from cqa_site.runs.models import Call, Run
from cqa_site.stats.agreement import krippendorff_alpha
from cqa_site.stats.estimate import Estimate
from cqa_site.stats.latent.aggregation import majority
from cqa_site.stats.ratings import Ratings


@dataclass(frozen=True, kw_only=True)
class Judge:
    """One judge and what it said.

    Attributes
    ----------
    key
        ``run-<id>``, ``trained-<id>`` or ``rater-<id>``; names it in addresses.
    kind
        ``model``, ``classifier``, or ``imported``.
    labels
        One label an argument (most frequent of its replicates, higher on a tie), indexed by
        argument; empty where nothing was scored.
    planned, labelled, unscored
        Arguments it was to label, that have a label, and that it gave no usable label for.
    cost_micro
        What its labels cost without reuse of earlier replies, millionths of a unit; None
        where nobody counted.
    is_out_of_fold
        Whether every label comes from a model that saw no argument of the same pair.
    """

    key: str
    name: str
    kind: str
    at: datetime
    labels: pd.Series
    planned: int
    labelled: int
    unscored: int = 0
    cost_micro: int | None = 0
    run: Run | None = None
    trained: TrainedJudge | None = None
    is_out_of_fold: bool = False
    replicates: int = 1
    consistency: Estimate | None = None

    @property
    def coverage(self) -> float:
        """Share of the arguments it was to label that have a label."""
        return self.labelled / self.planned if self.planned else 0.0

    @property
    def per_thousand(self) -> float | None:
        """Cost of a thousand labelled arguments in currency units, where it is known."""
        if self.cost_micro is None or not self.labelled:
            return None
        return self.cost_micro / 1_000 / self.labelled


def judges_of(campaign: Campaign) -> list[Judge]:
    """Every judge of a campaign that gave a label, newest first; at most seven queries."""
    found = [*_runs(campaign), *_trained(campaign), *_imported(campaign)]
    return sorted(found, key=lambda judge: (judge.at, judge.key), reverse=True)


def rationales(judge: Judge, arguments: Iterable[int]) -> dict[int, list[str]]:
    """The judge's reasons for some arguments, one for each replicate that has one; one query."""
    if judge.run is None:
        return {}
    rows = judge.run.judge_labels.filter(argument__in=list(arguments), label__isnull=False)
    found: dict[int, list[str]] = {}
    for argument, rationale in rows.order_by("replicate").values_list("argument", "rationale"):
        if rationale:
            found.setdefault(argument, []).append(rationale)
    return found


def _runs(campaign: Campaign) -> list[Judge]:
    labels = _frame(JudgeLabel.objects.filter(campaign=campaign, run__isnull=False), "run")
    if labels.empty:
        return []
    rows = RelevanceRun.objects.filter(campaign=campaign, run__in=labels["source"].unique())
    found = rows.select_related("run__budget", "run__prompt", "run__endpoint", "rater")
    planned = _planned([row.run for row in found])
    groups = dict(iter(labels.groupby("source")))
    judges = [_run_judge(row, groups[row.run_id], planned[row.run_id]) for row in found]
    return [judge for judge in judges if len(judge.labels)]


def _run_judge(row: RelevanceRun, labels: pd.DataFrame, planned: int) -> Judge:
    run = row.run
    ratings = Ratings.from_frame(
        labels.rename(columns={"argument": "item", "replicate": "rater", "label": "value"})
    )
    chosen = majority(ratings)["label"] if ratings.n_values else pd.Series(dtype=float)
    return Judge(
        key=f"run-{run.public_id}",
        name=str(row.rater),
        kind="model",
        at=run.created_at,
        labels=chosen,
        planned=planned,
        labelled=len(chosen),
        unscored=labels["argument"].nunique() - len(chosen),
        cost_micro=run.budget.spent_micro + run.saved_micro,
        run=run,
        replicates=run.spec["replicates"],
        consistency=krippendorff_alpha(ratings, "ordinal") if ratings.n_raters > 1 else None,
    )


def _planned(runs: list[Run]) -> dict[int, int]:
    """Arguments each run asks about; of batches the ids are counted, in one query for all."""
    batches = [run.pk for run in runs if run.prompt.kind.endswith("_batch")]
    counts = {run.pk: run.planned // run.spec["replicates"] for run in runs}
    counts |= dict.fromkeys(batches, 0)
    calls = Call.objects.filter(run__in=batches, replicate=0).order_by()
    for pk, ids in calls.values_list("run", "subject_ids") if batches else ():
        counts[pk] += len(ids)
    return counts


def _trained(campaign: Campaign) -> list[Judge]:
    labels = _frame(JudgeLabel.objects.filter(campaign=campaign, trained__isnull=False), "trained")
    if labels.empty:
        return []
    rows = TrainedJudge.objects.filter(pk__in=labels["source"].unique())
    groups = dict(iter(labels.groupby("source")))
    found = rows.select_related("rater").defer("model")
    judges = [_trained_judge(row, groups[row.pk]) for row in found]
    return [judge for judge in judges if len(judge.labels)]


def _trained_judge(row: TrainedJudge, labels: pd.DataFrame) -> Judge:
    # What the model saw in training says nothing about it: only out-of-fold labels are compared.
    is_trained = row.kind == TrainedJudge.Kind.TRAINED
    used = labels[labels["is_out_of_fold"]] if is_trained else labels
    given = used.set_index("argument")["label"].dropna()
    return Judge(
        key=f"trained-{row.public_id}",
        name=str(row),
        kind="classifier",
        at=row.created_at,
        labels=given,
        planned=len(used),
        labelled=len(given),
        unscored=len(used) - len(given),
        trained=row,
        is_out_of_fold=is_trained,
    )


def _imported(campaign: Campaign) -> list[Judge]:
    """Models whose labels came in a file: no votes."""
    rows = machine_labels(campaign).order_by("pk")
    table = pd.DataFrame(
        list(rows.values_list("rater", "item__argument", "label", "answered_at")),
        columns=["rater", "argument", "label", "at"],
    )
    if table.empty:
        return []
    raters = Rater.objects.in_bulk(table["rater"].unique().tolist())
    return [_imported_judge(campaign, raters[pk], group) for pk, group in table.groupby("rater")]


def _imported_judge(campaign: Campaign, rater: Rater, votes: pd.DataFrame) -> Judge:
    first = votes.drop_duplicates("argument")
    known = votes["at"].dropna()
    return Judge(
        key=f"rater-{rater.public_id}",
        name=str(rater),
        kind="imported",
        at=campaign.created_at if known.empty else known.max(),
        labels=first.set_index("argument")["label"].astype(float),
        planned=len(first),
        labelled=len(first),
        cost_micro=None,
    )


def _frame(rows: QuerySet[JudgeLabel], source: str) -> pd.DataFrame:
    names = ["source", "argument", "replicate", "label", "is_out_of_fold"]
    values = rows.annotate(source=F(source)).order_by("pk").values_list(*names)
    return pd.DataFrame(list(values), columns=names).astype({"label": float})
