"""People's judgements of summary sets: marks, and the counts that follow from them."""

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from cqa_site.rounds.models import ConflictingDraft, Item, Round, Sheet, SheetEvent, Slot
from ..keypoints.models import SummarySet


class CountingRound(Round):
    """A round of summary sets for people to count; each set goes to ``raters`` people."""

    kind_name = "count"

    raters = models.PositiveSmallIntegerField(
        _("people per set"), default=3, validators=[MinValueValidator(1), MaxValueValidator(20)]
    )


class CountingItem(Item):
    """One set of a round."""

    round = models.ForeignKey(CountingRound, models.CASCADE, related_name="items", db_index=False)
    summary_set = models.ForeignKey(SummarySet, models.PROTECT, related_name="counting_items")

    class Meta(Item.Meta):
        constraints = [
            *Item.Meta.constraints,
            models.UniqueConstraint(fields=["round", "summary_set"], name="counting_item_once"),
        ]


class CountingSlot(Slot):
    """One of the sheets requested for a set."""

    round = models.ForeignKey(CountingRound, models.CASCADE, related_name="slots")
    item = models.ForeignKey(CountingItem, models.CASCADE, related_name="slots", db_index=False)


class CountSheet(Sheet):
    """One rater's judgement of one set.

    ``marks`` has the form ``{"references": {"0": {"level": "full" | "part" | "none" | "", "by":
    [0, 2]}, …}, "groups": [[0, 3], [1], …], "partly": [2, …], "empty": [4, …]}`` with positions of
    references and summaries. ``partly`` lists summaries whose group partly repeats another group,
    and ``empty`` lists summaries that say nothing. Counts are typed, or computed from the marks by
    the server (`argsum.counting.methods.counts`). A count of None with ``…_unsure`` means that the
    rater was unsure (-1 in files); no statistic includes it.
    """

    kind_name = "count"

    study = models.ForeignKey(
        "people.Study", models.CASCADE, related_name="count_sheets", db_index=False
    )
    summary_set = models.ForeignKey(SummarySet, models.PROTECT, related_name="count_sheets")
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="count_sheets")
    # Origin of the sheet: a round, or a position in a file.
    round = models.ForeignKey(
        CountingRound, models.CASCADE, null=True, related_name="sheets", db_index=False
    )
    slot = models.OneToOneField(CountingSlot, models.PROTECT, null=True, related_name="sheet")
    marks = models.JSONField(default=dict)
    covered = models.FloatField(null=True)
    covered_is_typed = models.BooleanField(default=False)
    covered_is_unsure = models.BooleanField(default=False)
    unique = models.FloatField(null=True)
    unique_is_typed = models.BooleanField(default=False)
    unique_is_unsure = models.BooleanField(default=False)
    # Sizes of the set when the sheet was created, so that database constraints can check the
    # counts.
    references = models.PositiveSmallIntegerField()
    summaries = models.PositiveSmallIntegerField()
    # Shares, 0–1; an imported sheet may have shares but no counts.
    coverage = models.FloatField(null=True)
    redundancy = models.FloatField(null=True)

    class Meta(Sheet.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["round", "rater", "summary_set", "replicate"],
                name="count_sheet_once_per_round",
            ),
            models.UniqueConstraint(
                fields=["study", "source", "position", "rater"],
                condition=~Q(source=""),
                name="count_sheet_imported_once",
            ),
            models.CheckConstraint(
                condition=Q(round__isnull=False, source="")
                | (Q(round__isnull=True) & ~Q(source="")),
                name="count_sheet_has_one_origin",
            ),
            models.CheckConstraint(
                condition=Q(covered__isnull=True)
                | Q(covered__gte=0, covered__lte=F("references")),
                name="count_sheet_covered_range",
            ),
            models.CheckConstraint(
                condition=Q(unique__isnull=True) | Q(unique__gte=0, unique__lte=F("summaries")),
                name="count_sheet_unique_range",
            ),
            models.CheckConstraint(
                condition=Q(coverage__isnull=True) | Q(coverage__gte=0, coverage__lte=1),
                name="count_sheet_coverage_range",
            ),
            models.CheckConstraint(
                condition=Q(redundancy__isnull=True) | Q(redundancy__gte=0, redundancy__lte=1),
                name="count_sheet_redundancy_range",
            ),
        ]
        indexes = [
            models.Index(fields=["study", "state", "rater"]),
            models.Index(fields=["round", "state", "id"]),
        ]


class CountEvent(SheetEvent):
    """One submission of a person's sheet."""

    sheet = models.ForeignKey(CountSheet, models.CASCADE, related_name="events")


class ConflictingCount(ConflictingDraft):
    """A draft of a count sheet that conflicted with a newer one."""

    sheet = models.ForeignKey(CountSheet, models.CASCADE, related_name="conflicts")
