"""Results of a system run by cell and setting, and curves over one parameter."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _

from argsum.datasets.models import Cell, CellArgument, KeyPointMatch
from argsum.keypoints.models import SummarySet, SystemRun
from argsum.scorers.methods.figures import (
    LEAST_SHARE,
    ClusterFigure,
    Noise,
    best_per_cell,
    cluster_figure,
    index_of,
    over_cells,
    share_clustered,
)
from argsum.systems.methods.inputs import Grid, combinations
from argsum.systems.registry import UnknownSystem, find_system, systems
from cqa_site.people.models import Study
from cqa_site.results.figures import Column, TextColumn, table_of
from cqa_site.web.charts import points
from cqa_site.web.charts.vega import Spec
from cqa_site.web.tables import TableData

# Maximum number of assignments on a page for which sets are compared with references.
MOST_COMPARED = 2_000_000


@dataclass(frozen=True)
class SetLine:
    """One setting of a cell with its figures.

    Attributes
    ----------
    clustered
        Share of arguments in a cluster, 0–1, out of the arguments that match exactly one
        reference, or out of all arguments if there are no references; None if no set has
        clusters.
    figure
        Figures for the clusters; None if there are no clusters or no references.
    excluding
        Adjusted Rand index without unclustered arguments; None if too few arguments are clustered.
    is_best_excluding, is_best_including
        Whether no other setting of the cell has a higher index. Such a setting is an oracle,
        because the references choose it.
    """

    row: SummarySet
    key_points: int
    clusters: int | None
    clustered: float | None
    figure: ClusterFigure | None
    excluding: float | None = None
    is_best_excluding: bool = False
    is_best_including: bool = False


@dataclass(frozen=True)
class WantedSetting:
    """Setting to show first: the setting chosen on dev for the match scorer, or the default."""

    parameters: Mapping[str, Any]
    is_chosen: bool

    def away(self, parameters: Mapping[str, Any]) -> float:
        """Return the sum of the differences from other parameters; texts differ by 0 or 1."""
        return sum(_apart(value, parameters.get(name)) for name, value in self.parameters.items())


@dataclass(frozen=True)
class CellLine:
    """One cell of a run, with the number of its sets and its best settings.

    ``arguments`` counts the included arguments, even before there is a set.
    """

    cell: Cell
    arguments: int
    states: Mapping[str, int]
    seconds: float
    excluding: SetLine | None
    including: SetLine | None
    lines: Sequence[SetLine]
    wanted: WantedSetting | None = None

    @property
    def done(self) -> int:
        """Number of sets with a result."""
        return self.states.get(SummarySet.State.DONE, 0)

    @property
    def none(self) -> int:
        """Number of sets without a result."""
        return self.states.get(SummarySet.State.NO_RESULT, 0)

    @property
    def waiting(self) -> int:
        """Number of sets that are waiting for a language model."""
        return self.states.get(SummarySet.State.WAITING, 0)

    @property
    def is_oracle(self) -> bool:
        """Whether the set to show first was chosen by its index."""
        return len(self.lines) > 1 and bool(self.excluding or self.including)

    @property
    def shown(self) -> SetLine | None:
        """Set to show first: the best by index, or the closest to the wanted setting."""
        done = [line for line in self.lines if line.row.state == SummarySet.State.DONE]
        best = self.excluding or self.including
        if best is not None and best.row.state == SummarySet.State.DONE:
            return best
        wanted = self.wanted
        if wanted is None:
            return done[0] if done else None
        return min(done, key=lambda line: wanted.away(line.row.parameters), default=None)

    @property
    def shown_because(self) -> str:
        """Reason for the choice; empty if there is no choice, or if the references decided."""
        if self.wanted is None or self.is_oracle or self.done < 2 or self.shown is None:
            return ""
        setting = {"setting": self.shown.row.setting}
        if self.wanted.away(self.shown.row.parameters):
            return _("%(setting)s, the closest to the default setting") % setting
        if self.wanted.is_chosen:
            return _("%(setting)s, chosen on dev for the match scorer") % setting
        return _("%(setting)s, the default setting") % setting


def runs_of(study: Study) -> QuerySet[SystemRun]:
    """Return the system runs, newest first, with the counts shown in a list."""
    states = SummarySet.State
    rows = study.system_runs.select_related(
        "dataset", "match_scorer", "job", "created_by", "writing"
    )
    counted = rows.annotate(
        sets_done=Count("sets", filter=Q(sets__state=states.DONE)),
        sets_none=Count("sets", filter=Q(sets__state=states.NO_RESULT)),
        sets_waiting=Count("sets", filter=Q(sets__state=states.WAITING)),
    )
    return counted.order_by("-number")


def system_choices(study: Study) -> list[tuple[str, str]]:
    """Return the name and title of every installed or used system, using one query."""
    titles = {system.name: system.title for system in systems()}
    ran = study.system_runs.order_by().values_list("system", flat=True).distinct()
    return list((titles | {name: name for name in ran if name not in titles}).items())


def grid_of(run: SystemRun) -> Grid:
    """Return the grid of a run, in the order of the system's parameters if it is installed."""
    try:
        return find_system(run.system).in_order(run.grid)
    except UnknownSystem:
        return dict(run.grid)


