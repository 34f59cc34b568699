"""Files that go out, each with its own record of what happened."""

import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class ExportFile(models.Model):
    """A file made in the background from one snapshot."""

    class Content(models.TextChoices):
        """What is in it."""

        VOTES = "votes", _("Votes")
        FINAL_LABELS = "final_labels", _("Final labels")
        ANNOTATORS = "annotators", _("Annotators")
        FIGURES = "figures", _("Figures of the snapshot")
        CROWDKIT = "crowdkit", _("crowd-kit columns (task, worker, label)")

    class Format(models.TextChoices):
        """File formats."""

        CSV = "csv", "CSV"
        JSONL = "jsonl", "JSON Lines"
        XLSX = "xlsx", "Excel"
        PARQUET = "parquet", "Parquet"

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    campaign = models.ForeignKey(
        "annotation.Campaign", models.CASCADE, related_name="export_files"
    )
    snapshot = models.ForeignKey(
        "annotation.Snapshot", models.CASCADE, related_name="export_files"
    )
    content = models.CharField(max_length=12, choices=Content)
    format = models.CharField(max_length=7, choices=Format)
    stored_as = models.CharField(max_length=64, blank=True)
    rows = models.PositiveBigIntegerField(default=0)
    size = models.PositiveBigIntegerField(default=0)
    sha256 = models.CharField(max_length=64, blank=True)
    job = models.ForeignKey("runs.Job", models.SET_NULL, null=True, related_name="+")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
