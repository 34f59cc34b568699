"""Usage of rubric versions."""

from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery

from benchmark.rubrics.models import RubricVersion
from cqa_site.people.models import Study
from cqa_site.rounds.models import Sheet

MOST_SHOWN = 20
# States of submitted sheets and unscored sheets.
COUNTED_STATES = (Sheet.State.SUBMITTED, Sheet.State.UNSCORED)


def versions_with_counts(study: Study) -> QuerySet[RubricVersion]:
    """Return all versions with counts of sheets (submitted or unscored), rounds and runs."""
    return study.rubric_versions.annotate(
        n_sheets=_count("sheets", filter=Q(sheets__state__in=COUNTED_STATES)),
        n_rounds=_count("rounds"),
        n_runs=_count("runs"),
    ).select_related("derived_from", "created_by")


def _count(name: str, **options: Any) -> Subquery:
    own = RubricVersion.objects.filter(pk=OuterRef("pk")).order_by().values("pk")
    return Subquery(own.annotate(n=Count(name, **options)).values("n"))


def use_of(version: RubricVersion) -> dict[str, Any]:
    """Return the uses of the version, and the number of its sheets by kind of rater.

    Lists of rounds, runs and derived versions are limited, with the newest first.
    """
    sheets = version.sheets.filter(state__in=COUNTED_STATES)
    kinds = sheets.order_by().values("rater__kind").annotate(n=Count("pk"))
    return {
        "rounds": list(version.rounds.all()[:MOST_SHOWN]),
        "runs": list(version.runs.select_related("run").order_by("-pk")[:MOST_SHOWN]),
        "successors": list(version.successors.order_by("-pk")[:MOST_SHOWN]),
        "sheets": {row["rater__kind"]: row["n"] for row in kinds.order_by("rater__kind")},
    }
