"""May a judge take the place of people, and for which criteria? The rules, in one place.

| rule | yes | no | source |
|---|---|---|---|
| alternative | winning rate of .5 or more at epsilon | below .5 | Calderon et al. (2025) |
| agreement | alpha with people minus people's own, same answers: whole interval above -.1 | whole
  interval below -.1 | non-inferiority by interval inclusion (Westlake 1972) |
| bias | whole interval within 5 % of the maximum | whole interval outside | equivalence test by
  interval inclusion (Westlake 1972) |
| unscored | upper bound of the share at most 5 % | lower bound above 5 % | 95 % coverage, as for
  boards |
| consistency | reliability of what counts at .8 or more | below .667 | Krippendorff's marks for
  firm and for tentative conclusions |

One "no" makes the verdict no; yes needs a yes from every rule; anything else is "not proven",
with what is missing. "Not proven" is no weak yes: it says that these data cannot tell.
"""

from __future__ import annotations

import math
from dataclasses import replace

from cqa_site.stats.intervals import clopper_pearson_interval
from cqa_site.stats.reliability.alternative_annotator import LEAST_HUMANS, LEAST_ITEMS
from cqa_site.stats.reliability.marks import FIRM, TENTATIVE

from .figures import (
    Alternative,
    Consistency,
    Figure,
    Outcome,
    Result,
    Steadiness,
    Unscored,
    Verdict,
    Winning,
)
from .repeats import spearman_brown

RULES = ("alternative", "agreement", "bias", "unscored", "consistency")
# How much less a judge may agree with people than they with each other, in alpha.
AGREEMENT_MARGIN = 0.1
BIAS_MARGIN = 0.05
UNSCORED_MARGIN = 0.05
MOST_NEEDED = 100_000


def verdict(rules: dict[str, Outcome]) -> Verdict:
    """Join the outcomes of all rules."""
    results = [rules[rule].result for rule in RULES]
    joined: Result = "not_shown"
    if "no" in results:
        joined = "no"
    elif all(result == "yes" for result in results):
        joined = "yes"
    return Verdict(result=joined, rules=rules)


def by_alternative(test: Alternative, n_people: int) -> Outcome:
    """Rule "alternative" for one column.

    ``missing`` counts people, and answers that two people and the judge have to score.
    """
    shown = Winning(omega=test.omega, rho=test.rho, n=test.n, caution=test.caution)
    if test.passed is None:
        second = test.each[LEAST_HUMANS - 1] if len(test.each) >= LEAST_HUMANS else 0
        missing = {
            "people": max(0, LEAST_HUMANS - n_people),
            "answers": max(0, LEAST_ITEMS - second),
        }
        return _outcome("not_shown", shown, missing, test.reason)
    return _outcome("yes" if test.passed else "no", shown)


def by_agreement(difference: Figure) -> Outcome:
    """Rule "agreement": the judge's interval alpha with people minus people's own.

    On the same answers, with an interval of the difference: two intervals that overlap are no
    answer.
    """
    bounds = _bounds(difference)
    missing = {"answers": _least(difference.n)}
    # A handful of answers that people share may agree by luck: neither yes nor no.
    if bounds is None or missing["answers"]:
        return _outcome("not_shown", difference, missing, difference.reason)
    low, high = bounds
    if low >= -AGREEMENT_MARGIN:
        return _outcome("yes", difference)
    return _outcome("no" if high < -AGREEMENT_MARGIN else "not_shown", difference)


def by_bias(leniency: Figure) -> Outcome:
    """Rule "bias": mean of judge minus people as a share of the maximum."""
    bounds = _bounds(leniency)
    if bounds is None or leniency.n < LEAST_ITEMS:
        missing = {"answers": _least(leniency.n)}
        return _outcome("not_shown", leniency, missing, leniency.reason)
    low, high = bounds
    if low >= -BIAS_MARGIN and high <= BIAS_MARGIN:
        return _outcome("yes", leniency)
    if low > BIAS_MARGIN or high < -BIAS_MARGIN:
        return _outcome("no", leniency)
    room = BIAS_MARGIN - abs(leniency.value or 0.0)
    if room <= 0:
        return _outcome("not_shown", leniency)
    # An interval narrows with the root of n.
    needed = leniency.n * ((high - low) / 2 / room) ** 2
    more = min(MOST_NEEDED, max(1, math.ceil(needed) - leniency.n))
    return _outcome("not_shown", leniency, {"answers": more})


