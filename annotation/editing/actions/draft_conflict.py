"""The choice between a conflicting text and the stored draft; the other one is stored too."""

from django.db import models, transaction
from django.utils.translation import gettext_lazy as _

from annotation.editing.models import EarlierDraft, EditingSheet, KeptText
from cqa_site.rounds.drafts import DraftSubmission, save_draft

from .kind import EditContent


class ConflictChoice(models.TextChoices):
    """The text to continue with."""

    MINE = "mine", _("this text")
    THEIRS = "theirs", _("the stored text")
    MERGED = "merged", _("a text merged by hand")


def settle_text(
    *, sheet: EditingSheet, kept: KeptText, choice: str, base_version: int, merged: str = ""
) -> None:
    """Continue with the conflicting text, the stored one, or a merged one.

    ``base_version`` is the draft that the chooser saw. Raises RoundNotOpen, or StaleDraft where
    the draft has changed once more; the kept text waits then as before.
    """
    if choice != ConflictChoice.THEIRS:
        text = merged if choice == ConflictChoice.MERGED else kept.content["text"]
        save_draft(sheet=sheet, sent=DraftSubmission(EditContent(text), base_version))
    with transaction.atomic():
        if choice != ConflictChoice.MINE:
            text, at = kept.content["text"], kept.created_at
            EarlierDraft.objects.create(sheet=sheet, text=text, saved_at=at)
        kept.delete()
