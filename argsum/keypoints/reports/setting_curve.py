"""How the clusters of a run change with the one parameter that its grid varies."""

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from django.utils.translation import gettext as _

from argsum.keypoints.models import SystemRun
from argsum.scorers.methods.cluster_figures import LEAST_SHARE, index_of, over_cells
from cqa_site.web.charts import points as point_charts
from cqa_site.web.charts.drawing import Spec
from cqa_site.web.tables import TableData

from .system_runs import CellLine

FEWEST = 3


def varied(run: SystemRun) -> str:
    """The only parameter with several values, if these are three numbers or more; else empty."""
    several = [name for name, values in run.grid.items() if len(values) > 1]
    if len(several) != 1 or len(run.grid[several[0]]) < FEWEST:
        return ""
    return "" if isinstance(run.grid[several[0]][0], bool) else several[0]


def curve_rows(run: SystemRun, lines: Sequence[CellLine]) -> list[dict[str, Any]]:
    """A row for each value: means over cells, and over how many; empty without any figure.

    Without unclustered arguments a cell has an index only where enough is clustered, so that the
    cells behind that mean change along the curve; with 0 for the others they do not.
    """
    name = varied(run)
    figures: dict[float, list[Any]] = {float(value): [] for value in run.grid.get(name, ())}
    for line in lines:
        for one in line.lines:
            if one.figure is not None and one.row.parameters.get(name) in figures:
                figures[float(one.row.parameters[name])].append(one.figure)
    if not any(figures.values()):
        return []
    return [_row(value, found) for value, found in sorted(figures.items())]


def curve_spec(name: str, rows: Sequence[dict[str, Any]], size: str) -> Spec:
    """Both indices against the parameter, 0 for cells without one; each one's highest is named.

    A mean over the cells that happen to have an index would be highest where most are left out.
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
    titles = (name, _("ARI, mean over cells (named: oracle)"))
    return point_charts.points(
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
    """What the curve shows."""
    columns = (
        "value", "excluding", "cells_excluding", "with_zeros", "including", "cells", "share",
    )  # fmt: skip
    return TableData(
        columns=[
            varied(run), "ARI excluding noise", "cells", "ARI excluding noise, 0 for other cells",
            "ARI including noise", "cells", "share clustered",
        ],
        rows=[[row[each] for each in columns] for row in rows],
        caption=f"{run.label}, run {run.number} over {run.dataset}: means over cells",
        note=(
            f"Excluding noise a cell with less than {LEAST_SHARE:.0%} clustered has no index; the "
            "curve counts it as 0. The best value of a curve is an oracle: the references that "
            "judge it also chose it."
        ),
        name=f"system-run-{run.number}-curve",
    )  # fmt: skip


def _row(value: float, figures: Sequence[Any]) -> dict[str, Any]:
    judged = [each for each in figures if each.including is not None]
    excluding = over_cells(index_of(each, "exclude") for each in judged)
    including = over_cells(each.including for each in judged)
    return {
        "value": value,
        "excluding": excluding.mean,
        "cells_excluding": excluding.n,
        "with_zeros": excluding.with_zeros,
        "including": including.mean,
        "cells": including.n,
        "share": fmean(each.share for each in figures) if figures else None,
    }
