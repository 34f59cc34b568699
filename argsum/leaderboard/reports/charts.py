"""Leaderboard, metrics and agreement as charts, each with its numbers in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from cqa_site.stats.estimate import Estimate
from cqa_site.web.charts import points as point_charts
from cqa_site.web.charts import scatter as scatter_charts
from cqa_site.web.charts.chart import MOST, Chart, distinct, of_all
from cqa_site.web.charts.drawing import Spec
from cqa_site.web.charts.heatmap import heatmap
from cqa_site.web.charts.intervals import intervals
from cqa_site.web.tables import TableData

from .board import SummaryBoard
from .correlation import MetricRow, SetPoint
from .people_agreement import DimensionAgreement
from .set_scores import Source

Rows = list[dict[str, Any]]


def weighted_rows(found: SummaryBoard) -> Rows:
    """The best systems with their weighted score and its interval."""
    names = distinct([row.system for row in found.rows])
    rows = [
        {
            "system": _with_cells(name, row.figures["weighted"], found),
            "series": "",
            **_bounds(row.figures["weighted"]),
        }
        for name, row in zip(names, found.rows, strict=True)
    ]
    return [row for row in rows if row["value"] is not None][:MOST]


def weighted_spec(found: SummaryBoard, size: str) -> Spec:
    """Weighted scores with intervals over cells."""
    return intervals(
        weighted_rows(found),
        y="system",
        series="series",
        title=of_all(_oracle(found, _("Weighted score")), len(found.rows)),
        size=size,
    )


def tradeoff_rows(found: SummaryBoard) -> Rows:
    """Systems with both scores."""
    names = distinct([row.system for row in found.rows])
    rows = []
    for name, row in zip(names, found.rows, strict=True):
        coverage, redundancy = row.figures["coverage"], row.figures["redundancy"]
        if coverage.value is not None and redundancy.value is not None:
            low, high = coverage.low, coverage.high
            fewer = min(coverage, redundancy, key=lambda each: each.n_values)
            rows.append(
                {
                    "system": _with_cells(name, fewer, found),
                    "redundancy": redundancy.value,
                    "coverage": coverage.value,
                    "low": low,
                    "high": high,
                    "series": "",
                }
            )
    return rows[:MOST]


def tradeoff_spec(found: SummaryBoard, size: str) -> Spec:
    """Coverage against redundancy; up and to the left is better."""
    return point_charts.points(
        tradeoff_rows(found),
        x="redundancy",
        y="coverage",
        series="series",
        text="system",
        titles=(
            of_all(_oracle(found, _("Redundancy (lower is better)")), len(found.rows)),
            _oracle(found, _("Coverage")),
        ),
        size=size,
    )


def weighted_alt(found: SummaryBoard) -> str:
    """The chart in words."""
    return "; ".join(f"{row['system']} {row['value']:.3f}" for row in weighted_rows(found))


def tradeoff_alt(found: SummaryBoard) -> str:
    """The chart in words."""
    return "; ".join(
        _("%(system)s coverage %(c).2f, redundancy %(r).2f")
        % {"system": row["system"], "c": row["coverage"], "r": row["redundancy"]}
        for row in tradeoff_rows(found)
    )


@dataclass(frozen=True)
class BoardChart:
    """A chart of the leaderboard: title, recipe, the chart itself, columns of its numbers."""

    title: Any
    recipe: Any
    chart: Chart
    columns: dict[str, Any]

    def table(self, found: SummaryBoard, name: str) -> TableData:
        """What the chart shows, in numbers."""
        columns = {key: str(title) for key, title in self.columns.items()}
        caption = str(self.title)
        return TableData.of_rows(self.chart.rows(found), columns, caption=caption, name=name)


_BOUNDED = {"low": lazy("low"), "high": lazy("high")}
BOARD_CHARTS = {
    "weighted": BoardChart(
        lazy("Weighted score"),
        lazy("Mean over cells with its 95 % interval over topics."),
        Chart(weighted_spec, weighted_alt, weighted_rows),
        {"system": lazy("System"), "value": lazy("Weighted score"), **_BOUNDED},
    ),
    "tradeoff": BoardChart(
        lazy("Coverage against redundancy"),
        lazy("Up and to the left is better. Lines are the intervals of coverage."),
        Chart(tradeoff_spec, tradeoff_alt, tradeoff_rows),
        {
            "system": lazy("System"),
            "redundancy": lazy("Redundancy"),
            "coverage": lazy("Coverage"),
            **_BOUNDED,
        },
    ),
}


def correlation_rows(rows: Sequence[MetricRow], dimension: str) -> Rows:
    """Across and within of the best metrics of a dimension, as two series."""
    made = []
    known = [row for row in rows if row.source.dimension == dimension]
    known = [row for row in known if row.found.across is not None][:MOST]
    for name, row in zip(distinct([str(one.source) for one in known]), known, strict=True):
        for series, value in (
            (_("across sets"), row.found.across),
            (_("within cells, mean"), row.found.within_mean),
        ):
            made.append(
                {"metric": name, "series": series, "value": value, "low": None, "high": None}
            )
    return made


def correlation_spec(rows: Sequence[MetricRow], dimension: str, size: str) -> Spec:
    """Correlation of metrics with people."""
    return intervals(
        correlation_rows(rows, dimension),
        y="metric",
        series="series",
        title=_("Pearson with people"),
        marks=(0.0,),
        size=size,
    )


def correlation_alt(rows: Sequence[MetricRow], dimension: str) -> str:
    """The chart in words."""
    return "; ".join(
        f"{row['metric']} {row['series']} {row['value']:.3f}"
        for row in correlation_rows(rows, dimension)
        if row["value"] is not None
    )


def points_spec(points: Sequence[SetPoint], source: Source, size: str) -> Spec:
    """One dot a set: the metric and the people's mean."""
    rows = [{"metric": one.metric, "people": one.people} for one in points]
    return scatter_charts.scatter(
        rows, x="metric", y="people", titles=(str(source), _("People, mean")), size=size
    )


