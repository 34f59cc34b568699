"""Pages of a draft's examples: which known answers train and qualify people, and why."""

import uuid
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy

from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study

from ..access import trial_context
from ..controls import require_same
from ..examples import WHERE, known_text
from ..kind import RoundNotReady, SheetKind, kind_of, round_head, sheet_kind_of
from ..models import Round
from ..pages.rounds import PAGES
from ..progress import items_of
from ..rules.pages import ruled_round
from .examples import offer_named, offered_examples, set_example, take_offer
from .steps import exercises_wanted

PER_PAGE = 25
LONGEST_NOTE = 500


class ExampleForm(forms.Form):
    """The known answer of an item, a reason for each part, and the place in the guideline."""

    where = forms.CharField(
        label=lazy("Place in the guideline"), max_length=LONGEST_NOTE, required=False
    )

    def __init__(self, data: Any = None, *, round_: Any, item: Any = None) -> None:
        known: Any = (item and item.known_answer) or {}
        if item is not None and not known:
            known = sheet_kind_of(round_).proposed_answer(round_, item)
        notes: Any = item.key_notes if item else {}
        reasons = {f"why-{name}": text for name, text in notes.items()}
        super().__init__(data, initial={**known, **reasons, WHERE: notes.get(WHERE, "")})
        self.parts = sheet_kind_of(round_).answer_fields(round_)
        for name, field in self.parts.items():
            label = _("Reason for %s") % name if len(self.parts) > 1 else _("Reason")
            box = forms.Textarea({"rows": 2})
            why = forms.CharField(label=label, max_length=LONGEST_NOTE, required=False, widget=box)
            self.fields |= {name: field, f"why-{name}": why}

    @property
    def rows(self) -> list[tuple[forms.BoundField, forms.BoundField]]:
        """Each part of the answer with its reason."""
        return [(self[name], self[f"why-{name}"]) for name in self.parts]

    @property
    def known(self) -> dict[str, Any]:
        return {name: self.cleaned_data[name] for name in self.parts}

    @property
    def notes(self) -> dict[str, str]:
        """The reasons by part and the place; what is empty is left out."""
        texts = {name: self.cleaned_data[f"why-{name}"] for name in self.parts}
        texts |= {WHERE: self.cleaned_data[WHERE]}
        return {name: text for name, text in texts.items() if text}


def draft_with_examples(study: Study, any_round_id: uuid.UUID) -> Any:
    """Return a draft of the study whose kind has examples; raises Http404."""
    round_ = ruled_round(study, any_round_id)
    kind = kind_of(round_)
    is_draft = round_.state == Round.State.DRAFT
    if not (is_draft and isinstance(kind, SheetKind) and kind.can_train):
        raise Http404
    return round_


@study_page(*RESEARCHERS)
def round_examples(request: StudyRequest, study: Study, any_round_id: uuid.UUID) -> HttpResponse:
    """Show examples, known answers of other rounds, and items; a POST takes a known answer."""
    round_ = draft_with_examples(study, any_round_id)
    kind: Any = kind_of(round_)
    offers = offered_examples(round_)
    if request.method == "POST":
        try:
            offer = offer_named(offers, request.POST.get("offer"))
            take_offer(round_=round_, offer=offer, actor=request.user)
        except (LookupError, RoundNotReady) as reason:
            messages.error(request, str(reason))
        return redirect("round_examples", study.public_id, any_round_id)
    examples = items_of(round_).filter(key_points__isnull=False)
    others = items_of(round_).filter(key_points__isnull=True).order_by("position")
    rows = [
        {
            "offer": offer,
            # Not stored: for the columns of the table.
            "item": kind.Item(**{kind.subject: getattr(offer.row, kind.subject)}, round=round_),
            "known": known_text(kind, round_, offer.known),
        }
        for offer in offers
    ]
    context = _context(round_) | {
        "examples": examples.order_by("position"),
        "wanted": exercises_wanted(round_.onboarding),
        "offers": rows,
        "page": Paginator(others, PER_PAGE).get_page(request.GET.get("page")),
    }
    return render(request, "rounds/examples/examples.html", context)


@study_page(*RESEARCHERS)
def round_example(
    request: StudyRequest, study: Study, any_round_id: uuid.UUID, position: int
) -> HttpResponse:
    """Set the known answer of an item as an example, with its reasons, or delete the example."""
    round_ = draft_with_examples(study, any_round_id)
    kind: Any = kind_of(round_)
    item = get_object_or_404(items_of(round_), position=position)
    form = ExampleForm(request.POST or None, round_=round_, item=item)
    is_removal = "remove" in request.POST
    if request.method == "POST" and (is_removal or form.is_valid()):
        about = {"known": None} if is_removal else {"known": form.known, "notes": form.notes}
        thing = getattr(item, kind.subject)
        try:
            require_same(item, request.POST)
            set_example(round_=round_, thing=thing, actor=request.user, **about)
        except RoundNotReady as reason:
            messages.error(request, str(reason))
        return redirect("round_examples", study.public_id, any_round_id)
    context = _context(round_) | trial_context(round_, item) | {"form": form}
    status = 422 if form.errors else 200
    return render(request, "rounds/examples/example.html", context, status=status)


def _context(round_: Any) -> dict[str, Any]:
    return round_head(round_) | {"face": PAGES[kind_of(round_).name]}


BASE = "s/<uuid:study_id>/rounds/<uuid:any_round_id>/examples/"
urlpatterns = [
    path(BASE, round_examples, name="round_examples"),
    path(f"{BASE}<int:position>/", round_example, name="round_example"),
]
