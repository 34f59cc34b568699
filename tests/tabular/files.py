"""Small invented files, honest and hostile, and a child that is none, for the tests of tables."""

import io
import zipfile
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryFile
from types import SimpleNamespace

import pytest

from cqa_site.tabular import xlsx_child

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
CONTENT = "application/vnd.openxmlformats-officedocument.spreadsheetml"

LAUGHS = (
    '<!DOCTYPE x [<!ENTITY a "ha ha ha ha ha ha ha ha ha ha">'
    '<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>'
)


def sheet_xml(rows: str, *, before: str = "") -> str:
    return f'{before}<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'


def cell(reference: str, text: str) -> str:
    return f'<c r="{reference}" t="inlineStr"><is><t>{text}</t></is></c>'


HEADER = f'<row r="1">{cell("A1", "object1")}{cell("B1", "text")}</row>'
SECOND = f'<row r="2">{cell("A2", "oak")}{cell("B2", "grows slowly")}</row>'


def workbook_parts(sheet: str) -> dict[str, str]:
    """The fewest parts with which openpyxl accepts a workbook of one sheet."""
    return {
        "[Content_Types].xml": (
            f'<Types xmlns="{PACKAGE}/content-types">'
            '<Default Extension="rels" '
            'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{CONTENT}.sheet.main+xml"/>'
            '<Override PartName="/xl/worksheets/sheet1.xml" '
            f'ContentType="{CONTENT}.worksheet+xml"/>'
            "</Types>"
        ),
        "_rels/.rels": (
            f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
            f'Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
        ),
        "xl/workbook.xml": (
            f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
            '<sheet name="Data" sheetId="1" r:id="r1"/></sheets></workbook>'
        ),
        "xl/_rels/workbook.xml.rels": (
            f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
            f'Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>'
        ),
        "xl/worksheets/sheet1.xml": sheet,
    }


def packed(parts: dict[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def workbook(rows: str, *, before: str = "", **more: str | bytes) -> bytes:
    return packed({**workbook_parts(sheet_xml(rows, before=before)), **more})


def lying_workbook(declared: int = 200) -> bytes:
    """A part whose directory entry declares other bytes than it unpacks to, usually fewer."""
    honest = workbook(HEADER + SECOND + " " * 300)
    size = len(sheet_xml(HEADER + SECOND + " " * 300))
    return honest.replace(size.to_bytes(4, "little"), declared.to_bytes(4, "little"))


def saved(folder: Path, content: bytes | str) -> Path:
    path = folder / "upload"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


class FinishedChild:
    """What the child's code answers, written by this process; to start one takes longer.

    Without the bounds of memory and processor time, and with a parser that also knows lxml: tests
    about these start the process.
    """

    def __init__(self, file, sheet, limits):
        file.seek(0)
        answers = io.BytesIO()
        streams = SimpleNamespace(
            stdin=SimpleNamespace(buffer=file), stdout=SimpleNamespace(buffer=answers), modules={}
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OPENPYXL_DEFUSEDXML", "True")
            patch.setattr(xlsx_child, "sys", streams)
            xlsx_child._emit(*xlsx_child._outcome(asdict(limits), sheet))
        self.stdout = TemporaryFile()  # noqa: SIM115  closed by its reader
        self.stdout.write(answers.getvalue())
        self.stdout.seek(0)

    def poll(self):
        return 0

    def wait(self, timeout=None):
        return 0
