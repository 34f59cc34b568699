"""Pages about annotators and control items, and decisions about single annotators."""

import uuid
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.db import transaction
from django.db.models import F, OuterRef, QuerySet, Subquery
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _, gettext_lazy

from annotation.consensus.models import FinalLabel
from annotation.corpus.methods.sentences import split_sentence
from annotation.corpus.models import Argument
from annotation.labelling.models import Assignment, LabelRound
from annotation.labelling.views.rounds import label_round_or_404
from annotation.quality import actions
from annotation.quality.forms import ControlChangeForm, ReasonForm
from annotation.quality.reports.controls import control_detail, quality_of
from annotation.quality.reports.quality import HASTY_SHARE, AnnotatorQuality, annotator_detail
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import AuditEvent, Rater, Study
from cqa_site.rounds.progress import paces_of
from cqa_site.stats.verdicts import LEVEL

Key = Callable[[AnnotatorQuality], Any]

# Sorting by upper bound puts annotators shown to be poor before those who had bad luck.
DEFAULT_SORT = "interval"
SORTS: dict[str, Key] = {
    "name": lambda annotator: annotator.rater.pseudonym,
    "votes": lambda annotator: annotator.votes,
    "accuracy": lambda annotator: annotator.controls.accuracy,
    "interval": lambda annotator: annotator.high_percent,
    "agreement": lambda annotator: annotator.agreement,
    "seconds": lambda annotator: annotator.median_seconds,
}
HEADS = {
    "name": gettext_lazy("Annotator"),
    "votes": gettext_lazy("Labels"),
    "accuracy": gettext_lazy("Control accuracy"),
    "interval": gettext_lazy("95 % interval"),
    "agreement": gettext_lazy("Matches the majority"),
    "seconds": gettext_lazy("Median time"),
}
FILTERS: dict[str, tuple[Any, Key]] = {
    "": (gettext_lazy("All"), lambda annotator: True),
    "low": (gettext_lazy("95 % interval below the minimum"), lambda annotator: annotator.is_low),
    "fall": (gettext_lazy("Fall signalled"), lambda annotator: annotator.fall is not None),
    "one_value": (gettext_lazy("One label only"), lambda annotator: annotator.is_one_value),
    "hasty": (gettext_lazy("Very fast"), lambda annotator: annotator.is_hasty),
    "stopped": (gettext_lazy("Paused"), lambda annotator: annotator.is_stopped),
    "excluded": (gettext_lazy("Excluded"), lambda annotator: annotator.is_excluded),
}


def sort_people(people: list[AnnotatorQuality], sort: str) -> list[AnnotatorQuality]:
    """Sort by a column ("-" for descending order); undefined values always come last."""
    key = SORTS.get(sort.removeprefix("-"), SORTS[DEFAULT_SORT])
    known = [person for person in people if key(person) is not None]
    known.sort(
        key=lambda annotator: (key(annotator), annotator.rater.pk), reverse=sort.startswith("-")
    )
    return known + [person for person in people if key(person) is None]


def heads(sort: str) -> list[dict[str, Any]]:
    """Return the column headings with the current order and the order after a click."""
    column, is_descending = sort.removeprefix("-"), sort.startswith("-")
    return [
        {
            "title": title,
            "order": ("descending" if is_descending else "ascending") if name == column else "",
            "next": f"-{name}" if name == column and not is_descending else name,
            "is_number": name not in ("name", "interval"),
        }
        for name, title in HEADS.items()
    ]


def filters(people: list[AnnotatorQuality], show: str) -> list[dict[str, Any]]:
    """Return the filters that match at least one annotator, with counts."""
    counts = {name: sum(map(test, people)) for name, (_title, test) in FILTERS.items()}
    return [
        {"name": name, "title": title, "count": counts[name], "is_current": name == show}
        for name, (title, _test) in FILTERS.items()
        if counts[name] or name in ("", show)
    ]


def totals(people: list[AnnotatorQuality]) -> dict[str, float]:
    """Return totals over annotators, and the most low intervals to be expected by chance."""
    with_controls = sum(bool(person.controls.n) for person in people)
    return {
        "people": len(people),
        "labels": sum(person.votes for person in people),
        "right": sum(person.controls.right for person in people),
        "controls": sum(person.controls.n for person in people),
        "low": sum(person.is_low for person in people),
        "with_controls": with_controls,
        "by_chance": with_controls * LEVEL / 2,
        "excluded": sum(person.is_excluded for person in people),
    }


PER_PAGE = 50


