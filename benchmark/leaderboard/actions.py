"""Requests for the live board of a rubric, and its computation in the background."""

import hashlib
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as lazy

from benchmark.leaderboard.models import BoardSlice, BoardSnapshot
from benchmark.leaderboard.reports.snapshot import (
    RECIPE_VERSION,
    Filters,
    all_figures,
    board_figures,
    board_marker,
    board_table,
    pack_rows,
    read_csv,
    read_rows,
    recipe_of,
    slice_figures,
    without_bounds,
)
from benchmark.leaderboard.reports.standings import changes_between
from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.models import ScoreSheet
from benchmark.scoring.reports.sheets import count_learned_sheets
from cqa_site.people.models import Study, User
from cqa_site.results.snapshots import MOST_UNMADE, ResultKind, SnapshotContent, as_json, make
from cqa_site.runs.jobs import JobContext, enqueue
from cqa_site.runs.models import Job

JOB = "board"
SLICE_JOB = "board_slice"
# From this number of sheets, boards are recomputed after a pause of one second per 1,000 sheets.
RESTLESS_SHEETS = 2_000
REST_PER_SHEET = timedelta(milliseconds=1)
REST_AFTER_FAILURE = timedelta(minutes=5)


class BoardResults(ResultKind):
    """Results of a board: the leaderboard and agreement of a rubric's sheets."""

    name = "board"
    Model = BoardSnapshot
    subject = ("study", "rubric")
    version = RECIPE_VERSION
    what = lazy("Scores")
    page = "board"
    needed = ("study", "rubric")

    def place(self, subject: RubricVersion) -> dict[str, Any]:
        return {"study_id": subject.study_id, "rubric": subject}

    def marker(self, subject: RubricVersion) -> str:
        return board_marker(subject)

    def compute(self, subject: RubricVersion) -> SnapshotContent:
        # The marker is read before the sheets, so that a sheet submitted in between makes the
        # board stale, but never wrong.
        seen = board_marker(subject)
        table, draws = board_table(subject)
        recipe = recipe_of(subject, table, draws) | {"sheets": len(table)}
        if learned := count_learned_sheets(subject):
            # Answers about comparisons that their own system was trained on are not a test, so
            # their sheets are left out of all figures.
            recipe["learned_sheets"] = learned
        rows, sha256 = pack_rows(table)
        # Figures come from the packed rows, so that anyone with these rows gets the same figures.
        figures = all_figures(read_rows(rows), subject.rubric, recipe)
        return SnapshotContent(rows, sha256, seen, recipe, figures)

    def figures_of(self, rows: bytes, recipe: dict[str, Any]) -> dict[str, Any]:
        return {"board": board_figures(read_csv(rows), recipe)}

    def comparable(self, figures: dict[str, Any]) -> dict[str, Any]:
        return {"board": without_bounds(figures["board"])}

    def about(self, snapshot: BoardSnapshot) -> str:
        return str(snapshot.rubric)

    def unmade(self, study: Study) -> Iterable[tuple[str, str]]:
        page = reverse("scores", args=[study.public_id])
        snapshots = study.board_snapshots.filter(computed_at__isnull=False)
        known = set(snapshots.values_list("rubric", flat=True))
        for rubric in [board for board in boards_of(study) if board.pk not in known][:MOST_UNMADE]:
            yield str(rubric), f"{page}?rubric={rubric.public_id}"

    def changes(self, before: BoardSnapshot | None, after: BoardSnapshot) -> dict[str, Any]:
        return changes_between(before, after)

    def more_files(self, snapshot: BoardSnapshot) -> dict[str, bytes]:
        return {"rubric.json": as_json(snapshot.rubric.content)}


BOARDS = BoardResults()


def request_board(*, study: Study, rubric: RubricVersion, actor: User | None = None) -> Job | None:
    """Request a rubric's board after sheets have changed; see `compute_board`.

    Return None if a large board was computed too recently; its page repeats the request.
    """
    return None if is_resting(rubric) else compute_board(study=study, rubric=rubric, actor=actor)


