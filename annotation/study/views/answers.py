"""Questions of a study, and everything known of one answer.

The other answers to its question are a page of `annotation.answers`.
"""

import uuid
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import F, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path

from annotation.answers.forms.questions import WITHOUT_ASPECT, QuestionSearchForm
from annotation.answers.models.answers import Answer, System
from annotation.answers.reports.answers import (
    about_answer,
    busiest_systems,
    count_by_system,
    count_unasked,
    side_by_side,
    visible_answers,
)
from annotation.corpus.models.questions import Question
from annotation.editing.models import Revision
from annotation.exports.forms import AnswersFileForm
from cqa_site.people.access import EXPERTS, RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study

PER_PAGE = 50


@study_page(*EXPERTS)
def questions(request: StudyRequest, study: Study) -> HttpResponse:
    """Search the questions of the study; researchers see how many answers each system gave."""
    is_blind = not request.membership.is_researcher
    form = QuestionSearchForm(request.GET or None, study=study, is_blind=is_blind)
    found = _search(study, form).select_related("comparison")
    page = Paginator(found, PER_PAGE).get_page(request.GET.get("page"))
    systems = [] if is_blind else busiest_systems(study)
    answers = visible_answers(study, is_blind=is_blind)
    if condition := _answered(form).get("condition"):
        answers = answers.filter(condition=condition)
    _add_counts(answers, page, systems)
    context = {
        "study": study,
        "form": form if form.is_bound else _unused(study, is_blind),
        "page": page,
        "systems": systems,
        "is_blind": is_blind,
        "is_filtered": form.is_used,
        "file_form": None if is_blind else AnswersFileForm(),
        "unasked": 0 if is_blind else count_unasked(study),
    }
    return render(request, "annotation/study/questions.html", context)


def _unused(study: Study, is_blind: bool) -> QuestionSearchForm:
    return QuestionSearchForm(study=study, is_blind=is_blind)


def _search(study: Study, form: QuestionSearchForm) -> QuerySet[Question]:
    found = study.questions.all()
    if not form.is_bound or not form.is_valid():
        return found
    wanted = form.cleaned_data
    if wanted["q"]:
        places = ("wording", "aspect", "comparison__object1", "comparison__object2")
        words = Q()
        for place in places:
            words |= Q(**{f"{place}__icontains": wanted["q"]})
        found = found.filter(words)
    if wanted["comparison"]:
        found = found.filter(comparison=wanted["comparison"])
    if wanted["aspect"]:
        aspect = "" if wanted["aspect"] == WITHOUT_ASPECT else wanted["aspect"][1:]
        found = found.filter(aspect=aspect)
    answers = study.answers.filter(**_answered(form))
    return found.filter(pk__in=answers.values("question")) if _answered(form) else found


def _answered(form: QuestionSearchForm) -> dict[str, Any]:
    """By which system, and under which condition, where the form says so."""
    given = form.cleaned_data if form.is_bound and form.is_valid() else {}
    return {name: given[name] for name in ("system", "condition") if given.get(name)}


def _add_counts(answers: QuerySet[Answer], page: Page, systems: list[System]) -> None:
    """Give each question ``counts`` in the order of the systems and ``answer_count``."""
    counts = count_by_system(answers, page)
    for question in page:
        found = counts.get(question.pk, {})
        question.counts = [found.get(system.pk, 0) for system in systems]
        question.answer_count = sum(found.values())


@study_page(*RESEARCHERS)
def answer(request: StudyRequest, study: Study, answer_id: uuid.UUID) -> HttpResponse:
    """Show one answer verbatim with where it came from and what experts made of it."""
    row = get_object_or_404(
        study.answers.select_related(
            "question__comparison",
            "question__study",
            "system",
            "condition",
            "run",
            "call",
            "prompt",
            "revision__sheet__round",
            "revision__sheet__answer__system",
            "revision__sheet__answer__condition",
        ),
        public_id=answer_id,
    )
    (column,), lists = side_by_side(row.question, [row.pk], is_blind=False)
    context = {
        "study": study,
        "answer": row,
        "about": about_answer(row),
        "column": column,
        "lists": lists,
        "with_labels": True,
        "parameters": _parameters(row),
        "revisions": _revisions(row),
        "figures": list(row.figures.order_by("-mode")),
    }
    return render(request, "annotation/study/answer.html", context)


def _parameters(answer: Answer) -> list[tuple[str, Any]]:
    """What the request was sent with, as the run's plan says."""
    if answer.run is None:
        return []
    return sorted((answer.run.spec.get("params") or {}).items())


def _revisions(answer: Answer) -> QuerySet[Revision]:
    found = Revision.objects.filter(sheet__answer=answer).defer("checks")
    found = found.annotate(scored_id=F("scored_as__public_id"))
    return found.select_related("sheet__round", "sheet__rater__user").order_by("pk")


urlpatterns = [
    path("questions/", questions, name="questions"),
    path("answers/<uuid:answer_id>/", answer, name="answer"),
]
