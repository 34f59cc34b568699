"""Binary formats of tables: workbooks, which a child process reads, and archives."""

import json
import os
import select
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from .layout import FileLayout, lay_out
from .shapes import (
    DEFAULT_LIMITS,
    Limits,
    Problem,
    ReadingLog,
    TableRow,
    UnreadableFile,
    printable_name,
    reject,
)

_PROJECT = Path(__file__).resolve().parents[2]
_PIPE_PIECE = 65_536


@dataclass(frozen=True)
class SheetRow:
    """A row with filled cells, as raw values.

    `sheet` counts from 0, `number` is the sheet row, `cells` end at the last
    filled cell, and `width` is the largest width of the sheet's first rows.
    """

    sheet: int
    number: int
    cells: list[Any]
    width: int
    # Column and reason of a row that cannot be read.
    problem: tuple[str, str] | None = None


class WorkbookReader:
    """A child process that reads a workbook, and its messages; `close` can end it at any time."""

    def __init__(
        self, file: BinaryIO, *, name: str, sheet: str | int | None, limits: Limits
    ) -> None:
        self._name = name
        self._limits = limits
        self._waited = 0.0
        self._child = _start_child(file, sheet, limits)
        self._output = cast(IO[bytes], self._child.stdout)
        self._messages = self._read_messages()
        try:
            message = next(self._messages)
            self.sheets: list[str] = [str(title) for title in message[1]]
        except BaseException:
            self.close()
            raise

    def rows(self, *, with_bad: bool = False) -> Iterator[SheetRow]:
        """Yield the filled rows of the chosen sheets in order; the child process then ends.

        Raises UnreadableFile at a row that cannot be read, unless ``with_bad`` is true.
        """
        sheet = width = 0
        try:
            for message in self._messages:
                if message[0] == "sheet":
                    sheet, width = message[1:]
                elif message[0] == "bad":
                    row = SheetRow(sheet, message[1], [], width, (message[2], message[3]))
                    if not with_bad:
                        raise UnreadableFile(
                            self._name, message[3], row=message[1], column=message[2]
                        )
                    yield row
                else:
                    yield SheetRow(sheet, message[1], message[2], width)
        finally:
            self.close()

    def close(self) -> None:
        if self._child.poll() is None:
            self._child.kill()
        self._child.wait()
        self._output.close()

    def _read_messages(self) -> Iterator[list[Any]]:
        for line in self._lines():
            message = self._decoded(line)
            if message[0] == "end":
                return
            if message[0] == "error":
                _, row, column, reason = message
                raise UnreadableFile(self._name, reason, row=row, column=column)
            yield message
        raise UnreadableFile(self._name, self._reason_for_silence())

    def _decoded(self, line: bytes) -> list[Any]:
        try:
            message: list[Any] = json.loads(line)
        except ValueError:
            raise UnreadableFile(self._name, "could not be opened (garbled rows)") from None
        return message

    def _lines(self) -> Iterator[bytes]:
        descriptor = self._output.fileno()
        # A character takes at most six bytes in JSON; the rest is punctuation.
        longest = 6 * self._limits.row_chars + _PIPE_PIECE
        most = 4 * self._limits.xlsx_unpacked_bytes
        held, total = b"", 0
        while piece := self._piece(descriptor):
            total += len(piece)
            *lines, held = (held + piece).split(b"\n")
            if len(held) > longest or total > most:
                raise UnreadableFile(self._name, "unpacks to more text than is accepted")
            yield from lines

    def _piece(self, descriptor: int) -> bytes:
        """Return the next bytes; only the time spent waiting for the child is counted."""
        started = time.monotonic()
        left = self._limits.child_wait_seconds - self._waited
        poller = select.poll()
        poller.register(descriptor, select.POLLIN)
        ready = poller.poll(max(left, 0) * 1000)
        self._waited += time.monotonic() - started
        if not ready:
            seconds = self._limits.child_wait_seconds
            raise UnreadableFile(self._name, f"took longer than {seconds:g} seconds to open")
        return os.read(descriptor, _PIPE_PIECE)

    def _reason_for_silence(self) -> str:
        try:
            status = self._child.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "could not be opened (its reader stopped responding)"
        if status < 0:
            return "took more processor time or memory than is accepted"
        return f"could not be opened (reader stopped with status {status})"


