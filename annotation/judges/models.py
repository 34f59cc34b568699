"""Labels by machines: language models in runs and classifiers trained here.

They are separate from people's votes. A machine's label never counts as a vote, and annotators
never see it.
"""

import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class RelevanceRun(models.Model):
    """The round that a run judges, and the rater that represents it in statistics."""

    run = models.OneToOneField("runs.Run", models.CASCADE, related_name="relevance")
    label_round = models.ForeignKey(
        "annotation.LabelRound", models.CASCADE, related_name="judge_runs"
    )
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="judge_runs")

    def __str__(self) -> str:
        return str(self.run)


class TrainedJudge(models.Model):
    """One version of a classifier trained on a round's final labels, or a cold start."""

    class Kind(models.TextChoices):
        TRAINED = "trained", _("Trained on final labels")
        COLD = "cold", _("The guideline alone, before labels")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    label_round = models.ForeignKey(
        "annotation.LabelRound", models.CASCADE, related_name="trained_judges"
    )
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="trained_judges")
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=7, choices=Kind, default=Kind.TRAINED)
    # Not a pickle; see annotation/judges/methods/storage.py.
    model = models.BinaryField(default=bytes)
    sha256 = models.CharField(max_length=64, blank=True)
    recipe = models.JSONField(default=dict)
    figures = models.JSONField(default=dict)
    created_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(
                fields=["label_round", "number"], name="trained_judge_number_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.rater} v{self.number}"


class JudgeLabel(models.Model):
    """One machine's label for one argument, or the reason that the label is missing."""

    label_round = models.ForeignKey(
        "annotation.LabelRound", models.CASCADE, related_name="judge_labels", db_index=False
    )
    argument = models.ForeignKey(
        "annotation.Argument", models.PROTECT, related_name="judge_labels"
    )
    run = models.ForeignKey(
        "runs.Run", models.CASCADE, null=True, related_name="judge_labels", db_index=False
    )
    call = models.ForeignKey("runs.Call", models.CASCADE, null=True, related_name="judge_labels")
    trained = models.ForeignKey(
        TrainedJudge, models.CASCADE, null=True, related_name="labels", db_index=False
    )
    replicate = models.PositiveSmallIntegerField(default=0)
    label = models.PositiveSmallIntegerField(null=True)
    reason = models.CharField(max_length=40, blank=True)
    rationale = models.TextField(blank=True)
    # Fence of the attempt that returned the reply.
    fence = models.BigIntegerField(default=0)
    # One probability per level of the scale, for classifiers only.
    probabilities = models.JSONField(null=True)
    # Whether the model was trained without arguments about the same pair of objects.
    is_out_of_fold = models.BooleanField(default=False)
    at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "argument", "replicate"], name="judge_label_once_per_run"
            ),
            models.UniqueConstraint(
                fields=["trained", "argument"], name="judge_label_once_per_trained"
            ),
            models.CheckConstraint(
                condition=Q(label__isnull=False, reason="")
                | (Q(label__isnull=True) & ~Q(reason="")),
                name="judge_label_or_reason",
            ),
            models.CheckConstraint(
                condition=Q(run__isnull=False, trained__isnull=True)
                | Q(run__isnull=True, trained__isnull=False),
                name="judge_label_has_one_source",
            ),
            models.CheckConstraint(
                condition=Q(label__isnull=True) | Q(label__lte=9), name="judge_label_range"
            ),
        ]
        indexes = [models.Index(fields=["label_round", "argument"])]
