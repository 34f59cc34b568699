"""Scoring rounds: which answers get how many sheets, from whom, by which rubric."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from benchmark.rubrics.models import RubricVersion
from cqa_site.rounds.models import Item, Round, Slot


class ScoringRound(Round):
    """Answers given to people for scoring; some of them to several people."""

    kind_name = "score"

    rubric = models.ForeignKey(RubricVersion, models.PROTECT, related_name="rounds")
    overlap_share = models.FloatField(
        _("share of answers that several people score"),
        default=0.2,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
    )
    overlap_raters = models.PositiveSmallIntegerField(
        _("people who score each of these"),
        default=2,
        validators=[MinValueValidator(2), MaxValueValidator(20)],
    )
    shows_hints = models.BooleanField(_("show what code can count"), default=True)
    shows_arguments = models.BooleanField(_("show cited arguments"), default=True)


class ScoringItem(Item):
    """One answer of a round; ``key_points`` is {criterion: points}, ``key_notes`` says why."""

    round = models.ForeignKey(ScoringRound, models.CASCADE, related_name="items", db_index=False)
    answer = models.ForeignKey("annotation.Answer", models.PROTECT, related_name="scoring_items")

    class Meta(Item.Meta):
        constraints = [
            *Item.Meta.constraints,
            models.UniqueConstraint(fields=["round", "answer"], name="scoring_item_once"),
        ]


class ScoringSlot(Slot):
    """One of the sheets an answer asks for."""

    round = models.ForeignKey(ScoringRound, models.CASCADE, related_name="slots")
    item = models.ForeignKey(ScoringItem, models.CASCADE, related_name="slots", db_index=False)
