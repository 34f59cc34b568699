"""Label rounds with guidelines, items and slots, and the votes of raters."""

import uuid
from typing import ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from cqa_site.people.models import Study
from cqa_site.rounds.models import Round


class ScaleNotValid(Exception):
    """The levels do not form an ordinal scale of one-digit labels."""


def check_levels(levels: list[dict]) -> None:
    """Check that there are two to ten named levels with ascending one-digit values."""
    values = [level["value"] for level in levels]
    if not 2 <= len(values) <= 10:
        raise ScaleNotValid(_("A scale has between two and ten levels."))
    if any(not isinstance(value, int) or not 0 <= value <= 9 for value in values):
        raise ScaleNotValid(_("Every label is one digit, because one key sets it."))
    if values != sorted(set(values)):
        raise ScaleNotValid(_("Labels must differ and be in ascending order."))
    if any(not level["name"].strip() for level in levels):
        raise ScaleNotValid(_("Every level needs a name."))


class Guideline(models.Model):
    """One version of the instructions and the label scale; frozen when a round opens."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="guidelines")
    number = models.PositiveIntegerField()
    title = models.CharField(_("title"), max_length=120)
    body = models.TextField(_("text"), help_text=_("Markdown."))
    # [{"value": 0, "name": "…", "meaning": "…", "example": "…"}], values ascending, 0–9
    levels = models.JSONField()
    frozen_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="guideline_number_once")
        ]

    def __str__(self) -> str:
        return f"{self.title} (v{self.number})"

    @property
    def values(self) -> list[int]:
        """Labels of the scale, in ascending order."""
        return [level["value"] for level in self.levels]

    @property
    def level_names(self) -> dict[int, str]:
        """Name of each label of the scale."""
        return {level["value"]: level["name"] for level in self.levels}


class LabelRound(Round):
    """One label round, run here or imported."""

    kind_name = "label"
    # Defaults that differ from those of other kinds of rounds.
    USUAL: ClassVar[dict[str, int]] = {"lease_minutes": 10, "seed": 20240402}

    class Origin(models.TextChoices):
        LIVE = "live", _("Run here")
        IMPORTED = "imported", _("Imported")

    class LowAccuracy(models.TextChoices):
        """Action when control accuracy is shown to be below the threshold."""

        WARN = "warn", _("Show a warning to researchers")
        PAUSE = "pause", _("Stop serving items until a researcher decides")
        EXCLUDE = "exclude", _("Exclude the annotator's labels (reversible)")

    class OnFall(models.TextChoices):
        """Action when an annotator's control accuracy falls during the work."""

        WARN = "warn", _("Show a warning to researchers")
        RECHECK = "recheck", _("Ask the person to repeat the steps")
        PAUSE = "pause", _("Stop serving items until a researcher decides")

    class Aggregator(models.TextChoices):
        MAJORITY = "majority", _("Majority, higher label on a tie")
        DAWID_SKENE = "dawid_skene", _("Dawid–Skene")
        MACE = "mace", _("MACE")

    origin = models.CharField(max_length=8, choices=Origin, default=Origin.LIVE)
    guideline = models.ForeignKey(Guideline, models.PROTECT, related_name="rounds")
    votes_per_item = models.PositiveSmallIntegerField(
        _("votes per item"), default=3, validators=[MinValueValidator(1), MaxValueValidator(60)]
    )
    block_size = models.PositiveSmallIntegerField(
        _("items per block"), default=5, validators=[MinValueValidator(2), MaxValueValidator(50)]
    )
    controls_per_block = models.PositiveSmallIntegerField(
        _("control items per block"), default=1, validators=[MaxValueValidator(10)]
    )
    min_control_accuracy = models.FloatField(
        _("minimum control accuracy"),
        default=0.5,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
    )
    low_accuracy = models.CharField(
        _("action below the minimum"), max_length=8, choices=LowAccuracy, default=LowAccuracy.WARN
    )
    # The drop in accuracy that the control charts of annotators are tuned to detect.
    usual_accuracy = models.FloatField(_("usual control accuracy"), default=0.92)
    fallen_accuracy = models.FloatField(_("control accuracy after a fall"), default=0.78)
    on_fall = models.CharField(
        _("action on a fall"), max_length=8, choices=OnFall, default=OnFall.WARN
    )
    share_cap = models.FloatField(
        _("maximum share of items per annotator"),
        default=1.0,
        validators=[MinValueValidator(0.001), MaxValueValidator(1)],
    )
    expected_seconds = models.PositiveSmallIntegerField(_("expected seconds per item"), default=20)
    # Determines the order of slots when the round opens; annotators cannot see it.
    orders_by_uncertainty = models.BooleanField(
        _("start with items the trained judge is least sure of"), default=False
    )
    aggregator = models.CharField(max_length=12, choices=Aggregator, default=Aggregator.MAJORITY)
    # Labels from these rounds overrule the majority (such as expert batches for a crowd round).
    overridden_by = models.ManyToManyField("self", symmetrical=False, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(controls_per_block__lt=models.F("block_size")),
                name="label_round_block_holds_ordinary_items",
            ),
            models.CheckConstraint(
                condition=Q(
                    fallen_accuracy__gt=0,
                    fallen_accuracy__lt=models.F("usual_accuracy"),
                    usual_accuracy__lt=1,
                ),
                name="label_round_accuracy_falls",
            ),
        ]

    @property
    def is_live(self) -> bool:
        """Whether votes are collected here."""
        return self.origin == self.Origin.LIVE


