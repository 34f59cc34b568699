"""How many statements and comments stand behind key points, counted in the database."""

from collections.abc import Collection, Iterable
from datetime import date
from typing import Any

from django.db.models import Count, Max, Min

from argsum.analysis.models import Analysis, FoundPoint, Placement
from argsum.analysis.reports.narrowing import has_comments
from argsum.datasets.models import Cell, Comment

PIECE = 2_000
MOST_COLUMNS, MOST_VALUES = 8, 40
# A column with more different values is no group: an id, a name, a text.
MOST_DIFFERENT = 400
LONGEST_VALUE = 120


def count_points(analysis: Analysis, points: Collection[int] | None = None) -> None:
    """Count anew what is behind key points of an analysis: all, or some by primary key."""
    rows = FoundPoint.objects.filter(analysis=analysis)
    placed = Placement.objects.filter(analysis=analysis, point__isnull=False)
    if points is not None:
        rows, placed = rows.filter(pk__in=points), placed.filter(point__in=points)
    grouped = placed.order_by().values_list("point")
    statements: dict[int | None, int] = dict(grouped.annotate(n=Count("pk")))
    comments = statements
    if has_comments(analysis.cell):
        counted = Count("argument__said_in__comment", distinct=True)
        comments = dict(grouped.annotate(n=counted))
    changed = []
    for point in rows.only("pk", "statements", "comments"):
        found = statements.get(point.pk, 0), comments.get(point.pk, 0)
        if found != (point.statements, point.comments):
            point.statements, point.comments = found
            changed.append(point)
    FoundPoint.objects.bulk_update(changed, ["statements", "comments"], batch_size=200)


def count_analysis(analysis: Analysis) -> None:
    """Keep how much was placed, and by what comments can be narrowed; not saved."""
    analysis.statements = analysis.placements.count()
    analysis.comments = analysis.cell.comments.count() or analysis.statements
    analysis.facets = facets_of(analysis.cell)


def facets_of(cell: Cell) -> dict[str, Any]:
    """As `Analysis.facets` keeps them; one pass over the comments, in pieces."""
    comments = Comment.objects.filter(cell=cell)
    attributes = comments.order_by().values_list("attributes", flat=True)
    dates = comments.aggregate(first=Min("written_on"), last=Max("written_on"))
    return {"attributes": _values(attributes.iterator(PIECE))} | {
        name: day.isoformat() if isinstance(day, date) else None for name, day in dates.items()
    }


def _values(rows: Iterable[dict[str, str]]) -> dict[str, list[tuple[str, int]]]:
    """Column → its values, the most frequent first; columns that group nothing are left out."""
    counts: dict[str, dict[str, int]] = {}
    barred: set[str] = set()
    for attributes in rows:
        for column, value in attributes.items():
            if column in barred or not value:
                continue
            own = counts.setdefault(column, {})
            own[value] = own.get(value, 0) + 1
            if len(own) > MOST_DIFFERENT or len(value) > LONGEST_VALUE:
                barred.add(column)
                del counts[column]
    return {
        column: sorted(own.items(), key=lambda each: (-each[1], each[0]))[:MOST_VALUES]
        for column, own in list(counts.items())[:MOST_COLUMNS]
    }
