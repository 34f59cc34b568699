"""Measures of a person's last answers in a round of any kind."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import inf
from statistics import mean, median
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy as lazy

from .records import ControlRecord

FAST, ONE_VALUE, SKIPS = "fast", "one_value", "skips"
FLAGGED, AGREEMENT = "flagged", "agreement"
CONTROLS, FALL = OF_CONTROLS = ("controls", "fall")
LEAST_WINDOW, MOST_WINDOW = 5, 100
PARTS = ("window", "threshold", "action")
LAST_ANSWERS, SHARE = lazy("Last answers"), lazy("Threshold (share, 0 to 1)")
NO_RECORD = ControlRecord()


@dataclass(frozen=True)
class RecentAnswer:
    """One of a person's answers; ``seconds`` and ``agrees`` are None if unknown.

    ``agrees`` is whether most other people gave the same answer.
    """

    at: datetime
    seconds: float | None
    value: Any = None
    is_skipped: bool = False
    is_flagged: bool = False
    agrees: bool | None = None


@dataclass(frozen=True)
class ControlAnswer:
    """An answer to a hidden control item; ``thing`` is the key of the item's subject."""

    at: datetime
    is_right: bool
    thing: int


@dataclass(frozen=True)
class AnswerMeasure:
    """A measure that a rule checks; ``read`` computes its value from a window of answers.

    The answers are ordered from newest to oldest. ``is_met`` takes the value, the number of
    answers and the threshold, which is fixed if ``limits`` is None. Measures for control items use
    the whole record instead; ``usual`` is the accuracy before a fall.
    """

    name: str
    title: str | Promise
    about: str | Promise
    window: int
    threshold: float
    read: Callable[[Sequence[RecentAnswer]], float] = len
    is_met: Callable[[float, int, float], bool] = lambda value, n, threshold: value >= threshold
    limits: tuple[float, float] | None = None
    threshold_title: str | Promise = SHARE
    window_title: str | Promise = LAST_ANSWERS
    usual: float | None = None

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the measure's settings in a round's rules."""
        return PARTS if self.usual is None else (*PARTS, "usual")

    def shown(self, value: float) -> str:
        """Return a value with its unit."""
        return f"{value:.1f} s" if self.name == FAST else f"{100 * value:.0f} %"


def _is_surely_below(share: float, n: int, threshold: float) -> bool:
    from cqa_site.stats.intervals import clopper_pearson_interval

    return bool(clopper_pearson_interval(round(share * n), n)[1] < threshold)


MEASURES = {
    measure.name: measure
    for measure in (
        AnswerMeasure(
            FAST,
            lazy("Fast answers"),
            lazy("The median active time of the last answers and skips is below the threshold."),
            window=20,
            threshold=3,
            # Answers with unknown times are not treated as fast.
            read=lambda last: median(
                inf if answer.seconds is None else answer.seconds for answer in last
            ),
            is_met=lambda value, n, threshold: value < threshold,
            limits=(0.1, 600),
            threshold_title=lazy("Threshold (seconds)"),
        ),
        AnswerMeasure(
            ONE_VALUE,
            lazy("One value"),
            lazy("The last answers are all the same, and none is a skip."),
            window=30,
            threshold=1,
            read=lambda last: mean(
                not answer.is_skipped and answer.value == last[0].value for answer in last
            ),
        ),
        AnswerMeasure(
            SKIPS,
            lazy("Skips in a row"),
            lazy("The last answers are all skips."),
            window=8,
            threshold=1,
            read=lambda last: mean(answer.is_skipped for answer in last),
        ),
        AnswerMeasure(
            FLAGGED,
            lazy("Flagged answers"),
            lazy("The share of flagged answers among the last answers is at least the threshold."),
            window=20,
            threshold=0.5,
            read=lambda last: mean(answer.is_flagged for answer in last),
            limits=(0.01, 1),
        ),
        AnswerMeasure(
            AGREEMENT,
            lazy("Agreement with the majority"),
            lazy(
                "The 95 % interval of the share of answers that match the majority of other "
                "people's answers is below the threshold. At least two other people must have "
                "answered; control items are left out."
            ),
            window=30,
            threshold=0.5,
            read=lambda last: mean(bool(answer.agrees) for answer in last),
            is_met=_is_surely_below,
            limits=(0.01, 1),
        ),
        AnswerMeasure(
            CONTROLS,
            lazy("Control accuracy"),
            lazy(
                "The answers to control items show an accuracy below the threshold. However "
                "often the rule checks, it triggers for at most 5 % of people who are exactly "
                "at the threshold."
            ),
            window=5,
            threshold=0.6,
            limits=(0.05, 0.99),
            window_title=lazy("Minimum number of control answers"),
        ),
        AnswerMeasure(
            FALL,
            lazy("Fall in control accuracy"),
            lazy(
                "A chart of the answers to control items (CUSUM) signals that accuracy fell to "
                "about the threshold. People with the usual accuracy get on average at most one "
                "false signal in 1,000 control answers."
            ),
            window=0,
            threshold=0.7,
            limits=(0.05, 0.94),
            threshold_title=lazy("Accuracy after a fall"),
            usual=0.9,
        ),
    )
}


@dataclass(frozen=True)
class RuleFinding:
    """A rule that a person currently triggers, with the value over the last ``n`` answers."""

    measure: AnswerMeasure
    action: str
    value: float
    n: int
    threshold: float
    detail: str = ""

    @property
    def shown(self) -> str:
        """The value with its unit."""
        return self.measure.shown(self.value)

    @property
    def sentence(self) -> str:
        """The entry for the study's log."""
        text = _("%(title)s: %(value)s (last %(n)d answers, threshold %(threshold)s).") % {
            "title": self.measure.title,
            "value": self.shown,
            "n": self.n,
            "threshold": self.measure.shown(self.threshold),
        }
        return self.detail or text


