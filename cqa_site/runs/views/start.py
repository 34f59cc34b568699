"""Pages that list, estimate and start runs, for every kind."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import URLPattern, path
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy as lazy
from django.views.decorators.debug import sensitive_post_parameters

from cqa_site.judging.endpoint_responses import TOKEN_LIMITS
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.runs.actions import runs
from cqa_site.runs.forms.plan import RunPlanForm
from cqa_site.runs.kinds import kind_named
from cqa_site.runs.models import Run
from cqa_site.runs.planning import estimate_run
from cqa_site.runs.progress import add_counts
from cqa_site.web.rest.queries import chosen

# Starting a run of any kind: form, estimate, and confirmation if it costs money


def estimate(study: Study, form: RunPlanForm) -> dict[str, Any]:
    """Estimate the run; ``agreement`` identifies exactly this plan and price."""
    run = runs.draft(form.plan, study)
    forecast, is_sampled = estimate_run(run)
    cap = form.plan.cap_micro
    sent = min((run.params[name] for name in TOKEN_LIMITS if name in run.params), default=0)
    proposed = run.endpoint.proposed_limit
    wanted = max(form.tokens_wanted or 0, proposed if sent < proposed else 0)
    return {
        "tokens_wanted": wanted or None,
        "estimate": forecast,
        "cost_micro": forecast.cost_micro,
        "is_sampled": is_sampled,
        "passes_cap": cap is not None and forecast.cost_micro > cap,
        "cap_micro": cap,
        "agreement": f"{run.spec_hash}:{forecast.cost_micro}:{cap}",
    }


def start_page(
    request: StudyRequest,
    study: Study,
    form: RunPlanForm,
    template: str,
    context: dict[str, Any],
    look: Callable[[Study, Any], dict[str, Any]] = estimate,
    start: Callable[[StudyRequest, Study, Any], HttpResponse] | None = None,
) -> HttpResponse:
    """Show the form and start the run; ask for confirmation first if it costs money."""
    context |= {
        "study": study,
        "form": form,
        "has_endpoint": study.endpoints.filter(is_archived=False).exists(),
    }
    if request.method != "POST":
        return render(request, template, context)
    if not form.is_valid():
        return render(request, template, context, status=422)
    forecast = look(study, form)
    is_agreed = not forecast["cost_micro"] or request.POST.get("agreed") == forecast["agreement"]
    if "look" in request.POST or not is_agreed:
        _carry_secret(form)
        forecast["asks"] = "look" not in request.POST
        return render(request, template, context | forecast)
    try:
        return (start or start_one)(request, study, form)
    except runs.RunRefused as reason:
        form.add_error(None, str(reason))
        return render(request, template, context, status=422)


def _carry_secret(form: RunPlanForm) -> None:
    """Put the encrypted secret into the page, because password fields are always shown empty."""
    data: Any = form.data
    form.data = data = data.copy()
    data["webhook_sealed"] = form.sealed_secret


def start_one(request: StudyRequest, study: Study, form: RunPlanForm) -> HttpResponse:
    """Start the single run of a form; raises RunRefused."""
    run = runs.start_run(study=study, actor=request.user, plan=form.plan)
    return to_started(request, run)


def to_started(request: StudyRequest, run: Run) -> HttpResponse:
    """Redirect to a requested run, with a message that says whether it is new."""
    if run.was_there:
        words = {"number": run.number, "state": run.get_state_display().lower()}
        text = _(
            "No new run was started, because run #%(number)s has the same requests (%(state)s)."
        )
        messages.warning(request, text % words)
    else:
        messages.success(request, _("Run #%d is being prepared.") % run.number)
    return redirect("run", run.study.public_id, run.public_id)


# List, form and estimate for the runs of most kinds
#
# Each kind has its own page for one run; see `RunKind.view_path`.

PER_PAGE = 50


@dataclass(frozen=True)
class RunColumn:
    """A list column that only this kind has; its template shows a ``run``."""

    title: Promise
    template: str


@dataclass(frozen=True)
class RunListFilter:
    """A list filter that only this kind has, with its name, heading, values and lookup.

    ``choices`` takes the study and the requested value.
    """

    name: str
    title: Promise
    choices: Callable[[Study, str], list[tuple[str, Any]]]
    lookup: str


STATES = RunListFilter("state", lazy("State"), lambda *_: Run.State.choices, "state")


@dataclass(frozen=True)
class RunScope:
    """The scope of a planned run: numbers with names that depend on the kind, and notes."""

    facts: Sequence[tuple[Promise, int]]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class RunListPages:
    """The parts of a kind's list of runs that differ from those of other kinds.

    ``has_things`` returns whether a study contains anything to judge.
    """

    kind: str
    has_things: Callable[[Study], bool]
    # One or two sentences below the title of the list; instructions for the first run.
    about: Promise
    lead: Promise
    # What to do if there is nothing to judge, and the pages for it: URL names and link texts.
    nothing: Promise
    starts: tuple[tuple[str, Promise], ...] = ()
    columns: tuple[RunColumn, ...] = ()
    filters: tuple[RunListFilter, ...] = ()
    # Related rows that the columns need.
    related: tuple[str, ...] = ()
    # Extends the shared template for kinds whose runs are started on other pages.
    template: str = "runs/kind_runs.html"


@dataclass(frozen=True, kw_only=True)
class RunPages(RunListPages):
    """The parts of a kind's list and start pages that differ from those of other kinds.

    ``taken`` describes the scope of the given number of requests. Addresses are ``<name>_runs``,
    ``<name>_run_new`` and ``<name>_run_estimate``.
    """

    name: str
    form: type[RunPlanForm]
    # The heading above the fields that select the subjects, and these fields in rows.
    heading: Promise
    rows: tuple[tuple[str, ...], ...]
    taken: Callable[[Study, RunPlanForm, int], RunScope]
    # The title of the form; `lead` is below it.
    new: Promise
    # A sentence about items that no run can judge yet; ``starts`` has the remedies.
    left_out: Callable[[Study], str] = lambda _study: ""


def list_view(pages: RunListPages, new_page: str = "") -> Callable[..., HttpResponseBase]:
    """Return the view that lists a kind's runs; ``new_page`` is the URL name of the start page."""

    @study_page(*RESEARCHERS)
    def listed(request: StudyRequest, study: Study) -> HttpResponse:
        """List the runs of the kind, newest first."""
        rows = study.runs.filter(kind=pages.kind)
        rows = rows.select_related("prompt", "endpoint", "budget", "created_by", *pages.related)
        filters = []
        for run_filter in (*pages.filters, STATES):
            choices = run_filter.choices(study, request.GET.get(run_filter.name, ""))
            filters.append((run_filter, choices, chosen(request, run_filter.name, dict(choices))))
        values = {row_filter.lookup: value for row_filter, _choices, value in filters if value}
        paginator = Paginator(rows.filter(**values).order_by("-pk"), PER_PAGE)
        page = paginator.get_page(request.GET.get("page"))
        add_counts(page)
        context = _context(pages, study) | {
            "page": page,
            "filters": filters,
            "is_filtered": bool(values),
            "new_page": new_page,
            # Queried only if the list is empty.
            "has_things": partial(pages.has_things, study),
            "has_endpoint": study.endpoints.filter(is_archived=False).exists,
        }
        return render(request, pages.template, context)

    return listed


