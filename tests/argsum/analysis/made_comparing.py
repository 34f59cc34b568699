"""A finished analysis written directly: two departments that mention key points unlike often."""

from datetime import date, timedelta

from django.utils import timezone

from argsum.analysis.actions.analyses import count_analysis, count_points
from argsum.analysis.models import Analysis, FoundPoint, Placement
from argsum.datasets.models import Comment
from cqa_site.people.models import Study
from tests.argsum.made_cells import make_scorer
from .made_comments import add_statement, make_cell, say

POINTS = ("The canteen is too loud", "Parking is hard to find", "The new lamps are fine")
# Of forty comments of each department, those that mention each key point.
MENTIONS = {"Care": (26, 8, 10), "Sales": (6, 9, 10)}
EACH = 40
FIRST = date(2025, 1, 6)


def make_analysis(study: Study, *, number: int = 1, mentions=None, name: str = "") -> Analysis:
    """Eighty comments with department, number and mood, one each second day."""
    cell = make_cell(study, name=name or f"Comments {number}")
    fields = {"number": number, "name": f"Comments from the works council {number}"}
    fields |= {"language": "en", "state": Analysis.State.DONE, "done_at": timezone.now()}
    scorer = make_scorer(study, name=f"Scorer {number}")
    analysis = study.analyses.create(cell=cell, match_scorer=scorer, cutoff=0.5, **fields)
    points = [
        FoundPoint.objects.create(analysis=analysis, position=at, text=text, written=text)
        for at, text in enumerate(POINTS, start=1)
    ]
    for department, counts in (mentions or MENTIONS).items():
        for row in range(EACH):
            _comment(analysis, department, row, [row < k for k in counts], points)
    finish(analysis)
    return analysis


def finish(analysis: Analysis) -> None:
    """Count what is behind key points."""
    count_analysis(analysis)
    count_points(analysis)
    analysis.save()


def place(analysis: Analysis, point: FoundPoint | None, text: str, *, score: float = 0.8) -> None:
    """A statement behind a key point, or behind none."""
    argument = add_statement(analysis.cell, text)
    Placement.objects.get_or_create(
        analysis=analysis, argument=argument, defaults={"point": point, "score": score}
    )


def _comment(analysis, department, row, mentioned, points) -> Comment:
    texts = []
    for point, is_mentioned in zip(points, mentioned, strict=True):
        if is_mentioned:
            text = f"{point.text}, says number {row} of {department}."
            place(analysis, point, text, score=round(0.5 + row / 100, 2))
            texts.append(text)
    if not texts:
        text = f"Nothing else from number {row} of {department}."
        place(analysis, None, text, score=0.1)
        texts.append(text)
    beside = {"number": f"{department} {row}", "mood": "good" if row % 4 else ""}
    day = FIRST + timedelta(days=2 * row)
    return say(analysis.cell, *texts, day=day, department=department, **beside)
