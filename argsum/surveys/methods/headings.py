"""Headings of survey exports: the program that wrote them, and the question behind a column.

Qualtrics writes three rows: a code (``Q2``, ``Q2_4``, ``Q2_4_TEXT``), the question with its part
after a hyphen, and an import id as JSON. SurveyMonkey writes two: the question above the first of
its columns, and below it the option, or *Response* or *Open-Ended Response*. LimeSurvey writes
one: a code (``Q2[SQ001]``, ``Q2[other]``, ``Q2[comment]``), the question, or both with a full stop
between them; parts are in square brackets. `cqa_site.tabular.layout` finds these rows.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from cqa_site.tabular.layout import bare, named_question


class SurveyTool(StrEnum):
    """The program that wrote a table; empty for any other."""

    QUALTRICS = "Qualtrics"
    SURVEYMONKEY = "SurveyMonkey"
    LIMESURVEY = "LimeSurvey"
    OTHER = ""


# Names of columns; two of them show the program.
_SIGNS = {
    SurveyTool.QUALTRICS: "responseid recordeddate distributionchannel durationinseconds",
    SurveyTool.SURVEYMONKEY: "respondentid collectorid",
    SurveyTool.LIMESURVEY: "submitdate datesubmitted lastpage startlanguage seed",
}
_LEAST_SIGNS = 2
_CODE = re.compile(r"(?:_\d+)*(?:_TEXT)?$")
_BRACKETED = re.compile(r"(.*\S)\s*\[([^\[\]]+)\]", re.DOTALL)
_HYPHEN, _SELECTED = " - ", "Selected Choice"
_NO_PART = ("response", "openendedresponse", "")


@dataclass(frozen=True, slots=True)
class SurveyColumn:
    """The question behind a column.

    Attributes
    ----------
    header
        Heading of the column in the table.
    question, part
        The question, and which option, row or text field of it the column holds; the part is
        empty where the column is the whole question.
    is_open
        Whether the heading itself says that the column holds free text.
    """

    header: str
    question: str
    part: str = ""
    is_open: bool = False

    @property
    def text(self) -> str:
        """The question with its part."""
        return f"{self.question} – {self.part}" if self.part else self.question

    @property
    def names(self) -> frozenset[str]:
        """All names of the column, in lower case without spaces and punctuation."""
        code = named_question(self.header)[0]
        return frozenset(map(bare, (self.header, self.question, code))) - {""}


def tool_of(columns: Iterable[SurveyColumn]) -> SurveyTool:
    """Return the program whose columns these are."""
    names = frozenset[str]().union(*(column.names for column in columns))
    for tool, signs in _SIGNS.items():
        if len(names.intersection(signs.split())) >= _LEAST_SIGNS:
            return tool
    return SurveyTool.OTHER


def survey_columns(headers: Sequence[str], titles: Mapping[str, str]) -> list[SurveyColumn]:
    """Return the question behind each column.

    ``headers`` are all different; ``titles`` are the texts below them, or after their code.

    Examples
    --------
    >>> [bus] = survey_columns(["Q2[SQ001]. How do you travel? [Bus]"], {})
    >>> bus.question, bus.part, bus.text
    ('How do you travel?', 'Bus', 'How do you travel? – Bus')
    """
    plain = [SurveyColumn(header, titles.get(header, header)) for header in headers]
    tool = tool_of([*plain, *(SurveyColumn(header, header) for header in headers)])
    if tool == SurveyTool.SURVEYMONKEY:
        return list(_below_questions(headers, titles))
    if tool == SurveyTool.QUALTRICS:
        return _by_code(plain)
    return [_bracketed(header, titles.get(header, "")) for header in headers]


def _below_questions(headers: Sequence[str], titles: Mapping[str, str]) -> Iterable[SurveyColumn]:
    question = ""
    for place, header in enumerate(headers, start=1):
        # A column without a heading belongs to the question before it.
        question = question if question and header == f"Column {place}" else header
        below = titles.get(header, "")
        kind = bare(below)
        part = "" if kind in _NO_PART else below
        yield SurveyColumn(header, question, part, is_open=kind == _NO_PART[1])


def _by_code(columns: Sequence[SurveyColumn]) -> list[SurveyColumn]:
    """Split titles at the hyphen up to which all columns of a code are titled alike."""
    families: dict[str, list[list[str]]] = defaultdict(list)
    for column in columns:
        families[_family(column.header)].append(column.question.split(_HYPHEN))
    result = []
    for column in columns:
        family = families[_family(column.header)]
        pieces = column.question.split(_HYPHEN)
        shared = _shared(family) if len(family) > 1 else len(pieces)
        question = _HYPHEN.join(pieces[:shared]) if shared else column.question
        part = _HYPHEN.join(pieces[shared:]) if shared else ""
        names = (text.removeprefix(_SELECTED).removesuffix(_SELECTED) for text in (question, part))
        question, part = (text.removeprefix(_HYPHEN).removesuffix(_HYPHEN) for text in names)
        result.append(SurveyColumn(column.header, question, part))
    return result


def _family(code: str) -> str:
    return _CODE.sub("", code)


def _shared(titles: Sequence[Sequence[str]]) -> int:
    """Return how many pieces all titles begin with."""
    number = 0
    for pieces in zip(*titles, strict=False):
        if len(set(pieces)) > 1:
            break
        number += 1
    return number


def _bracketed(header: str, title: str) -> SurveyColumn:
    code, text = named_question(header)
    inside = _BRACKETED.fullmatch(code or header)
    is_open = inside is not None and inside[2].lower().endswith("comment")
    if match := _BRACKETED.fullmatch(text or title or header):
        return SurveyColumn(header, match[1], match[2], is_open)
    part = inside[2] if inside and (text or title) else ""
    return SurveyColumn(header, text or title or header, part, is_open)
