"""Define editing as a task: sheets on desks, drafts, and checks of a text."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import models, transaction
from django.db.models import Count, Max, OuterRef, Q, Subquery, Sum
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from annotation.answers.actions import numbered_texts
from annotation.editing.actions.rounds import make_expert_answers
from annotation.editing.models import (
    ConflictingText,
    EarlierDraft,
    EditingItem,
    EditingRound,
    EditingSheet,
    EditingSlot,
    Revision,
)
from annotation.editing.reports import find_editing_violations
from cqa_site.people.models import Membership, Role, User
from cqa_site.rounds.drafts import DraftSubmission, is_same_page, save_draft
from cqa_site.rounds.kind import Audit, Card, RoundNotReady, SheetNotValid, Words
from cqa_site.rounds.lifecycle import Desk
from cqa_site.rounds.progress import SUBMITTED, count_of
from cqa_site.tabular.cells import text_key


@dataclass(frozen=True)
class ChecklistReading:
    """Results of the checklist for a text.

    Parameters
    ----------
    checks
        Results in the order of the checklist; see `annotation.answers.methods.checklist.Check`.
    cited
        Numbers of arguments that the text cites, ascending.
    """

    checks: list
    cited: list[int]

    def snapshot(self) -> dict[str, bool | None]:
        """Map the name of each check to its result, as stored with a revision."""
        return {check.name: check.is_passed for check in self.checks}


def arguments_of(sheet: EditingSheet) -> dict[int, str]:
    """Map number to sentence for the arguments on which the sheet's answer was based."""
    key = sheet.answer.argument_list_id
    return numbered_texts([key])[key] if key else {}


def read_text(sheet: EditingSheet, text: str, arguments: dict[int, str]) -> ChecklistReading:
    """Run the checklist on a text for the sheet."""
    from annotation.answers.methods.answer_text import find_citations
    from annotation.answers.methods.checklist import check_answer

    comparison = sheet.answer.question.comparison
    cited = {number for citation in find_citations(text) for number in citation.numbers}
    return ChecklistReading(
        checks=check_answer(text, arguments, comparison.object1, comparison.object2),
        cited=sorted(cited),
    )


KEEP_EVERY = 20
CALIBRATION, ALONE = Q(is_calibration=True), Q(is_calibration=False)


@dataclass(frozen=True)
class EditContent:
    """The content of a desk; two contents are equal if their texts are equal.

    The reasons (codes of `Revision.Reason`) and the comment belong to a submission, not to the
    draft.
    """

    text: str = ""
    reasons: list[str] = field(default_factory=list, compare=False)
    comment: str = field(default="", compare=False)


