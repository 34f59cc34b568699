"""Agreement of agreement as small tables: what pages show and files hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmark.agreement.methods.figures import (
    Agreement,
    Alphas,
    Column,
    Figure,
    OfColumn,
    Unscored,
)
from benchmark.leaderboard.models import BoardSnapshot
from benchmark.leaderboard.reports.filters import conditions_of_rows
from cqa_site.web.tables import Cell, TableData

from .choice import PEOPLE, TOTAL, Choice

Built = tuple[list[str], list[list[Cell]]]
MEASURE_NAMES = {
    "alpha_interval": gettext_lazy("Interval alpha"),
    "alpha_ordinal": gettext_lazy("Ordinal alpha"),
    "pearson": gettext_lazy("Pearson"),
    "spearman": gettext_lazy("Spearman"),
    "kendall": gettext_lazy("Kendall"),
    "leniency": gettext_lazy("Leniency"),
    "exact": gettext_lazy("Exact"),
}


# What most tables here wait for.
SHARED = gettext_lazy("Two raters have to score the same answers.")


@dataclass(frozen=True)
class Entry:
    """A table: its title, how its numbers were made, what builds it, and what would fill it.

    ``way`` is the page where that is done, and its name.
    """

    title: Any
    recipe: Any
    build: Callable[[Agreement, Choice], Built]
    needed: Any = SHARED
    way: tuple[str, Any] = ("scoring_rounds", gettext_lazy("Scoring rounds"))


def rater_names(figures: Agreement) -> dict[str, str]:
    """Key → name of every rater, and of the mean of all people."""
    return {PEOPLE: _("People (mean)")} | {each.key: each.name for each in figures.raters}


def column_names(figures: Agreement) -> dict[str, str]:
    """Key → name of every column: the total, groups, criteria with their key in front."""
    return {each.key: column_name(each) for each in figures.columns}


def column_name(column: Column) -> str:
    if column.kind == TOTAL:
        return _("Total")
    return f"{column.key} {column.name}" if column.kind == "criterion" else column.name


def value_of(found: OfColumn, measure: str) -> float | None:
    """The number of a measure; shares of equal points have no interval."""
    return found.exact if measure == "exact" else figure_of(found, measure).value


def figure_of(found: Alphas | OfColumn, measure: str) -> Figure:
    """The figure of a measure with an interval; ``bias``, or one of `MEASURES` but ``exact``."""
    figure: Figure = getattr(found, measure)
    return figure


def bounds(estimate: Figure | Unscored) -> list[Cell]:
    return [estimate.value, estimate.low, estimate.high]


def with_bounds(name: str) -> list[str]:
    return [name, _("low"), _("high")]


def table_of(
    snapshot: BoardSnapshot, figures: Agreement, choice: Choice, slug: str, entry: Entry
) -> TableData:
    """One figure as a table whose caption names the snapshot."""
    columns, rows = entry.build(figures, choice)
    about = _("Rubric %(rubric)s, snapshot #%(number)d (%(state)s), sheets %(hash)s.") % {
        "rubric": snapshot.rubric,
        "number": snapshot.number,
        "state": _("frozen") if snapshot.is_frozen else _("live"),
        "hash": snapshot.sha256[:12],
    }
    if under := conditions_of_rows(snapshot.recipe).get(choice.condition):
        about = f"{about} {_('Condition: %s.') % under}"
    column = column_names(figures)[choice.column]
    title = f"{entry.title}: {column}" if slug == "pairs" else str(entry.title)
    return TableData(
        columns, rows, caption=f"{title}. {about}", note=str(entry.recipe), name=f"scores-{slug}"
    )
