"""The page with one sentence to label, and its preview for researchers."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _

from annotation.corpus.methods.sentences import SentencePart, split_sentence
from annotation.labelling.actions.serving import DONE
from annotation.labelling.forms import AnswerForm
from annotation.labelling.models import Assignment, LabelRound
from annotation.labelling.views.rounds import PAGES
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study
from cqa_site.rounds.access import MOST, tried_id
from cqa_site.rounds.pages.replies import trial_of
from cqa_site.rounds.pages.rounds import round_in
from cqa_site.rounds.progress import TaskProgress
from cqa_site.web.pages import wants_json

# Content of label pages: allow-lists with the same keys for every item


def segments_of(row: Assignment) -> list[SentencePart]:
    """Split the sentence into parts and mark the names of the two objects."""
    argument = row.item.argument
    return split_sentence(argument.text, argument.comparison.object1, argument.comparison.object2)


def item_payload(row: Assignment) -> dict[str, object]:
    """Return an item's content for a page."""
    comparison = row.item.argument.comparison
    return {
        "id": str(row.public_id),
        "object1": comparison.object1,
        "object2": comparison.object2,
        "segments": [{"text": part.text, "mark": part.mark} for part in segments_of(row)],
        "blank": row.item.argument.is_blank,
    }


def earlier_payload(row: Assignment, known: Mapping[int, str]) -> dict[str, object]:
    """Return an item with the rater's answer; a change must send back its ``known`` value."""
    return {
        "item": item_payload(row),
        "known": known.get(row.pk, ""),
        "answer": {
            "label": row.label,
            "skip_reason": row.skip_reason,
            "comment": row.comment,
            "flag": row.is_flagged,
        },
    }


# Label page for annotators, and for researchers as a preview


@dataclass(frozen=True)
class LabelWays:
    """URLs for answers and links on the page."""

    page: str
    answer: str
    next: str
    alive: str
    answers: str


@dataclass(frozen=True)
class LabelPageState:
    """Content of a label page: reserved items, and the current item or why there is none."""

    label_round: LabelRound
    waiting: list[Assignment]
    current: Assignment | None
    far: TaskProgress
    reason: str = ""
    notice: str = ""


def ways_of(label_round: LabelRound) -> LabelWays:
    """Return the URLs for regular labelling."""
    ids = [label_round.study.public_id, label_round.public_id]
    names = ("label", "label_answer", "label_next", "label_alive", "label_answers")
    return LabelWays(*(reverse(name, args=ids) for name in names))


def render_label(
    request: StudyRequest,
    state: LabelPageState,
    context: Mapping[str, Any],
    page: Mapping[str, Any],
    *,
    status: int = 200,
) -> HttpResponse:
    """Render the page; ``context`` and ``page`` are extra values for template and script."""
    current, label_round, far = state.current, state.label_round, state.far
    is_change = current is not None and current.state in DONE
    for_script = {
        "user": str(request.user.public_id),
        "round": str(label_round.public_id),
        "beat": min(60, label_round.lease_minutes * 20),
        "items": [item_payload(row) for row in state.waiting],
        "progress": {
            "answered": far.done,
            "total": far.all,
            "seconds": far.seconds,
            "planned": label_round.expected_seconds,
        },
        "state": state.reason,
    }
    around = {
        "study": request.membership.study,
        "round": label_round,
        "page": for_script | dict(page),
        "far": far,
        "current": current,
        "segments": segments_of(current) if current else [],
        "is_change": is_change,
        "client_key": uuid.uuid4().hex,
        "reasons": Assignment.SkipReason.choices,
        "reason": state.reason,
        "notice": state.notice,
    }
    name = "label" if current else "label_state"
    template = f"annotation/labelling/{name}.html"
    return render(request, template, around | dict(context), status=status)


# Preview of the label page for researchers; answers are not stored
#
# The preview shows the first items in round order, including unmarked control items as for
# annotators. Nothing is reserved, and the rows shown are not saved.

PREFETCH = 5


@study_page(*RESEARCHERS, only="GET")
def label_trial(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID, number: int
) -> HttpResponse:
    """Show an item of a round as annotators see it."""
    label_round, rows = _tried(study, label_round_id)
    return _page(request, label_round, rows, number)


