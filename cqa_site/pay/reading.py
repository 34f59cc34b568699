"""A platform's list of submissions: its CSV export, or the rows of its API."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cqa_site.rounds.crowd.platform import plain_status
from cqa_site.rounds.crowd.submissions import SubmissionRow
from cqa_site.rounds.crowd.tokens import PLATFORM_ID
from cqa_site.tabular import Limits, Problem, ReadingLog, Table, UnreadableFile, open_table

# Names of columns, in the export of Prolific and in its interface.
NAMES = {
    "submission": ("submission id", "id"),
    "participant": ("participant id", "participant"),
    "status": ("status",),
    "code": ("completion code", "entered code", "study code"),
}
LIMITS = Limits(text_bytes=8 * 1024 * 1024, rows=50_000)
LONGEST_CODE = 40


def read_export(path: Path, name: str) -> tuple[list[SubmissionRow], list[Problem]]:
    """Read the platform's export: its rows, and a problem for each that cannot be taken.

    Raises UnreadableFile for a file that is no table, or lacks a column.
    """
    log = ReadingLog()
    rows: dict[str, SubmissionRow] = {}
    with open_table(path, name=name, log=log, limits=LIMITS) as table:
        columns = _columns(table)
        problems: list[Problem] = []
        for row in table.rows:
            values = {field: row.values[column] for field, column in columns.items()}
            wrong, read = _read(values)
            if read and rows.setdefault(read.submission, read) != read:
                wrong = "submission", "is listed twice with other values"
            if wrong:
                problems.append(Problem(table.name, row.number, columns[wrong[0]], wrong[1]))
    return list(rows.values()), [*log.rejected, *problems]


def read_listed(listed: Iterable[Any]) -> list[SubmissionRow]:
    """Read rows of the platform's API; raises ValueError for any that is malformed."""
    rows = []
    for entry in listed:
        if not isinstance(entry, Mapping):
            raise ValueError("a submission is no object")
        plain = {name.replace("_", " "): value for name, value in entry.items()}
        values = {
            field: next((plain[name] for name in names if name in plain), None)
            for field, names in NAMES.items()
        }
        wrong, read = _read(values)
        if read is None:
            raise ValueError(f"{wrong[0]} {wrong[1]}" if wrong else "")
        rows.append(read)
    return rows


def _columns(table: Table) -> dict[str, str]:
    """Map fields to columns; raises UnreadableFile without one of them."""
    plain = {column.strip().lower().replace("_", " "): column for column in table.columns}
    columns = {}
    for field, names in NAMES.items():
        column = next((plain[name] for name in names if name in plain), None)
        if column is None:
            raise UnreadableFile(table.name, f"has no column “{names[0].capitalize()}”")
        columns[field] = column
    return columns


def _read(values: Mapping[str, Any]) -> tuple[tuple[str, str] | None, SubmissionRow | None]:
    """Return the row, or the field that is wrong and why."""
    texts = {field: "" if value is None else str(value) for field, value in values.items()}
    for field in ("submission", "participant"):
        if not PLATFORM_ID.fullmatch(texts[field]):
            return (field, "is not an ID of the platform"), None
    try:
        status = plain_status(texts["status"])
    except ValueError:
        return ("status", "is not a status of the platform"), None
    if len(texts["code"]) > LONGEST_CODE:
        return ("code", f"is longer than {LONGEST_CODE} characters"), None
    return None, SubmissionRow(texts["submission"], texts["participant"], status, texts["code"])
