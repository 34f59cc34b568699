"""Headings of survey exports: the survey program, and the question behind each column.

Qualtrics writes three rows: a code (``Q2``, ``Q2_4``, ``Q2_4_TEXT``), the question followed by a
hyphen and its part, and an import id as JSON. SurveyMonkey writes two: the question above its
first column, and below it the option, *Response* or *Open-Ended Response*. LimeSurvey writes
one: a code (``Q2[SQ001]``, ``Q2[other]``, ``Q2[comment]``), the question, or both separated by a
full stop; parts are in square brackets. `cqa_site.tabular.layout` finds these rows.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from cqa_site.tabular.layout import bare, named_question


class SurveyTool(StrEnum):
    """The program that wrote a table; empty for other tables."""

    QUALTRICS = "Qualtrics"
    SURVEYMONKEY = "SurveyMonkey"
    LIMESURVEY = "LimeSurvey"
    OTHER = ""


# Column names of each program; two of them are enough to identify it.
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
        The question, and the option, row or text field that the column contains; the part is
        empty if the column contains the whole question.
    is_open
        Whether the heading itself shows that the column contains free text.
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
        """All names of the column, in lower case and without spaces or punctuation."""
        code = named_question(self.header)[0]
        return frozenset(map(bare, (self.header, self.question, code))) - {""}


def tool_of(columns: Iterable[SurveyColumn]) -> SurveyTool:
    """Return the program that wrote these columns."""
    names = frozenset[str]().union(*(column.names for column in columns))
    for tool, signs in _SIGNS.items():
        if len(names.intersection(signs.split())) >= _LEAST_SIGNS:
            return tool
    return SurveyTool.OTHER


def survey_columns(headers: Sequence[str], titles: Mapping[str, str]) -> list[SurveyColumn]:
    """Return the question behind each column.

    ``headers`` are all different. ``titles`` maps headers to the text of their question, which
    is below the header or after its code.

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
    """Split titles at the hyphen where the columns with the same code start to differ."""
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
    """Return the number of initial pieces that all titles share."""
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
