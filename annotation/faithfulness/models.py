"""Faithfulness of answers to their arguments: stored figures and verdicts of judges."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from cqa_site.judging.embedding import PACKAGED_MODEL


class FaithfulnessSettings(models.Model):
    """Settings of a study's faithfulness figures; a study without a row has the default."""

    study = models.OneToOneField("people.Study", models.CASCADE, related_name="faithfulness")
    # The sentence-embedding model by name; empty makes no similarity.
    embedding = models.CharField(max_length=120, blank=True, default=PACKAGED_MODEL)


class FaithfulnessFigures(models.Model):
    """Figures of one text, valid until the text, its arguments, labels or the recipe change.

    The text is an answer as a system wrote it, or an expert's revision of it.
    """

    class Mode(models.TextChoices):
        PAPER = "paper", _("As in the paper")
        SOUND = "sound", _("Sound")

    answer = models.ForeignKey(
        "annotation.Answer", models.CASCADE, null=True, related_name="figures", db_index=False
    )
    revision = models.ForeignKey(
        "annotation.Revision", models.CASCADE, null=True, related_name="figures", db_index=False
    )
    mode = models.CharField(max_length=5, choices=Mode)
    # Of everything the figures were made from; another key means they are stale.
    key = models.CharField(max_length=64)
    # See methods/faithfulness.py; the columns below say the same of the whole text, so that the
    # database can sort and count.
    values = models.JSONField(default=dict)
    segments = models.PositiveIntegerField(default=0)
    jaccard_text = models.FloatField(null=True)
    jaccard_segment = models.FloatField(null=True)
    levenshtein = models.FloatField(null=True)
    similarity = models.FloatField(null=True)
    precision = models.FloatField(null=True)
    recall = models.FloatField(null=True)
    f1 = models.FloatField(null=True)
    # In sound mode: [start and end of a segment, number it cites] for numbers of the list.
    citations = models.JSONField(default=list)
    out_of_range = models.PositiveIntegerField(default=0)
    malformed = models.PositiveIntegerField(default=0)
    # Empty until vectors were there; the sentence-embedding model by name.
    embedding = models.CharField(max_length=120, blank=True)
    at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            # A missing answer or revision equals no other: each holds for rows that have one.
            models.UniqueConstraint(fields=["answer", "mode"], name="figures_once_per_answer"),
            models.UniqueConstraint(fields=["revision", "mode"], name="figures_once_per_revision"),
            models.CheckConstraint(
                condition=Q(answer__isnull=False, revision__isnull=True)
                | Q(answer__isnull=True, revision__isnull=False),
                name="figures_of_one_text",
            ),
        ]


class EditedText(models.Model):
    """A text that people made from a machine answer, with that answer.

    Of an expert's task the newest revision; of an imported gold text the machine answer to the
    same question from which it is the fewest words away.
    """

    before = models.ForeignKey("annotation.Answer", models.CASCADE, related_name="edited_texts")
    revision = models.OneToOneField(
        "annotation.Revision", models.CASCADE, null=True, related_name="edited_text"
    )
    gold = models.OneToOneField(
        "annotation.Answer", models.CASCADE, null=True, related_name="edited_text"
    )
    # Of both texts, their arguments and the recipe; another key means it is stale.
    key = models.CharField(max_length=64)
    # Words to put in, take out or replace.
    edit_distance = models.PositiveIntegerField()
    words_before = models.PositiveIntegerField()
    words_after = models.PositiveIntegerField()
    # {code of a check: passed, or null where it cannot be judged}
    checks_before = models.JSONField(default=dict)
    checks_after = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(gold__isnull=False, revision__isnull=True)
                | Q(gold__isnull=True, revision__isnull=False),
                name="edited_text_has_one_origin",
            )
        ]


class CoherenceVerdict(models.Model):
    """A judge's verdict on one citation: whether the citing segment follows from the argument.

    The text is the answer itself, or a revision of it.
    """

    run = models.ForeignKey("runs.Run", models.CASCADE, related_name="coherence_verdicts")
    # One request asks about one citation, so a verdict is known by its call.
    call = models.OneToOneField("runs.Call", models.CASCADE, related_name="coherence_verdict")
    answer = models.ForeignKey(
        "annotation.Answer", models.CASCADE, related_name="coherence_verdicts"
    )
    revision = models.ForeignKey(
        "annotation.Revision", models.CASCADE, null=True, related_name="coherence_verdicts"
    )
    # Where the citing segment stands in the text, and the number it cites there.
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    number = models.PositiveSmallIntegerField()
    replicate = models.PositiveSmallIntegerField(default=0)
    is_coherent = models.BooleanField(null=True)
    reason = models.CharField(max_length=40, blank=True)
    rationale = models.TextField(blank=True)
    # Fence of the attempt whose reply this is.
    fence = models.BigIntegerField(default=0)
    at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(is_coherent__isnull=False, reason="")
                | (Q(is_coherent__isnull=True) & ~Q(reason="")),
                name="coherence_or_reason",
            )
        ]
