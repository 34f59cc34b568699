"""The verdict on judges in plain words, from the outcomes of the rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from benchmark.agreement.methods.figures import (
    Agreement,
    Figure,
    Outcome,
    TwoAlphas,
    Unscored,
    Verdict,
    Winning,
)

from .choice import TOTAL

RESULTS = {
    "yes": gettext_lazy("yes"),
    "not_shown": gettext_lazy("not proven"),
    "no": gettext_lazy("no"),
}
BADGES = {"yes": "good", "not_shown": "warn", "no": "bad"}
RULES = {
    "alternative": gettext_lazy("As close as a person"),
    "agreement": gettext_lazy("Agrees as people do"),
    "bias": gettext_lazy("Neither strict nor lenient"),
    "unscored": gettext_lazy("Hardly ever unscored"),
    "consistency": gettext_lazy("Says the same again"),
}
RULE_TEXTS = {
    "alternative": gettext_lazy(
        "One person is left out at a time. The judge has to come as close to the remaining "
        "people as that person does, after the person's edge is allowed for (epsilon), against "
        "at least half of the people. Alternative annotator test; 30 answers and 2 people at "
        "least, 3 are advised."
    ),
    "agreement": gettext_lazy(
        "The judge's alpha with single people minus people's own, on the answers that carry "
        "both: its whole 95 % interval lies above −0.1; no if all of it lies below."
    ),
    "bias": gettext_lazy(
        "The whole 95 % interval of judge minus people lies within 5 % of the most points; no "
        "if all of it lies outside."
    ),
    "unscored": gettext_lazy(
        "At most 5 % of the replies have no usable points, by the exact 95 % upper bound; no if "
        "the lower bound is above."
    ),
    "consistency": gettext_lazy(
        "The reliability of the points that count (the mean of as many sheets as the judge gave "
        "an answer throughout) is .8 or more; no below .667. Replicates of 30 answers at least."
    ),
}
SOURCES = {
    "alternative": gettext_lazy("Calderon, Reichart and Dror 2025"),
    "agreement": gettext_lazy(
        "non-inferiority by interval inclusion, Westlake 1972; Krippendorff 2011"
    ),
    "bias": gettext_lazy("equivalence by interval inclusion, Westlake 1972"),
    "unscored": gettext_lazy("Clopper and Pearson 1934; coverage as on boards"),
    "consistency": gettext_lazy("Spearman and Brown 1910; Krippendorff's marks .8 and .667"),
}


# What a rule found, by its result, for somebody who has not read the rules.
SAYS = {
    ("alternative", "yes"): gettext_lazy("It comes as close to the others as a person does."),
    ("alternative", "no"): gettext_lazy("Most people come closer to the others than it does."),
    ("alternative", "not_shown"): gettext_lazy(
        "Too few answers or people to see whether it comes as close as a person."
    ),
    ("agreement", "yes"): gettext_lazy("It agrees with people as they do with each other."),
    ("agreement", "no"): gettext_lazy("It agrees with people clearly less than they do."),
    ("agreement", "not_shown"): gettext_lazy(
        "It may agree less with people than they do: the interval does not exclude it."
    ),
    ("bias", "yes"): gettext_lazy("It is neither stricter nor more lenient than people."),
    ("unscored", "yes"): gettext_lazy("Nearly all of its replies can be used."),
    ("unscored", "no"): gettext_lazy("Too many of its replies have no usable points."),
    ("unscored", "not_shown"): gettext_lazy(
        "Too few replies to see that at most 5 % have no usable points."
    ),
    ("consistency", "yes"): gettext_lazy("Asked again, it says the same."),
    ("consistency", "no"): gettext_lazy("Asked again, it says something else too often."),
    ("consistency", "not_shown"): gettext_lazy(
        "It was not asked often enough to see whether it says the same again."
    ),
}
# The same of bias, which has a direction: below people, above them, or possibly both.
BIAS_SAYS = {
    ("no", "low"): gettext_lazy("It is stricter than people by over 5 %."),
    ("no", "high"): gettext_lazy("It is more lenient than people by over 5 %."),
    ("not_shown", "low"): gettext_lazy(
        "It may be too strict: the interval reaches more than 5 % below people."
    ),
    ("not_shown", "high"): gettext_lazy(
        "It may be too lenient: the interval reaches more than 5 % above people."
    ),
    ("not_shown", "both"): gettext_lazy(
        "It may be too strict or too lenient: the interval reaches past 5 % on both sides."
    ),
    ("not_shown", ""): gettext_lazy(
        "Too few answers to see whether it is stricter or more lenient than people."
    ),
}
# What decides comes first: one "no" is enough, "not proven" keeps a "yes" away.
WEIGHT = {"no": 0, "not_shown": 1, "yes": 2}
N_REASONS = 3


def reasons_of(verdict: Verdict) -> list[dict[str, Any]]:
    """The three rules that decide a verdict most, in words and numbers."""
    ordered = sorted(RULES, key=lambda rule: WEIGHT[verdict.rules[rule].result])
    return [
        {
            "title": RULES[rule],
            "result": RESULTS[outcome.result],
            "badge": BADGES[outcome.result],
            "says": _says(rule, outcome),
            "numbers": numbers_of(rule, outcome),
            "missing": [_needed(name, number) for name, number in outcome.missing.items()],
        }
        for rule in ordered[:N_REASONS]
        for outcome in [verdict.rules[rule]]
    ]


def _says(rule: str, outcome: Outcome) -> str:
    found = outcome.numbers
    if rule != "bias" or outcome.result == "yes" or not isinstance(found, Figure):
        return str(SAYS[rule, outcome.result])
    return str(BIAS_SAYS[outcome.result, _side(found)])


def _side(leniency: Figure) -> str:
    """Where the interval of judge minus people lies past the margin; empty where it does not."""
    from benchmark.agreement.methods.verdict import BIAS_MARGIN

    if leniency.value is None:
        return ""
    low = leniency.value if leniency.low is None else leniency.low
    high = leniency.value if leniency.high is None else leniency.high
    past = [low < -BIAS_MARGIN and "low", high > BIAS_MARGIN and "high"]
    return "both" if all(past) else next((each for each in past if each), "")


def answer_of(figures: Agreement, judge: str) -> list[dict[str, Any]]:
    """One line for each result: which columns (total, groups, criteria) have it."""
    verdicts = figures.verdict[judge]
    lines = []
    for result, text in RESULTS.items():
        own = [each for each in figures.columns if verdicts[each.key].result == result]
        if own:
            lines.append({"badge": BADGES[result], "text": text, "columns": own})
    return lines


def headline(figures: Agreement, judge: str, name: str) -> str:
    """The answer for the total in one sentence."""
    verdict = figures.verdict[judge][TOTAL]
    if verdict.result == "yes":
        return _("Yes: for totals, %(name)s may take a person's place.") % {"name": name}
    if verdict.result == "no":
        return _("No: for totals, %(name)s may not take a person's place.") % {"name": name}
    return _("Not proven: these data cannot tell whether %(name)s may take a person's place.") % {
        "name": name
    }


def chance_of(figures: Agreement, judge: str) -> str:
    """That a judge's totals may as well be guessed, where its alpha does not exclude it."""
    beside = figures.with_people.get(judge, {}).get(TOTAL)
    found = beside.alpha_interval if beside is not None else None
    if found is None or found.value is None:
        return ""
    if found.value > 0 and (found.low is None or found.low > 0):
        return ""
    text = _(
        "It is not proven to score above chance level: alpha with people %s, where guessing gives "
        "0."
    )
    return text % _estimate(found)


