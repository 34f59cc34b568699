"""One cell in full: its key points with what matches them, and its arguments."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from argsum.datasets.models import Cell, CellArgument, Dataset, KeyPointMatch, ReferenceKeyPoint

COLUMNS = (
    "topic",
    "stance",
    "set",
    "arg_id",
    "argument",
    "quality",
    "left_out",
    "key_point_id",
    "key_point",
    "label",
)
KEPT_ONLY, LEFT_OUT_ONLY = "kept", "left_out"


@dataclass(frozen=True)
class ArgumentRow:
    """One argument with the numbers of the key points that it matches or is said not to."""

    argument: CellArgument
    matched: tuple[int, ...]
    denied: tuple[int, ...]


def key_points_of(cell: Cell) -> QuerySet[ReferenceKeyPoint]:
    """By position, with how many arguments match each, and how many of these are kept."""
    is_match = Q(matches__is_match=True)
    return cell.key_points.annotate(
        matched=Count("matches", filter=is_match),
        matched_kept=Count("matches", filter=is_match & Q(matches__argument__left_out="")),
        labelled=Count("matches"),
    )


def arguments_of(
    cell: Cell, *, show: str = "", search: str = "", key_point: int | None = None
) -> QuerySet[CellArgument]:
    """Arguments by position.

    ``show`` is ``kept``, ``left_out``, a reason of `CellArgument.LeftOut`, or "" for all;
    ``key_point`` is the position of one that they match.
    """
    rows = shown_arguments(cell.arguments.order_by("position"), show)
    if search:
        rows = rows.filter(text__icontains=search)
    if key_point is not None:
        matches = KeyPointMatch.objects.filter(
            argument=OuterRef("pk"), key_point__position=key_point, is_match=True
        )
        rows = rows.filter(Exists(matches))
    return rows


def shown_arguments(rows: QuerySet[CellArgument], show: str) -> QuerySet[CellArgument]:
    """Those that ``show`` names; see `arguments_of`."""
    if not show:
        return rows
    if show == LEFT_OUT_ONLY:
        return rows.exclude(left_out="")
    return rows.filter(left_out="" if show == KEPT_ONLY else show)


def argument_rows(arguments: Sequence[CellArgument]) -> list[ArgumentRow]:
    """The labels of some arguments, in one query."""
    labels: dict[int, dict[bool, list[int]]] = defaultdict(lambda: {True: [], False: []})
    rows = KeyPointMatch.objects.filter(argument__in=arguments).order_by("key_point__position")
    for key, position, is_match in rows.values_list("argument", "key_point__position", "is_match"):
        labels[key][is_match].append(position)
    return [
        ArgumentRow(each, tuple(labels[each.pk][True]), tuple(labels[each.pk][False]))
        for each in arguments
    ]


def exported_rows(dataset: Dataset) -> Iterator[tuple]:
    """One row per label, and one for each argument without any; see `COLUMNS`.

    A file of them can be imported again as pairs.
    """
    for cell in dataset.cells.all():
        yield from _cell_rows(cell)


def _cell_rows(cell: Cell) -> Iterator[tuple]:
    labels: dict[int, list[tuple]] = defaultdict(list)
    matches = KeyPointMatch.objects.filter(argument__cell=cell).order_by("key_point__position")
    fields = ("argument", "key_point__name", "key_point__text", "is_match")
    for key, name, text, is_match in matches.values_list(*fields):
        labels[key].append((name, text, int(is_match)))
    for argument in cell.arguments.order_by("position"):
        said = (argument.name, argument.text, argument.quality, argument.left_out)
        for label in labels[argument.pk] or [("", "", None)]:
            yield (cell.topic, cell.stance, cell.split, *said, *label)
