"""Correlation of metrics with people, over all summary sets and within cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from argsum.counting.methods.released_rows import LEFT_OUT
from argsum.keypoints.models import SummarySet
from argsum.metrics.methods.correlation import Correlations, across_within
from argsum.metrics.models import MetricScore
from cqa_site.people.models import Study

from .set_scores import Source, people_means


@dataclass(frozen=True)
class MetricRow:
    """One metric with one setting against the people's mean of its dimension."""

    source: Source
    found: Correlations
    # Sets that have the reason for no value instead of one.
    without: int = 0

    @property
    def cells(self) -> int:
        """Cells with a correlation."""
        return len(self.found.per_cell)

    @property
    def rank(self) -> float:
        """Larger is better; metrics without a correlation come last."""
        return -2.0 if self.found.across is None else self.found.across


@dataclass(frozen=True)
class SetPoint:
    """One set in a metric's drill-down."""

    public_id: str
    system: str
    setting: str
    cell: str
    metric: float
    people: float


def compared_sets(
    study: Study, dataset: str = "", without: str = LEFT_OUT
) -> QuerySet[SummarySet]:
    """Sets of a study, or of one of its datasets, that can have judgements.

    Systems with ``without`` in their names are left out: as a rule those that the paper leaves
    out of its people's release. Empty leaves out none.
    """
    rows = study.summary_sets.filter(count_sheets__isnull=False).distinct()
    rows = rows.exclude(system__contains=without) if without else rows
    return rows.filter(cell__dataset__public_id=dataset) if dataset else rows


def sets_left_out(study: Study, dataset: str = "", without: str = LEFT_OUT) -> int:
    """How many judged sets `compared_sets` leaves out for their system; one query."""
    rows = compared_sets(study, dataset, without="")
    return rows.filter(system__contains=without).count() if without else 0


def metric_rows(study: Study, dataset: str = "", without: str = LEFT_OUT) -> list[MetricRow]:
    """Every metric that a compared set has, best first; four queries."""
    sets = compared_sets(study, dataset, without)
    people = people_means(sets)
    cells = _cells(sets)
    scores: dict[tuple[str, str], dict[int, float | None]] = {}
    rows = MetricScore.objects.filter(summary_set__in=sets.order_by().values("pk"))
    for metric, setting, key, value in rows.values_list(
        "metric", "setting", "summary_set", "value"
    ).iterator(5_000):
        scores.setdefault((metric, setting), {})[key] = value
    made = []
    for (metric, setting), values in scores.items():
        known = sum(value is not None for value in values.values())
        source = Source(metric, setting, known)
        human = people[source.dimension]
        keys = sorted(set(values) & set(human))
        found = across_within(
            [values[key] for key in keys],
            [human[key] for key in keys],
            [cells[key] for key in keys],
        )
        made.append(MetricRow(source, found, len(values) - known))
    return sorted(made, key=lambda row: (row.source.dimension, -row.rank, str(row.source)))


def known_source(study: Study, query: Mapping[str, str]) -> Source | None:
    """The metric and setting that an address names; None if no set of the study has them."""
    metric, setting = (query.get(name, "") for name in ("metric", "setting"))
    rows = MetricScore.objects.filter(summary_set__study=study, metric=metric, setting=setting)
    return Source(metric, setting) if rows.exists() else None


def metric_points(
    study: Study, source: Source, dataset: str = "", without: str = LEFT_OUT
) -> list[SetPoint]:
    """The sets behind one correlation, by cell and system."""
    sets = compared_sets(study, dataset, without)
    human = people_means(sets)[source.dimension]
    rows = MetricScore.objects.filter(
        summary_set__in=sets.order_by().values("pk"),
        metric=source.metric,
        setting=source.setting,
        value__isnull=False,
    ).select_related("summary_set__cell")
    points = [
        SetPoint(
            str(row.summary_set.public_id),
            row.summary_set.system,
            row.summary_set.setting,
            str(row.summary_set.cell),
            float(row.value or 0),
            human[row.summary_set_id],
        )
        for row in rows.defer(*_LONG)
        if row.summary_set_id in human
    ]
    return sorted(points, key=lambda each: (each.cell, each.system, each.setting))


def correlations_of(points: Sequence[SetPoint]) -> Correlations:
    """Correlations of the points of a drill-down."""
    return across_within(
        [each.metric for each in points],
        [each.people for each in points],
        [each.cell for each in points],
    )


_LONG = tuple(f"summary_set__{name}" for name in ("arguments", "clusters", "assigned", "scores"))


def _cells(sets: QuerySet[SummarySet]) -> dict[int, str]:
    """Set → its cell as people read it; cells of two datasets stay apart."""
    rows = sets.select_related("cell").defer("arguments", "clusters", "assigned", "scores")
    names: dict[int, str] = {}
    seen: dict[str, int] = {}
    for row in rows:
        name = str(row.cell)
        if seen.setdefault(name, row.cell_id) != row.cell_id:
            name = f"{name} #{row.cell_id}"
        names[row.pk] = name
    return names
