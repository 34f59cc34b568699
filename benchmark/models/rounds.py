"""Scoring rounds: which answers get how many sheets, from whom, by which rubric."""

import uuid

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from .rubrics import RubricVersion


class ScoringRound(models.Model):
    """Answers given to people for scoring; some of them to several people."""

    class State(models.TextChoices):
        """draft → open ⇄ closed."""

        DRAFT = "draft", _("Draft")
        OPEN = "open", _("Open")
        CLOSED = "closed", _("Closed")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="scoring_rounds")
    name = models.CharField(_("name"), max_length=120)
    state = models.CharField(max_length=6, choices=State, default=State.DRAFT)
    rubric = models.ForeignKey(RubricVersion, models.PROTECT, related_name="rounds")
    instructions = models.TextField(_("instructions"), blank=True)
    seed = models.PositiveIntegerField(_("seed"), default=1)
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
    repeat_share = models.FloatField(
        _("share of own answers that come a second time"),
        default=0.0,
        validators=[MinValueValidator(0), MaxValueValidator(0.5)],
    )
    shows_hints = models.BooleanField(_("show what code can count"), default=True)
    # Share of the criteria of the examples that must agree with their key; 0 asks for no
    # qualification.
    pass_mark = models.FloatField(
        _("pass mark of the qualification"),
        default=0.7,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
    )
    lease_minutes = models.PositiveSmallIntegerField(
        _("minutes an answer stays reserved"),
        default=120,
        validators=[MinValueValidator(5), MaxValueValidator(1440)],
    )
    # What the answers were chosen by, and how many matched.
    recipe = models.JSONField(default=dict)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["study", "name"], name="scoring_round_name_once")
        ]

    def __str__(self) -> str:
        return self.name


class ScoringItem(models.Model):
    """One answer of a round; with a key it is an example of the qualification."""

    scoring_round = models.ForeignKey(
        ScoringRound, models.CASCADE, related_name="items", db_index=False
    )
    answer = models.ForeignKey("annotation.Answer", models.PROTECT, related_name="scoring_items")
    position = models.PositiveIntegerField()
    # With what probability it was drawn, where it was drawn at random.
    probability = models.FloatField(null=True)
    # {criterion: points} and {criterion: why}; only of examples.
    key_points = models.JSONField(null=True)
    key_notes = models.JSONField(default=dict)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["scoring_round", "answer"], name="scoring_item_once"),
            models.UniqueConstraint(
                fields=["scoring_round", "position"], name="scoring_item_position_once"
            ),
            models.CheckConstraint(
                condition=Q(probability__isnull=True) | Q(probability__gt=0, probability__lte=1),
                name="scoring_item_probability_range",
            ),
        ]

    @property
    def is_example(self) -> bool:
        """Whether it belongs to the qualification."""
        return self.key_points is not None


class ScoringSlot(models.Model):
    """One of the sheets an answer asks for; made when the round opens.

    The number of counted sheets cannot exceed the number of slots, because a counted sheet of a
    round holds exactly one (see ScoreSheet).
    """

    class State(models.TextChoices):
        """open → leased → done; a lease that ran out counts as open."""

        OPEN = "open", _("Open")
        LEASED = "leased", _("Leased")
        DONE = "done", _("Done")

    scoring_round = models.ForeignKey(ScoringRound, models.CASCADE, related_name="slots")
    item = models.ForeignKey(ScoringItem, models.CASCADE, related_name="slots", db_index=False)
    number = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=6, choices=State, default=State.OPEN)
    lease_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "number"], name="scoring_slot_once"),
            models.CheckConstraint(
                condition=Q(state="leased", lease_until__isnull=False)
                | (~Q(state="leased") & Q(lease_until__isnull=True)),
                name="scoring_slot_lease_while_leased",
            ),
        ]
        indexes = [models.Index(fields=["scoring_round", "state", "item"])]


class Qualification(models.Model):
    """How one rater stands in a round: qualified, excluded, and how many sheets were served."""

    scoring_round = models.ForeignKey(
        ScoringRound, models.CASCADE, related_name="qualifications", db_index=False
    )
    rater = models.ForeignKey("annotation.Rater", models.CASCADE, related_name="qualifications")
    # Share of the examples' criteria that agreed with the key; None before the last example.
    score = models.FloatField(null=True)
    is_passed = models.BooleanField(default=False)
    # A researcher let somebody in, or kept somebody out, whatever the score says.
    is_decided_by_person = models.BooleanField(default=False)
    excluded_at = models.DateTimeField(null=True)
    exclusion_reason = models.CharField(max_length=300, blank=True)
    served = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["scoring_round", "rater"], name="qualification_once")
        ]
