"""Models of endpoints, prompt versions and background jobs."""

import uuid
from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from cqa_site.judging.endpoint_responses import TOKEN_LIMITS
from cqa_site.people.models import User
from cqa_site.web.logging import request_id

# Parameters that are left out if the endpoint refused them in a probe.
FITTED = ("temperature", "seed")


class Endpoint(models.Model):
    """One model on one OpenAI-compatible server, with the settings of one study.

    The key is stored encrypted and belongs to the origin for which it was entered. Only its last
    four characters are ever shown. An endpoint that another study offered does not have its own
    key: `cqa_site.runs.ledger.gates.open_key` reads the key of ``original``.
    """

    class Kind(models.TextChoices):
        REMOTE = "remote", _("OpenAI-compatible server")
        EMBEDDED = "embedded", _("Built-in model (demonstration)")
        SHARED = "shared", _("Offered to all studies of this site")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="endpoints")
    kind = models.CharField(max_length=8, choices=Kind, default=Kind.REMOTE)
    name = models.CharField(_("name"), max_length=120)
    base_url = models.CharField(_("base address"), max_length=500)
    model = models.CharField(_("model"), max_length=200)
    key_ciphertext = models.BinaryField(default=bytes, editable=False)
    key_origin = models.CharField(max_length=500, blank=True, editable=False)
    key_last4 = models.CharField(max_length=4, blank=True, editable=False)
    # Currency units per million tokens; the currency is the researcher's.
    price_in = models.DecimalField(
        _("price per million input tokens"),
        max_digits=12,
        decimal_places=6,
        default=Decimal(0),
        validators=[MinValueValidator(0)],
    )
    price_out = models.DecimalField(
        _("price per million output tokens"),
        max_digits=12,
        decimal_places=6,
        default=Decimal(0),
        validators=[MinValueValidator(0)],
    )
    max_in_flight = models.PositiveSmallIntegerField(
        _("maximum requests in flight"),
        default=16,
        validators=[MinValueValidator(1), MaxValueValidator(512)],
    )
    requests_per_minute = models.PositiveIntegerField(
        _("requests per minute"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    tokens_per_minute = models.PositiveIntegerField(
        _("tokens per minute"), null=True, blank=True, validators=[MinValueValidator(1)]
    )
    deadline_seconds = models.PositiveSmallIntegerField(
        _("request timeout in seconds"),
        default=120,
        validators=[MinValueValidator(1), MaxValueValidator(600)],
    )
    extra_params = models.JSONField(_("extra parameters"), default=dict, blank=True)
    # Results of a probe: {"json_schema": {"works": true, "evidence": "…"}, …}
    capabilities = models.JSONField(default=dict, blank=True)
    probed_at = models.DateTimeField(null=True)
    is_archived = models.BooleanField(default=False)
    is_offered = models.BooleanField(default=False, editable=False)
    # The offered endpoint behind a shared one; empty if the study that offered it was deleted.
    original = models.ForeignKey(
        "self", models.SET_NULL, null=True, editable=False, related_name="added"
    )
    created_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["study", "name"], name="endpoint_name_once")
        ]
        indexes = [
            models.Index("name", condition=models.Q(is_offered=True), name="endpoint_offered")
        ]

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<Endpoint {self.public_id}>"

    @property
    def origin(self) -> str:
        """Scheme, host and port, to which the key is bound."""
        return origin_of(self.base_url)

    @property
    def is_known(self) -> bool:
        """Whether the endpoint answered a probe or is the built-in endpoint."""
        return self.probed_at is not None or self.kind == self.Kind.EMBEDDED

    @property
    def source(self) -> "Endpoint":
        """The endpoint whose key and limits apply: its original, or itself if it has none."""
        return self.original or self

    @property
    def is_withdrawn(self) -> bool:
        """Whether the offer was withdrawn or changed to a different server or model."""
        if self.kind != self.Kind.SHARED:
            return False
        source = self.source
        is_same = (source.base_url, source.model) == (self.base_url, self.model)
        return not (source.is_offered and is_same)

    @property
    def has_key(self) -> bool:
        """Whether a key for the current address is stored."""
        source = self.source
        is_open = bool(source.key_ciphertext) and not self.is_withdrawn
        return is_open and source.key_origin == self.origin

    def can(self, capability: str) -> bool:
        """Whether the last probe found that ``capability`` works."""
        return bool(self.capabilities.get(capability, {}).get("works"))

    def refuses(self, capability: str) -> bool:
        """Whether the last probe found that requests for ``capability`` are refused."""
        return bool(self.capabilities.get(capability, {}).get("refused"))

    @property
    def token_parameter(self) -> str:
        """The endpoint's name for the token limit, according to its last probe."""
        return str(self.capabilities.get("token_limit", {}).get("parameter") or TOKEN_LIMITS[0])

    @property
    def proposed_limit(self) -> int:
        """The token limit that the last probe proposed for a model that reasons first, or 0."""
        return int(self.capabilities.get("token_limit", {}).get("proposed") or 0)

    def fitted(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the parameters this endpoint accepts and those it refused in its last probe.

        The usual name of the token limit is replaced by the name that works with this endpoint.
        """
        refused = {name: params[name] for name in FITTED if name in params and self.refuses(name)}
        sent = {name: value for name, value in params.items() if name not in refused}
        if TOKEN_LIMITS[0] in sent and self.token_parameter != TOKEN_LIMITS[0]:
            limit = sent.pop(TOKEN_LIMITS[0])
            sent.setdefault(self.token_parameter, limit)
        return sent, refused


class Gate(models.Model):
    """The adaptive rate limit of one endpoint; see `cqa_site.judging.rate_limits` for its fields.

    A lock on this row serializes the claims for one endpoint.
    """

    endpoint = models.OneToOneField(Endpoint, models.CASCADE, related_name="gate")
    state = models.JSONField(default=dict)
    # Time of each worker's last turn with this endpoint, in seconds since the epoch.
    workers = models.JSONField(default=dict)
    refusals_total = models.PositiveBigIntegerField(default=0)


def origin_of(url: str) -> str:
    """Return scheme, lower-case host and explicit port of an address."""
    parts = urlsplit(url)
    port = parts.port or {"https": 443, "http": 80}.get(parts.scheme, 0)
    return f"{parts.scheme}://{(parts.hostname or '').lower()}:{port}"


class PromptVersion(models.Model):
    """One version of a judge's prompt; it cannot change once a run has used it."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="prompt_versions")
    kind = models.CharField(max_length=40)
    name = models.CharField(_("name"), max_length=120)
    number = models.PositiveIntegerField()
    system = models.TextField(_("system text"), blank=True)
    user = models.TextField(_("user text"))
    sha256 = models.CharField(max_length=64, editable=False)
    note = models.CharField(_("what changed"), max_length=300, blank=True)
    frozen_at = models.DateTimeField(null=True)
    created_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["kind", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "kind", "number"], name="prompt_number_once")
        ]

    def __str__(self) -> str:
        return f"{self.name} (v{self.number})"

    @property
    def is_frozen(self) -> bool:
        """Whether a run has used the version."""
        return self.frozen_at is not None


