"""Faithfulness of answers to their arguments: stored figures and verdicts of judges."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from cqa_site.judging.embedding import PACKAGED_MODEL


class FaithfulnessSettings(models.Model):
    """Settings of a study's faithfulness figures; a study without a row uses the defaults."""

    study = models.OneToOneField("people.Study", models.CASCADE, related_name="faithfulness")
    # Name of the sentence-embedding model; if empty, no similarities are computed.
    embedding = models.CharField(max_length=120, blank=True, default=PACKAGED_MODEL)


class FaithfulnessFigures(models.Model):
    """Figures of one text, valid until the text, its arguments or labels, or the recipe changes.

    The text is an answer as written by a system, or an expert's revision of it.
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
    # Key of everything the figures were computed from; if it differs, they are stale.
    key = models.CharField(max_length=64)
    # See methods/faithfulness.py. The columns below repeat the values of the whole text, so that
    # the database can sort and count them.
    values = models.JSONField(default=dict)
    segments = models.PositiveIntegerField(default=0)
    jaccard_text = models.FloatField(null=True)
    jaccard_segment = models.FloatField(null=True)
    levenshtein = models.FloatField(null=True)
    similarity = models.FloatField(null=True)
    precision = models.FloatField(null=True)
    recall = models.FloatField(null=True)
    f1 = models.FloatField(null=True)
    # In sound mode: [start and end of a segment, cited number], for numbers in the list.
    citations = models.JSONField(default=list)
    out_of_range = models.PositiveIntegerField(default=0)
    malformed = models.PositiveIntegerField(default=0)
    # Name of the sentence-embedding model; empty until similarities have been computed.
    embedding = models.CharField(max_length=120, blank=True)
    at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            # NULLs are never equal, so each constraint only affects rows with a value.
            models.UniqueConstraint(fields=["answer", "mode"], name="figures_once_per_answer"),
            models.UniqueConstraint(fields=["revision", "mode"], name="figures_once_per_revision"),
            models.CheckConstraint(
                condition=Q(answer__isnull=False, revision__isnull=True)
                | Q(answer__isnull=True, revision__isnull=False),
                name="figures_of_one_text",
            ),
        ]


class EditedText(models.Model):
    """A text written by people, with the machine answer it is based on.

    For a task, the text is the expert's newest revision. An imported gold text is paired with the
    machine answer to the same question that differs from it by the fewest words.
    """

    before = models.ForeignKey("annotation.Answer", models.CASCADE, related_name="edited_texts")
    revision = models.OneToOneField(
        "annotation.Revision", models.CASCADE, null=True, related_name="edited_text"
    )
    gold = models.OneToOneField(
        "annotation.Answer", models.CASCADE, null=True, related_name="edited_text"
    )
    # Key of both texts, their arguments and the recipe; if it differs, the row is stale.
    key = models.CharField(max_length=64)
    # Number of words to insert, delete or replace.
    edit_distance = models.PositiveIntegerField()
    words_before = models.PositiveIntegerField()
    words_after = models.PositiveIntegerField()
    # {code of a check: whether it passed, or null if it cannot be judged}
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
    # One request is about one citation, so its call identifies a verdict.
    call = models.OneToOneField("runs.Call", models.CASCADE, related_name="coherence_verdict")
    answer = models.ForeignKey(
        "annotation.Answer", models.CASCADE, related_name="coherence_verdicts"
    )
    revision = models.ForeignKey(
        "annotation.Revision", models.CASCADE, null=True, related_name="coherence_verdicts"
    )
    # Position of the citing segment in the text, and the cited number.
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    number = models.PositiveSmallIntegerField()
    replicate = models.PositiveSmallIntegerField(default=0)
    is_coherent = models.BooleanField(null=True)
    reason = models.CharField(max_length=40, blank=True)
    rationale = models.TextField(blank=True)
    # Fence of the attempt that returned the reply.
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
