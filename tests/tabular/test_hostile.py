"""Files made to hurt: a clear refusal, no growth of this process, no child left."""

import io
import os
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from cqa_site.tabular import Limits, UnreadableFile, open_table, preview
from .files import (
    HEADER,
    LAUGHS,
    SECOND,
    FinishedChild,
    cell,
    cells,
    lying_workbook,
    ods,
    packed,
    repeated,
    row,
    saved,
    sheet_xml,
    skipped,
    workbook,
    workbook_parts,
)

MEGABYTE = 1024 * 1024
MOST_GROWTH = 50 * MEGABYTE
LAST = 1_048_576
NESTED = "[" * 100_000
LONG = "9" * 5_000
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


PARTS = workbook_parts(sheet_xml(HEADER + SECOND))


def shared_strings(before):
    types = PARTS["[Content_Types].xml"].replace(
        "</Types>",
        '<Override PartName="/xl/sharedStrings.xml" ContentType="application/vnd.'
        'openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"/></Types>',
    )
    content = f"{before}<sst><si><t>&c;</t></si></sst>"
    return packed({**PARTS, "[Content_Types].xml": types, "xl/sharedStrings.xml": content})


def encrypted_zip():
    content = bytearray(workbook(HEADER + SECOND))
    at = content.rindex(b"PK\x01\x02")
    content[at + 8] |= 1
    return bytes(content)


def repeated_member():
    buffer = io.BytesIO(workbook(HEADER + SECOND))
    with (
        pytest.warns(UserWarning, match="Duplicate name"),
        zipfile.ZipFile(buffer, "a") as archive,
    ):
        archive.writestr("xl/workbook.xml", "<again/>")
    return buffer.getvalue()


