"""Sources of arguments: corpora, a CAM service, and the origins of arguments."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class Corpus(models.Model):
    """Sentences in one uploaded file: uploaded → checked (dry run) → ready, or rejected."""

    class State(models.TextChoices):
        """State of the file; only corpora that are ready can be searched."""

        CHECKING = "checking", _("Checking")
        CHECKED = "checked", _("Checked")
        LOADING = "loading", _("Loading")
        READY = "ready", _("Ready")
        REFUSED = "refused", _("Refused")

    STORED_IN = "corpora"

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="corpora")
    name = models.CharField(_("name"), max_length=120)
    file_name = models.CharField(max_length=255)
    sha256 = models.CharField(max_length=64)
    size = models.PositiveBigIntegerField()
    # Name of the stored file; empty once the sentences are loaded.
    stored_as = models.CharField(max_length=64, blank=True)
    # {"text": column, "url": column, "encoding": name}; empty columns are guessed.
    options = models.JSONField(default=dict)
    # Result of the dry run: counts of lines, columns of a table, first sentences, problems.
    found = models.JSONField(default=dict)
    state = models.CharField(max_length=8, choices=State, default=State.CHECKING)
    refusal = models.TextField(blank=True)
    sentence_count = models.PositiveIntegerField(default=0)
    job = models.ForeignKey("runs.Job", models.SET_NULL, null=True, related_name="+")
    created_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    # From this time on the corpus is hidden, while its sentences are deleted in the background.
    deleted_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "corpora"
        constraints = [
            models.UniqueConstraint(
                fields=["study", "name"],
                condition=Q(deleted_at__isnull=True),
                name="corpus_name_once",
            )
        ]

    def __str__(self) -> str:
        return self.name


class CorpusSentence(models.Model):
    """One sentence, which never changes; the database updates the search index itself."""

    corpus = models.ForeignKey(Corpus, models.CASCADE, related_name="sentences", db_index=False)
    text = models.TextField()
    text_sha256 = models.CharField(max_length=64)
    source_url = models.CharField(max_length=2_000, blank=True)
    # Whether it has a comparative word; such sentences come first in results.
    is_comparative = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["corpus", "text_sha256"], name="corpus_sentence_once")
        ]


class CamService(models.Model):
    """The CAM service of a study."""

    study = models.OneToOneField("people.Study", models.CASCADE, related_name="cam_service")
    address = models.CharField(_("address"), max_length=500)


class CamRequest(models.Model):
    """One request to a CAM service, and the sentences returned for selection."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="cam_requests")
    comparison = models.ForeignKey(
        "annotation.Comparison", models.CASCADE, related_name="cam_requests"
    )
    # Address at the time of the request.
    address = models.CharField(max_length=500)
    aspects = models.JSONField(default=list)
    weight = models.PositiveSmallIntegerField(default=1)
    most = models.PositiveSmallIntegerField()
    # [{"text", "source", "score", "favours": 1, 2 or null}, …]; null until the reply is read.
    found = models.JSONField(null=True)
    job = models.ForeignKey("runs.Job", models.SET_NULL, null=True, related_name="+")
    created_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    @property
    def is_waiting(self) -> bool:
        """Whether the request is still waiting for the reply."""
        return self.found is None and bool(self.job and self.job.is_active)


class ArgumentOrigin(models.Model):
    """Origin of an argument found by a search."""

    class Kind(models.TextChoices):
        CORPUS = "corpus", _("Corpus")
        CAM = "cam", _("CAM service")

    argument = models.OneToOneField(
        "annotation.Argument", models.CASCADE, related_name="origin", primary_key=True
    )
    kind = models.CharField(max_length=6, choices=Kind)
    # Name of the corpus or address of the service at that time; both may have been deleted.
    source = models.CharField(max_length=500)
    # The object that the sentence favours according to the service, and how strongly.
    favours = models.PositiveSmallIntegerField(null=True)
    score = models.FloatField(null=True)
    added_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    added_at = models.DateTimeField(auto_now_add=True)
