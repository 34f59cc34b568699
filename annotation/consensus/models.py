"""Results of voting: expert decisions, adoptions and final labels."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class Adjudication(models.Model):
    """An expert's decision on one argument of a round; superseded rows are kept."""

    class Source(models.TextChoices):
        QUEUE = "queue", _("Adjudication queue")
        ADOPTED = "adopted", _("Adopted from another round")

    label_round = models.ForeignKey(
        "annotation.LabelRound", models.CASCADE, related_name="adjudications"
    )
    argument = models.ForeignKey(
        "annotation.Argument", models.PROTECT, related_name="adjudications"
    )
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="adjudications")
    label = models.PositiveSmallIntegerField()
    comment = models.CharField(max_length=1_000, blank=True)
    source = models.CharField(max_length=8, choices=Source, default=Source.QUEUE)
    created_at = models.DateTimeField(auto_now_add=True)
    superseded_at = models.DateTimeField(null=True)
    # Undone by the expert, not replaced by a new decision.
    is_undone = models.BooleanField(default=False)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(is_undone=False) | Q(superseded_at__isnull=False),
                name="adjudication_undone_is_over",
            ),
            models.UniqueConstraint(
                fields=["label_round", "argument", "rater"],
                condition=Q(superseded_at__isnull=True),
                name="adjudication_in_force_once",
            ),
            models.CheckConstraint(condition=Q(label__lte=9), name="adjudication_label_range"),
        ]


class Adoption(models.Model):
    """One rater's labels in another round, used as decisions here; withdrawn rows are kept.

    An adoption is a rule, not a copy. The labels and ties at the time of computing final labels
    determine which sentences it decides, so order and repetition do not matter.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    label_round = models.ForeignKey(
        "annotation.LabelRound", models.CASCADE, related_name="adoptions"
    )
    source = models.ForeignKey("annotation.LabelRound", models.CASCADE, related_name="lent_to")
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="adoptions")
    only_tied = models.BooleanField(default=True)
    created_by = models.ForeignKey("people.User", models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["label_round", "source", "rater"],
                condition=Q(withdrawn_at__isnull=True),
                name="adoption_in_force_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.source}: {self.rater.described}"


class FinalLabel(models.Model):
    """The label of one argument in one round, with its provenance.

    Recomputing rewrites these rows from votes, expert rounds, adoptions and adjudications, and
    leaves those sources unchanged.
    """

    class Provenance(models.TextChoices):
        """Provenance of a final label, in order of precedence, strongest first."""

        ADJUDICATED = "adjudicated", _("Adjudicated")
        ADOPTED = "adopted", _("Adopted")
        EXPERT = "expert", _("Expert override")
        VOTES = "votes", _("Votes")
        NONE = "none", _("No counted vote")

    label_round = models.ForeignKey(
        "annotation.LabelRound", models.CASCADE, related_name="final_labels"
    )
    argument = models.ForeignKey(
        "annotation.Argument", models.PROTECT, related_name="final_labels"
    )
    label = models.PositiveSmallIntegerField(null=True)
    provenance = models.CharField(max_length=12, choices=Provenance)
    majority_label = models.PositiveSmallIntegerField(null=True)
    dawid_skene_label = models.PositiveSmallIntegerField(null=True)
    mace_label = models.PositiveSmallIntegerField(null=True)
    expert_label = models.PositiveSmallIntegerField(null=True)
    adopted_label = models.PositiveSmallIntegerField(null=True)
    adjudicated_label = models.PositiveSmallIntegerField(null=True)
    votes = models.PositiveIntegerField(default=0)
    pattern = models.CharField(max_length=40, blank=True)
    is_tied = models.BooleanField(default=False)
    spread = models.PositiveSmallIntegerField(default=0)
    methods_differ = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["label_round", "argument"], name="final_label_once")
        ]
        indexes = [
            models.Index(fields=["label_round", "is_tied", "-spread", "id"]),
            models.Index(fields=["label_round", "provenance", "id"]),
            models.Index(fields=["label_round", "label", "id"]),
        ]


class PreferredLabels(models.Model):
    """The round whose final labels a study uses when it needs one label per sentence.

    A study without a row uses each sentence's label from the newest round that has one.
    """

    study = models.OneToOneField("people.Study", models.CASCADE, related_name="preferred_labels")
    label_round = models.ForeignKey("annotation.LabelRound", models.CASCADE, related_name="+")
