"""Runs of summarization systems, and sets of key points from runs or imported files."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from argsum.systems.registry import title_of
from ..datasets.models import Cell, Dataset
from ..scorers.models import Scorer


class SystemRun(models.Model):
    """A run of one system over the cells of a dataset, with all settings of a parameter grid."""

    class Variant(models.TextChoices):
        """Writer of the key points: the system, a language model or a seq2seq model."""

        PLAIN = "plain", _("Without a language model")
        CANDIDATES = "candidates", _("Language model writes candidates")
        SUMMARIES = "summaries", _("Language model writes the key points")
        GLOBAL = "global", _("Language model, one request for all clusters")
        LOCAL = "local", _("Language model, one request per cluster")
        SEQ2SEQ = "seq2seq", _("Sequence-to-sequence model")

    class State(models.TextChoices):
        """waiting → running (→ writing) → done; cancelled and failed runs can be resumed."""

        WAITING = "waiting", _("Waiting")
        RUNNING = "running", _("Running")
        WRITING = "writing", _("Language model writing")
        DONE = "done", _("Done")
        CANCELLED = "cancelled", _("Cancelled")
        FAILED = "failed", _("Failed")

    ACTIVE = (State.WAITING, State.RUNNING, State.WRITING)

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="system_runs")
    number = models.PositiveIntegerField()
    # Name in tables, such as "MCArgSum (MiniLM, global)".
    label = models.CharField(_("name"), max_length=120)
    dataset = models.ForeignKey(Dataset, models.PROTECT, related_name="system_runs")
    split = models.CharField(max_length=5, choices=Cell.Split, blank=True, default="")
    # Whether arguments that preprocessing left out are included.
    is_unfiltered = models.BooleanField(default=False)
    # A name in `argsum.systems.registry`, and the package that provides it, empty for built-in
    # systems.
    system = models.CharField(max_length=40)
    package = models.CharField(max_length=200, blank=True, default="")
    variant = models.CharField(max_length=10, choices=Variant, default=Variant.PLAIN)
    match_scorer = models.ForeignKey(Scorer, models.PROTECT, null=True, related_name="+")
    quality_scorer = models.ForeignKey(Scorer, models.PROTECT, null=True, related_name="+")
    # {parameter: [values]}; the run covers every combination.
    grid = models.JSONField(default=dict)
    seed = models.PositiveIntegerField(default=1)
    # Name or folder of the writing sequence-to-sequence model; only for that variant.
    writer_model = models.CharField(max_length=200, blank=True)
    # The last writing run of the language model.
    writing = models.OneToOneField(
        "runs.Run", models.PROTECT, null=True, related_name="system_run"
    )
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    error = models.TextField(blank=True)
    job = models.ForeignKey("runs.Job", models.SET_NULL, null=True, related_name="+")
    created_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="system_run_number_once")
        ]
        indexes = [models.Index(fields=["study", "dataset", "state"])]

    def __str__(self) -> str:
        return self.label

    @property
    def system_title(self) -> str:
        """Title of the system, or its name if it is no longer installed."""
        return title_of(self.system)

    @property
    def is_active(self) -> bool:
        """Whether the run is waiting or running."""
        return self.state in self.ACTIVE


class SummarySet(models.Model):
    """Result of one system and setting for one cell, or the reason why there is no result.

    ``arguments`` are the primary keys of the included arguments, in order. ``clusters``,
    ``assigned`` and ``scores`` have one value per argument: the id of its cluster (-1 if
    unclustered), the position of its key point (-1 if unassigned), and the match score of that
    assignment.
    """

    class State(models.TextChoices):
        """waiting → done; ``no_result`` is a valid outcome, not an error."""

        WAITING = "waiting", _("Waiting")
        DONE = "done", _("Done")
        NO_RESULT = "no_result", _("No result")
        FAILED = "failed", _("Failed")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey(
        "people.Study", models.CASCADE, related_name="summary_sets", db_index=False
    )
    cell = models.ForeignKey(Cell, models.PROTECT, related_name="summary_sets")
    system_run = models.ForeignKey(
        SystemRun, models.CASCADE, null=True, related_name="sets", db_index=False
    )
    # As in `SystemRun.label`, or the name of the system in an imported file.
    system = models.CharField(max_length=120)
    parameters = models.JSONField(default=dict)
    # The parameters in a canonical form.
    setting = models.CharField(max_length=200, blank=True)
    source = models.CharField(max_length=255, blank=True)
    position = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    # Short reason for a missing result.
    reason = models.CharField(max_length=300, blank=True)
    # Time of computation; None if unknown for an imported set.
    seconds = models.FloatField(null=True)
    arguments = models.JSONField(default=list)
    clusters = models.JSONField(null=True)
    assigned = models.JSONField(null=True)
    scores = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    done_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["cell", "system", "setting", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["system_run", "cell", "setting"], name="summary_set_once_per_run"
            ),
            models.UniqueConstraint(
                fields=["study", "source", "position"],
                condition=~Q(source=""),
                name="summary_set_imported_once",
            ),
            models.CheckConstraint(
                condition=Q(system_run__isnull=False, source="")
                | (Q(system_run__isnull=True) & ~Q(source="")),
                name="summary_set_has_one_origin",
            ),
        ]
        indexes = [
            models.Index(fields=["study", "system", "cell"]),
            models.Index(fields=["system_run", "state", "id"]),
        ]

    def __str__(self) -> str:
        return f"{self.system}: {self.cell}"


class SystemSummary(models.Model):
    """One key point of a set; the first has the most arguments."""

    summary_set = models.ForeignKey(
        SummarySet, models.CASCADE, related_name="summaries", db_index=False
    )
    position = models.PositiveIntegerField()
    text = models.TextField()
    # Cluster of the key point; None if the system has no clusters.
    cluster = models.IntegerField(null=True)
    # Number of assigned arguments; None for imported sets.
    prevalence = models.PositiveIntegerField(null=True)

    class Meta:
        ordering = ["summary_set", "position"]
        constraints = [
            models.UniqueConstraint(fields=["summary_set", "position"], name="system_summary_once")
        ]

    def __str__(self) -> str:
        return self.text[:80]


class WrittenPart(models.Model):
    """Text by a language model for a cell, for all clusters of a set, or for one cluster."""

    run = models.ForeignKey(
        "runs.Run", models.CASCADE, related_name="written_parts", db_index=False
    )
    call = models.OneToOneField("runs.Call", models.CASCADE, related_name="written_part")
    system_run = models.ForeignKey(
        SystemRun, models.CASCADE, related_name="written_parts", db_index=False
    )
    cell = models.ForeignKey(Cell, models.CASCADE, related_name="+")
    # None if candidates or key points were written for the cell, before the settings were run.
    summary_set = models.ForeignKey(
        SummarySet, models.CASCADE, null=True, related_name="written_parts"
    )
    cluster = models.IntegerField(null=True)
    # {cluster id: text}, or {"1": text, …} in the order of the reply.
    texts = models.JSONField(default=dict)
    # Number of entries in the reply that the request did not ask for.
    dropped = models.PositiveIntegerField(default=0)
    reason = models.CharField(max_length=40, blank=True)
    fence = models.BigIntegerField(default=0)
    at = models.DateTimeField(auto_now=True)

    class Meta:
        indexes = [models.Index(fields=["system_run", "cell"]), models.Index(fields=["run"])]
