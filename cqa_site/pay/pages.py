"""Pages of a crowd link's pay."""

import uuid
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _

from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.results.figures import figure_file
from cqa_site.rounds.crowd.participants import crowd_rounds, links_of
from cqa_site.rounds.crowd.pay import PaySummary, earnings_of, set_pay
from cqa_site.rounds.kind import kind_of
from cqa_site.rounds.models import ParticipantLink, Round

from .forms import PayTermsForm
from .tables import pay_figures


@study_page(*RESEARCHERS)
def crowd_pay(
    request: StudyRequest, study: Study, any_round_id: uuid.UUID, link_id: uuid.UUID
) -> HttpResponse:
    """Show what people earned through a link; a POST stores what it pays."""
    round_, link = link_or_404(study, any_round_id, link_id)
    form = PayTermsForm(request.POST or None, link=link)
    if request.method == "POST" and form.is_valid():
        set_pay(link=link, actor=request.user, values=form.values())
        messages.success(request, _("Pay saved."))
        return redirect("crowd_pay", study.public_id, any_round_id, link_id)
    summary = PaySummary(link, earnings_of(round_, link=link))
    context = page_context(round_, link) | {"form": form, "summary": summary}
    context["cards"] = pay_figures(summary, (study.public_id, any_round_id, link_id))
    status = 422 if form.errors else 200
    return render(request, "rounds/crowd/pay.html", context, status=status)


@study_page(*RESEARCHERS)
def crowd_pay_figure(
    request: StudyRequest,
    study: Study,
    any_round_id: uuid.UUID,
    link_id: uuid.UUID,
    figure: str,
    format: str,
) -> HttpResponse:
    """Return a table of the pay as CSV, LaTeX or Markdown."""
    round_, link = link_or_404(study, any_round_id, link_id)
    summary = PaySummary(link, earnings_of(round_, link=link))
    figures = pay_figures(summary, (study.public_id, any_round_id, link_id))
    return figure_file(request, figures, figure, format)


def link_or_404(
    study: Study, any_round_id: uuid.UUID, link_id: uuid.UUID
) -> tuple[Round, ParticipantLink]:
    """Return a round of the study and a link into it."""
    round_ = get_object_or_404(crowd_rounds(study), public_id=any_round_id)
    link = get_object_or_404(links_of(round_), public_id=link_id)
    link.study, link.round = study, round_
    return round_, link


def page_context(round_: Round, link: ParticipantLink) -> dict[str, Any]:
    """Return what the head of a link's pages needs."""
    kind = kind_of(round_)
    own = kind.own(round_)
    names = {"study": round_.study, "round": own, "kind": kind, "link": link}
    return names | {"home_name": kind.rounds_page}
