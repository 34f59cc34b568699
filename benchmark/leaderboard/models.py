"""Snapshots: all counted sheets of a rubric with all figures computed from them."""

from typing import Any

from django.db import models

from benchmark.leaderboard.methods.figures import ScoreBoard
from cqa_site.results.models import Snapshot, once
from ..rubrics.models import RubricVersion


class BoardSnapshot(Snapshot):
    """Figures of a rubric (leaderboard, agreement), with the exact sheets used to compute them.

    Snapshots are numbered within the study, across all rubrics; reports/snapshot.py describes the
    rows.
    """

    study = models.ForeignKey(
        "people.Study", models.CASCADE, related_name="board_snapshots", db_index=False
    )
    rubric = models.ForeignKey(RubricVersion, models.PROTECT, related_name="snapshots")
    # Parts of the figures, set by some queries; ``board`` is ``stored`` as an object.
    stored: dict[str, Any]
    board: ScoreBoard
    agreement: dict[str, Any] | None

    class Meta(Snapshot.Meta):
        constraints = once("board", owner="study", subject=("study", "rubric"))


class BoardSlice(models.Model):
    """Figures for a part of a snapshot's sheets, computed on the first request."""

    snapshot = models.ForeignKey(
        BoardSnapshot, models.CASCADE, related_name="slices", db_index=False
    )
    # Canonical text of the filters, for example ``aspect=with&scenario=4``.
    key = models.CharField(max_length=200)
    marker = models.CharField(max_length=120, blank=True)
    figures = models.JSONField(default=dict)
    computed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["snapshot", "key"], name="board_slice_once")
        ]
