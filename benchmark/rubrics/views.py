"""Pages of rubric versions: view, comparison, JSON download and creation."""

import uuid

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.text import slugify
from django.utils.translation import gettext as _

from benchmark.rubrics.forms import (
    HINT_NAMES,
    MOST_GROUPS,
    RubricFileForm,
    cell_of,
    criterion_rows,
    draft_of,
    group_rows,
    read_draft,
    shown_errors,
)
from benchmark.rubrics.methods.rubric import COMPQA, MOST_CRITERIA, Rubric, rubric_text
from benchmark.rubrics.models import RubricVersion, save_rubric
from benchmark.rubrics.reports import use_of, versions_with_counts
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Rater, Study
from cqa_site.runs.text_diff import compare_texts
from cqa_site.web.rest.queries import id_from

PER_PAGE = 50


@study_page(*RESEARCHERS, only="GET")
def rubrics(request: StudyRequest, study: Study) -> HttpResponse:
    """List the versions with their usage."""
    return _list_page(request, study, RubricFileForm())


@study_page(*RESEARCHERS, only="POST")
def rubric_upload(request: StudyRequest, study: Study) -> HttpResponse:
    """Store a rubric from a JSON file as the next version under its name."""
    form = RubricFileForm(request.POST, request.FILES)
    if not form.is_valid():
        return _list_page(request, study, form, status=422)
    return _save(request, study, form.cleaned_data["file"])


def _list_page(
    request: StudyRequest, study: Study, form: RubricFileForm, status: int = 200
) -> HttpResponse:
    page = Paginator(versions_with_counts(study), PER_PAGE).get_page(request.GET.get("page"))
    context = {"study": study, "page": page, "form": form}
    return render(request, "benchmark/rubrics/rubrics.html", context, status=status)


@study_page(*RESEARCHERS, only="GET")
def rubric(request: StudyRequest, study: Study, rubric_id: uuid.UUID) -> HttpResponse:
    """Show one version as raters see it, with its uses and changes."""
    version = get_object_or_404(
        study.rubric_versions.select_related("derived_from", "created_by"), public_id=rubric_id
    )
    content = version.rubric
    before = version.derived_from
    usage = use_of(version)
    kinds = dict(Rater.Kind.choices)
    context = {
        "study": study,
        "version": version,
        "content": content,
        "groups": [(group, content.of_group(group.key)) for group in content.groups],
        "hints": HINT_NAMES,
        "before": before,
        "lines": before and compare_texts(rubric_text(before.rubric), rubric_text(content)),
        **usage | {"sheets": [(kinds[kind], number) for kind, number in usage["sheets"].items()]},
    }
    return render(request, "benchmark/rubrics/rubric.html", context)


@study_page(*RESEARCHERS, only="GET")
def rubric_json(request: StudyRequest, study: Study, rubric_id: uuid.UUID) -> HttpResponse:
    """Send one version as a file that can be uploaded."""
    version = get_object_or_404(study.rubric_versions, public_id=rubric_id)
    options = {"ensure_ascii": False, "indent": 2}
    response = JsonResponse(version.content, json_dumps_params=options)
    name = f"{slugify(version.name) or 'rubric'}-v{version.number}.json"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


@study_page(*RESEARCHERS)
def rubric_new(request: StudyRequest, study: Study) -> HttpResponse:
    """Show the form for a version based on another; buttons change it, and saving checks it."""
    base = _base(request, study)
    status = 200
    if request.method == "POST":
        draft = read_draft(request.POST)
        do = request.POST.get("do", "save")
        if do == "save":
            rubric = draft.rubric()
            if rubric is not None:
                return _save(request, study, rubric, base)
            status = 422
        else:
            draft.change(do)
    else:
        draft = draft_of(base.rubric if base else COMPQA)
    context = {
        "study": study,
        "base": base,
        "draft": draft,
        "errors": shown_errors(draft),
        "name": cell_of(draft, "name", draft.name),
        "groups": group_rows(draft),
        "criteria": criterion_rows(draft),
        "hints": HINT_NAMES,
        "may_add_group": len(draft.groups) < MOST_GROUPS,
        "may_add_criterion": len(draft.criteria) < MOST_CRITERIA,
    }
    return render(request, "benchmark/rubrics/form.html", context, status=status)


def _base(request: StudyRequest, study: Study) -> RubricVersion | None:
    """Return the named version, or None for the built-in text; raise Http404 if it is unknown."""
    base_id = request.GET.get("from", "")
    if not base_id:
        return None
    return get_object_or_404(study.rubric_versions, public_id=id_from(base_id))


def _save(
    request: StudyRequest, study: Study, rubric: Rubric, base: RubricVersion | None = None
) -> HttpResponse:
    newest = study.rubric_versions.order_by("-pk").values_list("pk", flat=True).first() or 0
    version = save_rubric(study=study, rubric=rubric, actor=request.user, derived_from=base)
    if version.pk <= newest:
        messages.info(request, _("This version already has the same content."))
    return redirect("rubric", study.public_id, version.public_id)


urlpatterns = [
    path("rubrics/", rubrics, name="rubrics"),
    path("rubrics/new/", rubric_new, name="rubric_new"),
    path("rubrics/upload/", rubric_upload, name="rubric_upload"),
    path("rubrics/<uuid:rubric_id>/", rubric, name="rubric"),
    path("rubrics/<uuid:rubric_id>/json/", rubric_json, name="rubric_json"),
]
