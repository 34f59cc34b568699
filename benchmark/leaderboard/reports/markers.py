"""A cheap mark of the sheets of a rubric: another one means that stored figures are behind."""

import hashlib

from django.db.models import Count, OuterRef, QuerySet, Subquery

from annotation.answers.models.learned import LearnedComparison
from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.models.runs import ScoringRun
from benchmark.scoring.models.sheets import ScoreEvent, ScoreSheet
from cqa_site.people.models import Study
from cqa_site.rounds.models import Place

from .figures import RECIPE_VERSION


def board_marker(rubric: RubricVersion) -> str:
    """Digest of everything the figures depend on, in four queries that read indexes.

    New sheets change the counts, changed minds leave an event, other states change the counts;
    exclusions, what the canaries said of a run and what systems learned stand for themselves.
    """
    sheets = ScoreSheet.objects.filter(study=rubric.study_id, rubric=rubric)
    states = sheets.order_by("state", "rater").values_list("state", "rater").annotate(Count("pk"))
    in_study = ScoreSheet.objects.filter(study=OuterRef("pk"), submitted_at__isnull=False)
    events = ScoreEvent.objects.filter(sheet__study=OuterRef("pk"))
    learned = LearnedComparison.objects.filter(system__study=OuterRef("pk"))
    newest = Study.objects.filter(pk=rubric.study_id).values_list(
        _first(in_study.order_by("-submitted_at"), "submitted_at"),
        _first(events.order_by("-pk"), "pk"),
        _first(learned.order_by("-pk"), "pk"),
    )
    excluded = Place.objects.filter(round__scoringround__rubric=rubric, excluded_at__isnull=False)
    runs = ScoringRun.objects.filter(rubric=rubric)
    parts = (
        (RECIPE_VERSION, rubric.sha256),
        [row for row in states if row[0] != ScoreSheet.State.OPEN],
        newest.get(),
        list(excluded.order_by("pk").values_list("round", "rater")),
        list(runs.order_by("pk").values_list("run", "trust", "run__state")),
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _first(rows: QuerySet, field: str) -> Subquery:
    return Subquery(rows.values(field)[:1])
