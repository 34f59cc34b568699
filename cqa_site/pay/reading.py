"""Readers for a platform's list of submissions: its CSV export, or the rows of its API."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cqa_site.rounds.crowd.platform import plain_status
from cqa_site.rounds.crowd.submissions import SubmissionRow
from cqa_site.rounds.crowd.tokens import PLATFORM_ID
from cqa_site.tabular import (
    BadCell,
    Limits,
    Problem,
    ReadingLog,
    TableRow,
    UnreadableFile,
    open_table,
)
from cqa_site.tabular.cells import as_words, trimmed
from cqa_site.tabular.layout import bare, guess_by_name

# Column names in Prolific's export and in its API.
TITLES = {
    "submission": ("Submission id", "id"),
    "participant": ("Participant id", "participant"),
    "status": ("Status",),
    "code": ("Completion code", "entered code", "study code"),
}
NAMES = {field: [bare(title) for title in titles] for field, titles in TITLES.items()}
LIMITS = Limits(text_bytes=8 * 1024 * 1024, rows=50_000)
LONGEST_CODE = 40


def read_export(
    path: Path, name: str, encoding: str | None = None
) -> tuple[list[SubmissionRow], list[Problem]]:
    """Return the rows of the platform's export, and a problem for each unreadable row.

    Raises UnreadableFile if the file is not a table or lacks a column.
    """
    log = ReadingLog()
    rows: dict[str, SubmissionRow] = {}
    try:
        with open_table(path, name=name, encoding=encoding, log=log, limits=LIMITS) as table:
            columns = guess_by_name(table.columns, NAMES)
            for field in NAMES.keys() - columns.keys():
                raise UnreadableFile(table.name, f"has no column “{TITLES[field][0]}”")

            def read(row: TableRow) -> None:
                record = _read(row.values, columns)
                if rows.setdefault(record.submission, record) != record:
                    raise BadCell(columns["submission"], "is listed twice with different values")

            problems = [problem for problem in table.records(read) if problem]
    except UnreadableFile as refusal:
        # IDs and statuses are the same bytes in every encoding that can decode the file.
        if encoding or not refusal.encoding:
            raise
        return read_export(path, name, refusal.encoding)
    return list(rows.values()), [*log.rejected, *problems]


def read_listed(listed: Iterable[Any]) -> list[SubmissionRow]:
    """Return the rows from the platform's API; raises BadCell for a malformed row."""
    rows = []
    for entry in listed:
        if not isinstance(entry, Mapping):
            raise BadCell("a submission", "is not an object")
        rows.append(_read(entry, guess_by_name(list(entry), NAMES)))
    return rows


def _read(values: Mapping[str, Any], columns: Mapping[str, str]) -> SubmissionRow:
    names = {field: columns.get(field, field) for field in NAMES}
    texts = {field: trimmed(as_words(values.get(name))) for field, name in names.items()}
    for field in ("submission", "participant"):
        if not PLATFORM_ID.fullmatch(texts[field]):
            raise BadCell(names[field], "is not a valid platform ID")
    try:
        status = plain_status(texts["status"])
    except ValueError:
        raise BadCell(names["status"], "is not a valid platform status") from None
    if len(texts["code"]) > LONGEST_CODE:
        raise BadCell(names["code"], f"is longer than {LONGEST_CODE} characters")
    return SubmissionRow(texts["submission"], texts["participant"], status, texts["code"])
