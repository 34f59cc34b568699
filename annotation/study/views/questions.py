"""Pages for the arguments, questions and answers in a study."""

import uuid
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count, F, Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import path

from annotation.answers.forms import WITHOUT_ASPECT, QuestionSearchForm
from annotation.answers.models import Answer
from annotation.answers.reports import (
    about_answer,
    busiest_systems,
    count_by_system,
    count_unasked,
    side_by_side,
    visible_answers,
)
from annotation.consensus.models import Adjudication, FinalLabel
from annotation.corpus.methods.sentences import split_sentence
from annotation.corpus.models import Argument, Question
from annotation.editing.models import Revision
from annotation.exports.forms import AnswersFileForm
from annotation.labelling.models import Assignment, Item
from annotation.study.forms import ArgumentSearchForm
from cqa_site.people.access import EXPERTS, RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study

# Comparisons and arguments in a study, and details of one argument

PER_PAGE = 50
MOST_VOTES = 500


@study_page(*RESEARCHERS)
def arguments(request: StudyRequest, study: Study) -> HttpResponse:
    """Search the arguments in the study."""
    form = ArgumentSearchForm(request.GET or None, study=study)
    matches = _search_arguments(study, form).select_related("comparison")
    page = Paginator(matches, PER_PAGE).get_page(request.GET.get("page"))
    _add_votes(list(page))
    context = {
        "study": study,
        "form": form if form.is_bound else ArgumentSearchForm(study=study),
        "page": page,
        "comparisons": study.comparisons.count(),
        "is_filtered": form.is_bound and any(form.data.get(name) for name in ("q", "comparison")),
    }
    return render(request, "annotation/study/arguments.html", context)


def _search_arguments(study: Study, form: ArgumentSearchForm) -> QuerySet[Argument]:
    arguments = study.arguments.order_by("comparison", "pk")
    if not form.is_bound or not form.is_valid():
        return arguments
    if form.cleaned_data["q"]:
        arguments = arguments.filter(text__icontains=form.cleaned_data["q"])
    if form.cleaned_data["comparison"]:
        arguments = arguments.filter(comparison=form.cleaned_data["comparison"])
    return arguments


def _add_votes(rows: list[Argument]) -> None:
    """Set ``votes`` and ``label_rounds`` for each argument on the page, with one query."""
    counts = (
        Item.objects.filter(argument__in=rows)
        .order_by()
        .values("argument")
        .annotate(
            label_rounds=Count("round", distinct=True),
            votes=Count("assignments", filter=Q(assignments__state=Assignment.State.ANSWERED)),
        )
        .values_list("argument", "label_rounds", "votes")
    )
    totals = {argument: (label_rounds, votes) for argument, label_rounds, votes in counts}
    for row in rows:
        label_rounds, votes = totals.get(row.pk, (0, 0))
        vars(row).update(label_rounds=label_rounds, votes=votes)


@study_page(*RESEARCHERS)
def argument(request: StudyRequest, study: Study, argument_id: uuid.UUID) -> HttpResponse:
    """Show one sentence with all its votes, decisions and final labels."""
    row = get_object_or_404(
        study.arguments.select_related("comparison", "origin__added_by"), public_id=argument_id
    )
    votes = (
        Assignment.objects.filter(item__argument=row)
        .exclude(state=Assignment.State.SERVED)
        .select_related("round", "rater", "item")
        .order_by("round__created_at", "item", "pk")
    )
    decisions = Adjudication.objects.filter(argument=row).select_related("label_round", "rater")
    labels = FinalLabel.objects.filter(argument=row).select_related("label_round")
    context = {
        "study": study,
        "argument": row,
        "parts": split_sentence(row.text, row.comparison.object1, row.comparison.object2),
        "items": row.items.select_related("round").order_by("round__created_at", "pk"),
        "votes": votes[:MOST_VOTES],
        "vote_count": votes.count(),
        "decisions": decisions,
        "labels": labels,
    }
    return render(request, "annotation/study/argument.html", context)


