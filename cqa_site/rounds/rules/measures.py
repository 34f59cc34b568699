"""Measures of somebody's last answers in a round, whatever its kind."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile
from math import inf
from statistics import median
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as lazy

FAST, ONE_VALUE, SKIPS = "fast", "one_value", "skips"
FLAGGED, AGREEMENT = "flagged", "agreement"
# Windows of rules; answers that others have not decided yet count for no agreement, so that as
# many are read for it.
LEAST_WINDOW, MOST_WINDOW = 5, 100


@dataclass(frozen=True)
class RecentAnswer:
    """One answer of a person; ``seconds`` and ``agrees`` are None where unknown.

    ``agrees`` is whether most others gave the same answer.
    """

    at: datetime
    seconds: float | None
    value: Any = None
    is_skipped: bool = False
    is_flagged: bool = False
    agrees: bool | None = None


# Newest first. The value that a measure shows, and the number of answers it rests on.
Answers = Sequence[RecentAnswer]
Reading = tuple[float, int]


@dataclass(frozen=True)
class AnswerMeasure:
    """What a rule looks at: ``read`` returns None while there are too few answers.

    ``is_met`` judges value, number of answers and threshold. Without limits there is no threshold.
    """

    name: str
    title: str | Promise
    about: str | Promise
    # The sentence of a finding, with value, n and threshold.
    words: str | Promise
    window: int
    read: Callable[[Answers, int], Reading | None]
    is_met: Callable[[float, int, float], bool]
    threshold: float = 0
    limits: tuple[float, float] | None = None
    threshold_title: str | Promise = ""
    is_share: bool = False

    def shown(self, value: float) -> str:
        """Return a value with its unit."""
        if self.is_share:
            return f"{100 * value:.0f} %"
        return f"{value:.1f} s" if self.name == FAST else f"{value:g}"

    def sentence(self, value: float, n: int, threshold: float) -> str:
        """Describe the finding, with the threshold of the rule."""
        facts = {"value": self.shown(value), "n": n, "threshold": self.shown(threshold)}
        return str(self.words) % facts


def _median_seconds(answers: Answers, window: int) -> Reading | None:
    # An answer of unknown length is no sign of haste.
    times = [inf if answer.seconds is None else answer.seconds for answer in answers[:window]]
    return (median(times), window) if len(times) == window and median(times) < inf else None


def _run(is_in_run: Callable[[RecentAnswer], bool]) -> Callable[[Answers, int], Reading | None]:
    def read(answers: Answers, window: int) -> Reading | None:
        length = sum(1 for _answer in takewhile(is_in_run, answers[:window]))
        return (length, window) if len(answers) >= window else None

    return read


def _equal_values(answers: Answers, window: int) -> Reading | None:
    first = answers[0].value if answers else None
    return _run(lambda answer: not answer.is_skipped and answer.value == first)(answers, window)


def _flagged_share(answers: Answers, window: int) -> Reading | None:
    flagged = sum(answer.is_flagged for answer in answers[:window])
    return (flagged / window, window) if len(answers) >= window else None


def _agreement(answers: Answers, window: int) -> Reading | None:
    decided = [answer.agrees for answer in answers if answer.agrees is not None][:window]
    return (sum(decided) / window, window) if len(decided) == window else None


def _is_surely_below(share: float, n: int, threshold: float) -> bool:
    from cqa_site.stats.intervals import clopper_pearson_interval

    return bool(clopper_pearson_interval(round(share * n), n)[1] < threshold)


def _is_full(length: float, n: int, _threshold: float) -> bool:
    return length >= n


MEASURES = {
    measure.name: measure
    for measure in (
        AnswerMeasure(
            FAST,
            lazy("Fast answers"),
            lazy("The median active time of the last answers and skips is below the threshold."),
            lazy("Median time of the last %(n)d answers: %(value)s, below %(threshold)s."),
            window=20,
            read=_median_seconds,
            is_met=lambda value, n, threshold: value < threshold,
            threshold=3,
            limits=(0.1, 600),
            threshold_title=lazy("Threshold (seconds)"),
        ),
        AnswerMeasure(
            ONE_VALUE,
            lazy("One value"),
            lazy("The last answers are all the same, and none is a skip."),
            lazy("The last %(n)d answers are all the same."),
            window=30,
            read=_equal_values,
            is_met=_is_full,
        ),
        AnswerMeasure(
            SKIPS,
            lazy("Skips in a row"),
            lazy("The last answers are all skips."),
            lazy("The last %(n)d answers are all skips."),
            window=8,
            read=_run(lambda answer: answer.is_skipped),
            is_met=_is_full,
        ),
        AnswerMeasure(
            FLAGGED,
            lazy("Flagged answers"),
            lazy("The person flagged at least the threshold's share of the last answers."),
            lazy("Flagged %(value)s of the last %(n)d answers; the threshold is %(threshold)s."),
            window=20,
            read=_flagged_share,
            is_met=lambda value, n, threshold: value >= threshold,
            threshold=0.5,
            limits=(0.01, 1),
            threshold_title=lazy("Threshold (share, 0 to 1)"),
            is_share=True,
        ),
        AnswerMeasure(
            AGREEMENT,
            lazy("Agreement with the majority"),
            lazy(
                "Share of the last answers that equal the majority of others, where at least two "
                "others have one. Control items are left out."
            ),
            lazy(
                "Agreement with the majority of others: %(value)s of the last %(n)d answers, "
                "95 %% interval below %(threshold)s."
            ),
            window=30,
            read=_agreement,
            is_met=_is_surely_below,
            threshold=0.5,
            limits=(0.01, 1),
            threshold_title=lazy("Threshold (share, 0 to 1)"),
            is_share=True,
        ),
    )
}


@dataclass(frozen=True)
class RuleFinding:
    """A rule that somebody triggers now."""

    measure: AnswerMeasure
    action: str
    value: float
    n: int
    threshold: float

    @property
    def sentence(self) -> str:
        """What was found."""
        return self.measure.sentence(self.value, self.n, self.threshold)

    @property
    def facts(self) -> dict[str, Any]:
        """What the study's log stores of it."""
        return {
            "measure": self.measure.name,
            "window": self.n,
            "value": round(self.value, 4),
            "threshold": self.threshold,
        }


def find(rules: dict[str, Any], answers: Answers) -> list[RuleFinding]:
    """Return the rules that the answers (newest first) trigger."""
    findings = []
    for name, rule in rules.items():
        measure, threshold = MEASURES[name], rule["threshold"]
        reading = measure.read(answers, rule["window"])
        if reading and measure.is_met(*reading, threshold):
            findings.append(RuleFinding(measure, rule["action"], *reading, threshold))
    return findings


def answers_needed(rules: dict[str, Any]) -> int:
    """Return how many of the last answers the rules look at."""
    if AGREEMENT in rules:
        return MOST_WINDOW
    return max((rule["window"] for rule in rules.values()), default=0)


def share_by_chance(counts: Sequence[int], window: int) -> float:
    """Return the probability that a window has a single value, given counts of values.

    Examples
    --------
    >>> share_by_chance([3, 1], 2)
    0.625
    """
    total = sum(counts)
    return sum((count / total) ** window for count in counts) if total else 0.0
