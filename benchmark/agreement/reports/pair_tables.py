"""Agreement of every two raters as tables."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmark.agreement.methods.figures import Agreement, Concatenated, Figure
from cqa_site.web.tables import Cell

from .choice import Choice
from .tables import (
    MEASURE_NAMES,
    Built,
    Entry,
    bounds,
    column_names,
    figure_of,
    rater_names,
    value_of,
    with_bounds,
)


def _pairs(figures: Agreement, choice: Choice) -> Built:
    names, measures = rater_names(figures), [name for name in MEASURE_NAMES if name != "exact"]
    columns = [_("First"), _("Second"), "n", _("Questions"), _("Exact")]
    for name in ("bias", *measures):
        title = _("Bias, points") if name == "bias" else str(MEASURE_NAMES[name])
        columns += with_bounds(title)
    people = figures.people.columns[choice.column]
    together: list[Cell] = [_("People together"), "", people.alpha_interval.n, None, None]
    together += [None] * 3
    for name in measures:
        together += bounds(figure_of(people, name)) if name in vars(people) else [None] * 3
    rows = [together]
    for pair in figures.pairs:
        own = pair.columns[choice.column]
        row: list[Cell] = [names[pair.first], names[pair.second], own.n]
        row += [own.n_questions, own.exact]
        for name in ("bias", *measures):
            row += bounds(figure_of(own, name))
        rows.append(row)
    return columns, rows


def _criteria(figures: Agreement, choice: Choice) -> Built:
    names = rater_names(figures)
    columns = [_("First"), _("Second"), *column_names(figures).values()]
    rows: list[list[Cell]] = []
    if choice.measure.startswith("alpha"):
        people = figures.people.columns
        found = [figure_of(people[each.key], choice.measure).value for each in figures.columns]
        rows.append([_("People together"), "", *found])
    for pair in figures.pairs:
        own = [value_of(pair.columns[each.key], choice.measure) for each in figures.columns]
        rows.append([names[pair.first], names[pair.second], *own])
    return columns, rows


def _ceiling(figures: Agreement, choice: Choice) -> Built:
    """Each column: people among themselves, and the chosen judge with them."""
    judge = figures.with_people.get(choice.judge, {})
    columns = [_("Column"), *with_bounds(_("People, interval alpha")), _("Answers")]
    columns += [*with_bounds(_("Judge with people, interval alpha")), _("Answers")]
    columns += [*with_bounds(_("Difference on the same answers")), _("Answers")]
    rows: list[list[Cell]] = []
    for key, name in column_names(figures).items():
        beside = judge.get(key)
        difference = beside.difference if beside else None
        row: list[Cell] = [name, *_with_n(figures.people.columns[key].alpha_interval)]
        row += _with_n(beside.alpha_interval if beside else None)
        rows.append([*row, *_with_n(difference)])
    return columns, rows


def _with_n(found: Figure | None) -> list[Cell]:
    return [*bounds(found), found.n] if found else [None] * 4


def _concatenated(figures: Agreement, choice: Choice) -> Built:
    names = rater_names(figures)
    columns = [_("First"), _("Second"), _("Answers"), _("Alpha of all criteria")]
    columns += [_("With sheets shuffled"), _("sd"), _("Shuffles"), _("Remark")]
    rows: list[list[Cell]] = []
    for pair in figures.pairs:
        found = pair.concatenated
        shuffled: list[Cell] = [None] * 3
        if isinstance(found, Concatenated):
            shuffled = [found.shuffled, found.shuffled_sd, found.repeats]
        row: list[Cell] = [names[pair.first], names[pair.second], found.n, found.value]
        rows.append([*row, *shuffled, found.reason])
    return columns, rows


def _systems(figures: Agreement, choice: Choice) -> Built:
    names = rater_names(figures)
    columns = [_("First"), _("Second"), _("Correlation"), *with_bounds(_("Across systems"))]
    columns += [_("Systems"), *with_bounds(_("Within questions")), _("sd"), _("Questions")]
    rows = []
    for pair in figures.pairs:
        for kind, found in pair.systems.items():
            row: list[Cell] = [names[pair.first], names[pair.second], str(MEASURE_NAMES[kind])]
            row += _with_n(found.across)
            rows.append([*row, *bounds(found.within), found.within_sd, found.within.n])
    return columns, rows


def _aspect(figures: Agreement, choice: Choice) -> Built:
    names = rater_names(figures)
    columns = [_("First"), _("Second"), _("Questions"), _("Answers")]
    measures = ("alpha_interval", "pearson", "spearman", "kendall", "bias")
    for name in measures:
        columns += with_bounds(_("Bias, points") if name == "bias" else str(MEASURE_NAMES[name]))
    said = {"with": _("with an aspect"), "without": _("without an aspect")}
    rows = []
    for pair in figures.pairs:
        for part, text in said.items():
            own = pair.aspect[part]
            row: list[Cell] = [names[pair.first], names[pair.second], text, own.n]
            for name in measures:
                row += bounds(figure_of(own, name))
            rows.append(row)
    return columns, rows


PAIR_TABLES: dict[str, Entry] = {
    "pairs": Entry(
        gettext_lazy("Every two raters"),
        gettext_lazy(
            "Unit: answer that both scored. Replicates of a judge are averaged; of a person's "
            "repeats the first sheet counts. Intervals leave out one question at a time "
            "(jackknife, t corrected for skewness): bias from 6 questions on, all others from 20, "
            "50 where nearly all points are the same. Bias: mean of first minus second; leniency: "
            "bias as a share of the most points; above 0 the first gives more."
        ),
        _pairs,
    ),
    "criteria": Entry(
        gettext_lazy("Column by column"),
        gettext_lazy(
            "One measure for the total, each group and each criterion. Intervals stand in the "
            "table of every two raters, for the column chosen there."
        ),
        _criteria,
    ),
    "ceiling": Entry(
        gettext_lazy("People among themselves, and the judge with them"),
        gettext_lazy(
            "Krippendorff's alpha at the interval level, 95 % intervals over questions. Of the "
            "judge only pairs of one sheet of people and the judge's count. The two come from "
            "different answers, so compare them by their difference: judge minus people on "
            "the answers that "
            "two people and the judge scored, leaving out one question from both. "
            "Consolidated sheets are no person: they count beside the judge only."
        ),
        _ceiling,
    ),
    "concatenated": Entry(
        gettext_lazy("All criteria together, and what shuffling leaves"),
        gettext_lazy(
            "Interval alpha with every criterion of every sheet as an item, as papers print it. "
            "Criteria with more points than others make any two sheets agree: beside it the mean "
            "of the same figure after the second rater's sheets were dealt to other answers."
        ),
        _concatenated,
    ),
    "systems": Entry(
        gettext_lazy("Systems, and answers to one question"),
        gettext_lazy(
            "Totals. Across: correlation of the means of systems (each with its scenario), "
            "resampling systems and questions. Within: mean over questions of the correlation "
            "over systems, resampling questions; questions with fewer than 3 systems, or without "
            "differences, do not count. With more than 200 questions only pairs with people have "
            "all three correlations. Intervals need 20 systems, or 20 questions."
        ),
        _systems,
    ),
    "aspect": Entry(
        gettext_lazy("With and without an aspect"),
        gettext_lazy("Totals of answers to questions that name an aspect, and of all others."),
        _aspect,
    ),
}
