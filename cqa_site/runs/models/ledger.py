"""The ledger: a run, its calls, every attempt and every raw reply."""

import uuid
from typing import Any

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from cqa_site.web.logging import request_id


class Budget(models.Model):
    """The money of one run, of several together, or of a whole study, in millionths of a unit."""

    study = models.ForeignKey("people.Study", models.CASCADE, related_name="budgets")
    is_study_wide = models.BooleanField(default=False)
    # Of several runs that were started together: what one spends is spent there, too.
    parent = models.ForeignKey("self", models.PROTECT, null=True, related_name="parts")
    cap_micro = models.PositiveBigIntegerField(null=True)
    spent_micro = models.PositiveBigIntegerField(default=0)
    reserved_micro = models.PositiveBigIntegerField(default=0)
    # As replies say it, beside what they cost.
    tokens_in = models.PositiveBigIntegerField(default=0)
    tokens_out = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study"], condition=Q(is_study_wide=True), name="budget_of_study_once"
            )
        ]


class Run(models.Model):
    """One configured execution: its subjects, endpoint, prompt and number of replicates.

    ``spec`` is frozen when the run is made: everything that determines the requests and how
    replies are read. The endpoint's address and model are copied into it.
    """

    class State(models.TextChoices):
        """States: draft → checking → checked → running ⇄ paused → done; or cancelled from any."""

        DRAFT = "draft", _("Starting")
        CHECKING = "checking", _("Pre-flight")
        CHECKED = "checked", _("Waiting for your decision")
        RUNNING = "running", _("Running")
        PAUSED = "paused", _("Paused")
        DONE = "done", _("Done")
        CANCELLED = "cancelled", _("Cancelled")

    class Mode(models.TextChoices):
        LIVE = "live", _("One by one, at once")
        BATCH = "batch", _("As files to the provider's batch service, within a day")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="runs")
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=40)
    name = models.CharField(_("name"), max_length=200, blank=True)
    endpoint = models.ForeignKey("runs.Endpoint", models.PROTECT, related_name="runs")
    prompt = models.ForeignKey("runs.PromptVersion", models.PROTECT, related_name="runs")
    spec = models.JSONField()
    spec_hash = models.CharField(max_length=64)
    state = models.CharField(max_length=9, choices=State, default=State.DRAFT)
    mode = models.CharField(max_length=5, choices=Mode, default=Mode.LIVE)
    pause_reason = models.CharField(max_length=300, blank=True)
    budget = models.OneToOneField(Budget, models.PROTECT, related_name="run")
    # Lower than the endpoint's own limit, and changeable while the run goes on.
    ceiling = models.PositiveSmallIntegerField(null=True)
    planned = models.PositiveIntegerField(default=0)
    estimate = models.JSONField(default=dict)
    preflight = models.JSONField(default=dict)
    # Corrections of parameters that the endpoint refused, oldest first; see `actions.corrections`.
    amendments = models.JSONField(default=list)
    # Set when replies of one run name different models or fingerprints.
    flags = models.JSONField(default=dict)
    refusals = models.PositiveIntegerField(default=0)
    reused = models.PositiveIntegerField(default=0)
    saved_micro = models.PositiveBigIntegerField(default=0)
    webhook_url = models.CharField(max_length=500, blank=True)
    webhook_ciphertext = models.BinaryField(default=bytes, editable=False)
    created_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    # Id of the request that started it; log lines of its calls and of that request share it.
    request_id = models.CharField(max_length=64, blank=True, default=request_id, editable=False)

    # How many calls ended, and how; of runs that `add_counts` was given.
    done: int
    unscored: int
    cancelled: int
    ended: int
    # Whether the calls of a draft could not be written; of runs whose job somebody looked up.
    planning_failed = False
    # Whether it was under way already when somebody asked for the same.
    was_there = False

    ACTIVE = (State.CHECKING, State.CHECKED, State.RUNNING, State.PAUSED)
    WORKING = (State.CHECKING, State.RUNNING)
    # They do nothing until somebody decides.
    WAITING = (State.CHECKED, State.PAUSED)
    # Why a run is paused that a backup was made of while it was under way.
    RESTORED = "restored"

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="run_number_once"),
            # Two people who start the same thing at the same time start one run.
            models.UniqueConstraint(
                fields=["study", "spec_hash"],
                condition=Q(state__in=["checking", "checked", "running", "paused"]),
                name="run_active_once",
            ),
        ]
        indexes = [models.Index(fields=["state"]), models.Index(fields=["study", "-created_at"])]

    def __str__(self) -> str:
        return self.name or f"#{self.number}"

    @property
    def is_active(self) -> bool:
        """Whether the run has started and not ended."""
        return self.state in self.ACTIVE

    @property
    def params(self) -> dict[str, Any]:
        """The current sampling parameters: those of the plan, or of the newest correction."""
        params: dict[str, Any] = (self.amendments or [self.spec])[-1]["params"]
        return params

    @property
    def uses_schema(self) -> bool:
        """Whether requests currently ask for JSON by a schema."""
        return bool((self.amendments or [self.spec])[-1]["use_schema"])

    @property
    def is_working(self) -> bool:
        """Whether workers claim its calls."""
        return self.state in self.WORKING