argument_urls = [
    path("arguments/", arguments, name="arguments"),
    path("arguments/<uuid:argument_id>/", argument, name="argument"),
]


# Questions in a study, and details of one answer
#
# `annotation.answers` has a page with the other answers to the same question.


@study_page(*EXPERTS)
def questions(request: StudyRequest, study: Study) -> HttpResponse:
    """Search the questions in the study; researchers see the number of answers per system."""
    is_blind = not request.membership.is_researcher
    form = QuestionSearchForm(request.GET or None, study=study, is_blind=is_blind)
    matches = _search_questions(study, form).select_related("comparison")
    page = Paginator(matches, PER_PAGE).get_page(request.GET.get("page"))
    systems = [] if is_blind else busiest_systems(study)
    answers = visible_answers(study, is_blind=is_blind)
    if condition := _answered(form).get("condition"):
        answers = answers.filter(condition=condition)
    counts = count_by_system(answers, page)
    for question in page:
        count = counts.get(question.pk, {})
        by_system = [count.get(system.pk, 0) for system in systems]
        vars(question).update(counts=by_system, answer_count=sum(count.values()))
    context = {
        "study": study,
        "form": form if form.is_bound else QuestionSearchForm(study=study, is_blind=is_blind),
        "page": page,
        "systems": systems,
        "is_blind": is_blind,
        "is_filtered": form.is_used,
        "file_form": None if is_blind else AnswersFileForm(),
        "unasked": 0 if is_blind else count_unasked(study),
    }
    return render(request, "annotation/study/questions.html", context)


def _search_questions(study: Study, form: QuestionSearchForm) -> QuerySet[Question]:
    questions = study.questions.all()
    if not form.is_bound or not form.is_valid():
        return questions
    wanted = form.cleaned_data
    if wanted["q"]:
        places = ("wording", "aspect", "comparison__object1", "comparison__object2")
        words = Q()
        for place in places:
            words |= Q(**{f"{place}__icontains": wanted["q"]})
        questions = questions.filter(words)
    if wanted["comparison"]:
        questions = questions.filter(comparison=wanted["comparison"])
    if wanted["aspect"]:
        aspect = "" if wanted["aspect"] == WITHOUT_ASPECT else wanted["aspect"][1:]
        questions = questions.filter(aspect=aspect)
    answers = study.answers.filter(**_answered(form))
    return questions.filter(pk__in=answers.values("question")) if _answered(form) else questions


def _answered(form: QuestionSearchForm) -> dict[str, Any]:
    """Return the form's filters for system and condition, if set."""
    cleaned_data = form.cleaned_data if form.is_bound and form.is_valid() else {}
    return {name: cleaned_data[name] for name in ("system", "condition") if cleaned_data.get(name)}


@study_page(*RESEARCHERS)
def answer(request: StudyRequest, study: Study, answer_id: uuid.UUID) -> HttpResponse:
    """Show one answer verbatim, with its origin and the experts' versions."""
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
    revisions = Revision.objects.filter(sheet__answer=row).defer("checks")
    revisions = revisions.annotate(scored_id=F("scored_as__public_id"))
    context = {
        "study": study,
        "answer": row,
        "about": about_answer(row),
        "column": column,
        "lists": lists,
        "with_labels": True,
        "parameters": _parameters(row),
        "revisions": revisions.select_related("sheet__round", "sheet__rater__user").order_by("pk"),
        "figures": list(row.figures.order_by("-mode")),
    }
    return render(request, "annotation/study/answer.html", context)


def _parameters(answer: Answer) -> list[tuple[str, Any]]:
    """Return the request parameters in the run's plan."""
    if answer.run is None:
        return []
    return sorted((answer.run.spec.get("params") or {}).items())


question_urls = [
    path("questions/", questions, name="questions"),
    path("answers/<uuid:answer_id>/", answer, name="answer"),
]
