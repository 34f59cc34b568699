"""Audits of an analysis: pairs of a comment and a key point, with people's answers."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from cqa_site.rounds.models import ConflictingDraft, Item, Round, Sheet, SheetEvent, Slot
from ..analysis.methods.audit import BEHIND, ELSEWHERE, PERHAPS
from ..analysis.models import Analysis, FoundPoint
from ..datasets.models import CellArgument, Comment


class AuditRound(Round):
    """Pairs drawn from one state of an analysis. Two people answer a share of them.

    ``frame`` is the sampling frame: ``{"state": …, "comments": n, "own": [key point, …],
    "points": {key point: [assigned comments, possible comments, text]}}``, with key points by
    primary key. ``own`` are key points with separate strata; all others are drawn together.
    """

    kind_name = "audit"

    analysis = models.ForeignKey(Analysis, models.PROTECT, related_name="audit_rounds")
    double_share = models.FloatField(
        _("share answered by two people"),
        default=0.2,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
    )
    frame = models.JSONField(default=dict)


class AuditPair(models.Model):
    """A comment and a key point as they were when drawn. Raters do not see the band.

    ``argument`` is the statement that the page marks, or None if the comment has no statements.
    Without comments, the statement is the whole text. ``text`` is the text of the key point at the
    time of the draw, to which the answer refers.
    """

    class Band(models.TextChoices):
        """Band in which the machine placed the pair."""

        BEHIND = BEHIND, _("Behind it")
        PERHAPS = PERHAPS, _("Perhaps")
        ELSEWHERE = ELSEWHERE, _("Elsewhere")

    round = models.ForeignKey(AuditRound, models.CASCADE, related_name="pairs")
    point = models.ForeignKey(FoundPoint, models.PROTECT, related_name="audit_pairs")
    comment = models.ForeignKey(Comment, models.PROTECT, null=True, related_name="audit_pairs")
    argument = models.ForeignKey(
        CellArgument, models.PROTECT, null=True, related_name="audit_pairs"
    )
    text = models.TextField()
    band = models.CharField(max_length=9, choices=Band)

    def __str__(self) -> str:
        return self.text[:80]


# Pairs that were drawn at random, answered or not.
DRAWN = Q(items__known__isnull=True, items__key_points__isnull=True)


class AuditItem(Item):
    """One pair of a round, with its probability of being drawn from its stratum."""

    round = models.ForeignKey(AuditRound, models.CASCADE, related_name="items", db_index=False)
    pair = models.ForeignKey(AuditPair, models.CASCADE, related_name="items")

    class Meta(Item.Meta):
        constraints = [
            *Item.Meta.constraints,
            models.UniqueConstraint(fields=["round", "pair"], name="audit_item_once"),
        ]


class AuditSlot(Slot):
    """One of the answers that a pair needs."""

    round = models.ForeignKey(AuditRound, models.CASCADE, related_name="slots")
    item = models.ForeignKey(AuditItem, models.CASCADE, related_name="slots", db_index=False)


class AuditSheet(Sheet):
    """One person's answer about one pair."""

    kind_name = "audit"

    class Answer(models.TextChoices):
        """Whether the comment makes the point."""

        MAKES = "makes", _("Makes this point")
        PARTLY = "partly", _("Partly")
        NOT = "not", _("Does not")
        OPPOSITE = "opposite", _("Says the opposite")

    study = models.ForeignKey(
        "people.Study", models.CASCADE, related_name="audit_sheets", db_index=False
    )
    pair = models.ForeignKey(AuditPair, models.PROTECT, related_name="sheets")
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="audit_sheets")
    round = models.ForeignKey(
        AuditRound, models.CASCADE, null=True, related_name="sheets", db_index=False
    )
    slot = models.OneToOneField(AuditSlot, models.PROTECT, null=True, related_name="sheet")
    answer = models.CharField(max_length=8, choices=Answer, blank=True)

    class Meta(Sheet.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["round", "rater", "pair", "replicate"], name="audit_sheet_once_per_round"
            ),
            models.CheckConstraint(
                condition=~Q(state="submitted") | ~Q(answer=""),
                name="audit_sheet_answer_when_submitted",
            ),
        ]
        indexes = [
            models.Index(fields=["study", "state", "rater"]),
            models.Index(fields=["round", "state", "id"]),
        ]


class AuditSubmission(SheetEvent):
    """One submission of a sheet."""

    sheet = models.ForeignKey(AuditSheet, models.CASCADE, related_name="events")


class ConflictingAudit(ConflictingDraft):
    """A draft of a sheet that conflicted with a newer one."""

    sheet = models.ForeignKey(AuditSheet, models.CASCADE, related_name="conflicts")
