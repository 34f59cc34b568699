"""The page of a survey: its questions, their analyses, and the groups that can be compared."""

import uuid

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path
from django.utils.translation import gettext as _, ngettext

from argsum.analysis.actions.analyses import AnalysisRefused
from argsum.datasets.actions import DatasetInUse
from argsum.surveys.actions import analyse_survey, delete_survey
from argsum.surveys.models import Survey
from argsum.surveys.reports import question_rows, surveys_of
from cqa_site.people.access import RESEARCHERS, StudyRequest, study_page
from cqa_site.people.models import Study

# Maximum number of links to comparisons on a page.
MOST_LINKS = 400


@study_page(*RESEARCHERS, only="GET")
def survey(request: StudyRequest, study: Study, survey_id: uuid.UUID) -> HttpResponse:
    """Show the questions with replies and analyses, and the groups from closed questions."""
    rows = question_rows(row := _survey(study, survey_id))
    done = [question for question in rows if question.is_done]
    most = MOST_LINKS // max(1, len(done))
    context = {
        "study": study,
        "survey": row,
        "groups": row.groups[:most],
        "more_groups": len(row.groups[most:]),
        "rows": rows,
        "can_analyse": any(question.can_analyse for question in rows),
        "is_used": any(question.analysis for question in rows),
        "done": done,
    }
    return render(request, "argsum/surveys/survey.html", context)


@study_page(*RESEARCHERS, only="POST")
def survey_analyse(request: StudyRequest, study: Study, survey_id: uuid.UUID) -> HttpResponse:
    """Start an analysis of every question that has none."""
    survey = _survey(study, survey_id)
    try:
        analyses, reasons = analyse_survey(survey=survey, actor=request.user)
    except AnalysisRefused as reason:
        messages.error(request, str(reason))
    else:
        number = len(analyses)
        sentence = ngettext("%d analysis is in progress.", "%d analyses are in progress.", number)
        messages.success(request, sentence % number)
        for sentence in reasons:
            messages.warning(request, sentence)
    return redirect("survey", study.public_id, survey.public_id)


@study_page(*RESEARCHERS, only="POST")
def survey_delete(request: StudyRequest, study: Study, survey_id: uuid.UUID) -> HttpResponse:
    """Delete a survey if none of its datasets is in use."""
    survey = _survey(study, survey_id)
    try:
        delete_survey(survey=survey, actor=request.user)
    except DatasetInUse as refusal:
        messages.error(request, str(refusal))
        return redirect("survey", study.public_id, survey.public_id)
    messages.success(request, _("“%s” was deleted.") % survey.name)
    return redirect("datasets", study.public_id)


def _survey(study: Study, survey_id: uuid.UUID) -> Survey:
    survey: Survey = get_object_or_404(surveys_of(study), public_id=survey_id)
    return survey


_ONE = "key-points/surveys/<uuid:survey_id>/"
urlpatterns = [
    path(_ONE, survey, name="survey"),
    path(_ONE + "analyse/", survey_analyse, name="survey_analyse"),
    path(_ONE + "delete/", survey_delete, name="survey_delete"),
]