def label_rounds_of(study: Study) -> QuerySet[LabelRound]:
    """Return a study's label rounds, newest first, with ``study`` loaded."""
    return LabelRound.objects.filter(study=study).select_related("study")


class GuidelineUse(models.Model):
    """Time from which a round with corrected wording used a guideline version."""

    label_round = models.ForeignKey(LabelRound, models.CASCADE, related_name="guideline_uses")
    guideline = models.ForeignKey(Guideline, models.PROTECT, related_name="+")
    since = models.DateTimeField()

    class Meta:
        ordering = ["pk"]


class Item(models.Model):
    """One argument in a round; an item with a control label is a control item.

    Released data contains some sentences under several task ids, so several items may refer to one
    argument. Final labels pool their votes.
    """

    round = models.ForeignKey(LabelRound, models.CASCADE, related_name="items")
    argument = models.ForeignKey("annotation.Argument", models.PROTECT, related_name="items")
    external_id = models.CharField(max_length=200)
    rank = models.PositiveIntegerField(default=0)
    control_label = models.PositiveSmallIntegerField(null=True)
    imported_control_label = models.PositiveSmallIntegerField(null=True, editable=False)
    # No longer served; its labels are left out everywhere.
    is_retired = models.BooleanField(_("retired"), default=False)

    # Filter for ordinary items that are still served.
    ORDINARY = Q(control_label__isnull=True, is_retired=False)

    class Meta:
        ordering = ["rank", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["round", "external_id"], name="item_once"),
            models.CheckConstraint(
                condition=Q(control_label__isnull=True) | Q(control_label__lte=9),
                name="item_control_label_range",
            ),
        ]
        indexes = [
            models.Index(fields=["round", "rank"]),
            models.Index(
                fields=["round"], condition=Q(control_label__isnull=False), name="item_controls"
            ),
        ]

    @property
    def is_control(self) -> bool:
        """Whether the item has a known label, which is never shown to annotators."""
        return self.control_label is not None


class Slot(models.Model):
    """One requested vote on an ordinary item; created when the round opens.

    The number of counted votes cannot exceed the number of slots, because each counted vote has
    exactly one slot (see Assignment).
    """

    class State(models.TextChoices):
        """open → leased → done; an expired lease counts as open."""

        OPEN = "open", _("Open")
        LEASED = "leased", _("Leased")
        DONE = "done", _("Done")

    round = models.ForeignKey(LabelRound, models.CASCADE, related_name="slots")
    item = models.ForeignKey(Item, models.CASCADE, related_name="slots")
    number = models.PositiveSmallIntegerField()
    order = models.PositiveIntegerField()
    state = models.CharField(max_length=6, choices=State, default=State.OPEN)
    lease_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "number"], name="slot_once"),
            models.CheckConstraint(
                condition=Q(state="leased", lease_until__isnull=False)
                | (~Q(state="leased") & Q(lease_until__isnull=True)),
                name="slot_lease_only_while_leased",
            ),
        ]
        # Not partial: SQLite cannot use a partial index when the state is a bound parameter.
        indexes = [models.Index(fields=["round", "state", "order"])]


