"""Pages for a question with its answers, and for the systems of a study."""

import uuid

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _, ngettext

from annotation.answers.actions import (
    MOST_BYTES,
    AlreadyThere,
    NotPairs,
    add_missing_questions,
    add_question,
    change_system,
    mark_learned,
    question_ids,
)
from annotation.answers.forms import AnswerFilterForm, QuestionForm, SystemForm
from annotation.answers.models import Answer, System, used_conditions
from annotation.answers.reports import (
    count_unasked,
    counts_by_condition,
    in_order,
    side_by_side,
    systems_with_counts,
    visible_answers,
)
from cqa_site.people.access import EXPERTS, RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study

# Answers of all systems to one question, and new questions
#
# Readers who must not know the systems (everybody except researchers) see machine
# answers with numbers instead of names, in a separate order for each reader.
# Researchers may choose this view.

# Columns on one page; a reader compares only a few texts at a time.
SIDE_BY_SIDE = 12


@study_page(*EXPERTS)
def question(request: StudyRequest, study: Study, question_id: uuid.UUID) -> HttpResponse:
    """Show all systems' answers to one question next to the arguments they cite."""
    row = get_object_or_404(
        study.questions.select_related("comparison", "study"), public_id=question_id
    )
    is_forced = not request.membership.is_researcher
    form = AnswerFilterForm(request.GET or None, question=row)
    # Read separately, because an error in another field must not reveal the names.
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
    form.is_valid()  # invalid values are reported next to their fields and do not filter
    # A filter by system would reveal who wrote the texts.
    names = ("scenario", "choice") if is_blind else ("scenario", "condition", "choice", "system")
    wanted = {name: form.cleaned_data.get(name) for name in names}
    return answers.filter(**{name: value for name, value in wanted.items() if value is not None})


@study_page(*RESEARCHERS)
def question_new(request: StudyRequest, study: Study) -> HttpResponse:
    """Create a question about a comparison."""
    form = QuestionForm(request.POST or None, study=study)
    if request.method == "POST" and form.is_valid():
        try:
            question = add_question(actor=request.user, **form.cleaned_data)
        except AlreadyThere:
            form.add_error(None, _("This question is already in the study."))
        else:
            return redirect("question", study.public_id, question.public_id)
    context = {"study": study, "form": form, "unasked": count_unasked(study)}
    status = 422 if form.errors else 200
    return render(request, "annotation/answers/question_new.html", context, status=status)


@study_page(*RESEARCHERS, only="POST")
def questions_missing(request: StudyRequest, study: Study) -> HttpResponse:
    """Create a plain question for every comparison without a question."""
    number = add_missing_questions(study=study, actor=request.user)
    text = ngettext("%d question was added.", "%d questions were added.", number)
    messages.success(request, text % number)
    return redirect("questions", study.public_id)


question_urls = [
    path("questions/new/", question_new, name="question_new"),
    path("questions/missing/", questions_missing, name="questions_missing"),
    path("questions/<uuid:question_id>/", question, name="question"),
]

# Systems of a study, with their answers and names

MOST_SHOWN = 200


@study_page(*RESEARCHERS)
def systems(request: StudyRequest, study: Study) -> HttpResponse:
    """List the systems with the number of their answers under each condition."""
    rows, counts = list(systems_with_counts(study)), counts_by_condition(study)
    conditions = list(used_conditions(study))
    for row in rows:
        by_condition = [counts.get((row.pk, condition.pk), 0) for condition in conditions]
        vars(row).update(by_condition=by_condition)
    context = {"study": study, "systems": rows, "conditions": conditions}
    return render(request, "annotation/answers/systems.html", context)


@study_page(*RESEARCHERS)
def system(request: StudyRequest, study: Study, system_id: uuid.UUID) -> HttpResponse:
    """Change the name and kind of a system."""
    row: System = get_object_or_404(study.systems.select_related("study"), public_id=system_id)
    form = SystemForm(request.POST or None, initial={"name": row.name, "kind": row.kind})
    if request.method == "POST" and form.is_valid():
        try:
            change_system(system=row, actor=request.user, **form.cleaned_data)
        except AlreadyThere:
            form.add_error("name", _("Another system in the study has this name."))
        else:
            messages.success(request, _("“%s” was changed.") % row.name)
            return redirect("systems", study.public_id)
    learned = row.learned.select_related("comparison").order_by("comparison", "pk")
    context = {
        "study": study,
        "system": row,
        "form": form,
        "learned": learned[:MOST_SHOWN],
        "learned_count": learned.count(),
    }
    status = 422 if form.errors else 200
    return render(request, "annotation/answers/system.html", context, status=status)


@study_page(*RESEARCHERS, only="POST")
def system_learned(request: StudyRequest, study: Study, system_id: uuid.UUID) -> HttpResponse:
    """Import a file of pairs that the system's model was trained on."""
    row: System = get_object_or_404(study.systems.select_related("study"), public_id=system_id)
    file = request.FILES.get("pairs")
    try:
        if file is None:
            raise NotPairs(_("Choose the file with the pairs."))
        if (file.size or 0) > MOST_BYTES:
            raise NotPairs(_("The file is too large."))
        name = str(file.name)
        new = mark_learned(
            system=row, questions=question_ids(file, name), source=name, actor=request.user
        )
    except NotPairs as reason:
        messages.error(request, str(reason))
    else:
        text = ngettext(
            "%d more pair of objects can no longer be used to test this system.",
            "%d more pairs of objects can no longer be used to test this system.",
            new,
        )
        messages.success(request, text % new)
    return redirect("system", study.public_id, row.public_id)


system_urls = [
    path("systems/", systems, name="systems"),
    path("systems/<uuid:system_id>/", system, name="system"),
    path("systems/<uuid:system_id>/learned/", system_learned, name="system_learned"),
]
