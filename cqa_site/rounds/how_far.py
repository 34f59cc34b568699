"""How far one person is in a round, and about how long the rest takes them.

Whatever comes to a person counts alike: a known answer hidden among others, or an item that comes
a second time, is one more to do and one more done.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from statistics import median
from typing import Any

from django.db.models import Q

from cqa_site.people.models import Rater

from .blind_order import repeats_of
from .kind import sheet_kind_of
from .models import Round, Sheet
from .slots import unseen_items, with_free_slot

# From so many on somebody's own pace says more than what the round expects.
ENOUGH = 3


@dataclass(frozen=True)
class HowFar:
    """What is done and what can still come; ``seconds`` is how long one takes, where known."""

    done: int
    left: int
    seconds: float | None = None

    @property
    def all(self) -> int:
        """Done and to come."""
        return self.done + self.left

    @property
    def minutes(self) -> int | None:
        """About how long the rest takes; None where nothing is left or nobody can say."""
        if not self.left or self.seconds is None:
            return None
        return ceil(self.left * self.seconds / 60)

    @property
    def hours(self) -> int | None:
        """As `minutes`, where these would be many."""
        return round(self.minutes / 60) if self.minutes and self.minutes > 120 else None

    def at_most(self, wanted: int | None) -> "HowFar":
        """No more than a crowd link asks for."""
        if wanted is None:
            return self
        return HowFar(self.done, max(0, min(self.left, wanted - self.done)), self.seconds)


def pace(own: Sequence[float], expected: float | None = None) -> float | None:
    """Seconds for one: somebody's own median, before there are enough what is expected.

    Examples
    --------
    >>> pace([10, 40, 12], expected=20), pace([10, 40], expected=20), pace([])
    (12, 20, None)
    """
    return median(own) if len(own) >= ENOUGH else expected or None


def how_far(round_: Any, rater: Rater, wanted: int | None = None) -> HowFar:
    """How far somebody is in a round of sheets, of which a crowd link may ask for fewer."""
    kind = sheet_kind_of(round_)
    own = kind.Sheet._default_manager.filter(round=round_.pk, rater=rater, is_example=False)
    own = own.annotate(is_changed=Q(draft__isnull=False))
    columns = (kind.subject, "replicate", "state", "is_changed", "active_seconds")
    rows = list(own.order_by("pk").values_list(*columns))
    # Of assigned work a changed sheet waits again, as everywhere.
    done = [
        seconds
        for _thing, _replicate, state, is_changed, seconds in rows
        if state == Sheet.State.SUBMITTED and not (kind.is_assigned and is_changed)
    ]
    left = len(rows) - len(done)
    if round_.state != Round.State.OPEN:
        left = 0
    elif not kind.is_assigned:
        firsts = [thing for thing, replicate, *_rest in rows if replicate == 0]
        coming = with_free_slot(round_, unseen_items(round_, firsts)).count()
        again = repeats_of(len(firsts) + coming, round_.repeat_share)
        left += coming + max(0, again - (len(rows) - len(firsts)))
    seconds = pace([each for each in done if each])
    return HowFar(len(done), left, seconds).at_most(wanted)
