"""Text and tables about judges: verdicts on replacement, consistency and preference."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from benchmark.agreement.methods.figures import (
    Agreement,
    AgreementFigure,
    ReplacementVerdict,
    RuleOutcome,
    UnscoredShare,
    WinningRate,
)
from benchmark.scoring.methods import SIZES
from cqa_site.results.figures import Column, EstimateColumn, FigureTable, TextColumn
from cqa_site.web.tables import interval_text, text_of
from .snapshot import TOTAL, AgreementSelection
from .tables import column_names, rater_names

RESULTS = {"yes": lazy("yes"), "not_shown": lazy("not proven"), "no": lazy("no")}
BADGES = {"yes": "good", "not_shown": "warn", "no": "bad"}
RULES = {
    "alternative": lazy("As close as a person"),
    "agreement": lazy("Agreement within .1"),
    "bias": lazy("Mean within 5 %"),
    "unscored": lazy("At most 5 % unscored"),
    "consistency": lazy("Reliability of .8"),
}
RULE_TEXTS = {
    "alternative": lazy(
        "One person is left out at a time. Yes: against at least half of the people, the judge "
        "comes as close to the remaining people as the left-out person does, after allowing for "
        "the person's advantage (epsilon). No: more than half of the people come closer by more "
        "than epsilon. Alternative annotator test; needs 2 people, preferably 3, and 30 answers "
        "to 10 questions."
    ),
    "agreement": lazy(
        "The judge's alpha with individual people minus people's own, on the answers that both "
        "scored. Yes: above −0.1. No: below −0.1. Needs 30 answers to 25 questions."
    ),
    "bias": lazy(
        "Mean difference, judge minus people. Yes: within 5 % of the maximum. No: outside that "
        "range on one side. Needs 30 answers to 10 questions."
    ),
    "unscored": lazy(
        "Replies without usable points. Yes: at most 5 %. No: more than 5 %. Exact test over "
        "answers."
    ),
    "consistency": lazy(
        "Reliability of the points that count (means over the number of sheets that "
        "the judge gave every answer). Yes: above .8. No: below .667. Needs "
        "replicates of 30 answers to 20 questions."
    ),
}
SOURCES = {
    "alternative": lazy("Calderon, Reichart and Dror 2025; Benjamini and Heller 2008"),
    "agreement": lazy("non-inferiority, Westlake 1972; Krippendorff 2011"),
    "bias": lazy("equivalence, Westlake 1972"),
    "unscored": lazy("Clopper and Pearson 1934; coverage as on leaderboards"),
    "consistency": lazy("Spearman and Brown 1910; Krippendorff's thresholds of .8 and .667"),
}

# Plain sentences on the result of a rule, for readers who do not know the rules.
SAYS = {
    ("alternative", "yes"): lazy(
        "Compared with at least half of the people, it comes as close to the remaining people as "
        "the left-out person does, within epsilon."
    ),
    ("alternative", "no"): lazy(
        "More than half of the people come closer to the others than it does, by more than "
        "epsilon."
    ),
    ("alternative", "not_shown"): lazy(
        "The data do not show that it comes as close to the others as a person does."
    ),
    ("agreement", "yes"): lazy("Its alpha with people is no more than .1 below people's own."),
    ("agreement", "no"): lazy("Its alpha with people is more than .1 below people's own."),
    ("agreement", "not_shown"): lazy(
        "The data do not show that its alpha with people is within .1 of people's own."
    ),
    ("bias", "yes"): lazy("Its mean differs from people's by at most 5 % of the maximum."),
    ("bias", "low"): lazy("It is stricter than people by over 5 % of the maximum."),
    ("bias", "high"): lazy("It is more lenient than people by over 5 % of the maximum."),
    ("bias", "not_shown"): lazy(
        "The data do not show that its mean differs from people's by at most 5 % of the maximum."
    ),
    ("unscored", "yes"): lazy("At most 5 % of its replies have no usable points."),
    ("unscored", "no"): lazy("More than 5 % of its replies have no usable points."),
    ("unscored", "not_shown"): lazy(
        "The data do not show that at most 5 % of its replies have no usable points."
    ),
    ("consistency", "yes"): lazy(
        "When it scores again, its points have a reliability of .8 or more."
    ),
    ("consistency", "no"): lazy("When it scores again, its points have a reliability below .667."),
    ("consistency", "not_shown"): lazy(
        "The data do not show that its points have a reliability of .8 when it scores again."
    ),
}
# The deciding results are first: one "no" is enough, and one "not proven" rules out a "yes".
WEIGHT = {"no": 0, "not_shown": 1, "yes": 2}
N_REASONS = 3


def reasons_of(verdict: ReplacementVerdict) -> list[dict[str, Any]]:
    """Return the three rules that weigh most in the verdict, as text with numbers."""
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


def _says(rule: str, outcome: RuleOutcome) -> str:
    result: str = outcome.result
    if (rule, result) == ("bias", "no"):
        # Only the "no" of this rule has a direction.
        result = "low" if (getattr(outcome.numbers, "value", None) or 0.0) < 0 else "high"
    return str(SAYS[rule, result])


def answer_of(figures: Agreement, judge: str) -> list[dict[str, Any]]:
    """Return one line for each result, with its columns (total, groups, criteria)."""
    verdicts = figures.verdict[judge]
    lines = []
    for result, text in RESULTS.items():
        own = [column for column in figures.columns if verdicts[column.key].result == result]
        if own:
            lines.append({"badge": BADGES[result], "text": text, "columns": own})
    return lines


def headline(figures: Agreement, judge: str, name: str) -> str:
    """Return the verdict on totals in one sentence."""
    verdict = figures.verdict[judge][TOTAL]
    if verdict.result == "yes":
        return _("Yes: for totals, %(name)s can replace a person.") % {"name": name}
    if verdict.result == "no":
        return _("No: for totals, %(name)s cannot replace a person.") % {"name": name}
    return _("Not proven: these data cannot tell whether %(name)s can replace a person.") % {
        "name": name
    }


def chance_of(figures: Agreement, judge: str) -> str:
    """Return a warning if the judge's alpha does not rule out that its totals are guesses."""
    beside = figures.with_people.get(judge, {}).get(TOTAL)
    figure = beside.alpha_interval if beside is not None else None
    if figure is None or figure.value is None:
        return ""
    if figure.value > 0 and (figure.low is None or figure.low > 0):
        return ""
    text = _(
        "The data do not show that it scores better than chance: guessing gives an "
        "alpha of 0, and its alpha with people is %s."
    )
    return text % _estimate(figure)


