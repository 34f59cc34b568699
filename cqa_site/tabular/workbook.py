"""Workbooks, read by a confined child process and streamed to the parent."""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from .headers import unique_headers
from .shapes import Limits, Row, UnreadableFile

_PROJECT = Path(__file__).resolve().parents[2]
_PIECE = 65_536


@dataclass(frozen=True)
class SheetRow:
    """A filled row as it stands.

    `sheet` counts from 0, `number` is the sheet row, `cells` end at the last
    filled one, and `width` is that of the widest among the sheet's first rows.
    """

    sheet: int
    number: int
    cells: list[Any]
    width: int


class WorkbookReader:
    """One child process and its messages; `close` ends it at any time."""

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
            self.sheets: list[str] = self._expect_sheets()
        except BaseException:
            self.close()
            raise

    def rows(self) -> Iterator[SheetRow]:
        """Filled rows of the chosen sheets, in order; the child is gone afterwards."""
        sheet = width = 0
        try:
            for message in self._messages:
                if message[0] == "sheet":
                    sheet, width = message[1:]
                else:
                    yield SheetRow(sheet, message[1], message[2], width)
        finally:
            self.close()

    def close(self) -> None:
        if self._child.poll() is None:
            self._child.kill()
        self._child.wait()
        self._output.close()

    def _expect_sheets(self) -> list[str]:
        message = next(self._messages)
        return [str(title) for title in message[1]]

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
        # A character takes at most six bytes as JSON; the rest is punctuation.
        longest = 6 * self._limits.row_chars + _PIECE
        most = 4 * self._limits.xlsx_unpacked_bytes
        held, total = b"", 0
        while piece := self._piece(descriptor):
            total += len(piece)
            *lines, held = (held + piece).split(b"\n")
            if len(held) > longest or total > most:
                raise UnreadableFile(self._name, "unpacks to more text than is accepted")
            yield from lines

    def _piece(self, descriptor: int) -> bytes:
        """The next bytes; only time spent waiting for the child is counted."""
        started = time.monotonic()
        left = self._limits.child_wait_seconds - self._waited
        poller = select.poll()
        poller.register(descriptor, select.POLLIN)
        ready = poller.poll(max(left, 0) * 1000)
        self._waited += time.monotonic() - started
        if not ready:
            seconds = self._limits.child_wait_seconds
            raise UnreadableFile(self._name, f"took longer than {seconds:g} seconds to open")
        return os.read(descriptor, _PIECE)

    def _reason_for_silence(self) -> str:
        try:
            status = self._child.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "could not be opened (its reader fell silent)"
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
        # Nothing of the server's environment (keys, proxies) reaches the child.
        env={"PYTHONPATH": str(_PROJECT), "PYTHONDONTWRITEBYTECODE": "1", "LANG": "C.UTF-8"},
        close_fds=True,
    )


def check_size(file: BinaryIO, name: str, limits: Limits) -> None:
    """Refuse a workbook above the size limit before a process is started for it."""
    if file.seek(0, os.SEEK_END) > limits.xlsx_bytes:
        raise UnreadableFile(name, f"is larger than {limits.xlsx_bytes:,} bytes")


def read_sheet(reader: WorkbookReader, *, name: str) -> tuple[list[str], Iterator[Row]]:
    """The first filled row as header, the rest as rows.

    Columns without a header that hold something within the first 1,000 rows
    are named by their place.

    Raises
    ------
    UnreadableFile
        For an empty sheet and for a row wider than all of the first ones.
    """
    rows = reader.rows()
    header = next(rows, None)
    if header is None:
        raise UnreadableFile(name, "this sheet is empty")
    blanks = [None] * (header.width - len(header.cells))
    columns = unique_headers([*header.cells, *blanks])
    return columns, _named_rows(rows, columns, name)


def _named_rows(rows: Iterator[SheetRow], columns: list[str], name: str) -> Iterator[Row]:
    for row in rows:
        missing = len(columns) - len(row.cells)
        if missing < 0:
            reason = f"a value in column {len(row.cells)}, which is empty in the rows above"
            raise UnreadableFile(name, reason, row=row.number)
        yield Row(row.number, dict(zip(columns, row.cells + [None] * missing, strict=True)))
