"""Comments in lists and exports, their attributes and their language."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import (
    BooleanField,
    Count,
    Exists,
    F,
    Func,
    OuterRef,
    QuerySet,
    Subquery,
    Value,
)
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _, gettext_lazy

from argsum.datasets.methods.statements import SAMPLE, language_of
from argsum.datasets.models import Cell, CellArgument, Comment, CommentStatement, Dataset
from cqa_site.judging.encoders import encoder_for


class HasValue(Func):
    """Condition that a column of `Comment.attributes` equals a text, for any column name.

    Django's own lookup parses every row twice on SQLite and reads "2024" as a list index.
    """

    output_field = BooleanField()

    def __init__(self, path: str, column: str, value: str) -> None:
        super().__init__(F(path), Value(column), Value(value))

    def as_sqlite(self, compiler: Any, connection: Any, **_more: Any) -> Any:
        """Compile for SQLite; reading keys only if the value occurs saves two thirds of the time.

        A JSON path cannot contain a key with a quotation mark. The value was written by
        `json.dumps`.
        """
        column, name, value = self.get_source_expressions()
        sql, params = compiler.compile(column)
        own = f"SELECT value FROM JSON_EACH({sql}) WHERE key = %s"  # noqa: S608 - our own column
        parameters = (*params, json.dumps(value.value), *params, name.value, value.value)
        return f"(INSTR({sql}, %s) > 0 AND ({own}) = %s)", parameters

    def as_postgresql(self, compiler: Any, connection: Any, **_more: Any) -> Any:
        """Compile for PostgreSQL with its text operator."""
        column, name, value = self.get_source_expressions()
        sql, params = compiler.compile(column)
        return f"(({sql} ->> %s::text) = %s)", (*params, name.value, value.value)


# Keys in the recipe of a dataset of comments: the number of comments, the names of the other
# columns in file order, and the column chosen as the group.
COMMENTS, ATTRIBUTES, GROUP = "comments", "attributes", "group"
SAYS_NOTHING = "nothing"
EXPORTED = ("topic", "id", "date", "comment", "statements", "left_out", "near_duplicates")
PIECE = 1_000


@dataclass(frozen=True)
class CommentRow:
    """One comment with its statements, in order."""

    comment: Comment
    statements: tuple[CellArgument, ...]


def is_of_comments(dataset: Dataset) -> bool:
    """Return whether the dataset's arguments are statements of comments."""
    return dataset.recipe.get("holds") == COMMENTS


def attributes_of(dataset: Dataset) -> list[str]:
    """Return the names of the dataset's other comment columns."""
    return list(dataset.recipe.get(ATTRIBUTES, []))


def comments_of(
    cell: Cell, *, search: str = "", show: str = "", attribute: str = "", value: str = ""
) -> QuerySet[Comment]:
    """Return the cell's comments that match the filters, ordered by position.

    ``show`` is ``nothing`` for comments without a kept statement; ``value`` is the exact value of
    ``attribute``.
    """
    rows = cell.comments.order_by("position")
    if search:
        rows = rows.filter(text__icontains=search)
    if show == SAYS_NOTHING:
        rows = saying_nothing(rows)
    return having(rows, attribute, value) if attribute and value else rows


def having(rows: QuerySet[Comment], attribute: str, value: str) -> QuerySet[Comment]:
    """Filter comments by an exact attribute value."""
    return rows.filter(HasValue("attributes", attribute, value))


def saying_nothing(rows: QuerySet[Comment]) -> QuerySet[Comment]:
    """Return only the comments without a kept statement."""
    statements = CommentStatement.objects.filter(comment=OuterRef("pk"), argument__left_out="")
    return rows.filter(~Exists(statements))


def comment_rows(comments: Sequence[Comment]) -> list[CommentRow]:
    """Return the given comments with their statements, in one query."""
    arguments: dict[int, list[CellArgument]] = defaultdict(list)
    statements = CommentStatement.objects.filter(comment__in=[comment.pk for comment in comments])
    for link in statements.select_related("argument").order_by("comment", "position"):
        arguments[link.comment_id].append(link.argument)
    return [CommentRow(comment, tuple(arguments[comment.pk])) for comment in comments]


