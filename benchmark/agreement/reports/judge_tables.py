"""Judges as tables: beside each other, consistency, preference, length, who may replace whom."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmark.agreement.methods.figures import Agreement
from benchmark.scoring.methods.sizes import SIZES
from cqa_site.web.tables import Cell

from .choice import Choice
from .tables import Built, Entry, bounds, column_names, rater_names, with_bounds
from .words import RESULTS, RULES, numbers_of


def _judges(figures: Agreement, choice: Choice) -> Built:
    columns = [_("Rank"), _("Best rank"), _("Last rank"), _("Judge"), _("Family")]
    columns += [_("Answers"), _("With people n"), *with_bounds(_("Interval alpha with people"))]
    columns += with_bounds(_("Pearson")) + with_bounds(_("Bias, points"))
    columns += [_("Advantage over a person (rho)"), *with_bounds(_("Reliability of one sheet"))]
    columns += [_("Replicates"), *with_bounds(_("Unscored"))]
    columns += [*with_bounds(_("Points per 100 characters"))]
    columns += [_("Price of 1,000"), _("Seconds for 1,000")]
    rows: list[list[Cell]] = []
    for row in figures.judges:
        made: list[Cell] = [row.rank, row.rank_low, row.rank_high, row.name]
        made += [row.family or _("unknown"), row.answers, row.agreement.n]
        made += [*bounds(row.agreement), *bounds(row.pearson), *bounds(row.bias)]
        made += [row.rho, *bounds(row.consistency), row.replicates]
        made += [*bounds(row.unscored), *bounds(row.length_slope), row.cost, row.seconds]
        rows.append(made)
    return columns, rows


def _consistency(figures: Agreement, choice: Choice) -> Built:
    names = rater_names(figures)
    columns = [_("Rater"), _("Answers with several sheets"), _("Sheets each"), _("All alike")]
    columns += [*with_bounds(_("Reliability of one sheet")), _("Variance between answers")]
    columns += [_("Variance between sheets of one answer"), _("Remark")]
    rows: list[list[Cell]] = []
    for key, found in figures.consistency.items():
        own = found.columns[choice.column]
        if own.n:
            row: list[Cell] = [names[key], own.n, _whole(found.replicates), own.exact]
            row += [*bounds(own.reliability), own.between, own.within]
            rows.append([*row, own.reliability.reason or ""])
    return columns, rows


def _whole(k: float | None) -> float | None:
    return k if k is None or k % 1 else int(k)


def _replicates(figures: Agreement, choice: Choice) -> Built:
    """One row a rater: what the mean of k sheets is worth, for the sizes that are told."""
    names = rater_names(figures)
    columns = [_("Rater"), _("Sheets each")]
    columns += [_("Reliability of %d") % k for k in SIZES]
    columns += [_("Error of %d, points") % k for k in SIZES]
    rows: list[list[Cell]] = []
    for key, found in figures.consistency.items():
        curve = {each.k: each for each in found.columns[choice.column].curve}
        if curve:
            row: list[Cell] = [names[key], _whole(found.replicates)]
            row += [curve[k].reliability for k in SIZES]
            rows.append([*row, *(curve[k].error for k in SIZES)])
    return columns, rows


def _preference(figures: Agreement, choice: Choice) -> Built:
    names = rater_names(figures)
    columns = [_("Judge"), _("Family"), *with_bounds(_("Against people, points"))]
    columns += [_("Answers"), _("of its family"), *with_bounds(_("Against other judges, points"))]
    columns += [_("Answers"), _("of its family"), _("Remark")]
    rows: list[list[Cell]] = []
    for found in figures.preference:
        people, judges = found.against_people, found.against_judges
        row: list[Cell] = [names[found.key], found.family or _("unknown"), *bounds(people)]
        row += [people.n, people.own, *bounds(judges), judges.n, judges.own]
        rows.append([*row, people.reason or judges.reason or ""])
    return columns, rows


def _length(figures: Agreement, choice: Choice) -> Built:
    names = rater_names(figures)
    columns = [_("Rater"), _("Answers"), "n", *with_bounds(_("Pearson"))]
    columns += [*with_bounds(_("Spearman")), *with_bounds(_("Points per 100 characters"))]
    rows: list[list[Cell]] = []
    for key, found in figures.length.items():
        said = {_("all it scored"): found.own, _("those people scored too"): found.common}
        for text, own in said.items():
            row: list[Cell] = [names[key], text, own.n, *bounds(own.pearson)]
            rows.append([*row, *bounds(own.spearman), *bounds(own.slope)])
    return columns, rows


def _replace(figures: Agreement, choice: Choice) -> Built:
    names, judges = column_names(figures), rater_names(figures)
    columns = [_("Judge"), _("Column"), _("Verdict")]
    columns += [str(title) for title in RULES.values()]
    columns += [_("Numbers")]
    rows: list[list[Cell]] = []
    for key, found in figures.verdict.items():
        for column, verdict in found.items():
            row: list[Cell] = [judges[key], names[column], str(RESULTS[verdict.result])]
            row += [str(RESULTS[verdict.rules[rule].result]) for rule in RULES]
            told = [numbers_of(rule, verdict.rules[rule]) for rule in RULES]
            rows.append([*row, "; ".join(each for each in told if each)])
    return columns, rows


TWICE = gettext_lazy(
    "A rater has to score answers twice: ask for replicates in a run, or for blind repeats in a "
    "round."
)
RUNS = ("scoring_runs", gettext_lazy("Scores by judges"))
JUDGE_TABLES: dict[str, Entry] = {
    "judges": Entry(
        gettext_lazy("Judges beside each other"),
        gettext_lazy(
            "Sorted by the interval alpha of totals between each judge and single people. A "
            "range of ranks holds every place that the tests allow: paired differences of alphas "
            "over questions, all pairs of judges, Holm. Pearson and bias (mean "
            "of judge minus people) are with the mean of people. rho: how often the judge comes "
            "at least as close to the other people as the person left out. Reliability: share of "
            "the variance of totals that lies between answers, from replicates. "
            "Price and time cover every attempt, for 1,000 answers scored, where calls of this "
            "site gave them. The chart shows 12 judges at most, the best ones."
        ),
        _judges,
        gettext_lazy("No judge has scored any of these answers."),
        RUNS,
    ),
    "consistency": Entry(
        gettext_lazy("Self-consistency"),
        gettext_lazy(
            "Several sheets by one rater for one answer: blind repeats of people, replicates of "
            "judges. One-way random effects; intervals leave out questions, 20 at least. "
            "Who never scored an answer twice is left out."
        ),
        _consistency,
        TWICE,
        RUNS,
    ),
    "replicates": Entry(
        gettext_lazy("What more sheets of each answer would buy"),
        gettext_lazy(
            "Reliability of the mean of 1 to 10 sheets after Spearman and Brown, and the standard "
            "error of one answer's mean: the root of the variance between its sheets by their "
            "number."
        ),
        _replicates,
        TWICE,
        RUNS,
    ),
    "preference": Entry(
        gettext_lazy("Does a judge favour its own family?"),
        gettext_lazy(
            "Totals of the judge minus those of people (or of judges from other families) on the "
            "same answers: the mean on answers of its family minus the mean on all others, so "
            "that leniency alone is 0. Intervals leave out questions, 10 at least. Families come "
            "from names."
        ),
        _preference,
        gettext_lazy("A judge has to score answers of its own family and of others."),
        RUNS,
    ),
    "length": Entry(
        gettext_lazy("Scores and length"),
        gettext_lazy(
            "Totals against characters of the answer. The slope compares answers to the same "
            "question. Intervals leave out questions."
        ),
        _length,
        gettext_lazy("Somebody has to score two answers to one question."),
    ),
    "replace": Entry(
        gettext_lazy("Who may replace people, and where"),
        gettext_lazy(
            "Yes needs a yes of every rule, one no is enough for no; anything else is not proven. "
            "The tests of no are corrected over rules and columns. The rules stand on the page."
        ),
        _replace,
    ),
}