def run_urls(pages: RunPages, base: str) -> list[URLPattern]:
    """Return the addresses of a kind's list, form and estimate."""

    @sensitive_post_parameters("webhook_secret", "webhook_sealed")
    @study_page(*RESEARCHERS)
    def new(request: StudyRequest, study: Study) -> HttpResponse:
        """Choose the items and the judge, and start the run."""
        form = pages.form(request.POST or None, study=study, actor=request.user)
        rows = [[form[name] for name in row] for row in pages.rows]
        context = _context(pages, study) | {
            "rows": rows,
            "not_yet": pages.left_out(study),
        }
        context["has_things"] = pages.has_things(study)
        return start_page(request, study, form, "runs/kind_run_new.html", context, look)

    @sensitive_post_parameters("webhook_secret", "webhook_sealed")
    @study_page(*RESEARCHERS, only="POST")
    def what_it_takes(request: StudyRequest, study: Study) -> HttpResponse:
        """Return the estimate fragment for the current form."""
        form = pages.form(request.POST, study=study, actor=request.user)
        context = {"study": study, "pages": pages, "form": form}
        context |= look(study, form) if form.is_valid() else {}
        return render(request, "runs/_kind_run_estimate.html", context)

    def look(study: Study, form: RunPlanForm) -> dict[str, Any]:
        """Estimate the run, and add its scope in the kind's terms."""
        forecast = estimate(study, form)
        return forecast | {"taken": pages.taken(study, form, forecast["estimate"].requests)}

    return [
        path(
            base,
            list_view(pages, f"{pages.name}_run_new"),
            name=f"{pages.name}_runs",
        ),
        path(f"{base}new/", new, name=f"{pages.name}_run_new"),
        path(f"{base}estimate/", what_it_takes, name=f"{pages.name}_run_estimate"),
    ]


def _context(pages: RunListPages, study: Study) -> dict[str, Any]:
    kind = kind_named(pages.kind)
    return {"study": study, "pages": pages, "home": kind.home, "unusable": kind.unusable}
