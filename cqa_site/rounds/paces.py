"""How fast people of a round work and how much they skip: shown, and nothing follows from it."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from math import floor
from statistics import median
from typing import Any

from .kind import kind_of

# Of the time that an item is expected to take, or takes people of the round.
HASTY_SHARE = 0.2


@dataclass(frozen=True)
class Pace:
    """What one person did; ``seconds`` is the median of those that took time."""

    done: int = 0
    skipped: int = 0
    seconds: float | None = None
    is_hasty: bool = False
    is_skipping: bool = False


@dataclass(frozen=True)
class Paces:
    """The paces of people by rater; whoever is below ``mark`` seconds is hasty."""

    by_rater: dict[int, Pace]
    mark: float | None

    def of(self, rater_id: int | None) -> Pace:
        """Of somebody who did nothing, too."""
        return self.by_rater.get(rater_id or 0, Pace())


def paces_of(round_: Any, raters: Iterable[int] | None = None) -> Paces:
    """Of everybody, or of some raters: one query."""
    kind, own = kind_of(round_), defaultdict(list)
    for rater, seconds, is_skip in kind.times(round_, raters):
        own[rater].append((seconds, is_skip))
    times = {rater: [each for each, _skip in rows if each] for rater, rows in own.items()}
    usual = kind.expected_seconds(round_)
    if usual is None:
        everybody = [each for some in times.values() for each in some]
        usual = median(everybody) if len(times) > 1 and everybody else None
    mark = usual * HASTY_SHARE if usual else None
    return Paces({rater: _pace(round_, own[rater], times[rater], mark) for rater in own}, mark)


def skips_allowed(round_: Any, items: int) -> int | None:
    """How many of so many items somebody may skip; None where there is no limit."""
    share = round_.skip_share
    return None if share is None else max(1, floor(round(share * items, 9)))


def _pace(
    round_: Any, rows: list[tuple[Any, bool]], times: list[float], mark: float | None
) -> Pace:
    seconds = median(times) if times else None
    skipped = sum(is_skip for _seconds, is_skip in rows)
    allowed = skips_allowed(round_, len(rows))
    return Pace(
        len(rows),
        skipped,
        seconds,
        is_hasty=seconds is not None and mark is not None and seconds < mark,
        is_skipping=allowed is not None and skipped > allowed,
    )
