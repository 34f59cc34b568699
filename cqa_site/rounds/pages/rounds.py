"""Pages for researchers to draw, open, close, watch and try rounds."""

import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _, gettext_lazy as lazy

from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Rater, Study, User
from cqa_site.web.rest.queries import id_from
from ..access import DECISIONS, LONGEST_REASON, decide_rater, sheet_on_trial, tried_items
from ..forms import PayForm, RoundPlanForm
from ..kind import RoundNotReady, TaskKind, kind_of
from ..lifecycle import (
    close_round,
    correct_round,
    delete_round,
    open_round,
    pause_round,
    reopen_round,
)
from ..models import Place, Round
from ..progress import items_of, paces_of, progress_of, rounds_of
from .replies import trial_ways
from .work import TaskPages, show_sheet, take_save, take_submit

PER_PAGE = 50
DECIDED = {
    "pass": lazy("%(rater)s can continue, regardless of the practice result."),
    "fail": lazy("%(rater)s gets no more items. Submitted work is kept and still counts."),
    "exclude": lazy(
        "Work by %(rater)s is left out of every figure, and other people get the items."
    ),
    "reinstate": lazy(
        "Work by %(rater)s counts again, except for items that others have done in the meantime."
    ),
}
# Actions of the buttons of a plan, besides creating a draft.
COUNT, OPEN = "count", "open"
MOVES = {"open": open_round, "pause": pause_round, "close": close_round, "reopen": reopen_round}


@dataclass(frozen=True)
class ListColumn:
    """A table column: its heading, the value in a row, and an optional link."""

    head: Any
    value: Callable[[Any], Any]
    link: Callable[[Any], str] | None = None
    css: str = ""


@dataclass(frozen=True)
class RoundPages:
    """The parts of the researchers' pages that differ by kind, apart from texts.

    ``initial`` returns initial values for a new plan from the parameters of a link.
    """

    form: type[RoundPlanForm]
    # The form for a new round, if it has more fields than the form for drafts and the API.
    new_form: type[RoundPlanForm] | None = None
    # Tables of rounds, of people (rows are `RaterProgress`) and of items.
    columns: tuple[ListColumn, ...] = ()
    people: tuple[ListColumn, ...] = ()
    things: tuple[ListColumn, ...] = ()
    # Additional columns for drawn items.
    draw: tuple[ListColumn, ...] = ()
    # Names and values that describe how the items were drawn.
    drawn: Callable[[Any], list[tuple[Any, Any]]] = lambda round_: []
    initial: Callable[[HttpRequest, Study], dict[str, Any]] = lambda request, study: {}
    # Whether the study has data from which to draw rounds; if not, what to do, and the URL name
    # and title of the page on which to do it.
    is_ready: Callable[[Study], bool] = lambda study: True
    needs: Any = ""
    needs_page: Callable[[Study], tuple[str, str]] = lambda study: ("imports", _("Imports"))
    related: tuple[str, ...] = ()
    decisions: tuple[str, ...] = field(default=DECISIONS)
    # ``sheets(round, rater or None)`` returns the URL of a list of sheets, if there is one.
    sheets: Callable[[Any, Rater | None], str] | None = None
    # The URL name of the page on which people pick items, for kinds that do not draw them.
    picks_page: str = ""
    # The page of a round: its template, the rows that it lists, and additional context.
    template: str = "rounds/round.html"
    # The part of that page that is refreshed while the round is open.
    far: str = "rounds/_far.html"
    listed: Callable[[Any, Any], QuerySet[Any]] = lambda request, round_: items_of(round_).filter(
        key_points__isnull=True
    )
    more: Callable[[Any], dict[str, Any]] = lambda round_: {}

    @property
    def kind(self) -> TaskKind:
        return self.form.kind

    @property
    def lists_sheets(self) -> bool:
        """Whether the kind has a list of sheets; testing ``sheets`` in templates would call it."""
        return self.sheets is not None

    @property
    def rater_page(self) -> str:
        return f"{self.kind.audit.round.removesuffix('round')}rater"


