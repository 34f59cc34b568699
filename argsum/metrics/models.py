"""Scores of summary sets by automatic metrics and by language models."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from ..keypoints.models import SummarySet
from ..scorers.models import Scorer


class MetricScore(models.Model):
    """One metric of one set: a value, or the reason why it is missing.

    ``metric`` is a name from `argsum.metrics.methods`, such as ``rouge_1:recall``,
    ``coverage_score`` or ``llm_coverage``; ``setting`` distinguishes values computed with
    different settings (model, threshold, temperature, file).
    """

    summary_set = models.ForeignKey(
        SummarySet, models.CASCADE, related_name="metric_scores", db_index=False
    )
    metric = models.CharField(max_length=60)
    setting = models.CharField(max_length=200, blank=True)
    value = models.FloatField(null=True)
    reason = models.CharField(max_length=200, blank=True)
    scorer = models.ForeignKey(Scorer, models.CASCADE, null=True, related_name="metric_scores")
    run = models.ForeignKey("runs.Run", models.CASCADE, null=True, related_name="metric_scores")
    # File name of imported scores.
    source = models.CharField(max_length=255, blank=True)
    # Data behind the value: numbers of replies, of unparsable replies, of clipped replies, …
    details = models.JSONField(default=dict)
    seconds = models.FloatField(null=True)
    at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["summary_set", "metric", "setting"], name="metric_score_once"
            ),
            models.CheckConstraint(
                condition=(Q(value__isnull=False) & Q(reason=""))
                | (Q(value__isnull=True) & ~Q(reason="")),
                name="metric_score_value_or_reason",
            ),
        ]
        indexes = [models.Index(fields=["metric", "setting"])]


class CountingRun(models.Model):
    """A counting run, and the rater by which it is compared with people."""

    run = models.OneToOneField("runs.Run", models.CASCADE, related_name="counting")
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="counting_runs")

    def __str__(self) -> str:
        return str(self.run)


class CountReply(models.Model):
    """One reply of a language model: a count, or the reason for a missing count."""

    class Dimension(models.TextChoices):
        COVERAGE = "coverage", _("Covered references")
        UNIQUENESS = "uniqueness", _("Unique statements")

    run = models.ForeignKey(
        "runs.Run", models.CASCADE, related_name="count_replies", db_index=False
    )
    call = models.OneToOneField("runs.Call", models.CASCADE, related_name="count_reply")
    summary_set = models.ForeignKey(SummarySet, models.CASCADE, related_name="count_replies")
    dimension = models.CharField(max_length=10, choices=Dimension)
    replicate = models.PositiveSmallIntegerField(default=0)
    # The count from the reply; it is clipped when scores are computed.
    count = models.FloatField(null=True)
    reason = models.CharField(max_length=40, blank=True)
    fence = models.BigIntegerField(default=0)
    at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "summary_set", "dimension", "replicate"], name="count_reply_once"
            )
        ]
