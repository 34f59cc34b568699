"""Endpoints: OpenAI-compatible servers with a model, a price and a gate."""

import uuid
from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from cqa_site.judging.parameters import TOKEN_LIMITS

# Parameters that are left out where a probe found them refused.
FITTED = ("temperature", "seed")


class Endpoint(models.Model):
    """One model behind one OpenAI-compatible server, as one study uses it.

    The key is stored encrypted and belongs to the origin it was given for; it is
    never rendered, only its last four characters are.
    """

    class Kind(models.TextChoices):
        """Where the server is."""

        REMOTE = "remote", _("OpenAI-compatible server")
        EMBEDDED = "embedded", _("Model in the box (demonstration)")

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
        _("most requests in flight"),
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
        _("seconds until a request is given up"),
        default=120,
        validators=[MinValueValidator(1), MaxValueValidator(600)],
    )
    extra_params = models.JSONField(_("extra parameters"), default=dict, blank=True)
    # What a probe found: {"json_schema": {"works": true, "evidence": "…"}, …}
    capabilities = models.JSONField(default=dict, blank=True)
    probed_at = models.DateTimeField(null=True)
    is_archived = models.BooleanField(default=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["study", "name"], name="endpoint_name_once")
        ]

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<Endpoint {self.public_id}>"

    @property
    def origin(self) -> str:
        """Scheme, host and port: what a key is bound to."""
        return origin_of(self.base_url)

    @property
    def is_known(self) -> bool:
        """Whether it answered a probe, or is the one in the box."""
        return self.probed_at is not None or self.kind == self.Kind.EMBEDDED

    @property
    def has_key(self) -> bool:
        """Whether a key for the present address is stored."""
        return bool(self.key_ciphertext) and self.key_origin == self.origin

    def can(self, capability: str) -> bool:
        """Whether the last probe found that ``capability`` works."""
        return bool(self.capabilities.get(capability, {}).get("works"))

    def refuses(self, capability: str) -> bool:
        """Whether the last probe found that asking for ``capability`` is refused."""
        return bool(self.capabilities.get(capability, {}).get("refused"))

    @property
    def token_parameter(self) -> str:
        """The name under which this endpoint takes a token limit, by its last probe."""
        return str(self.capabilities.get("token_limit", {}).get("parameter") or TOKEN_LIMITS[0])

    def fitted(self, params: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Parameters as this endpoint takes them, and those it refuses; by its last probe.

        The usual name of the token limit becomes the one that works here.
        """
        refused = {name: params[name] for name in FITTED if name in params and self.refuses(name)}
        sent = {name: value for name, value in params.items() if name not in refused}
        if TOKEN_LIMITS[0] in sent and self.token_parameter != TOKEN_LIMITS[0]:
            limit = sent.pop(TOKEN_LIMITS[0])
            sent.setdefault(self.token_parameter, limit)
        return sent, refused


class Gate(models.Model):
    """The adaptive gate of one endpoint; see `cqa_site.judging.gate` for the fields.

    Locking this row is what makes claims for one endpoint follow one another.
    """

    endpoint = models.OneToOneField(Endpoint, models.CASCADE, related_name="gate")
    state = models.JSONField(default=dict)
    # When each worker took its last turn here, seconds since the epoch.
    workers = models.JSONField(default=dict)
    refusals_total = models.PositiveBigIntegerField(default=0)


def origin_of(url: str) -> str:
    """Scheme, lower-case host and explicit port of an address."""
    parts = urlsplit(url)
    port = parts.port or {"https": 443, "http": 80}.get(parts.scheme, 0)
    return f"{parts.scheme}://{(parts.hostname or '').lower()}:{port}"
