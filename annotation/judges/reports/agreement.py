"""Agreement of each judge with the votes and final labels of a round."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

import numpy as np
import pandas as pd
from django.db.models import F, QuerySet

from annotation.consensus.reports import counted_votes, machine_labels
from annotation.judges.models import JudgeLabel, RelevanceRun, TrainedJudge
from annotation.labelling.models import LabelRound
from cqa_site.people.models import Rater
from cqa_site.runs.models import Call, Run
from cqa_site.stats.agreement import confusion, krippendorff_alpha
from cqa_site.stats.cross_alpha import alpha_difference, cross_alpha
from cqa_site.stats.disagreement import Replacement, majority, replace_one_vote
from cqa_site.stats.estimate import Estimate
from cqa_site.stats.ratings import Ratings
from cqa_site.stats.verdicts import RULES
from .results import JudgeConfusion, LabelFigures

# Machines that labelled arguments of a round, each with one label per argument
#
# A judge is a run of a language model, a version of the trained judge, or a model with imported
# labels. Its labels never count as people's votes.


@dataclass(frozen=True, kw_only=True)
class JudgeLabels:
    """One judge and its labels.

    Attributes
    ----------
    key
        ``run-<id>``, ``trained-<id>`` or ``rater-<id>``, as used in URLs.
    kind
        ``model``, ``classifier``, or ``imported``.
    labels
        One label per argument (the most frequent among its replicates, or the highest on a tie),
        indexed by argument; empty if nothing was scored.
    planned, labelled, unscored
        Numbers of arguments to label, labelled arguments, and arguments without a usable label.
    cost_micro
        Cost of its labels, as if no earlier reply had been reused, in millionths of a currency
        unit; None if unknown.
    is_out_of_fold
        Whether every label comes from a model trained without arguments about the same pair.
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
        """Labelled share of the arguments that the judge was asked to label."""
        return self.labelled / self.planned if self.planned else 0.0

    @property
    def per_thousand(self) -> float | None:
        """Cost of 1,000 labelled arguments in currency units; None if unknown."""
        if self.cost_micro is None or not self.labelled:
            return None
        return self.cost_micro / 1_000 / self.labelled


def judges_of(label_round: LabelRound) -> list[JudgeLabels]:
    """Return a round's judges with labels, newest first, with at most seven queries."""
    judges = [*_runs(label_round), *_trained(label_round), *_imported(label_round)]
    return sorted(judges, key=lambda judge: (judge.at, judge.key), reverse=True)


def rationales(judge: JudgeLabels, arguments: Iterable[int]) -> dict[int, list[str]]:
    """Return a judge's reasons by argument, at most one per replicate, with one query."""
    if judge.run is None:
        return {}
    rows = judge.run.judge_labels.filter(argument__in=list(arguments), label__isnull=False)
    texts: dict[int, list[str]] = {}
    for argument, rationale in rows.order_by("replicate").values_list("argument", "rationale"):
        if rationale:
            texts.setdefault(argument, []).append(rationale)
    return texts


def _runs(label_round: LabelRound) -> list[JudgeLabels]:
    labels = _frame(JudgeLabel.objects.filter(label_round=label_round, run__isnull=False), "run")
    if labels.empty:
        return []
    rows = RelevanceRun.objects.filter(label_round=label_round, run__in=labels["source"].unique())
    runs = rows.select_related("run__budget", "run__prompt", "run__endpoint", "rater")
    planned = _planned([row.run for row in runs])
    groups = dict(iter(labels.groupby("source")))
    judges = [_run_judge(row, groups[row.run_id], planned[row.run_id]) for row in runs]
    return [judge for judge in judges if len(judge.labels)]