def heat_rows(found: DimensionAgreement) -> Rows:
    """Both halves of the square of raters; nothing on the diagonal."""
    values = {(each.first, each.second): (each.value, each.n) for each in found.pairs.pairs}
    names = dict(zip(found.raters, distinct(list(found.raters)), strict=True))
    rows = []
    for first in found.raters:
        for second in found.raters:
            value, n = values.get((first, second)) or values.get((second, first)) or (None, 0)
            text = f"{value:.2f}\nn {n}" if value is not None else ("–" if n else "")
            rows.append(
                {"down": names[first], "across": names[second], "value": value, "text": text}
            )
    return rows


def heat_spec(found: DimensionAgreement, size: str) -> Spec:
    """Correlation between raters."""
    rows = [{**row, "value": max(0.0, row["value"] or 0.0)} for row in heat_rows(found)]
    return heatmap(
        rows,
        x="across",
        y="down",
        share="value",
        text="text",
        titles=("", ""),
        size=size,
    )


def heat_alt(found: DimensionAgreement) -> str:
    """The chart in words."""
    return "; ".join(
        f"{each.first} – {each.second} {each.value:.2f} (n {each.n})"
        for each in found.pairs.pairs
        if each.value is not None
    )


def _oracle(found: SummaryBoard, title: str) -> str:
    """A title that says so where settings were chosen by what they are judged by."""
    return _("%s, oracle") % title if found.is_oracle else title


def _with_cells(name: str, each: Estimate, found: SummaryBoard) -> str:
    """A system's name, and how many of the cells are in its mean unless all are."""
    if each.n_values >= len(found.cells):
        return name
    return _("%(name)s (%(n)d of %(all)d cells)") % {
        "name": name,
        "n": each.n_values,
        "all": len(found.cells),
    }


def _bounds(each: Any) -> dict[str, float | None]:
    return {"value": each.value, "low": each.low, "high": each.high}
