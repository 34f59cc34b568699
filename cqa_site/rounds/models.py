"""Models of rounds, their items and sheets."""

import uuid
from typing import Any, ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from .crowd.models import (
    CrowdPayment,
    Participant,
    ParticipantLink,
    PlatformEvent,
    PlatformSubmission,
)
from .onboarding.models import (
    Onboarding,
    OnboardingVersion,
    Qualification,
    StepResult,
    SurveyResponse,
    TypedText,
)

# People at work: rounds and how raters stand in them; and what every kind's own tables hold.
#
# `Round` and `Place` are tables of all kinds: links, standing and pay point at them. Items, slots,
# sheets, events and kept drafts of a kind are tables of its own, made from the abstract classes
# here, because their constraints reach into what the kind stores (docs/decisions/0007-rounds.md).

__all__ = [
    "ConflictingDraft",
    "CrowdPayment",
    "Item",
    "Onboarding",
    "OnboardingVersion",
    "Participant",
    "ParticipantLink",
    "Place",
    "PlatformEvent",
    "PlatformSubmission",
    "Qualification",
    "Round",
    "Sheet",
    "SheetEvent",
    "Slot",
    "StepResult",
    "SurveyResponse",
    "TypedText",
]


class Round(models.Model):
    """Items given to people. A kind's subclass adds how they are drawn and shown."""

    class State(models.TextChoices):
        """States of a round: draft → open ⇄ closed. Labelling rounds can pause in between."""

        DRAFT = "draft", _("Draft")
        OPEN = "open", _("Open")
        PAUSED = "paused", _("Paused")
        CLOSED = "closed", _("Closed")

    kind_name: ClassVar[str] = ""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="rounds")
    kind = models.CharField(max_length=20, editable=False)
    name = models.CharField(_("name"), max_length=120)
    state = models.CharField(max_length=6, choices=State, default=State.DRAFT)
    instructions = models.TextField(_("instructions"), blank=True)
    seed = models.PositiveBigIntegerField(_("seed"), default=1)
    repeat_share = models.FloatField(
        _("share of blind repeats"),
        default=0.0,
        validators=[MinValueValidator(0), MaxValueValidator(0.5)],
    )
    # How far somebody must agree with the known answers of the examples; 0 asks for nothing.
    pass_mark = models.FloatField(
        _("pass mark of the qualification"),
        default=0.7,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
    )
    # Of the items that somebody of a crowd is asked for; None lets them skip all.
    skip_share = models.FloatField(_("maximum share of skipped items"), null=True)
    lease_minutes = models.PositiveSmallIntegerField(
        _("reservation time in minutes"),
        default=120,
        # What a kind's form takes is narrower.
        validators=[MinValueValidator(1), MaxValueValidator(1440)],
    )
    # The steps before work. Without any, the guideline can be shown before the first item.
    onboarding = models.ForeignKey(
        "rounds.OnboardingVersion", models.PROTECT, null=True, blank=True, related_name="rounds"
    )
    shows_guideline = models.BooleanField(_("show the guideline first"), default=False)
    # What is done about whose last answers: measure to window, threshold and action; see
    # `cqa_site.rounds.rules`.
    rules = models.JSONField(default=dict)
    # How far an answer to a control item may be from the known one; None as the kind has it.
    control_tolerance = models.FloatField(null=True, validators=[MinValueValidator(0)])
    # How many of the items are control items, so that serving asks nothing where none is.
    n_controls = models.PositiveIntegerField(default=0)
    # What the items were chosen by, and how many matched.
    recipe = models.JSONField(default=dict)
    created_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["study", "kind", "name"], name="round_name_once"),
            models.CheckConstraint(
                condition=~Q(state="paused") | Q(kind="label"), name="round_pauses_with_labels"
            ),
        ]
        indexes = [models.Index(fields=["study", "state"])]

    def __str__(self) -> str:
        return self.name

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store the kind of the round's class; a plain round keeps its stored kind."""
        self.kind = self.kind_name or self.kind
        super().save(*args, **kwargs)


class Place(models.Model):
    """A rater's standing in a round: qualification, exclusion, and number of sheets served."""

    round = models.ForeignKey(Round, models.CASCADE, related_name="places", db_index=False)
    rater = models.ForeignKey("people.Rater", models.CASCADE, related_name="places")
    # Share of the examples' known answers that were met; None before the last example.
    score = models.FloatField(null=True)
    is_passed = models.BooleanField(default=False)
    # A researcher let somebody in, or kept somebody out, whatever the score or a rule says.
    is_decided_by_person = models.BooleanField(default=False)
    # A rule serves nothing more until a researcher decides.
    is_stopped = models.BooleanField(default=False)
    # The rule of `Round.rules` that did; empty where the kind's own rule did.
    stopped_by = models.CharField(max_length=20, blank=True)
    # Answers before it trigger no rule: the last time that an action was taken back.
    rules_since = models.DateTimeField(null=True)
    excluded_at = models.DateTimeField(null=True)
    exclusion_reason = models.CharField(max_length=300, blank=True)
    # How many sheets; where work comes in blocks, how many of these.
    served = models.PositiveIntegerField(default=0)
    # Of blocks: how far the queue of slots was gone through.
    cursor = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(auto_now_add=True)
    # The version whose steps before work were passed, the time, and the expiry.
    prepared_at = models.DateTimeField(null=True)
    prepared_for = models.ForeignKey(
        "rounds.OnboardingVersion", models.SET_NULL, null=True, related_name="+"
    )
    prepared_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["round", "rater"], name="place_once")]

    @property
    def is_excluded(self) -> bool:
        """Whether every figure leaves out the rater's answers."""
        return self.excluded_at is not None

    @property
    def is_held_back(self) -> bool:
        """Whether the rater failed the practice and needs a researcher's decision to continue."""
        return self.score is not None and not self.is_passed


