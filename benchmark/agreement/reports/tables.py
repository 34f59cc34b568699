"""Tables of agreement: all pairs of raters, criteria, systems, and one pair in detail."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.utils.translation import gettext as _, gettext_lazy as lazy

from benchmark.agreement.methods.figures import (
    Agreement,
    AgreementFigure,
    Alphas,
    ColumnAgreement,
    PointsColumn,
)
from benchmark.leaderboard.models import BoardSnapshot
from benchmark.leaderboard.reports.snapshot import conditions_of_rows
from cqa_site.results.figures import Column, EstimateColumn, FigureTable, value_of
from cqa_site.web.tables import TableData
from .snapshot import PEOPLE, TOTAL, AgreementSelection, pair_of

# Tables of agreement for pages and files

Columns = list[Column]
MEASURE_NAMES = {
    "alpha_interval": lazy("Interval alpha"),
    "alpha_ordinal": lazy("Ordinal alpha"),
    "pearson": lazy("Pearson"),
    "spearman": lazy("Spearman"),
    "kendall": lazy("Kendall"),
    "leniency": lazy("Leniency"),
    "exact": lazy("Exact"),
}

# Shown in place of an empty table
SHARED = lazy("Two raters must score the same answers.")

WAY = ("scoring_rounds", lazy("Scoring rounds"))


def rater_names(figures: Agreement) -> dict[str, str]:
    """Map keys to names, for all raters and for the mean of all people."""
    return {PEOPLE: _("People (mean)")} | {rater.key: rater.name for rater in figures.raters}


def column_names(figures: Agreement) -> dict[str, str]:
    """Map keys to names of all columns; criteria are shown with their keys."""
    return {column.key: column_name(column) for column in figures.columns}


def column_name(column: PointsColumn) -> str:
    if column.kind == TOTAL:
        return _("Total")
    return f"{column.key} {column.name}" if column.kind == "criterion" else column.name


def measure_value(agreement: ColumnAgreement, measure: str) -> float | None:
    """Return a measure's value. The share of answers with identical points has no interval."""
    return agreement.exact if measure == "exact" else figure_of(agreement, measure).value


def figure_of(figures: Alphas | ColumnAgreement, measure: str) -> AgreementFigure:
    """Return a figure with an interval: ``bias`` or any of `MEASURES` except ``exact``."""
    figure: AgreementFigure = getattr(figures, measure)
    return figure


def figure_table(
    snapshot: BoardSnapshot,
    figures: Agreement,
    choice: AgreementSelection,
    slug: str,
    entry: FigureTable,
) -> TableData:
    """Return one figure as a table with the snapshot in its caption."""
    about = _("Rubric %(rubric)s, snapshot #%(number)d (%(state)s), sheets %(hash)s.") % {
        "rubric": snapshot.rubric,
        "number": snapshot.number,
        "state": _("frozen") if snapshot.is_frozen else _("live"),
        "hash": snapshot.sha256[:12],
    }
    if under := conditions_of_rows(snapshot.recipe).get(choice.condition):
        about = f"{about} {_('Condition: %s.') % under}"
    column = f": {column_names(figures)[choice.column]}" if slug == "pairs" else ""
    return entry.table(figures, choice, where=about, about=column, name=f"scores-{slug}")


NAMES = (Column(lazy("First"), "0"), Column(lazy("Second"), "1"))


def _of_pairs(figures: Agreement, choice: AgreementSelection) -> list[tuple[Any, ...]]:
    names = rater_names(figures)
    return [(names[pair.first], names[pair.second], pair) for pair in figures.pairs]


def _with_n(title: Any, path: str) -> Columns:
    return [EstimateColumn(title, path), Column(_("Answers"), f"{path}.n")]


def _measures(path: str, names: Sequence[str]) -> Columns:
    """Return a column for each measure, empty if the object at the path lacks it."""
    titles = MEASURE_NAMES | {"bias": lazy("Bias, points")}
    return [EstimateColumn(titles[name], partial(_measure, path, name)) for name in names]


def _measure(path: str, name: str, row: Any) -> Any:
    return getattr(value_of(path, row), name, None)


