"""The editing desk: arguments, the text, live checks."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.translation import gettext as _

from annotation.answers.reports.beside import listed_arguments
from annotation.editing.actions.checks import arguments_of, read_text
from annotation.editing.actions.choice import settle_text
from annotation.editing.actions.kind import EDITING, EditContent
from annotation.editing.forms import EditForm, SettleForm
from annotation.editing.models import EditingSheet, KeptText, Revision
from annotation.editing.reports.versions import changes
from cqa_site.people.models import Role
from cqa_site.rounds.pages.replies import closed_reply, errors_of, see_other
from cqa_site.rounds.pages.trial import trial_urls
from cqa_site.rounds.pages.work import Face, address_of, work_urls
from cqa_site.rounds.saving import RoundNotOpen, StaleDraft
from cqa_site.runs.text_diff import Line

from .payload import checklist, desk_arguments


def _shown(sheet: EditingSheet, content: EditContent) -> dict[str, Any]:
    """What the desk may know: nothing of the system, the file, and other people's work."""
    entries = listed_arguments(sheet.answer)
    texts = {entry.number: entry.argument.text for entry in entries}
    reading = read_text(sheet, content.text, texts)
    # Why the last revision was made says nothing about the next one.
    is_new = content.reasons is not sheet.reasons
    return {
        "text": content.text,
        "arguments": desk_arguments(sheet, entries, reading),
        "checks": checklist(reading),
        "chosen": content.reasons if is_new else [],
        "comment": content.comment if is_new else "",
        "reasons": Revision.Reason.choices,
        "place": _place(sheet),
    }


def _place(sheet: EditingSheet) -> dict[str, Any]:
    """Where the sheet stands among the person's sheets of the round."""
    sheets = EditingSheet.objects.filter(round=sheet.round_id, rater=sheet.rater_id)
    rows = list(sheets.only("public_id", "state", "draft").order_by("place"))
    here = [row.pk for row in rows].index(sheet.pk)
    later = rows[here + 1 :] + rows[:here]
    waiting = [row.public_id for row in later if row.is_to_do]
    return {
        "number": here + 1,
        "all": len(rows),
        "before": rows[here - 1].public_id if here else None,
        "after": rows[here + 1].public_id if here + 1 < len(rows) else None,
        "to_do": waiting[0] if waiting else None,
    }


def _stored(sheet: EditingSheet) -> dict[str, str]:
    """What the page learns from a save besides the version: the checklist."""
    checks = checklist(read_text(sheet, sheet.text, arguments_of(sheet)))
    html = render_to_string("annotation/editing/_checks.html", {"checks": checks})
    return {"checks": html}


def _differences(sheet: EditingSheet, mine: EditContent, stored: EditContent) -> list[Line] | None:
    return changes(stored.text, mine.text)


def _after(request: HttpRequest, sheet: EditingSheet) -> EditingSheet:
    """Stay on the desk, which shows the way to the next answer."""
    messages.success(request, _("Submitted as revision %d.") % sheet.events.count())
    return sheet


def _settle(request: HttpRequest, sheet: EditingSheet, kept: KeptText) -> HttpResponse:
    """Go on with one of two texts, or with a merged one."""
    form = SettleForm(request.POST)
    if not form.is_valid():
        messages.error(request, errors_of(form))
        return see_other(address_of(sheet))
    given = form.cleaned_data
    try:
        settle_text(
            sheet=sheet,
            kept=kept,
            choice=given["choice"],
            base_version=given["base_version"],
            merged=given["text"],
        )
    except StaleDraft:
        messages.error(request, _("The stored text changed once more. Choose again, please."))
    except RoundNotOpen:
        return closed_reply(request, address_of(sheet))
    return see_other(address_of(sheet))


FACE = Face(
    kind=EDITING,
    form=EditForm,
    shown=_shown,
    said=lambda sheet, content: {str(_("Text")): content.text},
    differences=_differences,
    stored=_stored,
    told=lambda sheet: (sheet.answer.question, ""),
    templates="annotation/editing/desk",
    kept_template="annotation/editing/_kept.html",
    after=_after,
    settle=_settle,
    own_page="editing",
    roles=(Role.EXPERT,),
)
ROUNDS = "editing/rounds/<uuid:round_id>/desk/"
urlpatterns = trial_urls(FACE, ROUNDS) + work_urls(
    FACE,
    rounds=ROUNDS,
    sheets="editing/<uuid:task_id>/",
    kept="conflicts/<uuid:conflict_id>/",
)