def missing_of(verdict: ReplacementVerdict) -> list[str]:
    """Return the data that the undecided rules still need."""
    needed: dict[str, int] = {}
    for rule in verdict.rules.values():
        for name, number in rule.missing.items():
            needed[name] = max(needed.get(name, 0), number)
    return [_needed(name, number) for name, number in needed.items()]


def numbers_of(rule: str, outcome: RuleOutcome) -> str:
    numbers = outcome.numbers
    if isinstance(numbers, AgreementFigure):
        if rule == "agreement":
            return _("difference between alphas %s") % _estimate(numbers)
        return _("bias, as a share of the maximum: %s") % _estimate(numbers, percent=True)
    if isinstance(numbers, UnscoredShare):
        return _("%(n)d of %(all)d") % {"n": numbers.unscored, "all": numbers.sheets}
    if isinstance(numbers, WinningRate):
        if numbers.omega is None:
            return outcome.reason
        return _("winning rate %(omega).2f, advantage %(rho).3f, n %(n)d") % vars(numbers)
    if numbers.value is None:
        return outcome.reason or _("it did not judge any answer twice")
    return _("reliability %(value).3f with %(k)g sheets each, n %(n)d") % vars(numbers)


def cautions_of(verdicts: Mapping[str, ReplacementVerdict]) -> str:
    """Return the limits of the comparison with a left-out person, listing each limit once."""
    figures = (verdict.rules["alternative"].numbers for verdict in verdicts.values())
    cautions = (
        figure.caution for figure in figures if isinstance(figure, WinningRate) and figure.caution
    )
    return " ".join(f"{capfirst(caution)}." for caution in dict.fromkeys(cautions))


