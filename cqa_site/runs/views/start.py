"""Starting a run of any kind: the form, what it will take, and a yes before money."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from cqa_site.people.access import StudyRequest
from cqa_site.people.models import Study
from cqa_site.runs.actions import runs as actions
from cqa_site.runs.forms.plan import PlanForm
from cqa_site.runs.models import Run
from cqa_site.runs.planning.planning import estimate_run


def estimate(study: Study, form: PlanForm) -> dict[str, Any]:
    """What the run would take; ``agreement`` names exactly this plan at this price."""
    run = actions.draft(form.plan, study)
    found, is_sampled = estimate_run(run)
    cap = form.plan.cap_micro
    return {
        "tokens_wanted": form.tokens_wanted,
        "estimate": found,
        "cost_micro": found.cost_micro,
        "is_sampled": is_sampled,
        "passes_cap": cap is not None and found.cost_micro > cap,
        "cap_micro": cap,
        "agreement": f"{run.spec_hash}:{found.cost_micro}:{cap}",
    }


def start_page(
    request: StudyRequest,
    study: Study,
    form: PlanForm,
    template: str,
    context: dict[str, Any],
    look: Callable[[Study, Any], dict[str, Any]] = estimate,
    start: Callable[[StudyRequest, Study, Any], HttpResponse] | None = None,
) -> HttpResponse:
    """Show the form; start, after a look at the price where there is one."""
    context |= {
        "study": study,
        "form": form,
        "has_endpoint": study.endpoints.filter(is_archived=False).exists(),
    }
    if request.method != "POST":
        return render(request, template, context)
    if not form.is_valid():
        return render(request, template, context, status=422)
    found = look(study, form)
    is_agreed = not found["cost_micro"] or request.POST.get("agreed") == found["agreement"]
    if "look" in request.POST or not is_agreed:
        _carry_secret(form)
        found["asks"] = "look" not in request.POST
        return render(request, template, context | found)
    try:
        return (start or start_one)(request, study, form)
    except actions.RunRefused as reason:
        form.add_error(None, str(reason))
        return render(request, template, context, status=422)


def _carry_secret(form: PlanForm) -> None:
    """The browser gets no password back; its encrypted form goes along in the page."""
    data: Any = form.data
    form.data = data = data.copy()
    data["webhook_sealed"] = form.sealed_secret


def start_one(request: StudyRequest, study: Study, form: PlanForm) -> HttpResponse:
    """Start the one run of a form; raises RunRefused."""
    run = actions.start_run(study=study, actor=request.user, plan=form.plan)
    return to_started(request, run)


def to_started(request: StudyRequest, run: Run) -> HttpResponse:
    """Go to a run that was asked for, and say whether it is a new one."""
    if run.was_there:
        said = {"number": run.number, "state": run.get_state_display().lower()}
        text = _("Nothing new was started: run #%(number)s asks the same (%(state)s).")
        messages.warning(request, text % said)
    else:
        messages.success(request, _("Run #%d is being prepared.") % run.number)
    return redirect("run", run.study.public_id, run.public_id)
