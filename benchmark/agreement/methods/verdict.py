"""May a judge take the place of people, and for which criteria? The rules, in one place.

| rule | yes | no | source |
|---|---|---|---|
| alternative | as close as half of the people or more, after epsilon | farther than more than
  half of them, by more than epsilon | Calderon et al. (2025) |
| agreement | alpha with people minus people's own, same answers, above -.1 | below -.1 |
  non-inferiority (Westlake 1972) |
| bias | mean within 5 % of the maximum | outside | equivalence (Westlake 1972) |
| unscored | at most 5 % of the replies | above 5 % | 95 % coverage, as for boards |
| consistency | reliability of what counts above .8 | below .667 | Krippendorff's marks |

Each of both is a one-sided test; what neither shows is "not proven", with what would tell. One
"no" makes the verdict no, so the tests of "no" share one level: those of the total among its
rules, those of all other columns among their rules and columns. Yes needs a yes from every rule,
which needs no correction for rules (Berger 1982); rules that look at people are corrected for
the judges that are shown, because the first of them is the closest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cqa_site.stats.intervals import clopper_pearson_interval
from cqa_site.stats.one_sided_tests import MOST_NEEDED, more_needed
from cqa_site.stats.reliability.alternative_annotator import LEAST_HUMANS, LEAST_ITEMS
from cqa_site.stats.verdicts import LEVEL, corrected_level
from cqa_site.stats.verdicts import RULES as VERDICTS

from .figures import (
    UNSCORED_MARGIN,
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
from .old_verdicts import joined
from .repeats import spearman_brown

RULES = ("alternative", "agreement", "bias", "unscored", "consistency")


@dataclass(frozen=True, kw_only=True)
class Levels:
    """One-sided levels of "yes" and "no" of one column.

    ``one`` is that of "yes" for rules that do not look at people.
    """

    yes: float
    no: float
    one: float = LEVEL / 2

    @classmethod
    def of(cls, column: str, n_columns: int, n_judges: int) -> Levels:
        """Levels corrected for the columns of a page and the judges of a study."""
        others = 1 if column == "total" else n_columns - 1
        return cls(
            yes=corrected_level(LEVEL / 2, n_judges),
            no=corrected_level(LEVEL, len(RULES) * others),
        )


def verdict(rules: dict[str, Outcome]) -> Verdict:
    """Join the outcomes of all rules."""
    return Verdict(result=joined(rules), rules=rules)


def by_alternative(test: Alternative, n_people: int, levels: Levels) -> Outcome:
    """Rule "alternative" for one column; a yes needs `Alternative.passed` as well.

    ``missing`` counts people, and answers that two people and the judge have to score.
    """
    shown = Winning(omega=test.omega, rho=test.rho, n=test.n, caution=test.caution)
    if test.p_yes is None or test.p_no is None:
        second = test.each[LEAST_HUMANS - 1] if len(test.each) >= LEAST_HUMANS else 0
        missing = {
            "people": max(0, LEAST_HUMANS - n_people),
            "answers": max(0, LEAST_ITEMS - second),
        }
        if not any(missing.values()):
            missing["questions"] = max(0, VERDICTS["judge as a person"].least - test.questions)
        return _outcome("not_shown", shown, missing, test.reason)
    p_yes = test.p_yes if test.passed else max(test.p_yes, 2 * levels.yes)
    return _decided(shown, (p_yes, test.p_no), levels, test.n, test.questions)


def by_agreement(difference: Figure, levels: Levels) -> Outcome:
    """Rule "agreement": the judge's interval alpha with people minus people's own.

    On the same answers, with a test of the difference: two intervals that overlap are no answer.
    """
    return _by_figure(difference, "agreement of a judge", levels)


def by_bias(leniency: Figure, levels: Levels) -> Outcome:
    """Rule "bias": mean of judge minus people as a share of the maximum."""
    return _by_figure(leniency, "mean of a judge", levels)


def unscored_of(unscored: int, sheets: int, replicates: int = 1) -> Unscored:
    """The share of replies without usable points, with its exact interval over answers.

    Replicates of an answer may all be lost for the same reason, so they count once.
    """
    if not sheets:
        return Unscored(unscored=unscored, sheets=sheets, value=None)
    lost, n = _answers_lost(unscored, sheets, replicates)
    low, high = (round(each, 6) for each in clopper_pearson_interval(lost, n))
    return Unscored(unscored=unscored, sheets=sheets, value=unscored / sheets, low=low, high=high)


def by_unscored(unscored: int, sheets: int, levels: Levels, replicates: int = 1) -> Outcome:
    """Rule "unscored": replies without usable points among all that were asked for."""
    from scipy import special

    shown = unscored_of(unscored, sheets, replicates)
    if not sheets:
        return _outcome("not_shown", shown, {"replies": LEAST_ITEMS})
    lost, n = _answers_lost(unscored, sheets, replicates)
    p_yes = float(special.bdtr(lost, n, UNSCORED_MARGIN))
    p_no = float(special.bdtrc(lost - 1, n, UNSCORED_MARGIN)) if lost else 1.0
    if p_yes <= levels.one:
        return _outcome("yes", shown)
    if p_no <= levels.no:
        return _outcome("no", shown)
    more = replicates * _answers_needed(lost, n, levels.one)
    return _outcome("not_shown", shown, {"replies": more})


def by_consistency(repeats: Consistency, column: str, levels: Levels) -> Outcome:
    """Rule "consistency": reliability of the points that count.

    That is the mean of as many sheets as answers have throughout: replicates of a few answers
    tell how steady one sheet is, and do not make the single sheets of all others steadier.
    """
    split, k = repeats.columns[column], repeats.each
    found = split.reliability
    single = found.value
    shown = Steadiness(n=split.n, exact=split.exact, single=single, k=k, value=None)
    if single is not None and k is not None:
        shown = replace(shown, value=round(spearman_brown(single, k), 6))
    if split.n < LEAST_ITEMS:
        return _outcome("not_shown", shown, {"repeated": LEAST_ITEMS - split.n})
    outcome = _by_figure(found, "consistency of a judge", replace(levels, yes=levels.one))
    missing = {"repeated": outcome.missing.get("answers", 0), **outcome.missing}
    return _outcome(outcome.result, shown, missing | {"answers": 0}, outcome.reason)


def _by_figure(found: Figure, rule: str, levels: Levels) -> Outcome:
    if found.p_yes is None or found.p_no is None:
        missing = {"answers": max(0, LEAST_ITEMS - found.n)}
        if not any(missing.values()):
            missing["questions"] = max(0, VERDICTS[rule].least - (found.units or 0))
        return _outcome("not_shown", found, missing, found.reason)
    if found.n < LEAST_ITEMS:
        return _outcome("not_shown", found, {"answers": LEAST_ITEMS - found.n})
    return _decided(found, (found.p_yes, found.p_no), levels, found.n, found.units or 0)


def _decided(
    shown: Figure | Winning, p: tuple[float, float], levels: Levels, n: int, units: int
) -> Outcome:
    """Yes, no, or how many more answers would show the one that is nearer."""
    p_yes, p_no = p
    if p_yes <= levels.yes:
        return _outcome("yes", shown)
    if p_no <= levels.no:
        return _outcome("no", shown)
    nearer = (p_yes, levels.yes) if p_yes < p_no else (p_no, levels.no)
    return _outcome("not_shown", shown, {"answers": more_needed(n, nearer[0], units, nearer[1])})


def _outcome(
    result: Result,
    shown: Figure | Winning | Unscored | Steadiness,
    missing: dict[str, int] | None = None,
    reason: str | None = None,
) -> Outcome:
    """What a rule said; only what is missing of known sizes."""
    lacking = {name: number for name, number in (missing or {}).items() if number}
    return Outcome(result=result, numbers=shown, missing=lacking, reason=reason or "")


def _answers_lost(unscored: int, sheets: int, replicates: int) -> tuple[int, int]:
    """Replies without points and all replies, as if every answer had one."""
    n = max(1, round(sheets / replicates))
    return min(n, round(unscored * n / sheets)), n


def _answers_needed(lost: int, n: int, level: float) -> int:
    """How many more replies would show the share, if they came out alike; 0 if none would."""
    from scipy import special

    if lost >= UNSCORED_MARGIN * n:
        return 0
    more = 1
    while more < MOST_NEEDED:
        whole = n + more
        if special.bdtr(round(lost * whole / n), whole, UNSCORED_MARGIN) <= level:
            return more
        more += max(1, more // 10)
    return MOST_NEEDED
