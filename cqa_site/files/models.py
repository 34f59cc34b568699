"""Imported and exported files, each with a record of its processing.

No model here has a foreign key to a paper's model. A file's rows are stored in a `Round`, such as
a paper's label round. A near match is identified only by its public id, because papers have rows
of several kinds and each format defines the page of its rows. `ExportFile` is abstract, like
snapshots; each paper's own model adds the source of its files.
"""

import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import models
from django.utils.translation import gettext, gettext_lazy as _

from cqa_site.web.pages import NotThere
from .format_parts import REGISTERED, known_kinds


class ImportFile(models.Model):
    """An uploaded file and its state: uploaded → checked (dry run) → applied, or refused."""

    class State(models.TextChoices):
        UPLOADED = "uploaded", _("Uploaded")
        CHECKING = "checking", _("Checking")
        CHECKED = "checked", _("Checked")
        APPLYING = "applying", _("Importing")
        APPLIED = "applied", _("Imported")
        REFUSED = "refused", _("Refused")

    # Subfolder of the media folder; ``stored_as`` is a name in it.
    STORED_IN = "imports"

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="import_files")
    batch = models.ForeignKey(
        "files.ImportBatch", models.SET_NULL, null=True, related_name="files"
    )
    kind = models.CharField(max_length=16, choices=known_kinds)
    name = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    stored_as = models.CharField(max_length=64)
    options = models.JSONField(default=dict)
    state = models.CharField(max_length=8, choices=State, default=State.UPLOADED)
    # {"arguments": {"new": 1, "same": 2, "changed": 0, "rejected": 0}, …} and free notes
    counts = models.JSONField(default=dict)
    # {"read": 397, "rejected": 2, "problems": 9}: rows of the file and problems in their cells
    rows = models.JSONField(default=dict)
    notes = models.JSONField(default=list)
    refusal = models.TextField(blank=True)
    job = models.ForeignKey("runs.Job", models.SET_NULL, null=True, related_name="+")
    # The first of the rounds that received its rows.
    round = models.ForeignKey("rounds.Round", models.SET_NULL, null=True, related_name="+")
    created_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    applied_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    @property
    def told(self) -> Mapping[str, Any]:
        """Facts that the format derives from the file."""
        facts: Mapping[str, Any] = REGISTERED[self.kind].told(self)
        return facts


class ImportBatch(models.Model):
    """Files of one kind from one upload, checked and imported one after the other."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="import_batches")
    kind = models.CharField(max_length=16, choices=known_kinds)
    # Options that apply to every file; each file has a copy, with the findings about it added.
    options = models.JSONField(default=dict)
    job = models.ForeignKey("runs.Job", models.SET_NULL, null=True, related_name="+")
    created_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]


class ImportProblem(models.Model):
    """One row of an imported file that was rejected or flagged."""

    import_file = models.ForeignKey(ImportFile, models.CASCADE, related_name="problems")
    row = models.PositiveIntegerField(null=True)
    column = models.CharField(max_length=200, blank=True)
    reason = models.CharField(max_length=500)
    is_rejection = models.BooleanField(default=True)

    class Meta:
        ordering = ["row", "pk"]
        indexes = [models.Index(fields=["import_file", "row", "id"])]


class ImportMatch(models.Model):
    """A near match between a row's text and one in the study; a person confirms or rejects it."""

    class Decision(models.TextChoices):
        SAME = "same", _("Same")
        OTHER = "other", _("Different")

    import_file = models.ForeignKey(ImportFile, models.CASCADE, related_name="matches")
    row = models.PositiveIntegerField()
    about = models.TextField()
    # Beginnings of both texts, and the position where the letters first differ.
    given = models.TextField()
    found = models.TextField()
    # The public id of the study's row with that text.
    known = models.UUIDField()
    likeness = models.FloatField()
    decision = models.CharField(max_length=5, choices=Decision, blank=True)

    class Meta:
        ordering = ["row"]
        constraints = [
            models.UniqueConstraint(fields=["import_file", "row"], name="import_match_once")
        ]

    @property
    def percent(self) -> int:
        """Similarity of the letters as a percentage; 100 only if all letters are identical."""
        return int(100 * self.likeness)


class ExportFile(models.Model):
    """A file created in the background; each app's own model defines its source."""

    STORED_IN = ""

    class Format(models.TextChoices):
        CSV = "csv", "CSV"
        JSONL = "jsonl", "JSON Lines"
        XLSX = "xlsx", "Excel"
        PARQUET = "parquet", "Parquet"

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    content = models.CharField(max_length=12)
    format = models.CharField(max_length=7, choices=Format)
    stored_as = models.CharField(max_length=64, blank=True)
    rows = models.PositiveBigIntegerField(default=0)
    size = models.PositiveBigIntegerField(default=0)
    sha256 = models.CharField(max_length=64, blank=True)
    job = models.ForeignKey("runs.Job", models.SET_NULL, null=True, related_name="+")
    created_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True
        ordering = ["-created_at", "-pk"]

    @property
    def path(self) -> Path:
        """Path of the finished file; raises NotThere if it has expired."""
        if not self.stored_as:
            raise NotThere(gettext("This file was deleted because of its age. Create it again."))
        return settings.MEDIA_ROOT / self.stored_as

    @property
    def manifest_path(self) -> Path:
        return self.path.with_suffix(".manifest.json")

    @property
    def shown_name(self) -> str:
        """File name for downloads; generated here, so it contains no path."""
        raise NotImplementedError
