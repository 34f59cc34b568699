"""Preferences: pairs of answers to one question, and raters' verdicts on them."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from cqa_site.rounds.models import ConflictingDraft, Item, Round, Sheet, SheetEvent, Slot


class Pair(models.Model):
    """Two answers to one question; their order has no meaning."""

    study = models.ForeignKey("people.Study", models.CASCADE, related_name="pairs")
    question = models.ForeignKey("annotation.Question", models.PROTECT, related_name="pairs")
    first = models.ForeignKey(
        "annotation.Answer", models.PROTECT, related_name="pairs_as_first", db_index=False
    )
    second = models.ForeignKey("annotation.Answer", models.PROTECT, related_name="pairs_as_second")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["first", "second"], name="pair_once"),
            models.CheckConstraint(condition=Q(first__lt=F("second")), name="pair_in_order"),
        ]

    def __str__(self) -> str:
        return str(self.question)


class PreferenceRound(Round):
    """Pairs assigned to people; each pair is compared by ``raters`` people."""

    kind_name = "prefer"

    raters = models.PositiveSmallIntegerField(
        _("people per pair"), default=2, validators=[MinValueValidator(1), MaxValueValidator(20)]
    )
    asks_reason = models.BooleanField(_("ask for an optional reason"), default=True)


class PreferenceItem(Item):
    """One pair in a round; ``key_points`` and ``known`` are {"verdict": …}."""

    round = models.ForeignKey(
        PreferenceRound, models.CASCADE, related_name="items", db_index=False
    )
    pair = models.ForeignKey(Pair, models.PROTECT, related_name="items")

    class Meta(Item.Meta):
        constraints = [
            *Item.Meta.constraints,
            models.UniqueConstraint(fields=["round", "pair"], name="preference_item_once"),
        ]


class PreferenceSlot(Slot):
    """One of the sheets required for a pair."""

    round = models.ForeignKey(PreferenceRound, models.CASCADE, related_name="slots")
    item = models.ForeignKey(PreferenceItem, models.CASCADE, related_name="slots", db_index=False)


class PreferenceSheet(Sheet):
    """One rater's verdict on one pair; the comment gives the reason.

    The verdict is about the pair's first and second answer, regardless of their sides. It comes
    from a round, or from a judge's run, which asks about each pair in both orders.
    """

    kind_name = "prefer"

    class Verdict(models.TextChoices):
        FIRST = "first", _("The first")
        SECOND = "second", _("The second")
        TIE = "tie", _("Equally good")
        BOTH_BAD = "both_bad", _("Both bad")

    study = models.ForeignKey(
        "people.Study", models.CASCADE, related_name="preference_sheets", db_index=False
    )
    pair = models.ForeignKey(Pair, models.PROTECT, related_name="sheets")
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="preference_sheets")
    round = models.ForeignKey(
        PreferenceRound, models.CASCADE, null=True, related_name="sheets", db_index=False
    )
    run = models.ForeignKey(
        "runs.Run", models.CASCADE, null=True, related_name="preference_sheets", db_index=False
    )
    call = models.OneToOneField(
        "runs.Call", models.CASCADE, null=True, related_name="preference_sheet"
    )
    fence = models.BigIntegerField(default=0)
    slot = models.OneToOneField(PreferenceSlot, models.PROTECT, null=True, related_name="sheet")
    # Whether the second answer was on the left.
    is_swapped = models.BooleanField()
    verdict = models.CharField(max_length=8, choices=Verdict, blank=True)
    # Reason why a judge's reply is unscored.
    reason = models.CharField(max_length=40, blank=True)

    class Meta(Sheet.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["round", "rater", "pair", "replicate"],
                name="preference_sheet_once_per_round",
            ),
            models.UniqueConstraint(
                fields=["run", "pair", "is_swapped"], name="preference_sheet_once_per_run"
            ),
            models.CheckConstraint(
                condition=Q(round__isnull=False, run__isnull=True)
                | Q(round__isnull=True, run__isnull=False),
                name="preference_sheet_has_one_origin",
            ),
            models.CheckConstraint(
                condition=(Q(state="unscored", verdict="") & ~Q(reason=""))
                | (~Q(state="unscored") & Q(reason="")),
                name="preference_sheet_unscored_has_reason",
            ),
            models.CheckConstraint(
                condition=~Q(state="submitted") | ~Q(verdict=""),
                name="preference_sheet_verdict_when_submitted",
            ),
        ]
        indexes = [
            models.Index(fields=["study", "state", "rater"]),
            models.Index(fields=["round", "state", "id"]),
        ]


class PreferenceEvent(SheetEvent):
    """One submission of a sheet."""

    sheet = models.ForeignKey(PreferenceSheet, models.CASCADE, related_name="events")


class ConflictingPreference(ConflictingDraft):
    """A draft of a sheet that conflicted with a newer one."""

    sheet = models.ForeignKey(PreferenceSheet, models.CASCADE, related_name="conflicts")
