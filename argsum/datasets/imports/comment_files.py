"""Read files of comments, recognize their format, and provide a sample."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, ClassVar

from django.utils.translation import gettext as _, ngettext

from argsum.datasets.actions import RawComment
from argsum.datasets.methods.argument_cells import LONGEST_NAME, LONGEST_TOPIC, named_columns
from argsum.datasets.methods.comment_columns import (
    LONGEST_COLUMN,
    Order,
    as_date,
    column_of_sentences,
    comment_columns,
    is_comment,
    is_parted,
    is_rich,
    order_of,
    plain_text,
    proposed,
    question_of,
    wrong_columns,
)
from argsum.datasets.models import Cell
from argsum.datasets.reports.comments import EXPORTED
from cqa_site.files.actions.imports import (
    Flag,
    ImportEntry,
    ImportRefused,
    ImportSource,
    Line,
    Note,
)
from cqa_site.files.format_parts import Look, Sample, csv_of
from cqa_site.tabular import Table, TableRow, beginning
from cqa_site.tabular.cells import LONGEST_VALUE, MOST_ATTRIBUTES, as_words, is_missing, trimmed
from cqa_site.tabular.layout import unique_headers
from .argument_files import GOALS, dataset_name

COMMENTS = "comments"
# Option values: what the first row of a single column is, and whether equal rows are the same.
AS_COMMENT, AS_HEADER = "comment", "header"
ARE_NEW, ARE_SAME = "new", "same"
# The first columns of our own export, and the exported columns that the import recomputes.
OWN = list(EXPORTED[:6])
_MADE = {"statements", "left_out", "near_duplicates"}
# Placeholders that programs write for missing text.
_NOT_WRITTEN = ("nan", "null", "<na>", "#n/a")
# Formats without a header row.
_RECORDS = ("json", "jsonl")


@dataclass(frozen=True, slots=True)
class CommentEntry(ImportEntry):
    """One comment on a topic; ``group`` is its value in the group column."""

    makes: ClassVar[str] = COMMENTS

    dataset: str
    topic: str
    comment: RawComment
    group: str = ""


@dataclass
class _Reading:
    """Settings for reading one file, and counts of omitted and shortened values."""

    source: ImportSource
    columns: Mapping[str, str]
    # Attribute names by header.
    attributes: Mapping[str, str]
    topic: str
    order: Order
    # Part of the keys of rows without an id.
    scope: str = ""
    equal: Counter[bytes] = field(default_factory=Counter)
    # Number of columns that are not stored.
    left_out: int = 0
    empty: int = 0
    # Number of comments with tags or entities.
    rich: int = 0
    cut: int = 0
    unclear: int = 0


def read_comments(source: ImportSource) -> Iterator[Line]:
    """Read one comment per row; final notes report omitted and shortened values."""
    with source.table(may_be_lines=True) as table:
        has_first = first_is_comment(table, source.options)
        mapping, rows = _mapped(source, table)
        if has_first:
            yield Note(_("The file has no header, so the first row was read as a comment."))
            rows = chain([TableRow(1, {table.columns[0]: table.columns[0]})], rows)
        if table.kind == "lines":
            yield Note(_("The file is plain text. Every line is a comment."))
        reading = _reading(source, table, mapping)
        for row in rows:
            yield from _lines(reading, row)
        yield from _remarks(reading)


def first_is_comment(table: Any, options: Mapping[str, Any]) -> bool:
    """Return whether the first row of a table or preview is a comment.

    The option ``first_row`` decides; without it, the text of the row decides if the file has one
    column. Raises ImportRefused for an invalid option, and for a table with several columns, which
    needs a header.
    """
    word = str(options.get("first_row") or "").strip()
    if word not in ("", AS_COMMENT, AS_HEADER):
        text = _("“%s” is not valid for the first row. Use comment or header.")
        raise ImportRefused(text % word[:40])
    if word == AS_COMMENT and (len(table.columns) > 1 or table.kind in _RECORDS):
        raise ImportRefused(
            _("The first row can only be a comment if the file has one column without a name.")
        )
    if word or len(table.columns) > 1 or table.kind in _RECORDS:
        return word == AS_COMMENT
    header = table.columns[0]
    if comment_columns([header]) or question_of(header):
        return False
    return is_comment(header) or table.name.lower().endswith(".txt")


def _mapped(source: ImportSource, table: Table) -> tuple[dict[str, str], Iterator[TableRow]]:
    """Return the chosen columns, or the proposed columns by default. Raises ImportRefused."""
    option = dict(source.options.get("mapping") or {})
    rows: Iterator[TableRow] = table.rows
    if not option:
        head = beginning(table).rows
        return proposed(table.columns, head, table.titles), chain(head, table.rows)
    for name, column in option.items():
        if column not in table.columns:
            text = _("%(file)s has no column “%(column)s” (%(field)s).")
            about = {"file": source.name, "column": column[:80], "field": name[:20]}
            raise ImportRefused(text % about)
    if problems := wrong_columns(option):
        raise ImportRefused(problems[0])
    return option, rows


def _reading(source: ImportSource, table: Table, mapping: Mapping[str, str]) -> _Reading:
    used = {mapping[name] for name in ("comment", "topic", "id", "date") if name in mapping}
    if table.columns[: len(OWN)] == OWN:
        used |= _MADE
    headers = [column for column in table.columns if column not in used]
    titles = [table.titles.get(header, header) for header in headers[:MOST_ATTRIBUTES]]
    names = unique_headers([title[:LONGEST_COLUMN] for title in titles])
    refusal = _("“%s” is not valid for identical rows. Use new or same.")
    repeats = source.choice("repeats", (ARE_NEW, ARE_SAME), refusal)
    return _Reading(
        source=source,
        columns=mapping,
        attributes=dict(zip(headers, names, strict=False)),
        topic="" if "topic" in mapping else _topic(source),
        order=_order(source, mapping.get("date")),
        scope=_hash_of(source) if repeats == ARE_NEW else "",
        left_out=max(len(headers) - MOST_ATTRIBUTES, 0),
    )


def _topic(source: ImportSource) -> str:
    """Return the given topic, or by default the dataset's only topic. Raises ImportRefused."""
    if topic := source.text("topic"):
        if len(topic) > LONGEST_TOPIC:
            raise ImportRefused(_("A topic can have at most %s characters.") % LONGEST_TOPIC)
        return topic
    name = dataset_name(source.options, source.name)
    cells = Cell.objects.filter(dataset__study=source.study, dataset__name=name)
    topics = list(cells.values_list("topic", flat=True)[:2])
    if len(topics) == 1:
        return topics[0]
    raise ImportRefused(
        _("Enter the topic: the question that people answered, or what the comments are about.")
    )