def huge_directory():
    """An archive of 70,000 entries, whose directory alone would fill a lot of memory."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(70_000):
            archive.writestr(f"x{number}", b"")
    return buffer.getvalue()


def row_of(number, text="x"):
    return HEADER + f'<row r="{number}">{cell(f"A{number}", text)}</row>'


def book(content, **before):
    """A workbook with this in its second row."""
    return workbook(HEADER + f'<row r="2">{content}</row>', **before)


ENCRYPTED = OLE + bytes(600) + "EncryptedPackage".encode("utf-16-le")
KEYS = ",".join(f'"k{n}": 1' for n in range(201))
DIGITS = "".join(str(n) for n in range(23_000))
SECRETS = '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>'
FAR = "row 1048576, column XFD: a cell beyond column 200"


# name of the case: (file name, content or function giving it, words of the refusal)
CORPUS = {
    "empty": ("a.csv", b"", "is empty"),
    "only a mark": ("a.csv", b"\xef\xbb\xbf", "white space"),
    "only white space": ("a.csv", b" \r\n\n", "white space"),
    "only a header": ("a.csv", b"a,b\n", "no rows below"),
    "only a sheet header": ("a.xlsx", workbook(HEADER), "no rows below"),
    "empty sheet": ("a.xlsx", workbook(""), "sheet is empty"),
    "empty list": ("a.json", b"[]", "no rows below"),
    "program for Linux": ("a.csv", b"\x7fELF\x02\x01\x01" + bytes(99), "executable program"),
    "program for Windows": ("a.csv", b"MZ\x90\x00\x03" + bytes(99), "executable program"),
    "picture": ("a.csv", b"\x89PNG\r\n\x1a\n" + bytes(99), "PNG image"),
    "web page": ("a.csv", b"<!DOCTYPE html><table><tr><td>a", "web page"),
    "archive named csv": ("a.csv", packed({"a.csv": "a,b"}), "is named .csv but holds a ZIP"),
    "archive named xlsx": ("a.xlsx", packed({"a.csv": "a,b"}), "not an .xlsx workbook"),
    "text named xlsx": ("a.xlsx", b"a,b\n1,2\n", "is named .xlsx but holds plain text"),
    "JSON named csv": ("a.csv", b'[{"a": 1}]', "is named .csv but holds JSON"),
    "csv named JSON": ("a.json", b"a,b\n1,2\n", "is named .json but holds plain text"),
    "old workbook": ("a.xls", OLE + bytes(600), "not a readable workbook"),
    "encrypted workbook": ("a.xlsx", ENCRYPTED, "encrypted workbook"),
    "UTF-16 without mark": ("a.csv", "a,b\n1,2\n".encode("utf-16-le"), "utf-16-le"),
    "big-endian without mark": ("a.csv", "a,b\n1,2\n".encode("utf-16-be"), "utf-16-be"),
    "UTF-32": ("a.csv", "a,b\n1,2\n".encode("utf-32"), "UTF-32"),
    "cut UTF-16": ("a.csv", "a,b\n1,2\n".encode("utf-16") + b"x", "not UTF-16 text"),
    "NUL": ("a.csv", b"a,b\n1,2\n3,\x004\n", "NUL byte near offset 10"),
    "encoded surrogate": ("a.csv", b"a,b\n1,\xed\xa0\x80\n", "byte 0xED at offset 6"),
    "endless quotation": ("a.csv", b'a,b\n1,"' + b"x\n" * 600_000, "unclosed quotation mark"),
    "long line": ("a.csv", b"a,b\n1," + b"x" * 1_100_000, "longer than 1,000,000"),
    "long cell": ("a.csv", b"a,b\n1," + b"x" * 100_001 + b"\n", "longer than 100,000"),
    "many columns": ("a.csv", b",".join([b"a"] * 201) + b"\n", "201 columns"),
    "many rows": ("a.csv", b"a,b\n" + b"1,2\n" * 200_001, "more than 200,000 rows"),
    "nested list": ("a.json", f'[{{"a": {NESTED}'.encode(), "nested deeper than 32"),
    "nested from the start": ("a.json", NESTED.encode(), "nested deeper than 32"),
    "nested 40 levels": ("a.json", f'[{{"a": {"[" * 40}{"]" * 40}}}]'.encode(), "nested deeper"),
    "nested line": ("a.jsonl", f'{{"a": {NESTED}\n'.encode(), "nested deeper than 32"),
    "5,000 digits": ("a.json", f'[{{"a": {LONG}}}]'.encode(), "64 bits"),
    "2^63": ("a.json", b'[{"a": 9223372036854775808}]', "64 bits"),
    "infinite exponent": ("a.json", b'[{"a": 1e999}]', "too large"),
    "repeated key": ("a.json", b'[{"a": 1, "a": 2}]', "occurs twice"),
    "repeated outer key": ("a.json", b'{"a": 1, "a": [{"b": 1}]}', "occurs twice"),
    "escaped NUL": ("a.json", b'[{"a": "x\\u0000"}]', "NUL character"),
    "lone surrogate": ("a.json", b'[{"a": "\\ud800"}]', "surrogate"),
    "lone surrogate in a key": ("a.jsonl", b'{"\\udc00": 1}\n', "surrogate"),
    "cut JSON": ("a.json", b'[{"a": 1}, {"a"', "not valid JSON"),
    "text after JSON": ("a.json", b'[{"a": 1}] x', "follows the end"),
    "missing comma": ("a.json", b'[{"a": 1} {"a": 2}]', "expected ','"),
    "two lists": ("a.json", b'{"a": [{"x": 1}], "b": [{"x": 1}]}', "several lists"),
    "no list": ("a.json", b'{"a": {"x": 1}}', "no list"),
    "list of numbers": ("a.json", b"[1, 2]", "not an object"),
    "long value": ("a.json", b'[{"a": "' + b"x" * 100_001 + b'"}]', "longer than 100,000"),
    "long record": ("a.json", b'[{"a": "' + b"x" * 3_000_000 + b'"}]', "longer than 1,000,000"),
    "long JSON line": ("a.jsonl", b'{"a": "' + b"x" * 1_100_000 + b'"}', "longer than 1,000,000"),
    "many keys": ("a.json", f"[{{{KEYS}}}]".encode(), "200 different keys"),
    "white space JSON": ("a.json", b'[{"a": 1},' + b" " * (8 * MEGABYTE), "not valid JSON"),
    "zip bomb": ("a.xlsx", lambda: workbook(HEADER + SECOND + " " * 2 * MEGABYTE), "a ZIP bomb"),
    "large zip bomb": ("a.xlsx", lambda: workbook(HEADER + " " * 65 * MEGABYTE), "unpacks to"),
    "directory of a bomb": ("a.xlsx", lambda: lying_workbook(65 * MEGABYTE), "unpacks to"),
    "lying directory": ("a.xlsx", lying_workbook, "not a readable workbook"),
    "many members": (
        "a.xlsx",
        lambda: workbook(HEADER, **dict.fromkeys(map(str, range(200)), "")),
        "parts inside",
    ),
    "huge directory": ("a.xlsx", huge_directory, "70,000 parts"),
    "repeated member": ("a.xlsx", repeated_member, "repeated or encrypted"),
    "encrypted member": ("a.xlsx", encrypted_zip, "repeated or encrypted"),
    "macros": ("a.xlsx", workbook(HEADER, **{"xl/vbaProject.bin": b"x"}), "macros"),
    "far cell": ("a.xlsx", workbook(row_of(LAST).replace(f"A{LAST}", f"XFD{LAST}")), FAR),
    "far cell of ods": ("a.ods", ods(repeated(LAST - 1) + row(skipped(16383) + cells("x"))), FAR),
    "far column": ("a.xlsx", book(cell("XFD2", "x")), "200"),
    "far row": ("a.xlsx", workbook(row_of(10**12)), "more rows than a sheet"),
    "long sheet cell": ("a.xlsx", workbook(row_of(2, DIGITS)), "longer than 100,000"),
    "sheet integer": ("a.xlsx", book(f'<c r="A2"><v>{LONG}</v></c>'), "not a readable workbook"),
    "sheet infinity": ("a.xlsx", book('<c r="A2"><v>1e999</v></c>'), "too large"),
    "sheet surrogate": ("a.xlsx", workbook(row_of(2, "_xD800_")), "not valid Unicode"),
    "laughs in a sheet": ("a.xlsx", book(cell("A2", "&c;"), before=LAUGHS), "XML entities"),
    "laughs in shared strings": ("a.xlsx", shared_strings(LAUGHS), "XML entities"),
    "laughs in the workbook": (
        "a.xlsx",
        packed(PARTS | {"xl/workbook.xml": LAUGHS + "<workbook>&c;</workbook>"}),
        "XML entities",
    ),
    "entity from a file": ("a.xlsx", book(cell("A2", "&f;"), before=SECRETS), "XML entities"),
    "cut archive": ("a.xlsx", workbook(HEADER + SECOND)[:-40], "damaged ZIP"),
    "nothing but the ZIP mark": ("a.xlsx", b"PK\x03\x04" + bytes(200), "damaged ZIP"),
    "XML out of shape": ("a.xlsx", workbook("<row><c></row>"), "not a readable workbook"),
}


def resident_peak():
    """Bytes of the highest memory use since `reset_peak`."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024


