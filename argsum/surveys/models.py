"""Surveys: several open questions to the same respondents, with one dataset per question."""

import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from ..datasets.models import Dataset


class Survey(models.Model):
    """Open questions of one or more survey exports.

    ``tool`` is the program whose headings were recognized; empty for any other table. ``roles``
    gives the use of each column at the last import: ``{column: role}``. ``groups`` are the comment
    attributes made from closed questions, in the order of the file.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="surveys")
    name = models.CharField(_("name"), max_length=120)
    tool = models.CharField(max_length=20, blank=True)
    roles = models.JSONField(default=dict)
    groups = models.JSONField(default=list)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["study", "name"], name="survey_name_once")]

    def __str__(self) -> str:
        return self.name


class SurveyQuestion(models.Model):
    """An open question; ``column``, its heading in the file, identifies it in later imports."""

    survey = models.ForeignKey(Survey, models.CASCADE, related_name="questions", db_index=False)
    dataset = models.OneToOneField(Dataset, models.CASCADE, related_name="survey_question")
    position = models.PositiveIntegerField()
    column = models.TextField()
    text = models.CharField(max_length=500)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["survey", "column"], name="survey_question_once")
        ]

    def __str__(self) -> str:
        return self.text[:80]


class Respondent(models.Model):
    """A person who answered a survey; their comments in all its datasets have the same ``key``."""

    survey = models.ForeignKey(Survey, models.CASCADE, related_name="respondents", db_index=False)
    key = models.CharField(max_length=64)
    # The id in the file; without an id, it is derived from the answers.
    name = models.CharField(max_length=120)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["survey", "key"], name="survey_respondent_once")
        ]

    def __str__(self) -> str:
        return self.name
