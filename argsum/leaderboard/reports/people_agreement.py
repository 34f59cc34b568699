"""Agreement of people who judge summary sets, both with each other and with themselves."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from django.db.models import QuerySet

from argsum.counting.models import CountSheet
from argsum.counting.reports import sheets_of_people
from argsum.metrics.methods import RaterPair, RaterPairs, pairwise_pearson, pearson
from argsum.metrics.models import MetricScore
from cqa_site.people.models import Study
from cqa_site.stats.arrays import FloatArray
from cqa_site.stats.estimate import Estimate
from cqa_site.stats.intervals import LEAST_CLUSTERS, UndefinedIntervalError, jackknife_t_interval

DIMENSIONS = ("coverage", "redundancy")
UNSURE = {"coverage": "covered_is_unsure", "redundancy": "unique_is_unsure"}

# Dimension → run of a language model → set → score.
Judges = Mapping[str, Mapping[str, Mapping[int, float]]]
# Set → cell.
Cells = Mapping[int, Any]


@dataclass(frozen=True)
class SnapshotSheet:
    """The fields of a `CountSheet` that agreement depends on."""

    rater_id: int
    summary_set_id: int
    round_id: int | None
    replicate: int
    coverage: float | None
    redundancy: float | None
    covered_is_unsure: bool
    unique_is_unsure: bool


AnySheet = CountSheet | SnapshotSheet


@dataclass(frozen=True)
class OneRater:
    """Counts of one rater's judgements.

    Attributes
    ----------
    sets
        Number of sets with a submitted sheet.
    unsure
        Dimension → number of sheets marked as unsure, which no figure includes.
    missing
        Dimension → number of sheets with neither a value nor an unsure mark.
    """

    name: str
    sets: int
    unsure: dict[str, int]
    missing: dict[str, int]


@dataclass(frozen=True)
class Repeats:
    """Self-agreement of one rater on repeated sets."""

    name: str
    n: int
    same: int
    value: float | None


@dataclass(frozen=True)
class DimensionAgreement:
    """Agreement on one dimension; ``judges`` compares language models with individual people."""

    dimension: str
    pairs: RaterPairs
    alpha: Estimate
    raters: tuple[str, ...]
    judges: tuple[RaterPair, ...] = ()
    repeats: tuple[Repeats, ...] = ()


@dataclass(frozen=True)
class PeopleAgreement:
    """Agreement of all human judges."""

    raters: list[OneRater] = field(default_factory=list)
    dimensions: list[DimensionAgreement] = field(default_factory=list)
    sets: int = 0


def people_agreement(study: Study, dataset: str = "", without: str = "") -> PeopleAgreement:
    """Return agreement over the sets of a study or of one dataset, using three queries.

    Systems with ``without`` in their names are left out.
    """
    rows = _sheets(study, dataset)
    sheets = list(rows.exclude(summary_set__system__contains=without) if without else rows)
    names = _names({sheet.rater_id: str(sheet.rater) for sheet in sheets})
    sets = {sheet.summary_set_id for sheet in sheets if sheet.replicate == 0}
    cells = dict(study.summary_sets.filter(pk__in=sets).values_list("pk", "cell"))
    return agreement_of(sheets, names, judges_of(study, sets) if sets else {}, cells)


def agreement_of(
    sheets: Sequence[AnySheet], names: dict[int, str], judges: Judges, cells: Cells
) -> PeopleAgreement:
    """Return the agreement between sheets, including repeats; ``names`` are the raters' names."""
    firsts = [sheet for sheet in sheets if sheet.replicate == 0]
    if not firsts:
        return PeopleAgreement()
    return PeopleAgreement(
        raters=[
            _one(name, [sheet for sheet in firsts if sheet.rater_id == pk])
            for pk, name in names.items()
        ],
        dimensions=[
            _dimension(name, firsts, sheets, names, judges.get(name, {}), cells)
            for name in DIMENSIONS
        ],
        sets=len({sheet.summary_set_id for sheet in firsts}),
    )


def _sheets(study: Study, dataset: str) -> QuerySet[CountSheet]:
    rows = sheets_of_people(study.count_sheets.all()).select_related("rater")
    if dataset:
        rows = rows.filter(summary_set__cell__dataset__public_id=dataset)
    return rows.defer("marks", "draft", "comment").order_by("pk")


def _names(raters: Mapping[int, str]) -> dict[int, str]:
    """Map each rater to a unique name, sorted by name."""
    seen: dict[str, int] = {}
    names = {}
    for pk, name in sorted(raters.items(), key=lambda pair: (pair[1], pair[0])):
        seen[name] = seen.get(name, 0) + 1
        names[pk] = name if seen[name] == 1 else f"{name} ({seen[name]})"
    return names


def _one(name: str, sheets: Sequence[AnySheet]) -> OneRater:
    unsure = {
        dimension: sum(getattr(sheet, UNSURE[dimension]) for sheet in sheets)
        for dimension in DIMENSIONS
    }
    empty = {
        dimension: sum(getattr(sheet, dimension) is None for sheet in sheets)
        for dimension in DIMENSIONS
    }
    return OneRater(
        name,
        len({sheet.summary_set_id for sheet in sheets}),
        unsure,
        {
            dimension: empty[dimension] - _unsure_without(dimension, sheets)
            for dimension in DIMENSIONS
        },
    )