# The pages of each kind, by its name.
PAGES: dict[str, RoundPages] = {}


def round_urls(pages: RoundPages, base: str, round_id: str) -> list[URLPattern]:
    """Return the URLs of a kind's rounds; ``round_id`` is the URL parameter with the id."""
    kind, name = pages.kind, pages.kind.audit.round
    PAGES[kind.name] = pages

    @study_page(*RESEARCHERS, only="GET")
    def listed(request: StudyRequest, study: Study) -> HttpResponse:
        rows = rounds_of(kind, study).select_related(*pages.related)
        context = _context(pages, study) | {"page": _page(request, rows)}
        return render(request, "rounds/rounds.html", context)

    @study_page(*RESEARCHERS)
    def new(request: StudyRequest, study: Study) -> HttpResponse:
        """Create a round from a plan, either opened at once or kept as a draft."""
        # The seed is not a secret; a form that is shown again keeps its seed.
        seed = request.POST.get("seed") or random.randrange(10**6)  # noqa: S311
        initial = {"seed": seed, "name": pages.form.next_name(study)}
        initial |= {**pages.form.usual(study), **pages.initial(request, study)}
        form = (pages.new_form or pages.form)(request.POST or None, study=study, initial=initial)
        return _form_page(pages, request, form)

    @study_page(*RESEARCHERS)
    def edit(request: StudyRequest, study: Study, **ids: uuid.UUID) -> HttpResponse:
        """Change a draft round; its items are drawn again."""
        row = round_in(pages, study, ids[round_id])
        if row.state != Round.State.DRAFT:
            messages.error(request, _("Only a draft can be changed."))
            return to_round(row)
        stored = pages.form(study=study, round_=row).stored()
        form = pages.form(request.POST or None, study=study, round_=row, initial=stored)
        return _form_page(pages, request, form)

    @study_page(*RESEARCHERS)
    def correct(request: StudyRequest, study: Study, **ids: uuid.UUID) -> HttpResponse:
        """Change the fields that can change while people work."""
        row = round_in(pages, study, ids[round_id])
        if row.state == Round.State.DRAFT:
            return redirect(f"{name}_edit", study.public_id, row.public_id)
        return _correct(pages, request, row)

    @study_page(*RESEARCHERS, only="POST")
    def extent(request: StudyRequest, study: Study) -> HttpResponse:
        """Estimate the workload of a plan; nothing is stored."""
        row = _draft(pages, request, study)
        form_class = pages.form if row else pages.new_form or pages.form
        form = form_class(request.POST, study=study, round_=row)
        return render(request, "rounds/_extent.html", _extent(form, PayForm(request.POST)))

    @study_page(*RESEARCHERS, only="GET")
    def shown(request: StudyRequest, study: Study, **ids: uuid.UUID) -> HttpResponse:
        """Show each person's progress and the items."""
        rows = rounds_of(kind, study).select_related("study", *pages.related)
        row = get_object_or_404(rows, public_id=ids[round_id])
        context = _context(pages, study) | {
            "round": row,
            # Lazy, because not every template shows these.
            "raters": SimpleLazyObject(lambda: progress_of(row)),
            "paces": SimpleLazyObject(lambda: paces_of(row)),
            "controls": kind.control_answers(row) if row.n_controls else {},
            "examples": SimpleLazyObject(
                lambda: list(items_of(row).filter(key_points__isnull=False))
            ),
            "page": SimpleLazyObject(lambda: _page(request, pages.listed(request, row))),
            "drawn": pages.drawn(row),
            **pages.more(row),
        }
        return render(request, pages.far if request.htmx else pages.template, context)

    @study_page(*RESEARCHERS, only="POST")
    def delete(request: StudyRequest, study: Study, **ids: uuid.UUID) -> HttpResponse:
        row = round_in(pages, study, ids[round_id])
        try:
            delete_round(round_=row, actor=request.user)
        except RoundNotReady as reason:
            messages.error(request, str(reason))
            return to_round(row)
        return redirect(f"{name}s", study.public_id)

    @study_page(*RESEARCHERS, only="POST")
    def rater(
        request: StudyRequest, study: Study, rater_id: uuid.UUID, **ids: uuid.UUID
    ) -> HttpResponse:
        """Admit or refuse a rater, or exclude their sheets from figures."""
        return _decide(pages, request, round_in(pages, study, ids[round_id]), rater_id)

    @study_page(*RESEARCHERS, only="POST")
    def moved(request: StudyRequest, study: Study, move: str, **ids: uuid.UUID) -> HttpResponse:
        row = round_in(pages, study, ids[round_id])
        try:
            MOVES[move](round_=row, actor=request.user)
        except RoundNotReady as reason:
            messages.error(request, str(reason))
        return to_round(row)

    place = f"{base}<uuid:{round_id}>/"
    decide = path(f"{place}raters/<uuid:rater_id>/", rater, name=pages.rater_page)
    return [
        path(base, listed, name=f"{name}s"),
        path(f"{base}new/", new, name=f"{name}_new"),
        path(f"{base}extent/", extent, name=f"{name}_extent"),
        path(place, shown, name=name),
        path(f"{place}edit/", edit, name=f"{name}_edit"),
        path(f"{place}correct/", correct, name=f"{name}_correct"),
        path(f"{place}delete/", delete, name=f"{name}_delete"),
        *([decide] if pages.decisions else []),
        *(
            path(f"{place}{action}/", moved, {"move": action}, name=f"{name}_{action}")
            for action in kind.moves
        ),
    ]