def _start_child(
    file: BinaryIO, sheet: str | int | None, limits: Limits
) -> "subprocess.Popen[bytes]":
    file.seek(0)
    task = json.dumps({"limits": asdict(limits), "sheet": sheet})
    return subprocess.Popen(
        [sys.executable, "-m", "cqa_site.tabular.xlsx_child", task],
        stdin=file,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=_PROJECT,
        # The child receives nothing from the server's environment (keys, proxies).
        env={"PYTHONPATH": str(_PROJECT), "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8"},
        close_fds=True,
    )


def check_size(file: BinaryIO, name: str, limits: Limits) -> None:
    """Reject a workbook above the size limit before starting a process for it."""
    if file.seek(0, os.SEEK_END) > limits.xlsx_bytes:
        raise UnreadableFile(name, f"is larger than {limits.xlsx_bytes:,} bytes")


def read_sheet(
    reader: WorkbookReader,
    *,
    name: str,
    limits: Limits,
    header_row: int | None = None,
    log: ReadingLog | None = None,
) -> tuple[FileLayout, int, Iterator[TableRow]]:
    """Return the header and the rows below it, as `layout.lay_out` does.

    Columns without a header that contain values in the first 1,000 rows
    are named by their position.

    Raises
    ------
    UnreadableFile
        For an empty sheet and, without a log, for a row wider than all of the first rows.
    """
    records = _records(reader, name, log)
    first = next(records, None)
    if first is None:
        raise UnreadableFile(name, "this sheet is empty")
    rows = chain([first], records)
    return lay_out(rows, name=name, limits=limits, header_row=header_row, log=log)


def _records(
    reader: WorkbookReader, name: str, log: ReadingLog | None
) -> Iterator[tuple[int, list[Any]]]:
    for row in reader.rows(with_bad=True):
        if row.problem:
            reject(log, Problem(name, row.number, *row.problem))
            continue
        missing = row.width - len(row.cells)
        if missing < 0:
            reason = f"a value in column {len(row.cells)}, which is empty in the rows above"
            reject(log, Problem(name, row.number, None, reason))
            continue
        yield row.number, row.cells + [None] * missing


# Unpacking of the wanted files of an archive under our own names
#
# Archives are not trusted: their names do not determine paths on the disk, the unpacked size is
# checked during reading, and no program or link in an archive is used.

_MEMBER_PIECE = 64 * 1024
_ENCRYPTED = 0x1
# Parts that identify a workbook, which is also an archive.
_PACKAGES = ("[Content_Types].xml", "mimetype")
_TABLES = (".csv", ".tsv", ".tab", ".json", ".jsonl", ".ndjson", ".xlsx", ".ods", ".xls")
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError)


def folder_members(folder: Path, is_wanted: Callable[[str], bool]) -> dict[str, Path]:
    """Map the names of the wanted files in a folder, but not in its subfolders, to their paths."""
    return {path.name: path for path in sorted(folder.iterdir()) if is_wanted(path.name)}