def _estimate(figure: AgreementFigure, *, percent: bool = False) -> str:
    from cqa_site.stats.alternative_annotator import LEAST_ITEMS

    if figure.value is None:
        return _("not defined (%(why)s)") % {"why": figure.reason or ""}
    scale, places = (100, 1) if percent else (1, 3)
    value = text_of(float(scale * figure.value), places) + (" %" if percent else "")
    text = f"{value} {interval_text(figure, places, scale)}".rstrip()
    few = _("; a verdict needs %d") % LEAST_ITEMS if figure.n < LEAST_ITEMS else ""
    return f"{text}, n {figure.n}{few}"


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
        return (
            ngettext(
                "%(n)s more reply from the judge", "%(n)s more replies from the judge", number
            )
            % n
        )
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


def _consistency(figures: Agreement, choice: AgreementSelection) -> list[tuple[Any, ...]]:
    """Return (name, sheets per answer, consistency) for raters who scored an answer twice."""
    names = rater_names(figures)
    own = {key: rater.columns[choice.column] for key, rater in figures.consistency.items()}
    return [
        (names[key], _whole(rater.replicates), own[key])
        for key, rater in figures.consistency.items()
        if own[key].n
    ]


def _whole(k: float | None) -> float | None:
    return k if k is None or k % 1 else int(k)


def _replicates(figures: Agreement, choice: AgreementSelection) -> list[tuple[Any, ...]]:
    """Return (name, sheets per answer, figures by k for the mean of k sheets)."""
    rows = _consistency(figures, choice)
    return [
        (name, sheets, {f"k{mean_of.k:g}": mean_of for mean_of in own.curve})
        for name, sheets, own in rows
        if own.curve
    ]


def _length(figures: Agreement, choice: AgreementSelection) -> list[tuple[Any, ...]]:
    names = rater_names(figures)
    every, common = _("all scored answers"), _("answers also scored by people")
    return [
        (names[key], text, own)
        for key, length in figures.length.items()
        for text, own in ((every, length.own), (common, length.common))
    ]


def _replace(figures: Agreement, choice: AgreementSelection) -> list[tuple[Any, ...]]:
    names, judges = column_names(figures), rater_names(figures)
    return [
        (judges[key], names[column], verdict)
        for key, verdicts in figures.verdict.items()
        for column, verdict in verdicts.items()
    ]


def _rule_result(rule: str, row: tuple[Any, ...]) -> str:
    return str(RESULTS[row[2].rules[rule].result])


def _numbers(row: tuple[Any, ...]) -> str:
    texts = (numbers_of(rule, row[2].rules[rule]) for rule in RULES)
    return "; ".join(text for text in texts if text)


def _family(row: Any) -> str:
    return row.family or _("unknown")


def _own_family(title: Any, path: str) -> list[Column]:
    return [
        EstimateColumn(title, path),
        Column(lazy("Answers"), f"{path}.n"),
        Column(lazy("Answers of its own family"), f"{path}.own"),
    ]


