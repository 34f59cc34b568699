"""Crowd participants' earnings, working time, and pay per hour."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np
from django.db import transaction
from django.utils.translation import gettext as _

from cqa_site.people.models import User
from cqa_site.stats.drift import is_below
from cqa_site.stats.estimate import Estimate
from cqa_site.stats.intervals import median_estimate
from cqa_site.stats.verdicts import RULES
from ..drafts import LONGEST_STRETCH
from ..kind import kind_of
from ..models import Participant, ParticipantLink, Round, StepResult
from ..onboarding.steps import ENDS, KINDS
from ..progress import paces_of
from .participants import participants_of, record_link

# Time worked is the stored active time of everything served, plus the time from opening a step to
# answering it. As for drafts of sheets, at most `LONGEST_STRETCH` seconds without any activity
# count as work.

ENDED = Participant.Outcome
# Outcomes other than completion that can have their own pay.
PAID_OUTCOMES = (
    ENDED.SCREENED_OUT,
    ENDED.FAILED_CHECK,
    ENDED.NOT_QUALIFIED,
    ENDED.DECLINED,
    ENDED.SKIPS,
    ENDED.STOPPED,
    ENDED.NO_WORK,
    ENDED.FAULT,
)
WORK, START = "work", "start"
# Outcomes from which the last step of a person cannot be inferred.
LEFT = (ENDED.RETURNED, ENDED.TIMED_OUT, ENDED.STOPPED, ENDED.WITHDRAWN)
BELOW = RULES["median below a floor"]
CENT = Decimal("0.01")


@dataclass
class Earning:
    """One participant's work, time and pay; the key `WORK` in ``seconds`` is for the items."""

    participant: Participant
    items: int = 0
    seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @property
    def worked(self) -> float:
        """Total seconds in all steps and on all items."""
        return sum(self.seconds.values())

    @property
    def pay(self) -> Decimal | None:
        """Pay for the outcome; None if it is not set or the person is still working."""
        return self.participant.link.pay_of(self.participant.outcome)

    @property
    def bonus(self) -> Decimal:
        is_complete = self.participant.outcome == ENDED.COMPLETED
        each_item = self.participant.link.item_bonus
        return each_item * self.items if is_complete and each_item else Decimal()

    @property
    def total(self) -> Decimal | None:
        return None if self.pay is None else self.pay + self.bonus

    @property
    def hourly(self) -> float | None:
        """Pay per hour worked; None if no pay is set or no time was recorded."""
        if self.total is None or not self.worked:
            return None
        return float(self.total) * 3600 / self.worked

    @property
    def last_step(self) -> str:
        """The step that ended the participation, or `WORK`; for people who left, the last step."""
        outcome, ends = self.participant.outcome, {end: step for step, end in ENDS.items()}
        if outcome in LEFT and not self.items and WORK not in self.seconds:
            return next(reversed(self.seconds), START)
        return ends.get(outcome, WORK)


@dataclass(frozen=True)
class StepPay:
    """Time spent in a step or at work, and the number and pay of people who ended there."""

    step: str
    people: int
    minutes: float | None
    ended: int
    earned: Decimal