def round_in(pages: RoundPages, study: Study, round_id: uuid.UUID) -> Any:
    """Return a round of the study; raises Http404."""
    rounds = pages.kind.Round._default_manager.filter(study=study)
    return get_object_or_404(rounds.select_related("study", *pages.related), public_id=round_id)


def _page(request: HttpRequest, rows: QuerySet[Any]) -> Page[Any]:
    return Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))


def to_round(row: Any) -> HttpResponse:
    return redirect(kind_of(row).audit.round, row.study.public_id, row.public_id)


def _form_page(pages: RoundPages, request: StudyRequest, form: RoundPlanForm) -> HttpResponse:
    study, row = form.study, form.round
    then = request.POST.get("then", "")
    if request.method == "POST" and then != COUNT and form.is_valid():
        try:
            planned = _planned(form, request.user, is_opened=then == OPEN)
        except RoundNotReady as reason:
            form.add_error(None, str(reason))
        else:
            if pages.picks_page and form.picks_later:
                return redirect(pages.picks_page, study.public_id, planned.public_id)
            return to_round(planned)
    context = _context(pages, study) | {"form": form, "round": row}
    context |= _extent(_measured(form), PayForm(request.POST or None))
    status = 422 if form.errors and then != COUNT else 200
    return render(request, "rounds/round_form.html", context, status=status)


def _correct(pages: RoundPages, request: StudyRequest, row: Any) -> HttpResponse:
    form = pages.form(request.POST or None, study=row.study, round_=row)
    form.initial = form.stored()
    form.keep_correctable()
    if request.method == "POST" and form.is_valid():
        try:
            is_changed = correct_round(round_=row, actor=request.user, values=form.cleaned_data)
        except RoundNotReady as reason:
            form.add_error(None, str(reason))
        else:
            if is_changed:
                messages.success(
                    request, _("Saved. The study's log shows the old and new values.")
                )
            return to_round(row)
    context = _context(pages, row.study) | {"form": form, "round": row}
    status = 422 if form.errors else 200
    return render(request, "rounds/correct.html", context, status=status)


@transaction.atomic
def _planned(form: RoundPlanForm, actor: User, *, is_opened: bool) -> Any:
    """Store the plan as a round, and open it if requested; no draft is left if opening fails."""
    planned = form.store(actor)
    if is_opened:
        open_round(round_=planned, actor=actor)
    return planned


