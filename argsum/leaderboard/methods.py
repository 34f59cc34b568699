"""Leaderboard of systems, and their paired differences by topic."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from argsum.counting.methods.counts import WEIGHT, weighted_score
from argsum.scorers.methods.figures import LEAST_SHARE, OverCells, has_enough, over_cells
from cqa_site.stats.arrays import FloatArray
from cqa_site.stats.estimate import Estimate
from cqa_site.stats.means import PairedTest, clustered_mean, paired_tests

# Leaderboard: the setting that represents each system, and the system's figures over cells
#
# A setting that is chosen by the figure that judges it is an oracle, and is marked as such.
# Source: argument summarization paper, section 4.2; the paper itself reports oracles.

Selection = Literal["dev", "fixed", "oracle"]
SELECTIONS: tuple[Selection, ...] = ("dev", "fixed", "oracle")
FIGURES = ("weighted", "coverage", "redundancy", "excluding", "including", "share", "seconds")
# The first criterion that is known in half of the dev cells chooses the setting.
CRITERIA = ("weighted", "coverage", "including")
INDICES = ("including", "excluding")
# Cell → topic; a cell that is not included counts as a separate topic.
Topics = Mapping[str, str]
NO_TOPICS: Topics = MappingProxyType({})


@dataclass(frozen=True)
class SetFigures:
    """Figures of one set; None if unknown.

    Attributes
    ----------
    key
        Key of the set.
    coverage, redundancy
        From the chosen sources, usually 0–1.
    excluding, including
        Adjusted Rand index without and with unclustered arguments.
    share
        Share of clustered arguments, 0–1.
    seconds
        Computation time.
    """

    key: int
    system: str
    setting: str
    cell: str
    coverage: float | None = None
    redundancy: float | None = None
    excluding: float | None = None
    including: float | None = None
    share: float | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Terms:
    """Weight of coverage, selection, and minimum share of clustered arguments."""

    weight: float = WEIGHT
    selection: Selection = "dev"
    least_share: float = LEAST_SHARE


@dataclass(frozen=True)
class SystemRow:
    """One row of the leaderboard.

    Attributes
    ----------
    selection
        How the setting was chosen: one of `SELECTIONS`, or ``"only"`` if there is only one
        setting.
    criterion
        The entry of `CRITERIA` by which it was chosen; empty for ``"only"`` and ``"fixed"``.
    setting
        The setting; None if it differs from cell to cell.
    settings
        Number of settings.
    figures
        Name from `FIGURES` → mean over cells with its interval.
    chosen
        cell → the system's chosen set.
    by_cell
        cell → figure → value; for an oracle, each index comes from a separate clustering.
    clusterings
        cell → ``"including"`` or ``"excluding"`` → the set that is best by that index.
    """

    system: str
    selection: str
    criterion: str
    setting: str | None
    settings: int
    figures: dict[str, Estimate]
    chosen: dict[str, SetFigures]
    by_cell: dict[str, dict[str, float | None]]
    clusterings: dict[str, dict[str, SetFigures]]

    @property
    def excluding(self) -> OverCells:
        """Index without unclustered arguments, over the cells with clusters."""
        clustered = [
            figures for figures in self.by_cell.values() if figures["including"] is not None
        ]
        return over_cells(figures["excluding"] for figures in clustered)

    def clustering_setting(self, cell: str, name: str) -> str:
        """Return the setting behind a cell's index, or "" if it is the row's setting."""
        own = self.clusterings.get(cell, {}).get(name)
        return own.setting if own and own.key != self.chosen[cell].key else ""


def board(
    sets: Iterable[SetFigures],
    dev: Iterable[SetFigures],
    cells: Sequence[str],
    terms: Terms,
    topics: Topics = NO_TOPICS,
) -> list[SystemRow]:
    """Rank all systems, best first; systems with values in fewer cells rank lower.

    Parameters
    ----------
    sets
        Sets of the reported cells; if several sets have the same system, setting and cell, the
        last one counts.
    dev
        Sets of other cells, by which a setting may be chosen.
    cells
        All reported cells, in order.
    terms
        Weight, selection and minimum share.
    topics
        Topics of cells. Intervals are over topics, because the two sides of a topic are similar.
    """
    by_system, dev_sets = _by_system(sets), _by_system(dev)
    rows = [
        _row(system, grid, dev_sets.get(system, {}), (cells, topics), terms)
        for system, grid in by_system.items()
    ]
    return sorted(rows, key=_rank)


def figure(figures: SetFigures, name: str, terms: Terms) -> float | None:
    """Return one figure of a set, or None if it is unknown or too few arguments are clustered."""
    if name == "weighted":
        if figures.coverage is None or figures.redundancy is None:
            return None
        return weighted_score(figures.coverage, figures.redundancy, terms.weight)
    if name == "excluding" and not has_enough(figures.share, terms.least_share):
        return None
    value: float | None = getattr(figures, name)
    return value


Grid = dict[str, dict[str, SetFigures]]


def _by_system(sets: Iterable[SetFigures]) -> dict[str, Grid]:
    """Group sets by system, setting and cell."""
    system: dict[str, Grid] = {}
    for figures in sets:
        system.setdefault(figures.system, {}).setdefault(figures.setting, {})[figures.cell] = (
            figures
        )
    return system


def _row(
    system: str, grid: Grid, dev: Grid, place: tuple[Sequence[str], Topics], terms: Terms
) -> SystemRow:
    cells, topics = place
    selection, criterion, setting = _selected(grid, dev, terms)
    clusterings: dict[str, dict[str, SetFigures]] = {}
    if setting is not None:
        chosen = dict(grid[setting])
        by_cell = {
            cell: {name: figure(figures, name, terms) for name in FIGURES}
            for cell, figures in chosen.items()
        }
    else:
        chosen, by_cell, clusterings = _oracle(grid, cells, criterion, terms)
    return SystemRow(
        system=system,
        selection=selection,
        criterion=criterion,
        setting=setting,
        settings=len(grid),
        figures={name: _mean(by_cell, name, cells, topics) for name in FIGURES},
        chosen=chosen,
        by_cell=by_cell,
        clusterings=clusterings,
    )


def _selected(grid: Grid, dev: Grid, terms: Terms) -> tuple[str, str, str | None]:
    """Return selection, criterion and setting; the setting is None if it is chosen per cell."""
    if len(grid) == 1:
        return "only", "", next(iter(grid))
    if terms.selection == "oracle" and (criterion := _criterion(grid, terms)):
        return "oracle", criterion, None
    if terms.selection == "dev":
        known = {setting: dev[setting] for setting in grid if setting in dev}
        for criterion in CRITERIA:
            best = _best(known, partial(figure, name=criterion, terms=terms))
            if best is not None:
                return "dev", criterion, best
    # The setting with the most scored cells, then with the most clustered cells, then the first.
    # The choice depends only on which values are known, never on how good they are.
    filled = {setting: _known(cells) for setting, cells in grid.items()}
    return "fixed", "", max(filled, key=filled.__getitem__)


def _known(cells: Mapping[str, SetFigures]) -> tuple[int, ...]:
    """Count the cells with both scores, with coverage, and with clusters."""
    both = sum(
        cell.coverage is not None and cell.redundancy is not None for cell in cells.values()
    )
    names = ("coverage", "including", "share")
    return both, *(
        sum(getattr(cell, name) is not None for cell in cells.values()) for name in names
    )


def _criterion(grid: Grid, terms: Terms) -> str:
    """Return the first of `CRITERIA` with a known value, or "" if there is no such value."""
    sets = [cell for cells in grid.values() for cell in cells.values()]
    for name in CRITERIA:
        if any(figure(figures, name, terms) is not None for figures in sets):
            return name
    return ""


def _best(grid: Grid, value: Callable[[SetFigures], float | None]) -> str | None:
    """Return the setting with the most known cells; ties go to the setting with the largest mean.

    Returns None if values are known in fewer than half of the cells, because a few cells are not
    enough to choose.
    """
    least = len({cell for cells in grid.values() for cell in cells}) / 2
    ranks: dict[str, tuple[int, float]] = {}
    for setting, cells in grid.items():
        known = [score for figures in cells.values() if (score := value(figures)) is not None]
        if known and len(known) >= least:
            ranks[setting] = len(known), sum(known) / len(known)
    return max(ranks, key=lambda setting: ranks[setting]) if ranks else None


def _oracle(
    grid: Grid, cells: Sequence[str], criterion: str, terms: Terms
) -> tuple[
    dict[str, SetFigures], dict[str, dict[str, float | None]], dict[str, dict[str, SetFigures]]
]:
    """Return the best set of every cell, and the best set by each index, as in the paper."""
    chosen, by_cell, clusterings = {}, {}, {}
    for cell in cells:
        sets = [settings[cell] for settings in grid.values() if cell in settings]
        best = _largest(sets, criterion, terms)
        # A clustering counts even if no set of the cell has a score.
        others = {name: _largest(sets, name, terms) for name in INDICES}
        pick = next((figures for figures in (best, *others.values()) if figures), None)
        if pick is None:
            continue
        chosen[cell] = pick
        by_cell[cell] = {name: figure(best, name, terms) if best else None for name in FIGURES}
        for name, other in others.items():
            by_cell[cell][name] = figure(other, name, terms) if other else None
        clusterings[cell] = {name: other for name, other in others.items() if other}
    return chosen, by_cell, clusterings


def _largest(sets: Sequence[SetFigures], name: str, terms: Terms) -> SetFigures | None:
    """Return the set with the largest figure; ties go to the first set."""
    known = [figures for figures in sets if figure(figures, name, terms) is not None]
    return max(known, key=lambda figures: figure(figures, name, terms) or 0.0) if known else None


def _mean(
    by_cell: Mapping[str, Mapping[str, float | None]],
    name: str,
    cells: Sequence[str],
    topics: Topics,
) -> Estimate:
    values = [by_cell.get(cell, {}).get(name) for cell in cells]
    is_share = name != "seconds" and all(0 <= share <= 1 for share in values if share is not None)
    return clustered_mean(
        [topics.get(cell, cell) for cell in cells],
        [0.0 if value is None else value for value in values],
        [int(value is not None) for value in values],
        # Seconds, and metrics that are not shares, may be outside 0 to 1.
        limits=(0.0, 1.0) if is_share else (-math.inf, math.inf),
        unit="topics",
    )


def _rank(row: SystemRow) -> tuple[tuple[int, float], tuple[int, float], str]:
    def down(name: str) -> tuple[int, float]:
        # A mean over only the easy cells must not rank above a mean over all cells.
        estimate = row.figures[name]
        return -estimate.n_values, -(estimate.value or 0.0)

    return down("weighted"), down("including"), row.system


# Paired differences between systems over their common topics, corrected over all pairs
#
# A cell that is hard for one system is also hard for other systems. Two intervals may therefore
# overlap although the difference is clear, so differences are taken within cells. The two sides of
# a topic are one unit because their differences are similar (intraclass correlation .27 in the
# counts that the paper released). As separate units, they made 7 % of leads false at 24 cells.

# Figures that can rank systems (the first known figure does), and figures for which lower is
# better. Seconds and the share clustered do not measure quality.
JUDGED = ("weighted", "coverage", "redundancy", "excluding", "including")
LOWER_IS_BETTER = ("redundancy",)


class TopicDifference(NamedTuple):
    """Difference between two systems over the topics for which both have a value."""

    first: str
    second: str
    test: PairedTest


def judged_figure(rows: Sequence[SystemRow]) -> str:
    """Return the first of `JUDGED` that any system has, or "" if there is no such figure."""
    known = {judged for row in rows for judged in JUDGED if row.figures[judged].value is not None}
    return next((name for name in JUDGED if name in known), "")


def best_first(rows: Sequence[SystemRow], name: str) -> list[SystemRow]:
    """Return the systems that have a figure, best mean first."""
    sign = 1 if name in LOWER_IS_BETTER else -1
    known = [row for row in rows if row.figures[name].value is not None]
    return sorted(known, key=lambda row: sign * (row.figures[name].value or 0.0))


def topic_differences(
    rows: Sequence[SystemRow], name: str, topics: Topics = NO_TOPICS
) -> list[TopicDifference]:
    """Compare all pairs of systems by one figure, in row order, with the rule "difference".

    This is a t test over topics, corrected for skewness (`mean_p`), on the mean of each topic's
    cells.
    """
    pairs = list(combinations(rows, 2))
    tests = paired_tests([_apart(*pair, name, topics) for pair in pairs], "difference")
    return [
        TopicDifference(row.system, other.system, test)
        for (row, other), test in zip(pairs, tests, strict=True)
    ]


def not_below(rows: Sequence[SystemRow], pairs: Sequence[TopicDifference], name: str) -> list[str]:
    """Return the systems that the first system is not shown to beat, or [] if it leads."""
    better = "below" if name in LOWER_IS_BETTER else "above"
    return [pair.second for pair in pairs[: len(rows) - 1] if pair.test.direction != better]


def _apart(row: SystemRow, other: SystemRow, name: str, topics: Topics) -> FloatArray:
    """Return mean differences for topics in which both systems have the figure, shape (n,)."""
    by_topic: dict[str, list[float]] = {}
    for cell in row.by_cell.keys() & other.by_cell.keys():
        mine, theirs = row.by_cell[cell][name], other.by_cell[cell][name]
        if mine is not None and theirs is not None:
            by_topic.setdefault(topics.get(cell, cell), []).append(mine - theirs)
    return np.array([np.mean(by_topic[topic]) for topic in sorted(by_topic)], dtype=np.float64)
