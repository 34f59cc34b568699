"""Read the table of votes that all statistics use, and describe the distribution of labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from django.db.models import (
    Count,
    Exists,
    ExpressionWrapper,
    F,
    Field,
    FilteredRelation,
    Max,
    Min,
    OuterRef,
    Q,
    QuerySet,
)
from django.db.models.expressions import Combinable
from django.utils.translation import ngettext

from annotation.consensus.models import Adjudication, FinalLabel, PreferredLabels
from annotation.labelling.models import Assignment, Guideline, LabelRound
from annotation.labelling.reports import KnownLabel
from cqa_site.people.models import Rater, Study
from cqa_site.results.boards import Conclusion

if TYPE_CHECKING:
    import pandas as pd


# Imported labels of machines are stored as assignments too, but they are never votes.
MACHINES = (Rater.Kind.MODEL, Rater.Kind.CLASSIFIER)
VOTERS = tuple(kind for kind in Rater.Kind if kind not in MACHINES)
# Labels that no figure counts: late labels, labels of retired controls, labels by machines.
OUTSIDE_THE_COUNT = Q(is_extra=True) | Q(item__is_retired=True) | Q(rater__kind__in=MACHINES)
ENOUGH_TO_AGREE, MOST_AGREED = 2, 1_000
# Column of the table → its source. Some are read as raw database values, because Django would
# convert booleans and times one row at a time.
COLUMNS: dict[str, str | Combinable] = {
    "assignment": "pk",
    "item": "item_id",
    "unit": "item__argument_id",
    "rater": "rater_id",
    "rater_kind": "rater__kind",
    "value": "label",
    "control_label": "item__control_label",
    "is_extra": ExpressionWrapper(F("is_extra"), Field()),
    "is_retired": ExpressionWrapper(F("item__is_retired"), Field()),
    "active_ms": "active_ms",
    "excluded_at": ExpressionWrapper(F("excluded_at"), Field()),
}


def vote_table(label_round: LabelRound, *, exclude: bool = True, **where: object) -> pd.DataFrame:
    """Read the votes of a round in one query, one row per answered assignment.

    A vote counts if it was answered and requested (not extra), its rater is not excluded and its
    item is not retired. With ``exclude=False``, the other votes are included, marked by the
    columns is_extra, excluded and is_retired. Labels by machines are not votes; see
    `machine_table`. Lookups on Assignment filter the table, for example to one rater.

    Columns: assignment, item, unit (key of the argument), rater (key), rater_kind, value,
    is_control, control_label (Int64), is_extra, is_retired, active_ms (Int64), excluded. Rows are
    ordered by assignment, so that seeded methods give the same results.
    """
    everybody = _answered(round=label_round, rater__kind__in=VOTERS)
    votes = counted_votes(label_round) if exclude else everybody
    return _table(votes.filter(**where))


def machine_table(label_round: LabelRound) -> pd.DataFrame:
    """Return the `machine_labels` of a round with the same columns as `vote_table`."""
    return _table(machine_labels(label_round))


def _table(votes: QuerySet[Assignment]) -> pd.DataFrame:
    rows = votes.order_by("pk").values_list(*COLUMNS.values())
    types = {"control_label": "Int64", "active_ms": "Int64", "is_extra": "bool"}
    table = _frame(rows, list(COLUMNS)).astype(types | {"is_retired": "bool"})
    table["is_control"] = table["control_label"].notna()
    table["excluded"] = table.pop("excluded_at").notna()
    return table


def counted_votes(label_round: LabelRound) -> QuerySet[Assignment]:
    """Return the votes by people and from releases that count in every figure and final label."""
    return _counted(_answered(round=label_round))


def counted_rows(votes: pd.DataFrame, *, with_retired: bool = False) -> pd.DataFrame:
    """Return the counted rows of a `vote_table`, optionally with votes on retired controls."""
    is_outside = votes["excluded"] | votes["is_extra"]
    return votes[~is_outside if with_retired else ~is_outside & ~votes["is_retired"]]


def machine_labels(label_round: LabelRound) -> QuerySet[Assignment]:
    """Return imported labels of models and classifiers, which do not fill slots."""
    return _standing(_answered(round=label_round, rater__kind__in=MACHINES))


def override_table(label_round: LabelRound) -> pd.DataFrame:
    """Return the counted labels of overruling rounds: columns unit, rater, value.

    The table includes only arguments in this round, and no labels by machines.
    """
    sources = label_round.overridden_by.values("pk")
    labels = _counted(_answered(round__in=sources)).filter(
        item__argument__in=label_round.items.values("argument")
    )
    return _labels_of(labels)


def expert_table(label_round: LabelRound) -> pd.DataFrame:
    """Return the study experts' labels of the control items: columns unit, rater, value.

    The table includes their counted labels from all rounds.
    """
    controls = label_round.items.filter(control_label__isnull=False).values("argument")
    labels = _counted(
        _answered(
            round__study=label_round.study_id,
            rater__kind=Rater.Kind.EXPERT,
            item__argument__in=controls,
        )
    )
    return _labels_of(labels)


def adjudication_table(label_round: LabelRound, **where: object) -> pd.DataFrame:
    """Return current decisions, filtered by ``where``: columns unit, rater, value."""
    rows = (
        Adjudication.objects.filter(label_round=label_round, superseded_at__isnull=True, **where)
        .order_by("pk")
        .values_list("argument_id", "rater_id", "label")
    )
    return _frame(rows, ["unit", "rater", "value"])


def adoption_table(label_round: LabelRound) -> pd.DataFrame:
    """Return the counted labels of current adoptions: columns unit, rater, value, only_tied.

    ``rater`` is the key of the adoption, because a rater's labels may be adopted from several
    rounds. The table includes only arguments in this round.
    """
    rules = label_round.adoptions.filter(withdrawn_at__isnull=True)
    rows = [
        (unit, rule.pk, label, rule.only_tied)
        for rule in rules
        for unit, label in adoptable_labels(label_round, rule.source_id, rule.rater_id)
    ]
    return _frame(rows, ["unit", "rater", "value", "only_tied"])


def adoptable_labels(label_round: LabelRound, source: int, rater: int) -> list[tuple[int, Any]]:
    """Return (argument, label) for a rater's labels in ``source`` on arguments in this round."""
    labels = _standing(_answered(round=source, rater=rater)).filter(is_extra=False)
    mine = labels.filter(item__argument__in=label_round.items.values("argument"))
    return list(mine.order_by("pk").values_list("item__argument_id", "label"))


