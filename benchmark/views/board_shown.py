"""What a page of a board shows: snapshot, filters, judge, figures, and whether newer ones come."""

import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl

from django.db.models import QuerySet
from django.db.models.fields.json import KeyTransform
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone

from benchmark.actions.boards import (
    SLICE_JOB,
    boards_of,
    latest_job,
    request_board,
    request_slice,
    slice_name,
)
from benchmark.models import BoardSnapshot, RubricVersion
from benchmark.reports.board_filters import Filters
from benchmark.reports.board_markers import board_marker
from benchmark.reports.board_view import chosen_judge
from cqa_site.people.models import Study
from cqa_site.runs.models import Job

REST_AFTER_FAILURE = timedelta(minutes=5)


@dataclass(frozen=True)
class Shown:
    """A snapshot as somebody asked for it.

    ``board`` is None while the figures of these filters are being computed. ``of_rows`` is the
    hash of older rows from which they are, until newer ones are there; else empty.
    """

    snapshot: BoardSnapshot | None
    filters: Filters
    judge: str = ""
    board: dict[str, Any] | None = None
    job: Job | None = None
    is_stale: bool = False
    is_live: bool = False
    of_rows: str = ""

    @property
    def is_failed(self) -> bool:
        """Whether the figures cannot be computed, and why is in ``job.error``."""
        return self.is_stale and self.job is not None and self.job.state == Job.State.FAILED

    @property
    def is_polling(self) -> bool:
        """Whether the page asks again by itself."""
        return (self.is_live or self.is_stale) and not self.is_failed

    @property
    def version(self) -> str:
        """Changes whenever the fragment would look different."""
        state = "failed" if self.is_failed else "stale" if self.is_stale else "fresh"
        if self.snapshot is None:
            return f"none-{state}"
        kind = "board" if self.board else "waiting"
        frozen = "frozen" if self.snapshot.is_frozen else "live"
        return f"{self.digest}-{kind}-{frozen}-{state}"

    @property
    def digest(self) -> str:
        """Short name of exactly these figures."""
        if self.snapshot is None:
            return ""
        newest: str = self.snapshot.recipe["figures_sha256"]["board"][:12]
        return f"{newest}-{self.of_rows[:12]}" if self.of_rows else newest

    @property
    def place(self) -> int:
        """The judge's place among the judges: public pages name nobody's key."""
        keys = [each["key"] for each in self.board["judges"]] if self.board else []
        return keys.index(self.judge) if self.judge in keys else 0

    @property
    def hidden(self) -> list[tuple[str, str]]:
        """The choice as fields of a form."""
        return [*parse_qsl(self.filters.key), ("judge", self.judge)]

    @property
    def query(self) -> str:
        """The choice as the end of an address."""
        parts = [self.filters.key, f"judge={self.judge}" if self.judge else ""]
        return "&".join(part for part in parts if part)


def with_board(rows: QuerySet) -> QuerySet:
    """Snapshots with their leaderboard as ``board``; rows and other figures stay behind."""
    return rows.defer("rows", "figures").annotate(board=KeyTransform("board", "figures"))


def board_or_404(study: Study, number: int) -> BoardSnapshot:
    """One snapshot of the study that has figures."""
    rows = with_board(study.board_snapshots.filter(computed_at__isnull=False))
    snapshot = get_object_or_404(rows.select_related("rubric", "frozen_by"), number=number)
    snapshot.study = study
    return snapshot


def rubric_of(study: Study, request: HttpRequest) -> tuple[RubricVersion | None, list]:
    """The rubric asked for, or the newest with sheets; and all that have some."""
    known = boards_of(study)
    wanted = request.GET.get("rubric", "")
    if not wanted:
        return (known[0] if known else None), known
    try:
        key = uuid.UUID(wanted)
    except ValueError:
        raise Http404 from None
    found = next((each for each in known if each.public_id == key), None)
    if found is None:
        raise Http404
    return found, known


def live_board(request: HttpRequest, study: Study, rubric: RubricVersion) -> Shown:
    """The newest snapshot; asks for a new one where sheets moved on."""
    rows = rubric.snapshots.filter(computed_at__isnull=False).select_related("frozen_by")
    snapshot = with_board(rows).first()
    is_stale = snapshot is None or snapshot.marker != board_marker(rubric)
    job = latest_job(rubric) if is_stale else None
    if is_stale and _is_due(job):
        job = request_board(study=study, rubric=rubric, actor=request.user) or job
    if snapshot is None:
        return Shown(None, Filters(), job=job, is_stale=True, is_live=True)
    snapshot.study, snapshot.rubric = study, rubric
    return shown_board(request, snapshot, is_live=True, is_stale=is_stale, job=job)


def shown_board(
    request: HttpRequest,
    snapshot: BoardSnapshot,
    *,
    is_live: bool = False,
    is_stale: bool = False,
    job: Job | None = None,
) -> Shown:
    """A snapshot as the address asks for it; a slice that is not there yet is asked for."""
    filters = Filters.from_query(request.GET, snapshot.recipe)
    board: dict[str, Any] | None = snapshot.board
    of_rows = ""
    if filters.key:
        found = snapshot.slices.filter(key=filters.key).first()
        board = found.figures if found else None
        if found is None or found.marker != snapshot.sha256:
            is_stale, of_rows = True, found.marker if found else ""
            job = latest_job(snapshot.rubric, SLICE_JOB, slice_name(snapshot, filters))
            if _is_due(job):
                job = request_slice(snapshot=snapshot, filters=filters, actor=request.user)
    judge = chosen_judge(board, request.GET.get("judge", "")) if board else ""
    return Shown(snapshot, filters, judge, board, job, is_stale, is_live, of_rows)


def _is_due(job: Job | None) -> bool:
    if job is None:
        return True
    is_failed = job.state == Job.State.FAILED
    rest = REST_AFTER_FAILURE if is_failed else timedelta(0)
    return not job.is_active and job.finished_at <= timezone.now() - rest
