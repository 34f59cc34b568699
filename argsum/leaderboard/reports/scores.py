"""Scores of sets by people and by metrics, and their correlation."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache
from django.db.models import Count, QuerySet

from argsum.counting.methods.released_counts import LEFT_OUT
from argsum.counting.models import CountSheet
from argsum.counting.reports import sheets_of_people
from argsum.datasets.models import KeyPointMatch
from argsum.keypoints.models import SummarySet
from argsum.metrics.methods import (
    LLM_COVERAGE,
    LLM_REDUNDANCY,
    Correlations,
    across_within,
    dimension_of,
    split_name,
    title_of,
)
from argsum.metrics.models import MetricScore
from argsum.scorers.methods.figures import cluster_figure, share_clustered
from cqa_site.people.models import Study

PEOPLE = "people"
KEPT_SECONDS = 7 * 24 * 3600


@dataclass(frozen=True)
class ScoreSource:
    """Source of a score: people, or one metric with one setting."""

    metric: str
    setting: str = ""
    sets: int = 0

    @property
    def key(self) -> str:
        return self.metric if self.metric == PEOPLE else f"{self.metric}|{self.setting}"

    @property
    def dimension(self) -> str:
        """Coverage or redundancy."""
        return dimension_of(self.metric)

    def __str__(self) -> str:
        name = title_of(self.metric)
        return f"{name} ({self.setting})" if self.setting else name


def counted_sheets(sets: QuerySet[SummarySet]) -> QuerySet[CountSheet]:
    """Return people's and experts' first submitted judgements of sets, without extra sheets."""
    sheets = CountSheet.objects.filter(summary_set__in=sets.order_by().values("pk"), replicate=0)
    return sheets_of_people(sheets)


def people_means(sets: QuerySet[SummarySet]) -> dict[str, dict[int, float]]:
    """Map dimension and set to the mean over raters; each rater's sheets are averaged first."""
    ratings: dict[str, dict[int, dict[int, list[float]]]] = {
        "coverage": defaultdict(lambda: defaultdict(list)),
        "redundancy": defaultdict(lambda: defaultdict(list)),
    }
    rows = counted_sheets(sets).order_by("pk")
    for key, rater, coverage, redundancy in rows.values_list(
        "summary_set", "rater", "coverage", "redundancy"
    ):
        for name, value in (("coverage", coverage), ("redundancy", redundancy)):
            if value is not None:
                ratings[name][key][rater].append(value)
    return {
        name: {
            key: _mean(_mean(scores) for scores in raters.values())
            for key, raters in by_set.items()
        }
        for name, by_set in ratings.items()
    }


def metric_values(sets: QuerySet[SummarySet], source: ScoreSource) -> dict[int, float]:
    """Map each set to its value for one metric; sets without a value are left out."""
    rows = MetricScore.objects.filter(
        summary_set__in=sets.order_by().values("pk"),
        metric=source.metric,
        setting=source.setting,
        value__isnull=False,
    )
    values: dict[int, Any] = dict(rows.values_list("summary_set", "value"))
    return values


def same_judge(source: ScoreSource, sets: QuerySet[SummarySet]) -> ScoreSource:
    """Return the judge's source for other sets: the given source if it has scores for them.

    A language model counts in runs, and each run is a separate source. The dev split may have been
    counted by other runs of the same model, prompt and parameters; if so, the newest is used.
    """
    scores = MetricScore.objects.filter(metric=source.metric, value__isnull=False)
    here = scores.filter(summary_set__in=sets.order_by().values("pk"))
    if source.metric == PEOPLE or here.filter(setting=source.setting).exists():
        return source
    own = scores.filter(setting=source.setting, summary_set__study__in=sets.values("study")[:1])
    raters = own.filter(run__isnull=False).values("run__counting__rater")[:1]
    judge_scores = here.filter(run__counting__rater__in=raters).order_by("-run", "pk")
    setting = judge_scores.values_list("setting", flat=True).first()
    return source if setting is None else ScoreSource(source.metric, setting)


def sources_of(sets: QuerySet[SummarySet]) -> list[ScoreSource]:
    """Return each metric of the given sets with its number of values, language models first."""
    rows = MetricScore.objects.filter(
        summary_set__in=sets.order_by().values("pk"), value__isnull=False
    )
    sources = [
        ScoreSource(*row)
        for row in rows.order_by().values_list("metric", "setting").annotate(n=Count("pk"))
    ]
    llm = (LLM_COVERAGE, LLM_REDUNDANCY)
    return sorted(sources, key=lambda source: (source.metric not in llm, *_place(source)))


def cluster_values(sets: QuerySet[SummarySet], place: str) -> dict[int, tuple[Any, Any, float]]:
    """Map each set to its ARI without and with unclustered arguments, and its clustered share.

    All three use only the arguments that match exactly one reference; if there are no such
    arguments, the share is computed over all arguments. The contents of a set never change, so its
    figures are cached, with one entry per ``place`` (a dataset's split): a database cache then
    writes one row instead of one per set. Sets that are not cached take two queries.
    """
    wanted = set(sets.filter(clusters__isnull=False).order_by().values_list("pk", flat=True))
    key = f"argsum-clusters-3:{place}"
    figures: dict[int, tuple[Any, Any, float]] = cache.get(key, {})
    missing = wanted - figures.keys()
    if missing:
        figures = {pk: figures[pk] for pk in wanted & figures.keys()} | _cluster_figures(missing)
        cache.set(key, figures, KEPT_SECONDS)
    return {pk: figures[pk] for pk in wanted}


