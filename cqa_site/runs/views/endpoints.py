"""Endpoints: list, form, probe, archive. A key goes in and never comes out."""

import uuid

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Max
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs import jobs
from cqa_site.runs.actions import endpoints as actions
from cqa_site.runs.forms.endpoints import EndpointForm
from cqa_site.runs.kinds import KINDS
from cqa_site.runs.model_box.embedded import model_name
from cqa_site.runs.models import Endpoint, Job
from cqa_site.runs.progress import with_planning

PER_PAGE = 50


@study_page(*RESEARCHERS)
def endpoints(request: StudyRequest, study: Study) -> HttpResponse:
    """List the endpoints of the study."""
    rows = (
        study.endpoints.filter(is_archived=False)
        .order_by("name", "pk")
        .annotate(last_used=Max("runs__started_at"), run_count=Count("runs"))
    )
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    for endpoint in page:
        vars(endpoint).update(found=found_by_probe(endpoint))
    context = {
        "study": study,
        "page": page,
        "has_embedded": study.endpoints.filter(
            kind=Endpoint.Kind.EMBEDDED, model=model_name()
        ).exists(),
    }
    return render(request, "runs/endpoints/endpoints.html", context)


@sensitive_post_parameters("key")
@study_page(*RESEARCHERS)
def endpoint_new(request: StudyRequest, study: Study) -> HttpResponse:
    """Add an endpoint."""
    form = EndpointForm(request.POST or None, study=study)
    if request.method == "POST" and form.is_valid():
        endpoint = actions.create_endpoint(
            study=study, actor=request.user, values=form.values, key=form.cleaned_data["key"]
        )
        messages.success(request, _("Saved. Probe it to see what it can do."))
        return redirect("endpoint", study.public_id, endpoint.public_id)
    context = {"study": study, "form": form}
    status = 422 if form.errors else 200
    return render(request, "runs/endpoints/endpoint_new.html", context, status=status)


@study_page(*RESEARCHERS)
@require_POST
def endpoint_embedded(request: StudyRequest, study: Study) -> HttpResponse:
    """Add the model in the box; whoever came from the form of a run goes on there."""
    endpoint = actions.embedded_endpoint(study=study, actor=request.user)
    back = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(back, allowed_hosts=None):
        return redirect(back)
    return redirect("endpoint", study.public_id, endpoint.public_id)


@sensitive_post_parameters("key")
@study_page(*RESEARCHERS)
def endpoint(request: StudyRequest, study: Study, endpoint_id: uuid.UUID) -> HttpResponse:
    """Show what is known about an endpoint, and change it."""
    stored = _endpoint(study, endpoint_id)
    # The form writes into its own copy; the action compares with what is stored.
    form = EndpointForm(request.POST or None, study=study, instance=_endpoint(study, endpoint_id))
    if request.method == "POST" and form.is_valid():
        return _change(request, study, stored, form)
    job = latest_probe(study, stored)
    context = {
        "study": study,
        "endpoint": stored,
        "form": form,
        "found": found_by_probe(stored),
        "job": job,
        "homes": [kind.home for kind in KINDS.values()],
        "runs": with_planning(stored.runs.select_related("prompt")[:10]),
        "worker_alive": jobs.is_worker_alive() if job and job.is_active else None,
    }
    status = 422 if form.errors else 200
    return render(request, "runs/endpoints/endpoint.html", context, status=status)


@study_page(*RESEARCHERS)
@require_POST
def endpoint_probe(request: StudyRequest, study: Study, endpoint_id: uuid.UUID) -> HttpResponse:
    """Have a worker ask the endpoint a few tiny questions."""
    endpoint = _endpoint(study, endpoint_id)
    actions.request_probe(endpoint=endpoint, actor=request.user)
    return redirect("endpoint", study.public_id, endpoint.public_id)


@study_page(*RESEARCHERS)
@require_POST
def endpoint_archive(request: StudyRequest, study: Study, endpoint_id: uuid.UUID) -> HttpResponse:
    """Take an endpoint out of the lists."""
    endpoint = _endpoint(study, endpoint_id)
    if endpoint.kind == Endpoint.Kind.EMBEDDED:
        messages.error(request, _("The model in the box stays; it costs nothing."))
        return redirect("endpoint", study.public_id, endpoint.public_id)
    try:
        actions.archive_endpoint(endpoint=endpoint, actor=request.user)
    except actions.EndpointInUse as reason:
        messages.error(request, str(reason))
        return redirect("endpoint", study.public_id, endpoint.public_id)
    messages.success(request, _("Archived, and its key is forgotten. Its runs stay."))
    return redirect("endpoints", study.public_id)


def latest_probe(study: Study, endpoint: Endpoint) -> Job | None:
    """The newest probe of an endpoint, under way or over."""
    return study.jobs.filter(key=f"probe_endpoint:{endpoint.public_id}").order_by("-pk").first()


def found_by_probe(endpoint: Endpoint) -> list[tuple[str, bool, str]]:
    """Name of each capability, whether it works, and what showed it."""
    return [
        (name, bool(entry["works"]), str(entry.get("evidence", "")))
        for name, entry in endpoint.capabilities.items()
        if isinstance(entry, dict) and "works" in entry
    ]


def _endpoint(study: Study, endpoint_id: uuid.UUID) -> Endpoint:
    return get_object_or_404(study.endpoints.filter(is_archived=False), public_id=endpoint_id)


def _change(
    request: StudyRequest, study: Study, stored: Endpoint, form: EndpointForm
) -> HttpResponse:
    had_key = stored.has_key
    try:
        actions.change_endpoint(
            endpoint=stored,
            actor=request.user,
            values=form.values,
            key=form.cleaned_data.get("key", ""),
        )
    except actions.EndpointInUse as reason:
        messages.error(request, str(reason))
        return redirect("endpoint", study.public_id, stored.public_id)
    if had_key and not stored.has_key:
        messages.warning(request, _("Saved. It is another server now, so the key was cleared."))
    else:
        messages.success(request, _("Saved."))
    return redirect("endpoint", study.public_id, stored.public_id)


BASE = "judges/endpoints"
urlpatterns = [
    path(f"{BASE}/", endpoints, name="endpoints"),
    path(f"{BASE}/new/", endpoint_new, name="endpoint_new"),
    path(f"{BASE}/embedded/", endpoint_embedded, name="endpoint_embedded"),
    path(f"{BASE}/<uuid:endpoint_id>/", endpoint, name="endpoint"),
    path(f"{BASE}/<uuid:endpoint_id>/probe/", endpoint_probe, name="endpoint_probe"),
    path(f"{BASE}/<uuid:endpoint_id>/archive/", endpoint_archive, name="endpoint_archive"),
]
