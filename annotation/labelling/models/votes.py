"""Votes: items served to raters, and what they said."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class Assignment(models.Model):
    """One item served to one rater, and the answer: label, skip or nothing yet.

    A counted vote of a live campaign holds a slot; a late one whose slot went
    to somebody else is kept as an extra (``is_extra``), never refused.
    """

    class State(models.TextChoices):
        """served → answered | skipped; expired can still be answered; void never counts."""

        SERVED = "served", _("Served")
        ANSWERED = "answered", _("Answered")
        SKIPPED = "skipped", _("Skipped")
        EXPIRED = "expired", _("Reservation ran out")
        VOID = "void", _("Not submitted")

    class SkipReason(models.TextChoices):
        """Why somebody could not label an item."""

        UNCLEAR = "unclear", _("I do not understand the sentence")
        BROKEN = "broken", _("The sentence is broken or empty")
        UNKNOWN = "unknown", _("I do not know the objects")
        OFFENSIVE = "offensive", _("The sentence is offensive")
        OTHER = "other", _("Another reason")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    campaign = models.ForeignKey("annotation.Campaign", models.CASCADE, related_name="assignments")
    item = models.ForeignKey("annotation.Item", models.PROTECT, related_name="assignments")
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="assignments")
    slot = models.OneToOneField("annotation.Slot", models.PROTECT, null=True)
    state = models.CharField(max_length=8, choices=State, default=State.SERVED)
    block = models.PositiveIntegerField(default=0)
    position = models.PositiveSmallIntegerField(default=0)
    label = models.PositiveSmallIntegerField(null=True)
    is_extra = models.BooleanField(default=False)
    skip_reason = models.CharField(max_length=10, choices=SkipReason, blank=True)
    comment = models.CharField(max_length=1_000, blank=True)
    is_flagged = models.BooleanField(default=False)
    external_id = models.CharField(max_length=200, blank=True)
    served_at = models.DateTimeField(null=True)
    shown_at = models.DateTimeField(null=True)
    answered_at = models.DateTimeField(null=True)
    # Claimed by the browser (visible and in use), bounded by the server.
    active_ms = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["item", "rater"], condition=~Q(state="void"), name="vote_once_per_rater"
            ),
            models.UniqueConstraint(
                fields=["campaign", "external_id"],
                condition=~Q(external_id=""),
                name="vote_external_once",
            ),
            models.CheckConstraint(
                condition=Q(state="answered", label__isnull=False)
                | (~Q(state="answered") & Q(label__isnull=True)),
                name="vote_label_when_answered",
            ),
            models.CheckConstraint(
                condition=Q(label__isnull=True) | Q(label__lte=9), name="vote_label_range"
            ),
        ]
        indexes = [
            models.Index(fields=["rater", "campaign", "state", "block", "position"]),
            models.Index(fields=["campaign", "state", "id"]),
            models.Index(fields=["campaign", "-answered_at"]),
        ]


class VoteEvent(models.Model):
    """One act on an assignment; rows are only added, so a changed mind stays visible."""

    class Kind(models.TextChoices):
        """What happened."""

        ANSWER = "answer", _("Labelled")
        CHANGE = "change", _("Changed")
        SKIP = "skip", _("Skipped")
        FLAG = "flag", _("Flagged")

    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="events")
    client_key = models.CharField(max_length=64)
    kind = models.CharField(max_length=6, choices=Kind)
    label = models.PositiveSmallIntegerField(null=True)
    skip_reason = models.CharField(max_length=10, blank=True)
    comment = models.CharField(max_length=1_000, blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["assignment", "client_key"], name="event_key_once")
        ]
