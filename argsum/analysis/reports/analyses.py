"""Analyses of a study as lists and their own pages show them."""

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from argsum.analysis.models import Analysis, FoundPoint, PointChange
from argsum.datasets.reports.language import NAMES
from argsum.scorers.models import SHIPPED_MATCH, Scorer
from cqa_site.judging.embedding import PACKAGED_MODEL
from cqa_site.people.models import Study

MADE_FOR_ENGLISH = (PACKAGED_MODEL, SHIPPED_MATCH)


def analyses_of(study: Study) -> QuerySet[Analysis]:
    """Newest first, with what their pages name."""
    return study.analyses.select_related(
        "study", "cell__dataset", "match_scorer", "quality_scorer", "job", "created_by"
    ).order_by("-number")


def listed(rows: QuerySet[Analysis]) -> QuerySet[Analysis]:
    """The same with the number of key points that are shown, and of those that are proposed."""
    return rows.annotate(
        points_shown=_counted(FoundPoint.State.SHOWN),
        points_proposed=_counted(FoundPoint.State.PROPOSED),
    )


def _counted(state: str) -> Coalesce:
    rows = FoundPoint.objects.filter(analysis=OuterRef("pk"), state=state).order_by()
    counted = rows.values("analysis").annotate(n=Count("pk")).values("n")
    return Coalesce(Subquery(counted), 0)


def changes_of(analysis: Analysis) -> QuerySet[PointChange]:
    """Edits, newest first, without what they moved."""
    rows = analysis.changes.select_related("actor", "point", "undone_by")
    return rows.defer("before", "after", "undone_by__before", "undone_by__after")


def foreign_language(analysis: Analysis) -> str:
    """The language of the comments, if it is one that the match scorer was not made for."""
    scorer: Scorer = analysis.match_scorer
    if analysis.language in ("", "en") or scorer.base_model not in MADE_FOR_ENGLISH:
        return ""
    return str(NAMES.get(analysis.language, analysis.language))