def _run_judge(row: RelevanceRun, labels: pd.DataFrame, planned: int) -> JudgeLabels:
    run = row.run
    ratings = Ratings.from_frame(
        labels.rename(columns={"argument": "item", "replicate": "rater", "label": "value"})
    )
    chosen = majority(ratings)["label"] if ratings.n_values else pd.Series(dtype=float)
    return JudgeLabels(
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
    """Count the arguments in each run, including those in batches, with one query."""
    batches = [run.pk for run in runs if run.prompt.kind.endswith("_batch")]
    counts = {run.pk: run.planned // run.spec["replicates"] for run in runs}
    counts |= dict.fromkeys(batches, 0)
    calls = Call.objects.filter(run__in=batches, replicate=0).order_by()
    for pk, ids in calls.values_list("run", "subject_ids") if batches else ():
        counts[pk] += len(ids)
    return counts


def _trained(label_round: LabelRound) -> list[JudgeLabels]:
    labels = _frame(
        JudgeLabel.objects.filter(label_round=label_round, trained__isnull=False), "trained"
    )
    if labels.empty:
        return []
    rows = TrainedJudge.objects.filter(pk__in=labels["source"].unique())
    groups = dict(iter(labels.groupby("source")))
    candidates = rows.select_related("rater").defer("model")
    judges = [_trained_judge(row, groups[row.pk]) for row in candidates]
    return [judge for judge in judges if len(judge.labels)]


def _trained_judge(row: TrainedJudge, labels: pd.DataFrame) -> JudgeLabels:
    # Only out-of-fold labels are compared, because training data cannot test a model.
    is_trained = row.kind == TrainedJudge.Kind.TRAINED
    used = labels[labels["is_out_of_fold"]] if is_trained else labels
    judge_labels = used.set_index("argument")["label"].dropna()
    return JudgeLabels(
        key=f"trained-{row.public_id}",
        name=str(row),
        kind="classifier",
        at=row.created_at,
        labels=judge_labels,
        planned=len(used),
        labelled=len(judge_labels),
        unscored=len(used) - len(judge_labels),
        trained=row,
        is_out_of_fold=is_trained,
    )


def _imported(label_round: LabelRound) -> list[JudgeLabels]:
    """Return models with imported labels, which are not votes."""
    rows = machine_labels(label_round).order_by("pk")
    table = pd.DataFrame(
        list(rows.values_list("rater", "item__argument", "label", "answered_at")),
        columns=["rater", "argument", "label", "at"],
    )
    if table.empty:
        return []
    raters = Rater.objects.in_bulk(table["rater"].unique().tolist())
    return [
        _imported_judge(label_round, raters[pk], group) for pk, group in table.groupby("rater")
    ]


def _imported_judge(label_round: LabelRound, rater: Rater, votes: pd.DataFrame) -> JudgeLabels:
    first = votes.drop_duplicates("argument")
    known = votes["at"].dropna()
    return JudgeLabels(
        key=f"rater-{rater.public_id}",
        name=str(rater),
        kind="imported",
        at=label_round.created_at if known.empty else known.max(),
        labels=first.set_index("argument")["label"].astype(float),
        planned=len(first),
        labelled=len(first),
        cost_micro=None,
    )


def _frame(rows: QuerySet[JudgeLabel], source: str) -> pd.DataFrame:
    names = ["source", "argument", "replicate", "label", "is_out_of_fold"]
    values = rows.annotate(source=F(source)).order_by("pk").values_list(*names)
    return pd.DataFrame(list(values), columns=names).astype({"label": float})


HARDEST = 20


@dataclass(frozen=True, kw_only=True)
class PeopleLabels:
    """Labels by people in a round.

    Attributes
    ----------
    votes
        Counted votes by people and experts on ordinary items, by argument.
    final
        Final labels by argument.
    scale
        Labels of the guideline in ascending order.
    agreement
        Ordinal alpha among the votes, as the reference for judges.
    """

    votes: Ratings
    final: pd.Series
    scale: list[int]
    agreement: Estimate


@dataclass(frozen=True, kw_only=True)
class JudgeComparison:
    """One judge compared with people.

    Attributes
    ----------
    n
        Arguments with both a final label and a label from the judge.
    exact
        Share of these arguments for which the two labels are equal.
    bias, error
        Mean of the judge's label minus the final label (above 0 if the judge's labels are higher),
        and mean of the absolute difference, in steps of the scale.
    ordinal, interval
        Alpha between the final labels and the judge's labels.
    with_votes
        Ordinal alpha over pairs of one person's vote and the judge's label.
    difference
        ``with_votes`` minus the alpha among people, over the arguments for which both exist.
    """

    judge: JudgeLabels
    n: int
    exact: float | None
    bias: float | None
    error: float | None
    ordinal: Estimate
    interval: Estimate
    with_votes: Estimate
    difference: Estimate
    people: PeopleLabels = field(repr=False)

    @cached_property
    def table(self) -> pd.DataFrame:
        """Final labels (rows) against the judge's labels (columns)."""
        used = {*self.people.final.astype(int), *self.judge.labels.astype(int)}
        scale = sorted({*self.people.scale, *used})
        return confusion(self.people.final, self.judge.labels, scale)

    @cached_property
    def replacement(self) -> Replacement:
        """Effect on the majority if the judge replaces one vote."""
        return replace_one_vote(self.people.votes, self.judge.labels)

    @cached_property
    def hardest(self) -> pd.DataFrame:
        """Arguments with the largest distance: argument, final label, judge's label, distance."""
        both = _both(self.people, self.judge)
        both["distance"] = (both["judge"] - both["final"]).abs()
        far = both[both["distance"] > 0].rename_axis("argument").reset_index()
        return far.sort_values(["distance", "argument"], ascending=[False, True]).head(HARDEST)


def people_of(label_round: LabelRound) -> PeopleLabels:
    """Return the votes and final labels by people, with at most three queries."""
    rows = counted_votes(label_round).filter(item__control_label__isnull=True).order_by("pk")
    votes = pd.DataFrame(
        list(rows.values_list("item__argument", "rater", "label")),
        columns=["item", "rater", "value"],
    )
    # A rater may have labelled the same sentence as two items; the first label counts.
    ratings = Ratings.from_frame(votes.drop_duplicates(["item", "rater"]))
    return PeopleLabels(
        votes=ratings,
        final=final_labels_of(label_round),
        scale=label_round.guideline.values,
        agreement=krippendorff_alpha(ratings, "ordinal"),
    )


def final_labels_of(label_round: LabelRound) -> pd.Series:
    """Return final labels by argument; they are never based on a machine's label."""
    rows = label_round.final_labels.filter(label__isnull=False).order_by("argument")
    table = pd.DataFrame(
        list(rows.values_list("argument", "label")), columns=["argument", "label"]
    )
    return table.set_index("argument")["label"].astype(float)


def compare(judge: JudgeLabels, people: PeopleLabels) -> JudgeComparison:
    both = _both(people, judge)
    difference = both["judge"] - both["final"]
    pair = paired(both)
    n = len(both)
    return JudgeComparison(
        judge=judge,
        people=people,
        n=n,
        exact=float((difference == 0).mean()) if n else None,
        bias=float(difference.mean()) if n else None,
        error=float(difference.abs().mean()) if n else None,
        ordinal=krippendorff_alpha(pair, "ordinal"),
        interval=krippendorff_alpha(pair, "interval"),
        with_votes=cross_alpha(people.votes, judge.labels, "ordinal"),
        difference=difference_from_people(people, judge),
    )


def difference_from_people(
    people: PeopleLabels, judge: JudgeLabels, confidence: float = 0.95
) -> Estimate:
    """Return alpha of votes and judge minus alpha among votes (rule "one against a group").

    With fewer items than the rule requires, a judge's rare errors might not occur, and the
    interval would miss them.
    """
    rule = RULES["one against a group"]
    estimate = alpha_difference(people.votes, judge.labels, "ordinal", confidence)
    if estimate.low is None or rule.allows(estimate.n_pairable_items):
        return estimate
    reason = f"fewer than {rule.least} arguments with two votes and a label of the judge"
    return replace(estimate, low=None, high=None, interval=None, reason=reason)


def paired(both: pd.DataFrame) -> Ratings:
    """Return the ratings of two raters as columns, indexed by item."""
    return Ratings.from_frame(
        both.melt(ignore_index=False, var_name="rater").rename_axis("item").reset_index()
    )


def label_by_label(table: pd.DataFrame) -> pd.DataFrame:
    """Return counts, recall and precision of each label, and the judge's mean for that label."""
    counts = table.to_numpy(dtype=float)
    finals, predictions, hits = counts.sum(axis=1), counts.sum(axis=0), np.diag(counts)
    columns = table.columns.to_numpy(dtype=float)
    return pd.DataFrame(
        {
            "final": finals.astype(int),
            "judge": predictions.astype(int),
            "recall": _shares(hits, finals),
            "precision": _shares(hits, predictions),
            "mean_judge": _shares(counts @ columns, finals),
        },
        index=table.index.astype(int),
    )


def label_rows(table: pd.DataFrame) -> list[LabelFigures]:
    """Return `label_by_label` as plain rows; undefined values are None."""
    rows = label_by_label(table).rename_axis("label").reset_index()
    plain = rows.astype(object).where(rows.notna(), None)
    return [LabelFigures(*row) for row in plain.itertuples(index=False, name=None)]


def confusion_of(table: pd.DataFrame) -> JudgeConfusion:
    """Return a confusion table with the shares of each row."""
    counts = table.to_numpy()
    sums = counts.sum(axis=1)
    return JudgeConfusion(
        values=[int(value) for value in table.index],
        cells=counts.astype(int).tolist(),
        sums=sums.astype(int).tolist(),
        shares=[
            [float(n / total) if total else None for n in row]
            for row, total in zip(counts, sums, strict=True)
        ],
    )


def common_arguments(judges: Iterable[JudgeLabels]) -> set[int]:
    sets = [set(judge.labels.index) for judge in judges]
    return set.intersection(*sets) if sets else set()


def narrowed(judge: JudgeLabels, arguments: set[int]) -> JudgeLabels:
    """Return the judge with labels for these arguments only, but with the same plan and cost."""
    return replace(judge, labels=judge.labels[judge.labels.index.isin(arguments)])


def _both(people: PeopleLabels, judge: JudgeLabels) -> pd.DataFrame:
    return pd.DataFrame({"final": people.final, "judge": judge.labels}).dropna()


def _shares(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)
