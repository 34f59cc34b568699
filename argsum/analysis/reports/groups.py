"""Compare groups by key point, and put shares and p-values into words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from argsum.analysis.methods.themes import cut
from argsum.analysis.models import Analysis, FoundPoint
from argsum.datasets.models import Comment
from cqa_site.results.boards import Conclusion, listed, short
from cqa_site.results.figures import Column, EstimateColumn, Figure, Files, table_of
from cqa_site.stats.estimate import Bounded
from cqa_site.web.charts.points import distinct
from cqa_site.web.tables import TableData, interval_text, one_line, text_of
from . import counts as counting
from .counts import POINTS, THEMES, CommentColumn, CommentCounts, CountedTheme, NamedView, kept
from .extensions import CorrectedShare, corrections_by_part
from .share_charts import groups_chart, in_percent
from .voices import BANDS_RECIPE, COMMENTS, VOICES, VOICES_RECIPE, copies_note, counted_in_words

if TYPE_CHECKING:
    from argsum.analysis.methods.prevalence import InGroup, PointByGroup, Share, ShareDifference


# Maximum number of characters of a key point in a sentence.
LONGEST = 90


def percents(share: Share | Bounded) -> str:
    return "–" if share.value is None else f"{text_of(100 * share.value, 0)} %"


def points_of(difference: ShareDifference | None) -> str:
    """Return a signed difference in percentage points."""
    if difference is None:
        return "–"
    text = text_of(100 * difference.value, 0)
    return text if text.startswith("−") or not text.strip("0.") else f"+{text}"


def bounds(figure: Share | Bounded | None) -> str:
    """Return the interval of a share or difference in percent."""
    return interval_text(figure, 0, 100)


def p_value(p: float | None) -> str:
    """Return a p-value as text, with very small values given as an upper bound."""
    if p is None:
        return _("not tested")
    return "< 0.001" if p < 0.001 else text_of(p, 3)


def quoted(text: str) -> str:
    """Quote a key point in a sentence, truncating long texts."""
    return f"“{cut(text, LONGEST)}”"


def within_intervals(what: str, differences: Iterable[ShareDifference | None]) -> str:
    """Return a sentence on how large undetected differences may be; "" if no interval exists."""
    known = [difference for difference in differences if difference and difference.low is not None]
    if not known:
        return ""
    widest = max(abs(bound or 0) for row in known for bound in (row.low, row.high))
    text = _("The intervals are compatible with %(what)s of up to %(n)s percentage points.")
    return text % {"what": what, "n": text_of(100 * widest, 0)}


# Maximum numbers of key points and groups in a chart. Each group needs a different symbol.
CHARTED, SERIES = 8, 6
CORRECTED_RECIPE = lazy(
    "Corrected share: the share of comments that make the key point according to "
    "people's answers in the audit, with a 95 % interval. It is computed like the "
    "corrected share of all comments, but from the audited pairs of these "
    "comments. It needs 10 answers about these comments, 2 in each band, drawn "
    "from the current placements. Differences and tests use the program's counts."
)
THEMES_RECIPE = lazy(
    "A comment counts once per theme, however many of its key points it makes. Audits correct "
    "the shares of key points, not of themes."
)
BODY = "argsum/analysis/comparing/_groups_table.html"


@dataclass(frozen=True)
class CommentGroup:
    """A value of the column and its number of comments."""

    value: str
    n: int

    @property
    def is_small(self) -> bool:
        """Whether the group is too small for a test."""
        return self.n < counting.LEAST


@dataclass(frozen=True)
class ComparedPoint:
    """A key point or a theme with its figures in all groups."""

    point: FoundPoint | CountedTheme
    found: PointByGroup


@dataclass(frozen=True)
class GroupComparison(NamedView):
    """All key points or themes, compared across the groups of one column.

    Attributes
    ----------
    analysis, column
        The analysis, and the column whose groups are compared.
    groups
        Groups in the order of table columns.
    rows
        Key points or themes, the most frequent first.
    without
        Number of comments without a value, which are in no group.
    unit, view
        Comments or voices; by key points or themes.
    corrected
        Shares corrected by an audit, by key point and group; empty for themes.
    """

    analysis: Analysis
    column: str
    groups: Sequence[CommentGroup]
    rows: Sequence[ComparedPoint]
    without: int
    unit: str = COMMENTS
    view: str = POINTS
    corrected: Mapping[tuple[int, str], CorrectedShare] = field(default_factory=dict)

    @property
    def tested(self) -> list[CommentGroup]:
        """Groups that are large enough to test."""
        return [group for group in self.groups if not group.is_small]

    @property
    def is_pair(self) -> bool:
        """Whether exactly two groups are tested against each other."""
        return len(self.tested) == 2

    @property
    def small(self) -> list[str]:
        """Values of the groups that are too small to test."""
        return [group.value for group in self.groups if group.is_small]

    @property
    def differing(self) -> list[ComparedPoint]:
        """Key points mentioned at significantly different rates, largest difference first."""
        points = [row for row in self.rows if row.found.differs and row.found.widest is not None]
        return sorted(points, key=lambda row: -abs(_widest(row)[1].distance))


def why_barred(column: CommentColumn) -> str:
    """Return the reason why a column forms no groups, as a phrase."""
    reasons = {
        counting.TOO_MANY: _("more than %d different values") % counting.MOST_VALUES,
        counting.TOO_LONG: _("long texts"),
        counting.ONE_VALUE: _("the same value everywhere"),
        counting.TOO_FEW: _("fewer than two groups of at least %d comments") % counting.LEAST,
    }
    return reasons[column.barred]


def chosen_column(counts: CommentCounts, wanted: str) -> CommentColumn | None:
    """Return the requested column or, by default, the first column that forms groups."""
    named = [column for column in counts.comparable if column.name == wanted]
    return next(iter(named or counts.comparable), None)


def compared(analysis: Analysis, column: CommentColumn, counts: CommentCounts) -> GroupComparison:
    """Compare the groups of a counted column, using at most two queries."""
    from argsum.analysis.methods.prevalence import compare_groups

    name = f"groups-{counting.digest(column.name, counts.unit, counts.view)}"
    figures = kept(name, analysis, lambda: compare_groups(column.sizes, column.counts))
    rows = counts.rows
    # Audits are about comments and key points.
    is_audited = (counts.unit, counts.view) == (COMMENTS, POINTS)
    return GroupComparison(
        analysis=analysis,
        column=column.name,
        groups=[CommentGroup(*pair) for pair in zip(column.values, column.sizes, strict=True)],
        rows=[ComparedPoint(rows[figure.point], figure) for figure in figures],
        without=column.without,
        unit=counts.unit,
        view=counts.view,
        corrected=_corrected(analysis, column.name) if is_audited else {},
    )


def _corrected(analysis: Analysis, column: str) -> dict[tuple[int, str], CorrectedShare]:
    def groups(comments: QuerySet[Comment]) -> dict[int, str]:
        rows = comments.values_list("pk", "attributes").iterator(5_000)
        return {pk: str(fields[column]) for pk, fields in rows if fields.get(column)}

    return corrections_by_part(analysis, counting.digest("group", column), groups)


def groups_finding(comparison: GroupComparison) -> Conclusion | None:
    """Return a sentence on whether groups mention key points at different rates."""
    n = sum(1 for row in comparison.rows if row.found.p is not None)
    if not n:
        text = _("No %s can be compared between these groups.")
        return Conclusion(text % comparison.noun, _sure(comparison))
    differing = comparison.differing
    if not differing:
        text = _("No %(noun)s is shown to be mentioned at different rates by %(column)s.")
        every = (group.difference for row in comparison.rows for group in row.found.groups)
        still = within_intervals(_("differences"), every)
        return Conclusion(
            text % {"noun": comparison.noun, "column": short(comparison.column)},
            f"{still} {_sure(comparison)}".strip(),
        )
    says = ngettext(
        "%(k)s of %(n)s %(nouns)s is shown to be mentioned at different rates by %(column)s",
        "%(k)s of %(n)s %(nouns)s are shown to be mentioned at different rates by %(column)s",
        len(differing),
    ) % {
        "k": len(differing),
        "n": n,
        "nouns": comparison.nouns,
        "column": short(comparison.column),
    }
    return Conclusion(f"{says}; {_first(comparison, differing[0])}", _sure(comparison))


def groups_table(comparison: GroupComparison) -> TableData:
    """Return a row for each key point or theme and group, with all computed figures."""
    noun = comparison.noun
    columns: tuple[Column, ...] = (
        *named_columns(comparison, "0.point"),
        Column(comparison.column, "1.value"),
        Column(comparison.unit, "1.n"),
        Column(f"with the {noun}", "2.share.k"),
        EstimateColumn("share", "2.share"),
        Column("difference", "2.difference.value"),
        Column("difference low", "2.difference.low"),
        Column("difference high", "2.difference.high"),
        Column("p of the difference (Holm)", "2.p"),
        Column(f"p of the {noun}", "0.found.p_alone"),
        Column(f"p of the {noun} (Holm)", "0.found.p"),
        Column("test", lambda row: row[0].found.test or None),
    )
    if corrected := comparison.corrected:
        columns += audited_columns(lambda row: corrected.get((row[0].point.pk, row[1].value)))
    return table_of(
        columns,
        (
            (row, group, cell)
            for row in comparison.rows
            for group, cell in zip(comparison.groups, row.found.groups, strict=True)
        ),
        caption=f"{comparison.heading} by {comparison.column}: {comparison.analysis.name}",
        note=one_line(groups_recipe(comparison)),
        name=f"groups-{comparison.analysis.number}",
    )


def named_columns(figures: NamedView, path: str) -> tuple[Column, ...]:
    """Return the columns for the names of key points and their themes, or for themes only."""
    theme = Column("theme", f"{path}.theme")
    return (Column("key point", f"{path}.text"), theme) if figures.view == POINTS else (theme,)


def audited_columns(corrected: Callable[[Any], CorrectedShare | None]) -> tuple[Column, ...]:
    """Return the columns for corrected shares, which may be missing in most rows."""
    return (
        EstimateColumn("corrected share", lambda row: getattr(corrected(row), "share", None)),
        Column("audited pairs", lambda row: getattr(corrected(row), "pairs", None)),
    )


def groups_recipe(comparison: GroupComparison) -> str:
    """Return named paragraphs on how the figures were computed."""
    from argsum.analysis.methods.prevalence import LEAST_EXPECTED, LEAST_OF_TWO

    against = (
        _("the first group minus the second")
        if comparison.is_pair
        else _("each group minus all others combined, for all groups at once (Bonferroni)")
    )
    parts = [
        _(
            "Share: a group's comments with at least one statement under the %s, divided by all "
            "of its comments; exact 95 %% interval."
        )
        % comparison.noun,
        _(
            "Difference: %(against)s, in percentage points; 95 %% interval by Zou and Donner's "
            "method, from the intervals for both shares."
        )
        % {"against": against},
        _(
            "Chi-squared test of the hypothesis that all groups mention a %(noun)s "
            "equally often. If few comments are expected in a cell, it is replaced by "
            "Fisher's exact test for two groups (below %(two)d), or by 9,999 random tables "
            "for more groups (below %(more)d). All p-values are Holm-corrected over all "
            "%(nouns)s, those for single groups over all %(nouns)s and groups."
        )
        % {
            "noun": comparison.noun,
            "nouns": comparison.nouns,
            "two": LEAST_OF_TWO,
            "more": LEAST_EXPECTED,
        },
        _("Small groups (fewer than %d comments) are shown but not tested.") % counting.LEAST,
    ]
    once = _("Near-duplicates count once in every group that contains any of them.")
    return "\n\n".join([*parts, *further_recipes(comparison, once)])


def further_recipes(figures: Any, once: str) -> list[str]:
    """Return further paragraphs for a comparison or trend. ``once`` is the sentence on voices."""
    recipes = {
        THEMES_RECIPE: figures.view == THEMES,
        CORRECTED_RECIPE: figures.corrected,
        BANDS_RECIPE: figures.analysis.has_bands,
        f"{VOICES_RECIPE} {once}": figures.unit == VOICES,
    }
    return [str(recipe) for recipe, applies in recipes.items() if applies]


def groups_figure(comparison: GroupComparison, files: Files, rows: Sequence[Any]) -> Figure:
    """Return the chart and the table. ``rows`` are the table rows on the page."""
    charted = comparison.rows[:CHARTED]
    most = sorted(comparison.groups, key=lambda group: -group.n)[:SERIES]
    series = [group for group in comparison.groups if group in most]
    about = []
    if len(charted) < len(comparison.rows):
        text = _("chart: the %(n)d most frequent %(nouns)s")
        about.append(text % {"n": len(charted), "nouns": comparison.nouns})
    if len(series) < len(comparison.groups):
        about.append(_("the %d largest groups") % len(series))
    return Figure(
        slug="groups",
        title=_("%s by group") % comparison.heading,
        about=", ".join(about),
        recipe=groups_recipe(comparison),
        table=groups_table(comparison),
        alt=_("Dots with intervals: share of each group's comments that mention a %s")
        % comparison.noun
        if charted
        else "",
        draw=partial(_chart, charted, comparison.groups, series),
        body=BODY,
        data={"found": comparison, "rows": rows},
        files=files,
        is_wide=True,
    )


def cells_of(comparison: GroupComparison, address: Any) -> list[dict[str, Any]]:
    """Return table rows as text, each cell with the URL of its comments.

    ``address`` returns the URL of a key point or theme, filtered by a group of comments.
    """
    return [
        {
            "text": row.point.text,
            "address": address(row.point, "", ""),
            "p": p_value(row.found.p),
            "differs": row.found.differs,
            "difference": _difference(comparison, row),
            "cells": [
                _cell(
                    comparison,
                    row.point,
                    group,
                    cell,
                    address(row.point, comparison.column, group.value),
                )
                for group, cell in zip(comparison.groups, row.found.groups, strict=True)
            ],
        }
        for row in comparison.rows
    ]


def _cell(
    comparison: GroupComparison,
    point: FoundPoint | CountedTheme,
    group: CommentGroup,
    cell: InGroup,
    address: str,
) -> dict[str, Any]:
    corrected = comparison.corrected.get((point.pk, group.value))
    return {
        "corrected": percents(corrected.share) if corrected else "",
        "corrected_bounds": f"{bounds(corrected.share)} n {corrected.pairs}" if corrected else "",
        "share": percents(cell.share),
        "k": cell.share.k,
        "bounds": bounds(cell.share),
        "address": address,
        "is_small": group.is_small,
        "more": not comparison.is_pair and cell.differs and cell.distance > 0,
        "less": not comparison.is_pair and cell.differs and cell.distance < 0,
    }


def _difference(comparison: GroupComparison, row: ComparedPoint) -> dict[str, str]:
    """Return the difference between two groups or, if there are more groups, the largest one."""
    at = row.found.widest
    if at is None:
        return {"value": "–", "bounds": "", "group": ""}
    if comparison.is_pair:
        at = next(place for place, group in enumerate(comparison.groups) if not group.is_small)
    cell = row.found.groups[at]
    name = "" if comparison.is_pair else short(comparison.groups[at].value)
    return {"value": points_of(cell.difference), "bounds": bounds(cell.difference), "group": name}


def _widest(row: ComparedPoint) -> tuple[int, InGroup]:
    at = row.found.widest or 0
    return at, row.found.groups[at]


def _first(comparison: GroupComparison, row: ComparedPoint) -> str:
    at, group = _widest(row)
    other = next(tested for tested in comparison.tested if tested != comparison.groups[at])
    compared_groups = 1 if comparison.is_pair else len(comparison.tested)
    difference = group.difference_among(len(comparison.rows) * compared_groups)
    text = _(
        "largest difference in these data: %(point)s, %(one)s of %(group)s, %(other)s of "
        "%(rest)s (%(points)s points %(bounds)s, corrected for all %(nouns)s)."
    )
    return text % {
        "point": quoted(row.point.text),
        "one": percents(group.share),
        "group": _named(comparison.groups[at].value),
        "other": percents(group.other) if group.other else "–",
        "rest": _named(other.value) if comparison.is_pair else _("the others"),
        "points": points_of(difference),
        "bounds": bounds(difference),
        "nouns": comparison.nouns,
    }


def _named(value: str) -> str:
    return f"“{short(value)}”"


def _sure(comparison: GroupComparison) -> str:
    sizes = sorted(group.n for group in comparison.tested or comparison.groups)
    low, high = f"{sizes[0]:,}", f"{sizes[-1]:,}"
    text = _(
        "%(n)s in %(groups)s groups of %(sizes)s; p-values Holm-corrected over all %(nouns)s. "
        "Statements were placed automatically."
    ) % {
        "nouns": comparison.nouns,
        "n": counted_in_words(sum(sizes), comparison.unit),
        "groups": len(sizes),
        "sizes": _("%s each") % low if low == high else _("%s to %s") % (low, high),
    }
    small = _("Too small for a test: %s.") % listed(comparison.small) if comparison.small else ""
    return " ".join(filter(None, [text, small, copies_note(comparison.analysis, comparison.unit)]))


def _chart(
    rows: Sequence[ComparedPoint],
    groups: Sequence[CommentGroup],
    series: Sequence[CommentGroup],
    size: str,
) -> Any:
    texts = distinct(row.point.text for row in rows)
    marked = [
        {"point": text, "group": group.value} | in_percent(cell.share)
        for text, row in zip(texts, rows, strict=True)
        for group, cell in zip(groups, row.found.groups, strict=True)
        if group in series
    ]
    names = [line.value for line in series]
    return groups_chart(marked, names, _("Comments that mention it, %"), size)
