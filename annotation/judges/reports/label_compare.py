"""Comparison of a round's final labels, source by source, with any rater's labels.

A label set is one of `SETS`: labels from votes, from votes with expert overrides, and so on to the
final labels, or the labels of another method. A rater's labels come from any round of the study, a
judge's run or a trained judge.
"""

from dataclasses import dataclass
from typing import Any

import pandas as pd
from django.utils.translation import gettext as _, gettext_lazy

from annotation.figures.reports.tables import confusion_columns
from annotation.judges.models import RelevanceRun, TrainedJudge
from annotation.labelling.models import Assignment, LabelRound, VoteEvent, label_rounds_of
from cqa_site.people.models import Rater, Study
from cqa_site.results.figures import Column, EstimateColumn, table_of
from cqa_site.stats.agreement import confusion, krippendorff_alpha
from cqa_site.stats.estimate import Estimate
from cqa_site.web.tables import TableData
from .agreement import confusion_of, judges_of, paired
from .results import JudgeConfusion

# Sources in order, each overruling those before it; the last gives the final labels.
STEPS: dict[str, Any] = {
    "votes": gettext_lazy("Votes alone"),
    "expert": gettext_lazy("… with expert overrides"),
    "adopted": gettext_lazy("… with adopted labels"),
    "final": gettext_lazy("… with adjudication decisions: final labels"),
}
METHODS: dict[str, Any] = {
    "majority": gettext_lazy("Majority of the votes"),
    "dawid_skene": gettext_lazy("Dawid–Skene"),
    "mace": gettext_lazy("MACE"),
}
SETS = STEPS | METHODS
COLUMNS = (
    "majority_label", "dawid_skene_label", "mace_label", "expert_label", "adopted_label", "label",
)  # fmt: skip
RECIPE = gettext_lazy(
    "Unit: argument labelled both in the label set and by the rater. Identical: the rater "
    "gave this label; if a file has copies of a sentence with different labels, each label "
    "counts. If the rater gave several labels, alpha uses the most frequent one (if labels tie, "
    "the higher). Krippendorff's alpha with 95 % intervals (item jackknife). Each interval is for "
    "one alpha, not for a difference. Difference: the rater's mean minus the label set's."
)


@dataclass(frozen=True, kw_only=True)
class RaterLabels:
    """One rater's labels: one label per argument, and all labels of its copies."""

    labels: pd.Series
    copies: dict[int, set[int]]

    def agrees(self, argument: int, label: int) -> bool:
        """Whether the rater gave this label to the argument or a copy of it."""
        return self.labels[argument] == label or label in self.copies.get(argument, ())


def choices(study: Study) -> list[tuple[str, str]]:
    """Return the key and name of every comparable rater except people, with three queries."""
    labels = Assignment.objects.filter(
        round__study=study, state=Assignment.State.ANSWERED
    ).exclude(rater__kind=Rater.Kind.PERSON)
    columns = ("round__public_id", "round__name", "rater")
    rows = list(labels.order_by("round__name", "rater").values_list(*columns).distinct())
    raters = Rater.objects.in_bulk({rater for *_label_round, rater in rows})
    files = [
        (f"rater-{label_round}:{raters[pk].public_id}", f"{name} · {raters[pk].described}")
        for label_round, name, pk in rows
    ]
    return [*files, *_judge_choices(study)]


def _judge_choices(study: Study) -> list[tuple[str, str]]:
    runs = RelevanceRun.objects.filter(
        label_round__study=study, run__judge_labels__label__isnull=False
    )
    runs = runs.select_related("run", "label_round", "rater").order_by("run").distinct()
    trained = TrainedJudge.objects.filter(label_round__study=study).defer("model")
    rows = [
        (f"run-{row.run.public_id}", f"{row.label_round} · {row.rater} #{row.run.number}")
        for row in runs
    ]
    rows += [
        (f"trained-{row.public_id}", f"{row.label_round} · {row}")
        for row in trained.select_related("label_round", "rater").order_by("pk")
    ]
    return rows


def said_by(study: Study, key: str) -> tuple[str, RaterLabels] | None:
    """Return the name and labels for a person's key or a key in `choices`, or None if unknown."""
    kind, _dash, rest = key.partition("-")
    if kind == "rater":
        return _said_in_round(study, rest)
    return _said_by_judge(study, key)


def _said_in_round(study: Study, ids: str) -> tuple[str, RaterLabels] | None:
    label_round_id, _colon, rater_id = ids.partition(":")
    label_rounds = {str(row.public_id): row for row in label_rounds_of(study)}
    label_round = label_rounds.get(label_round_id)
    labelled = Rater.objects.filter(study=study, assignments__round=label_round).distinct()
    named = {str(public_id): pk for pk, public_id in labelled.values_list("pk", "public_id")}
    if label_round is None or rater_id not in named:
        return None
    rater = Rater.objects.get(pk=named[rater_id])
    return f"{label_round} · {rater.described}", labels_of_rater(label_round, rater)


