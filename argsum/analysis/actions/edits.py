"""Edits of key points: rename, merge, split, hide, move, and undo."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import F, Max, Q, QuerySet
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from argsum.analysis.models import Analysis, FoundPoint, Placement, PointChange
from cqa_site.people.models import User
from cqa_site.runs.models import Run
from .analyses import count_points, record_work
from .placing import (
    Move,
    PlacementRow,
    add,
    all_placed,
    apply_moves,
    can_add,
    count_at,
    drop,
    groups_of,
    moves_back,
)

State, Verb = FoundPoint.State, PointChange.Verb
_LATER = lazy("A later edit changed the same key points or statements. Undo that edit first.")


class EditRefused(Exception):
    """The edit is not possible. The message gives the reason."""


class EditConflict(EditRefused):
    """Somebody else has changed the same data. The message says who made which change."""


@dataclass(frozen=True)
class Edit:
    """Changes to key points and statements.

    Attributes
    ----------
    verb, point
        The edit's name in the history, and its key point.
    points
        Key points, by primary key, with their new fields.
    dropped, moves, added
        Placements to delete (key point and statement), statements to move, and new placements;
        applied in this order.
    run
        The run of the language model that makes the edit.
    """

    verb: str
    point: FoundPoint | None = None
    points: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    dropped: Sequence[tuple[int | None, int]] = ()
    moves: Sequence[Move] = ()
    added: Sequence[PlacementRow] = ()
    run: Run | None = None


@contextmanager
def editing(analysis: Analysis) -> Iterator[Analysis]:
    """Lock the analysis until the edit is stored; raises EditRefused if it is unfinished."""
    with transaction.atomic():
        held = Analysis.objects.select_for_update(of=("self",)).select_related("cell", "study")
        row = held.get(pk=analysis.pk)
        if row.state != Analysis.State.DONE:
            raise EditRefused(_("The analysis is not finished yet."))
        yield row
    analysis.revision = row.revision


def alive(analysis: Analysis, points: Collection[FoundPoint], seen: int) -> list[FoundPoint]:
    """Return the current rows of the given key points, in the given order.

    Raises
    ------
    EditConflict
        If a key point's text or state was changed after revision ``seen``.
    EditRefused
        If a key point no longer exists.
    """
    rows = FoundPoint.objects.filter(analysis=analysis).in_bulk([point.pk for point in points])
    live_points = []
    for target in points:
        row = rows.get(target.pk)
        if row is None:
            raise EditRefused(_("This analysis does not have that key point."))
        if row.revision > seen:
            raise EditConflict(_told(analysis, row))
        _require_state(row, FoundPoint.ALIVE)
        live_points.append(row)
    return live_points


def _require_state(row: FoundPoint, states: Collection[str]) -> None:
    if row.state not in states:
        about = {"text": row.text, "state": row.get_state_display().lower()}
        raise EditRefused(_("“%(text)s” is %(state)s.") % about)


def require_at(analysis: Analysis, point: FoundPoint | None, statements: Sequence[int]) -> None:
    """Raise EditConflict unless the key point still has all the given statements."""
    missing = len(statements) - count_at(analysis, point.pk if point else None, statements)
    if missing:
        raise EditConflict(
            ngettext(
                "%(n)d of the statements was moved in the meantime. Nothing was changed. "
                "Choose again.",
                "%(n)d of the statements were moved in the meantime. Nothing was changed. "
                "Choose again.",
                missing,
            )
            % {"n": missing}
        )


def new_point(analysis: Analysis, text: str, theme: str = "") -> FoundPoint:
    """Create a hand-written key point in the state "removed", so that an edit can then show it."""
    about = {"origin": FoundPoint.Origin.PERSON, "state": State.REMOVED}
    return new_points(analysis, [(text, theme)], **about)[0]


def new_points(
    analysis: Analysis, rows: Iterable[tuple[str, str]], **about: Any
) -> list[FoundPoint]:
    """Create key points from texts and themes, and add them after all existing ones."""
    last = analysis.points.aggregate(last=Max("position"))["last"] or 0
    about |= {"analysis": analysis, "revision": analysis.revision}
    points = (
        FoundPoint(position=place, text=text, written=text, theme=theme, **about)
        for place, (text, theme) in enumerate(rows, start=last + 1)
    )
    return FoundPoint.objects.bulk_create(points, batch_size=5_000)


def store(analysis: Analysis, edit: Edit, actor: User | None) -> PointChange:
    """Apply an edit, update the counts and store the previous values. Call inside `editing`.

    Raises EditRefused if statements would be left without an existing key point.
    """
    analysis.revision += 1
    points = _change_points(analysis, edit.points)
    gone = drop(analysis, edit.dropped)
    changes = apply_moves(analysis, edit.moves)
    gone += changes.dropped
    add(analysis, edit.added)
    before = {"points": points, "placed": groups_of(changes.before), "dropped": gone}
    after = {
        "points": {str(pk): dict(fields) for pk, fields in edit.points.items()},
        "placed": groups_of(changes.after),
        "added": list(edit.added),
    }
    places = [point for point, _hand in (*changes.before, *changes.after)]
    places += [row.point for row in (*gone, *edit.added)]
    touched = {*edit.points, *(point for point in places if point is not None)}
    count_points(analysis, touched)
    _require_nothing_lost(touched)
    if not all_placed(analysis, {row.statement for row in gone}):
        raise EditRefused(_LATER)
    return keep(analysis, edit, actor, before=before, after=after)


def keep(analysis: Analysis, edit: Edit, actor: User | None, **sides: Any) -> PointChange:
    """Add an edit to the history and the log. ``sides`` are its `before` and `after` values."""
    moved = {key for move in edit.moves for key in move.statements}
    moved |= {row.statement for row in edit.added}
    change = PointChange.objects.create(
        analysis=analysis,
        revision=analysis.revision,
        verb=edit.verb,
        point=edit.point,
        number=sides.pop("number", len(moved)),
        run=edit.run,
        actor=actor,
        **sides,
    )
    Analysis.objects.filter(pk=analysis.pk).update(revision=analysis.revision)
    point = edit.point.text[:200] if edit.point else ""
    facts = {"edit": edit.verb, "key_point": point, "revision": analysis.revision}
    record_work(analysis, actor, "key_points_edited", **facts)
    return change


def undo_change(*, analysis: Analysis, actor: User, change: PointChange) -> PointChange:
    """Undo one edit. The undo can itself be undone.

    Raises
    ------
    EditRefused
        If the edit was already undone, was not made by hand, or overlaps with a later edit.
    """
    with editing(analysis) as held:
        row = PointChange.objects.select_related("point").get(analysis=held, pk=change.pk)
        if row.verb == Verb.PLACED:
            raise EditRefused(
                _("The placement of new comments cannot be undone. Move them instead.")
            )
        if row.undone_by_id is not None:
            raise EditRefused(_("This edit has already been undone."))
        _require_untouched(held, row)
        edit = _reversed(row)
        reversal = store(held, edit, actor)
        reversal.after["undoes"] = row.pk
        reversal.save(update_fields=["after"])
        PointChange.objects.filter(undone_by=row).update(undone_by=None)
        # Undoing an undo reapplies the original edit, and so on back to the first.
        by: PointChange | None = reversal
        undone: PointChange | None = row
        while undone is not None:
            PointChange.objects.filter(pk=undone.pk).update(undone_by=by)
            earlier = held.changes.filter(pk=undone.after.get("undoes")).first()
            by, undone = (None if by else undone), earlier
    return reversal


def _require_untouched(analysis: Analysis, change: PointChange) -> None:
    """Raise EditRefused if anything that the edit changed has been changed again."""
    wanted = change.after.get("points", {})
    rows = FoundPoint.objects.filter(analysis=analysis).in_bulk([int(pk) for pk in wanted])
    for pk, fields in wanted.items():
        if any(getattr(rows[int(pk)], name) != value for name, value in fields.items()):
            raise EditRefused(_LATER)
    groups: dict[tuple[int | None, bool], list[int]] = {}
    for stored in (PlacementRow(*row) for row in change.after.get("added", [])):
        groups.setdefault((stored.point, stored.is_by_hand), []).append(stored.statement)
    own = [*change.after.get("placed", []), *groups_of(groups)]
    if any(count_at(analysis, point, keys, hand=hand) != len(keys) for point, hand, keys in own):
        raise EditRefused(_LATER)
    gone = [PlacementRow(*stored) for stored in change.before.get("dropped", [])]
    if not can_add(analysis, gone, own):
        raise EditRefused(_LATER)


def _reversed(change: PointChange) -> Edit:
    """Return the edit that undoes another edit."""
    before, after = change.before, change.after
    added = [PlacementRow(*stored) for stored in after.get("added", [])]
    return Edit(
        Verb.UNDONE,
        change.point,
        {int(pk): fields for pk, fields in before.get("points", {}).items()},
        dropped=[(row.point, row.statement) for row in added],
        moves=moves_back(before.get("placed", []), after.get("placed", [])),
        added=[PlacementRow(*stored) for stored in before.get("dropped", [])],
    )


def _change_points(
    analysis: Analysis, points: Mapping[int, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    before = {}
    rows = FoundPoint.objects.filter(analysis=analysis).in_bulk(list(points))
    for pk, fields in points.items():
        before[str(pk)] = {name: getattr(rows[pk], name) for name in fields}
        FoundPoint.objects.filter(pk=pk).update(**fields, revision=analysis.revision)
    return before


def _require_nothing_lost(touched: Collection[int]) -> None:
    rows = FoundPoint.objects.filter(pk__in=touched, statements__gt=0)
    lost = rows.exclude(state__in=FoundPoint.ALIVE).first()
    if lost is not None:
        raise EditRefused(
            _("This would remove “%s”, which still has statements. Move them first.") % lost.text
        )


def _told(analysis: Analysis, point: FoundPoint) -> str:
    change = analysis.changes.filter(revision=point.revision).select_related("actor").first()
    if change is None:
        return _("“%s” was changed in the meantime. Nothing was saved. Check and try again.") % (
            point.text
        )
    return _(
        "“%(text)s” was changed in the meantime (%(verb)s, %(name)s). Nothing was saved. Check "
        "and try again."
    ) % {
        "text": point.text,
        "verb": change.get_verb_display().lower(),
        "name": change.actor or _("automatic"),
    }


LONGEST_TEXT = 500
MOST_POINTS = 500
# Verb → the states from which it can start, and the resulting state.
STATES: dict[str, tuple[tuple[str, ...], str]] = {
    Verb.HIDDEN: ((State.SHOWN, State.PROPOSED), State.HIDDEN),
    Verb.SHOWN: ((State.HIDDEN,), State.SHOWN),
    Verb.TAKEN: ((State.PROPOSED,), State.SHOWN),
    Verb.DECLINED: ((State.PROPOSED,), State.REMOVED),
}


def rename_point(
    *, analysis: Analysis, actor: User, point: FoundPoint, text: str, seen: int
) -> PointChange:
    """Change the text of a key point.

    Here and in later functions, ``seen`` is the revision of the analysis that the person saw. If
    somebody has changed the key point since, that change is kept and EditConflict is raised.
    Raises EditRefused if the text is empty, too long, or in use.
    """
    with editing(analysis) as held:
        row = alive(held, [point], seen)[0]
        text = _free_text(held, text, but=row)
        return store(held, Edit(Verb.RENAMED, row, {row.pk: by_hand(row, text)}), actor)


def add_point(*, analysis: Analysis, actor: User, text: str) -> PointChange:
    """Add a hand-written key point without statements; raises EditRefused like `rename_point`."""
    with editing(analysis) as held:
        row = new_point(held, _free_text(held, text))
        return store(held, Edit(Verb.ADDED, row, {row.pk: {"state": State.SHOWN}}), actor)


def set_state(
    *, analysis: Analysis, actor: User, points: Sequence[FoundPoint], verb: str, seen: int
) -> PointChange:
    """Hide, show, accept or decline key points.

    Statements of declined key points then fit no key point.
    """
    _require_some(points)
    begins, ends = STATES[verb]
    with editing(analysis) as held:
        rows = alive(held, points, seen)
        for row in rows:
            _require_state(row, begins)
        moves = _moves(held, rows, None) if ends == State.REMOVED else []
        fields = {row.pk: {"state": ends} for row in rows}
        return store(held, Edit(verb, rows[0], fields, moves=moves), actor)


def take_proposed(
    *, analysis: Analysis, actor: User, seen: int, hides_found: bool = False
) -> PointChange:
    """Accept all proposed key points, and optionally hide shown ones not written by hand.

    Raises EditRefused if no key points, or too many, are proposed.
    """
    with editing(analysis) as held:
        rows = list(held.points.filter(state=State.PROPOSED).order_by("position"))
        gone = list(found_by_machine(held)) if hides_found else []
        _require_some(rows)
        _require_some([*rows, *gone])
        alive(held, [*rows, *gone], seen)
        fields = {row.pk: {"state": State.SHOWN} for row in rows}
        fields |= {row.pk: {"state": State.HIDDEN} for row in gone}
        return store(held, Edit(Verb.TAKEN, rows[0], fields), actor)


def found_by_machine(analysis: Analysis) -> QuerySet[FoundPoint]:
    """Return the shown key points that the program found and that nobody has renamed."""
    origins = [FoundPoint.Origin.FOUND, FoundPoint.Origin.PROPOSED]
    is_renamed = ~Q(text=F("written")) & Q(writer=None)
    return analysis.points.filter(state=State.SHOWN, origin__in=origins).exclude(is_renamed)


def merge_points(
    *,
    analysis: Analysis,
    actor: User,
    points: Sequence[FoundPoint],
    seen: int,
    into: FoundPoint | None = None,
    text: str = "",
) -> PointChange:
    """Merge several key points into one.

    The remaining key point is ``into`` or, by default, the one with the most comments. It is
    renamed to ``text`` unless that is empty.
    """
    chosen = list({point.pk: point for point in [*points, *([into] if into else [])]}.values())
    _require_some(chosen)
    if len(chosen) < 2:
        raise EditRefused(_("Choose at least two key points to merge."))
    with editing(analysis) as held:
        rows = alive(held, chosen, seen)
        largest = max(rows, key=lambda point: (point.comments, -point.position))
        target = next((row for row in rows if into and row.pk == into.pk), largest)
        gone = [row for row in rows if row.pk != target.pk]
        fields: dict[int, dict] = {
            point.pk: {"state": State.MERGED, "merged_into_id": target.pk} for point in gone
        }
        own: dict[str, Any] = (
            {"state": State.SHOWN} if any(row.state == State.SHOWN for row in rows) else {}
        )
        if text.strip():
            own |= by_hand(target, _free_text(held, text, but=target, gone=gone))
        if own:
            fields[target.pk] = own
        moves = _moves(held, gone, target)
        return store(held, Edit(Verb.MERGED, target, fields, moves=moves), actor)


def split_point(
    *,
    analysis: Analysis,
    actor: User,
    point: FoundPoint | None,
    statements: Sequence[int],
    text: str,
    seen: int,
) -> PointChange:
    """Make a new key point from statements of another key point, or from statements that fit none.

    Raises EditConflict if any of the statements has been moved.
    """
    if not statements:
        raise EditRefused(_("Choose at least one statement."))
    with editing(analysis) as held:
        row = alive(held, [point], seen)[0] if point else None
        require_at(held, row, statements)
        part = new_point(held, _free_text(held, text), row.theme if row else "")
        verb = Verb.SPLIT if row else Verb.ADDED
        moves = [Move(row.pk if row else None, part.pk, True, statements)]
        edit = Edit(verb, row or part, {part.pk: {"state": State.SHOWN}}, moves=moves)
        return store(held, edit, actor)


def move_statements(
    *,
    analysis: Analysis,
    actor: User,
    point: FoundPoint | None,
    statements: Sequence[int],
    to: FoundPoint | None,
    seen: int,
) -> PointChange:
    """Move statements to another key point, or to none. Later placements do not move them again.

    Raises EditConflict if any of the statements has been moved, or the key point has been changed.
    """
    if not statements:
        raise EditRefused(_("Choose at least one statement."))
    if (point.pk if point else None) == (to.pk if to else None):
        raise EditRefused(_("The statements are already there. Choose another key point."))
    with editing(analysis) as held:
        target = alive(held, [to], seen)[0] if to else None
        require_at(held, point, statements)
        source = point.pk if point else None
        moves = [Move(source, target.pk if target else None, True, statements)]
        return store(held, Edit(Verb.MOVED, target or point, moves=moves), actor)


def by_hand(point: FoundPoint, text: str) -> dict[str, Any]:
    """Return the fields to set when a person writes a key point's text, clearing its writer."""
    return {"text": text} | ({"writer_id": None} if point.writer_id else {})


