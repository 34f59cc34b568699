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


class WrongSubmission(ValueError):
    """A row that cannot be read: the field and the reason."""

    def __str__(self) -> str:
        return " ".join(self.args)


def read_export(path: Path, name: str) -> tuple[list[SubmissionRow], list[Problem]]:
    """Read the platform's export: its rows, and a problem for each unreadable one.

    Raises UnreadableFile for a file that is not a table, or lacks a column.
    """
    log = ReadingLog()
    rows: dict[str, SubmissionRow] = {}
    with open_table(path, name=name, log=log, limits=LIMITS) as table:
        columns = _columns(table)
        problems: list[Problem] = []
        for row in table.rows:
            try:
                read = _read({field: row.values[column] for field, column in columns.items()})
                if rows.setdefault(read.submission, read) != read:
                    raise WrongSubmission("submission", "is listed twice with other values")
            except WrongSubmission as wrong:
                field, why = wrong.args
                problems.append(Problem(table.name, row.number, columns[field], why))
    return list(rows.values()), [*log.rejected, *problems]


def read_listed(listed: Iterable[Any]) -> list[SubmissionRow]:
    """Read rows of the platform's API; raises WrongSubmission for any that is malformed."""
    return [_read(_by_field(entry)) for entry in listed]


def _by_field(named: Any) -> dict[str, Any]:
    """Map fields to values, None where a name is missing."""
    if not isinstance(named, Mapping):
        raise WrongSubmission("a submission", "is no object")
    plain = {name.strip().lower().replace("_", " "): value for name, value in named.items()}
    return {
        field: next((plain[name] for name in names if name in plain), None)
        for field, names in NAMES.items()
    }


def _columns(table: Table) -> dict[str, str]:
    """Map fields to columns; raises UnreadableFile without one of them."""
    columns = _by_field({column: column for column in table.columns})
    for field, column in columns.items():
        if column is None:
            raise UnreadableFile(table.name, f"has no column “{NAMES[field][0].capitalize()}”")
    return columns


def _read(values: Mapping[str, Any]) -> SubmissionRow:
    texts = {field: "" if value is None else str(value) for field, value in values.items()}
    for field in ("submission", "participant"):
        if not PLATFORM_ID.fullmatch(texts[field]):
            raise WrongSubmission(field, "is not an ID of the platform")
    try:
        status = plain_status(texts["status"])
    except ValueError:
        raise WrongSubmission("status", "is not a status of the platform") from None
    if len(texts["code"]) > LONGEST_CODE:
        raise WrongSubmission("code", f"is longer than {LONGEST_CODE} characters")
    return SubmissionRow(texts["submission"], texts["participant"], status, texts["code"])
