"""Where a participation ends: the code, or what is left to do, or what does not work."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from cqa_site.people.access import PersonRequest, memberships_of
from cqa_site.rounds.kind import kind_of
from cqa_site.rounds.models import Participant

from .forms import FaultForm
from .lost_answers import lost_answer
from .participation import (
    completion_code,
    finish_participation,
    is_out,
    report_fault,
    standing_of,
    stop_participation,
    work_address,
)


@login_required
def participation_end(request: PersonRequest) -> HttpResponse:
    """Show the completion code once the participation is over, else what is left to do."""
    participant = _participant(request)
    if participant.outcome != Participant.Outcome.RUNNING:
        code = completion_code(participant)
        address = participant.link.address_for(code)
        context = {"participant": participant, "code": code, "address": address}
        return render(request, "rounds/crowd/ended.html", context)
    if request.method == "POST" and not finish_participation(participant=participant):
        messages.info(request, _("There are items left for you."))
    elif request.method == "POST":
        return redirect("participation_end")
    return _running_page(request, participant, FaultForm())


@login_required
def participation_stop(request: PersonRequest) -> HttpResponse:
    """Ask whether the answers of somebody who stops here count; a POST says it."""
    participant = _participant(request)
    choice, standing = request.POST.get("choice"), standing_of(participant)
    is_running = participant.outcome == Participant.Outcome.RUNNING
    if is_running and choice in ("keep", "withdraw"):
        stop_participation(participant=participant, withdraws=choice == "withdraw")
    elif is_running and standing.left:
        context = {"participant": participant, "standing": standing}
        context["work"] = work_address(participant)
        return render(request, "rounds/crowd/stop.html", context)
    return redirect("participation_end")


@login_required
@require_POST
def participation_fault(request: PersonRequest) -> HttpResponse:
    """Take a report; it ends the participation if the server saw a fault, too."""
    participant = _participant(request)
    form = FaultForm(request.POST)
    if not form.is_valid():
        return _running_page(request, participant, form)
    report_fault(
        participant=participant,
        comment=form.cleaned_data["comment"],
        lost_answer=lost_answer(request),
    )
    return redirect("participation_end")


def _participant(request: PersonRequest) -> Participant:
    """The signed-in person's participation, as long as their membership counts."""
    participant = get_object_or_404(
        Participant.objects.select_related("study", "link__round", "user"), user=request.user
    )
    if not memberships_of(request.user).filter(study=participant.study).exists():
        raise Http404
    return participant


def _running_page(
    request: PersonRequest, participant: Participant, form: FaultForm
) -> HttpResponse:
    context = {
        "kind": kind_of(participant.link.round),
        "participant": participant,
        "standing": standing_of(participant),
        "is_out": is_out(participant),
        "work": work_address(participant),
        "form": form,
    }
    status = 422 if form.errors else 200
    return render(request, "rounds/crowd/running.html", context, status=status)