def packed(folder: Path, archive: Path, *, is_wanted: Callable[[str], bool]) -> int:
    """Pack the wanted files of a folder; the same files give the same bytes.

    Returns
    -------
    int
        Number of wanted files; if it is 0, no archive is written.
    """
    members = folder_members(folder, is_wanted)
    if members:
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            for name, path in members.items():
                file.writestr(zipfile.ZipInfo(name), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return len(members)


def place_in(path: str) -> str:
    """Return a member's printable path: folders and name, without parts that lead outside.

    >>> place_in("../judged/./cam.json")
    'judged/cam.json'
    """
    parts = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    return "/".join(map(printable_name, parts))


@contextmanager
def unpacked(
    path: str | os.PathLike[str],
    *,
    name: str,
    is_wanted: Callable[[str], bool],
    called: Callable[[str], str] = printable_name,
    limits: Limits = DEFAULT_LIMITS,
) -> Iterator[dict[str, Path]]:
    """Unpack the wanted members of an archive into a temporary folder.

    Parameters
    ----------
    path, name
        Path of the archive, and the name that the user gave it.
    is_wanted : callable
        Function that takes a member's name and returns whether it is needed.
    called : callable
        Function that takes a member's path and returns its name, such as `place_in`.
    limits : Limits
        ``text_bytes`` limits the total unpacked size of the wanted members, and ``xlsx_members``
        limits the number of members.

    Yields
    ------
    dict
        Paths of the unpacked files by member name.

    Raises
    ------
    UnreadableFile
        If the file is not an archive, is damaged, encrypted or too large, or contains a wanted
        name twice.
    """
    label = printable_name(name)
    with tempfile.TemporaryDirectory(prefix="counterpoint-") as folder:
        try:
            with zipfile.ZipFile(path) as archive:
                members = _wanted_members(archive, label, is_wanted, called, limits)
                paths = _unpack(archive, members, Path(folder), label, limits)
        except _DAMAGED as error:
            raise UnreadableFile(label, f"is not a readable ZIP archive ({error})") from None
        yield paths


@contextmanager
def single_member(
    path: str | os.PathLike[str], name: str, limits: Limits = DEFAULT_LIMITS
) -> Iterator[tuple[Path, str]]:
    """Yield the path and name of the only table in an archive, such as a survey program's export.

    For any other file, and for an archive with no table or several tables, yield the arguments
    unchanged. Unpacked files exist only inside the ``with`` block.
    """
    is_archive = name.lower().endswith(".zip") and os.path.isfile(path)
    tables = _tables_in(path) if is_archive else []
    if len(tables) != 1:
        yield Path(path), name
        return
    (member,) = tables
    with unpacked(
        path, name=name, is_wanted=member.__eq__, called=place_in, limits=limits
    ) as paths:
        yield paths[member], printable_name(member)


def _tables_in(path: str | os.PathLike[str]) -> list[str]:
    """Return the names of the tables in an archive that is not a workbook."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [
                place_in(member) for member in archive.namelist()[: DEFAULT_LIMITS.xlsx_members]
            ]
    except (*_DAMAGED, ValueError):
        return []
    if any(name in _PACKAGES for name in names):
        return []
    members = (name for name in names if not name.startswith("__MACOSX"))
    return [name for name in members if name.lower().endswith(_TABLES)]


def _wanted_members(
    archive: zipfile.ZipFile,
    label: str,
    is_wanted: Callable[[str], bool],
    called: Callable[[str], str],
    limits: Limits,
) -> dict[str, zipfile.ZipInfo]:
    listed = archive.infolist()
    if len(listed) > limits.xlsx_members:
        raise UnreadableFile(label, f"holds more than {limits.xlsx_members} files")
    members: dict[str, zipfile.ZipInfo] = {}
    for info in listed:
        name = called(info.filename)
        if info.is_dir() or not is_wanted(name):
            continue
        if name in members:
            raise UnreadableFile(label, f"contains {name} twice")
        if info.flag_bits & _ENCRYPTED:
            raise UnreadableFile(label, "is encrypted; save it without a password")
        members[name] = info
    return members


def _unpack(
    archive: zipfile.ZipFile,
    members: dict[str, zipfile.ZipInfo],
    folder: Path,
    label: str,
    limits: Limits,
) -> dict[str, Path]:
    left = limits.text_bytes
    paths = {}
    for number, (name, info) in enumerate(members.items()):
        target = folder / f"{number}{os.path.splitext(name)[1]}"
        with archive.open(info) as packed, target.open("wb") as file:
            while piece := packed.read(_MEMBER_PIECE):
                left -= len(piece)
                if left < 0:
                    reason = f"unpacks to more than {limits.text_bytes // 2**20} MB"
                    raise UnreadableFile(label, reason)
                file.write(piece)
        paths[name] = target
    return paths
