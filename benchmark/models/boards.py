"""Snapshots: all counted sheets of a rubric with every figure computed from them."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from .rubrics import RubricVersion


class BoardSnapshot(models.Model):
    """Numbered figures (leaderboard, agreement) with the exact sheets behind them.

    One live snapshot per rubric is recomputed as sheets come in; freezing makes it immutable and
    the next live one gets the next number.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey(
        "people.Study", models.CASCADE, related_name="board_snapshots", db_index=False
    )
    rubric = models.ForeignKey(RubricVersion, models.PROTECT, related_name="snapshots")
    # Counts within the study, over all rubrics.
    number = models.PositiveIntegerField()
    # Packed table of sheets (see benchmark/reports/board_rows.py); sha256 of the plain bytes.
    rows = models.BinaryField(default=bytes)
    sha256 = models.CharField(max_length=64, blank=True)
    # Which sheets count, seeds, resamples, least coverage, versions of packages.
    recipe = models.JSONField(default=dict)
    # {"board": …, "agreement": …}
    figures = models.JSONField(default=dict)
    # Says which sheets were there; a differing one means that the figures are behind.
    marker = models.CharField(max_length=120, blank=True)
    computed_at = models.DateTimeField(null=True)
    note = models.CharField(max_length=300, blank=True)
    # What moved since the snapshot frozen before this one, and why.
    changes = models.JSONField(default=dict)
    frozen_at = models.DateTimeField(null=True)
    frozen_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    # The address of the public page; None while there is none.
    public_token = models.UUIDField(null=True, unique=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="board_number_once"),
            models.UniqueConstraint(
                fields=["study", "rubric"],
                condition=Q(frozen_at__isnull=True),
                name="board_live_once",
            ),
            models.CheckConstraint(
                condition=Q(public_token__isnull=True) | Q(frozen_at__isnull=False),
                name="board_public_only_frozen",
            ),
        ]

    def __str__(self) -> str:
        return f"#{self.number}"

    @property
    def is_frozen(self) -> bool:
        """Whether the figures can no longer change."""
        return self.frozen_at is not None


class BoardSlice(models.Model):
    """Figures of a part of a snapshot's sheets, made when somebody first asks for them."""

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
