"""Pages for a draft's examples: the known answers that train and qualify people."""

import uuid
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path

from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.rounds.controls import offer_named, offered_examples, set_example, take_example
from cqa_site.rounds.examples import known_text
from cqa_site.rounds.kind import RoundNotReady, kind_of
from cqa_site.rounds.models import Round
from cqa_site.rounds.onboarding.steps import exercises_wanted
from cqa_site.rounds.progress import items_of
from .forms import ExampleForm
from .pages import controlled_round, known_page, page_context

PER_PAGE = 25


def draft_with_examples(study: Study, any_round_id: uuid.UUID) -> Any:
    """Return a draft round of the study if its kind has examples; otherwise raise Http404."""
    round_ = controlled_round(study, any_round_id)
    if round_.state != Round.State.DRAFT:
        raise Http404
    return round_


@study_page(*RESEARCHERS)
def round_examples(request: StudyRequest, study: Study, any_round_id: uuid.UUID) -> HttpResponse:
    """Show examples, known answers from other rounds, and items; a POST adds a known answer."""
    round_ = draft_with_examples(study, any_round_id)
    kind: Any = kind_of(round_)
    offers = offered_examples(round_)
    if request.method == "POST":
        try:
            offer = offer_named(offers, request.POST.get("id"))
            take_example(round_=round_, offer=offer, actor=request.user)
        except (LookupError, RoundNotReady) as reason:
            messages.error(request, str(reason))
        return redirect("round_examples", study.public_id, any_round_id)
    examples = items_of(round_).filter(key_points__isnull=False)
    others = items_of(round_).filter(key_points__isnull=True).order_by("position")
    context = page_context(round_) | {
        "examples": examples.order_by("position"),
        "wanted": exercises_wanted(round_.onboarding),
        "offers": [(offer, known_text(kind, round_, offer.known)) for offer in offers],
        "page": Paginator(others, PER_PAGE).get_page(request.GET.get("page")),
    }
    return render(request, "rounds/examples/examples.html", context)


@study_page(*RESEARCHERS)
def round_example(
    request: StudyRequest, study: Study, any_round_id: uuid.UUID, position: int
) -> HttpResponse:
    """Make an item an example with its known answer and reasons, or undo this."""
    round_ = draft_with_examples(study, any_round_id)
    kind: Any = kind_of(round_)
    item = get_object_or_404(items_of(round_), position=position)
    form = ExampleForm(request.POST or None, round_=round_, item=item)
    store = partial(set_example, thing=getattr(item, kind.subject))
    about: Any = {"is_set": item.is_example, "is_undrawn": not item.is_drawn}
    return known_page(request, round_, form, store, item=item, back="round_examples", **about)


BASE = "s/<uuid:study_id>/rounds/<uuid:any_round_id>/examples/"
urlpatterns = [
    path(BASE, round_examples, name="round_examples"),
    path(f"{BASE}<int:position>/", round_example, name="round_example"),
]