def _order(source: ImportSource, column: str | None) -> Order:
    """Return the given date order, or the order detected in the column. Raises ImportRefused."""
    refusal = _("“%s” is not a date order. Use day or month for the part that comes first.")
    word = source.choice("date_order", list(Order), refusal)
    if word or column is None:
        return Order(word)
    with source.table(may_be_lines=True, is_again=True) as table:
        return order_of(as_words(row.values.get(column)) for row in table.rows)


def _hash_of(source: ImportSource) -> str:
    with source.path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _lines(reading: _Reading, row: TableRow) -> Iterator[Line]:
    """Yield the comment, with a remark on an unreadable date, or the reason for its rejection."""
    columns = reading.columns
    texts = {name: as_words(row.values.get(header)) for name, header in columns.items()}
    text = texts["comment"].strip()
    if is_rich(text):
        text = plain_text(text).strip()
        reading.rich += 1
    if not text or text.lower() in _NOT_WRITTEN:
        reading.empty += 1
        yield Flag(row.number, columns["comment"], _("This row has no comment and is left out."))
        return
    name = "" if is_missing(texts.get("id", "")) else trimmed(texts["id"])
    topic = texts["topic"].strip() if "topic" in columns else reading.topic
    if problem := _problem(reading, topic, name):
        yield Flag(row.number, *problem, is_rejection=True, object=COMMENTS)
        return
    date_text = "" if is_missing(texts.get("date", "")) else trimmed(texts["date"])
    written_on = as_date(date_text, reading.order)
    reading.unclear += reading.order == Order.UNKNOWN and is_parted(date_text)
    if date_text and written_on is None:
        reason = (
            _("“%s” is not a readable date. The comment is imported without it.") % date_text[:40]
        )
        yield Flag(row.number, columns["date"], reason)
    comment = RawComment(
        key=key_of_id(name) if name else _key(reading, row, topic, text),
        text=text,
        name=name,
        attributes=_attributes(reading, row),
        written_on=written_on,
        source=reading.source.name[:255],
    )
    dataset = dataset_name(reading.source.options, reading.source.name)
    group = reading.attributes.get(columns.get("group", ""), "")
    yield CommentEntry(row.number, dataset, topic, comment, group)


def _problem(reading: _Reading, topic: str, name: str) -> tuple[str, str] | None:
    """Return the column and the reason if a row cannot be imported."""
    columns = reading.columns
    if not topic:
        return columns["topic"], _("The topic is empty.")
    if len(topic) > LONGEST_TOPIC:
        return columns["topic"], _("Longer than %s characters.") % LONGEST_TOPIC
    if len(name) > LONGEST_NAME:
        return columns["id"], _("Longer than %s characters.") % LONGEST_NAME
    return None


def key_of_id(name: str) -> str:
    return hashlib.sha256(json.dumps(["id", name]).encode()).hexdigest()


def _key(reading: _Reading, row: TableRow, topic: str, text: str) -> str:
    """Build a key from the text, the other columns and the row's number among identical rows."""
    comment, about = reading.columns["comment"], reading.columns.get("topic")
    others = sorted(
        (header, words)
        for header, value in row.values.items()
        if header not in (comment, about) and (words := as_words(value).strip())
    )
    content = json.dumps([reading.scope, text, others], ensure_ascii=False)
    equal = hashlib.blake2b(f"{topic}\n{content}".encode(), digest_size=16).digest()
    reading.equal[equal] += 1
    return hashlib.sha256(f"{reading.equal[equal]}\n{content}".encode()).hexdigest()


