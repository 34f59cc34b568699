"""Tables of agreement: all pairs of raters, criteria, systems, and one pair in detail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from benchmark.agreement.methods.figures import (
    Agreement,
    AgreementFigure,
    Alphas,
    ColumnAgreement,
    ConcatenatedAlpha,
    PointsColumn,
    UnscoredShare,
)
from benchmark.leaderboard.models import BoardSnapshot
from benchmark.leaderboard.reports.snapshot import conditions_of_rows
from cqa_site.web.tables import Cell, TableData

from .snapshot import PEOPLE, TOTAL, AgreementSelection, pair_of

# Agreement of agreement as small tables: what pages show and files hold.


TableParts = tuple[list[str], list[list[Cell]]]
MEASURE_NAMES = {
    "alpha_interval": gettext_lazy("Interval alpha"),
    "alpha_ordinal": gettext_lazy("Ordinal alpha"),
    "pearson": gettext_lazy("Pearson"),
    "spearman": gettext_lazy("Spearman"),
    "kendall": gettext_lazy("Kendall"),
    "leniency": gettext_lazy("Leniency"),
    "exact": gettext_lazy("Exact"),
}


# What most tables here wait for.
SHARED = gettext_lazy("Two raters must score the same answers.")


@dataclass(frozen=True)
class AgreementTableSpec:
    """A table: its title, how its numbers were computed, its builder, and its requirements.

    ``way`` is the page where that is done, and its name.
    """

    title: Any
    recipe: Any
    build: Callable[[Agreement, AgreementSelection], TableParts]
    needed: Any = SHARED
    way: tuple[str, Any] = ("scoring_rounds", gettext_lazy("Scoring rounds"))


def rater_names(figures: Agreement) -> dict[str, str]:
    """Map keys to names of all raters and of the mean of all people."""
    return {PEOPLE: _("People (mean)")} | {rater.key: rater.name for rater in figures.raters}


def column_names(figures: Agreement) -> dict[str, str]:
    """Map keys to names of all columns: total, groups, and criteria with their key in front."""
    return {column.key: column_name(column) for column in figures.columns}


def column_name(column: PointsColumn) -> str:
    if column.kind == TOTAL:
        return _("Total")
    return f"{column.key} {column.name}" if column.kind == "criterion" else column.name


def value_of(agreement: ColumnAgreement, measure: str) -> float | None:
    """Return the value of a measure; shares of equal points have no interval."""
    return agreement.exact if measure == "exact" else figure_of(agreement, measure).value


def figure_of(figures: Alphas | ColumnAgreement, measure: str) -> AgreementFigure:
    """Return a measure's figure with an interval.

    The measure is ``bias`` or any of `MEASURES` except ``exact``.
    """
    figure: AgreementFigure = getattr(figures, measure)
    return figure


def bounds(estimate: AgreementFigure | UnscoredShare) -> list[Cell]:
    return [estimate.value, estimate.low, estimate.high]


def with_bounds(name: str) -> list[str]:
    return [name, _("low"), _("high")]


def table_of(
    snapshot: BoardSnapshot,
    figures: Agreement,
    choice: AgreementSelection,
    slug: str,
    entry: AgreementTableSpec,
) -> TableData:
    """Return one figure as a table whose caption names the snapshot."""
    columns, rows = entry.build(figures, choice)
    about = _("Rubric %(rubric)s, snapshot #%(number)d (%(state)s), sheets %(hash)s.") % {
        "rubric": snapshot.rubric,
        "number": snapshot.number,
        "state": _("frozen") if snapshot.is_frozen else _("live"),
        "hash": snapshot.sha256[:12],
    }
    if under := conditions_of_rows(snapshot.recipe).get(choice.condition):
        about = f"{about} {_('Condition: %s.') % under}"
    column = column_names(figures)[choice.column]
    title = f"{entry.title}: {column}" if slug == "pairs" else str(entry.title)
    return TableData(
        columns, rows, caption=f"{title}. {about}", note=str(entry.recipe), name=f"scores-{slug}"
    )


# Agreement of every two raters as tables.


def _pairs(figures: Agreement, choice: AgreementSelection) -> TableParts:
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


def _criteria(figures: Agreement, choice: AgreementSelection) -> TableParts:
    names = rater_names(figures)
    columns = [_("First"), _("Second"), *column_names(figures).values()]
    rows: list[list[Cell]] = []
    if choice.measure.startswith("alpha"):
        people = figures.people.columns
        values = [
            figure_of(people[column.key], choice.measure).value for column in figures.columns
        ]
        rows.append([_("People together"), "", *values])
    for pair in figures.pairs:
        own = [value_of(pair.columns[column.key], choice.measure) for column in figures.columns]
        rows.append([names[pair.first], names[pair.second], *own])
    return columns, rows


def _ceiling(figures: Agreement, choice: AgreementSelection) -> TableParts:
    """Return for each column the agreement of people, and of the chosen judge with them."""
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


def _with_n(figure: AgreementFigure | None) -> list[Cell]:
    return [*bounds(figure), figure.n] if figure else [None] * 4


def _concatenated(figures: Agreement, choice: AgreementSelection) -> TableParts:
    names = rater_names(figures)
    columns = [_("First"), _("Second"), _("Answers"), _("Alpha of all criteria")]
    columns += [_("With sheets shuffled"), _("sd"), _("Shuffles"), _("Remark")]
    rows: list[list[Cell]] = []
    for pair in figures.pairs:
        alpha = pair.concatenated
        shuffled: list[Cell] = [None] * 3
        if isinstance(alpha, ConcatenatedAlpha):
            shuffled = [alpha.shuffled, alpha.shuffled_sd, alpha.repeats]
        row: list[Cell] = [names[pair.first], names[pair.second], alpha.n, alpha.value]
        rows.append([*row, *shuffled, alpha.reason])
    return columns, rows


def _systems(figures: Agreement, choice: AgreementSelection) -> TableParts:
    names = rater_names(figures)
    columns = [_("First"), _("Second"), _("Correlation"), *with_bounds(_("Across systems"))]
    columns += [_("Systems"), *with_bounds(_("Within questions")), _("sd"), _("Questions")]
    rows = []
    for pair in figures.pairs:
        for kind, system in pair.systems.items():
            row: list[Cell] = [names[pair.first], names[pair.second], str(MEASURE_NAMES[kind])]
            row += _with_n(system.across)
            rows.append([*row, *bounds(system.within), system.within_sd, system.within.n])
    return columns, rows


def _aspect(figures: Agreement, choice: AgreementSelection) -> TableParts:
    names = rater_names(figures)
    columns = [_("First"), _("Second"), _("Questions"), _("Answers")]
    measures = ("alpha_interval", "pearson", "spearman", "kendall", "bias")
    for name in measures:
        columns += with_bounds(_("Bias, points") if name == "bias" else str(MEASURE_NAMES[name]))
    labels = {"with": _("with an aspect"), "without": _("without an aspect")}
    rows = []
    for pair in figures.pairs:
        for part, text in labels.items():
            own = pair.aspect[part]
            row: list[Cell] = [names[pair.first], names[pair.second], text, own.n]
            for name in measures:
                row += bounds(figure_of(own, name))
            rows.append(row)
    return columns, rows


PAIR_TABLES: dict[str, AgreementTableSpec] = {
    "pairs": AgreementTableSpec(
        gettext_lazy("Pairs of raters"),
        gettext_lazy(
            "Unit: an answer that both scored. Replicates of a judge are averaged; of a person's "
            "repeats, the first sheet counts. Intervals leave out one question at a time "
            "(jackknife, t corrected for skewness): bias needs at least 6 questions, all other "
            "figures 20, or 50 if nearly all points are the same. Bias: mean difference, first "
            "minus second. Leniency: bias as a share of the maximum; above 0, the first gives "
            "more."
        ),
        _pairs,
    ),
    "criteria": AgreementTableSpec(
        gettext_lazy("By column"),
        gettext_lazy(
            "One measure for the total, each group and each criterion. The table of pairs of "
            "raters has the intervals, for the column chosen there."
        ),
        _criteria,
    ),
    "ceiling": AgreementTableSpec(
        gettext_lazy("Agreement among people and with the judge"),
        gettext_lazy(
            "Krippendorff's alpha at the interval level, 95 % intervals over questions. For the "
            "judge, only pairs of a person's sheet and the judge's sheet count. The two figures "
            "come from different answers, so compare them by their difference: judge minus "
            "people on the answers that two people and the judge scored, leaving out one "
            "question from both. Consolidated sheets do not count as a person: they are compared "
            "with the judge only."
        ),
        _ceiling,
    ),
    "concatenated": AgreementTableSpec(
        gettext_lazy("All criteria together, with shuffled sheets"),
        gettext_lazy(
            "Interval alpha with every criterion of every sheet as an item, as papers report it. "
            "Criteria with more points than others make any two sheets agree; for comparison, "
            "the mean of the same figure after the second rater's sheets were shuffled among the "
            "answers."
        ),
        _concatenated,
    ),
    "systems": AgreementTableSpec(
        gettext_lazy("Across systems and within questions"),
        gettext_lazy(
            "Totals. Across: correlation of the means of systems (each with its scenario), "
            "resampling systems and questions. Within: mean over questions of the correlation "
            "over systems, resampling questions; questions with fewer than 3 systems, or without "
            "differences, are left out. With more than 200 questions only pairs with people have "
            "all three correlations. Intervals need 20 systems, or 20 questions."
        ),
        _systems,
    ),
    "aspect": AgreementTableSpec(
        gettext_lazy("With and without an aspect"),
        gettext_lazy("Totals of answers to questions with an aspect, and to all others."),
        _aspect,
    ),
}


# One pair of raters in detail, and the rater that is code, as tables.


def _bland_altman(figures: Agreement, choice: AgreementSelection) -> TableParts:
    pair = pair_of(figures, choice)
    columns = [_("Figure"), *with_bounds(_("Points")), _("Answers")]
    if pair is None:
        return columns, []
    altman = pair.bland_altman
    estimates = {
        _("Bias, first minus second"): altman.bias,
        _("Lower limit of agreement"): altman.lower,
        _("Upper limit of agreement"): altman.upper,
        _("Change in bias per point"): altman.slope,
    }
    return columns, [[text, *bounds(figure), figure.n] for text, figure in estimates.items()]


def _confusion(figures: Agreement, choice: AgreementSelection) -> TableParts:
    pair, names = pair_of(figures, choice), column_names(figures)
    columns = [_("Criterion"), _("First rater's points"), _("Second rater's points"), _("Answers")]
    rows: list[list[Cell]] = []
    for key, confusion in (pair.confusion if pair else {}).items():
        for value, cells in zip(confusion.values, confusion.cells, strict=True):
            rows += [
                [names[key], value, other, n]
                for other, n in zip(confusion.values, cells, strict=True)
                if n
            ]
    return columns, rows


def _by_code(figures: Agreement, choice: AgreementSelection) -> TableParts:
    names, code = rater_names(figures), figures.by_code
    columns = [_("Rater"), "n", _("Exact"), *with_bounds(_("Interval alpha"))]
    columns += [*with_bounds(_("Leniency of the count"))]
    rows = []
    for key, own in (code.raters if code else {}).items():
        row: list[Cell] = [names[key], own.n, own.exact]
        rows.append([*row, *bounds(own.alpha_interval), *bounds(own.leniency)])
    return columns, rows


DETAIL_TABLES: dict[str, AgreementTableSpec] = {
    "bland-altman": AgreementTableSpec(
        gettext_lazy("Differences between two raters"),
        gettext_lazy(
            "Totals, first minus second rater. Limits: about 95 % of differences lie between "
            "them. Intervals leave out one question at a time and need at least 20 questions."
        ),
        _bland_altman,
    ),
    "confusion": AgreementTableSpec(
        gettext_lazy("Cross-table of points"),
        gettext_lazy(
            "Answers by the points of both raters; means of replicates are rounded to the "
            "nearest half point. Rows: the first rater."
        ),
        _confusion,
    ),
    "by-code": AgreementTableSpec(
        gettext_lazy("Automatically counted criterion"),
        gettext_lazy(
            "Sentences counted automatically and converted to points, compared with every rater "
            "who scored the criterion. Leniency above 0: the count gives more."
        ),
        _by_code,
    ),
}
