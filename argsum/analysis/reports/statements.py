"""Statements behind a key point, or behind none, with the comments that say them."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.core.paginator import Page, Paginator
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils.functional import cached_property

from argsum.analysis.models import Analysis, FoundPoint, Placement
from argsum.datasets.models import CellArgument, Comment

from .narrowing import Narrowing
from .points import BEST_FIRST, said_counts

PER_PAGE = 50
COMMENTS_SHOWN = 50
MOST_COLUMNS, LONGEST = 4, 60


@dataclass(frozen=True)
class StatementRow:
    """A statement, its match score unless a person placed it, and the first comment that says it.

    ``more`` are comments that say it besides.
    """

    statement: CellArgument
    score: float | None
    comment: Comment | None
    more: int

    @property
    def is_whole(self) -> bool:
        """Whether the comment says nothing else."""
        return self.comment is not None and self.comment.text == self.statement.text

    @property
    def about(self) -> list[str]:
        """What is known of the comment, as far as a line of a page has room."""
        if self.comment is None:
            return []
        day = self.comment.written_on
        own = list(self.comment.attributes.items())[:MOST_COLUMNS]
        return [
            *([day.isoformat()] if day else []),
            *(f"{column}: {value[:LONGEST]}" for column, value in own),
        ]


class KnownPaginator(Paginator):
    """Pages over rows whose number is stored, so that nothing is counted."""

    def __init__(self, rows: QuerySet, per_page: int, number: int) -> None:
        super().__init__(rows, per_page)
        self.number = number

    @cached_property
    def count(self) -> int:
        """As it was given."""
        return self.number


def statement_keys(analysis: Analysis, point: FoundPoint | None, narrow: Narrowing) -> list[int]:
    """Statements behind a key point or behind none, best first, by primary key."""
    if narrow.is_on:
        rows = narrow.joined(analysis).filter(point=point)
    else:
        rows = Placement.objects.filter(analysis=analysis, point=point)
    return list(rows.order_by(*BEST_FIRST).values_list("argument", flat=True).distinct())


def statement_page(
    analysis: Analysis,
    point: FoundPoint | None,
    narrow: Narrowing,
    *,
    known: int,
    number: str | None,
) -> tuple[Page, list[Placement]]:
    """One page of them; ``known`` is the stored count, which holds where nothing is left out."""
    if narrow.is_on:
        keys = statement_keys(analysis, point, narrow)
        page = Paginator(keys, PER_PAGE).get_page(number)
        return page, _placements(analysis, list(page))
    every = Placement.objects.filter(analysis=analysis, point=point).order_by(*BEST_FIRST)
    page = KnownPaginator(every, PER_PAGE, known).get_page(number)
    # The index alone says which they are; with their texts, those of all pages before were read.
    begin = PER_PAGE * (page.number - 1)
    own = every[begin : begin + PER_PAGE].values_list("argument", flat=True)
    return page, _placements(analysis, list(own))


def _placements(analysis: Analysis, keys: Sequence[int]) -> list[Placement]:
    """Of these statements in their order; in any other the database would sort the analysis."""
    rows = Placement.objects.filter(analysis=analysis, argument__in=keys).order_by()
    found = {each.argument_id: each for each in rows.select_related("argument")}
    return [found[key] for key in keys if key in found]


def statement_rows(placements: Sequence[Placement], narrow: Narrowing) -> list[StatementRow]:
    """Some placements with a comment for each, in three queries however many there are."""
    keys = [each.argument_id for each in placements]
    sayings = narrow.sayings(argument=OuterRef("pk")).order_by("pk").values("comment")
    rows = CellArgument.objects.filter(pk__in=keys).annotate(first=Subquery(sayings[:1]))
    firsts = dict(rows.order_by().values_list("pk", "first"))
    comments = Comment.objects.in_bulk([each for each in firsts.values() if each])
    said = said_counts(keys, narrow)
    return [
        StatementRow(
            each.argument,
            None if each.is_by_hand or each.point_id is None else each.score,
            comments.get(firsts.get(each.argument_id) or 0),
            max(0, said.get(each.argument_id, 0) - 1),
        )
        for each in placements
    ]


def comments_saying(statement: CellArgument, narrow: Narrowing) -> list[Comment]:
    """The first comments that say a statement."""
    sayings = narrow.sayings(argument=statement)
    rows = Comment.objects.filter(pk__in=sayings.values("comment")).order_by("position")
    return list(rows[:COMMENTS_SHOWN])
