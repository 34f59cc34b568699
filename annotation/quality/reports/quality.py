"""Reliability of a round's annotators, and a cache for these figures."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from django.core.cache import cache
from django.db.models import Count, F

from annotation.consensus.reports import VOTERS, counted_rows, counted_votes, vote_table
from annotation.figures.reports.snapshots import marker
from annotation.labelling.models import Assignment, LabelRound
from cqa_site.people.models import Rater
from cqa_site.rounds.models import Place
from cqa_site.rounds.rules.records import ControlRecord

if TYPE_CHECKING:
    import pandas as pd

    from cqa_site.stats.drift import AccuracyChart, AccuracyFall

KEPT_SECONDS = 24 * 3600


def kept(name: str, label_round: LabelRound, state: str, compute: Callable[[], Any]) -> Any:
    """Return the result for this state of the votes, computing it only once."""
    key = f"quality-{name}:{label_round.public_id}:{state}"
    return cache.get_or_set(key, compute, KEPT_SECONDS)


def state_of(label_round: LabelRound) -> str:
    """Return a short key that changes with every vote, exclusion and known label."""
    return hashlib.sha256(f"quality 3 {marker(label_round)}".encode()).hexdigest()[:16]


ONE_VALUE_MIN = 5  # fewer equal labels do not show a habit
HASTY_SHARE = 0.2  # of the expected seconds
TIME_BINS = (0, 1, 2, 3, 5, 8, 13, 20, 30, 60, 120, 300, 1_800)


def chart_of_round(label_round: LabelRound) -> AccuracyChart:
    """Return the control chart that detects falls of the size set for the round."""
    from cqa_site.stats.drift import accuracy_chart

    return accuracy_chart(label_round.usual_accuracy, label_round.fallen_accuracy)


@dataclass(frozen=True)
class Facts:
    """One rater's votes: total, extras, distinct values, and answers on control items.

    ``median_ms`` and ``agreement``, the share of agreement with others on ``compared`` labels, are
    None if undefined.
    """

    rater: int
    votes: int
    extras: int
    values: int
    median_ms: float | None
    agreement: float | None
    compared: int
    controls: ControlRecord


@dataclass(frozen=True)
class AnnotatorQuality:
    """One row of the quality table; shares range from 0 to 1, or are None if undefined."""

    rater: Rater
    place: Place | None
    votes: int
    extras: int
    controls: ControlRecord
    is_low: bool
    median_seconds: float | None
    is_hasty: bool
    is_one_value: bool
    agreement: float | None
    compared: int
    fall: AccuracyFall | None

    @property
    def low_percent(self) -> float | None:
        """Lower bound of the accuracy, in percent."""
        return _percent(self.controls.interval and self.controls.interval[0])

    @property
    def high_percent(self) -> float | None:
        """Upper bound of the accuracy, in percent."""
        return _percent(self.controls.interval and self.controls.interval[1])

    @property
    def is_excluded(self) -> bool:
        """Whether the rater's labels are excluded from every figure."""
        return self.place is not None and self.place.is_excluded

    @property
    def is_stopped(self) -> bool:
        """Whether the rater gets no items until a researcher decides."""
        return self.place is not None and self.place.is_stopped and not self.is_excluded


@dataclass(frozen=True)
class LabelCounts:
    """Counts of one label in two groups, with percentages."""

    label: int
    first: int
    first_percent: float
    second: int
    second_percent: float


@dataclass(frozen=True)
class AnnotatorDetail:
    """One annotator's labels compared with those of all raters, and active times in bins."""

    annotator: AnnotatorQuality
    labels: list[LabelCounts]
    times: list[tuple[str, int, float]]
    timed: int


def control_record(label_round: LabelRound, rater_id: int) -> ControlRecord:
    """Return one rater's record on the control items in use."""
    return control_records(label_round, rater=rater_id).get(rater_id, ControlRecord())


def control_records(label_round: LabelRound, **where: object) -> dict[int, ControlRecord]:
    """Map keys of raters who answered a control item to their control records."""
    answered = label_round.assignments.filter(
        state=Assignment.State.ANSWERED,
        item__control_label__isnull=False,
        item__is_retired=False,
        rater__kind__in=VOTERS,
        **where,
    )
    rows = answered.order_by("pk").values_list("rater", "label", "item__control_label")
    answers: dict[int, list[bool]] = defaultdict(list)
    for rater, label, known in rows:
        answers[rater].append(label == known)
    starts = starts_of(label_round, **where)
    return {
        rater: ControlRecord(tuple(rights), starts.get(rater, 0))
        for rater, rights in answers.items()
    }


def starts_of(label_round: LabelRound, **where: object) -> dict[int, int]:
    """Count the control answers that each rater gave before last passing the steps.

    This applies only to rounds in which raters must repeat the steps after a fall; in other
    rounds, the chart counts all answers.
    """
    if label_round.on_fall != LabelRound.OnFall.RECHECK:
        return {}
    before = label_round.assignments.filter(
        state=Assignment.State.ANSWERED,
        item__control_label__isnull=False,
        item__is_retired=False,
        rater__places__round=label_round,
        answered_at__lte=F("rater__places__prepared_at"),
        **where,
    )
    return dict(before.order_by().values_list("rater").annotate(Count("pk")))


