"""Crowd links, their participants, and the platform's submissions and payments."""

import uuid
from decimal import Decimal
from urllib.parse import quote, urljoin

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

# URLs at which platforms accept a completion code, in place of ``{code}``.
KNOWN_PLATFORMS = {"prolific": "https://app.prolific.com/submissions/complete?cc={code}"}


class ParticipantLink(models.Model):
    """A link for a crowd platform.

    People who use it become annotators in one study, for one round.

    The platform appends its ids in three URL parameters. Each outcome has a completion code,
    which is shown only after the server has counted the work.
    """

    class Entry(models.TextChoices):
        """Proof of identity required in the URL, because anybody can type an ID."""

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
    # The study on the platform. Tokens from other studies are refused.
    platform_study = models.CharField(max_length=128, blank=True)
    # The encrypted secret with which the platform signs its reports, and the encrypted API token.
    hook_ciphertext = models.BinaryField(default=bytes, editable=False)
    api_ciphertext = models.BinaryField(default=bytes, editable=False)
    # Pay per completed participation, per outcome (amounts as text) and per item answered in a
    # completed participation, and the lowest acceptable pay per hour.
    currency = models.CharField(_("currency"), max_length=3, default="GBP")
    reward = models.DecimalField(_("reward"), max_digits=8, decimal_places=2, null=True)
    outcome_pay = models.JSONField(default=dict)
    item_bonus = models.DecimalField(
        _("bonus per item"), max_digits=8, decimal_places=2, null=True
    )
    hourly_floor = models.DecimalField(
        _("floor per hour"), max_digits=8, decimal_places=2, null=True
    )
    completed_code = models.CharField(_("code: completed"), max_length=40)
    screened_out_code = models.CharField(_("code: screened out"), max_length=40)
    no_work_code = models.CharField(_("code: no work left"), max_length=40)
    fault_code = models.CharField(_("code: technical fault"), max_length=40)
    # Optional codes. Without one, some outcomes use another code; see `completion_code`.
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
    def is_valid(self) -> bool:
        """Whether the link is neither closed nor expired."""
        return not self.closed_at and self.expires_at > timezone.now()

    @property
    def is_open(self) -> bool:
        """Whether the link is valid and its round is not closed."""
        return self.is_valid and self.round.state != self.round.State.CLOSED

    def pay_of(self, outcome: str) -> Decimal | None:
        """Return the pay for an outcome, excluding bonuses; None if it is not set."""
        if outcome == Participant.Outcome.COMPLETED:
            return self.reward
        amount = self.outcome_pay.get(outcome)
        return None if amount is None else Decimal(amount)

    @property
    def has_secrets(self) -> bool:
        """Whether a webhook secret or an API token is stored."""
        return bool(self.hook_ciphertext or self.api_ciphertext)

    @property
    def waits_for_study(self) -> bool:
        """Whether signed entries must wait because the platform's study is unknown."""
        return self.entry != self.Entry.IDS and not self.platform_study

    @property
    def codes(self) -> list[tuple[str, str, str]]:
        """Outcome, code, and action on the platform, for each distinct code."""
        approve, by_hand = _("Approve, at once or after review"), _("Review by hand")
        screen = _("Screen out with a fixed reward, or request a return")
        pay, back = _("Review by hand, and pay for the time"), _("Request a return")
        ends = Participant.Outcome
        rows = (
            (ends.COMPLETED.label, self.completed_code, approve),
            (ends.SCREENED_OUT.label, self.screened_out_code, screen),
            (ends.NO_WORK.label, self.no_work_code, pay),
            (ends.FAULT.label, self.fault_code, pay),
            (ends.SKIPS.label, self.skips_code, by_hand),
            (_("Stopped early or withdrawn"), self.stopped_code, back),
            (ends.DECLINED.label, self.declined_code, back),
            (ends.FAILED_CHECK.label, self.failed_check_code, screen),
            (ends.NOT_QUALIFIED.label, self.not_qualified_code, screen),
        )
        return [(str(outcome), code, str(action)) for outcome, code, action in rows if code]

    def address_for(self, code: str = "", participant: str = "") -> str:
        """Return the platform's URL for a code, or its home page; empty if unknown."""
        known = KNOWN_PLATFORMS.get(self.platform.strip().lower(), "")
        address = self.return_url or known
        if code or not address:
            address = address.replace("{participant}", quote(participant, safe=""))
            return address.replace("{code}", quote(code, safe=""))
        return urljoin(address, "/")


class Participant(models.Model):
    """One person from a crowd platform, bound to one user, one study and one browser.

    ``browser_hash`` is the hash of the browser's secret. After a release it is empty, and the next
    browser with this person's id takes over. ``fault_report`` is the person's latest report.
    """

    class Outcome(models.TextChoices):
        """The outcome of a participation; each outcome has its own completion code."""

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
    # Whether the ids were proven by a token signed by the platform.
    is_verified = models.BooleanField(default=False)
    # The last status of the submission that the platform reported, and the time of that report.
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
    """A report from a platform about a submission; each report is processed once.

    Rows are only added, never changed.
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


class PlatformSubmission(models.Model):
    """A submission as last listed by the platform; storing it has no other effect."""

    link = models.ForeignKey(ParticipantLink, models.CASCADE, related_name="submissions")
    submission = models.CharField(max_length=128)
    participant_id = models.CharField(max_length=128)
    status = models.CharField(max_length=30)
    code = models.CharField(max_length=40, blank=True)
    seen_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["link", "submission"], name="submission_once")
        ]


class CrowdPayment(models.Model):
    """A payment that a researcher confirmed for one submission, with copies of the ids."""

    class Kind(models.TextChoices):
        """Kinds of payments; a submission gets each kind at most once."""

        BONUS = "bonus", _("Bonus for items")
        OUTCOME = "outcome", _("Pay for the outcome")

    class State(models.TextChoices):
        """States: confirmed → exported or sending → paid, or unknown until a person checks."""

        CONFIRMED = "confirmed", _("Confirmed")
        EXPORTED = "exported", _("In a file")
        SENDING = "sending", _("Being sent")
        UNKNOWN = "unknown", _("Unknown")
        PAID = "paid", _("Paid")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="crowd_payments")
    link = models.ForeignKey(ParticipantLink, models.PROTECT, related_name="payments")
    participant = models.ForeignKey(Participant, models.PROTECT, related_name="payments")
    submission = models.CharField(max_length=128)
    payee = models.CharField(max_length=128)
    kind = models.CharField(max_length=7, choices=Kind)
    amount = models.DecimalField(max_digits=8, decimal_places=2)
    reason = models.CharField(max_length=200)
    state = models.CharField(max_length=9, choices=State, default=State.CONFIRMED)
    # The platform's id for the payment order, or the id of the exported file.
    batch = models.CharField(max_length=128, blank=True)
    confirmed_by = models.ForeignKey("people.User", models.PROTECT, related_name="+")
    confirmed_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "submission", "kind"], name="crowd_payment_once"
            ),
            models.CheckConstraint(condition=Q(amount__gt=0), name="crowd_payment_positive"),
        ]