def _pairs(figures: Agreement, choice: AgreementSelection) -> list[tuple[Any, ...]]:
    people = figures.people.columns[choice.column]
    together = (_("All people"), "", people, people.alpha_interval.n, None, None)
    rows = (
        (first, second, own, own.n, own.n_questions, own.exact)
        for first, second, pair in _of_pairs(figures, choice)
        for own in [pair.columns[choice.column]]
    )
    return [together, *rows]


def _criteria(figures: Agreement, choice: AgreementSelection) -> list[tuple[Any, ...]]:
    people = figures.people.columns
    measure, rows = choice.measure, []
    if measure.startswith("alpha"):
        alphas = {key: figure_of(own, measure).value for key, own in people.items()}
        rows.append((_("All people"), "", alphas))
    return rows + [
        (first, second, {key: measure_value(own, measure) for key, own in pair.columns.items()})
        for first, second, pair in _of_pairs(figures, choice)
    ]


def _ceiling(figures: Agreement, choice: AgreementSelection) -> list[tuple[Any, ...]]:
    """Return people's agreement and the chosen judge's agreement with them, for each column."""
    judge, people = figures.with_people.get(choice.judge, {}), figures.people.columns
    names = column_names(figures)
    return [(name, people[key].alpha_interval, judge.get(key)) for key, name in names.items()]


def _aspect(figures: Agreement, choice: AgreementSelection) -> list[tuple[Any, ...]]:
    labels = {"with": _("with an aspect"), "without": _("without an aspect")}
    return [
        (first, second, text, pair.aspect[part])
        for first, second, pair in _of_pairs(figures, choice)
        for part, text in labels.items()
    ]


PAIR_TABLES: dict[str, FigureTable] = {
    "pairs": FigureTable(
        lazy("Pairs of raters"),
        lazy(
            "Each unit is an answer that both raters scored. Replicates of a judge are "
            "averaged; of a person's repeats, the first sheet counts. Intervals leave out "
            "one question at a time (jackknife, t corrected for skewness): bias needs at "
            "least 10 questions, all other figures 20, or 50 if nearly all points are the "
            "same. Bias: mean difference, first minus second. Leniency: bias as a share "
            "of the maximum; above 0, the first gives more points."
        ),
        lambda figures, choice: [
            *NAMES,
            Column("n", "3"),
            Column(_("Questions"), "4"),
            Column(_("Exact"), "5"),
            *_measures("2", ["bias", *(name for name in MEASURE_NAMES if name != "exact")]),
        ],
        _pairs,
    ),
    "criteria": FigureTable(
        lazy("By column"),
        lazy(
            "One measure for the total, each group and each criterion. The intervals are "
            "in the table of pairs of raters, for the column chosen there."
        ),
        lambda figures, choice: [
            *NAMES,
            *(Column(name, f"2.{key}") for key, name in column_names(figures).items()),
        ],
        _criteria,
    ),
    "ceiling": FigureTable(
        lazy("Agreement among people and with the judge"),
        lazy(
            "Krippendorff's alpha at the interval level, 95 % intervals over questions. For the "
            "judge, only pairs of a person's sheet and the judge's sheet count. The two figures "
            "come from different answers, so compare them by their difference: judge minus "
            "people on the answers that two people and the judge scored, leaving out one "
            "question from both. Consolidated sheets do not count as a person: they are compared "
            "with the judge only."
        ),
        lambda figures, choice: [
            Column(_("Column"), "0"),
            *_with_n(_("People, interval alpha"), "1"),
            *_with_n(_("Judge with people, interval alpha"), "2.alpha_interval"),
            *_with_n(_("Difference on the same answers"), "2.difference"),
        ],
        _ceiling,
    ),
    "concatenated": FigureTable(
        lazy("All criteria together, with shuffled sheets"),
        lazy(
            "Interval alpha with every criterion of every sheet as an item, as papers report it. "
            "Criteria with more points than others raise the agreement of any two sheets, so the "
            "table also has the mean of this figure after shuffling the second rater's sheets "
            "among the answers."
        ),
        (
            *NAMES,
            Column(lazy("Answers"), "2.concatenated.n"),
            Column(lazy("Alpha of all criteria"), "2.concatenated.value"),
            *(
                Column(title, partial(_measure, "2.concatenated", name))
                for title, name in (
                    (lazy("With sheets shuffled"), "shuffled"),
                    (lazy("sd"), "shuffled_sd"),
                    (lazy("Shuffles"), "repeats"),
                )
            ),
            Column(lazy("Remark"), "2.concatenated.reason"),
        ),
        _of_pairs,
    ),
    "systems": FigureTable(
        lazy("Across systems and within questions"),
        lazy(
            "Totals. Across: correlation of the means of systems (each with its scenario), "
            "resampling systems and questions. Within: mean over questions of the correlation "
            "over systems, resampling questions; questions with fewer than 3 systems, or without "
            "differences, are left out. With more than 200 questions, only pairs with a person "
            "have all three correlations. Intervals need 20 systems, or 20 questions."
        ),
        (
            *NAMES,
            Column(lazy("Correlation"), "2"),
            EstimateColumn(lazy("Across systems"), "3.across"),
            Column(lazy("Systems"), "3.across.n"),
            EstimateColumn(lazy("Within questions"), "3.within"),
            Column(lazy("sd"), "3.within_sd"),
            Column(lazy("Questions"), "3.within.n"),
        ),
        lambda figures, choice: [
            (first, second, str(MEASURE_NAMES[kind]), system)
            for first, second, pair in _of_pairs(figures, choice)
            for kind, system in pair.systems.items()
        ],
    ),
    "aspect": FigureTable(
        lazy("With and without an aspect"),
        lazy("Totals of answers to questions with an aspect, and to all others."),
        lambda figures, choice: [
            *NAMES,
            Column(_("Questions"), "2"),
            Column(_("Answers"), "3.n"),
            *_measures("3", ["alpha_interval", "pearson", "spearman", "kendall", "bias"]),
        ],
        _aspect,
    ),
}


