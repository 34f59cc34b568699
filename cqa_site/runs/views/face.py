"""The list, the form and the estimate of runs of a kind, written once for kinds that need no more.

The page of one run is a kind's own; see `KindParts.page`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.core.paginator import Paginator
from django.forms import BoundField
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import URLPattern, path
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs.forms.plan import PlanForm
from cqa_site.runs.kinds import kind_named
from cqa_site.runs.models import Run
from cqa_site.runs.progress import add_counts
from cqa_site.runs.views.start import estimate, start_page
from cqa_site.web.strict_query import chosen

PER_PAGE = 50


@dataclass(frozen=True)
class Part:
    """One card of the form: heading, fields in rows, and fields that wait behind a summary."""

    title: Promise
    rows: tuple[tuple[str, ...], ...]
    summary: Promise | str = ""
    folded: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunColumn:
    """A column of the list that only this kind has; the template shows a ``run``."""

    title: Promise
    template: str


@dataclass(frozen=True)
class RunFilter:
    """A choice above the list that only this kind has: name, heading, values, and lookup.

    ``choices`` takes the study and what was asked for.
    """

    name: str
    title: Promise
    choices: Callable[[Study, str], list[tuple[str, Any]]]
    lookup: str


STATES = RunFilter("state", lazy("State"), lambda *_: Run.State.choices, "state")


@dataclass(frozen=True)
class Taken:
    """What a run would take, in words of its kind: numbers with their names, and notes."""

    facts: Sequence[tuple[Promise, int]]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class ListFace:
    """What is special about the page on which runs of a kind are listed.

    ``has_things`` says whether a study holds anything to be judged.
    """

    kind: str
    has_things: Callable[[Study], bool]
    # One sentence or two under the title; what is done with the first run.
    about: Promise
    lead: Promise
    # What to do first where there is nothing to be judged, and where: names of addresses, words.
    nothing: Promise
    starts: tuple[tuple[str, Promise], ...] = ()
    columns: tuple[RunColumn, ...] = ()
    filters: tuple[RunFilter, ...] = ()
    # What the columns need of other tables.
    related: tuple[str, ...] = ()
    # Fills the blocks of the shared one, where runs are started elsewhere.
    template: str = "runs/kind_runs.html"


@dataclass(frozen=True, kw_only=True)
class RunFace(ListFace):
    """The same of the pages on which they are started, too.

    ``taken`` says what so and so many requests are about. Addresses are ``<name>_runs``,
    ``<name>_run_new`` and ``<name>_run_estimate``.
    """

    name: str
    form: type[PlanForm]
    parts: tuple[Part, ...]
    taken: Callable[[Study, PlanForm, int], Taken]
    # The title of the form; `lead` stands under it.
    new: Promise
    # One sentence about what no run can judge yet; ``starts`` say what to do.
    left_out: Callable[[Study], str] = lambda _study: ""
    # Fields beside endpoint and prompt.
    by: tuple[str, ...] = ()


def list_view(face: ListFace, new_page: str = "") -> Callable[..., HttpResponseBase]:
    """The list of a kind's runs; ``new_page`` names the address where one is started."""

    @study_page(*RESEARCHERS)
    def listed(request: StudyRequest, study: Study) -> HttpResponse:
        """List the runs of the kind, newest first."""
        rows = study.runs.filter(kind=face.kind)
        rows = rows.select_related("prompt", "endpoint", "budget", "created_by", *face.related)
        filters = []
        for each in (*face.filters, STATES):
            choices = each.choices(study, request.GET.get(each.name, ""))
            filters.append((each, choices, chosen(request, each.name, dict(choices))))
        given = {each.lookup: value for each, _choices, value in filters if value}
        found = Paginator(rows.filter(**given).order_by("-pk"), PER_PAGE)
        page = found.get_page(request.GET.get("page"))
        add_counts(page)
        context = _context(face, study) | {
            "page": page,
            "filters": filters,
            "is_filtered": bool(given),
            "new_page": new_page,
            # Asked only where the list is empty.
            "has_things": partial(face.has_things, study),
            "has_endpoint": study.endpoints.filter(is_archived=False).exists,
        }
        return render(request, face.template, context)

    return listed


def run_urls(face: RunFace, base: str) -> list[URLPattern]:
    """The addresses of a kind's list, form and estimate."""

    @sensitive_post_parameters("webhook_secret", "webhook_sealed")
    @study_page(*RESEARCHERS)
    def new(request: StudyRequest, study: Study) -> HttpResponse:
        """Choose what is judged by what; start it."""
        form = face.form(request.POST or None, study=study, actor=request.user)
        context = _context(face, study) | _fields(face, form)
        context |= {"has_things": face.has_things(study), "not_yet": face.left_out(study)}
        return start_page(request, study, form, "runs/kind_run_new.html", context, look)

    @sensitive_post_parameters("webhook_secret", "webhook_sealed")
    @study_page(*RESEARCHERS)
    @require_POST
    def what_it_takes(request: StudyRequest, study: Study) -> HttpResponse:
        """Return the fragment with what the run, as the form stands now, would take."""
        form = face.form(request.POST, study=study, actor=request.user)
        context = {"study": study, "face": face, "form": form}
        context |= look(study, form) if form.is_valid() else {}
        return render(request, "runs/_kind_run_estimate.html", context)

    def look(study: Study, form: PlanForm) -> dict[str, Any]:
        """What the run would take, in the engine's words and in the kind's."""
        found = estimate(study, form)
        return found | {"taken": face.taken(study, form, found["estimate"].requests)}

    return [
        path(base, list_view(face, f"{face.name}_run_new"), name=f"{face.name}_runs"),
        path(f"{base}new/", new, name=f"{face.name}_run_new"),
        path(f"{base}estimate/", what_it_takes, name=f"{face.name}_run_estimate"),
    ]


def _context(face: ListFace, study: Study) -> dict[str, Any]:
    kind = kind_named(face.kind)
    return {"study": study, "face": face, "home": kind.home, "unusable": kind.unusable}


def _fields(face: RunFace, form: PlanForm) -> dict[str, Any]:
    """The form's fields as the parts name them, but for those with nothing to choose."""

    def bound(names: tuple[str, ...]) -> list[BoundField]:
        return [form[name] for name in names if name not in form.unoffered]

    parts = [(part, [bound(row) for row in part.rows], bound(part.folded)) for part in face.parts]
    return {"parts": parts, "by": bound(("prompt", *face.by))}
