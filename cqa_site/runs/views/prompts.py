"""Prompt versions: list, one version and its changes, editor, preview on a real item."""

import uuid
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs.actions.first_prompts import first_prompts
from cqa_site.runs.actions.prompts import PromptFrozen, save_prompt
from cqa_site.runs.kinds import prompt_kinds, run_kind_of
from cqa_site.runs.models import PromptVersion
from cqa_site.runs.planning.previews import preview_prompt
from cqa_site.runs.progress import with_planning
from cqa_site.runs.prompt_form import PromptForm
from cqa_site.runs.text_diff import compare_texts
from cqa_site.web.strict_query import whole_number

PER_PAGE = 50
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
    """One version: its text, what it changed, who uses it."""
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
    """Write a new version, starting from the text of another."""
    base = _prompt(study, prompt_id)
    form = PromptForm(request.POST or None, kind=base.kind, initial=_texts(base) | {"note": ""})
    if request.method == "POST" and form.is_valid():
        last = _versions(study).filter(kind=base.kind).first()
        version = save_prompt(
            study=study, actor=request.user, kind=base.kind, version=None, **form.texts
        )
        if last and version.number <= last.number:
            text = _("This text is there already: it is version %d.") % version.number
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
        messages.error(request, _("A run used this version; write a new one from it."))
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


@study_page(*RESEARCHERS)
@require_POST
def prompt_preview(request: StudyRequest, study: Study, prompt_id: uuid.UUID) -> HttpResponse:
    """Show the messages that the typed text makes of one of the study's arguments."""
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
    """The exact messages for the item at ``place``, their size, what was noticed."""
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
    shown = preview_prompt(study, version, items[at])
    return {
        "name": tried.name,
        "messages": shown.messages,
        "tokens": shown.tokens,
        "flags": shown.flags,
        "place": at + 1,
        "next": (at + 1) % count,
        "count": count,
        "shown": len(shown.items),
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
    """The version asked for, else the one before."""
    if (number := whole_number(against)) is not None:
        return get_object_or_404(others, number=number)
    return others.filter(number__lt=version.number).first()


def _changes(parent: PromptVersion, version: PromptVersion) -> list[tuple[str, Any]]:
    """Title and compared lines of each part."""
    return [
        (_("System text"), compare_texts(parent.system, version.system)),
        (_("User text"), compare_texts(parent.user, version.user)),
    ]


BASE = "judges/prompts"


urlpatterns = [
    path(f"{BASE}/", prompts, name="prompts"),
    path(f"{BASE}/<uuid:prompt_id>/", prompt, name="prompt"),
    path(f"{BASE}/<uuid:prompt_id>/new/", prompt_new, name="prompt_new"),
    path(f"{BASE}/<uuid:prompt_id>/edit/", prompt_edit, name="prompt_edit"),
    path(f"{BASE}/<uuid:prompt_id>/preview/", prompt_preview, name="prompt_preview"),
]
