"""How fast people of a round work and how much they skip; it is shown, and decides nothing."""

from dataclasses import dataclass
from math import floor
from typing import Any

from cqa_site.people.models import User

from .kind import kind_of

# Of the time that an item is expected to take, or takes people of the round on average.
HASTY_SHARE = 0.2


@dataclass(frozen=True)
class Pace:
    """What one person did; below ``mark`` seconds for an item it was very fast."""

    done: int = 0
    skipped: int = 0
    seconds: float | None = None
    mark: float | None = None
    is_skipping: bool = False

    @property
    def is_hasty(self) -> bool:
        """Whether somebody can hardly have read what they answered."""
        return self.seconds is not None and self.mark is not None and self.seconds < self.mark


def paces_of(round_: Any, **where: Any) -> dict[int, Pace]:
    """The pace of each rater who did something, of those that ``where`` chooses: one query."""
    kind = kind_of(round_)
    rows = list(kind.paces(round_, **where))
    usual = getattr(kind.own(round_), "expected_seconds", None)
    if not usual and len(rows) > 1:
        times = [seconds for *_counts, seconds in rows if seconds]
        usual = sum(times) / len(times) if times else None
    mark = usual * HASTY_SHARE if usual else None
    return {
        rater: Pace(done, skipped, seconds, mark, skipped > skips_allowed(round_, done))
        for rater, done, skipped, seconds in rows
    }


def skips_allowed(round_: Any, items: int) -> float:
    """How many of so many items somebody may skip; without a limit infinitely many."""
    share = round_.skip_share
    return float("inf") if share is None else max(1, floor(round(share * items, 9)))


def skipped_by(round_: Any, user: User) -> int:
    """How many items somebody skipped."""
    return sum(
        skipped
        for _rater, _done, skipped, _time in kind_of(round_).paces(round_, rater__user=user)
    )
