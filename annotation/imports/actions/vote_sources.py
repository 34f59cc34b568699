"""Read every kind of file with votes as a stream of entries, flags and notes."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _, ngettext

from annotation.corpus.methods.column_guess import unread_labels
from annotation.corpus.methods.generic_table import (
    GenericRecord,
    Remark,
    labels_by_rater,
    read_generic_table,
)
from cqa_site.files.actions.imports import Flag, ImportSource, Line, Note, rejected
from cqa_site.people.models import Rater
from cqa_site.tabular import Problem, printable_name
from cqa_site.tabular.cells import MOST_ATTRIBUTES
from ..books.arguments import match_to_study
from ..methods.releases import RaterNames, ReleasedLabel, read_final_labels
from ..methods.votes import (
    APPROVED,
    CrowdVote,
    ExpertControl,
    ExpertLabel,
    ExpertSheet,
    read_expert_workbook,
    read_toloka,
)
from .entries import ArgumentEntry, Vote, label_round_of, scale_of


def read_crowd(source: ImportSource) -> Iterator[Line]:
    """Yield votes from a Toloka pool; work that was never submitted becomes a void vote."""
    suites = _Suites()
    label_round = label_round_of(source)
    fields: dict[str, Any] = {
        key: source.options.get(key) or None for key in ("field", "input_field")
    }
    fields |= {"scale": scale_of(source), **source.reading}
    for vote in read_toloka(source.path, name=source.name, **fields):
        if isinstance(vote, Problem):
            yield rejected(vote, of="votes")
            continue
        block, position = suites.place(vote.worker_id, vote.assignment_id)
        yield _crowd_entry(vote, label_round, block, position)


class _Suites:
    """The suite and position of each of a worker's rows, in file order."""

    def __init__(self) -> None:
        self._blocks: dict[str, dict[str, int]] = {}
        self._sizes: Counter[str] = Counter()

    def place(self, worker: str, suite: str) -> tuple[int, int]:
        blocks = self._blocks.setdefault(worker, {})
        block = blocks.setdefault(suite, len(blocks))
        position = self._sizes[suite]
        self._sizes[suite] += 1
        return block, position


def _crowd_entry(vote: CrowdVote, label_round: str, block: int, position: int) -> ArgumentEntry:
    is_counted = vote.status == APPROVED
    if not is_counted and vote.label is not None:
        comment = _("Status %(status)s in the source, label %(label)s.") % {
            "status": vote.status,
            "label": vote.label,
        }
    else:
        comment = ""
    answer = Vote(
        rater_kind=Rater.Kind.PERSON,
        rater_id=vote.worker_id,
        label=vote.label if is_counted else None,
        state="answered" if is_counted else "void",
        external_id=f"{vote.assignment_id}:{vote.task_id}",
        at=vote.started,
        block=block,
        position=position,
        comment=comment,
    )
    return ArgumentEntry(
        row=vote.row,
        object1=vote.object1,
        object2=vote.object2,
        text=vote.text,
        label_round=label_round,
        item_id=vote.task_id,
        control_label=vote.control_label,
        votes=(answer,),
    )


def read_experts(source: ImportSource) -> Iterator[Line]:
    """Yield one round per rated sheet, with sentences in the study's spelling."""
    return match_to_study(source.study, _workbook(source))


def _workbook(source: ImportSource) -> Iterator[Line]:
    """Read the workbook; sheet names are personal names and are never disclosed."""
    sheets = read_expert_workbook(source.path, name=source.name, scale=scale_of(source))
    for sheet in sheets:
        for problem in sheet.problems:
            yield rejected(problem, of="votes", place=_sheet_name(sheet))
        if sheet.is_rated:
            yield from _sheet_entries(sheet, label_round_of(source))
        elif sheet.rows:
            yield Note(
                ngettext(
                    "%(sheet)s has no labels in its %(rows)s row; no round was created for it.",
                    "%(sheet)s has no labels in its %(rows)s rows; no round was created for it.",
                    len(sheet.rows),
                )
                % {"sheet": _sheet_name(sheet), "rows": len(sheet.rows)}
            )


def _sheet_name(sheet: ExpertSheet) -> str:
    return sheet.name_pseudonym or _("Sheet %s") % sheet.position


def _sheet_entries(sheet: ExpertSheet, base: str) -> Iterator[Line]:
    label_round = f"{base}: {sheet.name_pseudonym}"
    for row in sheet.rows:
        if isinstance(row, ExpertControl):
            yield from _control_row(row, sheet, base, label_round)
        else:
            yield _batch_row(row, sheet, base, label_round)


def _batch_row(row: ExpertLabel, sheet: ExpertSheet, base: str, label_round: str) -> ArgumentEntry:
    label = _expert_vote(base, sheet.raters[0], row.label, row.comment)
    return ArgumentEntry(
        row=row.row,
        place=sheet.name_pseudonym,
        object1=row.object1,
        object2=row.object2,
        text=row.text,
        label_round=label_round,
        votes=() if label is None else (label,),
    )


def _control_row(
    row: ExpertControl, sheet: ExpertSheet, base: str, label_round: str
) -> Iterator[Line]:
    votes = [
        _expert_vote(base, rater, label)
        for rater, label in zip(sheet.raters, row.labels, strict=True)
    ]
    if not row.is_scored:
        reason = _(
            "The sheet leaves this item out of its own figures, so it becomes a retired "
            "control item."
        )
        yield Flag(row.row, sheet.name_pseudonym, reason)
    yield ArgumentEntry(
        row=row.row,
        place=sheet.name_pseudonym,
        object1=row.object1,
        object2=row.object2,
        text=row.text,
        label_round=label_round,
        control_label=row.control_label,
        is_retired=not row.is_scored,
        votes=tuple(vote for vote in votes if vote is not None),
    )


