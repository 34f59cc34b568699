"""Text and tables about judges: verdicts on replacement, consistency and preference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from benchmark.agreement.methods.figures import (
    Agreement,
    AgreementFigure,
    ReplacementVerdict,
    RuleOutcome,
    UnscoredShare,
    WinningRate,
)
from benchmark.scoring.methods import SIZES
from cqa_site.web.tables import Cell, text_of

from .snapshot import TOTAL, AgreementSelection
from .tables import AgreementTableSpec, TableParts, bounds, column_names, rater_names, with_bounds

# The verdict on judges in plain words, from the outcomes of the rules.


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
        "comes as close to the remaining people as the left-out person does, after allowing for "
        "the person's advantage (epsilon). No: more than half of the people come closer by more "
        "than epsilon. Alternative annotator test; needs 30 answers to 10 questions and 2 "
        "people, preferably 3."
    ),
    "agreement": gettext_lazy(
        "The judge's alpha with individual people minus people's own, on the answers that both "
        "scored. Yes: above −0.1. No: below −0.1. Needs 30 answers to 25 questions."
    ),
    "bias": gettext_lazy(
        "Mean difference, judge minus people. Yes: within 5 % of the maximum. No: beyond it on "
        "one side. Needs 30 answers to 10 questions."
    ),
    "unscored": gettext_lazy(
        "Replies without usable points. Yes: at most 5 %. No: more than 5 %. Exact test over "
        "answers."
    ),
    "consistency": gettext_lazy(
        "Reliability of the points that count (the mean of as many sheets as the judge gave "
        "every answer). Yes: above .8. No: below .667. Needs replicates of 30 answers to 20 "
        "questions."
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
        "Compared with at least half of the people, it comes as close to the remaining people as "
        "the left-out person does, within epsilon."
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
    ("bias", "yes"): gettext_lazy("Its mean differs from people's by at most 5 % of the maximum."),
    ("bias", "low"): gettext_lazy("It is stricter than people by over 5 % of the maximum."),
    ("bias", "high"): gettext_lazy("It is more lenient than people by over 5 % of the maximum."),
    ("bias", "not_shown"): gettext_lazy(
        "Not proven: whether its mean differs from people's by at most 5 % of the maximum."
    ),
    ("unscored", "yes"): gettext_lazy("At most 5 % of its replies have no usable points."),
    ("unscored", "no"): gettext_lazy("More than 5 % of its replies have no usable points."),
    ("unscored", "not_shown"): gettext_lazy(
        "Not proven: whether at most 5 % of its replies have no usable points."
    ),
    ("consistency", "yes"): gettext_lazy(
        "When it scores again, its points have a reliability of .8 or more."
    ),
    ("consistency", "no"): gettext_lazy(
        "When it scores again, its points have a reliability below .667."
    ),
    ("consistency", "not_shown"): gettext_lazy(
        "Not proven: whether its points have a reliability of .8 when it scores again."
    ),
}
# What decides comes first: one "no" is enough, "not proven" keeps a "yes" away.
WEIGHT = {"no": 0, "not_shown": 1, "yes": 2}
N_REASONS = 3


def reasons_of(verdict: ReplacementVerdict) -> list[dict[str, Any]]:
    """Return the three rules with most weight in the verdict, in words and numbers."""
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
        # The one rule whose no has a direction.
        result = "low" if (getattr(outcome.numbers, "value", None) or 0.0) < 0 else "high"
    return str(SAYS[rule, result])


def answer_of(figures: Agreement, judge: str) -> list[dict[str, Any]]:
    """Return one line per result with the columns (total, groups, criteria) that have it."""
    verdicts = figures.verdict[judge]
    lines = []
    for result, text in RESULTS.items():
        own = [column for column in figures.columns if verdicts[column.key].result == result]
        if own:
            lines.append({"badge": BADGES[result], "text": text, "columns": own})
    return lines


def headline(figures: Agreement, judge: str, name: str) -> str:
    """Return the answer for the total in one sentence."""
    verdict = figures.verdict[judge][TOTAL]
    if verdict.result == "yes":
        return _("Yes: for totals, %(name)s can replace a person.") % {"name": name}
    if verdict.result == "no":
        return _("No: for totals, %(name)s cannot replace a person.") % {"name": name}
    return _("Not proven: these data cannot tell whether %(name)s can replace a person.") % {
        "name": name
    }


def chance_of(figures: Agreement, judge: str) -> str:
    """Return a warning that totals may be guessed, where the judge's alpha does not exclude it."""
    beside = figures.with_people.get(judge, {}).get(TOTAL)
    figure = beside.alpha_interval if beside is not None else None
    if figure is None or figure.value is None:
        return ""
    if figure.value > 0 and (figure.low is None or figure.low > 0):
        return ""
    text = _(
        "It is not proven to score above chance level: guessing gives 0, and alpha with people "
        "is %s."
    )
    return text % _estimate(figure)