def find(
    rules: dict[str, Any], answers: Sequence[RecentAnswer], controls: ControlRecord = NO_RECORD
) -> list[RuleFinding]:
    """Return the rules that the answers (newest first) or the control answers trigger."""
    findings = []
    decided = [answer for answer in answers if answer.agrees is not None]
    # PostgreSQL does not keep the order of the names in JSON.
    for name, measure in MEASURES.items():
        if name not in rules:
            continue
        if name in OF_CONTROLS:
            findings += _find_in_controls(measure, rules[name], controls)
            continue
        window, threshold, action = (rules[name][part] for part in PARTS)
        last = (decided if name == AGREEMENT else answers)[:window]
        if len(last) == window and measure.is_met(value := measure.read(last), window, threshold):
            findings.append(RuleFinding(measure, action, value, window, threshold))
    return findings


def _find_in_controls(
    measure: AnswerMeasure, rule: dict[str, Any], controls: ControlRecord
) -> list[RuleFinding]:
    record, fall, threshold = controls.recent, None, rule["threshold"]
    if measure.name == FALL:
        from cqa_site.stats.drift import accuracy_chart

        fall = controls.fall_on(accuracy_chart(rule["usual"], threshold))
        shown = ControlRecord(controls.answers[fall.start - 1 :]) if fall else NO_RECORD
    else:
        is_met = record.n >= rule["window"] and record.is_below_at_any_look(threshold)
        shown = record if is_met else NO_RECORD
    if shown.accuracy is None:
        return []
    finding = RuleFinding(measure, rule["action"], shown.accuracy, shown.n, threshold)
    return [replace(finding, detail=record.describe(fall))]


def share_by_chance(counts: Sequence[int], window: int) -> float:
    """Return the probability that all answers in a window are the same, given value counts.

    Examples
    --------
    >>> share_by_chance([3, 1], 2)
    0.625
    """
    total = sum(counts)
    return sum((count / total) ** window for count in counts) if total else 0.0
