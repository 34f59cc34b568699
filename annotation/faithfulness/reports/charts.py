"""Faithfulness by system and condition as charts, each with its numbers in words."""

from collections.abc import Callable, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from cqa_site.web.charts.chart import MOST, distinct, of_all
from cqa_site.web.charts.drawing import Spec
from cqa_site.web.charts.intervals import intervals
from cqa_site.web.tables import TableData

from .faithfulness import COHERENCE, GroupFigures
from .tables import MEASURES

BOUNDS = ("value", "low", "high")


def chart_spec(groups: Sequence[GroupFigures], name: str, size: str = "wide") -> Spec:
    """Vega-Lite specification of one chart; raises KeyError for an unknown one."""
    return intervals(
        chart_rows(groups, name),
        y="who",
        series="measure",
        title=of_all(CHARTS[name][1](), len(_known(groups, name))),
        size=size,
    )


def chart_alt(groups: Sequence[GroupFigures], name: str) -> str:
    """What the chart shows, in numbers, for people who do not see it."""
    known = [row for row in chart_rows(groups, name) if row["value"] is not None]
    parts = [f"{row['who']}, {row['measure']}: {row['value']:.3f}" for row in known]
    return f"{CHARTS[name][1]()}. {'; '.join(parts)}."


def chart_table(groups: Sequence[GroupFigures], name: str) -> TableData:
    """The chart in numbers."""
    columns = {"who": _("System, condition"), "measure": _("Measure"), "value": _("Mean")}
    columns |= {"low": _("low"), "high": _("high")}
    rows = chart_rows(groups, name)
    title = str(TITLES[name])
    return TableData.of_rows(rows, columns, caption=title, name=f"faithfulness-{name}")


def chart_rows(groups: Sequence[GroupFigures], name: str) -> list[dict[str, Any]]:
    """Measures of a chart for each group that has one of them; none if there is nothing."""
    known = _known(groups, name)[:MOST]
    return [
        {
            "who": who,
            "measure": str(MEASURES[measure].title),
            **{part: getattr(group.measures[measure], part) for part in BOUNDS},
        }
        for who, group in zip(distinct(map(_name, known)), known, strict=True)
        for measure in CHARTS[name][0]
    ]


def _known(groups: Sequence[GroupFigures], name: str) -> list[GroupFigures]:
    """Groups that have one of the measures of a chart."""
    return [
        group
        for group in groups
        if any(group.measures[measure].value is not None for measure in CHARTS[name][0])
    ]


def _name(group: GroupFigures) -> str:
    where = f" {group.scenario}" if group.scenario else ""
    if not group.is_plain:
        where = f" · {group.condition_name}"
    return f"{group.name}{where}{' ' + _('edited') if group.is_edited else ''}"


TITLES = {
    "relevance": lazy("Cited and relevant arguments"),
    "coherence": lazy("Coherence of citations"),
}
# What stands side by side in a chart, and the title of its axis.
CHARTS: dict[str, tuple[tuple[str, ...], Callable[[], str]]] = {
    "relevance": (("precision", "recall"), lambda: _("Mean, 95 % interval")),
    "coherence": ((COHERENCE,), lambda: _("Share, 95 % interval")),
}
