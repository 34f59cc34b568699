"""Key points of comments, found by a machine and then edited by hand."""

import uuid

from django.conf import settings
from django.db import models
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from ..datasets.models import Cell, CellArgument
from ..scorers.models import Scorer


class Analysis(models.Model):
    """Key points of the comments on one topic, and the statements behind each.

    ``options`` contain the encoder and the reason for it. ``cutoff`` is the minimum score for
    grouping statements. ``revision`` counts edits, to show whether stored results are out of
    date. ``sure_from`` is the minimum match score of sure placements, or None if it is unknown for
    the scorer. ``facets`` are the filters for comments: ``{"attributes": {column: [[value,
    comments], …]}, "first": date, "last": date}``, with the most frequent values first.
    """

    class State(models.TextChoices):
        """State of an analysis: waiting → running → done, cancelled or failed."""

        WAITING = "waiting", _("Waiting")
        RUNNING = "running", _("Running")
        DONE = "done", _("Done")
        CANCELLED = "cancelled", _("Cancelled")
        FAILED = "failed", _("Failed")

    ACTIVE = (State.WAITING, State.RUNNING)

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="analyses")
    number = models.PositiveIntegerField()
    name = models.CharField(_("name"), max_length=120)
    cell = models.ForeignKey(Cell, models.PROTECT, related_name="analyses")
    match_scorer = models.ForeignKey(Scorer, models.PROTECT, related_name="+")
    quality_scorer = models.ForeignKey(Scorer, models.PROTECT, null=True, related_name="+")
    options = models.JSONField(default=dict)
    cutoff = models.FloatField(null=True)
    sure_from = models.FloatField(null=True)
    # Two-letter code; empty while unknown.
    language = models.CharField(max_length=2, blank=True, default="")
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    error = models.TextField(blank=True)
    job = models.ForeignKey("runs.Job", models.SET_NULL, null=True, related_name="+")
    # The newest run in which a language model writes its key points.
    writing = models.ForeignKey("runs.Run", models.SET_NULL, null=True, related_name="+")
    # The newest run in which a language model proposes key points or assigns statements to them.
    coding = models.ForeignKey("runs.Run", models.SET_NULL, null=True, related_name="+")
    revision = models.PositiveIntegerField(default=0)
    # Numbers in the cell at the last placement. Without comments, each statement counts as one.
    statements = models.PositiveIntegerField(default=0)
    comments = models.PositiveIntegerField(default=0)
    # Comments, counting each group of near-duplicates once; see `NearDuplicateGroup`.
    voices = models.PositiveIntegerField(default=0)
    # Counts changes of groups, like ``revision`` for edits.
    voices_revision = models.PositiveIntegerField(default=0)
    facets = models.JSONField(default=dict)
    placed_at = models.DateTimeField(null=True)
    seconds = models.FloatField(null=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    done_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="analysis_number_once")
        ]
        indexes = [models.Index(fields=["study", "state"])]

    def __str__(self) -> str:
        return self.name

    @property
    def is_active(self) -> bool:
        """Whether the analysis is waiting or running."""
        return self.state in self.ACTIVE

    @cached_property
    def is_coded(self) -> bool:
        """Whether a language model assigned the statements, and this has not been undone."""
        return self.changes.filter(verb=PointChange.Verb.CODED, undone_by=None).exists()

    @property
    def has_bands(self) -> bool:
        """Whether placements are divided into sure and uncertain, by a cut-off or match scores."""
        return self.sure_from is not None or self.is_coded


