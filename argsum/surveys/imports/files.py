"""Survey exports as import entries: one respondent per row, with all answers."""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any, ClassVar

from django.utils.translation import gettext as _, ngettext

from argsum.datasets.actions import RawComment
from argsum.datasets.imports.comment_files import key_of_id
from argsum.datasets.methods.argument_cells import LONGEST_NAME, LONGEST_TOPIC
from argsum.datasets.methods.comment_columns import (
    LONGEST_COLUMN,
    Order,
    as_date,
    is_rich,
    order_of,
    plain_text,
    texts_of,
)
from argsum.surveys.methods.headings import SurveyColumn, SurveyTool, survey_columns, tool_of
from argsum.surveys.methods.roles import (
    ANY_SEPARATOR,
    PRIVATE,
    ColumnRole,
    ProposedRole,
    Reason,
    is_chosen,
    is_preview,
    is_unfinished,
    pieces_of,
    proposed_roles,
    role_problem,
    separator_of,
)
from argsum.surveys.models import Survey
from cqa_site.files.actions.imports import (
    Flag,
    ImportEntry,
    ImportRefused,
    ImportSource,
    Line,
    Note,
    named_by,
)
from cqa_site.tabular import Table, TableRow
from cqa_site.tabular.cells import LONGEST_VALUE, MOST_ATTRIBUTES, as_words, is_missing
from cqa_site.tabular.layout import unique_headers

RESPONDENTS = "respondents"
KEEP, LEAVE_OUT = "keep", "leave_out"
YES, NO = "yes", "no"
# Number of rows read to propose the columns' roles.
MOST_ROWS = 500


@dataclass(frozen=True)
class SurveyPlan:
    """Content of a file: the survey's name, its open questions, and the answer groups."""

    name: str
    tool: SurveyTool
    roles: Mapping[str, str]
    questions: tuple[SurveyColumn, ...]
    groups: tuple[str, ...]
    # Columns that have no answers yet; a later file will show how to use them.
    empty: frozenset[str]


@dataclass(frozen=True, slots=True)
class SurveyEntry(ImportEntry):
    """One respondent; ``answers`` follow the plan's questions and are "" where missing.

    ``respondent`` is a comment without text. The comments on the questions are copies of it that
    add the answers.
    """

    makes: ClassVar[str] = RESPONDENTS

    plan: SurveyPlan
    respondent: RawComment
    answers: tuple[str, ...]


@dataclass(frozen=True)
class SurveyLook:
    """The survey program and the likely use of each column, detected from the first rows."""

    tool: SurveyTool
    proposals: Sequence[ProposedRole]

    def proposed(self, role: ColumnRole) -> list[SurveyColumn]:
        """Return the columns with this proposed role."""
        return [proposal.column for proposal in self.proposals if proposal.role == role]

    @property
    def private(self) -> list[str]:
        """Columns to leave out because they may identify people."""
        return [row.column.header for row in self.proposals if row.reason in PRIVATE]


@dataclass
class _Reading:
    """How a file is read, and what has been left out so far."""

    source: ImportSource
    look: SurveyLook
    plan: SurveyPlan
    columns: Mapping[str, SurveyColumn]
    # Attribute names by header and, for questions with several answers per cell, by option.
    groups: Mapping[tuple[str, str], str]
    separators: Mapping[str, str]
    order: Order
    # A digest of the answers by key, so that large files need little memory.
    seen: dict[str, bytes] = field(default_factory=dict)
    equal: Counter[bytes] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)

    def column(self, role: ColumnRole) -> str:
        """Return the header with this role, or "" if no header has it."""
        return next((name for name, own in self.plan.roles.items() if own == role), "")


def look_at(
    columns: Sequence[str], titles: Mapping[str, str], rows: Sequence[TableRow]
) -> SurveyLook:
    """Return the survey program and proposed roles for the first rows of a table."""
    survey_headings = survey_columns(columns, titles)
    plain = [SurveyColumn(header, titles.get(header, header)) for header in columns]
    return SurveyLook(tool_of([*survey_headings, *plain]), proposed_roles(survey_headings, rows))


def look_at_source(source: ImportSource) -> SurveyLook:
    """Return what `look_at` finds in the first rows of a file; raises UnreadableFile."""
    with source.table(is_again=True) as table:
        return look_at(table.columns, table.titles, list(islice(table.rows, MOST_ROWS)))


def survey_of(source: ImportSource, look: SurveyLook) -> Survey | None:
    """Return the stored survey that a file continues, by name or by matching questions.

    Codes alone do not identify a survey, because many surveys have a question Q1. Neither does the
    file's name alone, because programs give every export the same name.
    """
    surveys = source.study.surveys.prefetch_related("questions")
    if name := source.text("survey"):
        return surveys.filter(name=name).first()
    name = named_by({}, "survey", source.name)
    here = {(row.column.header, row.column.text[:LONGEST_TOPIC]) for row in look.proposals}
    for survey in sorted(surveys, key=lambda survey: survey.name != name):
        own = {(question.column, question.text) for question in survey.questions.all()}
        is_worded = any(" " in text.partition(" – ")[0] for _column, text in own)
        # Copies of a survey have a number after the name.
        if own <= here and (is_worded or re.sub(r" \(\d+\)$", "", survey.name) == name):
            return survey
    return None


