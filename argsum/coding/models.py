"""Parsed replies of language models: proposed lists of key points, and codes of statements."""

from django.db import models

from ..analysis.models import PointChange
from ..datasets.models import CellArgument


class ProposedList(models.Model):
    """Key points that a language model proposes in one reply.

    ``step`` is 0 if the model read statements; otherwise it is the merging round. ``entries`` are
    ``[[theme, text, [source, …]], …]``, where the sources are primary keys of statements; a merged
    entry has the sources of all entries merged into it. ``entries`` is empty if the reply was not
    usable; ``reason`` explains why.
    """

    run = models.ForeignKey(
        "runs.Run", models.CASCADE, related_name="proposed_lists", db_index=False
    )
    call = models.OneToOneField("runs.Call", models.CASCADE, related_name="proposed_list")
    step = models.PositiveSmallIntegerField()
    entries = models.JSONField(default=list)
    dropped = models.PositiveIntegerField(default=0)
    reason = models.CharField(max_length=40, blank=True)
    fence = models.BigIntegerField(default=0)
    # The edit that proposed these key points in the analysis.
    change = models.ForeignKey(PointChange, models.SET_NULL, null=True, related_name="+")

    class Meta:
        indexes = [models.Index(fields=["run", "step"])]


class CodedStatement(models.Model):
    """Codes that a language model assigns to a statement in one reply.

    ``codes`` come from the run's codebook and are empty if the statement fits no key point. If the
    reply has no usable codes for the statement, ``reason`` explains why. ``attempt`` counts
    requests about the same statement in a run, from 1.
    """

    run = models.ForeignKey(
        "runs.Run", models.CASCADE, related_name="coded_statements", db_index=False
    )
    call = models.ForeignKey("runs.Call", models.CASCADE, related_name="coded_statements")
    # None after the comments are deleted; the request remains in the ledger.
    argument = models.ForeignKey(CellArgument, models.SET_NULL, null=True, related_name="+")
    attempt = models.PositiveSmallIntegerField(default=1)
    codes = models.JSONField(default=list)
    note = models.TextField(blank=True)
    reason = models.CharField(max_length=40, blank=True)
    fence = models.BigIntegerField(default=0)
    # The nearest code according to the match scorer, and whether the scorer agrees with the codes;
    # set when the codes are applied.
    nearest = models.CharField(max_length=8, blank=True)
    agrees = models.BooleanField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["call", "argument"], name="coded_once_per_call")
        ]
        indexes = [
            models.Index(fields=["run", "argument", "attempt"]),
            models.Index(fields=["run", "agrees"]),
        ]
