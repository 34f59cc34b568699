"""A report as a document of word processors; python-docx is loaded here and nowhere else."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cqa_site.results.page_tables import WithInterval
from cqa_site.web.charts import drawing
from cqa_site.web.tables import text_of

from .report import Report
from .report_parts import Part

if TYPE_CHECKING:
    from docx.document import Document

TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
# Characters that XML cannot hold.
UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
SMALL = 9
# Of a chart; a sheet has about 6 inches.
INCHES = 5.6


def docx_of(report: Report, parts: Sequence[Part]) -> bytes:
    """The document as a file."""
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
    """A text without what XML cannot hold."""
    return UNWRITABLE.sub("", str(text))


def words_of(cell: Any) -> str:
    """A cell of a table as text."""
    if isinstance(cell, WithInterval):
        return f"{cell.text} {cell.bounds}".strip()
    return text_of(cell)


def _heading(document: Document, part: Part) -> None:
    document.add_heading(plain(part.text), 1)


def _point(document: Document, part: Part) -> None:
    document.add_heading(plain(part.text), 2)
    _small(document, part.note)


def _text(document: Document, part: Part) -> None:
    document.add_paragraph(plain(part.text))


def _finding(document: Document, part: Part) -> None:
    document.add_paragraph().add_run(plain(part.text)).bold = True


def _facts(document: Document, part: Part) -> None:
    rows = [(name, text) for name, text in part.facts]
    if not rows:
        return
    table = document.add_table(rows=0, cols=2)
    for row in rows:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = plain(text)


def _quotations(document: Document, part: Part) -> None:
    for each in part.quotations:
        document.add_paragraph(plain(f"“{each}”"), style="List Bullet")


def _table(document: Document, part: Part) -> None:
    if part.table is None:
        return
    table = document.add_table(rows=1, cols=len(part.table.columns), style="Light Grid Accent 1")
    for cell, text in zip(table.rows[0].cells, part.table.columns, strict=True):
        cell.text = plain(text)
    for row in part.table.rows:
        for cell, value in zip(table.add_row().cells, row, strict=True):
            cell.text = plain(words_of(value))
    _small(document, part.note)


def _chart(document: Document, part: Part) -> None:
    from docx.shared import Inches

    if part.draw is None:
        return
    picture = drawing.picture(part.draw("wide"), format="png", theme="light")
    document.add_picture(io.BytesIO(picture), width=Inches(INCHES))
    shape = document.inline_shapes[-1]._inline.docPr
    shape.set("descr", plain(part.chart.alt if part.chart else ""))


def _small(document: Document, text: str) -> None:
    from docx.shared import Pt

    document.add_paragraph().add_run(plain(text)).font.size = Pt(SMALL)


WRITERS = {
    "heading": _heading,
    "point": _point,
    "text": _text,
    "finding": _finding,
    "facts": _facts,
    "quotations": _quotations,
    "table": _table,
    "chart": _chart,
}