def survey_name(source: ImportSource, survey: Survey | None) -> str:
    """Return the survey's name, the chosen name, or a free name based on the file's name."""
    if survey is not None:
        return survey.name
    name = named_by(source.options, "survey", source.name)
    if source.text("survey"):
        return name
    names = source.study.surveys.values_list("name", flat=True)
    return unique_headers([*names, name[: LONGEST_NAME - 10]])[-1]


def roles_of(source: ImportSource, look: SurveyLook, survey: Survey | None) -> dict[str, str]:
    """Return, by column, the chosen roles or, by default, those of the survey or the proposal."""
    stored = survey.roles if survey else {}
    roles = {
        proposal.column.header: stored.get(proposal.column.header, proposal.role.value)
        for proposal in look.proposals
    }
    return roles | dict(source.options.get("mapping") or {})


def read_survey(source: ImportSource) -> Iterator[Line]:
    """Read one respondent per row; notes at the end say what was left out."""
    with source.table() as table:
        head = list(islice(table.rows, MOST_ROWS))
        reading = _reading(source, table, head)
        for row in chain(head, table.rows):
            yield from _lines(reading, row)
        yield from map(Note, _remarks(reading))


def _reading(source: ImportSource, table: Table, head: Sequence[TableRow]) -> _Reading:
    """Return how to read the file; raises ImportRefused if the roles do not fit it."""
    look = look_at(table.columns, table.titles, head)
    survey = survey_of(source, look)
    roles = roles_of(source, look, survey)
    if problem := role_problem(roles, table.columns):
        raise ImportRefused(problem)
    refusal = _("“%s” is not valid for unfinished replies. Use keep or leave_out.")
    source.choice("unfinished", (KEEP, LEAVE_OUT), refusal)
    columns = {proposal.column.header: proposal.column for proposal in look.proposals}
    separators = {
        name: separator_of(texts_of(head, name)) or ANY_SEPARATOR
        for name, role in roles.items()
        if role == ColumnRole.SEVERAL
    }
    order, options = _whole_file(source, roles, separators)
    names: dict[tuple[str, str], str] = {}
    for header, own in columns.items():
        if roles[header] in (ColumnRole.CLOSED, ColumnRole.OPTION):
            names[header, ""] = own.text
        for option in options.get(header, ()):
            names[header, option] = f"{own.question} – {option}"
    unique = unique_headers([_shortened(name) for name in names.values()])[:MOST_ATTRIBUTES]
    plan = SurveyPlan(
        name=survey_name(source, survey),
        tool=look.tool,
        roles=roles,
        questions=tuple(own for name, own in columns.items() if roles[name] == ColumnRole.OPEN),
        groups=tuple(unique),
        empty=frozenset(row.column.header for row in look.proposals if row.reason == Reason.EMPTY),
    )
    groups = dict(zip(names, unique, strict=False))
    reading = _Reading(source, look, plan, columns, groups, separators, order)
    reading.counts["groups"] = len(names) - len(unique)
    return reading


