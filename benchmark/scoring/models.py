"""Tables of scoring: rounds, score sheets, judge runs and probes."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from benchmark.rubrics.models import RubricVersion
from cqa_site.rounds import models as rounds
from cqa_site.rounds.models import Item, Round, Slot


class ScoringRound(Round):
    """Answers assigned to people for scoring; some of them go to several people."""

    kind_name = "score"

    rubric = models.ForeignKey(RubricVersion, models.PROTECT, related_name="rounds")
    overlap_share = models.FloatField(
        _("share of answers scored by several people"),
        default=0.2,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
    )
    overlap_raters = models.PositiveSmallIntegerField(
        _("people per shared answer"),
        default=2,
        validators=[MinValueValidator(2), MaxValueValidator(20)],
    )
    shows_hints = models.BooleanField(_("show automatic counts"), default=True)
    shows_arguments = models.BooleanField(_("show cited arguments"), default=True)


class ScoringItem(Item):
    """One answer in a round; ``key_points`` is {criterion: points}; ``key_notes`` has reasons."""

    round = models.ForeignKey(ScoringRound, models.CASCADE, related_name="items", db_index=False)
    answer = models.ForeignKey("annotation.Answer", models.PROTECT, related_name="scoring_items")

    class Meta(Item.Meta):
        constraints = [
            *Item.Meta.constraints,
            models.UniqueConstraint(fields=["round", "answer"], name="scoring_item_once"),
        ]


class ScoringSlot(Slot):
    """One of the sheets required for an answer."""

    round = models.ForeignKey(ScoringRound, models.CASCADE, related_name="slots")
    item = models.ForeignKey(ScoringItem, models.CASCADE, related_name="slots", db_index=False)


class ScoreSheet(rounds.Sheet):
    """Points that one rater gave to one answer under one rubric version.

    The sheet comes from exactly one source: a scoring round, a judge's run or an imported file.
    ``points`` contains only criteria with points; a criterion that the rater could not judge is in
    ``unable`` with its reason and does not count as 0. The server computes the total only if every
    criterion has points.
    """

    kind_name = "score"

    class Unable(models.TextChoices):
        """Reason why a person could not judge a criterion."""

        UNCLEAR = "unclear", _("The criterion is unclear here")
        KNOWLEDGE = "knowledge", _("I lack the knowledge")
        BROKEN = "broken", _("The answer is truncated or broken")
        OTHER = "other", _("Another reason (see the note)")

    study = models.ForeignKey(
        "people.Study", models.CASCADE, related_name="score_sheets", db_index=False
    )
    answer = models.ForeignKey("annotation.Answer", models.PROTECT, related_name="score_sheets")
    rubric = models.ForeignKey(
        RubricVersion, models.PROTECT, related_name="sheets", db_index=False
    )
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="score_sheets")
    # Source of the sheet: exactly one of round, run, and file name with position.
    round = models.ForeignKey(
        ScoringRound, models.CASCADE, null=True, related_name="sheets", db_index=False
    )
    run = models.ForeignKey(
        "runs.Run", models.CASCADE, null=True, related_name="score_sheets", db_index=False
    )
    # The call that the sheet was read from; None if there were several (see JudgementPart).
    call = models.ForeignKey("runs.Call", models.CASCADE, null=True, related_name="score_sheets")
    fence = models.BigIntegerField(default=0)
    points = models.JSONField(default=dict)
    # {criterion: code of `Unable`, or the reason why a judge's reply gave no points for it}
    unable = models.JSONField(default=dict)
    # {criterion: text}: a person's notes, or a judge's reasons.
    notes = models.JSONField(default=dict)
    # Criteria with imported points outside the rubric's scale, which are stored unchanged.
    off_scale = models.JSONField(default=list)
    # {criterion: points} of an unscored reply that named all criteria, some outside the scale:
    # evidence, and input for the paper's recipe, but not valid points.
    given = models.JSONField(default=dict)
    # Whether half points are allowed, because several people agreed on the sheet; only from files.
    is_consolidated = models.BooleanField(default=False)
    total = models.FloatField(null=True)
    # Maximum of the rubric, so that the database itself can check the total.
    maximum = models.PositiveSmallIntegerField()
    # Reason why a judge's reply is unscored, from
    # `benchmark.judges.methods.judgements.JudgementState`.
    reason = models.CharField(max_length=40, blank=True)
    slot = models.OneToOneField(ScoringSlot, models.PROTECT, null=True, related_name="sheet")

    class Meta(rounds.Sheet.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["round", "rater", "answer", "replicate"], name="sheet_once_per_round"
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
    """One submission of a person's sheet, or the content of an imported sheet."""

    sheet = models.ForeignKey(ScoreSheet, models.CASCADE, related_name="events")


class ConflictingScore(rounds.ConflictingDraft):
    """A draft of a score sheet that conflicted with a newer one."""

    sheet = models.ForeignKey(ScoreSheet, models.CASCADE, related_name="conflicts")


class ScoringRun(models.Model):
    """Rubric, rater and canary results of a scoring run."""

    class Trust(models.TextChoices):
        PENDING = "pending", _("Not known yet")
        TRUSTED = "trusted", _("Resisted planted instructions")
        UNTRUSTED = "untrusted", _("Obeyed planted instructions")

    run = models.OneToOneField("runs.Run", models.CASCADE, related_name="scoring")
    rubric = models.ForeignKey(RubricVersion, models.PROTECT, related_name="runs")
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="scoring_runs")
    # Primary keys of the answers shown as examples with their points; this run never judges them.
    examples = models.JSONField(default=list)
    trust = models.CharField(max_length=9, choices=Trust, default=Trust.PENDING)

    def __str__(self) -> str:
        return str(self.run)


class JudgementPart(models.Model):
    """Judgement of one group of criteria in a group-by-group run; parts are joined into sheets."""

    run = models.ForeignKey(
        "runs.Run", models.CASCADE, related_name="judgement_parts", db_index=False
    )
    call = models.OneToOneField("runs.Call", models.CASCADE, related_name="judgement_part")
    answer = models.ForeignKey("annotation.Answer", models.CASCADE, related_name="+")
    group = models.CharField(max_length=80)
    replicate = models.PositiveSmallIntegerField(default=0)
    points = models.JSONField(default=dict)
    notes = models.JSONField(default=dict)
    reason = models.CharField(max_length=40, blank=True)
    fence = models.BigIntegerField(default=0)
    at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "answer", "replicate", "group"], name="judgement_part_once"
            )
        ]


class ProbeResult(models.Model):
    """A judge's reply to a text that tests the judge; it is left out of every mean."""

    class Probe(models.TextChoices):
        CANARY = "canary", _("Attack canary")
        SWAP = "swap", _("Swapped objects")

    run = models.ForeignKey("runs.Run", models.CASCADE, related_name="probe_results")
    call = models.OneToOneField("runs.Call", models.CASCADE, related_name="probe_result")
    answer = models.ForeignKey("annotation.Answer", models.CASCADE, related_name="+")
    probe = models.CharField(max_length=6, choices=Probe)
    # Kind of attack; empty for other probes.
    name = models.CharField(max_length=40, blank=True)
    replicate = models.PositiveSmallIntegerField(default=0)
    points = models.JSONField(default=dict)
    total = models.FloatField(null=True)
    reason = models.CharField(max_length=40, blank=True)
    # For canaries: whether the judge obeyed the text.
    obeyed = models.BooleanField(null=True)
    fence = models.BigIntegerField(default=0)
    at = models.DateTimeField(auto_now=True)
