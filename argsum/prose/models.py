"""Summaries of an analysis in prose, written by a language model paragraph by paragraph."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from argsum.prose import methods
from ..analysis.models import Analysis


class ProseSummary(models.Model):
    """The summary of an analysis that one run writes.

    ``revision`` is the analysis's revision when the run began. ``printed`` counts the sentences
    supported by their citations, and ``left_out`` counts the other sentences; both are known once
    every reply has been checked.
    """

    run = models.OneToOneField("runs.Run", models.CASCADE, related_name="prose_summary")
    # None once the analysis is deleted; the requests stay in the ledger.
    analysis = models.ForeignKey(
        Analysis, models.SET_NULL, null=True, related_name="prose_summaries"
    )
    revision = models.PositiveIntegerField(default=0)
    printed = models.PositiveIntegerField(default=0)
    left_out = models.PositiveIntegerField(default=0)
    checked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]


class ProseParagraph(models.Model):
    """Sentences that a language model wrote about a theme in one reply.

    ``group`` is the primary key of the theme's first key point; attempts at a paragraph share it.
    ``sentences`` are ``[{"text": …, "cites": [number of a statement in the request, …], "fault":
    …}, …]``. ``outcomes`` has the result of checking each sentence: ``{"verdict": …, "cites":
    [remaining citations], "scores": {measure: number}}``; None until the check.
    """

    class Verdict(models.TextChoices):
        """Result of checking a sentence."""

        SUPPORTED = methods.SUPPORTED, _("Printed")
        UNSUPPORTED = methods.UNSUPPORTED, _("Not supported by what it cites")
        PART = methods.PART, _("Supported only in part")
        FIGURE = methods.FIGURE, _("A number that no cited statement has")
        EMPTY = methods.EMPTY, _("Empty")
        TOO_LONG = methods.TOO_LONG, _("Too long")
        UNCITED = methods.UNCITED, _("No citation")
        UNKNOWN = methods.UNKNOWN, _("Cites a statement that was not shown")
        TOO_MANY = methods.TOO_MANY, _("Too many citations")
        REPEATED = methods.REPEATED, _("Repeats an earlier sentence")

    run = models.ForeignKey(
        "runs.Run", models.CASCADE, related_name="prose_paragraphs", db_index=False
    )
    call = models.OneToOneField("runs.Call", models.CASCADE, related_name="prose_paragraph")
    group = models.BigIntegerField()
    attempt = models.PositiveSmallIntegerField(default=1)
    # The heading above the statements; empty for key points without a theme.
    theme = models.TextField(blank=True)
    sentences = models.JSONField(default=list)
    outcomes = models.JSONField(null=True)
    # Why no reply was usable.
    reason = models.CharField(max_length=40, blank=True)
    fence = models.BigIntegerField(default=0)

    class Meta:
        indexes = [models.Index(fields=["run", "group", "attempt"])]

    def __str__(self) -> str:
        return self.theme[:80]
