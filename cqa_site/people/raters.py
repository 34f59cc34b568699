"""Raters: whoever or whatever says something about an item, as statistics see it."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class Rater(models.Model):
    """A person, expert, model or classifier as statistics see it."""

    class Kind(models.TextChoices):
        """What stands behind the labels."""

        PERSON = "person", _("Person")
        EXPERT = "expert", _("Expert")
        MODEL = "model", _("Model")
        CLASSIFIER = "classifier", _("Classifier")
        REFERENCE = "reference", _("Released label")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="raters")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="raters"
    )
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.PERSON)
    name = models.CharField(max_length=120, blank=True)
    external_id = models.CharField(max_length=128, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "user"], condition=Q(user__isnull=False), name="rater_user_once"
            ),
            models.UniqueConstraint(
                fields=["study", "kind", "external_id"],
                condition=~Q(external_id=""),
                name="rater_external_once",
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.pseudonym

    @property
    def described(self) -> str:
        """What it is, for researchers: a machine or a release by its name, a person by none."""
        kind = str(self.get_kind_display())
        is_named = bool(self.name) and self.user_id is None and self.kind != self.Kind.PERSON
        if not is_named:
            return f"{kind} {self.pseudonym}"
        return self.name if self.name.startswith(kind) else f"{self.name} ({kind.lower()})"

    @property
    def pseudonym(self) -> str:
        """A short name that says nothing about the person."""
        return f"R-{self.public_id.hex[:6]}"