def agreed_labels(study: Study, values: list[int]) -> list[tuple[int, int]]:
    """Return (argument, label) for arguments that at least two people labelled, all identically.

    Only rounds whose guideline has ``values`` are used. At most 1,000 arguments are returned,
    enough to draw control items.
    """
    return [(argument, label) for argument, label, _people in _agreed(study, values)]


def known_labels(label_round: LabelRound) -> list[KnownLabel]:
    """Return labels from other rounds on the same scale: settled disputes, then agreed labels.

    A dispute is an argument on which people disagreed; a current decision settles it.
    """
    study, values = label_round.study, label_round.guideline.values
    same = {"label_round": OuterRef("label_round"), "argument": OuterRef("argument")}
    settled = (
        Adjudication.objects.filter(
            Exists(FinalLabel.objects.filter(**same, spread__gt=0)),
            label_round__in=LabelRound.objects.filter(guideline__in=_guidelines(study, values)),
            superseded_at__isnull=True,
        )
        .exclude(label_round=label_round)
        .order_by()
        .values("argument")
        .annotate(people=Count("rater", distinct=True), least=Min("label"), most=Max("label"))
        .annotate(newest=Max("pk"))
        .order_by("-newest")
    )
    known = {
        argument: KnownLabel(argument, least if least == most else None, people, is_settled=True)
        for argument, people, least, most in settled.values_list(
            "argument", "people", "least", "most"
        )
    }
    agreed = (KnownLabel(*row) for row in _agreed(study, values) if row[0] not in known)
    return [*known.values(), *agreed]