def compute_board(*, study: Study, rubric: RubricVersion, actor: User | None = None) -> Job:
    """Request a board in the background without delay; a rubric has one active job at a time."""
    return enqueue(
        study=study, kind=JOB, key=str(rubric.public_id), actor=actor, rubric=str(rubric.public_id)
    )


def is_resting(rubric: RubricVersion) -> bool:
    """Whether the live board is so recent that its next computation can wait."""
    live = rubric.snapshots.filter(frozen_at__isnull=True)
    row = live.values_list("computed_at", "recipe__sheets").first()
    if row is None or row[0] is None or (row[1] or 0) < RESTLESS_SHEETS:
        return False
    return row[0] > timezone.now() - row[1] * REST_PER_SHEET


def latest_job(rubric: RubricVersion, kind: str = JOB, key: str = "") -> Job | None:
    """Return the newest active or finished job for this rubric's board or a slice of it."""
    name = f"{kind}:{key or rubric.public_id}"
    return (
        Job.objects.filter(study_id=rubric.study_id, key=name).order_by("-created_at", "-pk")
    ).first()


def make_board(work: JobContext) -> None:
    """Job handler: compute the figures of a rubric and store them as its live snapshot."""
    rubric = RubricVersion.objects.get(study=work.study, public_id=work.payload["rubric"])
    live = BOARDS.live(rubric).values_list("marker", flat=True)
    if list(live) == [board_marker(rubric)]:
        return
    make(work, BOARDS, rubric)


def request_slice(*, snapshot: BoardSnapshot, filters: Filters, actor: User | None = None) -> Job:
    """Request the figures for a part of a snapshot's sheets in the background."""
    return enqueue(
        study=snapshot.study,
        kind=SLICE_JOB,
        key=slice_name(snapshot, filters),
        actor=actor,
        snapshot=str(snapshot.public_id),
        slice=filters.key,
    )


def find_slice(
    snapshot: BoardSnapshot, filters: Filters, actor: User
) -> tuple[BoardSlice | None, Job | None]:
    """Return a slice's figures, and the job that computes them if they are missing or outdated."""
    board_slice = snapshot.slices.filter(key=filters.key).first()
    if board_slice is not None and board_slice.marker == snapshot.sha256:
        return board_slice, None
    job = latest_job(snapshot.rubric, SLICE_JOB, slice_name(snapshot, filters))
    if is_due(job):
        job = request_slice(snapshot=snapshot, filters=filters, actor=actor)
    return board_slice, job


def is_due(job: Job | None) -> bool:
    """Whether no job is active and the last failure was long enough ago for a new request."""
    if job is None:
        return True
    is_failed = job.state == Job.State.FAILED
    rest = REST_AFTER_FAILURE if is_failed else timedelta(0)
    ended = job.finished_at
    return not job.is_active and ended is not None and ended <= timezone.now() - rest


def slice_name(snapshot: BoardSnapshot, filters: Filters) -> str:
    """Return the name of a slice's job. The filters are hashed because they can be too long."""
    digest = hashlib.sha256(filters.key.encode()).hexdigest()
    return f"{snapshot.public_id}:{digest[:16]}"


def make_slice(work: JobContext) -> None:
    """Job handler: compute one slice from the snapshot's own rows."""
    rows = BoardSnapshot.objects.select_related("rubric")
    snapshot = rows.get(study=work.study, public_id=work.payload["snapshot"])
    filters = Filters.from_key(work.payload["slice"])
    table, rubric = read_rows(bytes(snapshot.rows)), snapshot.rubric.rubric
    figures = slice_figures(table, rubric, snapshot.recipe, filters)
    with transaction.atomic():
        work.finish()
        BoardSlice.objects.update_or_create(
            snapshot=snapshot,
            key=filters.key,
            defaults={"marker": snapshot.sha256, "figures": figures},
        )


def boards_of(study: Study) -> list[RubricVersion]:
    """Return the rubrics that have sheets and can therefore have a board, newest first."""
    sheets = ScoreSheet.objects.filter(study=study, rubric=OuterRef("pk"))
    versions = study.rubric_versions.filter(Exists(sheets))
    return list(versions.order_by("-created_at", "-pk"))