class Call(models.Model):
    """One request of a run: (run, subject, replicate) is unique.

    ready → leased → replied → done; leased → ready (try again, or the worker died);
    leased or replied → unscored; ready → cancelled. A reply is stored raw (``replied``)
    before anybody parses it, so no crash asks a paid question twice.
    """

    class State(models.TextChoices):
        READY = "ready", _("Waiting")
        LEASED = "leased", _("In flight")
        REPLIED = "replied", _("Reply to be read")
        DONE = "done", _("Done")
        UNSCORED = "unscored", _("Unscored")
        CANCELLED = "cancelled", _("Cancelled")

    OPEN = (State.READY, State.LEASED, State.REPLIED)
    # Stands for the worker while a call lies at the provider's batch service.
    IN_BATCH = "batch"
    LEFT = (State.LEASED, State.REPLIED)

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="calls", db_index=False)
    # What is judged: a name unique in the run, and the primary keys behind it.
    subject = models.CharField(max_length=100)
    subject_ids = models.JSONField()
    replicate = models.PositiveSmallIntegerField(default=0)
    position = models.PositiveIntegerField()
    is_canary = models.BooleanField(default=False)
    content_key = models.CharField(max_length=64)
    state = models.CharField(max_length=9, choices=State, default=State.READY)
    reason = models.CharField(max_length=40, blank=True)
    run_after = models.DateTimeField(db_default=Now())
    fence = models.BigIntegerField(default=0)
    leased_by = models.CharField(max_length=36, blank=True)
    lease_until = models.DateTimeField(null=True)
    tries = models.PositiveSmallIntegerField(default=0)
    format_tries = models.PositiveSmallIntegerField(default=0)
    throttles = models.PositiveSmallIntegerField(default=0)
    losses = models.PositiveSmallIntegerField(default=0)
    # Doubled after a truncated reply; 0 is the run's own limit.
    token_limit = models.PositiveIntegerField(default=0)
    tokens_estimated = models.PositiveIntegerField(default=0)
    reserve_micro = models.PositiveBigIntegerField(default=0)
    reply = models.ForeignKey(
        "runs.Reply", models.PROTECT, null=True, related_name="+", db_index=False
    )
    batch = models.ForeignKey(
        "runs.ProviderBatch", models.PROTECT, null=True, related_name="calls"
    )
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "subject", "replicate"], name="call_once_per_subject"
            ),
            models.CheckConstraint(
                condition=Q(state="leased", lease_until__isnull=False)
                | (~Q(state="leased") & Q(lease_until__isnull=True)),
                name="call_lease_only_while_leased",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["replied", "done"]) | Q(reply__isnull=False),
                name="call_done_with_reply",
            ),
        ]
        indexes = [
            models.Index(fields=["run", "state", "position"]),
            models.Index(fields=["run", "finished_at"]),
            models.Index(fields=["state", "lease_until"]),
        ]


