"""Any table of score sheets, through the columns a person chose."""

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.imports.actions.rows import AnswerEntry
from benchmark.imports.methods.row import EMPTY, UNSCORED, ScoreRow
from benchmark.imports.methods.table import read_score_table
from benchmark.rubrics.models import RubricVersion
from cqa_site.files.actions.rows import Flag, Line, Note, Source, rejected
from cqa_site.people.models import Rater
from cqa_site.tabular import Problem

from .answers import BY_LETTERS, CONFIRMED, EXACTLY, NEW, TOLD, AnswerFinder, Found, NoAnswer
from .entries import BOOK, SheetEntry, chosen_rubric

PIECE = 1_000
UNDECIDED = "undecided"
WAYS = (TOLD, EXACTLY, BY_LETTERS, CONFIRMED, UNDECIDED, NEW, EMPTY)


def read_score_sheets(source: Source) -> Iterator[Line]:
    """One sheet a row; an answer that only its text describes is made, once."""
    options = source.options
    rubric = chosen_rubric(source.study, options)
    mapping = dict(options.get("mapping") or {})
    rows = read_score_table(
        source.table(),
        mapping,
        rubric.rubric,
        rater=source.text("rater"),
        rater_kind=str(options.get("rater_kind") or Rater.Kind.PERSON),
    )
    records = iter(rows)
    finder: AnswerFinder | None = None
    tally: Counter[str] = Counter()
    while chunk := list(islice(records, PIECE)):
        if finder is None:
            finder = AnswerFinder(source.study, source.name, columns=mapping, options=options)
        finder.look_ahead(record for record in chunk if isinstance(record, ScoreRow))
        for record in chunk:
            if isinstance(record, Problem):
                yield rejected(record, of=BOOK)
            else:
                yield from _lines(source, rubric, finder, record, mapping, tally)
    yield from _said(tally)


def _lines(
    source: Source,
    rubric: RubricVersion,
    finder: AnswerFinder,
    record: ScoreRow,
    mapping: Mapping[str, str],
    tally: Counter[str],
) -> Iterator[Line]:
    if record.state == EMPTY:
        tally[EMPTY] += 1
        yield Flag(record.row, "", _("No points at all: not scored; left out."))
        return
    if record.state in ("open", "void"):
        reason = _("Was not submitted, or does not count; left out.")
        yield Flag(record.row, mapping.get("state", ""), reason)
        return
    if record.rubric_sha256 not in ("", rubric.sha256):
        reason = _("scored by another version of the rubric")
        column = mapping.get("rubric_sha256", "")
        yield Flag(record.row, column, reason, is_rejection=True, object=BOOK)
        return
    try:
        found = finder.find(record)
    except NoAnswer as why:
        yield from _not_found(record, why, mapping)
        tally[UNDECIDED] += why.near is not None
        return
    tally[found.how] += 1
    yield from _with_answer(source, rubric, record, found)


def _not_found(record: ScoreRow, why: NoAnswer, mapping: Mapping[str, str]) -> Iterator[Line]:
    where = "text" if why.near else "answer"
    columns = (mapping.get(name) for name in (where, "answer", "object1", "source"))
    column = next(filter(None, columns), "")
    if why.near:
        yield why.near
    yield Flag(record.row, column, str(why), is_rejection=True, object=BOOK)


def _with_answer(
    source: Source, rubric: RubricVersion, record: ScoreRow, found: Found
) -> Iterator[Line]:
    if found.near:
        yield found.near
    if found.rivals:
        yield Flag(record.row, "", _("Fits several answers; the first free one is taken."))
    answer = found.answer
    if isinstance(answer, AnswerEntry):
        yield answer
        answer = (answer.source, answer.position, answer.choice)
    if record.state == UNSCORED:
        reason = _("Unscored, kept as such and in no mean: %s.") % record.reason
        yield Flag(record.row, "", reason)
    yield _sheet(source, rubric, answer, record)


def _said(tally: Counter[str]) -> Iterator[Note]:
    """How the rows found their answers."""
    n = {how: tally[how] for how in WAYS}
    words = {
        TOLD: ngettext(
            "%s row names its answer by id, by place, or by what it is about.",
            "%s rows name their answers by id, by place, or by what they are about.",
            n[TOLD],
        ),
        EXACTLY: ngettext(
            "%s row has the text of an answer of the study, letter by letter.",
            "%s rows have the texts of answers of the study, letter by letter.",
            n[EXACTLY],
        ),
        BY_LETTERS: ngettext(
            "%s row has the letters and digits of an answer of the study, and is taken for it.",
            "%s rows have the letters and digits of answers of the study, and are taken for them.",
            n[BY_LETTERS],
        ),
        CONFIRMED: ngettext(
            "%s row has nearly the text of an answer, which was confirmed to be the same.",
            "%s rows have nearly the texts of answers, which were confirmed to be the same.",
            n[CONFIRMED],
        ),
        UNDECIDED: ngettext(
            "%s row has nearly the text of an answer of the study and waits for your word.",
            "%s rows have nearly the texts of answers of the study and wait for your word.",
            n[UNDECIDED],
        ),
        NEW: ngettext(
            "%s row is about an answer that the study does not have; it is made.",
            "%s rows are about answers that the study does not have; these are made.",
            n[NEW],
        ),
        EMPTY: ngettext(
            "%s row has no points at all: not scored, left out.",
            "%s rows have no points at all: not scored, left out.",
            n[EMPTY],
        ),
    }
    for how, text in words.items():
        if n[how]:
            yield Note(text % f"{n[how]:,}")


def _sheet(source: Source, rubric: RubricVersion, answer: Any, record: ScoreRow) -> SheetEntry:
    is_machine = record.rater_kind in (Rater.Kind.MODEL, Rater.Kind.CLASSIFIER)
    return SheetEntry(
        row=record.row,
        rubric=rubric,
        answer=answer,
        source=source.name,
        position=record.row,
        rater_kind=record.rater_kind,
        rater_id=record.rater,
        rater_name=record.rater_name or (record.rater[:120] if is_machine else ""),
        replicate=record.replicate,
        points=record.points,
        unable=record.unable,
        notes=record.notes,
        comment=record.comment,
        reason=record.reason,
        off_scale=record.off_scale,
        given=record.given,
        is_consolidated=record.is_consolidated,
        is_extra=not record.is_counted,
        submitted_at=record.submitted_at,
        sheet=record.sheet,
    )