def missing_of(verdict: ReplacementVerdict) -> list[str]:
    """Return the data still needed to decide the undecided rules."""
    needed: dict[str, int] = {}
    for rule in verdict.rules.values():
        for name, number in rule.missing.items():
            needed[name] = max(needed.get(name, 0), number)
    return [_needed(name, number) for name, number in needed.items()]


def numbers_of(rule: str, outcome: RuleOutcome) -> str:
    """Return the numbers behind one rule's outcome as text."""
    numbers = outcome.numbers
    if isinstance(numbers, AgreementFigure):
        if rule == "agreement":
            return _("difference of alphas %s") % _estimate(numbers)
        return _("bias, as a share of the maximum: %s") % _estimate(numbers, percent=True)
    if isinstance(numbers, UnscoredShare):
        return _("%(n)d of %(all)d") % {"n": numbers.unscored, "all": numbers.sheets}
    if isinstance(numbers, WinningRate):
        if numbers.omega is None:
            return outcome.reason
        return _("winning rate %(omega).2f, advantage %(rho).3f, n %(n)d") % vars(numbers)
    if numbers.value is None:
        return outcome.reason or _("it judged no answer twice")
    return _("reliability %(value).3f with %(k)g sheets each, n %(n)d") % vars(numbers)


def cautions_of(verdicts: Mapping[str, ReplacementVerdict]) -> str:
    """Return the limits of the comparison with a left-out person, each once for all columns."""
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
    unit = " %" if percent else ""
    value, *bounds = (
        "" if number is None else text_of(scale * number, places)
        for number in (figure.value, figure.low, figure.high)
    )
    between = f" [{', '.join(bounds)}]" if figure.low is not None else ""
    few = _("; a verdict needs %d") % LEAST_ITEMS if figure.n < LEAST_ITEMS else ""
    return f"{value}{unit}{between}, n {figure.n}{few}"


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


# Judges as tables: beside each other, consistency, preference, length, who may replace whom.


def _judges(figures: Agreement, choice: AgreementSelection) -> TableParts:
    columns = [_("Rank"), _("Best rank"), _("Last rank"), _("Judge"), _("Family")]
    columns += [_("Answers"), _("With people n"), *with_bounds(_("Interval alpha with people"))]
    columns += with_bounds(_("Pearson")) + with_bounds(_("Bias, points"))
    columns += [_("Advantage over a person (rho)"), *with_bounds(_("Reliability of one sheet"))]
    columns += [_("Replicates"), *with_bounds(_("Unscored"))]
    columns += [*with_bounds(_("Points per 100 characters"))]
    columns += [_("Price per 1,000"), _("Seconds per 1,000")]
    rows: list[list[Cell]] = []
    for row in figures.judges:
        cells: list[Cell] = [row.rank, row.rank_low, row.rank_high, row.name]
        cells += [row.family or _("unknown"), row.answers, row.agreement.n]
        cells += [*bounds(row.agreement), *bounds(row.pearson), *bounds(row.bias)]
        cells += [row.rho, *bounds(row.consistency), row.replicates]
        cells += [*bounds(row.unscored), *bounds(row.length_slope), row.cost, row.seconds]
        rows.append(cells)
    return columns, rows


def _consistency(figures: Agreement, choice: AgreementSelection) -> TableParts:
    names = rater_names(figures)
    columns = [_("Rater"), _("Answers with several sheets"), _("Sheets each"), _("All the same")]
    columns += [*with_bounds(_("Reliability of one sheet")), _("Variance between answers")]
    columns += [_("Variance between sheets of one answer"), _("Remark")]
    rows: list[list[Cell]] = []
    for key, consistency in figures.consistency.items():
        own = consistency.columns[choice.column]
        if own.n:
            row: list[Cell] = [names[key], own.n, _whole(consistency.replicates), own.exact]
            row += [*bounds(own.reliability), own.between, own.within]
            rows.append([*row, own.reliability.reason or ""])
    return columns, rows


def _whole(k: float | None) -> float | None:
    return k if k is None or k % 1 else int(k)


def _replicates(figures: Agreement, choice: AgreementSelection) -> TableParts:
    """Return one row per rater: the reliability of the mean of k sheets, for the listed sizes."""
    names = rater_names(figures)
    columns = [_("Rater"), _("Sheets each")]
    columns += [_("Reliability of %d") % k for k in SIZES]
    columns += [_("Error of %d, points") % k for k in SIZES]
    rows: list[list[Cell]] = []
    for key, consistency in figures.consistency.items():
        curve = {mean_of.k: mean_of for mean_of in consistency.columns[choice.column].curve}
        if curve:
            row: list[Cell] = [names[key], _whole(consistency.replicates)]
            row += [curve[k].reliability for k in SIZES]
            rows.append([*row, *(curve[k].error for k in SIZES)])
    return columns, rows


