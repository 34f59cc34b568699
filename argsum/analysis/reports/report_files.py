"""The report as page parts, tables and a Word document."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Case, F, Q, QuerySet, When
from django.utils.text import capfirst
from django.utils.translation import gettext as _, ngettext

from argsum.analysis.models import Analysis, FoundPoint, Placement
from argsum.datasets.models import CellArgument
from cqa_site.results.boards import PageTable, WithInterval
from cqa_site.results.figures import Column, Figure, Files, TextColumn, table_of
from cqa_site.web.charts import vega
from cqa_site.web.charts.vega import Spec
from cqa_site.web.tables import TableData, text_of
from .analyses import writer_in_words
from .counts import CommentCounts
from .extensions import CitedStatement, PrintedParagraph, notes_of
from .groups import (
    GroupComparison,
    bounds,
    groups_figure,
    groups_finding,
    p_value,
    percents,
    points_of,
)
from .report import Report, ReportedPoint, note_of, share_in_words, theme_note
from .trends import CHARTED, PointTrends, trends_figures, trends_finding
from .voices import COMMENTS, VOICES, VOICES_RECIPE, sure_of

if TYPE_CHECKING:
    from docx.document import Document


# Maximum numbers of group columns, to fit on paper, and of rows in a comparison.
MOST_GROUPS, MOST_ROWS = 5, 20
# Function that maps the name of a figure to its files.
FilesOf = Callable[[str], Files]


@dataclass(frozen=True)
class ReportPart:
    """One part of the document.

    Attributes
    ----------
    kind
        heading, theme, point, text, finding, facts, quotations, table, chart, paragraph or
        citations.
    text
        Text of a heading, paragraph or finding, or of a key point.
    note
        Note below a theme, point, paragraph or table.
    level
        Level of the heading of a point.
    """

    kind: str
    text: str = ""
    note: str = ""
    facts: Sequence[tuple[str, str]] = ()
    quotations: Sequence[str] = ()
    table: PageTable | None = None
    chart: Figure | None = None
    level: int = 3
    paragraph: PrintedParagraph | None = None
    citations: Sequence[CitedStatement] = ()

    @property
    def draw(self) -> Callable[[str], Spec] | None:
        """Function that draws the chart; None if there is no chart."""
        return self.chart.draw if self.chart else None


def parts_of(report: Report, files: FilesOf) -> list[ReportPart]:
    """Return all parts of the document except its title."""
    return [
        ReportPart("finding", report.says),
        *_summary(report),
        ReportPart("heading", _("Comments and method")),
        ReportPart("facts", facts=report.facts),
        *_points(report),
        *_rest(report),
        *(_groups(report.groups, files) if report.groups else ()),
        *(_time(report.time, files) if report.time else ()),
        *_edits(report),
        ReportPart("heading", _("Limitations")),
        *(ReportPart("text", caveat) for caveat in report.caveats),
    ]


def _summary(report: Report) -> list[ReportPart]:
    """Return the summary in prose and its cited statements, or no parts if there is none."""
    if report.summary is None:
        return []
    # Key points and themes that have been renamed since have no share.
    shares = {row.point.text: share_in_words(row) for row in (*report.points, *report.few)}
    shares |= {theme.name: theme_note(theme) for theme in report.themes if theme.name}
    return [
        ReportPart("heading", _("Summary in prose")),
        *(ReportPart("text", note) for note in notes_of(report.summary)),
        *(
            ReportPart(
                "paragraph", paragraph.theme, shares.get(paragraph.theme, ""), paragraph=paragraph
            )
            for paragraph in report.summary.paragraphs
        ),
        ReportPart("citations", _("Comments cited"), citations=report.summary.citations),
    ]


def _points(report: Report) -> list[ReportPart]:
    parts = [ReportPart("heading", _("Key points"))]
    note = _(
        "Each count is the number of comments with a statement that the program "
        "placed under the key point, with their share of all comments in brackets."
    )
    if report.asked.unit == VOICES:
        note = _(
            "Each count is the number of voices with a statement that the program placed "
            "under the key point, with their share of all voices in brackets."
        )
        note = f"{note} {VOICES_RECIPE}"
    if report.analysis.has_bands:
        weak = _("“Perhaps” marks weaker matches, but the others can also be wrong.")
        if report.analysis.is_coded:
            weak = _(
                "“Perhaps” marks placements that match scores do not confirm, but the others "
                "can also be wrong."
            )
        note = f"{note} {weak}"
    if report.themes:
        themes = _("Themes are proposals. A comment counts once per theme.")
        note = f"{note} {themes}"
    has_points = report.points or report.few
    parts.append(ReportPart("text", note if has_points else _("No key points to show.")))
    for theme in report.themes:
        own = [point for point in report.points if point.point.theme == theme.name]
        name = theme.name or _("No theme")
        parts.append(ReportPart("theme", name, theme_note(theme)))
        parts += _point_parts(own, level=4)
    if not report.themes:
        parts += _point_parts(report.points, is_numbered=True)
    if report.few:
        parts.append(ReportPart("heading", _("Said by few")))
        text = _(
            "Key points in under 2 % of all comments or voices. The most distinctive come first: "
            "their statements match each other well and other key points poorly."
        )
        parts += [ReportPart("text", text), *_point_parts(report.few)]
    if report.beyond:
        text = ngettext(
            "%s more key point is in the table of key points.",
            "%s more key points are in the table of key points.",
            report.beyond,
        )
        parts.append(ReportPart("text", text % f"{report.beyond:,}"))
    return parts


def _point_parts(
    points: Sequence[ReportedPoint], level: int = 3, *, is_numbered: bool = False
) -> Iterator[ReportPart]:
    for point in points:
        text = f"{point.number}. {point.point.text}" if is_numbered else point.point.text
        yield ReportPart("point", text, note_of(point), level=level)
        if point.quotations:
            yield ReportPart("quotations", quotations=point.quotations)


def _rest(report: Report) -> list[ReportPart]:
    parts = [ReportPart("heading", _("Unmatched statements"))]
    rest = report.rest
    values = {"k": f"{rest.k:,}", "n": f"{rest.n:,}", "share": percents(rest)}
    text = _("%(k)s of %(n)s different statements (%(share)s).") % values
    parts.append(ReportPart("text", text))
    if report.of_the_rest:
        parts.append(ReportPart("quotations", quotations=report.of_the_rest))
    return parts


def _groups(comparison: GroupComparison, files: FilesOf) -> list[ReportPart]:
    finding = groups_finding(comparison)
    parts = [ReportPart("heading", _("By %s") % comparison.column)]
    if finding:
        parts += [ReportPart("finding", finding.says), ReportPart("text", finding.sure)]
    figure = groups_figure(comparison, files("groups"), [])
    if figure.alt:
        parts.append(ReportPart("chart", chart=figure))
    parts.append(ReportPart("table", table=groups_sheet(comparison), note=_method(figure)))
    return parts


def groups_sheet(comparison: GroupComparison) -> PageTable:
    """Return the printed comparison, with a column per group only if there are few groups."""
    has_columns = len(comparison.groups) <= MOST_GROUPS
    names = (
        [f"{group.value} (n = {group.n:,})" for group in comparison.groups] if has_columns else []
    )
    rows: list[list[Any]] = []
    for row in comparison.rows[:MOST_ROWS]:
        at = row.found.widest
        cell = row.found.groups[at] if at is not None else None
        shares = [_with_bounds(group.share) for group in row.found.groups] if has_columns else []
        furthest = comparison.groups[at].value if at is not None and not comparison.is_pair else ""
        change = cell.difference if cell else None
        words = f"{points_of(change)} {bounds(change)} {furthest}".strip()
        rows.append([row.point.text, *shares, words, p_value(row.found.p)])
    head = capfirst(comparison.noun)
    columns = [head, *names, _("Difference (percentage points)"), _("p (Holm)")]
    return PageTable(columns, rows, [False, *(True for _column in columns[1:])])


def _time(trend: PointTrends, files: FilesOf) -> list[ReportPart]:
    finding = trends_finding(trend)
    chosen = trend.rows[:CHARTED]
    figure, _all = trends_figures(trend, chosen, files("trends"))
    parts = [
        ReportPart("heading", _("Over time")),
        ReportPart("finding", finding.says),
        ReportPart("text", finding.sure),
    ]
    if chosen:
        parts.append(ReportPart("chart", chart=figure))
    rows = [
        [
            row.point.text,
            _with_bounds(row.found.all),
            f"{points_of(row.found.change)} {bounds(row.found.change)}".strip(),
            p_value(row.found.p),
        ]
        for row in trend.rows[:MOST_ROWS]
    ]
    columns = [capfirst(trend.noun), _("Share"), _("Change (percentage points)"), _("p (Holm)")]
    table = PageTable(columns, rows, [False, True, True, True])
    parts.append(ReportPart("table", table=table, note=_method(figure)))
    return parts


def _edits(report: Report) -> list[ReportPart]:
    """Return the edits made by hand, or no parts if there are none."""
    if not report.edits and not report.undone:
        return []
    facts = [
        (edit.person, ", ".join(f"{verb}: {n:,}" for verb, n in edit.verbs))
        for edit in report.edits
    ]
    parts = [ReportPart("heading", _("Edits by hand")), ReportPart("facts", facts=facts)]
    if report.undone:
        text = ngettext("%s edit was undone.", "%s edits were undone.", report.undone)
        parts.append(ReportPart("text", text % f"{report.undone:,}"))
    return parts


def _with_bounds(share: Any) -> str:
    return f"{percents(share)} {bounds(share)}".strip()


def _method(figure: Figure) -> str:
    return " ".join(str(figure.recipe).split())


PIECE = 1_000
FIXED = (
    "key_point", "key_point_text", "theme", "state", "statement", "score", "sure", "by_hand",
    "comment", "comment_id", "written_on", "file", "near_duplicates",
)  # fmt: skip
# Column for the further columns of a comment.
FURTHER = "further_columns"


def points_table(analysis: Analysis) -> TableData:
    """Return a row for each key point in any state, most frequent first."""
    states = dict(FoundPoint.State.choices)
    origins = dict(FoundPoint.Origin.choices)
    alive = analysis.points.filter(state__in=FoundPoint.ALIVE).select_related("writer__prompt")
    columns = (
        TextColumn("key point", "public_id"),
        Column("text", "text"),
        Column("theme", "theme"),
        Column("state", lambda point: str(states[point.state])),
        Column("comments", "comments"),
        Column("sure comments", lambda point: _sure(analysis, point, COMMENTS)),
        Column("share", lambda point: _share(analysis, point.comments, COMMENTS)),
        Column("voices", "voices"),
        Column("sure voices", lambda point: _sure(analysis, point, VOICES)),
        Column("share of voices", lambda point: _share(analysis, point.voices, VOICES)),
        Column("statements", "statements"),
        Column("origin", lambda point: str(origins[point.origin])),
        Column("text as found", "written"),
        Column("written by", writer_in_words),
    )
    return table_of(
        columns,
        alive.order_by("-comments", "position"),
        caption=f"Key points: {analysis.cell.topic}",
        name=f"key-points-{analysis.number}",
    )


def _sure(analysis: Analysis, point: FoundPoint, unit: str) -> int | None:
    return sure_of(analysis, point, unit) if analysis.has_bands else None


def _share(analysis: Analysis, number: int, unit: str) -> float | None:
    """Return the share (0–1) of all comments or voices; None if there are no comments."""
    total = max(getattr(analysis, unit), number)
    return number / total if total else None


def statement_types(names: Sequence[str]) -> dict[str, type]:
    """Return the columns of the statement table. ``names`` are columns of the comments."""
    types: dict[str, type] = dict.fromkeys(FIXED, str)
    types |= {"score": float, "sure": bool, "by_hand": bool}
    for name in names:
        types[_free(name, types)] = str
    return types | {_free(FURTHER, types): str}


def statement_rows(analysis: Analysis, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each mention of a statement, in the order of the statements.

    A statement that is not part of a comment has one row. The state shows whether a key point is
    proposed or hidden. Rows are read in batches, and the queries for a batch end before its rows
    are sent, so edits in the meantime appear in later batches.
    """
    own = set(names)
    states = dict(FoundPoint.State.choices)
    for row in _pieces(analysis):
        _position, _said, _key, point, text, theme, state, *placement, group, attributes = row
        fields = attributes or {}
        further = {name: value for name, value in fields.items() if name not in own}
        yield (
            str(point) if point else None,
            text,
            theme or None,
            str(states[state]) if state else None,
            *placement,
            str(group) if group else None,
            *(fields.get(name) for name in names),
            json.dumps(further, ensure_ascii=False) if further else None,
        )


