"""Editing of machine answers by experts: rounds, desks, drafts and revisions."""

import uuid

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from cqa_site.rounds.models import ConflictingDraft, Item, Round, Sheet, SheetEvent, Slot
from ..answers.models import Answer


class EditingRound(Round):
    """Answers assigned to experts: some to everybody for calibration, the rest to one expert each.

    Once the round is closed, experts see each other's versions.
    """

    kind_name = "edit"

    # Whether closing turns submitted texts into experts' answers, to be scored like other answers.
    makes_answers = models.BooleanField(
        _("Add submitted texts as answers when the round closes"), default=True
    )
    # After this time, experts may have seen each other's versions, whatever the round's state.
    first_closed_at = models.DateTimeField(null=True)


class EditingItem(Item):
    """One answer in a round."""

    round = models.ForeignKey(EditingRound, models.CASCADE, related_name="items", db_index=False)
    answer = models.ForeignKey(Answer, models.PROTECT, related_name="editing_items")

    class Meta(Item.Meta):
        constraints = [
            *Item.Meta.constraints,
            models.UniqueConstraint(fields=["round", "answer"], name="editing_item_once"),
        ]


class EditingSlot(Slot):
    """One sheet for an answer; each expert who edits the answer has a separate sheet."""

    round = models.ForeignKey(EditingRound, models.CASCADE, related_name="slots")
    item = models.ForeignKey(EditingItem, models.CASCADE, related_name="slots", db_index=False)


class EditingSheet(Sheet):
    """One answer on one expert's desk; drawn with the round, edited once the round is open."""

    kind_name = "edit"

    class Progress(models.TextChoices):
        """Progress of a sheet; a change after submission reopens it."""

        OPEN = "open", _("To do")
        SUBMITTED = "submitted", _("Submitted")

    study = models.ForeignKey(
        "people.Study", models.CASCADE, related_name="editing_sheets", db_index=False
    )
    rater = models.ForeignKey("people.Rater", models.PROTECT, related_name="editing_sheets")
    round = models.ForeignKey(EditingRound, models.CASCADE, related_name="sheets", db_index=False)
    slot = models.OneToOneField(EditingSlot, models.PROTECT, null=True, related_name="sheet")
    answer = models.ForeignKey(Answer, models.PROTECT, related_name="editing_sheets")
    is_calibration = models.BooleanField(default=False)
    # Latest submission; the comment explains the changes.
    submitted_text = models.TextField(blank=True)
    reasons = models.JSONField(default=list)

    class Meta(Sheet.Meta):
        constraints = [
            models.UniqueConstraint(
                fields=["round", "rater", "answer"], name="editing_sheet_once_per_round"
            ),
            models.UniqueConstraint(
                fields=["round", "rater", "place"], name="editing_sheet_place_once"
            ),
            models.CheckConstraint(
                condition=~Q(state="submitted") | Q(submitted_at__isnull=False),
                name="editing_sheet_time_when_submitted",
            ),
        ]
        indexes = [models.Index(fields=["study", "state", "rater"])]

    @property
    def machine_text(self) -> str:
        """The assigned machine answer, with the line endings that browsers use."""
        return plain_lines(self.answer.text)

    @property
    def text(self) -> str:
        """Current text on the desk."""
        if self.draft is not None:
            return self.draft["text"]
        return self.submitted_text if self.submitted_at else self.machine_text

    @property
    def is_to_do(self) -> bool:
        """Whether the sheet awaits its expert, including after a change to a submitted text."""
        return self.state == Sheet.State.OPEN or self.draft is not None

    @property
    def progress(self) -> str:
        return self.Progress.OPEN if self.is_to_do else self.Progress.SUBMITTED


class Revision(SheetEvent):
    """A submitted version of an answer, which never changes. Its text is in ``content``."""

    class Reason(models.TextChoices):
        CITATION = "citation", _("Citation corrected")
        UNFAITHFUL = "unfaithful", _("Unsupported claim removed or corrected")
        ADDED = "added", _("Argument or aspect added")
        REPETITION = "repetition", _("Repetition removed")
        WORDING = "wording", _("Wording, grammar or style")
        STRUCTURE = "structure", _("Structure or order")
        LENGTH = "length", _("Length")
        CHOICE = "choice", _("Final choice changed or clarified")
        UNCHANGED = "unchanged", _("No change needed")
        OTHER = "other", _("Other reason (see the comment)")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    sheet = models.ForeignKey(EditingSheet, models.PROTECT, related_name="events", db_index=False)
    number = models.PositiveIntegerField()
    text_sha256 = models.CharField(max_length=64, editable=False)
    # {name of a check: passed, or null if it could not be judged} at submission.
    checks = models.JSONField(default=dict)
    # All work on the sheet until this submission.
    active_seconds = models.PositiveIntegerField(default=0)

    class Meta(SheetEvent.Meta):
        ordering = ["number"]
        constraints = [
            *SheetEvent.Meta.constraints,
            models.UniqueConstraint(fields=["sheet", "number"], name="revision_number_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="revision_number_from_one"),
        ]

    @property
    def text(self) -> str:
        """Submitted text."""
        return self.content["text"]

    @property
    def reasons(self) -> list[str]:
        """Codes of `Reason`."""
        return self.content["reasons"]

    @property
    def comment(self) -> str:
        """Reasons in the expert's own words."""
        return self.content["comment"]


class ConflictingText(ConflictingDraft):
    """A text that conflicts with a draft changed on another page, and awaits a choice."""

    sheet = models.ForeignKey(EditingSheet, models.CASCADE, related_name="conflicts")


class EarlierDraft(models.Model):
    """An earlier draft, or a text not chosen after a conflict, for later reference."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    sheet = models.ForeignKey(EditingSheet, models.CASCADE, related_name="earlier_drafts")
    # None for a text from a conflict, which was never the draft.
    version = models.PositiveIntegerField(null=True)
    text = models.TextField()
    saved_at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]


class RoundComment(models.Model):
    """A comment in the discussion of one calibration answer in a round."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    editing_round = models.ForeignKey(
        EditingRound, models.CASCADE, related_name="comments", db_index=False
    )
    answer = models.ForeignKey(Answer, models.PROTECT, related_name="+")
    author = models.ForeignKey("people.User", models.PROTECT, related_name="+")
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["editing_round", "answer", "id"])]


def plain_lines(text: str) -> str:
    """Return the text with the line endings of a browser's text field."""
    return text.replace("\r\n", "\n").replace("\r", "\n")
