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

# Rounds, the enrolments of raters, and abstract models for the tables of each kind.
#
# All kinds share the tables of `Round` and `Place`, to which other tables, such as crowd links,
# refer. Each kind has its own tables of items, slots, sheets, events and conflicting drafts. They
# derive from the abstract classes here, because their constraints depend on the columns of the
# kind (docs/decisions/0007-rounds.md).

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
    """A round of work on items; a kind's subclass defines how items are drawn and shown."""

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
    # The share of known answers that a person must match in the examples; 0 requires nothing.
    pass_mark = models.FloatField(
        _("pass mark of the qualification"),
        default=0.7,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
    )
    # A share of the items required from a crowd participant; None means no limit.
    skip_share = models.FloatField(_("maximum share of skipped items"), null=True)
    lease_minutes = models.PositiveSmallIntegerField(
        _("reservation time in minutes"),
        default=120,
        # The forms of the kinds have narrower limits.
        validators=[MinValueValidator(1), MaxValueValidator(1440)],
    )
    # The steps before work. Without steps, the guideline can be shown before the first item.
    onboarding = models.ForeignKey(
        "rounds.OnboardingVersion", models.PROTECT, null=True, blank=True, related_name="rounds"
    )
    shows_guideline = models.BooleanField(_("show the guideline first"), default=False)
    # Rules for people's last answers: window, threshold and action by measure; see
    # `cqa_site.rounds.rules`.
    rules = models.JSONField(default=dict)
    # The tolerance for answers to control items; None means the kind's default.
    control_tolerance = models.FloatField(null=True, validators=[MinValueValidator(0)])
    # The number of control items, so that serving needs no query in rounds without control items.
    n_controls = models.PositiveIntegerField(default=0)
    # How the items were selected, and how many matched.
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
        """Save the round with the kind of its class; a plain round keeps its stored kind."""
        self.kind = self.kind_name or self.kind
        super().save(*args, **kwargs)


class Place(models.Model):
    """A rater's enrolment in a round: qualification, exclusion, and number of sheets served."""

    round = models.ForeignKey(Round, models.CASCADE, related_name="places", db_index=False)
    rater = models.ForeignKey("people.Rater", models.CASCADE, related_name="places")
    # Share of the examples' known answers that the rater matched; None before the last example.
    score = models.FloatField(null=True)
    is_passed = models.BooleanField(default=False)
    # A researcher admitted or refused the rater, regardless of the score and the rules.
    is_decided_by_person = models.BooleanField(default=False)
    # A rule has paused the rater until a researcher decides.
    is_stopped = models.BooleanField(default=False)
    # The rule in `Round.rules` that did this; empty if it was the kind's own rule.
    stopped_by = models.CharField(max_length=20, blank=True)
    # The last time that an action was undone. Earlier answers do not trigger rules.
    rules_since = models.DateTimeField(null=True)
    excluded_at = models.DateTimeField(null=True)
    exclusion_reason = models.CharField(max_length=300, blank=True)
    # The number of sheets or, if work is served in blocks, the number of blocks.
    served = models.PositiveIntegerField(default=0)
    # For blocks, the position reached in the queue of slots.
    cursor = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(auto_now_add=True)
    # When the steps before work were passed, for which version, and until when this is valid.
    prepared_at = models.DateTimeField(null=True)
    prepared_for = models.ForeignKey(
        "rounds.OnboardingVersion", models.SET_NULL, null=True, related_name="+"
    )
    prepared_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["round", "rater"], name="place_once")]

    @property
    def is_excluded(self) -> bool:
        """Whether all figures leave out the rater's answers."""
        return self.excluded_at is not None

    @property
    def is_held_back(self) -> bool:
        """Whether the rater failed the practice and needs a researcher's decision to continue."""
        return self.score is not None and not self.is_passed


class Item(models.Model):
    """One item of a round.

    An item with ``key_points`` is an example for the qualification. An item with ``known`` is a
    hidden control item, which looks like any other item.

    A kind adds ``round`` and a field for the thing itself, named in `SheetKind.subject`.
    """

    position = models.PositiveIntegerField()
    # The probability with which it was drawn, if it was drawn at random.
    probability = models.FloatField(null=True)
    # Whether it was part of the last draw for the work, even if it is now an example.
    is_drawn = models.BooleanField(default=True)
    # Only for examples: the known answer in the kind's own format; the reasons for its parts, and
    # the place in the guideline.
    key_points = models.JSONField(null=True)
    key_notes = models.JSONField(default=dict)
    # The known answer of a control item, in the kind's own format.
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
    """A slot for one of the sheets that an item needs, created when the round opens.

    The number of counted sheets cannot exceed the number of slots, because each counted sheet in a
    round fills exactly one slot. A kind adds ``round`` and ``item``.
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

    A kind adds ``study``, ``rater``, ``round``, ``slot``, the item's subject, and columns for the
    submitted content. Unsubmitted content of the form is stored only in the draft.
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
    # For imported sheets: the file, and the position in it.
    source = models.CharField(max_length=255, blank=True)
    position = models.PositiveIntegerField(default=0)
    # 0 for the first judgement; higher for a blind repeat or another replicate in a run.
    replicate = models.PositiveSmallIntegerField(default=0)
    state = models.CharField(max_length=9, choices=State, default=State.OPEN)
    comment = models.TextField(blank=True)
    is_example = models.BooleanField(default=False)
    # Kept but not counted: submitted by an excluded rater, or after another rater took the slot.
    is_extra = models.BooleanField(default=False)
    # The known answer, if the item is a control item. Figures leave out such sheets.
    known = models.JSONField(null=True)
    # Position in the order in which the rater was served, from 1.
    place = models.PositiveIntegerField(default=0)
    # The content of the form, if it differs from the submitted content; otherwise None.
    draft = models.JSONField(null=True)
    # Increased by one with every accepted save of the draft.
    version = models.PositiveIntegerField(default=0)
    # The page that saved last, the page's number for that save, and the version from which it
    # began. Its next saves may be based on any version since then, because it wrote all of them.
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
        """Whether the sheet counts; equivalent to `COUNTED` in queries."""
        is_left_out = self.is_example or self.is_extra or self.known is not None
        return self.state == self.State.SUBMITTED and not is_left_out


# Submitted sheets that fill a slot, repeat an item, or answer a control item.
HANDED_IN = Q(state=Sheet.State.SUBMITTED, is_example=False, is_extra=False)
# The sheets that figures count, for all kinds.
COUNTED = HANDED_IN & Q(known__isnull=True)


class SheetEvent(models.Model):
    """A submission of a sheet.

    Rows are only added, so that earlier answers remain visible. A kind adds ``sheet``.
    """

    # Set by the page, so that a request sent twice creates only one event.
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
    """A draft that conflicted with a newer draft, kept so that no typed text is lost.

    A kind adds ``sheet``.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    base_version = models.PositiveIntegerField()
    content = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        abstract = True
        ordering = ["-pk"]
