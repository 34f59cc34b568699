"""Columns of comment tables, parsing of dates, and conversion of rich text to plain text."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from enum import StrEnum
from html import unescape
from html.parser import HTMLParser

from cqa_site.tabular import TableRow
from cqa_site.tabular.cells import as_words, is_missing
from cqa_site.tabular.layout import bare, named_question

_ISO = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?:[T ].*)?")
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})")
_DOTTED = re.compile(r"(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4}|\d{2})(?:,? .*)?")
_PARTED = re.compile(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4}|\d{2})(?:,? .*)?")
_NAMED = re.compile(
    r"(?:(\d{1,2})\.? ([a-z]{3})[a-z]*\.?,? (\d{4})|([a-z]{3})[a-z]*\.? (\d{1,2}),? (\d{4}))"
    r"(?: .*)?",
    re.IGNORECASE,
)
# "Mon Mar 02 09:00:20 PST 2026", the format of crowd platforms and many programs.
_WITH_TIME = re.compile(
    r"[a-z]{3} ([a-z]{3}) (\d{1,2}) [\d:]{5,8}(?: [a-z]{1,5})? (\d{4})", re.IGNORECASE
)
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
# Two-digit years below this number are in this century, others in the last one.
_PIVOT = 70
MONTHS = 12


class Order(StrEnum):
    """The first part of dates with slashes; empty if unknown."""

    UNKNOWN = ""
    DAY = "day"
    MONTH = "month"


def order_of(texts: Iterable[str]) -> Order:
    """Return the order of a date column; a first number above 12 means day first.

    Examples
    --------
    >>> order_of(["3/4/2024", "13/4/2024"]), order_of(["3/4/2024"])
    (<Order.DAY: 'day'>, <Order.UNKNOWN: ''>)
    """
    for text in texts:
        if not (match := _PARTED.fullmatch(text.strip())):
            continue
        if int(match[1]) > MONTHS:
            return Order.DAY
        if int(match[2]) > MONTHS:
            return Order.MONTH
    return Order.UNKNOWN


def is_parted(text: str) -> bool:
    """Return whether a date is ambiguous without the order of its column."""
    match = _PARTED.fullmatch(text.strip())
    return match is not None and match[1] != match[2]


def as_date(text: str, order: Order = Order.UNKNOWN) -> date | None:
    """Return the date in a text, or None if there is no date.

    Dates are ``2024-03-31`` with or without a time, ``20240331``, ``31.3.2024``, ``31/3/2024``,
    ``3/31/2024``, ``31 March 2024`` or ``Mar 31, 2024``. ``order`` is the order of numbers
    separated by slashes or hyphens; unknown means month first.

    Examples
    --------
    >>> as_date("31.3.24"), as_date("3/4/2024", Order.DAY), as_date("soon")
    (datetime.date(2024, 3, 31), datetime.date(2024, 4, 3), None)
    """
    plain = text.strip()
    if match := _ISO.fullmatch(plain) or _COMPACT.fullmatch(plain):
        return _day(match[1], match[2], match[3])
    if match := _DOTTED.fullmatch(plain):
        return _day(match[3], match[2], match[1])
    if match := _PARTED.fullmatch(plain):
        is_day_first = order == Order.DAY
        return _day(match[3], match[2 if is_day_first else 1], match[1 if is_day_first else 2])
    if match := _WITH_TIME.fullmatch(plain):
        plain = f"{match[1]} {match[2]}, {match[3]}"
    if match := _NAMED.fullmatch(plain):
        day, month, year = (match[1] or match[5], match[2] or match[4], match[3] or match[6])
        name = month.lower()
        return _day(year, _MONTHS.index(name) + 1, day) if name in _MONTHS else None
    return None


def _day(year: str, month: str | int, day: str) -> date | None:
    number = int(year)
    if len(year) == len("24"):
        number += 2000 if number < _PIVOT else 1900
    try:
        return date(number, int(month), int(day))
    except ValueError:
        return None


# Fields that a column can be chosen for; all other columns are attributes.
FIELDS = ("comment", "topic", "id", "date", "group")
# In lower case, with letters and digits only; the first name found is proposed.
_COMMENT = tuple(
    """
    comment comments commenttext text response responses responsetext answer answers answertext
    review reviews reviewtext reviewbody feedback feedbacktext opinion opinions remark remarks
    statement suggestion suggestions verbatim verbatims openanswer freetext openended message
    body content argument sentence kommentar kommentare antwort antworten rückmeldung bewertung
    commentaire commentaires avis comentario comentarios commento opmerking opmerkingen
    """.split()  # noqa: SIM905
)
_IDS = (
    "id commentid responseid respondentid answerid reviewid feedbackid uuid argid argumentid "
    "sessionid caseid case lfdn"
)
_DATES = (
    "date day submitted submittedat submissiondate createdat created timestamp time datetime "
    "datum reviewdate writtenon completed recordeddate submitdate datesubmitted enddate "
    "startdate datestamp zeitstempel horodateur"
)
_NAMES: Mapping[str, Sequence[str]] = {
    "comment": _COMMENT,
    "topic": ("topic", "motion"),
    "id": _IDS.split(),
    "date": _DATES.split(),
    "group": ("group", "segment", "gruppe"),
}
LONGEST_COLUMN = 80
_WORDS_OF_A_SENTENCE, _WORDS_OF_AN_ANSWER = 4, 2
_SENTENCE_END = re.compile(r"[.!…][\"'’”)]*$")
_SENTENCE_INSIDE = re.compile(r"[.!?…]\s+\w")
_LEAST_WORDS, _LONGEST_HEADER = 8, 80


def comment_columns(headers: Iterable[str]) -> list[str]:
    """Return the columns whose names suggest comments, starting with the best name."""
    by_name = _by_name(list(headers), {})
    return [by_name[name] for name in _COMMENT if name in by_name]


def column_of_sentences(
    headers: Sequence[str], rows: Sequence[TableRow], titles: Mapping[str, str]
) -> str:
    """Return the column proposed for comments if it contains sentences, or "" if not."""
    column = proposed(headers, rows, titles).get("comment", "")
    words = [len(text.split()) for text in _texts(rows, column)]
    # Surveys have short answers, too.
    least = _WORDS_OF_AN_ANSWER if titles else _WORDS_OF_A_SENTENCE
    return column if words and sum(words) / len(words) >= least else ""


def proposed(
    headers: Sequence[str], rows: Sequence[TableRow], titles: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the likely column of each field.

    If no name suggests comments, the column with the longest texts is proposed. A column whose
    values do not fit is not proposed. ``titles`` are the full column titles of survey exports.
    """
    mapping: dict[str, str] = {}
    by_name = _by_name(headers, titles or {})
    for field, names in _NAMES.items():
        columns = (by_name[name] for name in names if name in by_name)
        fitting = (candidate for candidate in columns if candidate not in mapping.values())
        if column := next(
            (candidate for candidate in fitting if _fits(field, rows, candidate)), None
        ):
            mapping[field] = column
    if "date" not in mapping and len(dates := _all_dates(headers, rows, mapping)) == 1:
        mapping["date"] = dates[0]
    if "comment" not in mapping and (left := [h for h in headers if h not in mapping.values()]):
        dated = [header for header in left if _fits("comment", rows, header)]
        lengths = {header: sum(map(len, _texts(rows, header))) for header in dated or left}
        mapping["comment"] = max(lengths, key=lambda header: lengths[header])
    return {field: mapping[field] for field in FIELDS if field in mapping}


