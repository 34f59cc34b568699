"""The ranking by preference as a chart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from cqa_site.web.charts.chart import Chart
from cqa_site.web.charts.ranked import ranked_dots

if TYPE_CHECKING:
    from benchmark.preferences.reports import Results
    from cqa_site.web.charts.drawing import Spec

MOST = 40


def _rows(results: Results) -> list[dict[str, Any]]:
    return [
        {
            "name": each.system,
            "value": each.log_strength,
            "low": each.low,
            "high": each.high,
            "group": each.tie_group,
        }
        for each in results.ranking.standings[:MOST]
    ]


def _draw(results: Results, size: str) -> Spec:
    title = _("Log strength, 95 % interval")
    if results.ranking.strengths.is_penalized:
        title = _("Penalized log strength")
    elif all(each.low is None for each in results.ranking.standings):
        title = _("Log strength")
    return ranked_dots(_rows(results), title=title, size=size)


def _alt(results: Results) -> str:
    parts = "; ".join(f"{row['name']}: {row['value']:.2f}" for row in _rows(results))
    return _("Systems by log strength, the preferred first. %s.") % parts


CHARTS = {"ranking": Chart(_draw, _alt, _rows)}