def _shortened(name: str) -> str:
    """Shorten a question in the middle, because its option is at the end."""
    if len(name) <= LONGEST_COLUMN:
        return name
    end = name.rpartition(" – ")[2][-LONGEST_COLUMN // 2 :]
    return f"{name[: LONGEST_COLUMN - len(end) - 2]}… {end}"


def _whole_file(
    source: ImportSource, roles: Mapping[str, str], separators: Mapping[str, str]
) -> tuple[Order, dict[str, list[str]]]:
    """Return the date order, and the options of questions with several answers per cell."""
    dated = next((name for name, role in roles.items() if role == ColumnRole.DATE), "")
    if not (dated or separators):
        return Order.UNKNOWN, {}
    options: dict[str, dict[str, None]] = {name: {} for name in separators}
    dates: list[str] = []
    with source.table(is_again=True) as table:
        for row in table.rows:
            dates += texts_of([row], dated) if dated else []
            for name, pattern in separators.items():
                for text in texts_of([row], name):
                    options[name].update(dict.fromkeys(pieces_of(text, pattern)))
    return order_of(dates), {name: list(pieces) for name, pieces in options.items()}


def _lines(reading: _Reading, row: TableRow) -> Iterator[Line]:
    """Yield each row's respondent, or a flag with the reason for skipping or rejecting the row."""
    if is_preview(reading.look.tool, row):
        reading.counts["previews"] += 1
        return
    if is_unfinished(reading.look.tool, row):
        reading.counts["unfinished"] += 1
        if reading.source.text("unfinished") == LEAVE_OUT:
            return
    respondent = reading.column(ColumnRole.RESPONDENT)
    name = _answer(row, respondent)
    if respondent and not 0 < len(name) <= LONGEST_NAME:
        too_long = _("Longer than %s characters.") % LONGEST_NAME
        problem = too_long if name else _("The respondent’s id is empty.")
        yield Flag(row.number, respondent, problem, is_rejection=True, object=RESPONDENTS)
        return
    key = key_of_id(name) if respondent else _key(reading, row)
    answers = tuple(_answer(row, question.header) for question in reading.plan.questions)
    attributes = _attributes(reading, row)
    content = _digest([answers, attributes])
    before = reading.seen.setdefault(key, content)
    if before is not content:
        is_same = before == content
        problem = _("This row repeats an earlier one and is left out.")
        if not is_same:
            reason = _("The respondent “%s” appears earlier in this file with different answers.")
            problem = reason % name[:40]
        yield Flag(row.number, respondent, problem, is_rejection=not is_same, object=RESPONDENTS)
        return
    dated = reading.column(ColumnRole.DATE)
    text = _answer(row, dated)
    written_on = as_date(text, reading.order)
    if text and written_on is None:
        reason = _("“%s” is not a readable date. The answers are imported without it.")
        yield Flag(row.number, dated, reason % text[:40])
    source = reading.source.name[:255]
    own = RawComment(key, "", name or key[:16], attributes, written_on, source)
    yield SurveyEntry(row.number, reading.plan, own, answers)


def _key(reading: _Reading, row: TableRow) -> str:
    """Return a key derived from all cells of a row and its position among identical rows."""
    content = _digest(sorted((name, as_words(value)) for name, value in row.values.items()))
    reading.equal[content] += 1
    return hashlib.sha256(b"%d\n%b" % (reading.equal[content], content)).hexdigest()


def _digest(content: Any) -> bytes:
    text = json.dumps(content, ensure_ascii=False)
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def _answer(row: TableRow, header: str) -> str:
    value = row.values.get(header)
    text = "" if is_missing(value) else as_words(value).strip()
    return plain_text(text).strip() if is_rich(text) else text


def _attributes(reading: _Reading, row: TableRow) -> dict[str, str]:
    """Return a respondent's groups; a question with several answers gives yes or no per option."""
    attributes: dict[str, str] = {}
    options: dict[str, dict[str, str]] = defaultdict(dict)
    for (header, option), name in reading.groups.items():
        text = _answer(row, header)
        if reading.plan.roles[header] == ColumnRole.CLOSED:
            attributes |= {name: text[:LONGEST_VALUE]} if text else {}
        elif option:
            is_on = option in pieces_of(text, reading.separators[header])
            options[header][name] = YES if is_on else NO
        else:
            options[reading.columns[header].question][name] = YES if is_chosen(text) else NO
    for answers in options.values():
        # If nothing was chosen, the respondent may not have seen the question.
        attributes |= answers if YES in answers.values() else {}
    return attributes


def _remarks(reading: _Reading) -> Iterator[str]:
    """Yield notes on the recognized program and on what was left out."""
    counts, roles = reading.counts, reading.plan.roles
    if tool := reading.look.tool:
        yield _("Recognized as an export from %s.") % tool
    private = [name for name in reading.look.private if roles[name] == ColumnRole.LEFT_OUT]
    others = [
        name
        for name in reading.columns
        if roles[name] == ColumnRole.LEFT_OUT and name not in private
    ]
    if private:
        yield _("Left out because they may identify people: %s.") % _listed(private)
    if others:
        yield _("Also left out: %s.") % _listed(others)
    if number := counts["previews"]:
        text = ngettext(
            "%s preview answer is left out.", "%s preview answers are left out.", number
        )
        yield text % f"{number:,}"
    if number := counts["unfinished"]:
        if reading.source.text("unfinished") == LEAVE_OUT:
            text = ngettext(
                "%s unfinished reply is left out.", "%s unfinished replies are left out.", number
            )
        else:
            text = ngettext(
                "%s unfinished reply is included.", "%s unfinished replies are included.", number
            )
        yield text % f"{number:,}"
    if not reading.column(ColumnRole.RESPONDENT):
        yield _(
            "No column identifies respondents, so each row is recognized by the contents "
            "of all its cells."
        )
    if number := counts["groups"]:
        text = ngettext(
            "%(left)s more group is left out; only the first %(most)s are kept.",
            "%(left)s more groups are left out; only the first %(most)s are kept.",
            number,
        )
        yield text % {"left": number, "most": MOST_ATTRIBUTES}


def _listed(headers: Sequence[str]) -> str:
    return ", ".join(header[:40] for header in headers)