def _draft(pages: RoundPages, request: StudyRequest, study: Study) -> Any:
    """Return the draft that a plan would change, if any; raises Http404."""
    named = request.POST.get("round")
    draft = round_in(pages, study, id_from(named) or uuid.UUID(int=0)) if named else None
    return draft if draft is None or draft.state == Round.State.DRAFT else None


def _measured(form: RoundPlanForm) -> RoundPlanForm:
    """Return the form as if it had been submitted, to estimate the workload of a new plan."""
    values = form.data if form.is_bound else {name: form[name].value() for name in form.fields}
    return type(form)(values, study=form.study, round_=form.round)


def _extent(form: RoundPlanForm, pay: PayForm) -> dict[str, Any]:
    """Return the template context with the workload of a plan."""
    extent = form.extent()
    return {
        "kind": form.kind,
        "extent": extent,
        "cost": extent and extent.cost(pay.given),
        "pay": pay,
    }


def _context(pages: RoundPages, study: Study) -> dict[str, Any]:
    return {
        "study": study,
        "kind": pages.kind,
        "pages": pages,
        # Called by the templates that need the values.
        "is_ready": partial(pages.is_ready, study),
        "needs_page": partial(pages.needs_page, study),
    }


def _decide(pages: RoundPages, request: Any, row: Any, rater_id: uuid.UUID) -> HttpResponse:
    places = Place.objects.filter(round=row.pk).select_related("round__study", "rater")
    place = get_object_or_404(places, rater__public_id=rater_id)
    decision = request.POST.get("decision", "")
    if decision not in pages.decisions:
        messages.error(request, _("Choose what to do."))
        return to_round(row)
    reason = request.POST.get("reason", "").replace("\x00", "").strip()[:LONGEST_REASON]
    if decide_rater(place=place, actor=request.user, decision=decision, reason=reason):
        messages.success(request, DECIDED[decision] % {"rater": place.rater})
    return to_round(row)


# Maximum number of digits of a version that fits into its column.
LONGEST_VERSION = 9


def trial_urls(pages: TaskPages, rounds: str) -> list[URLPattern]:
    """Return the trial URLs of a kind's work page; ``rounds`` is a route with the round's id."""
    name, place = pages.kind.work_page, f"{rounds}trial/<int:number>/"

    @study_page(*RESEARCHERS, only="GET")
    def trial(request: StudyRequest, study: Study, number: int, **ids: uuid.UUID) -> HttpResponse:
        return _tried(pages, request, study, ids, number, show_sheet)

    @study_page(*RESEARCHERS, only="POST")
    def save(request: StudyRequest, study: Study, number: int, **ids: uuid.UUID) -> HttpResponse:
        return _tried(pages, request, study, ids, number, take_save)

    @study_page(*RESEARCHERS, only="POST")
    def submit(request: StudyRequest, study: Study, number: int, **ids: uuid.UUID) -> HttpResponse:
        return _tried(pages, request, study, ids, number, take_submit)

    return [
        path(place, trial, name=f"{name}_trial"),
        path(f"{place}save/", save, name=f"{name}_trial_save"),
        path(f"{place}submit/", submit, name=f"{name}_trial_submit"),
    ]


def _tried(
    pages: TaskPages,
    request: StudyRequest,
    study: Study,
    ids: dict[str, uuid.UUID],
    number: int,
    answer: Callable[..., HttpResponse],
) -> HttpResponse:
    """Respond with a temporary sheet, which is discarded after the response."""
    (round_id,) = ids.values()
    rounds = pages.kind.Round._default_manager.filter(study=study).select_related("study")
    round_: Any = get_object_or_404(rounds, public_id=round_id)
    items = list(tried_items(round_))
    if not 1 <= number <= len(items):
        raise Http404
    begun = partial(sheet_on_trial, round_, items[number - 1], number=number)
    with begun(version=_version(request.POST.get("base_version", ""))) as sheet:
        sheet.ways = trial_ways(round_, number, len(items))
        return answer(pages, request, sheet)


def _version(text: str) -> int:
    """Return the version sent by the page, whose earlier saves were discarded."""
    return int(text) if text.isdecimal() and len(text) <= LONGEST_VERSION else 0
