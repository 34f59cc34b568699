"""Surveys with their questions, replies, datasets and analyses."""

from dataclasses import dataclass

from django.db.models import Count, QuerySet

from argsum.analysis.models import Analysis
from argsum.datasets.models import Comment
from argsum.surveys.models import Survey, SurveyQuestion
from cqa_site.people.models import Study


@dataclass(frozen=True)
class QuestionRow:
    """A question with its replies and its newest analysis, preferably a finished one."""

    number: int
    question: SurveyQuestion
    replies: int
    analysis: Analysis | None

    @property
    def is_done(self) -> bool:
        """Whether the question's groups can be compared."""
        return self.analysis is not None and self.analysis.state == Analysis.State.DONE

    @property
    def can_analyse(self) -> bool:
        """Whether no analysis is done or in progress."""
        return self.analysis is None or not (self.analysis.is_active or self.is_done)


def surveys_of(study: Study) -> QuerySet[Survey]:
    """Return the surveys of a study, sorted by name, with respondent counts."""
    return study.surveys.order_by("name").annotate(respondent_count=Count("respondents"))


def question_rows(survey: Survey) -> list[QuestionRow]:
    """Return the questions in the order of the file, using three queries."""
    questions = list(survey.questions.select_related("dataset"))
    datasets = [question.dataset_id for question in questions]
    replies = Comment.objects.filter(cell__dataset__in=datasets).order_by()
    counts = dict(replies.values_list("cell__dataset").annotate(n=Count("pk")))
    rows = Analysis.objects.filter(cell__dataset__in=datasets).select_related("cell")
    done = Analysis.State.DONE
    ordered = sorted(rows, key=lambda row: (row.state == done, row.is_active, row.number))
    newest = {analysis.cell.dataset_id: analysis for analysis in ordered}
    return [
        QuestionRow(
            number, question, counts.get(question.dataset_id, 0), newest.get(question.dataset_id)
        )
        for number, question in enumerate(questions, start=1)
    ]
