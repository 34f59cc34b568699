"""The list, the form and the estimate of runs of a kind, written once for kinds that need no more.

The page of one run is a kind's own; see `KindParts.page`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path
from django.utils.functional import Promise
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from annotation.forms.planning import PlanForm
from cqa_site.people.access import RESEARCHERS, study_page
from cqa_site.people.models import Study
from cqa_site.runs.kind_parts import PARTS
from cqa_site.runs.models import Run
from cqa_site.web.strict_query import chosen

from .run_context import add_counts
from .run_start import estimate, start_page

PER_PAGE = 50


@dataclass(frozen=True)
class RunFace:
    """What is special about the pages on which runs of a kind are listed and started.

    ``fields`` are the form's fields that say what is judged, in rows; ``has_things`` whether a
    study holds anything to be judged, ``per_thing`` how many requests go out about one of them.
    Addresses are ``<name>_runs``, ``<name>_run_new`` and ``<name>_run_estimate``.
    """

    kind: str
    name: str
    form: type[PlanForm]
    fields: tuple[tuple[str, ...], ...]
    has_things: Callable[[Study], bool]
    per_thing: Callable[[PlanForm], int]
    # A template with links to the pages beside the list.
    tabs: str
    # One sentence or two under the title of the list; title and lead of the form.
    about: Promise
    new: Promise
    lead: Promise
    # Headings: of the fields, of what is judged, of the number of requests.
    asked: Promise
    things: Promise
    requests: Promise
    # What to do first where there is nothing to be judged.
    nothing: Promise


def run_urls(face: RunFace, base: str) -> list[URLPattern]:
    """The addresses of a kind's list, form and estimate."""

    @study_page(*RESEARCHERS)
    def listed(request: HttpRequest, study: Study) -> HttpResponse:
        """List the runs of the kind, newest first."""
        state = chosen(request, "state", Run.State.values)
        rows = study.runs.filter(kind=face.kind)
        rows = rows.select_related("prompt", "endpoint", "budget", "created_by")
        if state:
            rows = rows.filter(state=state)
        page = Paginator(rows.order_by("-pk"), PER_PAGE).get_page(request.GET.get("page"))
        add_counts(page)
        context = _context(face, study) | {
            "page": page,
            "state": state,
            "states": Run.State.choices,
            "has_endpoint": study.endpoints.filter(is_archived=False).exists(),
        }
        return render(request, "annotation/kind_runs.html", context)

    @sensitive_post_parameters("webhook_secret", "webhook_sealed")
    @study_page(*RESEARCHERS)
    def new(request: HttpRequest, study: Study) -> HttpResponse:
        """Choose what is judged by what; start it."""
        form = face.form(request.POST or None, study=study, actor=request.user)
        context = _context(face, study) | _rows(face, form)
        return start_page(request, study, form, "annotation/kind_run_new.html", context, look)

    @sensitive_post_parameters("webhook_secret", "webhook_sealed")
    @study_page(*RESEARCHERS)
    @require_POST
    def what_it_takes(request: HttpRequest, study: Study) -> HttpResponse:
        """Return the fragment with what the run, as the form stands now, would take."""
        form = face.form(request.POST, study=study, actor=request.user)
        context = {"study": study, "face": face, "form": form}
        context |= look(study, form) if form.is_valid() else {}
        return render(request, "annotation/_kind_run_estimate.html", context)

    def look(study: Study, form: PlanForm) -> dict[str, Any]:
        """What the run would take, and how many things it is about."""
        found = estimate(study, form)
        return found | {"things": found["estimate"].requests // max(1, face.per_thing(form))}

    return [
        path(base, listed, name=f"{face.name}_runs"),
        path(f"{base}new/", new, name=f"{face.name}_run_new"),
        path(f"{base}estimate/", what_it_takes, name=f"{face.name}_run_estimate"),
    ]


def _context(face: RunFace, study: Study) -> dict[str, Any]:
    home = PARTS[face.kind].home
    return {
        "study": study,
        "section": home.section,
        "face": face,
        "home": home,
        "has_things": face.has_things(study),
    }


def _rows(face: RunFace, form: PlanForm) -> dict[str, Any]:
    return {"rows": [[form[name] for name in row] for row in face.fields]}