# Background work as rows: the database stores the state, and a broker only wakes workers


class Job(models.Model):
    """One long task, such as an import, an export, a snapshot or a backup of the site.

    Workers claim ready rows with a lease and a fencing number. A result is written only with
    the current fence, in the transaction that ends the job.
    """

    class State(models.TextChoices):
        """States of a job; ready and leased jobs are active."""

        READY = "ready", _("Waiting")
        LEASED = "leased", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")

    ACTIVE = (State.READY, State.LEASED)
    NOTE_LENGTH = 200
    # Weights of a quick job and a long job.
    QUICK, LONG = 1, 20

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    # None for a job of the whole site, such as a backup.
    study = models.ForeignKey("people.Study", models.CASCADE, null=True, related_name="jobs")
    kind = models.CharField(max_length=40)
    payload = models.JSONField(default=dict)
    key = models.CharField(max_length=120)
    state = models.CharField(max_length=6, choices=State, default=State.READY)
    run_after = models.DateTimeField(db_default=Now())
    # Jobs are claimed in the order of their positions; see `position_of`.
    position = models.BigIntegerField(db_default=0)
    weight = models.PositiveSmallIntegerField(db_default=1)
    fence = models.BigIntegerField(default=0)
    leased_by = models.CharField(max_length=36, blank=True)
    lease_until = models.DateTimeField(null=True)
    losses = models.PositiveSmallIntegerField(default=0)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(default=0)
    note = models.CharField(max_length=NOTE_LENGTH, blank=True)
    error = models.TextField(blank=True)
    created_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    # Id of the request that queued the job, which also appears in the job's log lines.
    request_id = models.CharField(max_length=64, blank=True, default=request_id, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["key"],
                condition=models.Q(state__in=["ready", "leased"]),
                name="job_active_once",
            ),
            models.CheckConstraint(
                condition=models.Q(state="leased", lease_until__isnull=False)
                | (~models.Q(state="leased") & models.Q(lease_until__isnull=True)),
                name="job_lease_only_while_leased",
            ),
        ]
        indexes = [
            models.Index(
                fields=["run_after", "id"], condition=models.Q(state="ready"), name="job_ready"
            ),
            models.Index(
                fields=["position", "id"], condition=models.Q(state="ready"), name="job_next"
            ),
            models.Index(fields=["created_by", "weight", "position"], name="job_person"),
            models.Index(
                models.F("position") - models.F("weight"),
                condition=models.Q(fence__gt=0) & ~models.Q(state="ready"),
                name="job_clock",
            ),
            models.Index(
                fields=["lease_until"], condition=models.Q(state="leased"), name="job_leased"
            ),
            # This index and the next one are for `cqa_site.upkeep.watching`.
            models.Index(fields=["kind"], condition=models.Q(state="failed"), name="job_failed"),
            models.Index(fields=["losses"], condition=models.Q(losses__gt=0), name="job_lost"),
            models.Index(fields=["study", "-created_at"]),
        ]

    @property
    def is_active(self) -> bool:
        """Whether the job is waiting or running."""
        return self.state in self.ACTIVE

    @classmethod
    def position_of(cls, actor: User | None, weight: int) -> int:
        """Return the position of a new job; ``None`` stands for the site itself.

        Weighted fair queueing: a new job waits behind the jobs of the same person, but not behind
        all other jobs, so that one person's 5,000 jobs do not delay another person's only job. A
        long job has the weight of many quick jobs. Quick jobs that are added later run first, but
        only a limited number of them. A person's quick jobs are counted separately from the long
        jobs.
        """
        # A new person starts where the newest claimed job began, not at the first job ever.
        claimed = cls.objects.filter(fence__gt=0).exclude(state=cls.State.READY)
        begun = claimed.annotate(begun=models.F("position") - models.F("weight"))
        own = cls.objects.filter(created_by=actor, weight=weight).order_by("-position")
        clock = begun.order_by("-begun").values_list("begun", flat=True).first() or 0
        last = own.values_list("position", flat=True).first() or 0
        return max(clock, last) + weight


class WorkerBeat(models.Model):
    """The last heartbeat of each worker process, for the notice that no worker is running."""

    worker = models.CharField(max_length=36, unique=True)
    host = models.CharField(max_length=120)
    process_id = models.PositiveIntegerField()
    # Hash of the worker's code; see `processes.mark_of_code`.
    code = models.CharField(max_length=16, blank=True)
    seen_at = models.DateTimeField()
