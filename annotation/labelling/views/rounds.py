"""Pages for researchers about rounds, their items and guidelines."""

import random
import uuid
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext
from django_htmx.http import HttpResponseClientRefresh

from annotation.corpus.models import Argument
from annotation.labelling.actions import rounds
from annotation.labelling.actions.blocks import retire_item
from annotation.labelling.actions.rounds import default_draft, save_version
from annotation.labelling.forms import (
    ControlForm,
    GuidelineForm,
    LabelRoundForm,
    NewLabelRoundForm,
    PickForm,
    agreed_on,
    proposed_controls,
)
from annotation.labelling.models import Assignment, Item, LabelRound, label_rounds_of
from annotation.labelling.reports import skipped_by_all
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.pages.rounds import PER_PAGE, ListColumn, RoundPages, round_in, round_urls


def label_round_or_404(study: Study, label_round_id: uuid.UUID) -> LabelRound:
    """Return a round of the study, live or imported, with its guideline."""
    label_rounds = label_rounds_of(study).select_related("guideline")
    return get_object_or_404(label_rounds, public_id=label_round_id)


def _more(label_round: LabelRound) -> dict[str, Any]:
    kinds = label_round.items.aggregate(
        ordinary=Count("pk", filter=Item.ORDINARY),
        controls=Count("pk", filter=Q(control_label__isnull=False)),
    )
    votes = label_round.assignments.filter(state=Assignment.State.ANSWERED)
    people = votes.aggregate(people=Count("rater", distinct=True))
    return {**kinds, **people}


def _initial(request: HttpRequest, study: Study) -> dict[str, Any]:
    """Return a plan that is ready to open, with control items if people agreed on labels."""
    known = agreed_on(study, study.guidelines.first())
    return proposed_controls(study.arguments.count(), len(known))


# Filter for the listed items
ONLY = {
    "ordinary": Q(control_label__isnull=True),
    "controls": Q(control_label__isnull=False),
    "retired": Q(is_retired=True),
}

PAGES = RoundPages(
    form=LabelRoundForm,
    new_form=NewLabelRoundForm,
    initial=_initial,
    template="annotation/labelling/round.html",
    far="annotation/labelling/_round_far.html",
    more=_more,
    picks_page="label_round_items",
    is_ready=lambda study: study.arguments.exists(),
    needs=lazy(
        "Import arguments, or the votes of a finished crowd project. Then open a round here."
    ),
    columns=(
        ListColumn(lazy("Origin"), lambda row: row.get_origin_display()),
        ListColumn(lazy("Labels given"), lambda row: row.votes, css="number"),
    ),
    things=(
        ListColumn(lazy("Comparison"), lambda item: item.argument.comparison),
        ListColumn(lazy("Sentence"), lambda item: item.argument.text, css="text"),
    ),
    related=("guideline",),
    decisions=(),
)


