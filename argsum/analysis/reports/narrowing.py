"""What a page is narrowed to: words of statements, a value of comments' attributes, dates."""

from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import urlencode

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from argsum.analysis.models import Analysis, Placement
from argsum.datasets.models import Cell, Comment, CommentStatement
from argsum.datasets.reports.attributes import HasValue


def has_comments(cell: Cell) -> bool:
    """Whether its statements come from comments; else each counts as a comment of its own."""
    return cell.comments.exists()


@dataclass(frozen=True)
class Narrowing:
    """Statements that contain ``search``, of comments with this value and written in this time.

    ``query`` is how the address of a page says it.
    """

    search: str = ""
    column: str = ""
    value: str = ""
    first: date | None = None
    last: date | None = None
    asked: tuple[tuple[str, str], ...] = ()

    @property
    def is_on(self) -> bool:
        """Whether anything is left out."""
        return bool(self.search or self.is_about_comments)

    @property
    def is_about_comments(self) -> bool:
        """Whether who wrote a comment, or when, matters."""
        return bool(self.column or self.first or self.last)

    @property
    def query(self) -> str:
        """As addresses carry it, without a page number."""
        return urlencode([(name, value) for name, value in self.asked if value])

    def comments_of(self, cell: Cell) -> QuerySet[Comment]:
        """Comments of a cell with the value and the dates."""
        return Comment.objects.filter(self._of_comments(""), cell=cell).order_by()

    def of_statements(self, rows: QuerySet[Placement]) -> QuerySet[Placement]:
        """Placements of statements that are said in such a comment."""
        if self.search:
            rows = rows.filter(argument__text__icontains=self.search)
        if self.is_about_comments:
            rows = rows.filter(Exists(self.sayings(argument=OuterRef("argument"))))
        return rows

    def joined(self, analysis: Analysis) -> QuerySet[Placement]:
        """The same joined with the comments, to count both: a row for each saying.

        Begins at the few comments, or statements, that are left: without a statistic SQLite would
        walk through every placement of the analysis instead, which takes eight times as long. So
        the analysis is named in a way that no index serves.
        """
        rows = Placement.objects.alias(own=F("analysis") + 0).filter(own=analysis.pk)
        if self.search:
            rows = rows.filter(
                argument__cell=analysis.cell_id, argument__text__icontains=self.search
            )
        if not self.is_about_comments:
            return rows
        path = "argument__said_in__comment__"
        own = Q(**{f"{path}cell": analysis.cell_id})
        # In one filter, so that all of it is about the same comment.
        return rows.filter(own & self._of_comments(path))

    def sayings(self, **about: Any) -> QuerySet[CommentStatement]:
        """Where statements are said, in such comments."""
        return CommentStatement.objects.filter(self._of_comments("comment__"), **about).order_by()

    def _of_comments(self, path: str) -> Q:
        found = Q()
        if self.column:
            found &= Q(HasValue(f"{path}attributes", self.column, self.value))
        if self.first:
            found &= Q(**{f"{path}written_on__gte": self.first})
        if self.last:
            found &= Q(**{f"{path}written_on__lte": self.last})
        return found
