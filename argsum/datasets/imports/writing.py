"""What a file adds to a cell, into the database."""

from django.db.models import Max

from annotation.corpus.models.questions import text_key
from argsum.datasets.methods.raw_cells import RawCell
from argsum.datasets.models import Cell, CellArgument, KeyPointMatch, ReferenceKeyPoint

from .stored import Change

PIECE = 2_000


def write_cell(cell: Cell, raw: RawCell, change: Change, *, update: bool) -> None:
    """Add what is new; with ``update`` replace what differs.

    The caller holds the transaction.
    """
    if cell.pk is None:
        cell.save()
    arguments = change.argument_keys | _add_arguments(cell, raw, change.new_arguments)
    key_points = change.key_point_keys | _add_key_points(cell, raw, change.new_key_points)
    KeyPointMatch.objects.bulk_create(
        (
            KeyPointMatch(
                argument_id=arguments[one],
                key_point_id=key_points[two],
                is_match=raw.matches[one, two],
            )
            for one, two in change.new_matches
        ),
        batch_size=PIECE,
    )
    if update:
        CellArgument.objects.bulk_update(change.rated, ["quality"], batch_size=500)
        KeyPointMatch.objects.bulk_update(change.relabelled, ["is_match"], batch_size=500)


def _add_arguments(cell: Cell, raw: RawCell, places: list[int]) -> dict[int, int]:
    """Keys of the new arguments by their position in the file's cell."""
    last = cell.arguments.aggregate(last=Max("position"))["last"] or 0
    made = CellArgument.objects.bulk_create(
        (
            CellArgument(
                cell=cell,
                position=number,
                text=raw.arguments[place].text,
                sha256=text_key(raw.arguments[place].text),
                name=raw.arguments[place].name,
                quality=raw.arguments[place].quality,
            )
            for number, place in enumerate(places, start=last + 1)
        ),
        batch_size=PIECE,
    )
    return {place: row.pk for place, row in zip(places, made, strict=True)}


def _add_key_points(cell: Cell, raw: RawCell, places: list[int]) -> dict[int, int]:
    """As `_add_arguments`."""
    last = cell.key_points.aggregate(last=Max("position"))["last"] or 0
    made = ReferenceKeyPoint.objects.bulk_create(
        ReferenceKeyPoint(
            cell=cell,
            position=number,
            text=raw.key_points[place].text,
            sha256=text_key(raw.key_points[place].text),
            name=raw.key_points[place].name,
        )
        for number, place in enumerate(places, start=last + 1)
    )
    return {place: row.pk for place, row in zip(places, made, strict=True)}
