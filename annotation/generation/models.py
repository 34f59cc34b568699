"""Runs in which a language model writes answers, started singly or as a launch."""

import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _


class GenerationLaunch(models.Model):
    """Runs, one per combination, that were started together over the same questions."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey(
        "people.Study", models.CASCADE, related_name="generation_launches", db_index=False
    )
    number = models.PositiveIntegerField()
    name = models.CharField(_("name"), max_length=200, blank=True)
    # Hash of all requests; a launch that is already in progress is not started twice.
    sha256 = models.CharField(max_length=64, editable=False)
    # Combinations: duplicates, runs already in progress, and refused combinations.
    recipe = models.JSONField(default=dict)
    # Joint budget of all its runs.
    budget = models.OneToOneField("runs.Budget", models.PROTECT, related_name="launch")
    created_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="generation_launch_once")
        ]

    def __str__(self) -> str:
        return self.name or _("Launch %d") % self.number


class GenerationRun(models.Model):
    """The system to which a run's answers belong, and the arguments that its filters left out."""

    run = models.OneToOneField("runs.Run", models.CASCADE, related_name="generation")
    system = models.ForeignKey("annotation.System", models.PROTECT, related_name="generation_runs")
    # Condition of its answers, which does not follow from the system.
    condition = models.ForeignKey(
        "annotation.Condition", models.PROTECT, related_name="generation_runs"
    )
    launch = models.ForeignKey(
        GenerationLaunch, models.PROTECT, null=True, related_name="generations"
    )
    # Number of arguments or questions by reason; see actions/prompts.py.
    left_out = models.JSONField(default=dict)

    def __str__(self) -> str:
        return str(self.run)
