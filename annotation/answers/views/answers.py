"""Questions of a study, all systems' answers to one of them, and one answer with its origin.

Who may not know the systems (everybody but researchers) sees the answers of
machines under numbers, in an order of their own; researchers may choose to.
"""

import uuid
from typing import Any

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.db.models import F, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST

from annotation.answers.actions.questions import AlreadyThere, add_missing_questions, add_question
from annotation.answers.forms.questions import (
    WITHOUT_ASPECT,
    AnswerFilterForm,
    QuestionForm,
    QuestionSearchForm,
)
from annotation.answers.models.answers import Answer, System
from annotation.answers.reports.answers import (
    about_answer,
    busiest_systems,
    count_by_system,
    in_order,
    side_by_side,
    visible_answers,
)
from annotation.corpus.models.questions import Question
from annotation.editing.models import Revision
from annotation.exports.forms import AnswersFileForm
from cqa_site.people.access import EXPERTS, RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study

PER_PAGE = 50
# Columns of one page; a reader compares few texts at a time.
SIDE_BY_SIDE = 12


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
        "section": "answers",
        "form": form if form.is_bound else _unused(study, is_blind),
        "page": page,
        "systems": systems,
        "is_blind": is_blind,
        "is_filtered": form.is_used,
        "file_form": None if is_blind else AnswersFileForm(),
        "unasked": 0 if is_blind else _unasked(study),
    }
    return render(request, "annotation/answers/questions.html", context)


def _unused(study: Study, is_blind: bool) -> QuestionSearchForm:
    return QuestionSearchForm(study=study, is_blind=is_blind)


def _unasked(study: Study) -> int:
    return study.comparisons.filter(questions__isnull=True).count()


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


@study_page(*EXPERTS)
def question(request: StudyRequest, study: Study, question_id: uuid.UUID) -> HttpResponse:
    """Show the answers of all systems to one question beside the arguments they cite."""
    row = get_object_or_404(
        study.questions.select_related("comparison", "study"), public_id=question_id
    )
    is_forced = not request.membership.is_researcher
    form = AnswerFilterForm(request.GET or None, question=row)
    # Read apart from the rest: a mistake in another field must not bring the names back.
    is_blind = is_forced or bool(form["blind"].data)
    answers = visible_answers(study, is_blind=is_forced).filter(question=row)
    if not is_forced:
        answers = _filtered(answers, form, is_blind=is_blind)
    keys = in_order(answers, request.user if is_blind else None)
    page = Paginator(keys, SIDE_BY_SIDE).get_page(request.GET.get("page"))
    columns, lists = side_by_side(
        row,
        list(page),
        is_blind=is_blind,
        first=page.start_index() or 1,
        with_labels=not is_forced,
    )
    context = {
        "study": study,
        "section": "answers",
        "question": row,
        "form": form,
        "page": page,
        "columns": columns,
        "lists": lists,
        "is_blind": is_blind,
        "is_forced": is_forced,
        "with_labels": not is_forced,
        "is_filtered": form.is_bound,
    }
    return render(request, "annotation/answers/question.html", context)


def _filtered(
    answers: QuerySet[Answer], form: AnswerFilterForm, *, is_blind: bool
) -> QuerySet[Answer]:
    if not form.is_bound:
        return answers
    form.is_valid()  # what cannot be understood is said beside its field and narrows nothing
    # Asking for one system's texts would say who wrote them.
    names = ("scenario", "choice") if is_blind else ("scenario", "condition", "choice", "system")
    wanted = {name: form.cleaned_data.get(name) for name in names}
    return answers.filter(**{name: value for name, value in wanted.items() if value is not None})


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
        "section": "answers",
        "answer": row,
        "about": about_answer(row),
        "column": column,
        "lists": lists,
        "with_labels": True,
        "parameters": _parameters(row),
        "revisions": _revisions(row),
        "figures": list(row.figures.order_by("-mode")),
    }
    return render(request, "annotation/answers/answer.html", context)


def _parameters(answer: Answer) -> list[tuple[str, Any]]:
    """What the request was sent with, as the run's plan says."""
    if answer.run is None:
        return []
    return sorted((answer.run.spec.get("params") or {}).items())


def _revisions(answer: Answer) -> QuerySet[Revision]:
    found = Revision.objects.filter(sheet__answer=answer).defer("checks")
    found = found.annotate(scored_id=F("scored_as__public_id"))
    return found.select_related("sheet__round", "sheet__rater__user").order_by("pk")


@study_page(*RESEARCHERS)
def question_new(request: StudyRequest, study: Study) -> HttpResponse:
    """Ask a question about a comparison."""
    form = QuestionForm(request.POST or None, study=study)
    if request.method == "POST" and form.is_valid():
        try:
            made = add_question(actor=request.user, **form.cleaned_data)
        except AlreadyThere:
            form.add_error(None, _("This question is in the study already."))
        else:
            return redirect("question", study.public_id, made.public_id)
    context = {"study": study, "section": "answers", "form": form, "unasked": _unasked(study)}
    status = 422 if form.errors else 200
    return render(request, "annotation/answers/question_new.html", context, status=status)


@study_page(*RESEARCHERS)
@require_POST
def questions_missing(request: StudyRequest, study: Study) -> HttpResponse:
    """Ask a plain question about every comparison without one."""
    number = add_missing_questions(study=study, actor=request.user)
    text = ngettext("%d question was added.", "%d questions were added.", number)
    messages.success(request, text % number)
    return redirect("questions", study.public_id)


urlpatterns = [
    path("questions/", questions, name="questions"),
    path("questions/new/", question_new, name="question_new"),
    path("questions/missing/", questions_missing, name="questions_missing"),
    path("questions/<uuid:question_id>/", question, name="question"),
    path("answers/<uuid:answer_id>/", answer, name="answer"),
]
