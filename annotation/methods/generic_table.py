"""Arguments and votes from any table, once a person has said which column is what."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

from cqa_site.tabular import Problem, Row, Table, UnreadableFile, Value

from .label_scale import RELEVANCE_SCALE, parse_label

REQUIRED_FIELDS = ("object1", "object2", "text")
VOTE_FIELDS = ("label", "rater")
FIELDS = (
    *REQUIRED_FIELDS,
    "source_url",
    "external_id",
    *VOTE_FIELDS,
    "control_label",
    "started",
    "comment",
)
_LONGEST_URL = 2_000


@dataclass(frozen=True)
class GenericRecord:
    """One argument, with one vote on it if `label` is not None.

    Attributes
    ----------
    row : int
        Row as a person sees it in the file.
    object1, object2, text : str
        As in the file, white space untouched.
    is_blank : bool
        The text has no visible character.
    started : datetime or None
        In UTC; a time without a zone is taken as UTC.
    """

    row: int
    object1: str
    object2: str
    text: str
    is_blank: bool
    source_url: str | None = None
    external_id: str | None = None
    label: int | None = None
    rater: str | None = None
    control_label: int | None = None
    started: datetime | None = None
    comment: str | None = None


def check_mapping(columns: Collection[str], mapping: Mapping[str, str]) -> list[str]:
    """What is wrong with a choice of columns, as sentences; empty if nothing is."""
    wrong = [f"there is no field {field!a}" for field in mapping if field not in FIELDS]
    wrong += [f"choose a column for {field}" for field in REQUIRED_FIELDS if field not in mapping]
    wrong += [
        f"there is no column {column!a} for {field}"
        for field, column in mapping.items()
        if column not in columns
    ]
    if len([field for field in VOTE_FIELDS if field in mapping]) == 1:
        wrong.append("label and rater go together: choose both columns or neither")
    if len(set(mapping.values())) < len(mapping):
        wrong.append("one column is chosen for two fields")
    return wrong


def read_generic_table(
    table: Table, mapping: Mapping[str, str], *, scale: Collection[int] = RELEVANCE_SCALE
) -> Iterator[GenericRecord | Problem]:
    """Read records by a mapping of field to column; the table is closed at the end.

    Parameters
    ----------
    table : Table
        As opened; its rows are used up.
    mapping : mapping of str to str
        Keys are among `FIELDS`; object1, object2 and text must be there, and
        label and rater go together.
    scale : collection of int
        Labels that votes and control items may carry.

    Yields
    ------
    GenericRecord or Problem
        In file order. A row gives either one record or all its problems.

    Raises
    ------
    UnreadableFile
        For a mapping that does not fit the table, and as `Table` does.
    """
    with table:
        wrong = check_mapping(table.columns, mapping)
        if wrong:
            raise UnreadableFile(table.name, "; ".join(wrong))
        for row in table.rows:
            yield from _read_row(row, table.name, mapping, scale)


def _read_row(
    row: Row, file: str, mapping: Mapping[str, str], scale: Collection[int]
) -> Iterator[GenericRecord | Problem]:
    read: dict[str, object] = {}
    problems = []
    for field, column in mapping.items():
        try:
            read[field] = _read_field(field, row.values[column], scale)
        except ValueError as error:
            problems.append(Problem(file, row.number, column, str(error)))
    if not problems and read.get("label") is not None and read.get("rater") is None:
        problems.append(Problem(file, row.number, mapping["rater"], "a label without its rater"))
    if problems:
        yield from problems
        return
    is_blank = not str(read["text"]).strip()
    yield GenericRecord(row=row.number, is_blank=is_blank, **read)  # type: ignore[arg-type]


def _read_field(field: str, value: Value, scale: Collection[int]) -> object:
    if field in ("label", "control_label"):
        return parse_label(value, scale)
    return _READERS[field](_as_text(value))


def _as_text(value: Value) -> str | None:
    """Text as it is; a whole number as its digits; None for an empty cell."""
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(value)
    raise ValueError("is neither text nor a number")


def _object(text: str | None) -> str:
    if text is None or not text.strip():
        raise ValueError("is empty")
    return text


def _argument(text: str | None) -> str:
    return text or ""


def _optional(text: str | None) -> str | None:
    return text if text and text.strip() else None


def _url(text: str | None) -> str | None:
    """An http(s) address; anything else could become a harmful link on a page."""
    given = _optional(text)
    if given is None:
        return None
    address = given.strip()
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.netloc or len(address) > _LONGEST_URL:
        raise ValueError("is not an http(s) address")
    return address


def _moment(text: str | None) -> datetime | None:
    given = _optional(text)
    if given is None:
        return None
    try:
        moment = datetime.fromisoformat(given.strip())
    except ValueError:
        raise ValueError(f"{given[:40]!a} is no date and time (write 2024-01-31T14:05)") from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


_READERS: Mapping[str, Callable[[str | None], object]] = {
    "object1": _object,
    "object2": _object,
    "text": _argument,
    "source_url": _url,
    "external_id": _optional,
    "rater": _optional,
    "started": _moment,
    "comment": _optional,
}
