"""Which column of a table of comments is what, and whether its first row is a comment already."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from cqa_site.tabular import Row, Value

# Fields of which a column may be chosen; all further columns are attributes.
FIELDS = ("comment", "topic", "id", "date", "group")
# Lower case, without anything but letters and digits; the first that is there is proposed.
_COMMENT = tuple(
    """
    comment comments commenttext text response responses responsetext answer answers answertext
    review reviews reviewtext reviewbody feedback feedbacktext opinion opinions remark remarks
    statement suggestion suggestions verbatim verbatims openanswer freetext openended message
    body content argument sentence kommentar kommentare antwort antworten rückmeldung bewertung
    commentaire commentaires avis comentario comentarios commento opmerking opmerkingen
    """.split()  # noqa: SIM905
)
_IDS = "id commentid responseid respondentid answerid reviewid feedbackid uuid argid argumentid"
_DATES = (
    "date day submitted submittedat submissiondate createdat created timestamp time datetime "
    "datum reviewdate writtenon completed"
)
_NAMES: Mapping[str, Sequence[str]] = {
    "comment": _COMMENT,
    "topic": ("topic", "motion"),
    "id": _IDS.split(),
    "date": _DATES.split(),
    "group": ("group", "segment", "gruppe"),
}
MOST_ATTRIBUTES = 50
LONGEST_VALUE = 200
LONGEST_COLUMN = 80
_SENTENCE_END = re.compile(r"[.!…][\"'’”)]*$")
_SENTENCE_INSIDE = re.compile(r"[.!?…]\s+\w")
_LEAST_WORDS, _LONGEST_HEADER = 8, 80


def bare(header: str) -> str:
    """A header in lower case with nothing but letters and digits."""
    return "".join(char for char in header.lower() if char.isalnum())


def comment_columns(headers: Iterable[str]) -> list[str]:
    """Columns whose names say that they hold comments, the best name first."""
    by_name = {bare(each): each for each in reversed(list(headers))}
    return [by_name[name] for name in _COMMENT if name in by_name]


def proposed(headers: Sequence[str], rows: Sequence[Row]) -> dict[str, str]:
    """Which column is probably what.

    Without a name that says it, comments are the column with the longest texts.
    """
    mapping = {}
    by_name = {bare(each): each for each in reversed(headers)}
    for field, names in _NAMES.items():
        if found := next((by_name[name] for name in names if name in by_name), None):
            mapping[field] = found
    if "comment" not in mapping and (left := [h for h in headers if h not in mapping.values()]):
        mapping["comment"] = max(left, key=lambda header: _length(rows, header))
    return {field: mapping[field] for field in FIELDS if field in mapping}


def wrong_columns(mapping: Mapping[str, str]) -> list[str]:
    """What is wrong with chosen columns, in sentences without a stop.

    Examples
    --------
    >>> wrong_columns({"comment": "Text", "id": "Text"})
    ["'Text' is chosen twice: comment and id"]
    """
    if unknown := sorted(set(mapping) - set(FIELDS)):
        return [f"{unknown[0][:40]!a} is no field; there are {', '.join(FIELDS)}"]
    if "comment" not in mapping:
        return ["no column is chosen for the comments"]
    first: dict[str, str] = {}
    for field in FIELDS:
        if field in mapping and first.setdefault(mapping[field], field) != field:
            column = mapping[field][:80]
            return [f"{column!a} is chosen twice: {first[mapping[field]]} and {field}"]
    return []


def _length(rows: Sequence[Row], header: str) -> int:
    texts = (row.values.get(header) for row in rows)
    return sum(len(text) for text in texts if isinstance(text, str))


def is_comment(header: str) -> bool:
    """Whether the first row of a file with one column is a comment, not its name.

    A question is taken for what people were asked.

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
    """What people were asked, where a header says it; "" where it does not."""
    text = header.strip()
    return text if text.endswith("?") and " " in text else ""


def as_words(value: Value) -> str:
    """A cell as text: nothing for an empty one, JSON for a list or an object."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return json.dumps(value, ensure_ascii=False)
