"""Surveys without a file."""

from argsum.surveys.models import Survey, SurveyQuestion


def make_survey(study, *datasets, name="Staff"):
    """A survey with the topics of datasets as its questions."""
    survey = Survey.objects.create(study=study, name=name, groups=["site"])
    for position, dataset in enumerate(datasets):
        SurveyQuestion.objects.create(
            survey=survey,
            dataset=dataset,
            position=position,
            column=f"Q{position}",
            text=dataset.cells.first().topic,
        )
    survey.respondents.create(key="1" * 64, name="R1")
    return survey
