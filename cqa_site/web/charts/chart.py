"""A chart of some figures, and names that fit beside one."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from .drawing import Spec

LONGEST = 24


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


def short(name: str, longest: int = LONGEST) -> str:
    """A name that fits beside a chart."""
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def short_names(names: Iterable[str]) -> list[str]:
    """Names that fit beside a chart and differ even where they are cut."""
    seen: dict[str, int] = {}
    made = []
    for name in map(short, names):
        seen[name] = seen.get(name, 0) + 1
        made.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return made
