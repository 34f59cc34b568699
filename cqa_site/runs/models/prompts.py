"""Prompt versions: frozen texts with their hash."""

import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class PromptVersion(models.Model):
    """One text of a judge's prompt; it cannot change once a run used it."""

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
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
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
        """Whether a run used it."""
        return self.frozen_at is not None
