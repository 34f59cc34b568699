"""Keeping the live board of a rubric: asked for, computed in the background, stored."""

import hashlib
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, Max, OuterRef
from django.utils import timezone

from benchmark.models import BoardSlice, BoardSnapshot, RubricVersion, ScoreSheet
from benchmark.reports.board_figures import (
    all_figures,
    board_figures,
    figures_sha256,
    recipe_of,
)
from benchmark.reports.board_filters import Filters
from benchmark.reports.board_markers import board_marker
from benchmark.reports.board_rows import board_table, pack_rows, read_rows
from cqa_site.people.models import Study, User
from cqa_site.runs.jobs import Work, enqueue
from cqa_site.runs.models import Job

JOB = "board"
SLICE_JOB = "board_slice"
# Large boards rest between two computations: a second for every thousand sheets, from here on.
RESTLESS_SHEETS = 2_000
REST_PER_SHEET = timedelta(milliseconds=1)


@dataclass(frozen=True)
class Computed:
    """What one run over the sheets gave."""

    rows: bytes
    sha256: str
    marker: str
    recipe: dict[str, Any]
    figures: dict[str, Any]


def request_board(
    *, study: Study, rubric: RubricVersion, actor: User | None = None, is_urgent: bool = False
) -> Job | None:
    """Ask for a rubric's board in the background; one job per rubric is active at a time.

    Whoever changes sheets calls this. None while a large board rests after the last time; its
    page asks again by itself.
    """
    if not is_urgent and is_resting(rubric):
        return None
    return enqueue(
        study=study,
        kind=JOB,
        key=str(rubric.public_id),
        actor=actor,
        rubric=str(rubric.public_id),
    )


def is_resting(rubric: RubricVersion) -> bool:
    """Whether the live board was computed so lately that the next time can wait."""
    live = rubric.snapshots.filter(frozen_at__isnull=True)
    found = live.values_list("computed_at", "recipe__sheets").first()
    if found is None or found[0] is None or (found[1] or 0) < RESTLESS_SHEETS:
        return False
    return found[0] > timezone.now() - found[1] * REST_PER_SHEET


def latest_job(rubric: RubricVersion, kind: str = JOB, key: str = "") -> Job | None:
    """The newest job that computes, or computed, this rubric's board or a slice of it."""
    name = f"{kind}:{key or rubric.public_id}"
    return (
        Job.objects.filter(study_id=rubric.study_id, key=name).order_by("-created_at", "-pk")
    ).first()


def make_board(work: Work) -> None:
    """Handle a job: compute the figures of a rubric and store them as its live snapshot."""
    rubric = RubricVersion.objects.get(study=work.study, public_id=work.payload["rubric"])
    live = rubric.snapshots.filter(frozen_at__isnull=True).values_list("marker", flat=True)
    if list(live) == [board_marker(rubric)]:
        return
    computed = compute_board(rubric)
    with transaction.atomic():
        work.finish()
        store_live(rubric=rubric, computed=computed)


def refresh_live_board(*, rubric: RubricVersion) -> BoardSnapshot:
    """Return the newest snapshot, computed anew at once if the sheets moved on; takes seconds."""
    newest = rubric.snapshots.defer("rows").first()
    if newest is not None and newest.marker == board_marker(rubric):
        return newest
    return store_live(rubric=rubric, computed=compute_board(rubric))


def compute_board(rubric: RubricVersion) -> Computed:
    """Read the sheets once and compute every figure from what was read; stores nothing."""
    # Taken before the sheets are read: one that comes in between makes the board stale, never
    # wrong.
    seen = board_marker(rubric)
    table, draws = board_table(rubric)
    recipe = recipe_of(rubric, table, draws) | {"sheets": len(table)}
    rows, sha256 = pack_rows(table)
    # From the packed rows, so that whoever has them computes the same.
    figures = all_figures(read_rows(rows), rubric.rubric, recipe)
    return Computed(rows, sha256, seen, recipe, figures)


@transaction.atomic
def store_live(*, rubric: RubricVersion, computed: Computed) -> BoardSnapshot:
    """Write the figures into the live snapshot; frozen ones are never touched."""
    # The study's row is the lock under which numbers are given out and snapshots freeze.
    Study.objects.select_for_update().get(pk=rubric.study_id)
    parts = {name: figures_sha256(each) for name, each in computed.figures.items()}
    values = {
        "rows": computed.rows,
        "sha256": computed.sha256,
        "marker": computed.marker,
        "recipe": computed.recipe | {"figures_sha256": parts},
        "figures": computed.figures,
        "computed_at": timezone.now(),
    }
    live = rubric.snapshots.filter(frozen_at__isnull=True)
    if live.update(**values) == 0:
        return BoardSnapshot.objects.create(
            study_id=rubric.study_id, rubric=rubric, number=_next_number(rubric), **values
        )
    return live.defer("rows").get()


def _next_number(rubric: RubricVersion) -> int:
    taken = BoardSnapshot.objects.filter(study=rubric.study_id).aggregate(last=Max("number"))
    return (taken["last"] or 0) + 1


def request_slice(*, snapshot: BoardSnapshot, filters: Filters, actor: User | None = None) -> Job:
    """Ask for the figures of a part of a snapshot's sheets in the background."""
    return enqueue(
        study=snapshot.study,
        kind=SLICE_JOB,
        key=slice_name(snapshot, filters),
        actor=actor,
        snapshot=str(snapshot.public_id),
        slice=filters.key,
    )


def slice_name(snapshot: BoardSnapshot, filters: Filters) -> str:
    """Names the job of a slice; filters can be longer than a name."""
    digest = hashlib.sha256(filters.key.encode()).hexdigest()
    return f"{snapshot.public_id}:{digest[:16]}"


def make_slice(work: Work) -> None:
    """Handle a job: compute one slice from the snapshot's own rows."""
    snapshot = BoardSnapshot.objects.get(study=work.study, public_id=work.payload["snapshot"])
    filters = Filters.from_key(work.payload["slice"])
    figures = board_figures(read_rows(bytes(snapshot.rows)), snapshot.recipe, filters)
    with transaction.atomic():
        work.finish()
        BoardSlice.objects.update_or_create(
            snapshot=snapshot,
            key=filters.key,
            defaults={"marker": snapshot.sha256, "figures": figures},
        )


def boards_of(study: Study) -> list[RubricVersion]:
    """Rubrics with counted or stored sheets, newest first: those that can have a board."""
    sheets = ScoreSheet.objects.filter(study=study, rubric=OuterRef("pk"))
    found = study.rubric_versions.filter(Exists(sheets))
    return list(found.order_by("-created_at", "-pk"))
