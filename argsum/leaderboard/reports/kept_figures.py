"""What a snapshot of key points keeps, beside the rows that it is made from."""

from __future__ import annotations

from dataclasses import dataclass

from argsum.metrics.methods.correlation import RaterPair
from cqa_site.stats.estimate import Estimate

from .people_agreement import OneRater, Repeats


@dataclass(frozen=True)
class KeptCell:
    """The set that stands for a system in a cell, and its figures."""

    cell: str
    summary_set: str
    setting: str
    values: dict[str, float | None]


@dataclass(frozen=True)
class KeptSystem:
    """One system, as `SystemRow` has it."""

    system: str
    selection: str
    criterion: str
    setting: str | None
    settings: int
    figures: dict[str, Estimate]
    cells: tuple[KeptCell, ...]


@dataclass(frozen=True)
class KeptBoard:
    """Systems in order, and the cells that their means are over."""

    cells: tuple[str, ...]
    has_dev: bool
    is_oracle: bool
    rows: tuple[KeptSystem, ...]


@dataclass(frozen=True)
class KeptDimension:
    """Agreement about one dimension, as `DimensionAgreement` has it."""

    dimension: str
    mean_pearson: float | None
    pairs: tuple[RaterPair, ...]
    judges: tuple[RaterPair, ...]
    repeats: tuple[Repeats, ...]
    alpha: Estimate


@dataclass(frozen=True)
class KeptAgreement:
    """The people who judged, and how far they agree."""

    sets: int
    raters: tuple[OneRater, ...]
    dimensions: tuple[KeptDimension, ...]


@dataclass(frozen=True)
class KeptFigures:
    """Leaderboard and agreement."""

    board: KeptBoard
    agreement: KeptAgreement