def reset_peak():
    Path("/proc/self/clear_refs").write_text("5")
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def children():
    """Process ids, zombies included, whose parent is this process."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            after_name = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(after_name[1]) == os.getpid():
            found.append(int(stat.parent.name))
    return found


@pytest.fixture(autouse=True)
def no_child_left():
    before = set(children())
    yield
    assert set(children()) <= before


def consume(path, name, limits):
    with open_table(path, name=name, limits=limits) as table:
        for _ in table.rows:
            pass


def growth_when_refused(path, name, limits):
    before = reset_peak()
    with pytest.raises(UnreadableFile) as caught:
        consume(path, name, limits)
    return caught.value, resident_peak() - before


# What takes a second or two to make or to read; smaller files say the same.
DEAR = {"many rows", "large zip bomb", "huge directory"}
CASES = [pytest.param(name, marks=[pytest.mark.long] if name in DEAR else []) for name in CORPUS]


# By XML that the parser of the child alone refuses, or by what would take its memory.
NEEDS_CHILD = {
    "laughs in a sheet",
    "laughs in shared strings",
    "laughs in the workbook",
    "entity from a file",
    "XML out of shape",
    "zip bomb",
    "lying directory",
}


@pytest.mark.parametrize("case", CASES)
def test_refused_clearly_without_growth(tmp_path, monkeypatch, case):
    if case not in NEEDS_CHILD:
        monkeypatch.setattr("cqa_site.tabular.binary_formats._start_child", FinishedChild)
    refuse_case(tmp_path, case)


@pytest.mark.long
@pytest.mark.parametrize("case", [name for name in CORPUS if CORPUS[name][0] == "a.xlsx"])
def test_the_child_refuses_clearly_without_growth(tmp_path, case):
    refuse_case(tmp_path, case)


def refuse_case(tmp_path, case):
    name, content, words = CORPUS[case]
    path = saved(tmp_path, content() if callable(content) else content)
    del content
    error, growth = growth_when_refused(path, name, Limits())
    assert words in str(error)
    assert str(error).startswith(name)
    assert growth <= MOST_GROWTH


def test_files_above_their_size_limit_are_not_read(tmp_path, monkeypatch):
    path = saved(tmp_path, b"a,b\n1,2\n")
    os.truncate(path, 64 * MEGABYTE + 1)
    error, growth = growth_when_refused(path, "a.csv", Limits())
    assert "larger than 67,108,864 bytes" in error.reason
    assert growth < MEGABYTE
    monkeypatch.setattr("subprocess.Popen", None)
    path = saved(tmp_path, workbook(HEADER + SECOND))
    os.truncate(path, 20 * MEGABYTE + 1)
    error, _ = growth_when_refused(path, "a.xlsx", Limits())
    assert "larger than 20,971,520 bytes" in error.reason


@pytest.mark.parametrize(
    "start",
    [
        *(b"a,b\n1,", b'{"a": "'),
        *(pytest.param(each, marks=pytest.mark.long) for each in (b'a,b\n1,"', b'[{"a": "')),
    ],
)
def test_a_cell_as_large_as_the_file_is_refused_while_streaming(tmp_path, start):
    path = saved(tmp_path, start + b"x" * 50 * MEGABYTE)
    name = "a.csv" if start.startswith(b"a") else "a.json"
    error, growth = growth_when_refused(path, name, Limits(text_bytes=10**10))
    assert "longer than 1,000,000" in error.reason
    assert growth <= 25 * MEGABYTE


# Digits that do not repeat within what a ZIP looks back at, so that no archive is a bomb.
THOUSAND = "".join(
    f"<row><c><v>{n * 7919 % 1000003}</v></c><c><v>{n * 104729 % 1299709}</v></c></row>"
    for n in range(1_000)
)
TEXT = THOUSAND.replace("<", "(")
# More than a pipe holds and is read at once, so that the child waits.
LONGER_THAN_A_PIPE = 8


def busy_workbook(thousands):
    """So many thousand rows below the header."""
    return workbook(HEADER + THOUSAND * thousands)


def test_a_slow_workbook_is_given_up_and_processor_time_limited(tmp_path):
    path = saved(tmp_path, busy_workbook(50))
    error, _ = growth_when_refused(path, "a.xlsx", Limits(child_wait_seconds=0.3))
    assert "took longer than 0.3 seconds" in error.reason
    path = saved(tmp_path, busy_workbook(100))
    error, _ = growth_when_refused(path, "a.xlsx", Limits(child_cpu_seconds=1))
    assert "more processor time or memory" in error.reason


@pytest.mark.long
def test_memory_of_the_child_is_limited(tmp_path):
    path = saved(tmp_path, workbook(row_of(2, TEXT * 400)))
    error, growth = growth_when_refused(path, "a.xlsx", Limits(child_memory_bytes=70 * MEGABYTE))
    assert "memory" in error.reason
    assert growth <= MOST_GROWTH


@pytest.mark.long
def test_a_large_honest_workbook_does_not_grow_this_process(tmp_path):
    row = f"<row>{cell('A', TEXT[:24_000])}</row>".replace(' r="A"', "")
    path = saved(tmp_path, workbook(HEADER + row * 1_000))
    before = reset_peak()
    with open_table(path, name="a.xlsx") as table:
        assert sum(len(row.values["object1"]) for row in table.rows) == 24_000_000
    assert resident_peak() - before <= 10 * MEGABYTE


def test_the_child_sees_no_environment_and_dies_when_reading_stops_early(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "sentinel")
    path = saved(tmp_path, busy_workbook(LONGER_THAN_A_PIPE))
    started = children()
    table = open_table(path, name="a.xlsx")
    (child,) = set(children()) - set(started)
    assert b"sentinel" not in Path(f"/proc/{child}/environ").read_bytes()
    next(table.rows)
    table.close()
    assert children() == started
    preview(path, name="a.xlsx")
    assert children() == started


def test_reading_waits_for_a_slow_consumer(tmp_path, monkeypatch):
    """Its clock goes on between rows alone: counted, the first row would be over the limit."""
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr("cqa_site.tabular.binary_formats.time", clock)
    path = saved(tmp_path, busy_workbook(LONGER_THAN_A_PIPE))
    rows = 0
    with open_table(path, name="a.xlsx", limits=Limits(child_wait_seconds=20)) as table:
        for _ in table.rows:
            rows += 1
            clock.now += 100
    assert rows == 8_000


def test_names_are_shown_without_paths_and_what_is_no_regular_file_is_refused(tmp_path):
    path = saved(tmp_path, b"")
    with pytest.raises(UnreadableFile, match=r"^x\?vsc\.csv: is empty$"):
        open_table(path, name="C:\\secret\\x\u202evsc.csv")
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, tmp_path / "absent"):
        with pytest.raises(UnreadableFile, match=r"^a\.csv: "):
            open_table(path, name="a.csv")