def _pieces(analysis: Analysis) -> Iterator[tuple[Any, ...]]:
    """Yield stored rows, each preceded by its statement's position, mention key and row key."""
    placed = CellArgument.objects.filter(cell=analysis.cell_id).order_by("position")
    last = -1
    while few := list(placed.filter(position__gt=last).values_list("pk", "position")[:PIECE]):
        keys, last = [key for key, _position in few], few[-1][1]
        yield from _said(Placement.objects.filter(analysis=analysis, argument__in=keys))


def _said(placements: QuerySet[Placement]) -> Iterator[tuple[Any, ...]]:
    """Yield stored rows for a few statements, which may have many mentions."""
    prefix = "argument__said_in__"
    group = f"{prefix}comment__duplicate"
    grouped = When(**{f"{group}__is_out": False, "then": F(f"{group}__group__public_id")})
    # Annotated, because a filter on mentions would join them a second time.
    named = placements.annotate(mention=F(f"{prefix}pk"), near_duplicates=Case(grouped))
    rows = named.order_by(
        "argument__position", F("mention").asc(nulls_first=True), "pk"
    ).values_list(
        "argument__position", "mention", "pk",
        "point__public_id", "point__text", "point__theme", "point__state",
        "argument__text", "score", "is_sure", "is_by_hand",
        f"{prefix}comment__text", f"{prefix}comment__name",
        f"{prefix}comment__written_on", f"{prefix}comment__source", "near_duplicates",
        f"{prefix}comment__attributes",
    )  # fmt: skip
    after = Q()
    while piece := list(rows.filter(after)[:PIECE]):
        yield from piece
        if len(piece) < PIECE:
            break
        position, mention, key, *_rest = piece[-1]
        here = Q(mention=mention) if mention is not None else Q(mention__isnull=True)
        later = Q(mention__gt=mention or 0) | (here & Q(pk__gt=key))
        after = Q(argument__position__gt=position) | (Q(argument__position=position) & later)


