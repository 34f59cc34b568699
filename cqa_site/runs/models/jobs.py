"""Background work as rows: the database is the truth, a broker only wakes workers."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from cqa_site.web.logging import request_id


class Job(models.Model):
    """One piece of long work: an import, an export, a snapshot, a backup of the site.

    Workers claim ready rows with a lease and a fencing number. A result is
    written only under the current fence, in the transaction that ends the job.
    """

    class State(models.TextChoices):
        """Life of a job; ready and leased jobs are active."""

        READY = "ready", _("Waiting")
        LEASED = "leased", _("Running")
        DONE = "done", _("Done")
        FAILED = "failed", _("Failed")

    ACTIVE = (State.READY, State.LEASED)
    NOTE_LENGTH = 200

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    # None for work that the whole site asks for, as a backup is.
    study = models.ForeignKey("people.Study", models.CASCADE, null=True, related_name="jobs")
    kind = models.CharField(max_length=40)
    payload = models.JSONField(default=dict)
    key = models.CharField(max_length=120)
    state = models.CharField(max_length=6, choices=State, default=State.READY)
    run_after = models.DateTimeField(db_default=Now())
    fence = models.BigIntegerField(default=0)
    leased_by = models.CharField(max_length=36, blank=True)
    lease_until = models.DateTimeField(null=True)
    losses = models.PositiveSmallIntegerField(default=0)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(default=0)
    note = models.CharField(max_length=NOTE_LENGTH, blank=True)
    error = models.TextField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    # Of whoever asked: log lines of the work name it, and so do those of the click.
    request_id = models.CharField(max_length=64, blank=True, default=request_id, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["key"],
                condition=models.Q(state__in=["ready", "leased"]),
                name="job_active_once",
            ),
            models.CheckConstraint(
                condition=models.Q(state="leased", lease_until__isnull=False)
                | (~models.Q(state="leased") & models.Q(lease_until__isnull=True)),
                name="job_lease_only_while_leased",
            ),
        ]
        indexes = [
            models.Index(
                fields=["run_after", "id"], condition=models.Q(state="ready"), name="job_ready"
            ),
            models.Index(
                fields=["lease_until"], condition=models.Q(state="leased"), name="job_leased"
            ),
            # For `cqa_site.upkeep.watching`, as the next one.
            models.Index(fields=["kind"], condition=models.Q(state="failed"), name="job_failed"),
            models.Index(fields=["losses"], condition=models.Q(losses__gt=0), name="job_lost"),
            models.Index(fields=["study", "-created_at"]),
        ]

    @property
    def is_active(self) -> bool:
        """Whether it still waits or runs."""
        return self.state in self.ACTIVE


class WorkerBeat(models.Model):
    """When each worker process was last alive, for the notice that nobody works."""

    worker = models.CharField(max_length=36, unique=True)
    host = models.CharField(max_length=120)
    process_id = models.PositiveIntegerField()
    # Which code it runs; see `processes.mark_of_code`.
    code = models.CharField(max_length=16, blank=True)
    seen_at = models.DateTimeField()
