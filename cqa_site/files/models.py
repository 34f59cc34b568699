"""Files that came in or go out, each with its own record of what happened."""

import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class ImportFile(models.Model):
    """An uploaded file on its way: uploaded → checked (dry run) → applied, or refused."""

    class Kind(models.TextChoices):
        """Formats with a reader."""

        TOLOKA = "toloka", _("Toloka assignments (TSV)")
        EXPERT_WORKBOOK = "expert_workbook", _("Expert workbook (XLSX)")
        FINAL_LABELS = "final_labels", _("Final labels (JSON)")
        SILVER = "silver", _("Comparisons with arguments and answers (JSON)")
        GOLD = "gold", _("Edited answers (JSON)")
        ANSWERS = "answers", _("Answers of one system (JSON)")
        QUESTIONS = "questions", _("List of questions (CSV, TSV, JSONL, XLSX)")
        TABLE = "table", _("Any table, columns mapped by you")
        JUDGED = "judged", _("Judged answers of one system (JSON)")
        HUMAN_SCORES = "human_scores", _("Consolidated scores by people (TSV)")
        SCORE_SHEETS = "score_sheets", _("Any table of score sheets, columns mapped by you")
        ARGKP = "argkp", _("Arguments, key points and their labels (ZIP of three CSV files)")
        ARGUMENT_PAIRS = "argument_pairs", _("Pairs of arguments and key points (CSV)")
        ARGUMENT_LIST = "argument_list", _("Arguments on topics, without key points (CSV, JSONL)")
        COUNT_SHEETS = "count_sheets", _("Coverage and uniqueness counts of one person (CSV)")
        METRIC_SCORES = "metric_scores", _("Stored scores of summaries (JSON)")

    class State(models.TextChoices):
        """Where the file stands."""

        UPLOADED = "uploaded", _("Uploaded")
        CHECKING = "checking", _("Checking")
        CHECKED = "checked", _("Checked")
        APPLYING = "applying", _("Importing")
        APPLIED = "applied", _("Imported")
        REFUSED = "refused", _("Refused")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="import_files")
    batch = models.ForeignKey(
        "files.ImportBatch", models.SET_NULL, null=True, related_name="files"
    )
    kind = models.CharField(max_length=16, choices=Kind)
    name = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    stored_as = models.CharField(max_length=64)
    options = models.JSONField(default=dict)
    state = models.CharField(max_length=8, choices=State, default=State.UPLOADED)
    # {"arguments": {"new": 1, "same": 2, "changed": 0, "rejected": 0}, …} and free notes
    counts = models.JSONField(default=dict)
    # {"read": 397, "rejected": 2, "problems": 9}: rows of the file, and problems in their cells
    rows = models.JSONField(default=dict)
    notes = models.JSONField(default=list)
    refusal = models.TextField(blank=True)
    job = models.ForeignKey("runs.Job", models.SET_NULL, null=True, related_name="+")
    campaign = models.ForeignKey(
        "annotation.Campaign", models.SET_NULL, null=True, related_name="import_files"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    applied_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]


class ImportBatch(models.Model):
    """Files of one kind that came in one upload, looked at and imported one after the other."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="import_batches")
    kind = models.CharField(max_length=16, choices=ImportFile.Kind)
    # What holds for every file; each keeps a copy, with what was found out about it alone.
    options = models.JSONField(default=dict)
    job = models.ForeignKey("runs.Job", models.SET_NULL, null=True, related_name="+")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
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
    """A row whose text is nearly that of an answer; a person says whether it is the same."""

    class Decision(models.TextChoices):
        """What was said."""

        SAME = "same", _("The same answer")
        OTHER = "other", _("Another answer")

    import_file = models.ForeignKey(ImportFile, models.CASCADE, related_name="matches")
    row = models.PositiveIntegerField()
    about = models.TextField()
    # Beginnings, and the place where the letters first differ.
    given = models.TextField()
    found = models.TextField()
    answer = models.ForeignKey("annotation.Answer", models.CASCADE, related_name="+")
    likeness = models.FloatField()
    decision = models.CharField(max_length=5, choices=Decision, blank=True)

    class Meta:
        ordering = ["row"]
        constraints = [
            models.UniqueConstraint(fields=["import_file", "row"], name="import_match_once")
        ]

    @property
    def percent(self) -> int:
        """How alike the letters are; 100 only where all are."""
        return int(100 * self.likeness)
