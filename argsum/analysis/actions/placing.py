"""Move, remove, add and count placements of statements for edits.

A statement has a row for each key point that it makes, or one row without a key point.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db.models import QuerySet

from argsum.analysis.models import Analysis, Placement

PIECE = 2_000
# Key point, whether by hand, and statements; by primary key. Edits store groups of this form.
Group = tuple[int | None, bool, Sequence[int]]
Places = dict[tuple[int | None, bool], list[int]]


class Move(NamedTuple):
    """Statements that move from one key point to another. None stands for no key point."""

    source: int | None
    target: int | None
    is_by_hand: bool
    statements: Sequence[int]


class PlacementRow(NamedTuple):
    """A placement as edits store it, with the primary keys of its key point and statement."""

    point: int | None
    is_by_hand: bool
    is_sure: bool
    score: float
    statement: int


@dataclass
class Changes:
    """Effects of moves: previous and new placements of statements, and deleted placements."""

    before: Places = field(default_factory=lambda: defaultdict(list))
    after: Places = field(default_factory=lambda: defaultdict(list))
    dropped: list[PlacementRow] = field(default_factory=list)

    def arrived(self, target: int | None) -> set[int]:
        """Return the statements that were moved to a key point."""
        return {key for hand in (False, True) for key in self.after[target, hand]}


def apply_moves(analysis: Analysis, moves: Iterable[Move]) -> Changes:
    """Move statements.

    If a statement is already at the target, the two rows become one. It is marked as placed by
    hand if either row was; otherwise, it is marked as sure if either row was. A statement that is
    still at another key point gets no row without a key point.
    """
    changes = Changes()
    for move in moves:
        for keys in pieces(move.statements):
            _move(analysis, move, keys, changes)
    return changes


def _move(analysis: Analysis, move: Move, keys: Sequence[int], changes: Changes) -> None:
    rows = Placement.objects.filter(analysis=analysis, argument__in=keys)
    leaving = rows.filter(point=move.source)
    before = dict(leaving.values_list("argument", "is_by_hand"))
    if move.target is None:
        elsewhere = rows.exclude(point=move.source).filter(point__isnull=False)
        staying = set(elsewhere.values_list("argument", flat=True))
        changes.dropped += take_away(leaving.filter(argument__in=staying))
        before = {key: hand for key, hand in before.items() if key not in staying}
    else:
        there = changes.arrived(move.target)
        if not move.is_by_hand:
            surer = rows.filter(Placement.SURE, point=move.target)
            there |= set(surer.values_list("argument", flat=True))
        there &= set(before)
        changes.dropped += take_away(leaving.filter(argument__in=there))
        before = {key: hand for key, hand in before.items() if key not in there}
        changes.dropped += take_away(rows.filter(point=move.target, argument__in=list(before)))
    leaving.filter(argument__in=list(before)).update(point=move.target, is_by_hand=move.is_by_hand)
    for key, hand in before.items():
        changes.before[move.source, hand].append(key)
        changes.after[move.target, move.is_by_hand].append(key)


def take_away(rows: QuerySet[Placement]) -> list[PlacementRow]:
    """Delete and return placements."""
    fields = ("point", "is_by_hand", "is_sure", "score", "argument")
    gone = [PlacementRow(*row) for row in rows.order_by("pk").values_list(*fields)]
    if gone:
        rows.delete()
    return gone


def drop(analysis: Analysis, pairs: Iterable[tuple[int | None, int]]) -> list[PlacementRow]:
    """Delete and return the placements of the given pairs of key point and statement."""
    by_point: dict[int | None, list[int]] = defaultdict(list)
    for point, statement in pairs:
        by_point[point].append(statement)
    gone: list[PlacementRow] = []
    for point, statements in by_point.items():
        for keys in pieces(statements):
            rows = Placement.objects.filter(analysis=analysis, point=point, argument__in=keys)
            gone += take_away(rows)
    return gone


def add(analysis: Analysis, rows: Iterable[PlacementRow]) -> None:
    """Store placements of statements that are not yet at the given key points."""
    Placement.objects.bulk_create(
        (
            Placement(
                analysis=analysis,
                point_id=row.point,
                argument_id=row.statement,
                score=row.score,
                is_sure=row.is_sure,
                is_by_hand=row.is_by_hand,
            )
            for row in rows
        ),
        batch_size=PIECE,
    )


def count_at(
    analysis: Analysis, point: int | None, keys: Sequence[int], *, hand: bool | None = None
) -> int:
    """Return how many of the statements in ``keys`` are at a key point, or at none."""
    total = 0
    for piece in pieces(keys):
        rows = Placement.objects.filter(analysis=analysis, argument__in=piece, point=point)
        total += (rows if hand is None else rows.filter(is_by_hand=hand)).count()
    return total


def all_placed(analysis: Analysis, statements: Iterable[int]) -> bool:
    """Return whether all the given statements still have a placement."""
    rows = Placement.objects.filter(analysis=analysis).order_by().values("argument").distinct()
    return all(
        rows.filter(argument__in=keys).count() == len(keys) for keys in pieces(sorted(statements))
    )


def groups_of(places: Mapping[tuple[int | None, bool], Sequence[int]]) -> list[list[Any]]:
    """Return placements grouped as edits store them."""
    return [[point, hand, sorted(keys)] for (point, hand), keys in places.items()]


def moves_back(before: Sequence[Group], after: Sequence[Group]) -> list[Move]:
    """Return the moves that undo an edit, given its stored groups."""
    now = {key: point for point, _hand, keys in after for key in keys}
    moves = []
    for point, hand, keys in before:
        sources: dict[int | None, list[int]] = defaultdict(list)
        for key in keys:
            sources[now[key]].append(key)
        moves += [Move(source, point, hand, own) for source, own in sources.items()]
    return moves


def can_add(analysis: Analysis, rows: Sequence[PlacementRow], leaving: Iterable[Group]) -> bool:
    """Return whether the rows that an edit deleted can be restored once its new rows are gone.

    They cannot be restored if a statement is at its key point again, or would be both at a key
    point and at none. ``leaving`` are the groups that the edit created.
    """
    own = {(point, key) for point, _hand, keys in leaving for key in keys}
    wanted = {(row.point, row.statement) for row in rows}
    for keys in pieces(sorted({row.statement for row in rows})):
        there = Placement.objects.filter(analysis=analysis, argument__in=keys)
        for pair in there.order_by().values_list("point", "argument"):
            if pair in own:
                continue
            if pair in wanted or pair[0] is None or (None, pair[1]) in wanted:
                return False
    return True


def pieces(values: Sequence[Any]) -> Iterable[Sequence[Any]]:
    """Yield batches of at most `PIECE` values, the limit of one query."""
    return (values[start : start + PIECE] for start in range(0, len(values), PIECE))