def facts_of(votes: pd.DataFrame) -> list[Facts]:
    """Return the facts of all raters in the table, in order of first appearance.

    ``votes`` is the full table, including votes that do not count.
    """
    records = _records(votes)
    return [
        Facts(
            rater=fact.Index,
            votes=int(fact.votes),
            extras=int(fact.extras),
            values=int(fact.values),
            median_ms=_known(fact.median_ms),
            agreement=_known(fact.agreement),
            compared=int(fact.compared),
            controls=records.get(fact.Index, ControlRecord()),
        )
        for fact in _by_rater(votes).itertuples()
    ]


def annotators(label_round: LabelRound, facts: list[Facts]) -> list[AnnotatorQuality]:
    """Return the raters in the order of the facts, with their current states."""
    raters = Rater.objects.filter(study=label_round.study_id).in_bulk()
    places = {place.rater_id: place for place in label_round.places.all()}
    starts = starts_of(label_round)
    charted = [
        replace(fact, controls=replace(fact.controls, start=starts.get(fact.rater, 0)))
        for fact in facts
    ]
    return [
        _annotator(label_round, fact, raters[fact.rater], places.get(fact.rater))
        for fact in charted
    ]


def annotator_detail(label_round: LabelRound, rater: Rater) -> AnnotatorDetail | None:
    """Return one annotator compared with all others, or None for an annotator without labels."""
    mine = label_round.assignments.filter(rater=rater, state=Assignment.State.ANSWERED)
    # The comparison needs other raters' labels for the same arguments.
    votes = vote_table(
        label_round, exclude=False, item__argument__in=mine.values("item__argument")
    )
    matches = [
        annotator
        for annotator in annotators(label_round, facts_of(votes))
        if annotator.rater == rater
    ]
    if not matches:
        return None
    own = votes[votes["rater"] == rater.pk]
    everybody = counted_votes(label_round).values_list("label").annotate(Count("pk")).order_by()
    scale = label_round.guideline.values
    return AnnotatorDetail(
        annotator=matches[0],
        labels=beside(label_counts(own["value"]), dict(everybody), scale),
        times=time_histogram(own["active_ms"]),
        timed=int(own["active_ms"].notna().sum()),
    )


def label_counts(values: pd.Series) -> dict[int, int]:
    """Count the occurrences of each label."""
    return {int(label): int(count) for label, count in values.value_counts().items()}


def beside(first: dict[int, int], second: dict[int, int], scale: list[int]) -> list[LabelCounts]:
    """Return the counts of each label of the scale in two groups."""
    totals = (max(sum(first.values()), 1), max(sum(second.values()), 1))
    return [
        LabelCounts(
            label,
            first.get(label, 0),
            100 * first.get(label, 0) / totals[0],
            second.get(label, 0),
            100 * second.get(label, 0) / totals[1],
        )
        for label in scale
    ]


def time_histogram(active_ms: pd.Series) -> list[tuple[str, int, float]]:
    """Return (bin, count, percent of measured times) for active seconds in growing bins."""
    import pandas as pd

    seconds = active_ms.dropna().astype(float) / 1_000
    bins = pd.cut(seconds, TIME_BINS, right=False, include_lowest=True)
    counts = bins.value_counts(sort=False).to_list()
    names = [f"{low}–{high} s" for low, high in pairwise(TIME_BINS)]
    total = max(len(seconds), 1)
    return [(name, count, 100 * count / total) for name, count in zip(names, counts, strict=True)]


def _records(votes: pd.DataFrame) -> dict[int, ControlRecord]:
    used = votes[votes["is_control"] & ~votes["is_retired"]]
    right = (used["value"] == used["control_label"]).astype(bool)
    return {
        int(rater): ControlRecord(tuple(rights.tolist()))
        for rater, rights in right.groupby(used["rater"])
    }


def _by_rater(votes: pd.DataFrame) -> pd.DataFrame:
    """Return votes, extras, distinct values, median milliseconds and agreement per rater."""
    import pandas as pd

    from annotation.consensus.methods import label_votes, majority_of_others

    counted = counted_rows(votes)
    # Excluded raters are also compared with the counted votes, but their votes do not count for
    # others.
    others = majority_of_others(counted)
    outside = votes[~votes.index.isin(counted.index) & ~votes["is_retired"]]
    majority = label_votes(counted, "majority")
    others = pd.concat([others, outside["unit"].map(majority).astype("Int64")])
    equal = (votes["value"].astype("Int64") == others.reindex(votes.index)).astype("Float64")
    frame = votes.assign(equal=equal, ms=votes["active_ms"].astype("Float64"))
    frame["equal"] = frame["equal"].mask(frame["is_control"])
    return frame.groupby("rater", sort=False).agg(
        votes=("value", "size"),
        extras=("is_extra", "sum"),
        values=("value", "nunique"),
        median_ms=("ms", "median"),
        agreement=("equal", "mean"),
        compared=("equal", "count"),
    )


def _annotator(
    label_round: LabelRound, facts: Facts, rater: Rater, place: Place | None
) -> AnnotatorQuality:
    seconds = None if facts.median_ms is None else facts.median_ms / 1_000
    return AnnotatorQuality(
        rater=rater,
        place=place,
        votes=facts.votes,
        extras=facts.extras,
        controls=facts.controls,
        is_low=facts.controls.is_below(label_round.min_control_accuracy),
        median_seconds=seconds,
        is_hasty=seconds is not None and seconds < HASTY_SHARE * label_round.expected_seconds,
        is_one_value=facts.votes >= ONE_VALUE_MIN and facts.values == 1,
        agreement=facts.agreement,
        compared=facts.compared,
        fall=facts.controls.fall_on(chart_of_round(label_round)),
    )


def _known(number: Any) -> float | None:
    import pandas as pd

    return None if pd.isna(number) else float(number)


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
