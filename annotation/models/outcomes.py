"""What became of the votes: expert decisions, final labels, numbered snapshots."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class Adjudication(models.Model):
    """An expert's word on one argument of a campaign; superseded rows stay."""

    class Source(models.TextChoices):
        """Where the decision came from."""

        QUEUE = "queue", _("Adjudication queue")
        ADOPTED = "adopted", _("Adopted from another campaign")

    campaign = models.ForeignKey(
        "annotation.Campaign", models.CASCADE, related_name="adjudications"
    )
    argument = models.ForeignKey(
        "annotation.Argument", models.PROTECT, related_name="adjudications"
    )
    rater = models.ForeignKey("annotation.Rater", models.PROTECT, related_name="adjudications")
    label = models.PositiveSmallIntegerField()
    comment = models.CharField(max_length=1_000, blank=True)
    source = models.CharField(max_length=8, choices=Source, default=Source.QUEUE)
    created_at = models.DateTimeField(auto_now_add=True)
    superseded_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "argument", "rater"],
                condition=Q(superseded_at__isnull=True),
                name="adjudication_in_force_once",
            ),
            models.CheckConstraint(condition=Q(label__lte=9), name="adjudication_label_range"),
        ]


class FinalLabel(models.Model):
    """The label of one argument in one campaign, with where it came from.

    Derived: recomputing rewrites these rows from votes, expert campaigns and
    adjudications, none of which it touches.
    """

    class Provenance(models.TextChoices):
        """Precedence, strongest first."""

        ADJUDICATED = "adjudicated", _("Adjudicated")
        EXPERT = "expert", _("Expert override")
        VOTES = "votes", _("Votes")
        NONE = "none", _("No counted vote")

    campaign = models.ForeignKey(
        "annotation.Campaign", models.CASCADE, related_name="final_labels"
    )
    argument = models.ForeignKey(
        "annotation.Argument", models.PROTECT, related_name="final_labels"
    )
    label = models.PositiveSmallIntegerField(null=True)
    provenance = models.CharField(max_length=12, choices=Provenance)
    majority_label = models.PositiveSmallIntegerField(null=True)
    dawid_skene_label = models.PositiveSmallIntegerField(null=True)
    mace_label = models.PositiveSmallIntegerField(null=True)
    expert_label = models.PositiveSmallIntegerField(null=True)
    adjudicated_label = models.PositiveSmallIntegerField(null=True)
    votes = models.PositiveIntegerField(default=0)
    pattern = models.CharField(max_length=40, blank=True)
    is_tied = models.BooleanField(default=False)
    spread = models.PositiveSmallIntegerField(default=0)
    methods_differ = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "argument"], name="final_label_once")
        ]
        indexes = [
            models.Index(fields=["campaign", "is_tied", "-spread", "id"]),
            models.Index(fields=["campaign", "provenance", "id"]),
            models.Index(fields=["campaign", "label", "id"]),
        ]


class Snapshot(models.Model):
    """Numbered figures of a campaign together with the exact votes behind them.

    One live snapshot per campaign is recomputed as votes come in; freezing
    makes it immutable and the next live one gets the next number.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, related_name="snapshots")
    number = models.PositiveIntegerField()
    # gzip of the CSV that annotation/reports/snapshots.py describes; sha256 of the plain bytes
    votes = models.BinaryField(default=bytes)
    sha256 = models.CharField(max_length=64, blank=True)
    recipe = models.JSONField(default=dict)
    figures = models.JSONField(default=dict)
    marker = models.CharField(max_length=80, blank=True)
    computed_at = models.DateTimeField(null=True)
    note = models.CharField(max_length=300, blank=True)
    frozen_at = models.DateTimeField(null=True)
    frozen_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "number"], name="snapshot_number_once"),
            models.UniqueConstraint(
                fields=["campaign"],
                condition=Q(frozen_at__isnull=True),
                name="snapshot_live_once",
            ),
        ]

    def __str__(self) -> str:
        return f"#{self.number}"

    @property
    def is_frozen(self) -> bool:
        """Whether the figures can no longer change."""
        return self.frozen_at is not None
