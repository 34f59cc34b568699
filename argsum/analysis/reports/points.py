"""Key points of an analysis with their counts, quotations and statements."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery, Window
from django.db.models.functions import RowNumber
from django.utils.translation import ngettext

from argsum.analysis.methods.statements import different
from argsum.analysis.models import Analysis, FoundPoint, Placement
from argsum.datasets.models import CellArgument, Comment, CommentStatement
from .analyses import StatementSearch, writer_in_words
from .counts import kept
from .mentions import BEST_FIRST, NarrowedCounts
from .voices import COMMENTS, both_in_words, sure_of

State = FoundPoint.State
QUOTED = 3
# Number of statements from which to quote.
LOOKED_AT = 8
MOST_POINTS = 500


@dataclass(frozen=True)
class Quote:
    """A statement that makes a key point, and the number of comments that contain it."""

    text: str
    comments: int


@dataclass(frozen=True)
class PointRow:
    """One key point with its counts. Shares refer to all comments, or to all voices.

    ``counted`` is the number of these that mention the key point. ``sure`` is the number with a
    sure statement, or all of them if there are no bands. ``mentions`` are the counts in words.
    """

    point: FoundPoint
    statements: int
    counted: int
    sure: int
    mentions: str
    share: float | None
    sure_share: float | None
    quotes: Sequence[Quote]

    @property
    def writer(self) -> str:
        """Language model and prompt that wrote the key point, or an empty string."""
        return writer_in_words(self.point)

    @property
    def words(self) -> str:
        """The counts as text. Formatting them in a template would take a millisecond."""
        number = self.statements
        statements = ngettext("%s statement", "%s statements", number) % f"{number:,}"
        return f"{self.mentions} · {statements}"


@dataclass(frozen=True)
class Overview:
    """Number of key points by state.

    ``covered`` counts statements at shown key points, and ``rest`` those that fit none.
    """

    points: Mapping[str, int]
    covered: int
    rest: int

    @property
    def shown(self) -> int:
        """Number of shown key points."""
        return self.points.get(State.SHOWN, 0)

    @property
    def hidden(self) -> int:
        """Number of hidden key points."""
        return self.points.get(State.HIDDEN, 0)

    @property
    def proposed(self) -> int:
        """Number of proposed key points."""
        return self.points.get(State.PROPOSED, 0)


def overview_of(analysis: Analysis) -> Overview:
    """Return the overview, using two queries, or one if the analysis has not changed."""
    rows = analysis.points.order_by().values_list("state")
    points = dict(rows.annotate(n=Count("pk")))
    covered, rest = kept("placed", analysis, partial(_placed, analysis))
    return Overview(points, covered, rest)


def _placed(analysis: Analysis) -> tuple[int, int]:
    """Return the numbers of statements at shown key points and of statements that fit none."""
    rows = analysis.placements.order_by()
    shown = rows.filter(point__state=State.SHOWN).values("argument").distinct()
    return shown.count(), rows.filter(point__isnull=True).count()


def points_of(analysis: Analysis, state: str, unit: str = COMMENTS) -> QuerySet[FoundPoint]:
    """Return key points in a state with their writers, most comments or voices first."""
    rows = analysis.points.filter(state=state).select_related("writer__prompt")
    return rows.order_by(f"-{unit}", "position")


def choices_of(analysis: Analysis) -> list[FoundPoint]:
    """Return the key points to which statements can be moved."""
    rows = points_of(analysis, State.SHOWN).select_related(None)
    return list(rows.only("public_id", "text", "analysis_id")[:MOST_POINTS])


def narrowed_points(
    rows: QuerySet[FoundPoint], counts: NarrowedCounts, unit: str = COMMENTS
) -> list[FoundPoint]:
    """Return the key points that match the filters, most comments or voices first."""
    own = counts.points
    points = [point for point in rows if point.pk in own]
    return sorted(points, key=lambda point: (-getattr(own[point.pk], unit), point.position))


def point_rows(
    analysis: Analysis,
    points: Sequence[FoundPoint],
    *,
    narrow: StatementSearch,
    counts: NarrowedCounts | None = None,
    total: int,
    has_quotes: bool = True,
) -> list[PointRow]:
    """Return rows of the given key points with their first quotations, in at most three queries.

    ``counts`` are the counts under the filter, if one is set. ``total`` is the number of all
    comments.
    """
    quotes = quotes_of(points, narrow, counts) if has_quotes else {}
    rows = []
    for point in points:
        own = counts.points[point.pk] if counts else point
        figures = counted_figures(analysis, own, narrow.unit, total)
        rows.append(PointRow(point, own.statements, **figures, quotes=quotes.get(point.pk, [])))
    return rows


def counted_figures(analysis: Analysis, counts: Any, unit: str, total: int) -> dict[str, Any]:
    """Return the fields shared by `PointRow` and `ThemeRow`. ``counts`` may be a key point."""
    counted, sure = int(getattr(counts, unit)), sure_of(analysis, counts, unit)
    return {
        "counted": counted,
        "sure": sure,
        "mentions": both_in_words(analysis, counts, unit),
        "share": 100 * counted / total if total else None,
        "sure_share": 100 * sure / total if total else None,
    }


def quotes_of(
    points: Sequence[FoundPoint], narrow: StatementSearch, counts: NarrowedCounts | None
) -> dict[int, list[Quote]]:
    """Map each key point to its first statements, without repeated wordings."""
    keys = [point.pk for point in points]
    quoted = counts.best_of(keys, LOOKED_AT) if counts else best_statements(keys, LOOKED_AT)
    read = [key for own in quoted.values() for key in own]
    texts = dict(CellArgument.objects.filter(pk__in=read).values_list("pk", "text"))
    for pk, own in quoted.items():
        unlike = different([texts[key] for key in own], QUOTED)
        quoted[pk] = [own[at] for at in unlike]
    wanted = [key for own in quoted.values() for key in own]
    mentions = said_counts(wanted, narrow)
    return {
        pk: [Quote(texts[key], mentions.get(key, 0)) for key in own] for pk, own in quoted.items()
    }


def best_statements(points: Sequence[int], most: int) -> dict[int, list[int]]:
    """Map key points to their best statements, read one by one from the index."""
    behind = Placement.objects.filter(analysis=OuterRef("analysis"), point=OuterRef("pk"))
    ordered = behind.order_by(*BEST_FIRST).values("argument")
    names = {f"quoted_{place}": ordered[place : place + 1] for place in range(most)}
    rows = FoundPoint.objects.filter(pk__in=points).order_by()
    rows = rows.annotate(**{name: Subquery(placements) for name, placements in names.items()})
    return {pk: [key for key in own if key] for pk, *own in rows.values_list("pk", *names)}


def ranked_statements(
    analysis: Analysis, points: Sequence[int], most: int, which: Q | None = None
) -> dict[int, list[tuple[int, str]]]:
    """Map key points to their best statements with texts, those placed by hand first."""
    place = Window(RowNumber(), partition_by=F("point"), order_by=list(BEST_FIRST))
    rows = Placement.objects.filter(which or Q(), analysis=analysis, point__in=points)
    rows = rows.annotate(place=place).filter(place__lte=most).order_by("point", "place")
    best: dict[int, list[tuple[int, str]]] = {}
    for point, argument, text in rows.values_list("point", "argument", "argument__text"):
        best.setdefault(point, []).append((argument, text))
    return best


def said_counts(statements: Sequence[int], narrow: StatementSearch) -> dict[int, int]:
    """Map each statement to its number of comments.

    Statements that are not part of a comment are left out.
    """
    if narrow.is_about_comments:
        rows = narrow.sayings(argument__in=statements)
    else:
        rows = CommentStatement.objects.filter(argument__in=statements)
    grouped = rows.order_by().values_list("argument")
    return dict(grouped.annotate(n=Count("comment", distinct=True)))


PER_PAGE = 50
COMMENTS_SHOWN = 50
MOST_COLUMNS, LONGEST = 4, 60


@dataclass(frozen=True)
class StatementRow:
    """A statement, its match score (None if placed by hand), and its first comment.

    ``is_perhaps`` is true if the machine was not sure. ``more`` counts further comments with the
    statement. ``others`` are further key points that it makes.
    """

    statement: CellArgument
    score: float | None
    is_perhaps: bool
    comment: Comment | None
    more: int
    others: Sequence[FoundPoint] = ()

    @property
    def is_whole(self) -> bool:
        """Whether the statement is the whole comment."""
        return self.comment is not None and self.comment.text == self.statement.text

    @property
    def about(self) -> list[str]:
        """Date and columns of the comment, limited to one line."""
        if self.comment is None:
            return []
        day = self.comment.written_on
        own = list(self.comment.attributes.items())[:MOST_COLUMNS]
        return [
            *([day.isoformat()] if day else []),
            *(f"{column}: {value[:LONGEST]}" for column, value in own),
        ]


def statement_keys(
    analysis: Analysis, point: FoundPoint | None, narrow: StatementSearch
) -> list[int]:
    """Return the keys of statements at a key point or at none, best first."""
    rows = narrow.of_statements(Placement.objects.filter(analysis=analysis, point=point))
    return list(rows.order_by(*BEST_FIRST).values_list("argument", flat=True))


def statement_page(
    analysis: Analysis,
    point: FoundPoint | None,
    narrow: StatementSearch,
    *,
    known: int,
    number: str | None,
) -> tuple[Page, list[Placement]]:
    """Return one page of statements. ``known`` is the stored count, used if no filter is set."""
    if narrow.is_on:
        keys = statement_keys(analysis, point, narrow)
        page = Paginator(keys, PER_PAGE).get_page(number)
        return page, _placements(analysis, point, list(page))
    every = Placement.objects.filter(analysis=analysis, point=point).order_by(*BEST_FIRST)
    paginator: Any = Paginator(every, PER_PAGE)
    # Avoids the query of the paginator.
    vars(paginator)["count"] = known
    page = paginator.get_page(number)
    # The index has the keys. A query with texts would read the texts of all earlier pages, too.
    begin = PER_PAGE * (page.number - 1)
    own = every[begin : begin + PER_PAGE].values_list("argument", flat=True)
    return page, _placements(analysis, point, list(own))


def _placements(
    analysis: Analysis, point: FoundPoint | None, keys: Sequence[int]
) -> list[Placement]:
    """Return placements in the order of their keys.

    Ordering in the database would sort the whole analysis.
    """
    rows = Placement.objects.filter(analysis=analysis, argument__in=keys, point=point).order_by()
    placements = {row.argument_id: row for row in rows.select_related("argument")}
    return [placements[key] for key in keys if key in placements]


def statement_rows(placements: Sequence[Placement], narrow: StatementSearch) -> list[StatementRow]:
    """Return the given placements with a comment for each, always using four queries."""
    keys = [placement.argument_id for placement in placements]
    sayings = narrow.sayings(argument=OuterRef("pk")).order_by("pk").values("comment")
    rows = CellArgument.objects.filter(pk__in=keys).annotate(first=Subquery(sayings[:1]))
    firsts = dict(rows.order_by().values_list("pk", "first"))
    comments = Comment.objects.in_bulk([key for key in firsts.values() if key])
    counts = said_counts(keys, narrow)
    others = _others(placements)
    return [
        StatementRow(
            placement.argument,
            None if placement.is_by_hand or placement.point_id is None else placement.score,
            not (placement.is_by_hand or placement.is_sure),
            comments.get(firsts.get(placement.argument_id) or 0),
            max(0, counts.get(placement.argument_id, 0) - 1),
            others.get(placement.argument_id, ()),
        )
        for placement in placements
    ]


def _others(placements: Sequence[Placement]) -> dict[int, list[FoundPoint]]:
    """Map statements to the other key points that they make."""
    if not placements:
        return {}
    first = placements[0]
    rows = Placement.objects.filter(
        analysis=first.analysis_id,
        argument__in=[placement.argument_id for placement in placements],
        point__state__in=FoundPoint.ALIVE,
    ).exclude(point=first.point_id)
    others: dict[int, list[FoundPoint]] = {}
    for row in rows.select_related("point").order_by("point__position"):
        if row.point is not None:
            others.setdefault(row.argument_id, []).append(row.point)
    return others


def comments_saying(statement: CellArgument, narrow: StatementSearch) -> list[Comment]:
    """Return the first comments that contain a statement."""
    sayings = narrow.sayings(argument=statement)
    rows = Comment.objects.filter(pk__in=sayings.values("comment")).order_by("position")
    return list(rows[:COMMENTS_SHOWN])