class FoundPoint(models.Model):
    """One key point of an analysis, with the counts of its ``statements`` and ``comments``.

    ``sure_comments`` and ``sure_voices`` count those with a statement placed by hand or with
    certainty; the others may make the point. ``written`` is the original text. ``writer`` is
    the run of the language model that wrote the current text, or None if the text is a statement
    or was written by a person. ``theme`` is the name of its theme, or empty; key points with the
    same name form one theme. ``distinctness`` is how much better its statements matched each other
    than those of another key point when it was found, or None if unknown. ``revision`` is the
    revision of the analysis after the last edit of the key point's text or state.
    """

    class Origin(models.TextChoices):
        """Source of a key point."""

        FOUND = "found", _("Found")
        PROPOSED = "proposed", _("Found in later comments")
        PERSON = "person", _("Written by hand")
        MODEL = "model", _("Proposed by a language model")

    class State(models.TextChoices):
        """State of a key point. Proposed key points need to be accepted or declined."""

        SHOWN = "shown", _("Shown")
        PROPOSED = "proposed", _("Proposed")
        HIDDEN = "hidden", _("Hidden")
        MERGED = "merged", _("Merged")
        # A proposed key point that was declined, or one whose creation was undone.
        REMOVED = "removed", _("Removed")

    # Only key points in these states have statements.
    ALIVE = (State.SHOWN, State.PROPOSED, State.HIDDEN)

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    analysis = models.ForeignKey(Analysis, models.CASCADE, related_name="points", db_index=False)
    position = models.PositiveIntegerField()
    text = models.TextField()
    written = models.TextField()
    theme = models.CharField(max_length=120, blank=True, default="")
    origin = models.CharField(max_length=8, choices=Origin, default=Origin.FOUND)
    state = models.CharField(max_length=8, choices=State, default=State.SHOWN)
    writer = models.ForeignKey("runs.Run", models.SET_NULL, null=True, related_name="+")
    merged_into = models.ForeignKey("self", models.CASCADE, null=True, related_name="merged")
    statements = models.PositiveIntegerField(default=0)
    comments = models.PositiveIntegerField(default=0)
    voices = models.PositiveIntegerField(default=0)
    sure_comments = models.PositiveIntegerField(default=0)
    sure_voices = models.PositiveIntegerField(default=0)
    distinctness = models.FloatField(null=True)
    revision = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["analysis", "position"]
        constraints = [
            models.UniqueConstraint(fields=["analysis", "position"], name="found_point_once")
        ]
        indexes = [models.Index(fields=["analysis", "state", "-comments", "position"])]

    def __str__(self) -> str:
        return self.text[:80]


class Placement(models.Model):
    """A statement placed at a key point of an analysis, or at none if it fits none.

    A statement that makes several key points has a row for each.

    `SURE` selects placements in the machine's first band and those made by hand. The others are
    uncertain.
    """

    SURE = models.Q(is_by_hand=True) | models.Q(is_sure=True)

    analysis = models.ForeignKey(
        Analysis, models.CASCADE, related_name="placements", db_index=False
    )
    argument = models.ForeignKey(CellArgument, models.PROTECT, related_name="placements")
    point = models.ForeignKey(
        FoundPoint, models.CASCADE, null=True, related_name="placements", db_index=False
    )
    # Match score with the key point, or with the nearest key point, when the machine placed the
    # statement. It has no meaning if a person placed it.
    score = models.FloatField(default=0.0)
    # Whether the machine was sure when it placed the statement (`Analysis.sure_from`).
    is_sure = models.BooleanField(default=False)
    is_by_hand = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["analysis", "argument", "point"], name="placement_once_at_a_point"
            ),
            models.UniqueConstraint(
                fields=["analysis", "argument"],
                condition=models.Q(point__isnull=True),
                name="placement_once_at_none",
            ),
        ]
        indexes = [
            # Placements by people come first, then sure ones, then those with the best scores.
            models.Index(
                fields=["analysis", "point", "-is_by_hand", "-is_sure", "-score", "argument"],
                name="placement_surest_first",
            ),
            models.Index(fields=["point"]),
        ]