class EditingRoundKind(Desk):
    """The round kind in which an expert corrects a text and may submit it repeatedly."""

    name = "edit"
    audit = Audit(round="editing_round", person="editor")
    words = Words(
        rounds=lazy("Editing rounds"),
        about=lazy(
            "Experts edit machine answers into gold answers. Some answers go to all experts "
            "for calibration, and each of the others to one expert."
        ),
        things=lazy("Answers"),
        results=lazy("Agreement between experts"),
    )
    section = "answers"
    under = ("editing/",)
    terms = ("calibration set", "silver / gold answer", "segment")
    work_page = "desk"
    sheet_page = "desk_form"
    takes_controls = False
    subject = "answer"
    needed = ("answer__question__comparison",)
    item_needed = ("answer__question__comparison",)
    Round = EditingRound
    Item = EditingItem
    Slot = EditingSlot
    Sheet = EditingSheet
    Event = Revision
    Conflict = ConflictingText
    Content = EditContent
    settled = ("submitted_text", "reasons", "comment")
    figures = {
        "calibration": Count("pk", filter=CALIBRATION),
        "calibration_done": Count("pk", filter=SUBMITTED & CALIBRATION),
        "alone": Count("pk", filter=ALONE),
        "alone_done": Count("pk", filter=SUBMITTED & ALONE),
        "begun": Count("pk", filter=~SUBMITTED & Q(version__gt=0)),
        "revisions": Sum(
            Subquery(
                Revision.objects.filter(sheet=OuterRef("pk"))
                .order_by()
                .values("sheet")
                .annotate(n=Count("pk"))
                .values("n")
            )
        ),
        "last_saved": Max("saved_at"),
    }

    def submitted(self, sheet: EditingSheet) -> EditContent:
        """Return the last submitted content, or the machine's text if nothing was submitted."""
        if not sheet.submitted_at:
            return EditContent(sheet.machine_text)
        return EditContent(sheet.submitted_text, sheet.reasons, sheet.comment)

    def problem(self, sheet: EditingSheet, content: EditContent) -> SheetNotValid | None:
        """Require a reason for any change, and a difference from the previous revision."""
        text = self._problem(sheet, content)
        return SheetNotValid(text, []) if text else None

    def _problem(self, sheet: EditingSheet, content: EditContent) -> str:
        before = self.submitted(sheet)
        if not content.text.strip():
            return _("The text is empty.")
        is_again = (before.reasons, before.comment) == (content.reasons, content.comment)
        if sheet.submitted_at and content == before and is_again:
            return _("Nothing has changed since revision %d.") % sheet.events.count()
        if content != before and not set(content.reasons) - {Revision.Reason.UNCHANGED}:
            return _("Choose at least one reason for the changes.")
        if not content.reasons:
            return _("The text is unchanged. Choose “%s” if it needs no change.") % (
                Revision.Reason.UNCHANGED.label
            )
        if Revision.Reason.OTHER in content.reasons and not content.comment:
            return _("Describe the other reason in the comment.")
        return ""

    def settle(self, sheet: EditingSheet, content: EditContent) -> None:
        """Store text, reasons and comment as given."""
        sheet.submitted_text, sheet.reasons = content.text, content.reasons
        sheet.comment = content.comment

    def event_fields(self, sheet: EditingSheet, content: EditContent) -> dict[str, Any]:
        """Return the revision's number, hash, checklist results and active seconds."""
        return {
            "number": sheet.events.count() + 1,
            "text_sha256": text_key(content.text),
            "checks": read_text(sheet, content.text, arguments_of(sheet)).snapshot(),
            "active_seconds": sheet.active_seconds,
        }

    def keep_earlier(self, sheet: EditingSheet, sent: DraftSubmission) -> None:
        """Store every twentieth draft, drafts from other pages, and drafts before large cuts."""
        if sheet.draft is None or sheet.saved_at is None:
            return
        is_much_shorter = len(sent.content.text) < len(sheet.text) / 2
        is_due = sheet.version % KEEP_EVERY == 0
        if is_due or is_much_shorter or not is_same_page(sheet, sent):
            EarlierDraft.objects.create(
                sheet=sheet, version=sheet.version, text=sheet.text, saved_at=sheet.saved_at
            )

    def slots(self, round_: EditingRound, items: Iterable[int]) -> dict[int, int]:
        """Map each item to the number of experts with its answer on their desks."""
        sheets = EditingSheet.objects.filter(round=round_, answer=OuterRef("answer"))
        rows = round_.items.annotate(sheets=count_of(sheets, "answer"))
        return dict(rows.values_list("pk", "sheets"))

    def check_opening(self, round_: EditingRound) -> None:
        """Check that everybody with a desk is still an expert in the study."""
        experts = Membership.objects.filter(
            study=round_.study, role=Role.EXPERT, is_active=True, user__is_active=True
        )
        places = round_.places.select_related("rater__user").order_by("pk")
        gone = places.exclude(rater__user__in=experts.values("user"))
        if names := ", ".join(str(place.rater.user) for place in gone):
            raise RoundNotReady(_("No longer an expert in this study: %s.") % names)

    def closed(self, round_: EditingRound, actor: User) -> None:
        """Turn submitted texts into answers for scoring, if the round is set up to do so."""
        if round_.first_closed_at is None:
            round_.first_closed_at = round_.closed_at
            round_.save(update_fields=["first_closed_at"])
        if round_.makes_answers:
            make_expert_answers(editing_round=round_, actor=actor)

    def card(self, done: int) -> Card:
        """Return the card for an expert's home page; ``done`` counts the answers left to edit."""
        return Card(
            text=_("Improve machine-written answers. Every saved version is kept."),
            button=_("Edit answers"),
            badge=ngettext("%d to do", "%d to do", done) % done,
        )

    def check(self) -> Iterator[str]:
        """Check that revisions are unchanged and match the answers that were made from them."""
        yield from find_editing_violations()


EDITING = EditingRoundKind()


class ConflictChoice(models.TextChoices):
    MINE = "mine", lazy("this text")
    THEIRS = "theirs", lazy("the stored text")
    MERGED = "merged", lazy("a text merged by hand")


def settle_text(
    *,
    sheet: EditingSheet,
    conflict: ConflictingText,
    choice: str,
    base_version: int,
    merged: str = "",
) -> None:
    """Continue with the conflicting text, the stored text or a merged text.

    ``base_version`` is the version of the draft that the person saw. Raises RoundNotOpen, or
    StaleDraft if the draft has changed again; the conflict then remains.
    """
    if choice != ConflictChoice.THEIRS:
        text = merged if choice == ConflictChoice.MERGED else conflict.content["text"]
        save_draft(sheet=sheet, sent=DraftSubmission(EditContent(text), base_version))
    with transaction.atomic():
        if choice != ConflictChoice.MINE:
            text, at = conflict.content["text"], conflict.created_at
            EarlierDraft.objects.create(sheet=sheet, text=text, saved_at=at)
        conflict.delete()