def _agreed(study: Study, values: list[int]) -> list[tuple[int, int, int]]:
    """Return argument, label and number of people for each label on which all agree."""
    guidelines = _guidelines(study, values)
    votes = _counted(_answered(round__study=study, round__guideline__in=guidelines))
    agreed = (
        votes.order_by()
        .values("item__argument")
        .annotate(people=Count("rater", distinct=True), least=Min("label"), most=Max("label"))
        .filter(people__gte=ENOUGH_TO_AGREE, least=F("most"))
        .order_by("item__argument")
    )
    return list(agreed.values_list("item__argument", "least", "people")[:MOST_AGREED])


def _guidelines(study: Study, values: list[int]) -> list[int]:
    """Return the keys of the study's guidelines with this scale."""
    guidelines = study.guidelines.only("levels")
    return [guideline.pk for guideline in guidelines if guideline.values == values]


def _answered(**where: object) -> QuerySet[Assignment]:
    """Return answered assignments, each with the time its rater was excluded from the round."""
    place = FilteredRelation("rater__places", condition=Q(rater__places__round=F("round")))
    return Assignment.objects.filter(state=Assignment.State.ANSWERED, **where).annotate(
        place=place, excluded_at=F("place__excluded_at")
    )


def _counted(votes: QuerySet[Any]) -> QuerySet[Assignment]:
    return votes.filter(~OUTSIDE_THE_COUNT, excluded_at__isnull=True)


def _standing(labels: QuerySet[Any]) -> QuerySet[Assignment]:
    return labels.filter(excluded_at__isnull=True, item__is_retired=False)


def _labels_of(votes: QuerySet[Assignment]) -> pd.DataFrame:
    rows = votes.order_by("pk").values_list("item__argument_id", "rater_id", "label")
    return _frame(rows, ["unit", "rater", "value"])


def _frame(rows: Iterable[tuple[Any, ...]], columns: list[str]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows, columns=columns)


def label_source(study: Study) -> LabelRound | None:
    """Return the round whose final labels the study uses; None means the newest labels."""
    chosen = PreferredLabels.objects.filter(study=study).select_related("label_round").first()
    return chosen.label_round if chosen else None


FINAL_PATHS = (
    "argument__comparison__object1", "argument__comparison__object2", "argument__text", "label",
    "provenance", "majority_label", "dawid_skene_label", "mace_label", "expert_label",
    "adopted_label", "adjudicated_label", "votes", "pattern", "is_tied", "spread",
)  # fmt: skip


# Distribution of arguments over the labels of a scale, in a sentence


def labels_finding(counts: Mapping[int | None, int], guideline: Guideline) -> Conclusion | None:
    """State the number of arguments per final label; None counts arguments without a label."""
    labels = {label: n for label, n in counts.items() if label is not None}
    total, left = sum(labels.values()), counts.get(None, 0)
    if not total:
        return None
    text = ngettext(
        "Final labels for %(n)s argument: %(labels)s.",
        "Final labels for %(n)s arguments: %(labels)s.",
        total,
    )
    says = text % {"n": f"{total:,}", "labels": by_label(labels, guideline)}
    if not left:
        return Conclusion(says)
    sure = ngettext(
        "%(n)s more argument has no label yet.", "%(n)s more arguments have no label yet.", left
    )
    return Conclusion(says, sure % {"n": f"{left:,}"})


def by_label(counts: Mapping[int, int], guideline: Guideline) -> str:
    """Return counts, highest label first, such as 4 “Both, with a reason” (3), 2 … (1)."""
    names = guideline.level_names
    parts = [
        f"{counts[label]:,} “{names[label]}” ({label})"
        if label in names
        else f"{counts[label]:,} ({label})"
        for label in sorted(counts, reverse=True)
        if counts[label]
    ]
    return ", ".join(parts)