class Exclusion(models.Model):
    """Joint exclusion of all raters below a control accuracy; the row is kept after an undo."""

    class Rule(models.TextChoices):
        ACCURACY = "accuracy", _("The accuracy itself (the paper's rule)")
        SURELY = "surely", _("The whole 95 % interval of the accuracy")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    label_round = models.ForeignKey(LabelRound, models.CASCADE, related_name="exclusions")
    below = models.FloatField(validators=[MinValueValidator(0), MaxValueValidator(1)])
    rule = models.CharField(max_length=8, choices=Rule, default=Rule.ACCURACY)
    reason = models.CharField(max_length=300)
    # Raters excluded by this action, without a later decision.
    places = models.ManyToManyField("rounds.Place", related_name="exclusions")
    made_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    made_at = models.DateTimeField(auto_now_add=True)
    undone_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]


class Assignment(models.Model):
    """One item served to one rater, and the rater's answer: a label or a skip.

    In a live round, a counted vote has a slot. A late vote whose slot was reassigned is not
    rejected but kept as an extra (``is_extra``).
    """

    class State(models.TextChoices):
        """served → answered | skipped; expired can still be answered; void never counts."""

        SERVED = "served", _("Served")
        ANSWERED = "answered", _("Answered")
        SKIPPED = "skipped", _("Skipped")
        EXPIRED = "expired", _("Reservation ran out")
        VOID = "void", _("Not submitted")

    class SkipReason(models.TextChoices):
        UNCLEAR = "unclear", _("I do not understand the sentence")
        BROKEN = "broken", _("The sentence is broken or empty")
        UNKNOWN = "unknown", _("I do not know the objects")
        OFFENSIVE = "offensive", _("The sentence is offensive")
        OTHER = "other", _("Another reason")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    round = models.ForeignKey("annotation.LabelRound", models.CASCADE, related_name="assignments")
    item = models.ForeignKey("annotation.Item", models.PROTECT, related_name="assignments")
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="assignments")
    slot = models.OneToOneField("annotation.Slot", models.PROTECT, null=True)
    state = models.CharField(max_length=8, choices=State, default=State.SERVED)
    block = models.PositiveIntegerField(default=0)
    position = models.PositiveSmallIntegerField(default=0)
    label = models.PositiveSmallIntegerField(null=True)
    is_extra = models.BooleanField(default=False)
    skip_reason = models.CharField(max_length=10, choices=SkipReason, blank=True)
    comment = models.CharField(max_length=1_000, blank=True)
    is_flagged = models.BooleanField(default=False)
    external_id = models.CharField(max_length=200, blank=True)
    served_at = models.DateTimeField(null=True)
    shown_at = models.DateTimeField(null=True)
    answered_at = models.DateTimeField(null=True)
    # As reported by the browser (visible and in use), limited by the server.
    active_ms = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["item", "rater"], condition=~Q(state="void"), name="vote_once_per_rater"
            ),
            models.UniqueConstraint(
                fields=["round", "external_id"],
                condition=~Q(external_id=""),
                name="vote_external_once",
            ),
            models.CheckConstraint(
                condition=Q(state="answered", label__isnull=False)
                | (~Q(state="answered") & Q(label__isnull=True)),
                name="vote_label_when_answered",
            ),
            models.CheckConstraint(
                condition=Q(label__isnull=True) | Q(label__lte=9), name="vote_label_range"
            ),
        ]
        indexes = [
            models.Index(fields=["rater", "round", "state", "block", "position"]),
            models.Index(fields=["round", "state", "id"]),
            models.Index(fields=["round", "-answered_at"]),
        ]


class VoteEvent(models.Model):
    """One event of an assignment; rows are only added, so changes stay visible."""

    class Kind(models.TextChoices):
        ANSWER = "answer", _("Labelled")
        CHANGE = "change", _("Changed")
        SKIP = "skip", _("Skipped")
        FLAG = "flag", _("Flagged")

    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="events")
    client_key = models.CharField(max_length=64)
    kind = models.CharField(max_length=6, choices=Kind)
    label = models.PositiveSmallIntegerField(null=True)
    skip_reason = models.CharField(max_length=10, blank=True)
    comment = models.CharField(max_length=1_000, blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "client_key"], name="event_key_once")
        ]