def _all_dates(
    headers: Sequence[str], rows: Sequence[TableRow], mapping: Mapping[str, str]
) -> list[str]:
    dates = []
    for header in (column for column in headers if column not in mapping.values()):
        texts = texts_of(rows, header)
        if len(texts) > 1 and all(map(_is_date, texts)):
            dates.append(header)
    return dates


def _by_name(headers: Sequence[str], titles: Mapping[str, str]) -> dict[str, str]:
    """Map names to headers: the header, the short name before a question, and the title."""
    mapping: dict[str, str] = {}
    for header in reversed(headers):
        mapping |= {bare(titles.get(header, "")): header, bare(named_question(header)[0]): header}
    return {**mapping, **{bare(header): header for header in reversed(headers)}}


def _fits(field: str, rows: Sequence[TableRow], header: str) -> bool:
    """Return whether enough of a column's values fit the field."""
    texts = texts_of(rows, header)
    if field == "date":
        # A single value may be an exception, but several values without a date are not dates.
        fitting = len(texts) if len(texts) < 2 else 2 * sum(map(_is_date, texts))
    elif field == "comment":
        fitting = sum(any(map(str.isalpha, text)) and not _is_date(text) for text in texts)
    else:
        fitting = len(texts)
    return fitting * 2 >= len(texts)


