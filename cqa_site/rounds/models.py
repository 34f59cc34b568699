"""Models of rounds, their items and sheets, and of crowd participants."""

import uuid
from typing import Any, ClassVar
from urllib.parse import quote, urljoin

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from .onboarding.models import (
    Onboarding,
    OnboardingVersion,
    Qualification,
    StepResult,
    SurveyResponse,
)

# People of crowd platforms: the links by which they come into a round, and who came.


# Where platforms take a code; ``{code}`` stands for it.
KNOWN_PLATFORMS = {"prolific": "https://app.prolific.com/submissions/complete?cc={code}"}


class ParticipantLink(models.Model):
    """A link for a crowd platform.

    Its bearers become annotators of one study, for one round.

    The platform appends its own ids under the three parameter names. A
    completion code is kept per outcome and shown only when the server has
    counted the work.
    """

    class Entry(models.TextChoices):
        """Proof that the address must carry. Anybody can type IDs."""

        IDS = "ids", _("Platform IDs, unverified")
        SIGNED = "signed", _("Only with a token signed by the platform")
        EITHER = "either", _("Signed or unverified")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="participant_links")
    round = models.ForeignKey("rounds.Round", models.CASCADE, related_name="links")
    platform = models.CharField(_("platform"), max_length=60, default="Prolific")
    secret_hash = models.CharField(max_length=64, unique=True, editable=False)
    participant_param = models.CharField(max_length=40, default="PROLIFIC_PID")
    study_param = models.CharField(max_length=40, default="STUDY_ID")
    session_param = models.CharField(max_length=40, default="SESSION_ID")
    entry = models.CharField(_("entry"), max_length=6, choices=Entry, default=Entry.IDS)
    # The study on the platform: tokens of other studies are refused.
    platform_study = models.CharField(max_length=128, blank=True)
    # Seals the secret with which the platform signs its reports.
    hook_ciphertext = models.BinaryField(default=bytes, editable=False)
    completed_code = models.CharField(_("code: completed"), max_length=40)
    screened_out_code = models.CharField(_("code: screened out"), max_length=40)
    no_work_code = models.CharField(_("code: no work left"), max_length=40)
    fault_code = models.CharField(_("code: technical fault"), max_length=40)
    # Without one of its own, the code of people who are screened out; and none.
    skips_code = models.CharField(_("code: too many skips"), max_length=40, blank=True)
    stopped_code = models.CharField(_("code: stopped early"), max_length=40, blank=True)
    declined_code = models.CharField(_("code: declined"), max_length=40, blank=True)
    failed_check_code = models.CharField(_("code: quiz not passed"), max_length=40, blank=True)
    not_qualified_code = models.CharField(_("code: not qualified"), max_length=40, blank=True)
    return_url = models.URLField(_("return address"), max_length=300, blank=True)
    required_items = models.PositiveIntegerField(_("items per person"), default=50)
    max_participants = models.PositiveIntegerField(
        _("maximum number of participants"), default=500
    )
    expires_at = models.DateTimeField()
    created_by = models.ForeignKey("people.User", models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]

    @property
    def is_open(self) -> bool:
        """Whether new participants may still join."""
        return not self.closed_at and self.expires_at > timezone.now()

    @property
    def waits_for_study(self) -> bool:
        """Whether no signed entry can be accepted, because the platform's study is unknown."""
        return self.entry != self.Entry.IDS and not self.platform_study

    def address_for(self, code: str = "", participant: str = "") -> str:
        """Return the platform's address for a code, or its first page; empty if unknown."""
        known = KNOWN_PLATFORMS.get(self.platform.strip().lower(), "")
        address = self.return_url or known
        if code or not address:
            address = address.replace("{participant}", quote(participant, safe=""))
            return address.replace("{code}", quote(code, safe=""))
        return urljoin(address, "/")


