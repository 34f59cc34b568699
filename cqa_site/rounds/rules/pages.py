"""The page with a round's rules and the people who currently trigger them."""

import uuid
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _

from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from ..kind import kind_of, kinds, round_head
from ..models import Round
from .actions import hits_of, set_rules
from .forms import RulesForm
from .measures import ONE_VALUE, share_by_chance

PER_PAGE = 50
# Percentages below this value are not shown exactly.
LEAST_PERCENT = 0.01


def ruled_round(study: Study, any_round_id: uuid.UUID) -> Any:
    """Return a round of the study, if its kind has measures for rules; raises Http404."""
    rows = Round.objects.filter(study=study).select_related(
        "study", "onboarding", *(kind.row for kind in kinds())
    )
    plain = get_object_or_404(rows, public_id=any_round_id)
    round_ = kind_of(plain).own(plain)
    round_.study = study
    if not kind_of(round_).measures(round_):
        raise Http404
    return round_


@study_page(*RESEARCHERS)
def round_rules(request: StudyRequest, study: Study, any_round_id: uuid.UUID) -> HttpResponse:
    """Show the rules and the people who currently trigger them; a POST stores the rules."""
    round_ = ruled_round(study, any_round_id)
    form = RulesForm(request.POST or None, round_=round_)
    if request.method == "POST" and form.is_valid():
        set_rules(round_=round_, actor=request.user, rules=form.rules())
        messages.success(request, _("Rules saved."))
        return redirect("round_rules", study.public_id, any_round_id)
    context = round_head(round_) | {
        "form": form,
        "chance": _chance(round_, form),
        "page": Paginator(hits_of(round_), PER_PAGE).get_page(request.GET.get("page")),
    }
    status = 422 if form.errors else 200
    return render(request, "rounds/rules/rules.html", context, status=status)


def _chance(round_: Any, form: RulesForm) -> dict[str, Any] | None:
    """Return how often a window's answers are all the same by chance, if there are answers."""
    window = form.initial[f"{ONE_VALUE}_window"]
    if f"{ONE_VALUE}_window" not in form.fields:
        return None
    counts = kind_of(round_).value_counts(round_)
    percent = 100 * share_by_chance(counts, window)
    shown = f"{percent:.3g}" if percent >= LEAST_PERCENT else f"< {LEAST_PERCENT}"
    return {"window": window, "percent": shown, "answers": sum(counts)} if counts else None


urlpatterns = [
    path("s/<uuid:study_id>/rounds/<uuid:any_round_id>/rules/", round_rules, name="round_rules")
]