def wrong_columns(mapping: Mapping[str, str]) -> list[str]:
    """Return problems with the chosen columns, as sentences without full stops.

    Examples
    --------
    >>> wrong_columns({"comment": "Text", "id": "Text"})
    ["'Text' is chosen twice: comment and id"]
    """
    if unknown := sorted(set(mapping) - set(FIELDS)):
        return [f"{unknown[0][:40]!a} is not a field; fields are {', '.join(FIELDS)}"]
    if "comment" not in mapping:
        return ["no column is chosen for the comments"]
    first: dict[str, str] = {}
    for field in FIELDS:
        if field in mapping and first.setdefault(mapping[field], field) != field:
            column = mapping[field][:80]
            return [f"{column!a} is chosen twice: {first[mapping[field]]} and {field}"]
    return []


def _is_date(text: str) -> bool:
    return as_date(text) is not None


def texts_of(rows: Sequence[TableRow], header: str) -> list[str]:
    """Return the values of a column as text, without empty values and placeholders such as N/A."""
    values = (row.values.get(header) for row in rows)
    return [as_words(value).strip() for value in values if not is_missing(value)]


def _texts(rows: Sequence[TableRow], header: str) -> list[str]:
    texts = (row.values.get(header) for row in rows)
    return [text for text in texts if isinstance(text, str) and text.strip()]


def is_comment(header: str) -> bool:
    """Return whether the first row of a one-column file is a comment rather than a header.

    A question counts as a header, because it is the question that people answered.

    Examples
    --------
    >>> is_comment("The bus is late again."), is_comment("What do you think of the bus?")
    (True, False)
    """
    text = header.strip()
    if bare(text) in _COMMENT or text.endswith("?"):
        return False
    is_long = len(text) > _LONGEST_HEADER or len(text.split()) >= _LEAST_WORDS
    has_sentence = bool(_SENTENCE_END.search(text)) and " " in text
    return is_long or has_sentence or bool(_SENTENCE_INSIDE.search(text))


def question_of(header: str) -> str:
    """Return the question in a header, or "" if there is no question.

    >>> question_of("Q00. What would you change?"), question_of("Comment")
    ('What would you change?', '')
    """
    text = named_question(header)[1] or header.strip()
    question, mark, rest = text.partition("?")
    is_asked = (mark and " " in question and not rest.strip(" ?\n")) or rest.startswith(" - ")
    return question + mark if is_asked else ""


_BLOCKS = frozenset(
    "p div li ul ol br tr table h1 h2 h3 h4 h5 h6 blockquote pre section article hr".split()  # noqa: SIM905
)
_INLINE = "a b i u s em strong span font sub sup small mark code td th tbody img label"
_TAG = re.compile(
    rf"</?(?:{'|'.join([*_BLOCKS, *_INLINE.split()])})(?:\s[^<>]*)?/?>", re.IGNORECASE
)
_ENTITY = re.compile(
    r"&(?:amp|lt|gt|quot|apos|nbsp|[a-z]{2,8}uml|szlig|#\d{2,6}|#x[0-9a-f]{2,5});", re.I
)
_HIDDEN = ("script", "style")


def is_rich(text: str) -> bool:
    """Return whether a text has HTML tags or entities; "a < b" has neither."""
    return bool(_TAG.search(text) or _ENTITY.search(text))


def plain_text(text: str) -> str:
    """Return a text without tags and with decoded entities.

    Examples
    --------
    >>> plain_text("<p>It is&nbsp;late.</p><p>Every day!</p>")
    'It is late.\\nEvery day!'
    >>> plain_text("Tom &amp; Jerry: &lt;loud&gt;, 1 < 2")
    'Tom & Jerry: <loud>, 1 < 2'
    """
    if not _TAG.search(text):
        return _spaced(unescape(text))
    reader = _Reader()
    reader.feed(text)
    reader.close()
    lines = ("".join(reader.pieces)).split("\n")
    return "\n".join(content for line in lines if (content := " ".join(_spaced(line).split())))


def _spaced(text: str) -> str:
    return text.replace("\xa0", " ")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._break(tag)
        self._hidden += tag in _HIDDEN

    def handle_endtag(self, tag: str) -> None:
        self._break(tag)
        self._hidden -= tag in _HIDDEN and self._hidden > 0

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.pieces.append(data)

    def _break(self, tag: str) -> None:
        if tag in _BLOCKS:
            self.pieces.append("\n")
