"""A report as headings, texts, lists, tables and charts, from which page and files are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from cqa_site.results.figures import Figure, Files
from cqa_site.results.page_tables import PageTable
from cqa_site.web.charts.drawing import Spec

from .groups import Compared, groups_figure, groups_finding
from .report import Report, note_of
from .trends import CHARTED, OverTime, trends_figures, trends_finding
from .words import bounds, p_value, percents, points_bounds, points_of

# Columns that fit on a sheet of paper, and rows of a comparison.
MOST_GROUPS, MOST_ROWS = 5, 20
# A figure of one of these names → where its files are.
FilesOf = Callable[[str], Files]


@dataclass(frozen=True)
class Part:
    """One part of the document, in its order.

    Attributes
    ----------
    kind
        heading, point, text, finding, facts, quotations, table or chart.
    text
        Of a heading, a text, a finding; the key point of a point.
    note
        Beside the text of a point, and below a table.
    """

    kind: str
    text: str = ""
    note: str = ""
    facts: Sequence[tuple[str, str]] = ()
    quotations: Sequence[str] = ()
    table: PageTable | None = None
    chart: Figure | None = None

    @property
    def draw(self) -> Callable[[str], Spec] | None:
        """What draws the chart."""
        return self.chart.draw if self.chart else None


def parts_of(report: Report, files: FilesOf) -> list[Part]:
    """The whole document but its title."""
    return [
        Part("finding", report.says),
        Part("heading", _("Comments and method")),
        Part("facts", facts=report.facts),
        *_points(report),
        *_rest(report),
        *(_groups(report.groups, files) if report.groups else ()),
        *(_time(report.time, files) if report.time else ()),
        *_edits(report),
        Part("heading", _("To be kept in mind")),
        *(Part("text", each) for each in report.caveats),
    ]


def _points(report: Report) -> list[Part]:
    made = [Part("heading", _("Key points"))]
    note = _("In brackets: exact 95 % interval of the share of comments, in percent.")
    made.append(Part("text", note if report.points else _("No key point is shown.")))
    for each in report.points:
        made.append(Part("point", f"{each.number}. {each.point.text}", note_of(each)))
        if each.quotations:
            made.append(Part("quotations", quotations=each.quotations))
    if report.beyond:
        text = ngettext(
            "%s further key point is in the table of key points.",
            "%s further key points are in the table of key points.",
            report.beyond,
        )
        made.append(Part("text", text % f"{report.beyond:,}"))
    return made


def _rest(report: Report) -> list[Part]:
    made = [Part("heading", _("What fits no key point"))]
    text = _("%(k)s of %(n)s statements (%(share)s).")
    said = {
        "k": f"{report.rest.k:,}",
        "n": f"{report.rest.n:,}",
        "share": percents(report.rest),
    }
    made.append(Part("text", text % said))
    if report.of_the_rest:
        made.append(Part("quotations", quotations=report.of_the_rest))
    return made


def _groups(found: Compared, files: FilesOf) -> list[Part]:
    finding = groups_finding(found)
    made = [Part("heading", _("By %s") % found.column)]
    if finding:
        made += [Part("finding", finding.says), Part("text", finding.sure)]
    figure = groups_figure(found, files("groups"), [])
    if figure.alt:
        made.append(Part("chart", chart=figure))
    made.append(Part("table", table=groups_sheet(found), note=_method(figure)))
    return made


def groups_sheet(found: Compared) -> PageTable:
    """The comparison on paper: a column for each of few groups, or the one that is furthest."""
    has_columns = len(found.groups) <= MOST_GROUPS
    names = [f"{each.value} (n = {each.n:,})" for each in found.groups] if has_columns else []
    rows: list[list[Any]] = []
    for row in found.rows[:MOST_ROWS]:
        at = row.found.widest
        each = row.found.groups[at] if at is not None else None
        shares = [_with_bounds(one.share) for one in row.found.groups] if has_columns else []
        furthest = found.groups[at].value if at is not None and not found.is_pair else ""
        change = each.difference if each else None
        words = f"{points_of(change)} {points_bounds(change)} {furthest}".strip()
        rows.append([row.point.text, *shares, words, p_value(row.found.p)])
    columns = [_("Key point"), *names, _("Difference, points"), _("p (Holm)")]
    return PageTable(columns, rows, [False, *(True for _column in columns[1:])])


def _time(found: OverTime, files: FilesOf) -> list[Part]:
    finding = trends_finding(found)
    chosen = found.rows[:CHARTED]
    figure, _all = trends_figures(found, chosen, files("trends"))
    made = [
        Part("heading", _("Over time")),
        Part("finding", finding.says),
        Part("text", finding.sure),
    ]
    if chosen:
        made.append(Part("chart", chart=figure))
    rows = [
        [
            row.point.text,
            _with_bounds(row.found.all),
            f"{points_of(row.found.change)} {points_bounds(row.found.change)}".strip(),
            p_value(row.found.p),
        ]
        for row in found.rows[:MOST_ROWS]
    ]
    columns = [_("Key point"), _("Share"), _("Change, points"), _("p (Holm)")]
    table = PageTable(columns, rows, [False, True, True, True])
    made.append(Part("table", table=table, note=_method(figure)))
    return made


def _edits(report: Report) -> list[Part]:
    """Who changed how much by hand; nothing where nobody did."""
    if not report.edits and not report.undone:
        return []
    facts = [
        (each.person, ", ".join(f"{verb}: {n:,}" for verb, n in each.verbs))
        for each in report.edits
    ]
    made = [Part("heading", _("Edits by hand")), Part("facts", facts=facts)]
    if report.undone:
        text = ngettext("%s edit was taken back.", "%s edits were taken back.", report.undone)
        made.append(Part("text", text % f"{report.undone:,}"))
    return made


def _with_bounds(share: Any) -> str:
    return f"{percents(share)} {bounds(share)}".strip()


def _method(figure: Figure) -> str:
    return " ".join(str(figure.recipe).split())