@study_page(*RESEARCHERS)
def label_round_items(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID
) -> HttpResponse:
    """List the round's items; in a draft, also select arguments and mark controls."""
    label_round = round_in(PAGES, study, label_round_id)
    is_running = label_round.is_live and label_round.state in rounds.RUNNING
    # By default, arguments not in any round are added to an existing round.
    form = PickForm(request.POST or None, study=study, initial={"only_new": is_running})
    if request.method == "POST" and form.is_valid():
        return _add(request, study, label_round, form.cleaned_data)
    only = request.GET.get("only", "")
    rows = label_round.items.filter(ONLY.get(only, Q()))
    broken = skipped_by_all(label_round)
    items = broken if only == "skipped" else rows
    items = items.select_related("argument__comparison").order_by("pk")
    is_live = label_round.is_live
    context = {
        "study": study,
        "round": label_round,
        "form": form,
        "only": only,
        "page": Paginator(items, PER_PAGE).get_page(request.GET.get("page")),
        "is_draft": label_round.state == LabelRound.State.DRAFT and is_live,
        "is_running": is_running,
        "broken": broken.count(),
        "controls": label_round.items.filter(control_label__isnull=False).count(),
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/labelling/round_items.html", context, status=status)


def _add(
    request: StudyRequest, study: Study, label_round: LabelRound, wanted: dict
) -> HttpResponse:
    ids = list(_matching(study, wanted).order_by("pk").values_list("pk", flat=True))
    if wanted["sample"]:
        draw = random.Random(label_round.seed)  # noqa: S311
        ids = draw.sample(ids, min(wanted["sample"], len(ids)))
    try:
        added = rounds.add_items(label_round=label_round, argument_ids=ids)
    except RoundNotReady as reason:
        messages.error(request, str(reason))
    else:
        messages.success(request, ngettext("%d item added.", "%d items added.", added) % added)
    return redirect("label_round_items", study.public_id, label_round.public_id)


def _matching(study: Study, wanted: dict) -> QuerySet[Argument]:
    which = rounds.NEW if wanted["only_new"] else rounds.EVERY
    arguments = rounds.arguments_of(study, which)
    if wanted["comparisons"]:
        arguments = arguments.filter(comparison__in=wanted["comparisons"])
    if wanted["search"]:
        arguments = arguments.filter(text__icontains=wanted["search"])
    return arguments


@study_page(*RESEARCHERS, only="POST")
def label_round_item_retire(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID, argument_id: uuid.UUID
) -> HttpResponse:
    """Retire an item of a running round, or restore it."""
    label_round = round_in(PAGES, study, label_round_id)
    item = get_object_or_404(label_round.items, external_id=str(argument_id))
    is_retired = request.POST.get("is_retired") == "on"
    try:
        retire_item(label_round=label_round, item=item, is_retired=is_retired, actor=request.user)
    except RoundNotReady as reason:
        messages.error(request, str(reason))
    else:
        done = (
            _("The item is retired: it is no longer served.")
            if is_retired
            else _("The item is served again.")
        )
        messages.success(request, done)
    back = redirect("label_round_items", study.public_id, label_round.public_id)
    back.headers["Location"] += "?only=skipped" if "skipped" in request.POST else ""
    return back


@study_page(*RESEARCHERS, only="POST")
def label_round_control(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID, argument_id: uuid.UUID
) -> HttpResponse:
    """Mark an item of a draft as a control item or an ordinary item."""
    label_round = round_in(PAGES, study, label_round_id)
    item = get_object_or_404(label_round.items, external_id=str(argument_id))
    form = ControlForm(request.POST, values=label_round.guideline.values)
    if form.is_valid():
        try:
            rounds.set_control(
                label_round=label_round, item=item, label=form.cleaned_data["label"]
            )
        except RoundNotReady as reason:
            messages.error(request, str(reason))
            if request.htmx:
                return HttpResponseClientRefresh()
    if not request.htmx:
        return redirect("label_round_items", study.public_id, label_round.public_id)
    context = {"study": study, "round": label_round, "is_draft": True}
    context["controls"] = label_round.items.filter(control_label__isnull=False).count()
    return render(request, "annotation/labelling/_control_count.html", context)


label_round_urls = [
    *round_urls(PAGES, "label-rounds/", "label_round_id"),
    path("label-rounds/<uuid:label_round_id>/items/", label_round_items, name="label_round_items"),
    path(
        "label-rounds/<uuid:label_round_id>/items/<uuid:argument_id>/control/",
        label_round_control,
        name="label_round_control",
    ),
    path(
        "label-rounds/<uuid:label_round_id>/items/<uuid:argument_id>/retire/",
        label_round_item_retire,
        name="label_round_item_retire",
    ),
]


@study_page(*RESEARCHERS)
def guidelines(request: StudyRequest, study: Study) -> HttpResponse:
    """List the versions with the rounds that use them."""
    context = {"study": study, "guidelines": study.guidelines.prefetch_related("rounds")}
    return render(request, "annotation/labelling/guidelines.html", context)


@study_page(*RESEARCHERS)
def guideline(request: StudyRequest, study: Study, number: int) -> HttpResponse:
    """Show one version as annotators see it."""
    version = get_object_or_404(study.guidelines, number=number)
    context = {"study": study, "guideline": version}
    return render(request, "annotation/labelling/guideline.html", context)


@study_page(*RESEARCHERS)
def guideline_new(request: StudyRequest, study: Study) -> HttpResponse:
    """Create the next version, starting from the newest."""
    newest = default_draft(study)
    form = GuidelineForm(
        request.POST or None,
        levels=newest.levels,
        initial={"title": newest.title, "body": newest.body},
    )
    if request.method == "POST" and form.is_valid():
        version = save_version(
            study=study,
            title=form.cleaned_data["title"],
            body=form.cleaned_data["body"],
            levels=form.cleaned_data["levels"],
            actor=request.user,
        )
        return redirect("guideline", study.public_id, version.number)
    context = {"study": study, "form": form, "newest": newest}
    status = 422 if form.errors else 200
    return render(request, "annotation/labelling/guideline_form.html", context, status=status)


guideline_urls = [
    path("guidelines/", guidelines, name="guidelines"),
    path("guidelines/new/", guideline_new, name="guideline_new"),
    path("guidelines/<int:number>/", guideline, name="guideline"),
]
