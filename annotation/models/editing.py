"""Experts turn machine answers into gold ones: rounds, tasks, drafts and revisions."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from .answers import Answer


class EditingRound(models.Model):
    """Answers given to experts: some to everybody for calibration, the others to one each."""

    class State(models.TextChoices):
        """draft → open ⇄ closed; closed shows experts each other's versions."""

        DRAFT = "draft", _("Draft")
        OPEN = "open", _("Open")
        CLOSED = "closed", _("Closed")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    study = models.ForeignKey("people.Study", models.CASCADE, related_name="editing_rounds")
    name = models.CharField(_("name"), max_length=120)
    state = models.CharField(max_length=6, choices=State, default=State.DRAFT)
    seed = models.PositiveIntegerField(_("seed"), default=1)
    instructions = models.TextField(_("instructions"), blank=True)
    # What the answers were chosen by, and the sizes of the sets.
    recipe = models.JSONField(default=dict)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)
    # From here on experts may have seen each other's versions, whatever happens to the round.
    first_closed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["study", "name"], name="editing_round_name_once")
        ]

    def __str__(self) -> str:
        return self.name


class EditingTask(models.Model):
    """One answer on one expert's desk, with the draft as it was last saved."""

    class State(models.TextChoices):
        """A change after submitting makes a task one to do again."""

        OPEN = "open", _("To do")
        SUBMITTED = "submitted", _("Submitted")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    editing_round = models.ForeignKey(
        EditingRound, models.CASCADE, related_name="tasks", db_index=False
    )
    editor = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="editing_tasks"
    )
    answer = models.ForeignKey(Answer, models.PROTECT, related_name="editing_tasks")
    is_calibration = models.BooleanField(default=False)
    position = models.PositiveIntegerField()
    state = models.CharField(max_length=9, choices=State, default=State.OPEN)
    draft = models.TextField(blank=True)
    # Raised by one with every accepted change; 0 while the draft is the answer itself.
    draft_version = models.PositiveIntegerField(default=0)
    draft_saved_at = models.DateTimeField(null=True)
    # The page that saved last, the number it gave its save, and the version it began from: what
    # it sends on may be based on any version since then, because all of them are its own.
    draft_client = models.CharField(max_length=36, blank=True)
    draft_sequence = models.PositiveIntegerField(default=0)
    draft_since = models.PositiveIntegerField(default=0)
    # Seconds during which somebody worked on it, as the page counted them.
    active_seconds = models.PositiveIntegerField(default=0)
    submitted_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(
                fields=["editing_round", "editor", "answer"], name="editing_task_once"
            ),
            models.UniqueConstraint(
                fields=["editing_round", "editor", "position"], name="editing_position_once"
            ),
        ]
        indexes = [models.Index(fields=["editor", "state"])]

    @property
    def machine_text(self) -> str:
        """The answer as it was handed out, with the line ends that browsers use."""
        return plain_lines(self.answer.text)

    @property
    def text(self) -> str:
        """What stands on the desk now."""
        return self.draft if self.draft_version else self.machine_text


class DraftConflict(models.Model):
    """A text that came for a draft which somebody else, or another tab, had changed since."""

    class Choice(models.TextChoices):
        """Which text went on."""

        MINE = "mine", _("this text")
        THEIRS = "theirs", _("the stored text")
        MERGED = "merged", _("a text merged by hand")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    task = models.ForeignKey(EditingTask, models.CASCADE, related_name="conflicts")
    # The version it was written from, and the one it met.
    base_version = models.PositiveIntegerField()
    met_version = models.PositiveIntegerField()
    text = models.TextField()
    client = models.CharField(max_length=36, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    settled_at = models.DateTimeField(null=True)
    choice = models.CharField(max_length=6, choices=Choice, blank=True)

    class Meta:
        ordering = ["pk"]


class EarlierDraft(models.Model):
    """A draft kept before another text took its place, for going back to it."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    task = models.ForeignKey(EditingTask, models.CASCADE, related_name="earlier_drafts")
    version = models.PositiveIntegerField()
    text = models.TextField()
    client = models.CharField(max_length=36, blank=True)
    saved_at = models.DateTimeField()

    class Meta:
        ordering = ["-version"]


class Revision(models.Model):
    """A submitted version of an answer; never changed."""

    class Reason(models.TextChoices):
        """What the changes of a revision were for."""

        CITATION = "citation", _("Citation corrected")
        UNFAITHFUL = "unfaithful", _("Claim that no argument supports taken out or corrected")
        ADDED = "added", _("Argument or aspect added")
        REPETITION = "repetition", _("Repetition removed")
        WORDING = "wording", _("Wording, grammar or style")
        STRUCTURE = "structure", _("Structure or order of the parts")
        LENGTH = "length", _("Length")
        CHOICE = "choice", _("Final choice changed or made clear")
        UNCHANGED = "unchanged", _("Nothing had to be changed")
        OTHER = "other", _("Something else (see the comment)")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    task = models.ForeignKey(EditingTask, models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    text = models.TextField()
    text_sha256 = models.CharField(max_length=64, editable=False)
    # Codes of `Reason`.
    reasons = models.JSONField(default=list)
    comment = models.TextField(blank=True)
    # {name of a check: passed, or null where it could not be judged} when it was submitted.
    checks = models.JSONField(default=dict)
    # All work on the task until then.
    active_seconds = models.PositiveIntegerField(default=0)
    # Given by the page, so that a request sent twice makes one revision.
    client_key = models.CharField(max_length=64)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["task", "number"], name="revision_number_once"),
            models.UniqueConstraint(fields=["task", "client_key"], name="revision_key_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="revision_number_from_one"),
        ]


class RoundComment(models.Model):
    """A word in the discussion of one calibration answer of a round."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    editing_round = models.ForeignKey(
        EditingRound, models.CASCADE, related_name="comments", db_index=False
    )
    answer = models.ForeignKey(Answer, models.PROTECT, related_name="+")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["editing_round", "answer", "id"])]


def plain_lines(text: str) -> str:
    """Line ends as a text field of a browser has them."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
