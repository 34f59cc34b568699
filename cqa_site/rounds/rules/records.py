"""A person's record on hidden control items, for rounds of every kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

if TYPE_CHECKING:
    from cqa_site.stats.drift import AccuracyChart, AccuracyFall


@dataclass(frozen=True)
class ControlRecord:
    """Whether each answer to a control item was right, in the order in which items were served.

    The chart leaves out the first ``start`` answers, which were given before the steps were last
    passed or an action was last undone.
    """

    answers: tuple[bool, ...] = ()
    start: int = 0

    @property
    def right(self) -> int:
        """Number of right answers."""
        return sum(self.answers)

    @property
    def n(self) -> int:
        """Number of answers."""
        return len(self.answers)

    @property
    def right_of_n(self) -> str:
        """The number of right answers and the number of answers, as text."""
        return _("%(right)d of %(n)d") % {"right": self.right, "n": self.n}

    @property
    def accuracy(self) -> float | None:
        """Share of right answers; None if there are no answers."""
        return self.right / self.n if self.n else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Exact 95 % interval (Clopper–Pearson) of the accuracy."""
        return _interval(self.right, self.n) if self.n else None

    @property
    def recent(self) -> ControlRecord:
        """The answers after the first ``start`` answers."""
        return ControlRecord(self.answers[self.start :])

    def is_below(self, mark: float) -> bool:
        """Whether the interval is below the mark, for a single check (rule "below a mark")."""
        return self.interval is not None and self.interval[1] < mark

    def is_below_at_any_look(self, mark: float) -> bool:
        """Whether the accuracy is below the mark, for repeated checks.

        Applies the rule "below a mark at any look".
        """
        from cqa_site.stats.drift import is_below

        return is_below(self.right, self.n, mark)

    def fall_on(self, chart: AccuracyChart) -> AccuracyFall | None:
        """Return the fall in accuracy that the chart signals; None if it signals no fall."""
        from cqa_site.stats.drift import find_fall

        fall = find_fall(chart, self.recent.answers)
        if fall is None:
            return None
        return replace(fall, signal=fall.signal + self.start, start=fall.start + self.start)

    def describe(self, fall: AccuracyFall | None = None) -> str:
        """Return a text with the accuracy and the place of any signalled fall."""
        if self.interval is None:
            return _("No control item answered.")
        low, high = self.interval
        text = _(
            "Control accuracy %(right)d of %(n)d, 95 %% interval %(low).2f to %(high).2f."
        ) % {"right": self.right, "n": self.n, "low": low, "high": high}
        if fall is None:
            return text
        return (
            f"{text} {_('A fall in accuracy was signalled at control answer %d.') % fall.signal}"
        )


@lru_cache(maxsize=4_096)
def _interval(right: int, n: int) -> tuple[float, float]:
    from cqa_site.stats.intervals import clopper_pearson_interval

    low, high = clopper_pearson_interval(right, n)
    return low, high
