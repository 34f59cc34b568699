"""Reconciliation of imported score sheets with stored ones, and board updates."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _, ngettext

from annotation.imports.actions.entries import RaterKey
from annotation.imports.actions.reconciliation import StudyReconciliation
from benchmark.leaderboard.actions import request_board
from benchmark.rubrics.models import RubricVersion, default_rubric
from benchmark.scoring.actions import SCORING
from benchmark.scoring.models import ScoreEvent, ScoreSheet
from cqa_site.people.models import Rater, Study
from .entries import SheetEntry

State = ScoreSheet.State
_FIELDS = (
    "public_id", "answer_id", "rater_id", "rubric_id", "replicate", "state", "points", "unable",
    "reason", "source", "position",
)  # fmt: skip
# Entry, key of its answer, key of its rater; a key is None until a new row is written.
EntryKeys = tuple[SheetEntry, int | None, int | None]


def values_of(sheet: ScoreSheet) -> tuple:
    """Return the same tuple as `SheetEntry.values`."""
    return sheet.reason, sheet.points, sheet.unable


class StoredSheets:
    """Stored sheets by id; by file, position and rater; and by answer, rater and replicate."""

    def __init__(self, study: Study, entries: Iterable[EntryKeys]) -> None:
        known = [record for record in entries if record[2] is not None]
        sheets = ScoreSheet.objects.filter(study=study).only(*_FIELDS).order_by("pk")
        self._load_ids(sheets, {entry.sheet for entry, _answer, _rater in known} - {""})
        raters = {rater for _entry, _answer, rater in known}
        self._by_place: dict[tuple[str, int, int | None], ScoreSheet] = {
            (row.source, row.position, row.rater_id): row
            for row in sheets.filter(
                rater__in=raters,
                source__in={entry.source for entry, _answer, _rater in known},
                position__in={entry.position for entry, _answer, _rater in known},
            )
        }
        self._load_contents(sheets, known, raters)

    def _load_ids(self, sheets: QuerySet[ScoreSheet], ids: set[str]) -> None:
        rows = sheets.filter(public_id__in=ids) if ids else ()
        self._by_id = {str(row.public_id): row for row in rows}

    def _load_contents(
        self, sheets: QuerySet[ScoreSheet], known: list[EntryKeys], raters: set[int | None]
    ) -> None:
        counting = sheets.filter(
            rater__in=raters,
            answer__in={answer for _entry, answer, _rater in known} - {None},
            state__in=(State.SUBMITTED, State.UNSCORED),
            is_example=False,
        )
        self._by_content: dict[tuple, ScoreSheet] = {}
        for row in counting:
            key = (row.rubric_id, row.answer_id, row.rater_id, row.replicate)
            self._by_content.setdefault(key, row)

    def find(self, entry: SheetEntry, answer: int | None, rater: int | None) -> ScoreSheet | None:
        """Return the stored sheet that is identical to this entry or conflicts with it."""
        content = (entry.rubric.pk, answer, rater, entry.replicate)
        return (
            self._by_id.get(entry.sheet)
            or self._by_place.get((entry.source, entry.position, rater))
            or self._by_content.get(content)
        )


REPLACED = (
    "state", "points", "unable", "notes", "comment", "reason", "total", "off_scale", "given",
)  # fmt: skip


def made_sheet(
    study: Study, rubric: RubricVersion, entry: SheetEntry, answer: Any, rater: Any
) -> ScoreSheet:
    """Return an unsaved sheet, with a total if every criterion has points."""
    keys = rubric.rubric.keys
    points = {key: _plain(entry.points[key]) for key in keys if key in entry.points}
    return ScoreSheet(
        study=study,
        answer_id=answer,
        rubric=rubric,
        rater_id=rater,
        source=entry.source,
        position=entry.position,
        replicate=entry.replicate,
        state=State.UNSCORED if entry.reason else State.SUBMITTED,
        points=points,
        unable=dict(entry.unable),
        notes=dict(entry.notes),
        comment=entry.comment,
        off_scale=list(entry.off_scale),
        given=dict(entry.given),
        is_consolidated=entry.is_consolidated,
        total=_total(points, rubric, entry),
        maximum=rubric.rubric.maximum,
        reason=entry.reason,
        is_extra=entry.is_extra,
        submitted_at=entry.submitted_at,
    )


def _total(points: dict[str, float], rubric: RubricVersion, entry: SheetEntry) -> float | None:
    """Return the sum of the points; None if the sheet is incomplete or the sum is out of range."""
    if entry.reason or len(points) < len(rubric.rubric.criteria):
        return None
    total = sum(points.values())
    return total if 0 <= total <= rubric.rubric.maximum else None


def _plain(points: float) -> float:
    return int(points) if float(points).is_integer() else float(points)


def replace_sheet(sheet: ScoreSheet, replacement: ScoreSheet) -> None:
    """Overwrite an imported sheet with new content and store the old content as an event."""
    if not sheet.events.exists():
        _keep_event(sheet.pk, ScoreSheet.objects.get(pk=sheet.pk))
    changes = {name: getattr(replacement, name) for name in REPLACED}
    ScoreSheet.objects.filter(pk=sheet.pk).update(**changes)
    _keep_event(sheet.pk, replacement)


def _keep_event(sheet_id: int, sheet: ScoreSheet) -> None:
    ScoreEvent.objects.create(
        sheet_id=sheet_id,
        client_key=f"import:{timezone.now():%Y%m%d%H%M%S%f}",
        content=asdict(SCORING.submitted(sheet)),
    )


BoardRequests = dict[int, tuple[Study, RubricVersion]]
_held: ContextVar[BoardRequests | None] = ContextVar("held boards", default=None)


def ask_for_board(study: Study, rubric: RubricVersion) -> None:
    """Request the figures of a rubric, or note the request inside `boards_once`."""
    held = _held.get()
    if held is not None:
        held[rubric.pk] = (study, rubric)
        return
    request_board(study=study, rubric=rubric)


@contextmanager
def boards_once() -> Iterator[None]:
    """Request the figures of each rubric only once, at the end."""
    requests: BoardRequests = {}
    token = _held.set(requests)
    try:
        yield
    finally:
        _held.reset(token)
    for study, rubric in requests.values():
        ask_for_board(study, rubric)


LONGEST = {"rater_id": 128, "rater_name": 120, "source": 255}
LARGEST_POSITION = 2**31 - 1
Key = tuple[Any, RaterKey, int]


class SheetReconciliation(StudyReconciliation):
    """Compares the sheets in a file with the stored sheets and adds the new ones."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._seen: dict[Key, SheetEntry] = {}
        self._rater_keys: dict[RaterKey, int | None] = {}
        self._elsewhere: Counter[str] = Counter()
        self._rubric: RubricVersion | None = None
        self._writes = 0

    def compare(self, entries: Sequence[Any]) -> None:
        """Compare the entries: first the answers in the file, then the sheets."""
        super().compare([entry for entry in entries if not isinstance(entry, SheetEntry)])
        self._take([entry for entry in entries if isinstance(entry, SheetEntry)])

    def _take(self, entries: Sequence[SheetEntry]) -> None:
        candidates = [entry for entry in entries if self._has_room(entry)]
        if not candidates:
            return
        if self._rubric is None:
            is_made = candidates[0].rubric.pk is not None or not self.write
            version = candidates[0].rubric if is_made else default_rubric(self.study, self.actor)
            self._rubric = version
        self._take_raters(candidates)
        placed = [(entry, self._answer(entry), self._rater(entry)) for entry in candidates]
        stored = StoredSheets(self.study, placed)
        new = []
        for entry, answer, rater in placed:
            if self._is_repeated(entry, answer):
                continue
            sheet = stored.find(entry, answer, rater)
            if sheet is None:
                self.result(entry.book, "new")
                new.append((entry, answer, rater))
            else:
                self._compare_sheet(entry, answer, sheet)
        self._writes += len(new)
        if self.write:
            ScoreSheet.objects.bulk_create(self._made(*record) for record in new)

    def finish(self) -> None:
        """Report the sources of existing sheets and request an update of the figures."""
        super().finish()
        for source, number in self._elsewhere.items():
            text = ngettext(
                "%(number)s score sheet already exists, from %(source)s.",
                "%(number)s score sheets already exist, from %(source)s.",
                number,
            )
            named = source or _("a round or a judge's run")
            self.outcome.notes.append(text % {"number": number, "source": named})
        if self.write and self._writes and self._rubric is not None:
            ask_for_board(self.study, self._rubric)

    # -- answers and raters of the sheets -----------------------------------------------------

    def _take_raters(self, entries: Sequence[SheetEntry]) -> None:
        named = {(entry.rater_kind, entry.rater_id): entry.rater_name for entry in entries}
        fresh = {key: name for key, name in named.items() if key not in self._rater_keys}
        ids = {key: _uuid(key[1]) for key in fresh}
        rows = Rater.objects.filter(
            study=self.study, public_id__in={key for key in ids.values() if key}
        )
        here = {row.public_id: row.pk for row in rows}
        for key, public_id in ids.items():
            if public_id in here:
                self._rater_keys[key] = here[public_id]
                self.result("raters", "same")
        others = {key: name for key, name in fresh.items() if key not in self._rater_keys}
        self.raters.find(others)
        self._rater_keys |= {key: self.raters.known[key] for key in others}

    def _rater(self, entry: SheetEntry) -> int | None:
        return self._rater_keys[entry.rater_kind, entry.rater_id]

    def _answer(self, entry: SheetEntry) -> int | None:
        if isinstance(entry.answer, int):
            return entry.answer
        return self.answers.known[entry.answer]

    # -- comparing ----------------------------------------------------------------------------

    def _has_room(self, entry: SheetEntry) -> bool:
        reason = ""
        if not isinstance(entry.answer, int) and entry.answer not in self.answers.known:
            reason = _("its answer was not imported")
        for name, most in LONGEST.items():
            if len(getattr(entry, name)) > most:
                reason = _("longer than %s characters") % most
        if entry.position > LARGEST_POSITION:
            reason = _("the position is too large")
        if reason:
            self.leave_out(entry, "", reason)
        return not reason

    def _is_repeated(self, entry: SheetEntry, answer: int | None) -> bool:
        rater = (entry.rater_kind, entry.rater_id)
        key = (entry.answer if answer is None else answer, rater, entry.replicate)
        earlier = self._seen.setdefault(key, entry)
        if earlier is entry:
            return False
        if earlier.values == entry.values:
            self.result(entry.book, "same")
            return True
        reason = _(
            "row %s already has this rater's sheet for this answer; number repeated sheets in a "
            "replicate column"
        )
        self.leave_out(entry, "", reason % earlier.row)
        return True

    def _compare_sheet(self, entry: SheetEntry, answer: int | None, sheet: ScoreSheet) -> None:
        is_its_place = (sheet.source, sheet.position) == (entry.source, entry.position)
        if sheet.answer_id != answer or sheet.rubric_id != entry.rubric.pk:
            reason = _(
                "a sheet for another answer or rubric was imported from this position in a file "
                "with this name; rename the file"
            )
            self.leave_out(entry, "", reason)
        elif values_of(sheet) == entry.values:
            self.result(entry.book, "same")
            if not is_its_place and not entry.sheet:
                self._elsewhere[sheet.source] += 1
        elif is_its_place:
            self._change(entry, sheet)
        elif sheet.source:
            reason = _("this rater has another sheet for this answer, from %s")
            self.leave_out(entry, "", reason % sheet.source)
        else:
            self.result(entry.book, "changed")
            reason = _("Differs from the sheet that was made here, which is kept unchanged.")
            self.mention(entry, "", reason)

    def _change(self, entry: SheetEntry, sheet: ScoreSheet) -> None:
        """Replace the sheet at the same position in the file and store both versions as events."""
        self.result(entry.book, "changed")
        reason = sheet.reason or ", ".join(
            f"{key} {point:g}" for key, point in sheet.points.items()
        )
        self.mention(entry, "", self.changed(reason))
        if not (self.write and self.update_changed):
            return
        self._writes += 1
        replace_sheet(sheet, self._made(entry, sheet.answer_id, sheet.rater_id))

    def _made(self, entry: SheetEntry, answer: int | None, rater: int | None) -> ScoreSheet:
        return made_sheet(self.study, self._rubric or entry.rubric, entry, answer, rater)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
