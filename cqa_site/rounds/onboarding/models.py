"""Onboardings and their versions, people's results in the steps, and qualifications."""

import uuid
from collections.abc import Mapping
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class Onboarding(models.Model):
    """A named guideline with the steps before work; a round uses one of its versions."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="onboardings")
    name = models.CharField(_("name"), max_length=120)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["study", "name"], name="onboarding_name_once")
        ]

    def __str__(self) -> str:
        return self.name


class OnboardingVersion(models.Model):
    """A version with a text and an ordered list of steps, which never change."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    onboarding = models.ForeignKey(Onboarding, models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    text = models.TextField(_("guideline"), blank=True)
    # [{"kind": "consent", …}, …], each kind at most once; see `cqa_site.rounds.onboarding.forms`.
    steps = models.JSONField(default=list)
    # After a small change, people who have passed the previous version do not repeat the steps.
    keeps_qualifications = models.BooleanField(default=False)
    valid_days = models.PositiveIntegerField(_("days a qualification is valid"), null=True)
    created_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(
                fields=["onboarding", "number"], name="onboarding_version_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.onboarding} (v{self.number})"

    def step(self, kind: str) -> Mapping[str, Any] | None:
        return next((step for step in self.steps if step["kind"] == kind), None)


class StepResult(models.Model):
    """A person's result in a step; rows are only added.

    A result without a version belongs to a round that shows its own guideline.
    """

    class Outcome(models.TextChoices):
        """Outcomes of a step; single answers to exercises are stored as answered."""

        ANSWERED = "answered", _("Answered")
        PASSED = "passed", _("Passed")
        FAILED = "failed", _("Not passed")
        DECLINED = "declined", _("Declined")

    rater = models.ForeignKey("people.Rater", models.CASCADE, related_name="step_results")
    round = models.ForeignKey("rounds.Round", models.CASCADE, related_name="step_results")
    version = models.ForeignKey(
        OnboardingVersion, models.CASCADE, null=True, related_name="results"
    )
    step = models.CharField(max_length=20)
    attempt = models.PositiveSmallIntegerField(default=1)
    outcome = models.CharField(max_length=8, choices=Outcome)
    answers = models.JSONField(default=dict)
    started_at = models.DateTimeField(null=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["version", "step", "outcome"])]


class Qualification(models.Model):
    """The qualification of a person who passed the steps of a version or was admitted."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    rater = models.ForeignKey("people.Rater", models.CASCADE, related_name="qualifications")
    version = models.ForeignKey(OnboardingVersion, models.CASCADE, related_name="qualifications")
    # Empty if the person passed the steps.
    granted_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    reason = models.CharField(max_length=300, blank=True)
    granted_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    withdrawn_at = models.DateTimeField(null=True)
    withdrawn_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    withdrawal_reason = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["version", "rater"])]
        constraints = [
            models.CheckConstraint(
                condition=Q(withdrawn_at__isnull=True) | Q(withdrawn_by__isnull=False),
                name="qualification_withdrawn_by_somebody",
            )
        ]


class TypedText(models.Model):
    """A record of how one text was entered in the browser; the text itself is stored elsewhere.

    The row stores the numbers of characters typed with single keys, pasted and entered otherwise,
    and the time between keys.
    """

    round = models.ForeignKey("rounds.Round", models.CASCADE, related_name="typed_texts")
    rater = models.ForeignKey("people.Rater", models.CASCADE, related_name="typed_texts")
    typed = models.PositiveIntegerField()
    pasted = models.PositiveIntegerField()
    inserted = models.PositiveIntegerField()
    pastes = models.PositiveIntegerField()
    typing_ms = models.PositiveIntegerField()
    # Whether a field that people do not see was filled in.
    filled_trap = models.BooleanField(default=False)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["round", "rater"])]


class SurveyResponse(models.Model):
    """A person's survey answers, which are never shown beside judgements."""

    round = models.ForeignKey("rounds.Round", models.CASCADE, related_name="survey_responses")
    rater = models.ForeignKey("people.Rater", models.CASCADE, related_name="survey_responses")
    version = models.ForeignKey(OnboardingVersion, models.CASCADE, related_name="responses")
    answers = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["round", "rater"], name="survey_response_once")
        ]
