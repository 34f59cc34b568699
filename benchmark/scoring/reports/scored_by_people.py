"""What people gave answers, for choosing examples and proposing their keys."""

from statistics import median

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.answers.models.answers import Answer
from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.models.sheets import ScoreSheet
from cqa_site.people.models import Rater, Study

from .sheet_rows import counted_sheets

PEOPLE = (Rater.Kind.PERSON, Rater.Kind.EXPERT, Rater.Kind.REFERENCE)


def people_sheets(rubric: RubricVersion) -> QuerySet[ScoreSheet]:
    """Counted sheets that people handed in by a rubric."""
    handed_in = counted_sheets(rubric).filter(state=ScoreSheet.State.SUBMITTED)
    return handed_in.filter(rater__kind__in=PEOPLE)


def candidates(study: Study, rubric: RubricVersion) -> QuerySet[Answer]:
    """Answers with ``scored``, the number of people's sheets; most first."""
    sheets = people_sheets(rubric).filter(total__isnull=False, answer=OuterRef("pk")).order_by()
    counted = sheets.values("answer").annotate(n=Count("pk")).values("n")
    answers = study.answers.select_related("question__comparison", "system")
    return answers.annotate(scored=Coalesce(Subquery(counted), 0)).order_by("-scored", "pk")


def proposed_key(answer: Answer, rubric: RubricVersion) -> dict[str, int]:
    """The median of people's points, rounded down to whole ones; empty where nobody scored it."""
    sheets = list(people_sheets(rubric).filter(total__isnull=False, answer=answer))
    if not sheets:
        return {}
    most = {each.key: each.maximum for each in rubric.rubric.criteria}
    return {
        key: min(most[key], int(median(sheet.points.get(key, 0) for sheet in sheets)))
        for key in rubric.rubric.keys
    }