def column_names(counts: CommentCounts) -> list[str]:
    """Return the columns of comments that have a separate column in the table."""
    return [column.name for column in counts.columns]


def _free(name: str, columns: dict[str, type]) -> str:
    """Return a column name that is not in use."""
    while name in columns:
        name = f"{name} (comment)"
    return name


TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
# Characters that are not allowed in XML.
UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
SMALL = 9
# Width of a chart; the text is about 6 inches wide.
INCHES = 5.6


def docx_of(report: Report, parts: Sequence[ReportPart]) -> bytes:
    """Return the document as a Word file."""
    from docx import Document as new_document

    document = new_document()
    about = document.core_properties
    about.title, about.author = plain(report.analysis.cell.topic)[:250], "Counterpoint"
    about.comments = ""
    document.add_heading(plain(report.analysis.cell.topic), 0)
    if report.analysis.name != report.analysis.cell.topic:
        document.add_paragraph(plain(report.analysis.name))
    for part in parts:
        WRITERS[part.kind](document, part)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def plain(text: Any) -> str:
    """Return a text without characters that are not allowed in XML."""
    return UNWRITABLE.sub("", str(text))


def words_of(cell: Any) -> str:
    """Return a table cell as text."""
    if isinstance(cell, WithInterval):
        return f"{cell.text} {cell.bounds}".strip()
    return text_of(cell)