class Participant(models.Model):
    """One person from a crowd platform, bound to one user, one study and one browser.

    ``browser_hash`` is the hash of what the browser keeps; empty after a release, when the next
    browser to come with the id gets the place. ``fault_report`` is what the person last wrote.
    """

    class Outcome(models.TextChoices):
        """The outcome of a participation; each has its own completion code."""

        RUNNING = "running", _("Running")
        COMPLETED = "completed", _("Completed")
        SCREENED_OUT = "screened_out", _("Screened out")
        NO_WORK = "no_work", _("No work left")
        FAULT = "fault", _("Technical fault")
        SKIPS = "too_many_skips", _("Too many skips")
        STOPPED = "stopped", _("Stopped early")
        WITHDRAWN = "withdrawn", _("Withdrawn")
        DECLINED = "declined", _("Declined to take part")
        FAILED_CHECK = "failed_check", _("Quiz not passed")
        NOT_QUALIFIED = "not_qualified", _("Not qualified")
        RETURNED = "returned", _("Returned on the platform")
        TIMED_OUT = "timed_out", _("Timed out on the platform")

    study = models.ForeignKey("people.Study", models.CASCADE, related_name="participants")
    link = models.ForeignKey(ParticipantLink, models.PROTECT, related_name="participants")
    user = models.OneToOneField("people.User", models.CASCADE, related_name="participant")
    participant_id = models.CharField(max_length=128)
    platform_study_id = models.CharField(max_length=128, blank=True)
    session_id = models.CharField(max_length=128, blank=True)
    # Whether a token signed by the platform proved the ids.
    is_verified = models.BooleanField(default=False)
    # What the platform last reported about the submission, and when it said so.
    platform_status = models.CharField(max_length=30, blank=True)
    platform_status_at = models.DateTimeField(null=True)
    browser_hash = models.CharField(max_length=64, blank=True, editable=False)
    fault_report = models.TextField(blank=True)
    outcome = models.CharField(max_length=14, choices=Outcome, default=Outcome.RUNNING)
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["link", "participant_id"], name="participant_once")
        ]


class PlatformEvent(models.Model):
    """One report of a platform about a submission; each is taken once.

    Rows are only added.
    """

    link = models.ForeignKey(ParticipantLink, models.CASCADE, related_name="events")
    event_id = models.CharField(max_length=128)
    submission = models.CharField(max_length=128)
    status = models.CharField(max_length=30)
    sent_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["link", "event_id"], name="platform_event_once")
        ]


# People at work: rounds and how raters stand in them; and what every kind's own tables hold.
#
# `Round` and `Place` are tables of all kinds: links, standing and pay point at them. Items, slots,
# sheets, events and kept drafts of a kind are tables of its own, made from the abstract classes
# here, because their constraints reach into what the kind stores (docs/decisions/0007-rounds.md).


__all__ = [
    "Item",
    "KeptDraft",
    "Onboarding",
    "OnboardingVersion",
    "Participant",
    "ParticipantLink",
    "Place",
    "PlatformEvent",
    "Qualification",
    "Round",
    "Sheet",
    "SheetEvent",
    "Slot",
    "StepResult",
    "SurveyResponse",
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
    """A rater's status in a round: qualified, excluded, and the number of sheets served."""

    round = models.ForeignKey(Round, models.CASCADE, related_name="places", db_index=False)
    rater = models.ForeignKey("people.Rater", models.CASCADE, related_name="places")
    # Share of the examples' known answers that were met; None before the last example.
    score = models.FloatField(null=True)
    is_passed = models.BooleanField(default=False)
    # A researcher let somebody in, or kept somebody out, whatever the score or a rule says.
    is_decided_by_person = models.BooleanField(default=False)
    # A rule serves nothing more until a researcher decides.
    is_stopped = models.BooleanField(default=False)
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

    An item with a known answer is an example of the qualification.

    A kind adds ``round`` and the thing itself, and says its name in `SheetKind.subject`.
    """

    position = models.PositiveIntegerField()
    # With what probability it was drawn, where it was drawn at random.
    probability = models.FloatField(null=True)
    # The known answer and why, in the kind's own shape; only of examples.
    key_points = models.JSONField(null=True)
    key_notes = models.JSONField(default=dict)

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
        """Whether the item belongs to the qualification."""
        return self.key_points is not None


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

    A kind adds ``study``, ``rater``, ``round``, ``slot``, the thing itself, and what it keeps of
    a submitted sheet. What stands on the form and is not submitted is the draft alone.
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
        return self.state == self.State.SUBMITTED and not (self.is_example or self.is_extra)


# What every figure counts of people's sheets, whatever the kind.
COUNTED = Q(state=Sheet.State.SUBMITTED, is_example=False, is_extra=False)


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


class KeptDraft(models.Model):
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
