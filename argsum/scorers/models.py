"""Scorers and writers: their models, weights and training."""

import uuid
from pathlib import Path

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from ..datasets.models import Dataset

# Shipped models, by their names in `Scorer.base_model`.
SHIPPED_MATCH, SHIPPED_QUALITY = "counterpoint-match", "counterpoint-quality"


class Scorer(models.Model):
    """A model that scores the match of two texts or the quality of an argument, or a writer.

    ``folder`` is the folder of weights trained here, in the site's data folder; if it is empty,
    ``base_model`` is a name or path that sentence-transformers can load.
    """

    class Task(models.TextChoices):
        MATCH = "match", _("Match of two texts")
        QUALITY = "quality", _("Quality of an argument")
        WRITE = "write", _("Key point for a cluster")

    class Kind(models.TextChoices):
        BI_ENCODER = "bi_encoder", _("Cosine of two sentence vectors")
        CROSS_ENCODER = "cross_encoder", _("Model that reads both texts together")
        REGRESSOR = "regressor", _("Regression on sentence vectors")
        COLUMN = "column", _("Imported column")
        SEQ2SEQ = "seq2seq", _("Sequence-to-sequence model")

    class State(models.TextChoices):
        """State of a training run, which ends as ready, failed or cancelled."""

        TRAINING = "training", _("Training")
        READY = "ready", _("Ready")
        FAILED = "failed", _("Failed")
        CANCELLED = "cancelled", _("Cancelled")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="scorers")
    name = models.CharField(_("name"), max_length=120)
    task = models.CharField(max_length=7, choices=Task)
    kind = models.CharField(max_length=13, choices=Kind)
    base_model = models.CharField(_("model"), max_length=500, blank=True)
    folder = models.CharField(max_length=64, blank=True)
    # Hash of the weights; part of the key of every stored score.
    sha256 = models.CharField(max_length=64, blank=True)
    uses_topic = models.BooleanField(_("prepend the topic to the texts"), default=False)
    # The score above which two texts match, chosen on the dev split.
    threshold = models.FloatField(null=True)
    state = models.CharField(max_length=9, choices=State, default=State.READY)
    # Hyperparameters and seed; then the figures of each split.
    recipe = models.JSONField(default=dict)
    figures = models.JSONField(default=dict)
    card = models.TextField(blank=True)
    error = models.TextField(blank=True)
    trained_on = models.ForeignKey(Dataset, models.SET_NULL, null=True, related_name="+")
    job = models.ForeignKey("runs.Job", models.SET_NULL, null=True, related_name="+")
    created_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    ready_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["task", "name"]
        constraints = [models.UniqueConstraint(fields=["study", "name"], name="scorer_name_once")]

    def __str__(self) -> str:
        return self.name

    @property
    def stored_paths(self) -> tuple[Path, Path]:
        """Folders of the trained weights and of the checkpoint of an unfinished training run."""
        folder = Path(settings.DATA_DIR) / "scorers"
        return folder / self.public_id.hex, folder / f"{self.public_id.hex}-checkpoint"