def _point(document: Document, part: ReportPart) -> None:
    document.add_heading(plain(part.text), part.level - 1)
    _small(document, part.note)


def _finding(document: Document, part: ReportPart) -> None:
    document.add_paragraph().add_run(plain(part.text)).bold = True


def _facts(document: Document, part: ReportPart) -> None:
    if not part.facts:
        return
    table = document.add_table(rows=0, cols=2)
    for row in part.facts:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = plain(text)


def _quotations(document: Document, part: ReportPart) -> None:
    for quotation in part.quotations:
        document.add_paragraph(plain(f"“{quotation}”"), style="List Bullet")


def _paragraph(document: Document, part: ReportPart) -> None:
    document.add_heading(plain(part.text), 2)
    if part.note:
        _small(document, part.note)
    if part.paragraph is not None:
        sentences = (
            f"{sentence.text} [{', '.join(map(str, sentence.cites))}]"
            for sentence in part.paragraph.sentences
        )
        document.add_paragraph(plain(" ".join(sentences)))


def _citations(document: Document, part: ReportPart) -> None:
    document.add_heading(plain(part.text), 2)
    for citation in part.citations:
        _small(document, f"[{citation.number}] “{citation.text}” ({citation.mentions})")


def _table(document: Document, part: ReportPart) -> None:
    if part.table is None:
        return
    table = document.add_table(rows=1, cols=len(part.table.columns), style="Light Grid Accent 1")
    for cell, text in zip(table.rows[0].cells, part.table.columns, strict=True):
        cell.text = plain(text)
    for row in part.table.rows:
        for cell, value in zip(table.add_row().cells, row, strict=True):
            cell.text = plain(words_of(value))
    _small(document, part.note)


def _chart(document: Document, part: ReportPart) -> None:
    from docx.shared import Inches

    if part.draw is None:
        return
    picture = vega.picture(part.draw("wide"), format="png", theme="light")
    document.add_picture(io.BytesIO(picture), width=Inches(INCHES))
    shape = document.inline_shapes[-1]._inline.docPr
    shape.set("descr", plain(part.chart.alt if part.chart else ""))


def _small(document: Document, text: str) -> None:
    from docx.shared import Pt

    document.add_paragraph().add_run(plain(text)).font.size = Pt(SMALL)


WRITERS: dict[str, Callable[[Document, ReportPart], object]] = {
    "heading": lambda document, part: document.add_heading(plain(part.text), 1),
    "theme": _point,
    "point": _point,
    "text": lambda document, part: document.add_paragraph(plain(part.text)),
    "finding": _finding,
    "facts": _facts,
    "quotations": _quotations,
    "table": _table,
    "chart": _chart,
    "paragraph": _paragraph,
    "citations": _citations,
}
