"""Leaderboard of systems, and paired differences between them by topic."""

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

# A table of systems: which setting stands for a system, and its figures over cells.
#
# A setting that was chosen by the figure it is judged by is an oracle, and says so. Source:
# argument summarization paper, section 4.2; the paper itself reports oracles.

Selection = Literal["dev", "fixed", "oracle"]
SELECTIONS: tuple[Selection, ...] = ("dev", "fixed", "oracle")
FIGURES = ("weighted", "coverage", "redundancy", "excluding", "including", "share", "seconds")
# A setting is chosen by the first known one, on the dev split, in half of its cells.
CRITERIA = ("weighted", "coverage", "including")
INDICES = ("including", "excluding")
# Cell → its topic; a cell that is not in it stands alone.
Topics = Mapping[str, str]
NO_TOPICS: Topics = MappingProxyType({})


@dataclass(frozen=True)
class SetFigures:
    """Figures of one set; None if unknown.

    Attributes
    ----------
    key
        Of the set.
    coverage, redundancy
        By the chosen sources, 0–1 as a rule.
    excluding, including
        Adjusted Rand index without and with unclustered arguments.
    share
        Of the arguments that are clustered, 0–1.
    seconds
        Of computing.
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
    """Terms of the comparison: weight of coverage, selection, and least share clustered."""

    weight: float = WEIGHT
    selection: Selection = "dev"
    least_share: float = LEAST_SHARE


@dataclass(frozen=True)
class SystemRow:
    """One row of the leaderboard.

    Attributes
    ----------
    selection
        How the setting was chosen: one of `SELECTIONS`, or ``"only"`` if there is just one.
    criterion
        Of `CRITERIA`, by which it was chosen; empty for ``"only"`` and ``"fixed"``.
    setting
        The setting; None where it differs from cell to cell.
    settings
        Their number.
    figures
        Name of `FIGURES` → mean over cells with its interval.
    chosen
        cell → the system's chosen set.
    by_cell
        cell → figure → value; of an oracle each index has a clustering of its own.
    clusterings
        cell → ``"including"``, ``"excluding"`` → the set that each index is from.
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
        """Index without unclustered arguments, over the cells that have clusters."""
        clustered = [
            figures for figures in self.by_cell.values() if figures["including"] is not None
        ]
        return over_cells(figures["excluding"] for figures in clustered)

    def clustering_setting(self, cell: str, name: str) -> str:
        """Return the setting of a cell's index if it differs from the row's; else empty."""
        own = self.clusterings.get(cell, {}).get(name)
        return own.setting if own and own.key != self.chosen[cell].key else ""


def board(
    sets: Iterable[SetFigures],
    dev: Iterable[SetFigures],
    cells: Sequence[str],
    terms: Terms,
    topics: Topics = NO_TOPICS,
) -> list[SystemRow]:
    """Rank all systems, best first; those with fewer known cells come below.

    Parameters
    ----------
    sets
        Of the cells that are reported; of several with the same system, setting and cell the
        last counts.
    dev
        Of other cells, by which a setting may be chosen.
    cells
        All that are reported, in order.
    terms
        Weight, selection, least share.
    topics
        Of cells: intervals are over topics, as both sides of one resemble each other.
    """
    by_system, dev_sets = _by_system(sets), _by_system(dev)
    rows = [
        _row(system, grid, dev_sets.get(system, {}), (cells, topics), terms)
        for system, grid in by_system.items()
    ]
    return sorted(rows, key=_rank)


def figure(figures: SetFigures, name: str, terms: Terms) -> float | None:
    """Return one figure of a set; None if unknown, or if its clustering leaves out too much."""
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
    """Return selection, criterion and setting; setting is None if chosen per cell."""
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
    # Most cells with scores, then most with clusters; of equal ones the first, so that only
    # whether something is known has a say, never how good it is.
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
    """Return the first of `CRITERIA` with a known value; empty if there is no such value."""
    sets = [cell for cells in grid.values() for cell in cells.values()]
    for name in CRITERIA:
        if any(figure(figures, name, terms) is not None for figures in sets):
            return name
    return ""