@study_page(*RESEARCHERS)
def quality(request: StudyRequest, study: Study, label_round_id: uuid.UUID) -> HttpResponse:
    """List annotators with their control accuracy, and contested control items."""
    label_round = label_round_or_404(study, label_round_id)
    people, controls = quality_of(label_round)
    show = request.GET.get("show", "")
    show = show if show in FILTERS else ""
    sort = request.GET.get("sort", DEFAULT_SORT)
    qualities = sort_people([person for person in people if FILTERS[show][1](person)], sort)
    paces = paces_of(label_round)
    only_skip = [rater for rater, pace in paces.items() if pace.done == pace.skipped]
    context = _context(study, label_round) | {
        "skipping": [rater for rater, pace in paces.items() if pace.is_skipping],
        "only_skip": study.raters.filter(pk__in=only_skip),
        "hasty_mark": label_round.expected_seconds * HASTY_SHARE,
        "totals": totals(people),
        "heads": heads(sort),
        "filters": filters(people, show),
        "show": show,
        "page": Paginator(qualities, PER_PAGE).get_page(request.GET.get("page")),
        "controls": controls,
        "contested": [control for control in controls if control.is_contested],
        "low_left": sum(person.is_low and not person.is_excluded for person in people),
    }
    return render(request, "annotation/quality/quality.html", context)


@study_page(*RESEARCHERS)
def annotator(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID, rater_id: uuid.UUID
) -> HttpResponse:
    """Show an annotator's labels, control answers and times; exclude or reinstate this person."""
    label_round = label_round_or_404(study, label_round_id)
    rater = get_object_or_404(study.raters, public_id=rater_id)
    form = ReasonForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        return _decide(request, label_round, rater, form.cleaned_data["reason"])
    detail = annotator_detail(label_round, rater)
    if detail is None:
        raise Http404
    context = _context(study, label_round) | {
        "rater": rater,
        "detail": detail,
        "one": detail.annotator,
        "form": form,
        "page": _labels_page(request, label_round, rater),
        "history": _history(study, f"{label_round.name}: {rater.pseudonym}"),
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/quality/annotator.html", context, status=status)


@study_page(*RESEARCHERS)
def control(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID, argument_id: uuid.UUID
) -> HttpResponse:
    """Show the labels of one control item; change its known label or retire it."""
    label_round = label_round_or_404(study, label_round_id)
    argument = get_object_or_404(
        study.arguments.select_related("comparison"), public_id=argument_id
    )
    form = ControlChangeForm(request.POST or None, label_round=label_round)
    if request.method == "POST" and form.is_valid():
        _change_controls(request, label_round, argument, form)
        return redirect("control", study.public_id, label_round.public_id, argument.public_id)
    detail = control_detail(label_round, argument.pk)
    if not detail.controls:
        raise Http404
    context = _context(study, label_round) | {
        "argument": argument,
        "segments": split_sentence(
            argument.text, argument.comparison.object1, argument.comparison.object2
        ),
        "detail": detail,
        "form": form,
        "history": _history(
            study, *(f"{label_round.name}: {row.item.external_id}" for row in detail.controls)
        ),
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/quality/control.html", context, status=status)


def _context(study: Study, label_round: LabelRound) -> dict[str, Any]:
    return {
        "study": study,
        "round": label_round,
        "mark_percent": label_round.min_control_accuracy * 100,
    }


def _decide(
    request: StudyRequest, label_round: LabelRound, rater: Rater, reason: str
) -> HttpResponse:
    is_back = request.POST.get("act") == "reinstate"
    act = actions.reinstate_rater if is_back else actions.exclude_rater
    act(label_round=label_round, rater=rater, reason=reason, actor=request.user)
    done = _("Reinstated: the labels count again.") if is_back else _("Excluded. You can undo it.")
    messages.success(request, done)
    return redirect(
        "annotator", label_round.study.public_id, label_round.public_id, rater.public_id
    )


@transaction.atomic
def _change_controls(
    request: StudyRequest, label_round: LabelRound, argument: Argument, form: ControlChangeForm
) -> None:
    for item in label_round.items.filter(argument=argument, control_label__isnull=False):
        actions.replace_control_label(
            label_round=label_round,
            item=item,
            label=form.new_label,
            reason=form.cleaned_data["reason"],
            actor=request.user,
        )
    messages.success(request, _("Saved. Control accuracies now use the new known label."))


def _labels_page(request: StudyRequest, label_round: LabelRound, rater: Rater) -> Page:
    """Return the annotator's labels, newest first, with the majority labels of the arguments."""
    majority = FinalLabel.objects.filter(
        label_round=label_round, argument=OuterRef("item__argument")
    ).values("majority_label")
    labels = (
        label_round.assignments.filter(rater=rater, state=Assignment.State.ANSWERED)
        .select_related("item__argument__comparison")
        .annotate(majority=Subquery(majority), active_seconds=F("active_ms") / 1_000.0)
        .order_by("-answered_at", "-pk")
    )
    return Paginator(labels, PER_PAGE).get_page(request.GET.get("page"))


def _history(study: Study, *subjects: str) -> QuerySet[AuditEvent]:
    return study.audit_events.filter(subject__in=subjects).select_related("actor")[:20]


ROUND = "label-rounds/<uuid:label_round_id>"
urlpatterns = [
    path(f"{ROUND}/quality/", quality, name="quality"),
    path(f"{ROUND}/annotators/<uuid:rater_id>/", annotator, name="annotator"),
    path(f"{ROUND}/controls/<uuid:argument_id>/", control, name="control"),
]
