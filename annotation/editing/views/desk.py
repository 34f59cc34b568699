"""The editing desk, its access rules, and the history of a text."""

import json
import uuid
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.urls import path
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from annotation.answers.actions import relevance_of
from annotation.answers.reports import ArgumentBeside, arguments_beside, listed_arguments
from annotation.corpus.models import ListedArgument
from annotation.editing.actions.kind import (
    EDITING,
    ChecklistReading,
    EditContent,
    arguments_of,
    read_text,
    settle_text,
)
from annotation.editing.forms import EditForm, SettleForm
from annotation.editing.models import ConflictingText, EditingRound, EditingSheet, Revision
from annotation.editing.reports import (
    TITLES,
    TextVersion,
    changes,
    expert_name,
    expert_numbers,
    find_version,
    versions_of,
)
from cqa_site.people.access import EXPERTS, StudyRequest, study_page
from cqa_site.people.models import Role, Study
from cqa_site.rounds.drafts import RoundNotOpen, StaleDraft
from cqa_site.rounds.pages.replies import closed_reply, errors_of, see_other
from cqa_site.rounds.pages.rounds import trial_urls
from cqa_site.rounds.pages.work import TaskPages, address_of, work_urls

# Read access to sheets; other users get a "not found" page


def readable_sheet(request: StudyRequest, study: Study, sheet_id: uuid.UUID) -> EditingSheet:
    """Return a sheet that the person may read; raise Http404 otherwise.

    Researchers may read all sheets. Experts may read their own sheets and, after
    the round has closed, others' sheets on calibration answers that they also edited.
    """
    sheets = opened_sheets(study)
    if not request.membership.is_researcher:
        sheets = sheets.filter(Q(rater__user=request.user) | _shared_with(request))
    return get_object_or_404(sheets, public_id=sheet_id)


def sees_others(request: StudyRequest, editing_round: EditingRound) -> bool:
    """Return whether the person may see other experts' work on calibration answers."""
    return request.membership.is_researcher or editing_round.state == EditingRound.State.CLOSED


def opened_sheets(study: Study) -> QuerySet[EditingSheet]:
    sheets = EDITING.sheets().select_related("rater__user").filter(study=study)
    return sheets.exclude(round__state=EditingRound.State.DRAFT)


def _shared_with(request: StudyRequest) -> Q:
    own = EditingSheet.objects.filter(
        round=OuterRef("round"),
        answer=OuterRef("answer"),
        rater__user=request.user,
        is_calibration=True,
    )
    is_closed = Q(round__state=EditingRound.State.CLOSED)
    return Q(Exists(own), is_calibration=True) & is_closed


@dataclass(frozen=True)
class DeskCheck:
    """One line of the checklist; ``places`` contains character ranges as JSON."""

    name: str
    title: str | Promise
    is_passed: bool | None
    counted: str
    wanted: str
    places: str
    is_marked: bool


@dataclass(frozen=True)
class Checklist:
    """All lines of the checklist, with the counts of passed and judged checks."""

    lines: list[DeskCheck]

    @property
    def passed(self) -> int:
        """Number of passed checks."""
        return sum(line.is_passed is True for line in self.lines)

    @property
    def judged(self) -> int:
        """Number of checks that could be judged."""
        return sum(line.is_passed is not None for line in self.lines)


def desk_arguments(
    sheet: EditingSheet, entries: list[ListedArgument], reading: ChecklistReading
) -> list[ArgumentBeside]:
    """Return the arguments with labels and sources, marked as cited or not."""
    labels = relevance_of(sheet.round.study, {entry.argument_id for entry in entries})
    return arguments_beside(sheet.answer, entries, reading.cited, labels)


def checklist(reading: ChecklistReading) -> Checklist:
    """Return the checklist with titles."""
    return Checklist(
        [
            DeskCheck(
                name=check.name,
                title=TITLES[check.name],
                is_passed=check.is_passed,
                counted=check.counted,
                wanted=check.wanted,
                places=json.dumps(check.places),
                is_marked=bool(check.places),
            )
            for check in reading.checks
        ]
    )


