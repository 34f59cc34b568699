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


NAMES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "table", "text")
)
# An .xls of two sheets, as xlwt 1.3.0 wrote it, compressed; all of its text is invented.
OLD_WORKBOOK = (
    "c-rk)O-NKx6#nj;H$R$=<6oeGyo9Vw1#8pBrowVHViEL1P}iB4P7X8j=C!a*mbnaqRz(}Zf;Lv0eyE_JMMR*~A_xMlrK"
    "_Nzg*u&k-kV9yz=1N1_dV{p=bU@*IrrUr?$3Kula<qB_v>e{413_iLaqdXMLI#LBrilj<++?<^LdC;&cnJwNr)yg;K!5"
    "lH$gRrYQATn;hz42DDa8WNerSplQxYt#D4CB6siv$LZ{f%aFbFPb=<Eirg5g#Oz(2tr%d;<<_gmesyi)CU^3d>yxWcAV"
    "_GAZg^3D0<Tf8z(~eraQgM9Ys&MN1vCm4%)H*9@(919mn$j*aZCXmMz%7&l#|f>mSZinJG-_zN$MG#^0AKU#`nloh*H$"
    "k;`tM8i!QbdZG>Oag*EAg%M((sw!90p`yw+8TpBAlcW=By5gST-Vozj+bn4&7+MDY=m3DY<?NL;4(tQoi43*1iH&$DLQ"
    "Hq&vF+FR02ru%$ALJpDr1Z@a(81%`k(Pt%7sW7d^erd%sGUX_0DE6qZ-;{Qi92jS0);6s+KVVxjnWlU&CDZ0+h$FBdkw"
    "h9<dNoOsNqHP8$|Y${(io^V3@XnMXQQ8VLr}7$yiLV5oSiJPWG5@<^<73ZfePj;d6h?KAm{FUc^m8PiJoH3FrQw|8Mj3"
    "ZC~~-{T2SL~p~Ruh++qjQOKf!$^Yu(?Xy7St>Zx^^gCkt$GM6@ypIwZ1(XEU4ZN!hx9(vR;`Z>Ct_=&EW^EDIiqhn~KG"
    "dDr))iZ(?(IReKS9l!F=fd3$KQgWRWoHa&5x4I-_aLvpJdYV@JovQNs_;NnrJeI9)?!qB$Xi{nqZ(LoRMi_hQhszCNh8"
    "TukbETR1xY8#Uy%GH1zbO31wVrQ1l{_A{e%jV@}ur*&*&`#`zhs9^Y%-P{P?vH9~G*f%D%ROeU0sxx)z;T-cXQ~{W90S"
    "#`b4@%Kk*bzQ*?5*uqM&<-vmo4<0;t_%{%ICvom!I^Q~++gQ;3uQN|+!TU|}-{LTRQDx|h%D@5o(z5AGYpAIB*$BVL+Y"
    "+m6lmB0+aFo1T7(g%gW1#5xrQ4@i{64F082NKcs966C#q{$p`~LwQj5po"
)


def typed(kind: str, shown: str, **value: str) -> str:
    """A cell of a kind, with the text that is shown and the value behind it."""
    given = "".join(
        f' office:{name if name == "value" else f"{name}-value"}="{text}"'
        for name, text in value.items()
    )
    return (
        f'<table:table-cell office:value-type="{kind}"{given}><text:p>{shown}</text:p>'
        "</table:table-cell>"
    )


def cells(*texts: str) -> str:
    """Cells of texts."""
    return "".join(typed("string", text) for text in texts)


def row(content: str) -> str:
    """A row of cells."""
    return f"<table:table-row>{content}</table:table-row>"


def repeated(rows: int, content: str = "<table:table-cell/>") -> str:
    return f'<table:table-row table:number-rows-repeated="{rows}">{content}</table:table-row>'


def skipped(columns: int) -> str:
    return f'<table:table-cell table:number-columns-repeated="{columns}"/>'


def ods(rows: str) -> bytes:
    """An OpenDocument spreadsheet with one sheet."""
    content = (
        f"<office:document-content {NAMES}><office:body><office:spreadsheet>"
        f'<table:table table:name="Data">{rows}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    manifest = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    listed = (
        f'<m:manifest xmlns:m="{manifest}"><m:file-entry m:full-path="/" m:media-type="{kind}"/>'
        "</m:manifest>"
    )
    parts = {"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": listed}
    return packed(parts)
