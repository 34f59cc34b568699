"""Runs in which a language model writes answers."""

from django.db import models


class GenerationRun(models.Model):
    """As which system a run's answers count, and what its choice of arguments left out."""

    run = models.OneToOneField("runs.Run", models.CASCADE, related_name="generation")
    system = models.ForeignKey("annotation.System", models.PROTECT, related_name="generation_runs")
    # Reason → how many arguments, or questions; see `annotation.actions.argument_drawing`.
    left_out = models.JSONField(default=dict)

    def __str__(self) -> str:
        return str(self.run)