def _unsure_without(dimension: str, sheets: Sequence[AnySheet]) -> int:
    return sum(
        getattr(sheet, UNSURE[dimension]) and getattr(sheet, dimension) is None for sheet in sheets
    )


def _dimension(
    dimension: str,
    firsts: Sequence[AnySheet],
    sheets: Sequence[AnySheet],
    names: dict[int, str],
    judges: Mapping[str, Mapping[int, float]],
    cells: Cells,
) -> DimensionAgreement:
    values = _values(dimension, firsts, names)
    keys = sorted({key for value in values.values() for key in value})
    columns = {name: [value.get(key) for key in keys] for name, value in values.items()}
    return DimensionAgreement(
        dimension=dimension,
        pairs=pairwise_pearson(columns),
        alpha=_alpha(values, cells),
        raters=tuple(columns),
        judges=tuple(
            RaterPair(judge, name, *_pearson(scores, values[name]))
            for judge, scores in judges.items()
            for name in columns
        ),
        repeats=tuple(_repeats(dimension, sheets, names)),
    )


def _values(
    dimension: str, sheets: Sequence[AnySheet], names: dict[int, str]
) -> dict[str, dict[int, float]]:
    """Map each rater and set to the mean of the rater's sheets."""
    ratings: dict[str, dict[int, list[float]]] = {
        name: defaultdict(list) for name in names.values()
    }
    for sheet in sheets:
        value = getattr(sheet, dimension)
        if value is not None:
            ratings[names[sheet.rater_id]][sheet.summary_set_id].append(value)
    return {
        name: {key: sum(scores) / len(scores) for key, scores in sets.items()}
        for name, sets in ratings.items()
    }


def _alpha(values: Mapping[str, Mapping[int, float]], cells: Cells) -> Estimate:
    """Return alpha over all sets; its interval leaves out one cell at a time.

    The sets of a cell have the same arguments and references. Intervals that left out single sets
    had a coverage of .58 to .88 if cells differed more than the systems in them.
    """
    import pandas as pd

    from cqa_site.stats.agreement_coefficients import krippendorff_alpha
    from cqa_site.stats.ratings import Ratings

    rows = [
        (key, name, round(value, 6), cells[key])
        for name, sets in values.items()
        for key, value in sets.items()
    ]
    table = pd.DataFrame(rows, columns=["item", "rater", "value", "cell"])
    parts = [table, *(table[table["cell"] != cell] for cell in table["cell"].unique())]
    columns = ["item", "rater", "value"]
    estimate, *without = (
        krippendorff_alpha(Ratings.from_frame(part[columns]), "interval") for part in parts
    )
    if estimate.value is None or estimate.low is None:
        return estimate
    left_out = np.array([np.nan if alpha.value is None else alpha.value for alpha in without])
    ones = np.ones(len(left_out), dtype=np.int64)
    try:
        low, high = jackknife_t_interval(
            estimate.value, left_out, ones, least=LEAST_CLUSTERS, unit="cells"
        )
    except UndefinedIntervalError as error:
        return replace(estimate, low=None, high=None, interval=None, reason=str(error))
    about = "cell jackknife, t corrected for skewness"
    return replace(estimate, low=low, high=min(high, 1.0), interval=about)


def _pearson(first: Mapping[int, float], second: Mapping[int, float]) -> tuple[int, float | None]:
    keys = sorted(set(first) & set(second))
    return len(keys), pearson(_array(first, keys), _array(second, keys))


def _array(values: Mapping[int, float], keys: list[int]) -> FloatArray:
    return np.array([values[key] for key in keys], dtype=np.float64)


def _repeats(dimension: str, sheets: Sequence[AnySheet], names: dict[int, str]) -> list[Repeats]:
    """Compare each rater's first and second judgements of the same set in the same round."""
    scores: dict[tuple[int, int | None, int], dict[int, float]] = defaultdict(dict)
    for sheet in sheets:
        value = getattr(sheet, dimension)
        if value is not None and sheet.round_id:
            key = (sheet.rater_id, sheet.round_id, sheet.summary_set_id)
            scores[key][sheet.replicate] = value
    repeats = []
    for pk, name in names.items():
        pairs = [
            (values[0], values[1])
            for (rater, _round, _set), values in scores.items()
            if rater == pk and 0 in values and 1 in values
        ]
        if pairs:
            first, second = (dict(enumerate(side)) for side in zip(*pairs, strict=True))
            n, value = _pearson(first, second)
            same = sum(abs(a - b) < 1e-9 for a, b in pairs)
            repeats.append(Repeats(name, n, same, value))
    return repeats


def judges_of(study: Study, sets: set[int]) -> Judges:
    """Return the scores that language models gave to the given sets, using one query."""
    rows = MetricScore.objects.filter(summary_set__study=study, run__isnull=False)
    judges: dict[str, dict[str, dict[int, float]]] = {}
    for metric, setting, key, value in rows.values_list(
        "metric", "setting", "summary_set", "value"
    ):
        if key in sets and value is not None:
            dimension = metric.removeprefix("llm_")
            judges.setdefault(dimension, {}).setdefault(setting, {})[key] = value
    return judges