TWICE = lazy(
    "A rater must score answers twice: set replicates in a run, or blind repeats in a round."
)
RUNS = ("scoring_runs", lazy("Scores by judges"))
JUDGE_TABLES: dict[str, FigureTable] = {
    "judges": FigureTable(
        lazy("Comparison of judges"),
        lazy(
            "Sorted by the interval alpha of totals between each judge and individual "
            "people. A rank range contains every rank that the tests allow: paired "
            "differences of alphas over questions, all pairs of judges, Holm. Pearson and "
            "bias (mean difference, judge minus people) are computed against people's "
            "mean. rho: how often the judge comes at least as close to the other people "
            "as the left-out person does. Reliability: share of the variance of totals "
            "that lies between answers, from replicates. Price and time cover every "
            "attempt, for 1,000 scored answers, if calls on this site recorded them. The "
            "chart shows at most the 12 best judges."
        ),
        (
            Column(lazy("Rank"), "rank"),
            Column(lazy("Best rank"), "rank_low"),
            Column(lazy("Last rank"), "rank_high"),
            Column(lazy("Judge"), "name"),
            Column(lazy("Family"), _family),
            Column(lazy("Answers"), "answers"),
            Column(lazy("n with people"), "agreement.n"),
            EstimateColumn(lazy("Interval alpha with people"), "agreement"),
            EstimateColumn(lazy("Pearson"), "pearson"),
            EstimateColumn(lazy("Bias, points"), "bias"),
            Column(lazy("Advantage over a person (rho)"), "rho"),
            EstimateColumn(lazy("Reliability of one sheet"), "consistency"),
            Column(lazy("Replicates"), "replicates"),
            EstimateColumn(lazy("Unscored"), "unscored"),
            EstimateColumn(lazy("Points per 100 characters"), "length_slope"),
            Column(lazy("Price per 1,000 answers"), "cost"),
            Column(lazy("Seconds per 1,000 answers"), "seconds"),
        ),
        "judges",
        lazy("No judge has scored any of these answers."),
        RUNS,
    ),
    "consistency": FigureTable(
        lazy("Self-consistency"),
        lazy(
            "Several sheets by one rater for one answer: blind repeats by people, replicates by "
            "judges. One-way random effects; intervals leave out one question at a time and need "
            "at least 20 questions. Raters who never scored an answer twice are left out."
        ),
        (
            Column(lazy("Rater"), "0"),
            Column(lazy("Answers with several sheets"), "2.n"),
            Column(lazy("Sheets per answer"), "1"),
            Column(lazy("Identical points"), "2.exact"),
            EstimateColumn(lazy("Reliability of one sheet"), "2.reliability"),
            Column(lazy("Variance between answers"), "2.between"),
            Column(lazy("Variance between sheets of one answer"), "2.within"),
            TextColumn(lazy("Remark"), "2.reliability.reason"),
        ),
        _consistency,
        TWICE,
        RUNS,
    ),
    "replicates": FigureTable(
        lazy("Gain from more sheets per answer"),
        lazy(
            "Reliability of the mean of 1 to 10 sheets by the Spearman–Brown formula, and the "
            "standard error of one answer's mean: the square root of the variance between its "
            "sheets divided by their number."
        ),
        (
            Column(lazy("Rater"), "0"),
            Column(lazy("Sheets per answer"), "1"),
            *(Column(lazy("Reliability (mean of %d)") % k, f"2.k{k}.reliability") for k in SIZES),
            *(Column(lazy("Error in points (mean of %d)") % k, f"2.k{k}.error") for k in SIZES),
        ),
        _replicates,
        TWICE,
        RUNS,
    ),
    "preference": FigureTable(
        lazy("Preference for its own family"),
        lazy(
            "Totals of the judge minus those of people (or of judges from other families) on the "
            "same answers: the mean on answers of its family minus the mean on all others, so "
            "that leniency alone gives 0. Intervals leave out one question at a time and need at "
            "least 10 questions. Model families are inferred from names."
        ),
        (
            Column(lazy("Judge"), "0"),
            Column(lazy("Family"), lambda row: _family(row[1])),
            *_own_family(lazy("Compared with people, in points"), "1.against_people"),
            *_own_family(lazy("Compared with other judges, in points"), "1.against_judges"),
            Column(
                lazy("Remark"),
                lambda row: row[1].against_people.reason or row[1].against_judges.reason or "",
            ),
        ),
        lambda figures, choice: [
            (rater_names(figures)[preference.key], preference) for preference in figures.preference
        ],
        lazy("A judge must score answers from its own model family and from other families."),
        RUNS,
    ),
    "length": FigureTable(
        lazy("Scores and length"),
        lazy(
            "Totals against the answer's length in characters. The slope compares answers to the "
            "same question. Intervals leave out one question at a time."
        ),
        (
            Column(lazy("Rater"), "0"),
            Column(lazy("Answers"), "1"),
            Column("n", "2.n"),
            EstimateColumn(lazy("Pearson"), "2.pearson"),
            EstimateColumn(lazy("Spearman"), "2.spearman"),
            EstimateColumn(lazy("Points per 100 characters"), "2.slope"),
        ),
        _length,
        lazy("A rater must score two answers to the same question."),
    ),
    "replace": FigureTable(
        lazy("Can judges replace people?"),
        lazy(
            "“Yes” if the result of every rule is yes, “no” if the result of any rule is "
            "no, and otherwise “not proven”. The tests for “no” are corrected for the "
            "number of rules and columns. The page lists the rules."
        ),
        (
            Column(lazy("Judge"), "0"),
            Column(lazy("Column"), "1"),
            Column(lazy("Verdict"), lambda row: str(RESULTS[row[2].result])),
            *(Column(title, partial(_rule_result, rule)) for rule, title in RULES.items()),
            Column(lazy("Numbers"), _numbers),
        ),
        _replace,
    ),
}