def _shown(sheet: EditingSheet, content: EditContent) -> dict[str, Any]:
    """Return the context of the desk, without the system, the file and other people's work."""
    entries = listed_arguments(sheet.answer)
    texts = {entry.number: entry.argument.text for entry in entries}
    reading = read_text(sheet, content.text, texts)
    # The reasons for the last revision do not apply to the next revision.
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
    """Return the position of the sheet among the person's sheets in the round."""
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
    """Return the checklist, which a save returns to the page along with the version."""
    checks = checklist(read_text(sheet, sheet.text, arguments_of(sheet)))
    html = render_to_string("annotation/editing/_checks.html", {"checks": checks})
    return {"checks": html}


def _after(request: HttpRequest, sheet: EditingSheet) -> EditingSheet:
    """Stay on the desk, which links to the next answer."""
    messages.success(request, _("Submitted as revision %d.") % sheet.events.count())
    return sheet


def _settle(request: HttpRequest, sheet: EditingSheet, text: ConflictingText) -> HttpResponse:
    """Continue with one of two texts, or with a merged text."""
    form = SettleForm(request.POST)
    if not form.is_valid():
        messages.error(request, errors_of(form))
        return see_other(address_of(sheet))
    cleaned_data = form.cleaned_data
    try:
        settle_text(
            sheet=sheet,
            conflict=text,
            choice=cleaned_data["choice"],
            base_version=cleaned_data["base_version"],
            merged=cleaned_data["text"],
        )
    except StaleDraft:
        messages.error(request, _("The stored text has changed again. Choose again."))
    except RoundNotOpen:
        return closed_reply(request, address_of(sheet))
    return see_other(address_of(sheet))


PAGES = TaskPages(
    kind=EDITING,
    form=EditForm,
    shown=_shown,
    said=lambda sheet, content: {str(_("Text")): content.text},
    differences=lambda sheet, mine, stored: changes(stored.text, mine.text),
    stored=_stored,
    told=lambda sheet: (sheet.answer.question, ""),
    templates="annotation/editing/desk",
    conflicts_template="annotation/editing/_conflicts.html",
    after=_after,
    settle=_settle,
    own_page="editing",
    roles=(Role.EXPERT,),
)
ROUNDS = "editing/rounds/<uuid:round_id>/desk/"
desk_urls = trial_urls(PAGES, ROUNDS) + work_urls(
    PAGES,
    rounds=ROUNDS,
    sheets="editing/<uuid:task_id>/",
    conflicts="conflicts/<uuid:conflict_id>/",
)


@study_page(*EXPERTS, only="GET")
def editing_history(request: StudyRequest, study: Study, task_id: uuid.UUID) -> HttpResponse:
    """Show the changes between ?from= and ?to=, by default the machine's and the newest text."""
    sheet = readable_sheet(request, study, task_id)
    is_own = sheet.rater.user_id == request.user.pk
    versions = versions_of(sheet, with_drafts=is_own or request.membership.is_researcher)
    before, after = _chosen(request, versions)
    context = {
        "study": study,
        "sheet": sheet,
        "editing_round": sheet.round,
        "editor_name": _editor_name(request, sheet),
        "versions": versions,
        "before": before,
        "after": after,
        "lines": changes(before.text, after.text),
        "is_own": is_own,
        "may_restore": is_own and sheet.round.state == EditingRound.State.OPEN,
    }
    return render(request, "annotation/editing/history.html", context)


def _chosen(request: StudyRequest, versions: list[TextVersion]) -> tuple[TextVersion, TextVersion]:
    """Return the two versions given in the address; raise Http404 for an unknown version."""
    submitted = [version for version in versions if version.revision] or versions[:1]
    newest = find_version(versions, "draft") or submitted[-1]
    first, second = request.GET.get("from"), request.GET.get("to")
    before = find_version(versions, first) if first else versions[0]
    after = find_version(versions, second) if second else newest
    if before is None or after is None:
        raise Http404
    return before, after


def _editor_name(request: StudyRequest, sheet: EditingSheet) -> str:
    """Return the editor's name for researchers, or a numbered name for other experts."""
    if request.membership.is_researcher:
        return str(sheet.rater.user)
    return expert_name(expert_numbers(sheet.round)[sheet.rater.user_id])


history_urls = [path("editing/<uuid:task_id>/history/", editing_history, name="editing_history")]
