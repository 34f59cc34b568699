"""What figures of a campaign come to, as a snapshot keeps them; loads nothing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypedDict

from cqa_site.stats.as_json import ONLY_IF_KNOWN
from cqa_site.stats.estimate import Estimate

# No field can be called "from".
SecondsBin = TypedDict("SecondsBin", {"from": float, "to": float | None, "votes": int})


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Counts; the last two are those of machines, which version 1 counted among the votes."""

    ordinary_items: int
    control_items: int
    items_voted: int
    ordinary_items_voted: int
    complete: int | None
    wanted: int | None
    filled: int | None
    votes: int
    control_votes: int
    raters: int
    answered: int
    skipped: int
    expired: int
    void: int
    extra: int
    excluded: int
    excluded_raters: int
    flagged: int
    machine_labels: int | None = field(default=None, metadata=ONLY_IF_KNOWN)
    machine_votes: int | None = field(default=None, metadata=ONLY_IF_KNOWN)


@dataclass(frozen=True, kw_only=True)
class MedianOfPairs:
    """Shaped like an estimate; ``low`` and ``high`` are quartiles, as ``interval`` says."""

    statistic: str
    level: str
    value: float | None
    low: float | None
    high: float | None
    interval: str
    recipe: str
    reason: str | None
    n_items: int
    n_pairable_items: int
    n_raters: int
    n_values: int
    n_pairs: int


@dataclass(frozen=True, kw_only=True)
class LabelVotes:
    label: int
    ordinary: int
    control: int


@dataclass(frozen=True, kw_only=True)
class LabelItems:
    label: int
    items: int


@dataclass(frozen=True, kw_only=True)
class Majority:
    """Items by their label; of the ``total`` so many are tied, unanimous or have one vote."""

    items: tuple[LabelItems, ...]
    tied: int
    unanimous: int
    single: int
    total: int


@dataclass(frozen=True, kw_only=True)
class Confusion:
    """Coincidences within items, and each row as shares of its own sum."""

    cells: tuple[tuple[float, ...], ...]
    shares: tuple[tuple[float | None, ...], ...]
    sums: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class LabelAgreement:
    label: int
    n_values: int
    agreement: float | None
    chance: float | None


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """The most active of ``n_raters``, each two with their alpha and the items they share."""

    raters: tuple[str, ...]
    n_raters: int
    statistic: str
    min_shared: int
    values: tuple[tuple[float | None, ...], ...]
    n_shared: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Disputed:
    """An item whose votes lie apart."""

    item: str
    object1: str
    object2: str
    text: str
    is_control: bool
    votes: tuple[int, ...]
    majority: int
    spread: int
    relative: float | None


@dataclass(frozen=True, kw_only=True)
class Annotator:
    """``compared`` of the votes stand beside others on their item, and ``agreement`` with them."""

    rater: str
    kind: str
    is_excluded: bool
    votes: int
    skipped: int
    extra: int
    controls: int
    controls_right: int
    compared: int
    agreement: float | None
    median_seconds: float | None


@dataclass(frozen=True, kw_only=True)
class Quartiles:
    """Of the seconds of ``n`` votes, all or those with a label."""

    label: int | None = field(default=None, metadata=ONLY_IF_KNOWN)
    n: int
    q1: float | None
    median: float | None
    q3: float | None


@dataclass(frozen=True, kw_only=True)
class Times:
    """Seconds of votes."""

    n_untimed: int
    all: Quartiles
    labels: tuple[Quartiles, ...]
    histogram: tuple[SecondsBin, ...]
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class TimeBin:
    """Votes from a start on, and all up to its end."""

    start: str
    votes: int
    total: int


@dataclass(frozen=True, kw_only=True)
class OverTime:
    step: str | None
    bins: tuple[TimeBin, ...]
    n_undated: int
    reason: str | None


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Every figure of a campaign; ``agreement`` is that of all and of ordinary items."""

    values: tuple[int, ...]
    progress: Progress
    agreement: dict[str, tuple[Estimate | MedianOfPairs, ...]]
    labels: tuple[LabelVotes, ...]
    majority: Majority
    confusion: Confusion
    per_label: tuple[LabelAgreement, ...]
    pairs: Pairs
    hardest: tuple[Disputed, ...]
    annotators: tuple[Annotator, ...]
    time: Times
    votes_over_time: OverTime