def labels_of_rater(label_round: LabelRound, rater: Rater) -> RaterLabels:
    """Return a rater's labels in a round, even if the rater is excluded, with two queries."""
    from annotation.consensus.methods import label_votes

    assignments = label_round.assignments.filter(
        rater=rater, state=Assignment.State.ANSWERED, item__is_retired=False
    )
    rows = list(assignments.order_by("pk").values_list("item__argument", "rater", "label"))
    table = pd.DataFrame(rows, columns=["unit", "rater", "value"])
    # The label of a second copy of a sentence is stored as a remark on the first copy.
    remarks = VoteEvent.objects.filter(
        assignment__in=assignments, kind=VoteEvent.Kind.FLAG, label__isnull=False
    )
    copies: dict[int, set[Any]] = {}
    for argument, label in [
        *((argument, label) for argument, _rater, label in rows),
        *remarks.values_list("assignment__item__argument", "label"),
    ]:
        copies.setdefault(argument, set()).add(label)
    labels = label_votes(table, "majority").astype(float)
    return RaterLabels(labels=labels, copies=copies)


def _said_by_judge(study: Study, key: str) -> tuple[str, RaterLabels] | None:
    owners = LabelRound.objects.filter(study=study).select_related("guideline", "study")
    name = dict(_judge_choices(study)).get(key)
    if name is None:
        return None
    kind, _dash, public_id = key.partition("-")
    where = {"run": "judge_runs__run__public_id", "trained": "trained_judges__public_id"}[kind]
    label_round = owners.get(**{where: public_id})
    for judge in judges_of(label_round):
        if judge.key == key:
            return name, RaterLabels(labels=judge.labels, copies={})
    return None


def label_sets(label_round: LabelRound) -> pd.DataFrame:
    """Return a round's label sets as last computed, as columns indexed by argument."""
    rows = label_round.final_labels.order_by("argument").values_list("argument", *COLUMNS)
    table = pd.DataFrame(list(rows), columns=["argument", *COLUMNS]).set_index("argument")
    table = table.astype(float)
    sets = pd.DataFrame(index=table.index)
    sets["votes"] = table[f"{label_round.aggregator}_label"]
    sets["expert"] = table["expert_label"].fillna(sets["votes"])
    sets["adopted"] = table["adopted_label"].fillna(sets["expert"])
    sets["final"] = table["label"]
    for method in METHODS:
        sets[method] = table[f"{method}_label"]
    return sets


@dataclass(frozen=True, kw_only=True)
class LabelSet:
    """One label set compared with a rater; ``changed`` counts changes from the previous set."""

    set: str
    title: str
    is_step: bool
    changed: int | None
    n: int
    equal: int
    share: float | None
    ordinal: Estimate
    interval: Estimate
    difference: float | None


def compare_sets(label_round: LabelRound, labels: RaterLabels) -> list[LabelSet]:
    """Compare each label set with the rater, in the order of `SETS`."""
    sets = label_sets(label_round)
    rows, previous = [], None
    for name in SETS:
        changed = _changed(previous, sets[name]) if name in STEPS else None
        rows.append(_beside(name, sets[name], changed, labels))
        previous = sets[name] if name in STEPS else previous
    return rows


def _changed(previous: pd.Series | None, labels: pd.Series) -> int | None:
    if previous is None:
        return None
    return int((previous.fillna(-1) != labels.fillna(-1)).sum())


def _beside(
    name: str, labels: pd.Series, changed: int | None, rater_labels: RaterLabels
) -> LabelSet:
    both = pd.DataFrame({"label": labels, "rater": rater_labels.labels}).dropna()
    equal = sum(
        rater_labels.agrees(argument, int(label)) for argument, label in both["label"].items()
    )
    n = len(both)
    pair = paired(both)
    return LabelSet(
        set=name,
        title=str(SETS[name]),
        is_step=name in STEPS,
        changed=changed,
        n=n,
        equal=equal,
        share=equal / n if n else None,
        ordinal=krippendorff_alpha(pair, "ordinal"),
        interval=krippendorff_alpha(pair, "interval"),
        difference=float((both["rater"] - both["label"]).mean()) if n else None,
    )


def confusion_with(
    label_round: LabelRound, rater_labels: RaterLabels, chosen: str
) -> JudgeConfusion:
    """Return the labels of one set (rows) against the rater's labels (columns)."""
    labels = label_sets(label_round)[chosen].dropna()
    used = {*labels.astype(int), *rater_labels.labels.dropna().astype(int)}
    scale = sorted({*label_round.guideline.values, *used})
    return confusion_of(confusion(labels, rater_labels.labels, scale))


def steps_table(label_round: LabelRound, name: str, rows: list[LabelSet]) -> TableData:
    """Return the comparison of every label set with one rater, as a table for a file."""
    columns = (
        Column(_("Label set"), "title"),
        Column(_("Labels changed by this step"), "changed"),
        Column(_("Identical"), "equal"),
        Column(_("Arguments n"), "n"),
        Column(_("Share"), "share"),
        EstimateColumn(_("Ordinal alpha"), "ordinal"),
        Column(_("Difference"), "difference"),
    )
    caption = _("Label sets of round “%(label_round)s” compared with %(rater)s.") % {
        "label_round": label_round.name,
        "rater": name,
    }
    return table_of(columns, rows, caption=caption, note=str(RECIPE), name="label-sets")


def confusion_table(name: str, chosen: str, table: JudgeConfusion) -> TableData:
    """Return the confusion table of one label set and one rater, for a file."""
    values = table.values
    columns = confusion_columns(SETS[chosen], "%d", values)
    rows = zip(values, table.cells, table.sums, strict=True)
    caption = _("Rows: %(set)s; columns: %(rater)s.") % {"set": SETS[chosen], "rater": name}
    return table_of(columns, rows, caption=caption, name="label-confusion")