def unscored_of(unscored: int, sheets: int) -> Unscored:
    """The share of replies without usable points, with its exact interval."""
    if not sheets:
        return Unscored(unscored=unscored, sheets=sheets, value=None)
    low, high = (round(each, 6) for each in clopper_pearson_interval(unscored, sheets))
    return Unscored(unscored=unscored, sheets=sheets, value=unscored / sheets, low=low, high=high)


def by_unscored(unscored: int, sheets: int) -> Outcome:
    """Rule "unscored": replies without usable points among all that were asked for."""
    shown = unscored_of(unscored, sheets)
    if not sheets:
        return _outcome("not_shown", shown, {"replies": LEAST_ITEMS})
    low, high = clopper_pearson_interval(unscored, sheets)
    if high <= UNSCORED_MARGIN:
        return _outcome("yes", shown)
    if low > UNSCORED_MARGIN:
        return _outcome("no", shown)
    return _outcome("not_shown", shown, {"replies": _sheets_needed(unscored, sheets)})


def by_consistency(repeats: Consistency, column: str) -> Outcome:
    """Rule "consistency": reliability of the points that count.

    That is the mean of as many sheets as answers have throughout: replicates of a few answers
    tell how steady one sheet is, and do not make the single sheets of all others steadier.
    """
    split, k = repeats.columns[column], repeats.each
    single = split.reliability.value
    shown = Steadiness(n=split.n, exact=split.exact, single=single, k=k, value=None)
    if split.n < LEAST_ITEMS:
        return _outcome("not_shown", shown, {"repeated": LEAST_ITEMS - split.n})
    if split.exact == 1:
        return _outcome("yes", replace(shown, value=1.0))
    if single is None or k is None:
        return _outcome("not_shown", shown, None, split.reliability.reason)
    value = spearman_brown(single, k)
    shown = replace(shown, value=round(value, 6))
    if value >= FIRM:
        return _outcome("yes", shown)
    if value < TENTATIVE:
        return _outcome("no", shown)
    return _outcome("not_shown", shown, {"replicates": _replicates_needed(single, k)})


def _outcome(
    result: Result,
    shown: Figure | Winning | Unscored | Steadiness,
    missing: dict[str, int] | None = None,
    reason: str | None = None,
) -> Outcome:
    """What a rule said; only what is missing of known sizes."""
    lacking = {name: number for name, number in (missing or {}).items() if number}
    return Outcome(result=result, numbers=shown, missing=lacking, reason=reason or "")


def _bounds(found: Figure) -> tuple[float, float] | None:
    """The interval of a figure; one that no resample changes is its own interval."""
    if found.low is not None and found.high is not None:
        return found.low, found.high
    is_certain = (found.reason or "").endswith("no spread")
    return None if found.value is None or not is_certain else (found.value, found.value)


def _least(n: int) -> int:
    return max(0, LEAST_ITEMS - n)


def _sheets_needed(unscored: int, sheets: int) -> int:
    """How many more replies would show the share, if they came out alike; 0 if none would."""
    share = unscored / sheets
    if share >= UNSCORED_MARGIN:
        return 0
    more = 1
    while more < MOST_NEEDED:
        whole = sheets + more
        if clopper_pearson_interval(round(share * whole), whole).high <= UNSCORED_MARGIN:
            return more
        more += max(1, more // 10)
    return MOST_NEEDED


def _replicates_needed(single: float, k: float) -> int:
    """How many more replicates would lift the reliability of their mean to `FIRM`."""
    needed = FIRM * (1 - single) / (single * (1 - FIRM)) if single > 0 else MOST_NEEDED
    return max(1, math.ceil(needed - k))
