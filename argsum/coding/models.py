"""Rows of language model replies: proposed lists of key points, and codes of statements."""

from django.db import models

from ..analysis.models import PointChange
from ..datasets.models import CellArgument


class ProposedList(models.Model):
    """Key points that a language model proposes in one reply.

    ``step`` is 0 where it read statements, else the round of merging lists. ``entries`` are
    ``[[theme, text, [source, …]], …]``; sources are statements by primary key, where lists were
    merged those of the merged entries. Empty where no reply could be used, for the ``reason``.
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
    # The edit that proposed its key points in the analysis.
    change = models.ForeignKey(PointChange, models.SET_NULL, null=True, related_name="+")

    class Meta:
        indexes = [models.Index(fields=["run", "step"])]


class CodedStatement(models.Model):
    """Codes that a language model gives a statement in one reply.

    ``codes`` are those of the run's codebook, none where the statement fits none. Where the reply
    has no usable codes for it, ``reason`` says why. ``attempt`` counts requests about the same
    statement in a run, from 1.
    """

    run = models.ForeignKey(
        "runs.Run", models.CASCADE, related_name="coded_statements", db_index=False
    )
    call = models.ForeignKey("runs.Call", models.CASCADE, related_name="coded_statements")
    # None once the comments are deleted; the request stays in the ledger.
    argument = models.ForeignKey(CellArgument, models.SET_NULL, null=True, related_name="+")
    attempt = models.PositiveSmallIntegerField(default=1)
    codes = models.JSONField(default=list)
    note = models.TextField(blank=True)
    reason = models.CharField(max_length=40, blank=True)
    fence = models.BigIntegerField(default=0)
    # The code that the match scorer finds nearest, and whether it agrees with the codes; known
    # once the codes are applied.
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