def said_by(arguments: Sequence[CellArgument]) -> dict[int, int]:
    """Return the number of comments with each of the given statements, in one query."""
    statements = CommentStatement.objects.filter(
        argument__in=[argument.pk for argument in arguments]
    )
    counts = statements.order_by().values_list("argument")
    return dict(counts.annotate(n=Count("comment", distinct=True)))


def with_comments(arguments: QuerySet[CellArgument]) -> QuerySet[CellArgument]:
    """Add ``comments`` to each argument: the number of shown comments that contain it."""
    links = CommentStatement.objects.filter(argument=OuterRef("pk")).order_by()
    number = links.values("argument").annotate(n=Count("comment", distinct=True)).values("n")
    return arguments.annotate(comments=Coalesce(Subquery(number), 0))


def new_comments(cell: Cell, after: int) -> QuerySet[Comment]:
    """Return comments after position ``after`` with their groups, ordered by position."""
    rows = cell.comments.filter(position__gt=after).select_related("duplicate__group")
    return rows.order_by("position")


def exported_columns(dataset: Dataset) -> list[str]:
    """Return the columns of `exported_comments`."""
    return [*EXPORTED, *attributes_of(dataset)]


def exported_comments(dataset: Dataset) -> Iterator[tuple]:
    """Yield one row per comment, with kept and excluded statements in separate columns."""
    names = attributes_of(dataset)
    for cell in dataset.cells.all():
        after = 0
        while piece := list(new_comments(cell, after)[:PIECE]):
            for row in comment_rows(piece):
                yield _exported(cell, row, names)
            after = piece[-1].position


def _exported(cell: Cell, row: CommentRow, names: Sequence[str]) -> tuple:
    comment = row.comment
    attributes: Mapping[str, str] = comment.attributes
    day = comment.written_on.isoformat() if comment.written_on else ""
    statements = "\n".join(
        statement.text for statement in row.statements if not statement.left_out
    )
    left_out = "\n".join(statement.text for statement in row.statements if statement.left_out)
    member = getattr(comment, "duplicate", None)
    group = str(member.group.public_id) if member and not member.is_out else ""
    fields = (cell.topic, comment.name, day, comment.text, statements, left_out, group)
    return (*fields, *(attributes.get(name, "") for name in names))


NAMES = {
    "en": gettext_lazy("English"),
    "de": gettext_lazy("German"),
    "fr": gettext_lazy("French"),
    "es": gettext_lazy("Spanish"),
    "it": gettext_lazy("Italian"),
    "nl": gettext_lazy("Dutch"),
    "pl": gettext_lazy("Polish"),
    "pt": gettext_lazy("Portuguese"),
    "ru": gettext_lazy("Russian"),
    "el": gettext_lazy("Greek"),
    "ar": gettext_lazy("Arabic"),
    "he": gettext_lazy("Hebrew"),
    "hi": gettext_lazy("Hindi"),
    "ja": gettext_lazy("Japanese"),
    "ko": gettext_lazy("Korean"),
    "zh": gettext_lazy("Chinese"),
}
# Minimum number of texts for a warning about an unknown language.
FEWEST = 20


def warning_of(dataset: Dataset) -> str:
    """Return a warning if the kept texts are not in English, or "" if they are."""
    rows = CellArgument.objects.filter(cell__dataset=dataset, left_out="").order_by("pk")
    texts = list(rows.values_list("text", flat=True)[:SAMPLE])
    return not_english(language_of(texts), is_known=len(texts) >= FEWEST)


def not_english(code: str, *, is_known: bool = True) -> str:
    """Return the warning for a language; ``is_known`` tells whether there was enough text."""
    if code == "en" or not (code or is_known):
        return ""
    if not code:
        return _(
            "The built-in model is for English, and these texts do not appear to be in "
            "English. Texts with the same meaning might not be grouped together. A "
            "multilingual model, added by name, works better."
        )
    encoder = encoder_for(code)
    if encoder is None:
        text = _(
            "The built-in model is for English, and these texts appear to be in %s. Texts "
            "with the same meaning might not be grouped together. A multilingual model, "
            "added by name, works better."
        )
        return text % NAMES[code]
    if encoder.is_installed:
        return ""
    text = _(
        "The built-in model is for English, and these texts appear to be in "
        "%(language)s. The encoder “%(encoder)s” (%(size)d MB) groups them better. "
        "Install it under “Match scorers”."
    )
    values = {"encoder": encoder.title, "size": encoder.megabytes}
    return text % (values | {"language": NAMES[code]})
