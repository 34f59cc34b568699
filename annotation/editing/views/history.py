"""Every version of one answer, and the changes between any two of them."""

import uuid

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_safe

from annotation.editing.models import EditingRound, EditingSheet
from annotation.editing.reports.editing import expert_name, expert_numbers
from annotation.editing.reports.versions import Version, changes, find_version, versions_of
from cqa_site.people.access import EXPERTS, StudyRequest, study_page
from cqa_site.people.models import Study

from .access import readable_sheet


@study_page(*EXPERTS)
@require_safe
def editing_history(request: StudyRequest, study: Study, task_id: uuid.UUID) -> HttpResponse:
    """Show what changed from ?from= to ?to=, by default from the machine's text to the newest."""
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


def _chosen(request: StudyRequest, versions: list[Version]) -> tuple[Version, Version]:
    """The two versions of the address; raises Http404 for one that is not there."""
    submitted = [each for each in versions if each.revision] or versions[:1]
    newest = find_version(versions, "draft") or submitted[-1]
    first, second = request.GET.get("from"), request.GET.get("to")
    before = find_version(versions, first) if first else versions[0]
    after = find_version(versions, second) if second else newest
    if before is None or after is None:
        raise Http404
    return before, after


def _editor_name(request: StudyRequest, sheet: EditingSheet) -> str:
    """The name for researchers, a number for other experts."""
    if request.membership.is_researcher:
        return str(sheet.rater.user)
    return expert_name(expert_numbers(sheet.round)[sheet.rater.user_id])


urlpatterns = [path("editing/<uuid:task_id>/history/", editing_history, name="editing_history")]
