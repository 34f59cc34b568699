"""A chart of some figures, and what may stand in one."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.utils.translation import gettext as _

from .drawing import Spec

# Rows of one chart: more than these take longer to find than in the table.
MOST = 40


@dataclass(frozen=True)
class Chart:
    """What draws figures in a size, says them in words, and tells what there is to draw."""

    draw: Callable[..., Spec]
    alt: Callable[..., str]
    rows: Callable[..., Any] = lambda *figures: True


def chart_of(charts: Mapping[str, Chart], slug: str, *figures: Any) -> dict[str, Any]:
    """The chart as fields of a `Figure`; empty where there is none, or nothing to draw."""
    chart = charts.get(slug)
    if chart is None or not chart.rows(*figures):
        return {}
    return {"alt": chart.alt(*figures), "draw": partial(chart.draw, *figures)}


def distinct(names: Iterable[str]) -> list[str]:
    """The names, numbered from the second of the same on, so that their rows stay apart."""
    seen: dict[str, int] = {}
    made = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        made.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return made


def of_all(title: str, every: int) -> str:
    """The title of an axis, which says so where not all rows are drawn."""
    if every <= MOST:
        return title
    return _("%(title)s; the first %(shown)d of %(all)d") % {
        "title": title,
        "shown": MOST,
        "all": every,
    }
