"""Comparisons and the arguments found for them."""

import hashlib
import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _


def text_key(text: str) -> str:
    """SHA-256 of a text exactly as given: white space and case count."""
    return hashlib.sha256(text.encode()).hexdigest()


class Comparison(models.Model):
    """Two objects in the order given; case counts, so Adidas/Nike is not adidas/nike."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="comparisons")
    object1 = models.CharField(_("object 1"), max_length=300)
    object2 = models.CharField(_("object 2"), max_length=300)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["object1", "object2", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["study", "object1", "object2"], name="comparison_once")
        ]

    def __str__(self) -> str:
        return f"{self.object1} vs {self.object2}"


class Argument(models.Model):
    """One sentence retrieved for a comparison; identity is (object 1, object 2, sentence)."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="arguments")
    comparison = models.ForeignKey(Comparison, models.CASCADE, related_name="arguments")
    text = models.TextField(_("sentence"), blank=True)
    text_sha256 = models.CharField(max_length=64, editable=False)
    source_url = models.CharField(_("source"), max_length=2_000, blank=True)
    external_id = models.CharField(_("id in the source"), max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["comparison", "text_sha256"], name="argument_once")
        ]
        indexes = [models.Index(fields=["study", "comparison", "id"])]

    def __str__(self) -> str:
        return self.text[:80]

    def save(self, *args, **kwargs) -> None:
        """Keep the key in step with the text (bulk creation sets it itself)."""
        self.text_sha256 = text_key(self.text)
        super().save(*args, **kwargs)

    @property
    def is_blank(self) -> bool:
        """Released data holds tasks without a sentence; they are kept and flagged."""
        return not self.text.strip()