def _moves(analysis: Analysis, rows: Sequence[FoundPoint], to: FoundPoint | None) -> list[Move]:
    """Return moves of all statements at the given key points; those placed by hand stay marked.

    Placements by hand come first, then sure ones, because only a statement's first move counts.
    """
    placed = Placement.objects.filter(analysis=analysis, point__in=[row.pk for row in rows])
    groups: dict[tuple[bool, bool, int | None], list[int]] = {}
    fields = ("is_by_hand", "is_sure", "point", "argument")
    best = placed.order_by("-is_by_hand", "-is_sure", "argument", "point")
    for hand, sure, point, key in best.values_list(*fields):
        groups.setdefault((hand, sure, point), []).append(key)
    target = to.pk if to else None
    return [Move(point, target, hand, keys) for (hand, _sure, point), keys in groups.items()]


def _free_text(
    analysis: Analysis,
    text: str,
    *,
    but: FoundPoint | None = None,
    gone: Sequence[FoundPoint] = (),
) -> str:
    """Return the text on one line; raises EditRefused if it is empty, too long or in use."""
    text = " ".join(text.split())
    if not text:
        raise EditRefused(_("Enter the text of the key point."))
    if len(text) > LONGEST_TEXT:
        raise EditRefused(_("A key point can have at most %d characters.") % LONGEST_TEXT)
    others = analysis.points.filter(text=text, state__in=FoundPoint.ALIVE)
    others = others.exclude(pk__in=[point.pk for point in (*([but] if but else []), *gone)])
    if others.exists():
        raise EditRefused(_("A key point with this text already exists. Merge the two instead."))
    return text


def _require_some(points: Sequence[FoundPoint]) -> None:
    if not points:
        raise EditRefused(_("Choose at least one key point."))
    if len(points) > MOST_POINTS:
        raise EditRefused(_("Too many key points at once. Choose at most %d.") % MOST_POINTS)
