"""Pages of endpoints and prompt versions."""

import uuid
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Max, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from cqa_site.judging.transport.addresses import missing_entry, parse_allowed
from cqa_site.people.access import RESEARCHERS, StudyRequest, is_administrator, study_page
from cqa_site.people.models import Study
from cqa_site.runs import jobs
from cqa_site.runs.actions import endpoints as actions
from cqa_site.runs.actions.endpoints import PromptFrozen, first_prompts, save_prompt
from cqa_site.runs.forms.endpoints import EndpointForm, PromptForm
from cqa_site.runs.kinds import KINDS, prompt_kinds, run_kind_of
from cqa_site.runs.model_box.embedded import model_name
from cqa_site.runs.models import Endpoint, PromptVersion
from cqa_site.runs.planning import preview_prompt
from cqa_site.runs.progress import with_planning
from cqa_site.runs.text_diff import compare_texts
from cqa_site.web.rest.queries import id_from, whole_number

# Endpoints: list, form, probe, archive; a key can be entered but is never shown

PER_PAGE = 50


@study_page(*RESEARCHERS)
def endpoints(request: StudyRequest, study: Study) -> HttpResponse:
    rows = (
        study.endpoints.filter(is_archived=False)
        .select_related("original")
        .order_by("name", "pk")
        .annotate(last_used=Max("runs__started_at"), run_count=Count("runs"))
    )
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    for endpoint in page:
        vars(endpoint).update(found=found_by_probe(endpoint))
    context = {
        "study": study,
        "page": page,
        "offers": actions.new_offers(study)[:PER_PAGE],
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
        messages.success(request, _("Saved. Probe the endpoint to see its capabilities."))
        return redirect("endpoint", study.public_id, endpoint.public_id)
    context = {"study": study, "form": form, "offers": actions.new_offers(study)[:PER_PAGE]}
    status = 422 if form.errors else 200
    return render(request, "runs/endpoints/endpoint_new.html", context, status=status)


@study_page(*RESEARCHERS, only="POST")
def endpoint_embedded(request: StudyRequest, study: Study) -> HttpResponse:
    """Add the built-in model; return to the form of a run if the user came from there."""
    endpoint = actions.embedded_endpoint(study=study, actor=request.user)
    back = request.POST.get("next", "")
    if url_has_allowed_host_and_scheme(back, allowed_hosts=None):
        return redirect(back)
    return redirect("endpoint", study.public_id, endpoint.public_id)


@study_page(*RESEARCHERS, only="POST")
def endpoint_add(request: StudyRequest, study: Study) -> HttpResponse:
    """Add an endpoint that another study offers."""
    offer = id_from(request.POST.get("offer"))
    offered = get_object_or_404(actions.offers(study), public_id=offer)
    added = actions.add_offered(study=study, actor=request.user, offered=offered)
    messages.success(request, _("Added. Runs in this study can now use it."))
    return redirect("endpoint", study.public_id, added.public_id)


@sensitive_post_parameters("key")
@study_page(*RESEARCHERS)
def endpoint(request: StudyRequest, study: Study, endpoint_id: uuid.UUID) -> HttpResponse:
    """Show an endpoint's settings and probe results; a POST changes the settings."""
    stored = _endpoint(study, endpoint_id)
    # The form changes its own copy; the action compares that with the stored row.
    form = EndpointForm(request.POST or None, study=study, instance=_endpoint(study, endpoint_id))
    if request.method == "POST" and form.is_valid():
        return _change(request, study, stored, form)
    job = study.jobs.filter(key=f"probe_endpoint:{stored.public_id}").order_by("-pk").first()
    context = {
        "study": study,
        "endpoint": stored,
        "form": form,
        "may_offer": stored.kind == Endpoint.Kind.REMOTE and is_administrator(request.user),
        "found": found_by_probe(stored),
        "missing_entry": missing_entry(stored.base_url, parse_allowed(settings.EGRESS_ALLOW)),
        "job": job,
        "homes": dict.fromkeys(kind.home for kind in KINDS.values()),
        "runs": with_planning(stored.runs.select_related("prompt")[:10]),
        "worker_alive": jobs.is_worker_alive() if job and job.is_active else None,
    }
    status = 422 if form.errors else 200
    return render(request, "runs/endpoints/endpoint.html", context, status=status)


@study_page(*RESEARCHERS, only="POST")
def endpoint_probe(request: StudyRequest, study: Study, endpoint_id: uuid.UUID) -> HttpResponse:
    """Queue a probe of the endpoint with a few tiny requests."""
    endpoint = _endpoint(study, endpoint_id)
    actions.request_probe(endpoint=endpoint, actor=request.user)
    return redirect("endpoint", study.public_id, endpoint.public_id)


@study_page(*RESEARCHERS, only="POST")
def endpoint_offer(request: StudyRequest, study: Study, endpoint_id: uuid.UUID) -> HttpResponse:
    """Offer an endpoint to all studies on the site, or withdraw the offer."""
    endpoint = _endpoint(study, endpoint_id)
    is_offered = request.POST.get("is_offered") == "true"
    actions.set_offered(endpoint=endpoint, actor=request.user, is_offered=is_offered)
    return redirect("endpoint", study.public_id, endpoint.public_id)


@study_page(*RESEARCHERS, only="POST")
def endpoint_archive(request: StudyRequest, study: Study, endpoint_id: uuid.UUID) -> HttpResponse:
    """Remove an endpoint from the lists."""
    endpoint = _endpoint(study, endpoint_id)
    if endpoint.kind == Endpoint.Kind.EMBEDDED:
        messages.error(request, _("The built-in model cannot be archived. It costs nothing."))
        return redirect("endpoint", study.public_id, endpoint.public_id)
    try:
        actions.archive_endpoint(endpoint=endpoint, actor=request.user)
    except actions.EndpointInUse as reason:
        messages.error(request, str(reason))
        return redirect("endpoint", study.public_id, endpoint.public_id)
    messages.success(request, _("Archived, and its key was deleted. Its runs are kept."))
    return redirect("endpoints", study.public_id)


def found_by_probe(endpoint: Endpoint) -> list[tuple[str, bool, str]]:
    """List the capabilities by name, with their evidence and whether they work."""
    return [
        (name, bool(entry["works"]), str(entry.get("evidence", "")))
        for name, entry in endpoint.capabilities.items()
        if isinstance(entry, dict) and "works" in entry
    ]


def _endpoint(study: Study, endpoint_id: uuid.UUID) -> Endpoint:
    rows = study.endpoints.filter(is_archived=False).select_related("original", "study")
    return get_object_or_404(rows, public_id=endpoint_id)


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
        messages.warning(request, _("Saved. The server changed, so the key was cleared."))
    else:
        messages.success(request, _("Saved."))
    return redirect("endpoint", study.public_id, stored.public_id)


ENDPOINTS = "judges/endpoints"
endpoint_urls = [
    path(f"{ENDPOINTS}/", endpoints, name="endpoints"),
    path(f"{ENDPOINTS}/new/", endpoint_new, name="endpoint_new"),
    path(f"{ENDPOINTS}/embedded/", endpoint_embedded, name="endpoint_embedded"),
    path(f"{ENDPOINTS}/offered/", endpoint_add, name="endpoint_add"),
    path(f"{ENDPOINTS}/<uuid:endpoint_id>/", endpoint, name="endpoint"),
    path(f"{ENDPOINTS}/<uuid:endpoint_id>/probe/", endpoint_probe, name="endpoint_probe"),
    path(f"{ENDPOINTS}/<uuid:endpoint_id>/offer/", endpoint_offer, name="endpoint_offer"),
    path(f"{ENDPOINTS}/<uuid:endpoint_id>/archive/", endpoint_archive, name="endpoint_archive"),
]

OTHERS = 50
RUNS = 20


@study_page(*RESEARCHERS)
def prompts(request: StudyRequest, study: Study) -> HttpResponse:
    """List the versions of every kind of prompt, newest first."""
    first_prompts(study, prompt_kinds(), request.user)
    rows = _versions(study).annotate(run_count=Count("runs")).defer("system", "user")
    page = Paginator(rows.order_by("-kind", "-number"), PER_PAGE).get_page(request.GET.get("page"))
    for version in page:
        vars(version).update(kind_name=prompt_kinds()[version.kind].name)
    context = {"study": study, "page": page}
    return render(request, "runs/prompts/prompts.html", context)


@study_page(*RESEARCHERS)
def prompt(request: StudyRequest, study: Study, prompt_id: uuid.UUID) -> HttpResponse:
    """Show one version: its text, its changes, and the runs that use it."""
    version = _prompt(study, prompt_id)
    others = _versions(study).filter(kind=version.kind).exclude(pk=version.pk)
    parent = _parent(version, others, request.GET.get("against"))
    context = {
        "study": study,
        "version": version,
        "kind_name": prompt_kinds()[version.kind].name,
        "others": others[:OTHERS],
        "parent": parent,
        "changes": _changes(parent, version) if parent else [],
        "runs": with_planning(version.runs.select_related("endpoint")[:RUNS]),
    }
    return render(request, "runs/prompts/prompt.html", context)


@study_page(*RESEARCHERS)
def prompt_new(request: StudyRequest, study: Study, prompt_id: uuid.UUID) -> HttpResponse:
    """Create a new version, starting from the text of another."""
    base = _prompt(study, prompt_id)
    form = PromptForm(request.POST or None, kind=base.kind, initial=_texts(base) | {"note": ""})
    if request.method == "POST" and form.is_valid():
        last = _versions(study).filter(kind=base.kind).first()
        version = save_prompt(
            study=study, actor=request.user, kind=base.kind, version=None, **form.texts
        )
        if last and version.number <= last.number:
            text = _("This text already exists as version %d.") % version.number
            messages.warning(request, text)
        else:
            messages.success(request, _("Saved as version %d.") % version.number)
        return redirect("prompt", study.public_id, version.public_id)
    return _editor(request, study, base, form)


@study_page(*RESEARCHERS)
def prompt_edit(request: StudyRequest, study: Study, prompt_id: uuid.UUID) -> HttpResponse:
    """Change a version that no run has used."""
    version = _prompt(study, prompt_id)
    if version.is_frozen:
        messages.error(request, _("A run used this version. Create a new version from it."))
        return redirect("prompt", study.public_id, version.public_id)
    form = PromptForm(request.POST or None, kind=version.kind, initial=_texts(version))
    if request.method == "POST" and form.is_valid():
        try:
            save_prompt(
                study=study, actor=request.user, kind=version.kind, version=version, **form.texts
            )
        except PromptFrozen as reason:
            messages.error(request, str(reason))
        else:
            messages.success(request, _("Saved."))
        return redirect("prompt", study.public_id, version.public_id)
    return _editor(request, study, version, form, is_edit=True)


@study_page(*RESEARCHERS, only="POST")
def prompt_preview(request: StudyRequest, study: Study, prompt_id: uuid.UUID) -> HttpResponse:
    """Show the messages that the typed text produces for one of the study's items."""
    base = _prompt(study, prompt_id)
    form = PromptForm(request.POST, kind=base.kind)
    preview = _preview(study, base.kind, form, request.POST.get("place", ""))
    if not request.htmx:
        is_edit = request.POST.get("is_edit") == "1" and not base.is_frozen
        return _editor(request, study, base, form, is_edit=is_edit, preview=preview)
    context = {"study": study, "form": form, "preview": preview}
    return render(request, "runs/_preview.html", context)


def _editor(
    request: StudyRequest,
    study: Study,
    base: PromptVersion,
    form: PromptForm,
    *,
    is_edit: bool = False,
    preview: dict[str, Any] | None = None,
) -> HttpResponse:
    context = {
        "study": study,
        "base": base,
        "kind_name": prompt_kinds()[base.kind].name,
        "form": form,
        "is_edit": is_edit,
        "preview": preview,
    }
    status = 422 if form.errors else 200
    return render(request, "runs/prompts/prompt_form.html", context, status=status)


def _preview(study: Study, kind: str, form: PromptForm, place: str) -> dict[str, Any]:
    """Return the exact messages for the item at ``place``, with their size and flags."""
    if not form.is_valid():
        return {"is_faulty": True}
    tried = run_kind_of(kind).tried_on
    items = tried.items(study)
    count = items.count()
    if not count:
        return {"is_empty": True, "name": tried.name}
    at = (whole_number(place) or 0) % count
    version = PromptVersion(
        kind=kind, system=form.cleaned_data["system"], user=form.cleaned_data["user"]
    )
    preview = preview_prompt(study, version, items[at])
    return {
        "name": tried.name,
        "messages": preview.messages,
        "tokens": preview.tokens,
        "flags": preview.flags,
        "place": at + 1,
        "next": (at + 1) % count,
        "count": count,
        "shown": len(preview.items),
    }


def _versions(study: Study) -> QuerySet[PromptVersion]:
    return study.prompt_versions.filter(kind__in=prompt_kinds()).order_by("-number")


def _prompt(study: Study, prompt_id: uuid.UUID) -> PromptVersion:
    return get_object_or_404(_versions(study).select_related("created_by"), public_id=prompt_id)


def _texts(version: PromptVersion) -> dict[str, str]:
    return {name: getattr(version, name) for name in ("name", "system", "user", "note")}


def _parent(
    version: PromptVersion, others: QuerySet[PromptVersion], against: str | None
) -> PromptVersion | None:
    """Return the requested version, or the previous version if none is requested."""
    if (number := whole_number(against)) is not None:
        return get_object_or_404(others, number=number)
    return others.filter(number__lt=version.number).first()


def _changes(parent: PromptVersion, version: PromptVersion) -> list[tuple[str, Any]]:
    """Return the title and the compared lines of each part."""
    return [
        (_("System text"), compare_texts(parent.system, version.system)),
        (_("User text"), compare_texts(parent.user, version.user)),
    ]


PROMPTS = "judges/prompts"

prompt_urls = [
    path(f"{PROMPTS}/", prompts, name="prompts"),
    path(f"{PROMPTS}/<uuid:prompt_id>/", prompt, name="prompt"),
    path(f"{PROMPTS}/<uuid:prompt_id>/new/", prompt_new, name="prompt_new"),
    path(f"{PROMPTS}/<uuid:prompt_id>/edit/", prompt_edit, name="prompt_edit"),
    path(f"{PROMPTS}/<uuid:prompt_id>/preview/", prompt_preview, name="prompt_preview"),
]