def cell_lines(
    run: SystemRun, cells: Sequence[Cell], least_share: float = LEAST_SHARE
) -> list[CellLine]:
    """Return the cells of a run with all their sets, using four queries.

    With more than `MOST_COMPARED` assignments, the contents of sets are not loaded, so there are
    no figures.
    """
    rows = run.sets.filter(cell__in=cells).annotate(n=Count("summaries")).order_by("pk")
    sets = dict(
        run.sets.filter(cell__in=cells).order_by().values_list("cell").annotate(Count("pk"))
    )
    arguments = CellArgument.objects.filter(cell__in=cells).order_by()
    if not run.is_unfiltered:
        arguments = arguments.filter(left_out="")
    sizes: dict[int, int] = dict(arguments.values_list("cell").annotate(Count("pk")))
    is_compared = sum(sizes.get(pk, 0) * n for pk, n in sets.items()) <= MOST_COMPARED
    held = () if is_compared else ("arguments", "clusters")
    by_cell: dict[int, list[SummarySet]] = {cell.pk: [] for cell in cells}
    for row in rows.defer("scores", "assigned", *held):
        by_cell[row.cell_id].append(row)
    references = references_of(cells) if is_compared else None
    wanted = wanted_setting(run)
    return [
        _cell_line(cell, by_cell[cell.pk], sizes.get(cell.pk, 0), references, least_share, wanted)
        for cell in cells
    ]


def wanted_setting(run: SystemRun) -> WantedSetting | None:
    """Return the setting chosen on dev for the scorer, or the system's recommended setting."""
    try:
        system = find_system(run.system)
    except UnknownSystem:
        return None
    scorer = run.match_scorer
    chosen = system.chosen(scorer.figures.get("chosen", {})) if system.chosen and scorer else None
    grid = chosen or system.usual_grid(run.variant)
    return WantedSetting(combinations(grid)[0], chosen is not None)


def _apart(first: Any, second: Any) -> float:
    numbers = (int, float)
    if isinstance(first, numbers) and isinstance(second, numbers):
        return float(abs(first - second))
    return 0.0 if first == second else 1.0


def references_of(cells: Sequence[Cell]) -> dict[int, str]:
    """Map each argument with exactly one reference to that reference, using one query."""
    references: dict[int, str] = {}
    several: set[int] = set()
    rows = KeyPointMatch.objects.filter(argument__cell__in=cells, is_match=True)
    for argument, key_point in rows.values_list("argument", "key_point"):
        if argument in references:
            several.add(argument)
        references[argument] = str(key_point)
    return {pk: name for pk, name in references.items() if pk not in several}


def lines_table(run: SystemRun, lines: Sequence[CellLine]) -> TableData:
    columns = (
        Column("topic", "0.cell.topic"),
        Column("stance", lambda row: row[0].cell.get_stance_display()),
        Column("setting", "1.row.setting"),
        Column("state", "1.row.state"),
        Column("reason", "1.row.reason"),
        Column("key points", "1.key_points"),
        Column("clusters", "1.clusters"),
        Column("share clustered", "1.clustered"),
        Column("ARI excluding noise", "1.excluding"),
        Column("ARI including noise", "1.figure.including"),
        Column("seconds", "1.row.seconds"),
        TextColumn("set", "1.row.public_id"),
    )
    return table_of(
        columns,
        ((line, set_line) for line in lines for set_line in line.lines),
        caption=f"{run.label}, run {run.number} over {run.dataset}",
        note=(
            "Adjusted Rand index against the reference key points, over arguments that match "
            f"exactly one of them; without noise only if {LEAST_SHARE:.0%} or more are clustered."
        ),
        name=f"system-run-{run.number}",
    )


def _cell_line(
    cell: Cell,
    rows: Sequence[SummarySet],
    size: int,
    references: Mapping[int, str] | None,
    least_share: float,
    wanted: WantedSetting | None,
) -> CellLine:
    lines = [_set_line(row, references, least_share) for row in rows]
    excluding = _best(lines, "exclude", least_share)
    including = _best(lines, "include", least_share)
    marked = [
        SetLine(
            line.row,
            line.key_points,
            line.clusters,
            line.clustered,
            line.figure,
            line.excluding,
            is_best_excluding=line is excluding,
            is_best_including=line is including,
        )
        for line in lines
    ]
    return CellLine(
        cell=cell,
        # Before the first set is stored, count the arguments that will be included.
        arguments=size
        if references is None
        else max((len(row.arguments) for row in rows), default=size),
        states=Counter(row.state for row in rows),
        seconds=sum(row.seconds or 0.0 for row in rows),
        excluding=excluding,
        including=including,
        lines=marked,
        wanted=wanted,
    )


