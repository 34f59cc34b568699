"""Analyse all questions of a survey, and delete a survey."""

from django.db import transaction
from django.utils.translation import gettext as _

from argsum.analysis.actions.analyses import AnalysisRefused, analyse_dataset
from argsum.analysis.models import Analysis
from argsum.datasets.actions import delete_dataset
from argsum.surveys.models import Survey
from cqa_site.people.access import record
from cqa_site.people.models import User

# An analysis in one of these states is not started again.
CURRENT = (*Analysis.ACTIVE, Analysis.State.DONE)


def analyse_survey(*, survey: Survey, actor: User) -> tuple[list[Analysis], list[str]]:
    """Start an analysis with default settings for each question that has none.

    Returns
    -------
    analyses, reasons
        The new analyses, and the reasons why other questions cannot be analysed.

    Raises
    ------
    AnalysisRefused
        If every question already has an analysis, or none can be analysed.
    """
    analyses: list[Analysis] = []
    reasons: list[str] = []
    begun = Analysis.objects.filter(state__in=CURRENT).values("cell__dataset")
    for question in survey.questions.select_related("dataset").exclude(dataset__in=begun):
        try:
            analyses += analyse_dataset(study=survey.study, actor=actor, dataset=question.dataset)
        except AnalysisRefused as reason:
            reasons.append(str(reason))
    if not analyses:
        sentence = _("All questions already have an analysis.")
        raise AnalysisRefused(" ".join(reasons) or sentence)
    return analyses, reasons


@transaction.atomic
def delete_survey(*, survey: Survey, actor: User) -> None:
    """Delete a survey with its datasets; raises DatasetInUse if a dataset is in use."""
    # Same order as an import, which locks the survey before its datasets.
    Survey.objects.select_for_update().get(pk=survey.pk)
    for question in survey.questions.select_related("dataset"):
        delete_dataset(dataset=question.dataset, actor=actor)
    record(study=survey.study, actor=actor, verb="survey_deleted", subject=survey.name)
    survey.delete()
