"""Score sheets: one rater's points for one answer, whoever or whatever the rater is."""

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from benchmark.rubrics.models import RubricVersion
from cqa_site.rounds import models as rounds

from .rounds import ScoringRound, ScoringSlot


class ScoreSheet(rounds.Sheet):
    """Points of one rater for one answer by one version of a rubric.

    The sheet comes from a scoring round, a judge's run or an imported file, never from two of
    them. ``points`` holds criteria with points only; a criterion that the rater could not judge
    stands in ``unable`` with its reason and is no 0. The total is computed by the server and is
    there only if every criterion has points.
    """

    kind_name = "score"

    class Unable(models.TextChoices):
        """Why a person could not judge a criterion."""

        UNCLEAR = "unclear", _("The criterion is unclear here")
        KNOWLEDGE = "knowledge", _("I lack the knowledge")
        BROKEN = "broken", _("The answer is cut or broken")
        OTHER = "other", _("Another reason (see the note)")

    study = models.ForeignKey(
        "people.Study", models.CASCADE, related_name="score_sheets", db_index=False
    )
    answer = models.ForeignKey("annotation.Answer", models.PROTECT, related_name="score_sheets")
    rubric = models.ForeignKey(
        RubricVersion, models.PROTECT, related_name="sheets", db_index=False
    )
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="score_sheets")
    # Where it comes from: exactly one of round, run, and file name with position.
    round = models.ForeignKey(
        ScoringRound, models.CASCADE, null=True, related_name="sheets", db_index=False
    )
    run = models.ForeignKey(
        "runs.Run", models.CASCADE, null=True, related_name="score_sheets", db_index=False
    )
    # The call that the sheet was read from; None where several calls made it (see JudgementPart).
    call = models.ForeignKey("runs.Call", models.CASCADE, null=True, related_name="score_sheets")
    fence = models.BigIntegerField(default=0)
    points = models.JSONField(default=dict)
    # {criterion: code of `Unable`, or the reason a judge's reply gave no points for it}
    unable = models.JSONField(default=dict)
    # {criterion: text}: a person's notes, or a judge's reasons.
    notes = models.JSONField(default=dict)
    # Criteria whose imported points the rubric does not have; they stay as they were.
    off_scale = models.JSONField(default=list)
    # {criterion: points} of an unscored reply that named all criteria, some off the scale:
    # evidence, and what the paper's recipe takes; no points.
    given = models.JSONField(default=dict)
    # Half points of several people who agreed on one sheet; only from files.
    is_consolidated = models.BooleanField(default=False)
    total = models.FloatField(null=True)
    # Of the rubric, so that the database itself can guard the total.
    maximum = models.PositiveSmallIntegerField()
    # Why a judge's reply is unscored; one of `benchmark.judges.methods.judgement_keys.Reading`.
    reason = models.CharField(max_length=40, blank=True)
    slot = models.OneToOneField(ScoringSlot, models.PROTECT, null=True, related_name="sheet")

    class Meta(rounds.Sheet.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["round", "rater", "answer", "replicate"],
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
                condition=Q(round__isnull=False, run__isnull=True, source="")
                | Q(round__isnull=True, run__isnull=False, source="")
                | (Q(round__isnull=True, run__isnull=True) & ~Q(source="")),
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
            models.Index(fields=["round", "state", "id"]),
            models.Index(fields=["study", "-submitted_at"]),
        ]


class ScoreEvent(rounds.SheetEvent):
    """One submission of a person's sheet, or what a file said."""

    sheet = models.ForeignKey(ScoreSheet, models.CASCADE, related_name="events")


class KeptScore(rounds.KeptDraft):
    """A draft of a score sheet that met a newer one."""

    sheet = models.ForeignKey(ScoreSheet, models.CASCADE, related_name="kept")
