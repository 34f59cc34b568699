"""Any table of score sheets, through the columns a person chose."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _

from annotation.actions.importing.rows import AnswerEntry, Flag, Line
from annotation.actions.importing.source import Source, rejected
from annotation.actions.importing.sources import without_marks
from annotation.models import Rater
from benchmark.methods.score_row import UNSCORED, ScoreRow
from benchmark.methods.score_table import read_score_table
from benchmark.models import RubricVersion
from cqa_site.tabular import Problem, Table, open_table

from .answers import AnswerFinder, NoAnswer
from .entries import BOOK, SheetEntry, chosen_rubric


def read_score_sheets(source: Source) -> Iterator[Line]:
    """One sheet a row; an answer that only its text describes is made, once."""
    options = source.options
    rubric = chosen_rubric(source.study, options)
    mapping = dict(options.get("mapping") or {})
    rows = read_score_table(
        _opened(source),
        mapping,
        rubric.rubric,
        rater=str(options.get("rater") or "").strip(),
        rater_kind=str(options.get("rater_kind") or Rater.Kind.PERSON),
    )
    finder: AnswerFinder | None = None
    for record in rows:
        if isinstance(record, Problem):
            yield rejected(record, of=BOOK)
            continue
        if finder is None:
            finder = AnswerFinder(source.study, source.name, knows_aspect="aspect" in mapping)
        yield from _lines(source, rubric, finder, record, mapping)


def _opened(source: Source) -> Table:
    options = source.options
    table = open_table(
        source.path,
        name=source.name,
        encoding=options.get("encoding") or None,
        sheet=options.get("sheet") or None,
    )
    return without_marks(table) if options.get("undo_spreadsheet_marks") else table


def _lines(
    source: Source,
    rubric: RubricVersion,
    finder: AnswerFinder,
    record: ScoreRow,
    mapping: Mapping[str, str],
) -> Iterator[Line]:
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
        found = finder.find(record.row, record.about)
    except NoAnswer as why:
        column = mapping.get("answer") or mapping.get("object1") or mapping.get("source", "")
        yield Flag(record.row, column, str(why), is_rejection=True, object=BOOK)
        return
    if isinstance(found, AnswerEntry):
        yield found
        found = (found.source, found.position, found.choice)
    if record.state == UNSCORED:
        reason = _("Unscored, kept as such and in no mean: %s.") % record.reason
        yield Flag(record.row, "", reason)
    yield _sheet(source, rubric, found, record)


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
        is_consolidated=record.is_consolidated,
        is_extra=not record.is_counted,
        submitted_at=record.submitted_at,
        sheet=record.sheet,
    )
