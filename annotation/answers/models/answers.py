"""Comparative questions, the systems that answer them, and their answers."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.corpus.models.questions import ArgumentList, Question, text_key


class System(models.Model):
    """What writes answers: a model behind an endpoint, an imported source, or people."""

    class Kind(models.TextChoices):
        """Where its answers come from."""

        MODEL = "model", _("Language model")
        IMPORTED = "imported", _("Imported source")
        HUMAN = "human", _("People")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="systems")
    name = models.CharField(_("name"), max_length=120)
    kind = models.CharField(max_length=8, choices=Kind, default=Kind.IMPORTED)
    # As it is asked for; what really answered stands with each answer.
    model = models.CharField(_("model"), max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["study", "name"], name="system_name_once")]

    def __str__(self) -> str:
        return self.name


class Answer(models.Model):
    """One text as a system wrote it, verbatim and never changed."""

    class Scenario(models.IntegerChoices):
        """Which of the four prompts it was written under."""

        NONE = 0, _("No scenario")
        BARE = 1, _("1: bare")
        ARGUMENTS = 2, _("2: with arguments")
        STRUCTURE = 3, _("3: role, task and structure")
        FULL = 4, _("4: role, task, structure and arguments")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="answers")
    question = models.ForeignKey(Question, models.CASCADE, related_name="answers")
    system = models.ForeignKey(System, models.PROTECT, related_name="answers", db_index=False)
    # Everything it was written under; the scenario stands here as well, to be searched by.
    condition = models.ForeignKey("annotation.Condition", models.PROTECT, related_name="answers")
    scenario = models.PositiveSmallIntegerField(choices=Scenario, default=Scenario.NONE)
    # Of an imported answer: counts from 1 in its record. Of others: counts on among the answers
    # of the system to the question under the condition.
    choice = models.PositiveSmallIntegerField(default=1)
    argument_list = models.ForeignKey(
        ArgumentList, models.PROTECT, null=True, related_name="answers"
    )
    text = models.TextField()
    text_sha256 = models.CharField(max_length=64, editable=False)
    # An imported answer is known by its file and its place there (from 1).
    source = models.CharField(max_length=255, blank=True)
    position = models.PositiveIntegerField(default=0)
    # A generated answer is known by its call and choice.
    run = models.ForeignKey("runs.Run", models.CASCADE, null=True, related_name="answers")
    call = models.ForeignKey(
        "runs.Call", models.CASCADE, null=True, related_name="answers", db_index=False
    )
    prompt = models.ForeignKey(
        "runs.PromptVersion", models.PROTECT, null=True, related_name="answers"
    )
    # An answer by experts is known by the revision that it is; that one's task has the answer
    # from which it was edited.
    revision = models.OneToOneField(
        "annotation.Revision", models.PROTECT, null=True, related_name="scored_as"
    )
    # The model as the reply named it.
    model = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["question", "system", "scenario", "choice", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "source", "position", "choice"],
                condition=~Q(source=""),
                name="answer_imported_once",
            ),
            models.UniqueConstraint(
                fields=["call", "choice"],
                condition=Q(call__isnull=False),
                name="answer_generated_once",
            ),
            models.CheckConstraint(
                condition=Q(source="", call__isnull=False, revision__isnull=True)
                | Q(source="", call__isnull=True, revision__isnull=False)
                | (~Q(source="") & Q(call__isnull=True, revision__isnull=True)),
                name="answer_has_one_origin",
            ),
        ]
        indexes = [
            models.Index(fields=["study", "question", "system", "scenario", "choice"]),
            models.Index(fields=["system", "scenario"]),
        ]

    def __str__(self) -> str:
        return self.text[:80]

    def save(self, *args, **kwargs) -> None:
        """Keep the key in step with the text (bulk creation sets it itself)."""
        self.text_sha256 = text_key(self.text)
        super().save(*args, **kwargs)
