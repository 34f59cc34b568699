"""The crowd links of a round, of whatever kind, and who came by them."""

import uuid
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.rounds.kind import kind_of
from cqa_site.rounds.models import Participant, Round
from cqa_site.rounds.paces import paces_of

from .forms import ParticipantLinkForm
from .participants import close_link, create_link, links_of, participants_of, placeholders
from .participation import NotReported, confirm_fault
from .places import release_place
from .work import crowd_rounds

PAGE_SIZE = 50
SHOWN_LINKS = 100


@study_page(*RESEARCHERS)
def crowd_links(request: StudyRequest, study: Study, any_round_id: uuid.UUID) -> HttpResponse:
    """List the links into a round and who came by them; a POST makes a link."""
    round_ = _round(study, any_round_id)
    kind = kind_of(round_)
    asked: dict[str, Any] = {"most_items": kind.most_items(round_), "counted": kind.counted()}
    form = ParticipantLinkForm(request.POST or None, **asked)
    if request.method != "POST" or not form.is_valid():
        status = 422 if form.errors else 200
        return _links_page(request, round_, asked["most_items"], status=status, form=form)
    link, secret = create_link(round_=round_, actor=request.user, **form.link_fields())
    address = request.build_absolute_uri(reverse("join", kwargs={"secret": secret}))
    return _links_page(
        request,
        round_,
        asked["most_items"],
        form=ParticipantLinkForm(**asked),
        new_link=link,
        address=f"{address}?{placeholders(link)}",
    )


@study_page(*RESEARCHERS)
@require_POST
def crowd_link_close(
    request: StudyRequest, study: Study, any_round_id: uuid.UUID, link_id: uuid.UUID
) -> HttpResponse:
    """Let nobody new in by this link."""
    link = get_object_or_404(links_of(_round(study, any_round_id)), public_id=link_id)
    close_link(link=link, actor=request.user)
    messages.success(request, _("Link closed. People who are in may finish."))
    return redirect("crowd_links", study.public_id, any_round_id)


@study_page(*RESEARCHERS)
@require_POST
def participant_release(
    request: StudyRequest, study: Study, any_round_id: uuid.UUID, person_id: uuid.UUID
) -> HttpResponse:
    """Let the next browser that comes with this person's id have the place."""
    release_place(participant=_person(study, any_round_id, person_id), actor=request.user)
    text = _("Place released: the next browser that comes with this id has it.")
    messages.success(request, text)
    return redirect("crowd_links", study.public_id, any_round_id)


@study_page(*RESEARCHERS)
@require_POST
def participant_fault(
    request: StudyRequest, study: Study, any_round_id: uuid.UUID, person_id: uuid.UUID
) -> HttpResponse:
    """Confirm what somebody reported: they see the code for faults."""
    person = _person(study, any_round_id, person_id)
    try:
        confirm_fault(participant=person, actor=request.user)
        messages.success(request, _("Fault confirmed. The person's page shows the code for it."))
    except NotReported:
        messages.error(request, _("This person reported no fault, or their work has ended."))
    return redirect("crowd_links", study.public_id, any_round_id)


def _round(study: Study, any_round_id: uuid.UUID) -> Round:
    return get_object_or_404(crowd_rounds(study), public_id=any_round_id)


def _person(study: Study, any_round_id: uuid.UUID, person_id: uuid.UUID) -> Participant:
    people = participants_of(_round(study, any_round_id))
    return get_object_or_404(people, user__public_id=person_id)


def _links_page(
    request: StudyRequest, round_: Round, most: int, status: int = 200, **context: object
) -> HttpResponse:
    kind = kind_of(round_)
    own = kind.own(round_)
    page = Paginator(participants_of(round_), PAGE_SIZE).get_page(request.GET.get("page"))
    users = [each.user_id for each in page]
    raters = dict(round_.study.raters.filter(user__in=users).values_list("user", "pk"))
    for person in page:
        vars(person)["rater"] = raters.get(person.user_id, 0)
    links = list(links_of(round_)[:SHOWN_LINKS])
    fixed = {
        "study": round_.study,
        "round": own,
        # The head of a campaign's pages knows it by this name.
        "campaign": own,
        "kind": kind,
        "home_name": kind.rounds_page,
        "most_items": most,
        "asks_too_much": any(link.is_open and link.required_items > most for link in links),
        "links": links,
        "page": page,
        "paces": paces_of(own, rater__in=raters.values()),
    }
    return render(request, "rounds/crowd/links.html", fixed | context, status=status)