class Reply(models.Model):
    """A verbatim raw reply, reused for identical requests of the study."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="replies")
    content_key = models.CharField(max_length=64)
    # Only a reply that gave a value is served again: errors and empty answers are asked anew.
    is_reusable = models.BooleanField(default=False)
    text = models.TextField(blank=True)
    body = models.TextField(blank=True)
    finish_reason = models.CharField(max_length=40, blank=True)
    refusal = models.TextField(blank=True)
    model = models.CharField(max_length=200, blank=True)
    fingerprint = models.CharField(max_length=200, blank=True)
    request_id = models.CharField(max_length=200, blank=True)
    tokens_in = models.PositiveIntegerField(null=True)
    tokens_out = models.PositiveIntegerField(null=True)
    tokens_cached = models.PositiveIntegerField(null=True)
    milliseconds = models.PositiveIntegerField(default=0)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [
            models.Index(
                fields=["study", "content_key"],
                condition=Q(is_reusable=True),
                name="reply_reusable",
            )
        ]


class Attempt(models.Model):
    """One sending of a call, recorded before it is sent and closed once; never changed again."""

    class Outcome(models.TextChoices):
        """The outcome of an attempt; open while the request is in flight."""

        OPEN = "open", _("On its way")
        REPLIED = "replied", _("Replied")
        REUSED = "reused", _("Answered from an earlier reply")
        FAILED = "failed", _("Failed")
        LOST = "lost", _("The worker died")
        STALE = "stale", _("Arrived after the lease had been passed on")

    call = models.ForeignKey(Call, models.CASCADE, related_name="attempts", db_index=False)
    fence = models.BigIntegerField()
    worker = models.CharField(max_length=36)
    epoch = models.PositiveIntegerField(default=0)
    # How many corrections of the run's parameters came before it.
    amendment = models.PositiveSmallIntegerField(default=0)
    outcome = models.CharField(max_length=7, choices=Outcome, default=Outcome.OPEN)
    failure = models.CharField(max_length=20, blank=True)
    # Why a reply gave no value, where it did not.
    unusable = models.CharField(max_length=20, blank=True)
    status = models.PositiveSmallIntegerField(null=True)
    message = models.CharField(max_length=300, blank=True)
    reply = models.ForeignKey(
        Reply, models.PROTECT, null=True, related_name="attempts", db_index=False
    )
    reserve_micro = models.PositiveBigIntegerField(default=0)
    cost_micro = models.PositiveBigIntegerField(default=0)
    milliseconds = models.PositiveIntegerField(default=0)
    opened_at = models.DateTimeField(db_default=Now())
    closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["call", "fence"], name="attempt_once_per_fence"),
            models.CheckConstraint(
                condition=Q(outcome="open", closed_at__isnull=True)
                | (~Q(outcome="open") & Q(closed_at__isnull=False)),
                name="attempt_closed_with_outcome",
            ),
        ]
        # For `cqa_site.upkeep.watching`: few of many.
        indexes = [
            models.Index(fields=["outcome"], condition=Q(outcome="lost"), name="attempt_lost")
        ]


class ProviderBatch(models.Model):
    """A file of calls submitted to the provider's batch service.

    The row, with our own mark, which is sent in the batch's metadata, exists before anything is
    submitted: a restart finds the batch by its mark instead of paying twice.
    """

    class State(models.TextChoices):
        PREPARED = "prepared", _("To be submitted")
        SUBMITTED = "submitted", _("At the provider")
        COLLECTED = "collected", _("Collected")
        FAILED = "failed", _("Failed")

    OPEN = (State.PREPARED, State.SUBMITTED)

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="batches")
    state = models.CharField(max_length=9, choices=State, default=State.PREPARED)
    batch_id = models.CharField(max_length=200, blank=True)
    remote_status = models.CharField(max_length=40, blank=True)
    message = models.CharField(max_length=300, blank=True)
    check_after = models.DateTimeField(db_default=Now())
    created_at = models.DateTimeField(db_default=Now())
