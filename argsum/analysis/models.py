"""Key points of comments: found by a machine, then edited by hand."""

import uuid

from django.conf import settings
from django.db import models
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from ..datasets.models import Cell, CellArgument
from ..scorers.models import Scorer


class Analysis(models.Model):
    """Key points of the comments on one topic, and the statements behind each.

    ``options`` name the encoder and the reason for it. ``cutoff`` is the score from which
    statements were grouped. ``revision`` counts edits, so that stored results can be checked for
    being out of date. ``sure_from`` is the match score from which placements are sure; None where
    it is not known for the scorer. ``facets`` are the filters for comments: ``{"attributes":
    {column: [[value, comments], …]}, "first": date, "last": date}``, the most frequent values
    first.
    """

    class State(models.TextChoices):
        """waiting → running → done; also ends as cancelled or failed."""

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
    # Two letters; empty while nothing is known.
    language = models.CharField(max_length=2, blank=True, default="")
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    error = models.TextField(blank=True)
    job = models.ForeignKey("runs.Job", models.SET_NULL, null=True, related_name="+")
    # The newest run in which a language model writes its key points.
    writing = models.ForeignKey("runs.Run", models.SET_NULL, null=True, related_name="+")
    # The newest run in which one proposes key points, or assigns statements to them.
    coding = models.ForeignKey("runs.Run", models.SET_NULL, null=True, related_name="+")
    revision = models.PositiveIntegerField(default=0)
    # Of the cell when statements were last placed; without comments, each statement is one.
    statements = models.PositiveIntegerField(default=0)
    comments = models.PositiveIntegerField(default=0)
    # Comments without all but one of each group of near-duplicates; see `NearDuplicateGroup`.
    voices = models.PositiveIntegerField(default=0)
    # Rises when groups change, as ``revision`` does with edits.
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
        """Whether a language model assigned statements, and nobody has undone it."""
        return self.changes.filter(verb=PointChange.Verb.CODED, undone_by=None).exists()

    @property
    def has_bands(self) -> bool:
        """Whether placements are sure or not: by a cut-off, or as match scores confirm codes."""
        return self.sure_from is not None or self.is_coded


class FoundPoint(models.Model):
    """One key point of an analysis; ``statements`` and ``comments`` are counts behind it.

    ``sure_comments`` and ``sure_voices`` are those with a statement that was surely placed, or by
    hand; the others perhaps make the point. ``written`` is its original text, before any renaming.
    ``writer`` is the run whose language model wrote the text of today; None where it is a
    statement, or a person's. ``theme`` names the theme it belongs to, empty for none: key points
    of an analysis with the same name are one theme. ``distinctness`` is how much better its
    statements matched each other than another key point when it was found; None where that is not
    known. ``revision`` is that of the analysis after the last edit of its text or state.
    """

    class Origin(models.TextChoices):
        """Source of a key point."""

        FOUND = "found", _("Found")
        PROPOSED = "proposed", _("Found in later comments")
        PERSON = "person", _("Written by hand")
        MODEL = "model", _("Proposed by a language model")

    class State(models.TextChoices):
        """State of a key point; proposed ones wait to be accepted or declined."""

        SHOWN = "shown", _("Shown")
        PROPOSED = "proposed", _("Proposed")
        HIDDEN = "hidden", _("Hidden")
        MERGED = "merged", _("Merged")
        # A proposed one that was declined, or one whose making was undone.
        REMOVED = "removed", _("Removed")

    # Statements stand behind these only.
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
    """A statement at a key point of an analysis; without one if the statement fits none.

    A statement that makes several key points has a row for each.

    `SURE` are those of the machine's first band and those by hand; the others perhaps belong
    there.
    """

    SURE = models.Q(is_by_hand=True) | models.Q(is_sure=True)

    analysis = models.ForeignKey(
        Analysis, models.CASCADE, related_name="placements", db_index=False
    )
    argument = models.ForeignKey(CellArgument, models.PROTECT, related_name="placements")
    point = models.ForeignKey(
        FoundPoint, models.CASCADE, null=True, related_name="placements", db_index=False
    )
    # Match score with the key point, or with the nearest one, when it was placed by the machine;
    # it means nothing where a person placed it.
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
            # What people placed stands first, then what is sure, then the best score.
            models.Index(
                fields=["analysis", "point", "-is_by_hand", "-is_sure", "-score", "argument"],
                name="placement_surest_first",
            ),
            models.Index(fields=["point"]),
        ]


class WrittenPoint(models.Model):
    """Text that a language model wrote for a key point in one request, and its verdict.

    ``attempt`` counts requests about the same key point in a run, from 1. A text that is refused
    is nearer to the statements of another key point; ``nearest`` is the text of that key point,
    and both ``scores`` are mean match scores: with its own statements, and with those of the
    nearest.
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
    # None once the analysis is deleted; the request stays in the ledger.
    point = models.ForeignKey(FoundPoint, models.SET_NULL, null=True, related_name="written_texts")
    attempt = models.PositiveSmallIntegerField(default=1)
    # Empty where no reply could be used, for the reason beside it.
    text = models.TextField(blank=True)
    reason = models.CharField(max_length=40, blank=True)
    fence = models.BigIntegerField(default=0)
    verdict = models.CharField(max_length=9, choices=Verdict, default=Verdict.UNCHECKED)
    nearest = models.TextField(blank=True)
    scores = models.JSONField(default=list)
    # Who changed the key point meanwhile, and what was done.
    note = models.TextField(blank=True)

    class Meta:
        indexes = [models.Index(fields=["run", "point", "attempt"])]

    def __str__(self) -> str:
        return self.text[:80]


class PointChange(models.Model):
    """One manual edit: user, action, and the previous values, for undo.

    ``before`` and ``after`` hold what changed, by primary key: ``{"points": {point: {field:
    value}}, "placed": [[point, is_by_hand, [argument, …]], …]}``. ``number`` counts the statements
    that it moved.
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
        # By a machine: statements of later comments.
        PLACED = "placed", _("New comments placed")
        UNDONE = "undone", _("Undone")

    analysis = models.ForeignKey(Analysis, models.CASCADE, related_name="changes", db_index=False)
    # Of the analysis after the edit.
    revision = models.PositiveIntegerField()
    verb = models.CharField(max_length=8, choices=Verb)
    point = models.ForeignKey(FoundPoint, models.CASCADE, null=True, related_name="changes")
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    number = models.PositiveIntegerField(default=0)
    # The run whose language model made it.
    run = models.ForeignKey("runs.Run", models.SET_NULL, null=True, related_name="+")
    # The edit that took this one back.
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

    ``points`` are these, by position: ``[[key point, text, theme], …]``; ``digest`` is their
    hash. A sign-off holds while the key points shown have the same digest.
    """

    analysis = models.ForeignKey(
        Analysis, models.CASCADE, related_name="sign_offs", db_index=False
    )
    digest = models.CharField(max_length=64)
    points = models.JSONField(default=list)
    # Of the analysis that the person looked at.
    revision = models.PositiveIntegerField()
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["analysis", "-id"])]
