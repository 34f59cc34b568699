"""Score sheets: one rater's points for one answer, whoever or whatever the rater is."""

import uuid

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from .rounds import ScoringRound, ScoringSlot
from .rubrics import RubricVersion


class ScoreSheet(models.Model):
    """Points of one rater for one answer by one version of a rubric.

    The sheet comes from a scoring round, a judge's run or an imported file, never from two of
    them. ``points`` holds criteria with points only; a criterion that the rater could not judge
    stands in ``unable`` with its reason and is no 0. The total is computed by the server and is
    there only if every criterion has points.
    """

    class State(models.TextChoices):
        """open → submitted; a judge's reply without usable points is unscored."""

        OPEN = "open", _("Begun")
        SUBMITTED = "submitted", _("Submitted")
        UNSCORED = "unscored", _("Unscored")
        VOID = "void", _("Does not count")

    class Unable(models.TextChoices):
        """Why a person could not judge a criterion."""

        UNCLEAR = "unclear", _("The criterion is unclear here")
        KNOWLEDGE = "knowledge", _("I lack the knowledge")
        BROKEN = "broken", _("The answer is cut or broken")
        OTHER = "other", _("Another reason (see the note)")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey(
        "people.Study", models.CASCADE, related_name="score_sheets", db_index=False
    )
    answer = models.ForeignKey("annotation.Answer", models.PROTECT, related_name="score_sheets")
    rubric = models.ForeignKey(
        RubricVersion, models.PROTECT, related_name="sheets", db_index=False
    )
    rater = models.ForeignKey("annotation.Rater", models.PROTECT, related_name="score_sheets")
    # Where it comes from: exactly one of round, run, and file name with position.
    scoring_round = models.ForeignKey(
        ScoringRound, models.CASCADE, null=True, related_name="sheets", db_index=False
    )
    run = models.ForeignKey(
        "runs.Run", models.CASCADE, null=True, related_name="score_sheets", db_index=False
    )
    # The call that the sheet was read from; None where several calls made it (see JudgementPart).
    call = models.ForeignKey("runs.Call", models.CASCADE, null=True, related_name="score_sheets")
    fence = models.BigIntegerField(default=0)
    source = models.CharField(max_length=255, blank=True)
    position = models.PositiveIntegerField(default=0)
    # 0 for the first judgement; more for a blind repeat or another replicate of a run.
    replicate = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(max_length=9, choices=State, default=State.OPEN)
    points = models.JSONField(default=dict)
    # {criterion: code of `Unable`, or the reason a judge's reply gave no points for it}
    unable = models.JSONField(default=dict)
    # {criterion: text}: a person's notes, or a judge's reasons.
    notes = models.JSONField(default=dict)
    comment = models.TextField(blank=True)
    # Criteria whose imported points the rubric does not have; they stay as they were.
    off_scale = models.JSONField(default=list)
    # Half points of several people who agreed on one sheet; only from files.
    is_consolidated = models.BooleanField(default=False)
    total = models.FloatField(null=True)
    # Of the rubric, so that the database itself can guard the total.
    maximum = models.PositiveSmallIntegerField()
    # Why a judge's reply is unscored; one of `benchmark.methods.judgement_keys.Reading`.
    reason = models.CharField(max_length=40, blank=True)
    is_example = models.BooleanField(default=False)
    # Submitted after its slot went to somebody else, or by somebody excluded: kept, not counted.
    is_extra = models.BooleanField(default=False)
    slot = models.OneToOneField(ScoringSlot, models.PROTECT, null=True, related_name="sheet")
    # Place in the rater's own order of a round, from 1.
    place = models.PositiveIntegerField(default=0)
    # What stands on the form and is not submitted: {"points", "unable", "notes", "comment"}; the
    # fields of the same names above keep what was submitted last. None where nothing differs.
    draft = models.JSONField(null=True)
    # Raised by one with every accepted save of the draft.
    version = models.PositiveIntegerField(default=0)
    # The page that saved last, the number it gave its save, and the version it began from: what
    # it sends on may be based on any version since then, because all of them are its own.
    client = models.CharField(max_length=36, blank=True)
    sequence = models.PositiveIntegerField(default=0)
    since = models.PositiveIntegerField(default=0)
    active_seconds = models.PositiveIntegerField(default=0)
    served_at = models.DateTimeField(null=True)
    saved_at = models.DateTimeField(null=True)
    submitted_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["scoring_round", "rater", "answer", "replicate"],
                name="sheet_once_per_round",
            ),
            models.UniqueConstraint(
                fields=["run", "answer", "replicate"], name="sheet_once_per_run"
            ),
            models.UniqueConstraint(
                fields=["study", "source", "position", "rater"],
                condition=~Q(source=""),
                name="sheet_imported_once",
            ),
            models.CheckConstraint(
                condition=Q(scoring_round__isnull=False, run__isnull=True, source="")
                | Q(scoring_round__isnull=True, run__isnull=False, source="")
                | (Q(scoring_round__isnull=True, run__isnull=True) & ~Q(source="")),
                name="sheet_has_one_origin",
            ),
            models.CheckConstraint(
                condition=Q(total__isnull=True) | Q(total__gte=0, total__lte=F("maximum")),
                name="sheet_total_range",
            ),
            models.CheckConstraint(
                condition=(Q(state="unscored", total__isnull=True) & ~Q(reason=""))
                | (~Q(state="unscored") & Q(reason="")),
                name="sheet_unscored_has_reason",
            ),
            models.CheckConstraint(
                condition=Q(total__isnull=True) | Q(state__in=("submitted", "void")),
                name="sheet_total_when_submitted",
            ),
        ]
        indexes = [
            models.Index(fields=["study", "rubric", "state", "rater"]),
            models.Index(fields=["scoring_round", "state", "id"]),
            models.Index(fields=["study", "-submitted_at"]),
        ]

    def __str__(self) -> str:
        return str(self.public_id)


class SheetEvent(models.Model):
    """One submission of a person's sheet; rows are only added, so a changed mind stays visible."""

    sheet = models.ForeignKey(ScoreSheet, models.CASCADE, related_name="events")
    # Given by the page, so that a request sent twice makes one event.
    client_key = models.CharField(max_length=64)
    points = models.JSONField(default=dict)
    unable = models.JSONField(default=dict)
    notes = models.JSONField(default=dict)
    comment = models.TextField(blank=True)
    total = models.FloatField(null=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["sheet", "client_key"], name="sheet_event_key_once")
        ]


class KeptDraft(models.Model):
    """A draft that met a newer one: kept, because nothing anybody typed is lost."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    sheet = models.ForeignKey(ScoreSheet, models.CASCADE, related_name="kept_drafts")
    base_version = models.PositiveIntegerField()
    content = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
