"""People of crowd platforms: the links by which they come into a round, and who came."""

import uuid
from urllib.parse import quote, urljoin

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

# Where platforms take a code; ``{code}`` stands for it.
KNOWN_PLATFORMS = {"prolific": "https://app.prolific.com/submissions/complete?cc={code}"}


class ParticipantLink(models.Model):
    """A link for a crowd platform; bearers become annotators of one study, for one round.

    The platform appends its own ids under the three parameter names. A
    completion code is kept per outcome and shown only when the server has
    counted the work.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="participant_links")
    round = models.ForeignKey("rounds.Round", models.CASCADE, related_name="links")
    platform = models.CharField(_("platform"), max_length=60, default="Prolific")
    secret_hash = models.CharField(max_length=64, unique=True, editable=False)
    participant_param = models.CharField(max_length=40, default="PROLIFIC_PID")
    study_param = models.CharField(max_length=40, default="STUDY_ID")
    session_param = models.CharField(max_length=40, default="SESSION_ID")
    completed_code = models.CharField(_("code: completed"), max_length=40)
    screened_out_code = models.CharField(_("code: screened out"), max_length=40)
    no_work_code = models.CharField(_("code: no work left"), max_length=40)
    fault_code = models.CharField(_("code: technical fault"), max_length=40)
    # Without one of its own, the code of people who are screened out; and none.
    skips_code = models.CharField(_("code: too many skips"), max_length=40, blank=True)
    stopped_code = models.CharField(_("code: stopped early"), max_length=40, blank=True)
    return_url = models.URLField(_("address for the way back"), max_length=300, blank=True)
    required_items = models.PositiveIntegerField(_("items to complete"), default=50)
    max_participants = models.PositiveIntegerField(_("participants at most"), default=500)
    expires_at = models.DateTimeField()
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]

    @property
    def is_open(self) -> bool:
        """Whether new participants may still come in."""
        return not self.closed_at and self.expires_at > timezone.now()

    def address_for(self, code: str = "") -> str:
        """Where the platform takes a code, without one its first page; empty where unknown."""
        known = KNOWN_PLATFORMS.get(self.platform.strip().lower(), "")
        address = self.return_url or known
        if code or not address:
            return address.replace("{code}", quote(code, safe=""))
        return urljoin(address, "/")


class Participant(models.Model):
    """One person of a crowd platform, bound to one user of one study and to one browser.

    ``browser_hash`` is the hash of what the browser keeps; empty after a release, when the next
    browser to come with the id gets the place. ``fault_report`` is what the person last wrote.
    """

    class Outcome(models.TextChoices):
        """How a participation ended; each has its own completion code."""

        RUNNING = "running", _("Running")
        COMPLETED = "completed", _("Completed")
        SCREENED_OUT = "screened_out", _("Screened out")
        NO_WORK = "no_work", _("No work left")
        FAULT = "fault", _("Technical fault")
        SKIPS = "too_many_skips", _("Too many skips")
        STOPPED = "stopped", _("Stopped early")
        WITHDRAWN = "withdrawn", _("Withdrawn")

    study = models.ForeignKey("people.Study", models.CASCADE, related_name="participants")
    link = models.ForeignKey(ParticipantLink, models.PROTECT, related_name="participants")
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="participant"
    )
    participant_id = models.CharField(max_length=128)
    platform_study_id = models.CharField(max_length=128, blank=True)
    session_id = models.CharField(max_length=128, blank=True)
    browser_hash = models.CharField(max_length=64, blank=True, editable=False)
    fault_report = models.TextField(blank=True)
    outcome = models.CharField(max_length=14, choices=Outcome, default=Outcome.RUNNING)
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["link", "participant_id"], name="participant_once")
        ]