def _expert_vote(base: str, rater: str, label: int | None, comment: str = "") -> Vote | None:
    if label is None:
        return None
    return Vote(
        rater_kind=Rater.Kind.EXPERT,
        # The same pseudonym in another workbook is a different person.
        rater_id=f"{base}: {rater}",
        rater_name=rater,
        label=label,
        comment=comment[:1_000],
    )


def read_released(source: ImportSource) -> Iterator[Line]:
    """Yield released human and model labels; the first copy of a unit counts."""
    label_round = label_round_of(source)
    for record in read_final_labels(source.path, name=source.name, scale=scale_of(source)):
        if isinstance(record, Problem):
            yield rejected(record, of="votes")
        elif record.text is None:
            reason = _("The sentence is null, so its labels were left out.")
            yield Flag(record.row, "argument", reason)
        else:
            yield _released_entry(record, record.text, label_round)


def _released_entry(record: ReleasedLabel, text: str, label_round: str) -> ArgumentEntry:
    votes = (
        Vote(Rater.Kind.REFERENCE, "released", "Released label", record.label),
        Vote(Rater.Kind.MODEL, "gpt-4", "GPT-4", record.model_label),
    )
    return ArgumentEntry(
        row=record.row,
        object1=record.object1,
        object2=record.object2,
        text=text,
        label_round=label_round,
        votes=tuple(vote for vote in votes if vote.label is not None),
        keeps_first_copy=True,
    )


def read_mapped(source: ImportSource) -> Iterator[Line]:
    """Yield entries from any table, using the columns that a person chose."""
    options = source.options
    mapping = dict(options.get("mapping") or {})
    label_round = label_round_of(source)
    kind = options.get("rater_kind") or Rater.Kind.PERSON
    # The rater is given in a column, in the headers, or as an option.
    has_votes = "label" in mapping or bool(labels_by_rater(mapping))
    names = RaterNames(source.study.raters.values_list("external_id", flat=True))
    table = source.table()
    attributes = _attributes(source, table.columns, mapping, has_rows_of_votes="label" in mapping)
    records = read_generic_table(
        table,
        mapping,
        scale=scale_of(source),
        rater=source.text("rater"),
        attributes=attributes,
        log=source.log,
    )
    for record in records:
        if isinstance(record, Problem):
            yield rejected(record, of="votes" if has_votes else "arguments")
        elif isinstance(record, Remark):
            yield Flag(record.row, record.column, record.reason)
        else:
            yield _mapped_entry(record, label_round if has_votes else "", kind, names)
    columns = unread_labels(table.columns, (), mapping)
    text = _("“%s” may contain labels: name the rater, or choose a column that names the raters.")
    source.log.notes += [
        *names.notes(),
        *[text % printable_name(column, 60) for column in columns],
    ]


def _attributes(
    source: ImportSource,
    columns: Sequence[str],
    mapping: Mapping[str, str],
    *,
    has_rows_of_votes: bool,
) -> list[str]:
    """Return columns to store with the arguments; rows of votes have no such columns."""
    left = [column for column in columns if column not in mapping.values()]
    attributes = [] if has_rows_of_votes else left[:MOST_ATTRIBUTES]
    source.log.unread += left[len(attributes) :]
    if attributes:
        names = ", ".join(printable_name(column, 60) for column in attributes)
        text = ngettext(
            "%(number)s further column is stored with the arguments: %(columns)s.",
            "%(number)s further columns are stored with the arguments: %(columns)s.",
            len(attributes),
        )
        source.log.notes.append(text % {"number": len(attributes), "columns": names})
    return attributes


def _mapped_entry(
    record: GenericRecord, label_round: str, kind: str, names: RaterNames
) -> ArgumentEntry:
    entry: dict[str, Any] = {
        "row": record.row,
        "object1": record.object1,
        "object2": record.object2,
        "text": record.text,
        "source_url": record.source_url or "",
        "argument_id": "" if label_round else record.external_id or "",
        "attributes": dict(record.attributes),
    }
    if not label_round:
        return ArgumentEntry(**entry)
    votes = [_mapped_vote(record, kind, names)] if record.rater is not None else []
    votes += [Vote(kind, names.of(rater), label=label) for rater, label in record.labels]
    return ArgumentEntry(
        **entry,
        label_round=label_round,
        item_id=record.external_id or "",
        control_label=record.control_label,
        votes=tuple(vote for vote in votes if vote is not None),
    )


def _mapped_vote(record: GenericRecord, kind: str, names: RaterNames) -> Vote | None:
    state = record.state or ("answered" if record.label is not None else None)
    if state is None:
        return None
    return Vote(
        rater_kind=record.rater_kind or kind,
        rater_id=names.of(record.rater or ""),
        label=record.label,
        state=state,
        at=record.started,
        active_ms=record.active_ms,
        is_extra=bool(record.is_extra),
        is_flagged=bool(record.is_flagged),
        is_rater_excluded=bool(record.is_excluded),
        skip_reason=record.skip_reason or "",
        block=record.block or 0,
        position=record.position or 0,
        comment=(record.comment or "")[:1_000],
    )