def _attributes(reading: _Reading, row: TableRow) -> dict[str, str]:
    attributes = {}
    for header, name in reading.attributes.items():
        words = as_words(row.values.get(header)).strip()
        reading.cut += len(words) > LONGEST_VALUE
        if words:
            attributes[name] = words[:LONGEST_VALUE]
    return attributes


def _remarks(reading: _Reading) -> Iterator[Note]:
    """Yield notes with the counts of omitted and shortened values."""
    if left := reading.left_out:
        text = ngettext(
            "%(left)s more column is left out; only the first %(most)s are kept.",
            "%(left)s more columns are left out; only the first %(most)s are kept.",
            left,
        )
        yield Note(text % {"left": left, "most": MOST_ATTRIBUTES})
    if reading.empty:
        text = ngettext(
            "%s row has no comment and is left out.",
            "%s rows have no comment and are left out.",
            reading.empty,
        )
        yield Note(text % f"{reading.empty:,}")
    if reading.rich:
        text = ngettext(
            "%s comment had HTML tags or entities and is stored as plain text.",
            "%s comments had HTML tags or entities and are stored as plain text.",
            reading.rich,
        )
        yield Note(text % f"{reading.rich:,}")
    if reading.cut:
        text = ngettext(
            "%(cut)s value in other columns is cut to %(most)s characters.",
            "%(cut)s values in other columns are cut to %(most)s characters.",
            reading.cut,
        )
        yield Note(text % {"cut": f"{reading.cut:,}", "most": LONGEST_VALUE})
    if reading.unclear:
        text = ngettext(
            "%s date is ambiguous, and no other date shows the order. It is read with the month "
            "first.",
            "%s dates are ambiguous, and no other date shows the order. They are read with the "
            "month first.",
            reading.unclear,
        )
        yield Note(text % f"{reading.unclear:,}")


TOPIC = "What do you think of the new canteen?"
SHOPS, OFFICE = "Workshop", "Office"
# Comment, group and day in March.
SAMPLE_COMMENTS = (
    ("The food is warm at last. The queue is far too long at noon.", OFFICE, 3),
    ("I wait twenty minutes in the queue every day.", OFFICE, 3),
    ("The vegetable dishes are really good now.", SHOPS, 4),
    ("Long queues, and only one till is open.", SHOPS, 4),
    ("n/a", OFFICE, 5),
    ("The new vegetable dishes taste good; I would like more of them on Fridays.", OFFICE, 6),
    ("It is too loud to talk to anybody. The ceiling makes every voice louder.", SHOPS, 6),
    ("Prices went up again and the portions are smaller.", SHOPS, 7),
    ("A lunch costs a third more than last year.", OFFICE, 7),
    ("- queue too long\n- prices too high", OFFICE, 10),
    ("One cannot hear one's own words at noon, it is so loud.", OFFICE, 10),
    ("The people at the counter are friendly and quick.", SHOPS, 11),
    ("Friendly staff! The queue is still too long.", OFFICE, 12),
    ("The salad bar is fresh every day.", SHOPS, 12),
    ("Lunch is too expensive for apprentices.", SHOPS, 13),
    ("Fresh salad, friendly people at the counter.", OFFICE, 14),
    ("no comment", SHOPS, 14),
    ("Open a second till at noon, then the queue is short.", OFFICE, 17),
    ("The room is so loud that I eat at my desk.", OFFICE, 18),
    ("More vegetable dishes, please. The portions are small.", SHOPS, 19),
)


def _comments() -> bytes:
    rows = [(text, group, f"2024-03-{day:02d}") for text, group, day in SAMPLE_COMMENTS]
    return csv_of(("comment", "group", "date"), rows)


SAMPLE = Sample(
    "sample-comments.csv", _comments, {"dataset": "Sample canteen", "topic": TOPIC}, goals=GOALS
)
# With one of these columns, a file with topics is a list of arguments from a debate.
_OF_ARGUMENTS = {"stance", "set", "quality"}
# Columns that identify other formats.
_ELSEWHERE = {"object1", "object2", "rater", "filename"}


def fits_comments(look: Look) -> str:
    """Return why the file is likely to contain comments, or "" if it is not."""
    named = named_columns(look.columns)
    if "key_point" in named or look.bare & _ELSEWHERE or look.has_points:
        return ""
    if {"topic", "argument"} <= named and named & _OF_ARGUMENTS:
        return ""
    if look.kind == "lines":
        return _("it is plain text, possibly with one comment per line")
    columns = comment_columns(look.columns)
    if columns and proposed(look.columns, look.rows, look.titles)["comment"] in columns:
        return _("its column %s contains comments") % columns[0]
    if column := column_of_sentences(look.columns, look.rows, look.titles):
        return _("its column %s contains sentences") % column
    if len(look.columns) == 1 and isinstance(look.first.get(look.columns[0]), str):
        return _("it has a single column of text")
    return ""
