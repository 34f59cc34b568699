"""The ledger of runs, with their calls, attempts and raw replies."""

import uuid
from typing import Any

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from cqa_site.web.logging import request_id


class Budget(models.Model):
    """The budget of a run, of several runs or of a study, in millionths of a currency unit."""

    study = models.ForeignKey("people.Study", models.CASCADE, related_name="budgets")
    is_study_wide = models.BooleanField(default=False)
    # The shared budget of runs that were started together, to which their spending is added.
    parent = models.ForeignKey("self", models.PROTECT, null=True, related_name="parts")
    cap_micro = models.PositiveBigIntegerField(null=True)
    spent_micro = models.PositiveBigIntegerField(default=0)
    reserved_micro = models.PositiveBigIntegerField(default=0)
    # Numbers of tokens according to the replies.
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

    ``spec`` is frozen when the run is created. It contains everything that determines the
    requests and the reading of replies, including a copy of the endpoint's address and model.
    """

    class State(models.TextChoices):
        """States: draft → checking → checked → running ⇄ paused → done; any state → cancelled."""

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
    # A limit below the endpoint's own, which can change while the run is active.
    ceiling = models.PositiveSmallIntegerField(null=True)
    planned = models.PositiveIntegerField(default=0)
    estimate = models.JSONField(default=dict)
    preflight = models.JSONField(default=dict)
    # Corrections of parameters that the endpoint refused, oldest first; see `actions.corrections`.
    amendments = models.JSONField(default=list)
    # Models and fingerprints that replied; the page warns if there are several.
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
    # Id of the request that started the run, which also appears in the log lines of its calls.
    request_id = models.CharField(max_length=64, blank=True, default=request_id, editable=False)

    # Numbers of ended calls by outcome; set by `add_counts`.
    done: int
    unscored: int
    cancelled: int
    ended: int
    # Whether the calls of a draft could not be written; set when the planning job is looked up.
    planning_failed = False
    # Whether the run was already active when somebody requested an identical one.
    was_there = False

    ACTIVE = (State.CHECKING, State.CHECKED, State.RUNNING, State.PAUSED)
    WORKING = (State.CHECKING, State.RUNNING)
    # Runs in these states do nothing until a person decides.
    WAITING = (State.CHECKED, State.PAUSED)
    # Pause reason of a run that was active when its backup was made.
    RESTORED = "restored"

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="run_number_once"),
            # If two people start identical runs at the same time, only one run is created.
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
        """Whether requests currently include a JSON schema."""
        return bool((self.amendments or [self.spec])[-1]["use_schema"])

    @property
    def is_working(self) -> bool:
        """Whether workers claim the run's calls."""
        return self.state in self.WORKING


class Call(models.Model):
    """One request in a run; (run, subject, replicate) is unique.

    ready → leased → replied → done; leased → ready (try again, or the worker died);
    leased or replied → unscored; ready → cancelled. A reply is stored raw (``replied``) before it
    is parsed, so that a crash never repeats a paid request.
    """

    class State(models.TextChoices):
        READY = "ready", _("Waiting")
        LEASED = "leased", _("In flight")
        REPLIED = "replied", _("Reply to be read")
        DONE = "done", _("Done")
        UNSCORED = "unscored", _("Unscored")
        CANCELLED = "cancelled", _("Cancelled")

    OPEN = (State.READY, State.LEASED, State.REPLIED)
    # Replaces the worker name while a call is at the provider's batch service.
    IN_BATCH = "batch"
    LEFT = (State.LEASED, State.REPLIED)

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="calls", db_index=False)
    # The judged subject: a name that is unique in the run, and its primary keys.
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
    # The doubled limit after a truncated reply; 0 means the run's own limit.
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
    """A verbatim raw reply, reused for identical requests in the study."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="replies")
    content_key = models.CharField(max_length=64)
    # Only replies with a value are reused; after errors and empty replies, requests are repeated.
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
    """One attempt to send a call, recorded before sending and immutable once it is closed."""

    class Outcome(models.TextChoices):
        """The outcome of an attempt, which is open while the request is in flight."""

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
    # Number of earlier corrections of the run's parameters.
    amendment = models.PositiveSmallIntegerField(default=0)
    outcome = models.CharField(max_length=7, choices=Outcome, default=Outcome.OPEN)
    failure = models.CharField(max_length=20, blank=True)
    # The reason why a reply has no value, if it has none.
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
        # A partial index of the few lost attempts, for `cqa_site.upkeep.watching`.
        indexes = [
            models.Index(fields=["outcome"], condition=Q(outcome="lost"), name="attempt_lost")
        ]


class ProviderBatch(models.Model):
    """A file of calls submitted to the provider's batch service.

    The row has a unique mark, which is sent in the batch's metadata, and exists before anything is
    submitted. After a restart, the batch is found by its mark instead of being paid for twice.
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
