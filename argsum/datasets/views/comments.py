"""Comments of a cell as they came, each with what it says."""

import uuid

from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path
from django.views.decorators.http import require_safe

from argsum.datasets.forms import CommentFilterForm
from argsum.datasets.models import Cell
from argsum.datasets.reports.comments import attributes_of, comment_rows, comments_of
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study

PER_PAGE = 50


@study_page(*RESEARCHERS)
@require_safe
def cell_comments(request: StudyRequest, study: Study, cell_id: uuid.UUID) -> HttpResponse:
    """List the comments of a cell, paged, by text and by what stood beside them."""
    cells = Cell.objects.select_related("dataset").filter(dataset__study=study)
    found = get_object_or_404(cells, public_id=cell_id)
    form = CommentFilterForm(request.GET, attributes=attributes_of(found.dataset))
    chosen = form.cleaned_data if form.is_valid() else {}
    rows = comments_of(
        found,
        show=chosen.get("show", ""),
        search=chosen.get("q", ""),
        attribute=chosen.get("attribute", ""),
        value=chosen.get("value", ""),
    )
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "study": study,
        "cell": found,
        "form": form,
        "is_filtered": any(chosen.values()),
        "page": page,
        "comments": comment_rows(list(page)),
    }
    return render(request, "argsum/datasets/comments.html", context)


urlpatterns = [
    path("key-points/cells/<uuid:cell_id>/comments/", cell_comments, name="cell_comments"),
]