class Item(models.Model):
    """One item of a round.

    With ``key_points`` it is an example of the qualification, with ``known`` a hidden control
    item, which looks like any other.

    A kind adds ``round`` and the thing itself, and says its name in `SheetKind.subject`.
    """

    position = models.PositiveIntegerField()
    # With what probability it was drawn, where it was drawn at random.
    probability = models.FloatField(null=True)
    # Part of what was drawn last for the work, also while it is an example.
    is_drawn = models.BooleanField(default=True)
    # Only of examples: the known answer in the kind's own shape; why, by its parts, and the place
    # in the guideline.
    key_points = models.JSONField(null=True)
    key_notes = models.JSONField(default=dict)
    # The known answer of a control item, in the kind's own shape.
    known = models.JSONField(null=True)

    class Meta:
        abstract = True
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["round", "position"], name="%(class)s_position_once"),
            models.CheckConstraint(
                condition=Q(probability__isnull=True) | Q(probability__gt=0, probability__lte=1),
                name="%(class)s_probability_range",
            ),
        ]

    @property
    def is_example(self) -> bool:
        return self.key_points is not None

    @property
    def known_answer(self) -> Any:
        """The known answer of an example or a control item; None for other items."""
        return self.known if self.key_points is None else self.key_points


# Items without a known answer.
ORDINARY = Q(key_points__isnull=True, known__isnull=True)


class Slot(models.Model):
    """One of the sheets an item needs, created when the round opens.

    The number of counted sheets cannot exceed the number of slots, because a counted sheet of a
    round holds exactly one. A kind adds ``round`` and ``item``.
    """

    class State(models.TextChoices):
        """States of a slot: open → leased → done. An expired lease counts as open."""

        OPEN = "open", _("Open")
        LEASED = "leased", _("Leased")
        DONE = "done", _("Done")

    number = models.PositiveSmallIntegerField()
    state = models.CharField(max_length=6, choices=State, default=State.OPEN)
    lease_until = models.DateTimeField(null=True)

    class Meta:
        abstract = True
        constraints = [
            models.UniqueConstraint(fields=["item", "number"], name="%(class)s_once"),
            models.CheckConstraint(
                condition=Q(state="leased", lease_until__isnull=False)
                | (~Q(state="leased") & Q(lease_until__isnull=True)),
                name="%(class)s_lease_while_leased",
            ),
        ]
        indexes = [models.Index(fields=["round", "state", "item"])]


class Sheet(models.Model):
    """One rater's work on one item, or an answer from a file or a machine.

    A kind adds ``study``, ``rater``, ``round``, ``slot``, the item's subject, and the stored part
    of a submitted sheet. Unsubmitted content of the form is only in the draft.
    """

    class State(models.TextChoices):
        """States of a sheet: open → submitted.

        A machine's reply without a usable value is unscored.
        """

        OPEN = "open", _("Started")
        SUBMITTED = "submitted", _("Submitted")
        UNSCORED = "unscored", _("Unscored")
        VOID = "void", _("Does not count")

    kind_name: ClassVar[str] = ""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    # Of an imported sheet: the file and where in it.
    source = models.CharField(max_length=255, blank=True)
    position = models.PositiveIntegerField(default=0)
    # 0 for the first judgement; more for a blind repeat or another replicate of a run.
    replicate = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(max_length=9, choices=State, default=State.OPEN)
    comment = models.TextField(blank=True)
    is_example = models.BooleanField(default=False)
    # Submitted after its slot went to somebody else, or by somebody excluded: kept, not counted.
    is_extra = models.BooleanField(default=False)
    # The known answer, if the item is a control item. Such a sheet enters no figure.
    known = models.JSONField(null=True)
    # Place in the rater's own order of a round, from 1.
    place = models.PositiveIntegerField(default=0)
    # What stands on the form and is not submitted; None where nothing differs.
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
        abstract = True
        ordering = ["pk"]

    def __str__(self) -> str:
        return str(self.public_id)

    @property
    def is_counted(self) -> bool:
        """Whether the row counts, as `COUNTED` does in a query."""
        is_left_out = self.is_example or self.is_extra or self.known is not None
        return self.state == self.State.SUBMITTED and not is_left_out


# What people handed in that holds a slot or answers a control item.
HANDED_IN = Q(state=Sheet.State.SUBMITTED, is_example=False, is_extra=False)
# What every figure counts of people's sheets, whatever the kind.
COUNTED = HANDED_IN & Q(known__isnull=True)


class SheetEvent(models.Model):
    """One submission.

    Rows are only added, so that changed answers stay visible.

    A kind adds ``sheet``.
    """

    # Given by the page, so that a request sent twice makes one event.
    client_key = models.CharField(max_length=64)
    content = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["sheet", "client_key"], name="%(class)s_key_once")
        ]


class ConflictingDraft(models.Model):
    """A draft that conflicted with a newer one, kept so that no typed text is lost.

    A kind adds ``sheet``.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    base_version = models.PositiveIntegerField()
    content = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True
        ordering = ["-pk"]
