"""Comparisons, their arguments and questions, and the vectors of sentences."""

import uuid

from django.db import models
from django.utils.translation import gettext, gettext_lazy as _

from cqa_site.tabular.cells import text_key


class Comparison(models.Model):
    """Two objects in the given order, case-sensitive: Adidas/Nike differs from adidas/nike."""

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
    """One sentence retrieved for a comparison, identified by (object 1, object 2, sentence)."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="arguments")
    comparison = models.ForeignKey(Comparison, models.CASCADE, related_name="arguments")
    text = models.TextField(_("sentence"), blank=True)
    text_sha256 = models.CharField(max_length=64, editable=False)
    source_url = models.CharField(_("source"), max_length=2_000, blank=True)
    external_id = models.CharField(_("id in the source"), max_length=200, blank=True)
    # Further columns of the imported file by name; all values are strings.
    attributes = models.JSONField(_("further columns"), default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["comparison", "text_sha256"], name="argument_once")
        ]
        indexes = [models.Index(fields=["study", "comparison", "id"])]

    def __str__(self) -> str:
        return self.text[:80]

    def save(self, *args, **kwargs) -> None:
        """Save with the key that matches the text; code that creates rows in bulk sets the key."""
        self.text_sha256 = text_key(self.text)
        super().save(*args, **kwargs)

    @property
    def is_blank(self) -> bool:
        """Whether the sentence is blank; imports flag blank sentences in released data."""
        return not self.text.strip()


class Question(models.Model):
    """A comparison with an optional aspect and wording; the aspect belongs to the question."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="questions")
    comparison = models.ForeignKey(
        "annotation.Comparison", models.CASCADE, related_name="questions", db_index=False
    )
    aspect = models.CharField(_("aspect"), max_length=300, blank=True)
    wording = models.CharField(_("wording"), max_length=500, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["comparison__object1", "comparison__object2", "aspect", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["comparison", "aspect", "wording"], name="question_once"
            )
        ]
        indexes = [models.Index(fields=["study", "id"])]

    def __str__(self) -> str:
        if self.wording:
            return self.wording
        pair = {"object1": self.comparison.object1, "object2": self.comparison.object2}
        if self.aspect:
            pair["aspect"] = self.aspect
            return gettext("Which is better for %(aspect)s: %(object1)s or %(object2)s?") % pair
        return gettext("Which is better: %(object1)s or %(object2)s?") % pair


class ArgumentList(models.Model):
    """Arguments with the numbers that answers use to cite them."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    question = models.ForeignKey(
        Question, models.CASCADE, related_name="argument_lists", db_index=False
    )
    # Hash of the numbered texts in order, so that each list is stored only once.
    sha256 = models.CharField(max_length=64)
    # Origin of the list: filters and seed of a generation, or the imported file.
    recipe = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["question", "sha256"], name="argument_list_once")
        ]


class ListedArgument(models.Model):
    """One numbered entry in a list; a sentence may have several numbers."""

    argument_list = models.ForeignKey(
        ArgumentList, models.CASCADE, related_name="entries", db_index=False
    )
    number = models.PositiveSmallIntegerField()
    argument = models.ForeignKey("annotation.Argument", models.PROTECT, related_name="listings")

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(
                fields=["argument_list", "number"], name="listed_argument_once"
            )
        ]


class TextEmbedding(models.Model):
    """The stored vector of one text from one sentence-embedding model."""

    sha256 = models.CharField(max_length=64)
    model = models.CharField(max_length=120)
    # Little-endian float32.
    vector = models.BinaryField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["sha256", "model"], name="text_embedding_once")
        ]
