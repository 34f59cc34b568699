"""Where versions of rubrics are used."""

from typing import Any

from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from benchmark.rubrics.models import RubricVersion
from benchmark.scoring.models.rounds import ScoringRound
from benchmark.scoring.models.runs import ScoringRun
from benchmark.scoring.models.sheets import ScoreSheet
from cqa_site.people.models import Study

SHOWN = 20


def versions_with_counts(study: Study) -> QuerySet[RubricVersion]:
    """Every version with its numbers of submitted or unscored sheets, rounds and runs."""
    submitted = (ScoreSheet.State.SUBMITTED, ScoreSheet.State.UNSCORED)
    sheets = ScoreSheet.objects.filter(study=study, state__in=submitted)
    return study.rubric_versions.annotate(
        n_sheets=_count(sheets),
        n_rounds=_count(ScoringRound.objects.all()),
        n_runs=_count(ScoringRun.objects.all()),
    ).select_related("derived_from", "created_by")


def _count(rows: QuerySet[Any]) -> Coalesce:
    counted = (
        rows.filter(rubric=OuterRef("pk")).order_by().values("rubric").annotate(n=Count("pk"))
    )
    return Coalesce(Subquery(counted.values("n"), output_field=IntegerField()), 0)


def use_of(version: RubricVersion) -> dict[str, Any]:
    """Rounds, runs and versions made from it (newest first, some), and sheets by kind of rater."""
    sheets = version.sheets.filter(
        state__in=(ScoreSheet.State.SUBMITTED, ScoreSheet.State.UNSCORED)
    )
    kinds = sheets.order_by().values("rater__kind").annotate(n=Count("pk"))
    return {
        "rounds": list(version.rounds.all()[:SHOWN]),
        "runs": list(version.runs.select_related("run").order_by("-pk")[:SHOWN]),
        "successors": list(version.successors.order_by("-pk")[:SHOWN]),
        "sheets": {row["rater__kind"]: row["n"] for row in kinds.order_by("rater__kind")},
    }
