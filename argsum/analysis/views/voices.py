"""Pages of near-duplicate comments: all groups of a topic, and one group with its variations."""

import uuid
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _

from argsum.analysis.actions.voices import GroupRefused, ask_to_group, change_group, job_of
from argsum.analysis.forms import GroupForm
from argsum.analysis.reports.voices import (
    compared,
    group_rows,
    groups_of,
    members_of,
    uncompared,
    voices_of,
)
from argsum.datasets.methods.near_duplicates import LEAST_LENGTH, LEAST_SHARED
from argsum.datasets.models import NearDuplicateGroup
from argsum.datasets.views import cell_or_404
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study

# Groups and variations per page, which stays below 200 kB even if all texts are long.
PER_PAGE, MOST_SHOWN = 5, 2
MEMBERS = 12


@study_page(*RESEARCHERS, only="GET")
def near_duplicates(request: StudyRequest, study: Study, cell_id: uuid.UUID) -> HttpResponse:
    """List groups of near-duplicate comments, each with one full text and some variations."""
    cell = cell_or_404(study, cell_id)
    page = Paginator(groups_of(cell), PER_PAGE).get_page(request.GET.get("page"))
    comments, job = cell.comments.count(), job_of(cell)
    context = {
        "study": study,
        "cell": cell,
        "page": page,
        "rows": group_rows(list(page), MOST_SHOWN),
        "comments": comments,
        "voices": voices_of(cell, comments),
        "uncompared": uncompared(cell),
        "job": job if job and (job.is_active or job.error) else None,
        "least_length": LEAST_LENGTH,
        "least_shared": LEAST_SHARED,
    }
    return render(request, "argsum/analysis/voices/groups.html", context)


@study_page(*RESEARCHERS, only="GET")
def near_duplicate_group(
    request: StudyRequest, study: Study, cell_id: uuid.UUID, group_id: uuid.UUID
) -> HttpResponse:
    """Show one group with all its variations, the most different first."""
    cell = cell_or_404(study, cell_id)
    group = get_object_or_404(groups_of(cell), public_id=group_id)
    page = Paginator(members_of(group), MEMBERS).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "cell": cell,
        "group": group,
        "page": page,
        "variations": compared(group, list(page)),
    }
    return render(request, "argsum/analysis/voices/group.html", context)


@study_page(*RESEARCHERS, only="POST")
def near_duplicates_find(request: StudyRequest, study: Study, cell_id: uuid.UUID) -> HttpResponse:
    """Look for near-duplicates in the background."""
    cell = cell_or_404(study, cell_id)
    _try(request, lambda: ask_to_group(cell=cell, actor=request.user), "")
    return redirect("near_duplicates", study.public_id, cell.public_id)


@study_page(*RESEARCHERS, only="POST")
def near_duplicate_group_change(
    request: StudyRequest, study: Study, cell_id: uuid.UUID, group_id: uuid.UUID
) -> HttpResponse:
    """Remove a comment, put it back, or undo or restore the whole group."""
    cell = cell_or_404(study, cell_id)
    group: NearDuplicateGroup = get_object_or_404(cell.duplicate_groups, public_id=group_id)
    form = GroupForm(request.POST, group=group)
    if form.is_valid():
        data: dict[str, Any] = form.cleaned_data
        _try(
            request,
            lambda: change_group(group=group, actor=request.user, **data),
            _(
                "The group was changed. Distinct voices are being recounted in all analyses "
                "of these comments."
            ),
        )
    else:
        messages.error(request, _("This group does not have that comment."))
    return redirect("near_duplicate_group", study.public_id, cell.public_id, group.public_id)


def _try(request: StudyRequest, action: Callable[[], object], done: str) -> None:
    try:
        action()
    except GroupRefused as reason:
        messages.error(request, str(reason))
    else:
        if done:
            messages.success(request, done)


BASE = "key-points/cells/<uuid:cell_id>/near-duplicates"
urlpatterns = [
    path(f"{BASE}/", near_duplicates, name="near_duplicates"),
    path(f"{BASE}/find/", near_duplicates_find, name="near_duplicates_find"),
    path(f"{BASE}/<uuid:group_id>/", near_duplicate_group, name="near_duplicate_group"),
    path(
        f"{BASE}/<uuid:group_id>/change/",
        near_duplicate_group_change,
        name="near_duplicate_group_change",
    ),
]