@study_page(*RESEARCHERS, only="POST")
def label_trial_answer(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID
) -> HttpResponse:
    """Respond to a trial answer as to a real one, without storing it."""
    label_round, rows = _tried(study, label_round_id)
    form = AnswerForm(request.POST)
    number = _number(rows, form.cleaned_data["item"]) if form.is_valid() else 1
    label = form.cleaned_data.get("label")
    is_skip = label is None and form.cleaned_data.get("skip_reason")
    if not form.is_valid() or not (is_skip or label in label_round.guideline.values):
        notice = _("This answer was not stored. Choose a label, or skip with a reason.")
        if wants_json(request):
            return JsonResponse({"error": "not_valid", "detail": notice}, status=422)
        return _page(request, label_round, rows, number, notice=notice, status=422)
    if not wants_json(request):
        after = trial_of(label_round, number, len(rows)).after
        return redirect(after or reverse("label_round", args=[study.public_id, label_round_id]))
    saved = {"id": str(rows[number - 1].public_id), "label": label}
    return JsonResponse({"saved": saved} | _coming(rows, number))


@study_page(*RESEARCHERS, only="GET")
def label_trial_next(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID
) -> HttpResponse:
    """Return the next items for a page that is being resumed."""
    _label_round, rows = _tried(study, label_round_id)
    return JsonResponse(_coming(rows, 0))


@study_page(*RESEARCHERS, only="POST")
def label_trial_alive(
    request: StudyRequest, study: Study, label_round_id: uuid.UUID
) -> HttpResponse:
    """Respond without renewing leases, because a trial has none."""
    _tried(study, label_round_id)
    return HttpResponse(status=204)


def _tried(study: Study, label_round_id: uuid.UUID) -> tuple[LabelRound, list[Assignment]]:
    """Return the round, and unsaved rows for its first items; raises Http404."""
    label_round = round_in(PAGES, study, label_round_id)
    items = label_round.items.select_related("argument__comparison").order_by("rank", "pk")[:MOST]
    rows = [
        Assignment(public_id=tried_id(label_round, number), item=item, round=label_round)
        for number, item in enumerate(items, 1)
    ]
    if not rows or not label_round.is_live:
        raise Http404
    return label_round, rows


def _number(rows: list[Assignment], item: uuid.UUID) -> int:
    for number, row in enumerate(rows, 1):
        if row.public_id == item:
            return number
    raise Http404


def _coming(rows: list[Assignment], number: int) -> dict[str, Any]:
    """Return the same data as the regular labelling page."""
    following = rows[number : number + PREFETCH]
    return {
        "next": [item_payload(row) for row in following],
        "progress": {"answered": number},
        "state": "" if following else "finished",
    }


def _page(
    request: StudyRequest,
    label_round: LabelRound,
    rows: list[Assignment],
    number: int,
    *,
    notice: str = "",
    status: int = 200,
) -> HttpResponse:
    if not 1 <= number <= len(rows):
        raise Http404
    trial = trial_of(label_round, number, len(rows))
    far = TaskProgress(number - 1, len(rows) - number + 1, label_round.expected_seconds)
    waiting = rows[number - 1 : number - 1 + PREFETCH]
    state = LabelPageState(label_round, waiting, waiting[0], far, notice=notice)
    context = {
        "is_participant": False,
        "undo": None,
        "trial": trial,
        "ways": _ways(label_round, number, trial.round),
    }
    return render_label(request, state, context, {"change": None, "earlier": []}, status=status)


def _ways(label_round: LabelRound, number: int, answers: str) -> LabelWays:
    ids = [label_round.study.public_id, label_round.public_id]
    return LabelWays(
        page=reverse("label_trial", args=[*ids, number]),
        answer=reverse("label_trial_answer", args=ids),
        next=reverse("label_trial_next", args=ids),
        alive=reverse("label_trial_alive", args=ids),
        answers=answers,
    )


BASE = "label-rounds/<uuid:label_round_id>/label/trial/"
urlpatterns = [
    path(f"{BASE}<int:number>/", label_trial, name="label_trial"),
    path(f"{BASE}answer/", label_trial_answer, name="label_trial_answer"),
    path(f"{BASE}next/", label_trial_next, name="label_trial_next"),
    path(f"{BASE}alive/", label_trial_alive, name="label_trial_alive"),
]
