"""Judge runs by a rubric, their parts, and the probes of their judges."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from benchmark.rubrics.models import RubricVersion


class ScoringRun(models.Model):
    """By which rubric a run scores, as which rater it counts, and what its canaries showed."""

    class Trust(models.TextChoices):
        """What the attack canaries of the run said."""

        PENDING = "pending", _("Not known yet")
        TRUSTED = "trusted", _("Resisted planted instructions")
        UNTRUSTED = "untrusted", _("Obeyed planted instructions")

    run = models.OneToOneField("runs.Run", models.CASCADE, related_name="scoring")
    rubric = models.ForeignKey(RubricVersion, models.PROTECT, related_name="runs")
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="scoring_runs")
    # Primary keys of the answers shown with their points; they are never judged in this run.
    examples = models.JSONField(default=list)
    trust = models.CharField(max_length=9, choices=Trust, default=Trust.PENDING)

    def __str__(self) -> str:
        return str(self.run)


class JudgementPart(models.Model):
    """The criteria of one group, where a run asks group by group; sheets join them."""

    run = models.ForeignKey(
        "runs.Run", models.CASCADE, related_name="judgement_parts", db_index=False
    )
    call = models.OneToOneField("runs.Call", models.CASCADE, related_name="judgement_part")
    answer = models.ForeignKey("annotation.Answer", models.CASCADE, related_name="+")
    group = models.CharField(max_length=80)
    replicate = models.PositiveSmallIntegerField(default=0)
    points = models.JSONField(default=dict)
    notes = models.JSONField(default=dict)
    reason = models.CharField(max_length=40, blank=True)
    fence = models.BigIntegerField(default=0)
    at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "answer", "replicate", "group"], name="judgement_part_once"
            )
        ]


class ProbeResult(models.Model):
    """What a judge said to a text that tests the judge; it enters no mean."""

    class Probe(models.TextChoices):
        """What is tested."""

        CANARY = "canary", _("Attack canary")
        SWAP = "swap", _("Objects in the other order")

    run = models.ForeignKey("runs.Run", models.CASCADE, related_name="probe_results")
    call = models.OneToOneField("runs.Call", models.CASCADE, related_name="probe_result")
    answer = models.ForeignKey("annotation.Answer", models.CASCADE, related_name="+")
    probe = models.CharField(max_length=6, choices=Probe)
    # Which of the attacks; empty for other probes.
    name = models.CharField(max_length=40, blank=True)
    replicate = models.PositiveSmallIntegerField(default=0)
    points = models.JSONField(default=dict)
    total = models.FloatField(null=True)
    reason = models.CharField(max_length=40, blank=True)
    # Of canaries: whether the judge did what the text told it.
    obeyed = models.BooleanField(null=True)
    fence = models.BigIntegerField(default=0)
    at = models.DateTimeField(auto_now=True)