@dataclass(frozen=True)
class PaySummary:
    """The pay of one link's participants, compared with the link's hourly floor."""

    link: ParticipantLink
    earnings: list[Earning]

    @cached_property
    def rated(self) -> list[Earning]:
        return [
            earning
            for earning in self.earnings
            if earning.participant.outcome == ENDED.COMPLETED and earning.hourly is not None
        ]

    @cached_property
    def median(self) -> Estimate:
        recipe = _("Reward and bonus of each completed participation, per hour of stored time.")
        rates = np.array([earning.hourly for earning in self.rated], dtype=float)
        return median_estimate(rates, recipe, unit="participants who completed the work")

    @property
    def is_below(self) -> bool:
        """Whether there are enough rated participations, and their median is below the floor."""
        floor, median = self.link.hourly_floor, self.median.value
        if floor is None or median is None or not BELOW.allows(len(self.rated)):
            return False
        return median < float(floor)

    @property
    def n_reached(self) -> int:
        """Number of completed participations whose hourly pay reaches the floor."""
        floor = float(self.link.hourly_floor or 0)
        return sum((earning.hourly or 0) >= floor for earning in self.rated)

    @property
    def is_shown_below(self) -> bool:
        """Whether the median is significantly below the floor, despite repeated testing."""
        return self.is_below and is_below(self.n_reached, len(self.rated), 0.5)

    @cached_property
    def mending(self) -> tuple[Decimal, float]:
        """The lowest reward with which the median meets the floor, and that median.

        Times and bonuses stay the same. Raises TypeError if no floor is set.
        """
        hours = np.array([earning.worked for earning in self.rated]) / 3600
        bonuses = np.array([float(earning.bonus) for earning in self.rated])
        floor = float(self.link.hourly_floor)  # type: ignore[arg-type]

        def median(cents: int) -> float:
            return float(np.median((cents / 100 + bonuses) / hours))

        low, high = 0, math.ceil(100 * float(np.max(floor * hours)))
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if median(middle) >= floor else (middle + 1, high)
        return low * CENT, median(low)

    def by_step(self) -> list[StepPay]:
        """Return the steps that took time or ended a participation, followed by the items."""
        rows = []
        over = [row for row in self.earnings if row.participant.outcome != ENDED.RUNNING]
        for step in (START, *KINDS, WORK):
            times = [earning.seconds[step] for earning in self.earnings if step in earning.seconds]
            ended = [earning for earning in over if earning.last_step == step]
            earned = sum((earning.total or Decimal() for earning in ended), Decimal())
            if times or ended:
                minutes = float(np.median(times)) / 60 if times else None
                rows.append(StepPay(step, len(times), minutes, len(ended), earned))
        return rows


def earnings_of(round_: Round, **where: Any) -> list[Earning]:
    """Return the work and pay of a round's participants, oldest first, in a few queries."""
    people: Any = participants_of(round_).filter(**where).order_by("pk")
    everybody = [Earning(person) for person in people]
    earnings = dict(zip([person.rater_id for person in people], everybody, strict=True))
    for rater, pace in paces_of(round_).items():
        if rater in earnings:
            earnings[rater].items = pace.done - pace.skipped
    for rater, seconds in kind_of(round_).seconds_worked(round_):
        if rater in earnings and seconds:
            earnings[rater].seconds[WORK] += float(seconds)
    steps = StepResult.objects.filter(round=round_.pk).order_by("pk")
    for rater, step, started_at, at in steps.values_list("rater", "step", "started_at", "at"):
        if rater in earnings and started_at:
            passed = max(0.0, (at - started_at).total_seconds())
            earnings[rater].seconds[step] += min(passed, LONGEST_STRETCH)
    return everybody


def summaries_of(round_: Round, links: Iterable[ParticipantLink]) -> dict[int, PaySummary]:
    """Map the primary key of each link with a floor to its pay.

    Makes no query if no link has a floor.
    """
    rated = [link for link in links if link.hourly_floor is not None]
    if not rated:
        return {}
    by_link = defaultdict(list)
    for earning in earnings_of(round_):
        by_link[earning.participant.link_id].append(earning)
    return {link.pk: PaySummary(link, by_link[link.pk]) for link in rated}


@transaction.atomic
def set_pay(*, link: ParticipantLink, actor: User, values: Mapping[str, Any]) -> None:
    """Store the pay terms of a link; confirmed payments do not change."""
    before = {name: _stored(getattr(link, name)) for name in values}
    for name, value in values.items():
        setattr(link, name, value)
    link.save(update_fields=list(values))
    after = {name: _stored(value) for name, value in values.items()}
    record_link(link, "participant_link_pay_set", actor, before=before, after=after)


def _stored(value: Any) -> Any:
    return str(value) if isinstance(value, Decimal) else value