def _cluster_figures(keys: Iterable[int]) -> dict[int, tuple[Any, Any, float]]:
    rows = SummarySet.objects.filter(pk__in=list(keys))
    references = _references(rows)
    cluster_figures = {}
    for pk, arguments, cluster_ids in rows.values_list("pk", "arguments", "clusters").iterator(
        200
    ):
        clusters = cluster_ids or []
        pairs = [
            (references[argument], cluster)
            for argument, cluster in zip(arguments, clusters, strict=True)
            if argument in references
        ]
        gold, ids = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        figure = cluster_figure("", gold, ids) if pairs else None
        cluster_figures[pk] = (
            figure.excluding if figure else None,
            figure.including if figure else None,
            figure.share if figure else share_clustered(clusters),
        )
    return cluster_figures


def _references(sets: QuerySet[SummarySet]) -> Mapping[int, str]:
    """Map each argument with exactly one key point to that key point."""
    matches = KeyPointMatch.objects.filter(
        argument__cell__in=sets.order_by().values("cell"), is_match=True
    )
    several: dict[int, list[int]] = defaultdict(list)
    for argument, key_point in matches.values_list("argument", "key_point"):
        several[argument].append(key_point)
    return {
        argument: str(key_points[0])
        for argument, key_points in several.items()
        if len(key_points) == 1
    }


def _place(source: ScoreSource) -> tuple[str, str, str]:
    function, part = split_name(source.metric)
    return function, part, source.setting


def _mean(values: Iterable[float]) -> float:
    known = list(values)
    return sum(known) / len(known)


@dataclass(frozen=True)
class MetricRow:
    """One metric and setting, compared with people's mean on its dimension."""

    source: ScoreSource
    found: Correlations
    # Number of sets with a reason instead of a value.
    without: int = 0

    @property
    def cells(self) -> int:
        """Number of cells with a correlation."""
        return len(self.found.per_cell)

    @property
    def rank(self) -> float:
        """Sort key; larger is better, and metrics without a correlation are last."""
        return -2.0 if self.found.across is None else self.found.across


@dataclass(frozen=True)
class SetPoint:
    """One set in the details of a metric."""

    public_id: str
    system: str
    setting: str
    cell: str
    metric: float
    people: float


def compared_sets(
    study: Study, dataset: str = "", without: str = LEFT_OUT
) -> QuerySet[SummarySet]:
    """Return a study's or dataset's sets that people may have judged.

    Systems with ``without`` in their names are left out, usually those that the paper leaves out
    of its released counts. An empty text leaves out no system.
    """
    rows = study.summary_sets.filter(count_sheets__isnull=False).distinct()
    rows = rows.exclude(system__contains=without) if without else rows
    return rows.filter(cell__dataset__public_id=dataset) if dataset else rows


def sets_left_out(study: Study, dataset: str = "", without: str = LEFT_OUT) -> int:
    """Return how many judged sets `compared_sets` leaves out because of their system."""
    rows = compared_sets(study, dataset, without="")
    return rows.filter(system__contains=without).count() if without else 0


def metric_rows(study: Study, dataset: str = "", without: str = LEFT_OUT) -> list[MetricRow]:
    """Return every metric of the compared sets, best first, using four queries."""
    sets = compared_sets(study, dataset, without)
    people = people_means(sets)
    cells = _cells(sets)
    scores: dict[tuple[str, str], dict[int, float | None]] = {}
    rows = MetricScore.objects.filter(summary_set__in=sets.order_by().values("pk"))
    for metric, setting, key, value in rows.values_list(
        "metric", "setting", "summary_set", "value"
    ).iterator(5_000):
        scores.setdefault((metric, setting), {})[key] = value
    results = []
    for (metric, setting), values in scores.items():
        known = sum(value is not None for value in values.values())
        source = ScoreSource(metric, setting, known)
        human = people[source.dimension]
        keys = sorted(set(values) & set(human))
        correlations = across_within(
            [values[key] for key in keys],
            [human[key] for key in keys],
            [cells[key] for key in keys],
        )
        results.append(MetricRow(source, correlations, len(values) - known))
    return sorted(results, key=lambda row: (row.source.dimension, -row.rank, str(row.source)))


def known_source(study: Study, query: Mapping[str, str]) -> ScoreSource | None:
    """Return the metric and setting from a URL, or None if no set of the study has them."""
    metric, setting = (query.get(name, "") for name in ("metric", "setting"))
    rows = MetricScore.objects.filter(summary_set__study=study, metric=metric, setting=setting)
    return ScoreSource(metric, setting) if rows.exists() else None


def metric_points(
    study: Study, source: ScoreSource, dataset: str = "", without: str = LEFT_OUT
) -> list[SetPoint]:
    """Return the sets behind one correlation, by cell and system."""
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
    return sorted(points, key=lambda point: (point.cell, point.system, point.setting))


def correlations_of(points: Sequence[SetPoint]) -> Correlations:
    return across_within(
        [point.metric for point in points],
        [point.people for point in points],
        [point.cell for point in points],
    )


_LONG = tuple(f"summary_set__{name}" for name in ("arguments", "clusters", "assigned", "scores"))


def _cells(sets: QuerySet[SummarySet]) -> dict[int, str]:
    """Map each set to the name of its cell; cells of different datasets get different names."""
    rows = sets.select_related("cell").defer("arguments", "clusters", "assigned", "scores")
    names: dict[int, str] = {}
    seen: dict[str, int] = {}
    for row in rows:
        name = str(row.cell)
        if seen.setdefault(name, row.cell_id) != row.cell_id:
            name = f"{name} #{row.cell_id}"
        names[row.pk] = name
    return names