def _preference(figures: Agreement, choice: AgreementSelection) -> TableParts:
    names = rater_names(figures)
    columns = [_("Judge"), _("Family"), *with_bounds(_("Compared with people, in points"))]
    columns += [_("Answers"), _("of its family"), *with_bounds(_("Against other judges, points"))]
    columns += [_("Answers"), _("of its family"), _("Remark")]
    rows: list[list[Cell]] = []
    for preference in figures.preference:
        people, judges = preference.against_people, preference.against_judges
        row: list[Cell] = [
            names[preference.key],
            preference.family or _("unknown"),
            *bounds(people),
        ]
        row += [people.n, people.own, *bounds(judges), judges.n, judges.own]
        rows.append([*row, people.reason or judges.reason or ""])
    return columns, rows


def _length(figures: Agreement, choice: AgreementSelection) -> TableParts:
    names = rater_names(figures)
    columns = [_("Rater"), _("Answers"), "n", *with_bounds(_("Pearson"))]
    columns += [*with_bounds(_("Spearman")), *with_bounds(_("Points per 100 characters"))]
    rows: list[list[Cell]] = []
    for key, length in figures.length.items():
        length_ofs = {
            _("all answers it scored"): length.own,
            _("those also scored by people"): length.common,
        }
        for text, own in length_ofs.items():
            row: list[Cell] = [names[key], text, own.n, *bounds(own.pearson)]
            rows.append([*row, *bounds(own.spearman), *bounds(own.slope)])
    return columns, rows


def _replace(figures: Agreement, choice: AgreementSelection) -> TableParts:
    names, judges = column_names(figures), rater_names(figures)
    columns = [_("Judge"), _("Column"), _("Verdict")]
    columns += [str(title) for title in RULES.values()]
    columns += [_("Numbers")]
    rows: list[list[Cell]] = []
    for key, verdicts in figures.verdict.items():
        for column, verdict in verdicts.items():
            row: list[Cell] = [judges[key], names[column], str(RESULTS[verdict.result])]
            row += [str(RESULTS[verdict.rules[rule].result]) for rule in RULES]
            texts = [numbers_of(rule, verdict.rules[rule]) for rule in RULES]
            rows.append([*row, "; ".join(text for text in texts if text)])
    return columns, rows


TWICE = gettext_lazy(
    "A rater must score answers twice: set replicates in a run, or blind repeats in a round."
)
RUNS = ("scoring_runs", gettext_lazy("Scores by judges"))
JUDGE_TABLES: dict[str, AgreementTableSpec] = {
    "judges": AgreementTableSpec(
        gettext_lazy("Comparison of judges"),
        gettext_lazy(
            "Sorted by the interval alpha of totals between each judge and individual people. A "
            "rank range contains every rank that the tests allow: paired differences of alphas "
            "over questions, all pairs of judges, Holm. Pearson and bias (mean difference, judge "
            "minus people) compare with the mean of people. rho: how often the judge comes at "
            "least as close to the other people as the left-out person does. Reliability: share "
            "of the variance of totals that lies between answers, from replicates. Price and "
            "time cover every attempt, for 1,000 scored answers, where calls from this site "
            "recorded them. The chart shows at most the 12 best judges."
        ),
        _judges,
        gettext_lazy("No judge has scored any of these answers."),
        RUNS,
    ),
    "consistency": AgreementTableSpec(
        gettext_lazy("Self-consistency"),
        gettext_lazy(
            "Several sheets by one rater for one answer: blind repeats by people, replicates by "
            "judges. One-way random effects; intervals leave out one question at a time and need "
            "at least 20 questions. Raters who never scored an answer twice are left out."
        ),
        _consistency,
        TWICE,
        RUNS,
    ),
    "replicates": AgreementTableSpec(
        gettext_lazy("Gain from more sheets per answer"),
        gettext_lazy(
            "Reliability of the mean of 1 to 10 sheets by the Spearman–Brown formula, and the "
            "standard error of one answer's mean: the square root of the variance between its "
            "sheets divided by their number."
        ),
        _replicates,
        TWICE,
        RUNS,
    ),
    "preference": AgreementTableSpec(
        gettext_lazy("Preference for its own family"),
        gettext_lazy(
            "Totals of the judge minus those of people (or of judges from other families) on the "
            "same answers: the mean on answers of its family minus the mean on all others, so "
            "that leniency alone gives 0. Intervals leave out one question at a time and need at "
            "least 10 questions. Families are taken from names."
        ),
        _preference,
        gettext_lazy("A judge must score answers of its own family and of others."),
        RUNS,
    ),
    "length": AgreementTableSpec(
        gettext_lazy("Scores and length"),
        gettext_lazy(
            "Totals against the answer's length in characters. The slope compares answers to the "
            "same question. Intervals leave out questions."
        ),
        _length,
        gettext_lazy("A rater must score two answers to the same question."),
    ),
    "replace": AgreementTableSpec(
        gettext_lazy("Which judges can replace people"),
        gettext_lazy(
            "Yes if every rule says yes, no if any rule says no; anything else is not proven. "
            "The tests for “no” are corrected for the number of rules and columns. The page "
            "lists the rules."
        ),
        _replace,
    ),
}