class WrittenPoint(models.Model):
    """Text that a language model wrote for a key point in one request, and its verdict.

    ``attempt`` counts requests about the same key point in a run, from 1. A refused text is nearer
    to the statements of another key point, whose text is ``nearest``. The two ``scores`` are the
    mean match scores with its own statements and with those of the nearest key point.
    """

    class Verdict(models.TextChoices):
        """Result of checking the text."""

        UNCHECKED = "unchecked", _("Not checked yet")
        TAKEN = "taken", _("Written")
        SAME = "same", _("Unchanged")
        REFUSED = "refused", _("Nearer to another key point")
        CHANGED = "changed", _("Edited in the meantime")

    run = models.ForeignKey(
        "runs.Run", models.CASCADE, related_name="written_points", db_index=False
    )
    call = models.OneToOneField("runs.Call", models.CASCADE, related_name="written_point")
    # None after the analysis is deleted. The request stays in the ledger.
    point = models.ForeignKey(FoundPoint, models.SET_NULL, null=True, related_name="written_texts")
    attempt = models.PositiveSmallIntegerField(default=1)
    # Empty if no reply could be used; ``reason`` says why.
    text = models.TextField(blank=True)
    reason = models.CharField(max_length=40, blank=True)
    fence = models.BigIntegerField(default=0)
    verdict = models.CharField(max_length=9, choices=Verdict, default=Verdict.UNCHECKED)
    nearest = models.TextField(blank=True)
    scores = models.JSONField(default=list)
    # Who changed the key point in the meantime, and how.
    note = models.TextField(blank=True)

    class Meta:
        indexes = [models.Index(fields=["run", "point", "attempt"])]

    def __str__(self) -> str:
        return self.text[:80]


class PointChange(models.Model):
    """One edit: user, action, and the previous values for undoing it.

    ``before`` and ``after`` contain the changed values, by primary key: ``{"points": {point:
    {field: value}}, "placed": [[point, is_by_hand, [argument, …]], …]}``. ``number`` counts the
    statements that were moved.
    """

    class Verb(models.TextChoices):
        """Kind of edit."""

        RENAMED = "renamed", _("Renamed")
        MERGED = "merged", _("Merged")
        SPLIT = "split", _("Split")
        HIDDEN = "hidden", _("Hidden")
        SHOWN = "shown", _("Shown again")
        MOVED = "moved", _("Moved")
        ADDED = "added", _("Added")
        THEMED = "themed", _("Themes changed")
        TAKEN = "taken", _("Accepted")
        DECLINED = "declined", _("Declined")
        # By a language model that somebody chose.
        WRITTEN = "written", _("Written by a language model")
        PROPOSED = "proposed", _("Proposed by a language model")
        CODED = "coded", _("Statements assigned by a language model")
        # By a machine, for statements of later comments.
        PLACED = "placed", _("New comments placed")
        UNDONE = "undone", _("Undone")

    analysis = models.ForeignKey(Analysis, models.CASCADE, related_name="changes", db_index=False)
    # Revision of the analysis after the edit.
    revision = models.PositiveIntegerField()
    verb = models.CharField(max_length=8, choices=Verb)
    point = models.ForeignKey(FoundPoint, models.CASCADE, null=True, related_name="changes")
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    number = models.PositiveIntegerField(default=0)
    # The run of the language model that made the edit.
    run = models.ForeignKey("runs.Run", models.SET_NULL, null=True, related_name="+")
    # The edit that undid this one.
    undone_by = models.ForeignKey("self", models.SET_NULL, null=True, related_name="undoes")
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-revision"]
        constraints = [
            models.UniqueConstraint(fields=["analysis", "revision"], name="point_change_once")
        ]


class SignOff(models.Model):
    """A person's confirmation that the key points shown, and their themes, are final.

    ``points`` are these key points by position: ``[[key point, text, theme], …]``. ``digest`` is
    their hash. A sign-off is valid while the key points shown have the same digest.
    """

    analysis = models.ForeignKey(
        Analysis, models.CASCADE, related_name="sign_offs", db_index=False
    )
    digest = models.CharField(max_length=64)
    points = models.JSONField(default=list)
    # Revision of the analysis that the person saw.
    revision = models.PositiveIntegerField()
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["analysis", "-id"])]
