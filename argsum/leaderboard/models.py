"""Numbered snapshots of key point leaderboards and agreement, with their input data."""

from django.db import models

from cqa_site.results.models import Snapshot, once
from ..datasets.models import Cell, Dataset


class KeyPointSnapshot(Snapshot):
    """Snapshot of the systems on one split of a dataset, and of their human judges.

    Numbers are unique in the study; argsum/leaderboard/reports/snapshot.py describes the rows.
    """

    study = models.ForeignKey(
        "people.Study", models.CASCADE, related_name="key_point_snapshots", db_index=False
    )
    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="snapshots")
    split = models.CharField(max_length=5, choices=Cell.Split, blank=True, default="")

    class Meta(Snapshot.Meta):
        constraints = once("key_point", owner="study", subject=("study", "dataset", "split"))