def _best(grid: Grid, value: Callable[[SetFigures], float | None]) -> str | None:
    """Return the setting known in most cells, and among ties the one with the largest mean.

    None where values are known in fewer than half of the cells: one cell chooses nothing.
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
    """Return the best set of every cell, and of each adjusted Rand index, as in the paper."""
    chosen, by_cell, clusterings = {}, {}, {}
    for cell in cells:
        sets = [settings[cell] for settings in grid.values() if cell in settings]
        best = _largest(sets, criterion, terms)
        # A clustering counts where no set of the cell has a score as well.
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
    """Return the set with the largest figure; ties go to the first."""
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
        # A metric that is no share may leave 0 to 1, and seconds do.
        limits=(0.0, 1.0) if is_share else (-math.inf, math.inf),
        unit="topics",
    )


def _rank(row: SystemRow) -> tuple[tuple[int, float], tuple[int, float], str]:
    def down(name: str) -> tuple[int, float]:
        # The mean of the easy cells alone is no reason to stand above a mean of all.
        estimate = row.figures[name]
        return -estimate.n_values, -(estimate.value or 0.0)

    return down("weighted"), down("including"), row.system


# Which systems differ: paired differences over the topics of both, corrected over all pairs.
#
# A cell that is hard for one system is hard for the others, too. So intervals of two systems may
# overlap where their difference is clear; only the difference within cells tells. Both sides of a
# topic are one unit: their differences resemble each other (intraclass correlation .27 in the
# counts that the paper released), and as units of their own they made 7 % of leads false at 24
# cells.

# Figures by which one system is above another, the first that is known, and those of them of
# which less is better. Seconds and the share clustered say nothing about quality.
JUDGED = ("weighted", "coverage", "redundancy", "excluding", "including")
LOWER_IS_BETTER = ("redundancy",)


class TopicDifference(NamedTuple):
    """Difference of two systems over the topics on which both have a value."""

    first: str
    second: str
    test: PairedTest


def judged_figure(rows: Sequence[SystemRow]) -> str:
    """Return the first of `JUDGED` that any system has; empty if none."""
    known = {judged for row in rows for judged in JUDGED if row.figures[judged].value is not None}
    return next((name for name in JUDGED if name in known), "")


def best_first(rows: Sequence[SystemRow], name: str) -> list[SystemRow]:
    """Return systems that have a figure, best mean first."""
    sign = 1 if name in LOWER_IS_BETTER else -1
    known = [row for row in rows if row.figures[name].value is not None]
    return sorted(known, key=lambda row: sign * (row.figures[name].value or 0.0))


def topic_differences(
    rows: Sequence[SystemRow], name: str, topics: Topics = NO_TOPICS
) -> list[TopicDifference]:
    """Compare all pairs of systems by one figure, in row order; rule "difference".

    t over topics, corrected for skewness (`mean_p`); a topic counts with the mean of its cells.
    """
    pairs = list(combinations(rows, 2))
    tests = paired_tests([_apart(*pair, name, topics) for pair in pairs], "difference")
    return [
        TopicDifference(row.system, other.system, test)
        for (row, other), test in zip(pairs, tests, strict=True)
    ]


def not_below(rows: Sequence[SystemRow], pairs: Sequence[TopicDifference], name: str) -> list[str]:
    """Return systems that the first is not shown to beat; if empty, the first leads."""
    better = "below" if name in LOWER_IS_BETTER else "above"
    return [pair.second for pair in pairs[: len(rows) - 1] if pair.test.direction != better]


def _apart(row: SystemRow, other: SystemRow, name: str, topics: Topics) -> FloatArray:
    """Return mean differences for topics on which both have the figure, shape (n,)."""
    by_topic: dict[str, list[float]] = {}
    for cell in row.by_cell.keys() & other.by_cell.keys():
        mine, theirs = row.by_cell[cell][name], other.by_cell[cell][name]
        if mine is not None and theirs is not None:
            by_topic.setdefault(topics.get(cell, cell), []).append(mine - theirs)
    return np.array([np.mean(by_topic[topic]) for topic in sorted(by_topic)], dtype=np.float64)
