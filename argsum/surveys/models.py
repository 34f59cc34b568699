"""Surveys: several open questions answered by the same respondents, one dataset a question."""

import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from ..datasets.models import Dataset


class Survey(models.Model):
    """Open questions of one or more survey exports.

    ``tool`` is the program whose headings were recognized; empty for any other table. ``roles``
    say what each column was used for at the last import: ``{column: role}``. ``groups`` are the
    comment attributes that closed questions became, in the order of the file.
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
    """An open question; ``column`` is its heading in the file, which finds it again."""

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
    """Somebody who answered a survey; ``key`` is that of their comments in all its datasets."""

    survey = models.ForeignKey(Survey, models.CASCADE, related_name="respondents", db_index=False)
    key = models.CharField(max_length=64)
    # The id in the file; without one it is made of the answers.
    name = models.CharField(max_length=120)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["survey", "key"], name="survey_respondent_once")
        ]

    def __str__(self) -> str:
        return self.name
