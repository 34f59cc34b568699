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
    Unscored,
    Verdict,
    Winning,
)
from cqa_site.web.tables import text_of

from .choice import TOTAL

RESULTS = {
    "yes": gettext_lazy("yes"),
    "not_shown": gettext_lazy("not proven"),
    "no": gettext_lazy("no"),
}
BADGES = {"yes": "good", "not_shown": "warn", "no": "bad"}
RULES = {
    "alternative": gettext_lazy("As close as a person"),
    "agreement": gettext_lazy("Agreement within .1"),
    "bias": gettext_lazy("Mean within 5 %"),
    "unscored": gettext_lazy("At most 5 % unscored"),
    "consistency": gettext_lazy("Reliability of .8"),
}
RULE_TEXTS = {
    "alternative": gettext_lazy(
        "One person is left out at a time. Yes: against at least half of the people, the judge "
        "comes as close to the remaining people as the left-out person does, after the person's "
        "edge is allowed for (epsilon). No: more than half of the people come closer by more than "
        "epsilon. Alternative annotator test; 30 answers to 10 questions and 2 people at least, 3 "
        "are advised."
    ),
    "agreement": gettext_lazy(
        "The judge's alpha with single people minus people's own, on the answers that "
        "both scored. Yes: above −0.1. No: below −0.1. 30 answers to 25 questions at least."
    ),
    "bias": gettext_lazy(
        "Mean of judge minus people. Yes: within 5 % of the maximum. No: beyond it on one side. "
        "30 answers to 10 questions at least."
    ),
    "unscored": gettext_lazy(
        "Replies without usable points. Yes: at most 5 %. No: more than 5 %. Exact test over "
        "answers."
    ),
    "consistency": gettext_lazy(
        "The reliability of the points that count (the mean of as many sheets as the judge gave "
        "an answer throughout). Yes: above .8. No: below .667. Replicates of 30 answers to 20 "
        "questions at least."
    ),
}
SOURCES = {
    "alternative": gettext_lazy("Calderon, Reichart and Dror 2025; Benjamini and Heller 2008"),
    "agreement": gettext_lazy("non-inferiority, Westlake 1972; Krippendorff 2011"),
    "bias": gettext_lazy("equivalence, Westlake 1972"),
    "unscored": gettext_lazy("Clopper and Pearson 1934; coverage as on boards"),
    "consistency": gettext_lazy("Spearman and Brown 1910; Krippendorff's marks .8 and .667"),
}

# What a rule found, by its result, for somebody who has not read the rules.
SAYS = {
    ("alternative", "yes"): gettext_lazy(
        "It comes as close to the other people as a left-out person does, within epsilon, against "
        "at least half of the people."
    ),
    ("alternative", "no"): gettext_lazy(
        "More than half of the people come closer to the others than it does, by more than "
        "epsilon."
    ),
    ("alternative", "not_shown"): gettext_lazy(
        "Not proven: whether it comes as close to the others as a person does."
    ),
    ("agreement", "yes"): gettext_lazy(
        "Its agreement with people is no more than .1 of alpha below their own."
    ),
    ("agreement", "no"): gettext_lazy(
        "Its agreement with people is more than .1 of alpha below their own."
    ),
    ("agreement", "not_shown"): gettext_lazy(
        "Not proven: whether its agreement with people is within .1 of alpha of their own."
    ),
    ("bias", "yes"): gettext_lazy("Its mean is within 5 % of the maximum of people's."),
    ("bias", "low"): gettext_lazy("It is stricter than people by over 5 % of the maximum."),
    ("bias", "high"): gettext_lazy("It is more lenient than people by over 5 % of the maximum."),
    ("bias", "not_shown"): gettext_lazy(
        "Not proven: whether its mean is within 5 % of the maximum of people's."
    ),
    ("unscored", "yes"): gettext_lazy("At most 5 % of its replies have no usable points."),
    ("unscored", "no"): gettext_lazy("More than 5 % of its replies have no usable points."),
    ("unscored", "not_shown"): gettext_lazy(
        "Not proven: whether at most 5 % of its replies have no usable points."
    ),
    ("consistency", "yes"): gettext_lazy(
        "Asked again, its points have a reliability of .8 or more."
    ),
    ("consistency", "no"): gettext_lazy("Asked again, its points have a reliability below .667."),
    ("consistency", "not_shown"): gettext_lazy(
        "Not proven: whether its points, asked again, have a reliability of .8."
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
    result: str = outcome.result
    if (rule, result) == ("bias", "no"):
        # The one rule whose no has a direction.
        result = "low" if (getattr(outcome.numbers, "value", None) or 0.0) < 0 else "high"
    return str(SAYS[rule, result])


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
        return _("Yes: for totals, %(name)s can replace a person.") % {"name": name}
    if verdict.result == "no":
        return _("No: for totals, %(name)s cannot replace a person.") % {"name": name}
    return _("Not proven: these data cannot tell whether %(name)s can replace a person.") % {
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
        "It is not proven to score above chance level: guessing gives 0, and alpha with people "
        "is %s."
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
    from cqa_site.stats.reliability.alternative_annotator import LEAST_ITEMS

    if found.value is None:
        return _("not defined (%(why)s)") % {"why": found.reason or ""}
    scale, places = (100, 1) if percent else (1, 3)
    unit = " %" if percent else ""
    value, *bounds = (
        "" if each is None else text_of(scale * each, places)
        for each in (found.value, found.low, found.high)
    )
    between = f" [{', '.join(bounds)}]" if found.low is not None else ""
    few = _("; a verdict needs %d") % LEAST_ITEMS if found.n < LEAST_ITEMS else ""
    return f"{value}{unit}{between}, n {found.n}{few}"


def _needed(name: str, number: int) -> str:
    n = {"n": f"{number:,}"}
    if name == "people":
        return ngettext("%(n)s more person", "%(n)s more people", number) % n
    if name == "answers":
        return _answers(number) % n
    if name == "questions":
        return (
            ngettext("answers to %(n)s more question", "answers to %(n)s more questions", number)
            % n
        )
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