def _bland_altman(figures: Agreement, choice: AgreementSelection) -> list[tuple[Any, ...]]:
    pair = pair_of(figures, choice)
    if pair is None:
        return []
    altman = pair.bland_altman
    return [
        (_("Bias, first minus second"), altman.bias),
        (_("Lower limit of agreement"), altman.lower),
        (_("Upper limit of agreement"), altman.upper),
        (_("Change in bias per point"), altman.slope),
    ]


def _confusion(figures: Agreement, choice: AgreementSelection) -> list[tuple[Any, ...]]:
    pair, names = pair_of(figures, choice), column_names(figures)
    return [
        (names[key], value, other, n)
        for key, confusion in (pair.confusion if pair else {}).items()
        for value, cells in zip(confusion.values, confusion.cells, strict=True)
        for other, n in zip(confusion.values, cells, strict=True)
        if n
    ]


def _by_code(figures: Agreement, choice: AgreementSelection) -> list[tuple[Any, ...]]:
    names, code = rater_names(figures), figures.by_code
    return [(names[key], own) for key, own in code.raters.items()] if code else []


DETAIL_TABLES: dict[str, FigureTable] = {
    "bland-altman": FigureTable(
        lazy("Differences between two raters"),
        lazy(
            "Totals, first minus second rater. Limits: about 95 % of differences lie between "
            "them. Intervals leave out one question at a time and need at least 20 questions."
        ),
        lambda figures, choice: [Column(_("Figure"), "0"), *_with_n(_("Points"), "1")],
        _bland_altman,
    ),
    "confusion": FigureTable(
        lazy("Cross-table of points"),
        lazy(
            "Answers by the points of both raters; means of replicates are rounded to the "
            "nearest half point. Rows: the first rater."
        ),
        (
            Column(lazy("Criterion"), "0"),
            Column(lazy("First rater's points"), "1"),
            Column(lazy("Second rater's points"), "2"),
            Column(lazy("Answers"), "3"),
        ),
        _confusion,
    ),
    "by-code": FigureTable(
        lazy("Automatically counted criterion"),
        lazy(
            "Sentences counted automatically and converted to points, compared with every rater "
            "who scored the criterion. Leniency above 0: the count gives more points."
        ),
        (
            Column(lazy("Rater"), "0"),
            Column("n", "1.n"),
            Column(lazy("Exact"), "1.exact"),
            EstimateColumn(lazy("Interval alpha"), "1.alpha_interval"),
            EstimateColumn(lazy("Leniency of the count"), "1.leniency"),
        ),
        _by_code,
    ),
}
