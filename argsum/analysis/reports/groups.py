"""Comparison of groups by key point, and the wording of shares and p values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from argsum.analysis.models import Analysis, FoundPoint
from cqa_site.results.boards import Finding, listed, short
from cqa_site.results.figures import Figure, Files
from cqa_site.web.charts.points import distinct
from cqa_site.web.tables import TableData, text_of

from . import counts as counting
from .counts import Column, CommentCounts, groups_chart, in_percent, kept

if TYPE_CHECKING:
    from argsum.analysis.methods.prevalence import Difference, InGroup, PointByGroup, Share


# Shares, differences and p values as sentences and cells say them.


# Letters of a key point in a sentence.
LONGEST = 90


def percents(share: Share, decimals: int = 0) -> str:
    """A share in percent."""
    return "–" if share.value is None else f"{text_of(100 * share.value, decimals)} %"


def bounds(share: Share) -> str:
    """Its interval in percent."""
    if share.low is None or share.high is None:
        return ""
    return f"[{text_of(100 * share.low, 0)}, {text_of(100 * share.high, 0)}]"


def points_of(difference: Difference | None, decimals: int = 0) -> str:
    """A difference in percentage points, with its sign."""
    if difference is None:
        return "–"
    text = text_of(100 * difference.value, decimals)
    return text if text.startswith("−") or not text.strip("0.") else f"+{text}"


def points_bounds(difference: Difference | None) -> str:
    """Its interval in percentage points."""
    if difference is None or difference.low is None or difference.high is None:
        return ""
    return f"[{text_of(100 * difference.low, 0)}, {text_of(100 * difference.high, 0)}]"


def p_value(p: float | None) -> str:
    """A p value; the smallest only as what they are below."""
    if p is None:
        return _("not tested")
    return "< 0.001" if p < 0.001 else text_of(p, 3)


def quoted(text: str) -> str:
    """A key point inside a sentence; a long one loses its end."""
    short = text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"
    return f"“{short}”"


def within_intervals(what: str, differences: Iterable[Difference | None]) -> str:
    """How large differences may still be where none is shown; empty without an interval."""
    known = [each for each in differences if each and each.low is not None]
    if not known:
        return ""
    bounds = [bound for each in known for bound in (each.low, each.high) if bound is not None]
    text = _("The intervals allow %(what)s of up to %(n)s percentage points.")
    return text % {"what": what, "n": text_of(100 * max(abs(bound) for bound in bounds), 0)}


# Key points of groups of comments beside each other, and what can be said of that.


# What one chart holds: key points, and groups, for which there are signs.
CHARTED, SERIES = 8, 6
BODY = "argsum/analysis/comparing/_groups_table.html"


@dataclass(frozen=True)
class Group:
    """A value of the column and its comments."""

    value: str
    n: int

    @property
    def is_small(self) -> bool:
        """Whether it is too small for a test."""
        return self.n < counting.LEAST


@dataclass(frozen=True)
class ComparedPoint:
    """A key point with its figures in all groups."""

    point: FoundPoint
    found: PointByGroup


@dataclass(frozen=True)
class GroupComparison:
    """All key points over the groups of one column.

    Attributes
    ----------
    analysis, column
        What is compared by what.
    groups
        In the order of the columns of tables.
    rows
        The most frequent key point first.
    without
        Comments without a value, which are in no group.
    """

    analysis: Analysis
    column: str
    groups: Sequence[Group]
    rows: Sequence[ComparedPoint]
    without: int

    @property
    def tested(self) -> list[Group]:
        """Groups that are large enough."""
        return [each for each in self.groups if not each.is_small]

    @property
    def is_pair(self) -> bool:
        """Whether exactly two groups are tested, each against the other."""
        return len(self.tested) == 2

    @property
    def small(self) -> list[str]:
        """Groups that are not."""
        return [each.value for each in self.groups if each.is_small]

    @property
    def differing(self) -> list[ComparedPoint]:
        """Key points that are shown to be mentioned at different rates, the widest first."""
        found = [row for row in self.rows if row.found.differs and row.found.widest is not None]
        return sorted(found, key=lambda row: -abs(_widest(row)[1].distance))


def why_barred(column: Column) -> str:
    """Why a column forms no groups, for its reader."""
    reasons = {
        counting.TOO_MANY: _("more than %d different values") % counting.MOST_VALUES,
        counting.TOO_LONG: _("long texts"),
        counting.ONE_VALUE: _("the same value everywhere"),
        counting.TOO_FEW: _("fewer than two groups of %d comments or more") % counting.LEAST,
    }
    return reasons[column.barred]


def chosen_column(found: CommentCounts, wanted: str) -> Column | None:
    """The column asked for, or else the first that forms groups."""
    named = [each for each in found.comparable if each.name == wanted]
    return next(iter(named or found.comparable), None)


def compared(analysis: Analysis, column: Column, points: Sequence[int]) -> GroupComparison:
    """Compare the groups of a column; two queries at most.

    ``points`` are the key points of the counts, by primary key.
    """
    from argsum.analysis.methods.prevalence import compare_groups

    name = f"groups-{counting.digest(column.name)}"
    figures = kept(name, analysis, lambda: compare_groups(column.sizes, column.counts))
    rows = FoundPoint.objects.in_bulk(points)
    return GroupComparison(
        analysis=analysis,
        column=column.name,
        groups=[Group(*pair) for pair in zip(column.values, column.sizes, strict=True)],
        rows=[ComparedPoint(rows[points[each.point]], each) for each in figures],
        without=column.without,
    )


def groups_finding(found: GroupComparison) -> Finding | None:
    """Whether groups mention key points at different rates, and which most."""
    n = sum(1 for row in found.rows if row.found.p is not None)
    if not n:
        return Finding(_("No key point can be compared between these groups."), _sure(found))
    differing = found.differing
    if not differing:
        text = _("No key point is shown to be mentioned at different rates by %(column)s.")
        every = (each.difference for row in found.rows for each in row.found.groups)
        still = within_intervals(_("differences"), every)
        return Finding(text % {"column": short(found.column)}, f"{still} {_sure(found)}".strip())
    says = ngettext(
        "%(k)s of %(n)s key points is shown to be mentioned at different rates by %(column)s",
        "%(k)s of %(n)s key points are shown to be mentioned at different rates by %(column)s",
        len(differing),
    ) % {"k": len(differing), "n": n, "column": short(found.column)}
    return Finding(f"{says}; {_first(found, differing[0])}", _sure(found))


def groups_table(found: GroupComparison) -> TableData:
    """A row for each key point and group, with everything that was computed."""
    rows: list[list[Any]] = []
    for row in found.rows:
        for group, each in zip(found.groups, row.found.groups, strict=True):
            change = each.difference
            rows.append(
                [
                    row.point.text, group.value, group.n, each.share.k,
                    each.share.value, each.share.low, each.share.high,
                    *((change.value, change.low, change.high) if change else (None,) * 3),
                    each.p, row.found.p_alone, row.found.p, row.found.test or None,
                ]
            )  # fmt: skip
    return TableData(
        columns=[
            "key point", found.column, "comments", "with the key point", "share", "low", "high",
            "difference", "difference low", "difference high", "p of the difference (Holm)",
            "p of the key point", "p of the key point (Holm)", "test",
        ],
        rows=rows,
        caption=f"Key points by {found.column}: {found.analysis.name}",
        note=" ".join(groups_recipe(found).split()),
        name=f"groups-{found.analysis.number}",
    )  # fmt: skip


def groups_recipe(found: GroupComparison) -> str:
    """How the figures were made, in named paragraphs."""
    against = (
        _("the first group minus the second")
        if found.is_pair
        else _("each group minus all others together, for all groups at once (Bonferroni)")
    )
    parts = [
        _(
            "Share: comments of a group with at least one statement at the key point, divided "
            "by all comments of the group; exact 95 % interval."
        ),
        _(
            "Difference: %(against)s, in percentage points; 95 %% interval by the method of Zou "
            "and Donner from the intervals of both shares."
        )
        % {"against": against},
        _(
            "Test of the hypothesis that all groups mention a key point equally often: "
            "chi-squared. If fewer than 10 comments are expected in a cell: Fisher's exact test "
            "for two groups, 9,999 random tables with a fixed seed for more groups. All "
            "p-values are Holm-corrected over all key points, those of single groups over all "
            "key points and groups."
        ),
        _("Small groups (fewer than %d comments) are shown but not tested.") % counting.LEAST,
    ]
    return "\n\n".join(parts)


def groups_figure(found: GroupComparison, files: Files, rows: Sequence[Any]) -> Figure:
    """Chart and table; ``rows`` are those of the table that the page shows."""
    charted = found.rows[:CHARTED]
    most = sorted(found.groups, key=lambda each: -each.n)[:SERIES]
    series = [each for each in found.groups if each in most]
    about = []
    if len(charted) < len(found.rows):
        about.append(_("chart: the %d most frequent key points") % len(charted))
    if len(series) < len(found.groups):
        about.append(_("the %d largest groups") % len(series))
    return Figure(
        slug="groups",
        title=_("Key points by group"),
        about=", ".join(about),
        recipe=groups_recipe(found),
        table=groups_table(found),
        alt=_("Dots with intervals: share of comments of each group that mention a key point")
        if charted
        else "",
        draw=partial(_chart, charted, found.groups, series),
        body=BODY,
        data={"found": found, "rows": rows},
        files=files,
        is_wide=True,
    )


def cells_of(found: GroupComparison, address: Any) -> list[dict[str, Any]]:
    """Rows of the page's table: cells in words, each with the address of the comments behind it.

    ``address`` gives the page of a key point with the comments of a group.
    """
    return [
        {
            "text": row.point.text,
            "address": address(row.point, "", ""),
            "p": p_value(row.found.p),
            "differs": row.found.differs,
            "difference": _difference(found, row),
            "cells": [
                _cell(found, group, each, address(row.point, found.column, group.value))
                for group, each in zip(found.groups, row.found.groups, strict=True)
            ],
        }
        for row in found.rows
    ]


def _cell(found: GroupComparison, group: Group, each: InGroup, address: str) -> dict[str, Any]:
    return {
        "share": percents(each.share),
        "k": each.share.k,
        "bounds": bounds(each.share),
        "address": address,
        "is_small": group.is_small,
        "more": not found.is_pair and each.differs and each.distance > 0,
        "less": not found.is_pair and each.differs and each.distance < 0,
    }


def _difference(found: GroupComparison, row: ComparedPoint) -> dict[str, str]:
    """Between two groups, or of the group that is furthest from the others."""
    at = row.found.widest
    if at is None:
        return {"value": "–", "bounds": "", "group": ""}
    if found.is_pair:
        at = next(place for place, each in enumerate(found.groups) if not each.is_small)
    each = row.found.groups[at]
    name = "" if found.is_pair else short(found.groups[at].value)
    return {
        "value": points_of(each.difference),
        "bounds": points_bounds(each.difference),
        "group": name,
    }


def _widest(row: ComparedPoint) -> tuple[int, InGroup]:
    at = row.found.widest or 0
    return at, row.found.groups[at]


def _first(found: GroupComparison, row: ComparedPoint) -> str:
    at, each = _widest(row)
    text = _(
        "largest difference in these data: %(point)s, %(one)s of %(group)s, %(other)s of "
        "%(rest)s (%(difference)s)."
    )
    return text % {
        "point": quoted(row.point.text),
        "one": percents(each.share),
        "group": _named(found.groups[at].value),
        "other": percents(each.other) if each.other else "–",
        "rest": _named(_other(found, at)) if found.is_pair else _("the others"),
        "difference": _("%(points)s points %(bounds)s")
        % {"points": points_of(each.difference), "bounds": points_bounds(each.difference)},
    }


def _other(found: GroupComparison, at: int) -> str:
    """The second of two groups that are compared."""
    return next(each.value for each in found.tested if each != found.groups[at])


def _named(value: str) -> str:
    return f"“{short(value)}”"


def _sure(found: GroupComparison) -> str:
    sizes = sorted(each.n for each in found.tested or found.groups)
    low, high = f"{sizes[0]:,}", f"{sizes[-1]:,}"
    text = _(
        "%(n)s comments in %(groups)s groups of %(sizes)s; p-values Holm-corrected over all key "
        "points. Statements were placed automatically."
    ) % {
        "n": f"{sum(sizes):,}",
        "groups": len(sizes),
        "sizes": _("%s each") % low if low == high else _("%s to %s") % (low, high),
    }
    small = _("Too small for a test: %s.") % listed(found.small) if found.small else ""
    return f"{text} {small}".strip()


def _chart(
    rows: Sequence[ComparedPoint], groups: Sequence[Group], series: Sequence[Group], size: str
) -> Any:
    texts = distinct(row.point.text for row in rows)
    marked = [
        {"point": text, "group": group.value} | in_percent(each.share)
        for text, row in zip(texts, rows, strict=True)
        for group, each in zip(groups, row.found.groups, strict=True)
        if group in series
    ]
    names = [each.value for each in series]
    return groups_chart(marked, names, _("Comments that mention it, %"), size)