def _set_line(row: Any, references: Mapping[int, str] | None, least_share: float) -> SetLine:
    if references is None:
        return SetLine(row, row.n, None, None, None)
    clusters = (
        None
        if row.clusters is None
        else len({cluster for cluster in row.clusters if cluster >= 0})
    )
    figure = _figure(row, references)
    clustered = share_clustered(row.clusters) if row.clusters else None
    excluding = index_of(figure, "exclude", least_share) if figure else None
    share = figure.share if figure else clustered
    return SetLine(row, row.n, clusters, share, figure, excluding)


def _figure(row: SummarySet, references: Mapping[int, str]) -> ClusterFigure | None:
    if row.clusters is None:
        return None
    pairs = [
        (references[pk], cluster)
        for pk, cluster in zip(row.arguments, row.clusters, strict=True)
        if pk in references
    ]
    if len(pairs) < 2:
        return None
    reference, ids = zip(*pairs, strict=True)
    return cluster_figure(str(row.pk), reference, ids)


def _best(lines: Sequence[SetLine], noise: Noise, least_share: float) -> SetLine | None:
    """Return a cell's setting with the best index."""
    figures = [line.figure for line in lines if line.figure]
    cell = best_per_cell({"cell": figures}, noise=noise, least_share=least_share)
    chosen = cell.chosen.get("cell")
    return next((line for line in lines if line.figure is chosen), None) if chosen else None


# Curves of a run with a single varying parameter

FEWEST = 3


def varied(run: SystemRun) -> str:
    """Return the only varying parameter if it has at least three numeric values, or ""."""
    several = [name for name, values in run.grid.items() if len(values) > 1]
    if len(several) != 1 or len(run.grid[several[0]]) < FEWEST:
        return ""
    return "" if isinstance(run.grid[several[0]][0], bool) else several[0]


def curve_rows(run: SystemRun, lines: Sequence[CellLine]) -> list[dict[str, Any]]:
    """Return one row per value with means over cells and cell counts; [] if there are no figures.

    Without unclustered arguments, a cell has an index only if enough arguments are clustered. The
    cells behind the mean therefore change along the curve, unless the other cells count as 0.
    """
    name = varied(run)
    figures: dict[float, list[Any]] = {float(value): [] for value in run.grid.get(name, ())}
    for line in lines:
        for set_line in line.lines:
            if set_line.figure is not None and set_line.row.parameters.get(name) in figures:
                figures[float(set_line.row.parameters[name])].append(set_line.figure)
    if not any(figures.values()):
        return []
    return [_row(value, cell_figures) for value, cell_figures in sorted(figures.items())]


def curve_spec(name: str, rows: Sequence[dict[str, Any]], size: str) -> Spec:
    """Chart both indices against the parameter, with labelled maxima; a missing index counts as 0.

    A mean over only the cells with an index would be highest where most cells are left out.
    """
    drawn = []
    for series, title in (("with_zeros", _("without noise")), ("including", _("with noise"))):
        values = [row[series] for row in rows if row[series] is not None]
        best = max(values, default=None)
        for row in rows:
            is_best = row[series] is not None and row[series] == best
            text = f"{best:.3f}" if is_best else ""
            point = {"at": row["value"], "index": row[series], "series": title, "text": text}
            drawn.append(point | {"low": None, "high": None})
    titles = (name, _("ARI, mean over cells (labels: oracle)"))
    return points.points(
        drawn,
        x="at",
        y="index",
        series="series",
        text="text",
        titles=titles,
        is_curve=True,
        size=size,
    )


def curve_table(run: SystemRun, rows: Sequence[dict[str, Any]]) -> TableData:
    columns = (
        Column(varied(run), "value"),
        Column("ARI excluding noise", "excluding"),
        Column("cells", "cells_excluding"),
        Column("ARI excluding noise, 0 for other cells", "with_zeros"),
        Column("ARI including noise", "including"),
        Column("cells", "cells"),
        Column("share clustered", "share"),
    )
    return table_of(
        columns,
        rows,
        caption=f"{run.label}, run {run.number} over {run.dataset}: means over cells",
        note=(
            f"Excluding noise, a cell with less than {LEAST_SHARE:.0%} clustered has no index and "
            "counts as 0 in the curve. The best value of a curve is an oracle: it was chosen by "
            "the same references that score it."
        ),
        name=f"system-run-{run.number}-curve",
    )  # fmt: skip


def _row(value: float, figures: Sequence[Any]) -> dict[str, Any]:
    judged = [figure for figure in figures if figure.including is not None]
    excluding = over_cells(index_of(cluster_figure, "exclude") for cluster_figure in judged)
    including = over_cells(cluster_figure.including for cluster_figure in judged)
    return {
        "value": value,
        "excluding": excluding.mean,
        "cells_excluding": excluding.n,
        "with_zeros": excluding.with_zeros,
        "including": including.mean,
        "cells": including.n,
        "share": fmean(figure.share for figure in figures) if figures else None,
    }