def missing_of(verdict: Verdict) -> list[str]:
    """What would have to be added for the rules that could not be decided."""
    needed: dict[str, int] = {}
    for rule in verdict.rules.values():
        for name, number in rule.missing.items():
            needed[name] = max(needed.get(name, 0), number)
    return [_needed(name, number) for name, number in needed.items()]


def numbers_of(rule: str, outcome: Outcome) -> str:
    """The numbers behind one rule's outcome."""
    found = outcome.numbers
    if isinstance(found, Figure):
        if rule == "agreement":
            return _("difference of alphas %s") % _estimate(found)
        return _("bias, as a share of the most points: %s") % _estimate(found, percent=True)
    if isinstance(found, TwoAlphas):
        alphas = {"people": _estimate(found.people), "judge": _estimate(found.judge)}
        return _("people %(people)s; judge %(judge)s") % alphas
    if isinstance(found, Unscored):
        return _("%(n)d of %(all)d") % {"n": found.unscored, "all": found.sheets}
    if isinstance(found, Winning):
        if found.omega is None:
            return outcome.reason
        return _("winning rate %(omega).2f, advantage %(rho).3f, n %(n)d") % vars(found)
    if found.value is None:
        return outcome.reason or _("no answer was judged twice by it")
    return _("reliability %(value).3f with %(k)g sheets each, n %(n)d") % vars(found)


def cautions_of(verdicts: Mapping[str, Verdict]) -> str:
    """What limits the comparison with a left-out person, each said once for all columns."""
    found = (verdict.rules["alternative"].numbers for verdict in verdicts.values())
    said = (each.caution for each in found if isinstance(each, Winning) and each.caution)
    return " ".join(f"{capfirst(each)}." for each in dict.fromkeys(said))


def _estimate(found: Figure, *, percent: bool = False) -> str:
    if found.value is None:
        return _("not defined (%(why)s)") % {"why": found.reason or ""}
    scale, places = (100, 1) if percent else (1, 3)
    unit = " %" if percent else ""
    value, *bounds = (
        "" if each is None else f"{scale * each:z.{places}f}".replace("-", "−")
        for each in (found.value, found.low, found.high)
    )
    between = f" [{', '.join(bounds)}]" if found.low is not None else ""
    return f"{value}{unit}{between}, n {found.n}"


def _needed(name: str, number: int) -> str:
    n = {"n": f"{number:,}"}
    if name == "people":
        return ngettext("%(n)s more person", "%(n)s more people", number) % n
    if name == "answers":
        return _answers(number) % n
    if name == "replies":
        return ngettext("%(n)s more reply", "%(n)s more replies of the judge", number) % n
    if name == "repeated":
        text = ngettext(
            "%(n)s more answer judged twice", "%(n)s more answers judged twice", number
        )
        return text % n
    more = ngettext(
        "%(n)s more replicate of each answer", "%(n)s more replicates of each answer", number
    )
    return more % n


def _answers(number: int) -> str:
    return ngettext(
        "about %(n)s more answer scored by two people and the judge",
        "about %(n)s more answers scored by two people and the judge",
        number,
    )
