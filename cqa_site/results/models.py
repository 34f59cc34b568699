"""Snapshots as database rows, with their content as bytes and a hash."""

import gzip
import hashlib
import io
import json
import uuid
from collections.abc import Iterable
from typing import Any

from django.db import models
from django.db.models import Q


def pack(chunks: Iterable[bytes]) -> tuple[bytes, str]:
    """Compress a table; return the bytes and the sha256 of the uncompressed bytes."""
    digest, packed = hashlib.sha256(), io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=5, mtime=0) as file:
        for chunk in chunks:
            digest.update(chunk)
            file.write(chunk)
    return packed.getvalue(), digest.hexdigest()


def plain(packed: bytes | memoryview) -> bytes:
    return gzip.decompress(bytes(packed))


def json_sha256(content: dict[str, Any]) -> str:
    """Return the hash of canonical JSON; raises ValueError for values such as NaN."""
    text = json.dumps(content, allow_nan=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


# Fields of every snapshot: numbered figures and the exact rows behind them


class Snapshot(models.Model):
    """Numbered figures of a subject, with the rows they were computed from.

    Each subject has one live snapshot, which is recomputed as rows arrive. Freezing makes it
    immutable, and the next live snapshot gets the next number. A kind adds
    the fields of its subject and the constraints from `once`.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    number = models.PositiveIntegerField()
    # A gzipped CSV whose columns depend on the kind; sha256 of the uncompressed bytes.
    rows = models.BinaryField(default=bytes)
    sha256 = models.CharField(max_length=64, blank=True)
    # How the figures are computed, with their own hash as ``figures_sha256``.
    recipe = models.JSONField(default=dict)
    figures = models.JSONField(default=dict)
    # Identifies the rows; if it differs from the current one, the figures are out of date.
    marker = models.CharField(max_length=120, blank=True)
    computed_at = models.DateTimeField(null=True)
    note = models.CharField(max_length=300, blank=True)
    # Changes since the previous frozen snapshot, with their reasons.
    changes = models.JSONField(default=dict)
    frozen_at = models.DateTimeField(null=True)
    frozen_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    # The token in the address of the public page; None if there is no public page.
    public_token = models.UUIDField(null=True, unique=True)

    class Meta:
        abstract = True
        ordering = ["-number"]
        constraints = [
            models.CheckConstraint(
                condition=Q(public_token__isnull=True) | Q(frozen_at__isnull=False),
                name="%(class)s_public_only_frozen",
            )
        ]

    def __str__(self) -> str:
        return f"#{self.number}"

    @property
    def seal(self) -> str:
        """Identifier of the snapshot's exact rows, recipe and figures.

        A form sends it back to identify the version that the page showed.
        """
        return f"{self.sha256}.{json_sha256(self.recipe)}"

    @property
    def is_frozen(self) -> bool:
        """Whether the figures can no longer change."""
        return self.frozen_at is not None


def once(name: str, *, owner: str, subject: tuple[str, ...]) -> list[models.BaseConstraint]:
    """Return a kind's constraints: unique numbers per owner, one live snapshot per subject."""
    return [
        *Snapshot.Meta.constraints,
        models.UniqueConstraint(fields=[owner, "number"], name=f"{name}_number_once"),
        models.UniqueConstraint(
            fields=[*subject], condition=Q(frozen_at__isnull=True), name=f"{name}_live_once"
        ),
    ]
