"""What people do with key points: rename, merge, split, hide, add, move, take, decline."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from argsum.analysis.models import Analysis, FoundPoint, Placement, PointChange
from cqa_site.people.models import User

from .edits import Edit, EditRefused, Group, alive, editing, new_point, require_at, store

State, Verb = FoundPoint.State, PointChange.Verb
LONGEST_TEXT = 500
MOST_POINTS = 500
# Verb → the states it starts from, and the one it leads to.
STATES: dict[str, tuple[tuple[str, ...], str]] = {
    Verb.HIDDEN: ((State.SHOWN, State.PROPOSED), State.HIDDEN),
    Verb.SHOWN: ((State.HIDDEN,), State.SHOWN),
    Verb.TAKEN: ((State.PROPOSED,), State.SHOWN),
    Verb.DECLINED: ((State.PROPOSED,), State.REMOVED),
}


def rename_point(
    *, analysis: Analysis, actor: User, point: FoundPoint, text: str, seen: int
) -> PointChange:
    """Call a key point something else.

    ``seen`` is the revision of the analysis that the person looked at, here and below; whoever
    changed the key point since then wins, and EditConflict says so. Raises EditRefused for a
    text that is empty, too long, or another key point's.
    """
    with editing(analysis) as held:
        row = alive(held, [point], seen)[0]
        text = _free_text(held, text, but=row)
        return store(held, Edit(Verb.RENAMED, row, {row.pk: by_hand(row, text)}), actor)


def add_point(*, analysis: Analysis, actor: User, text: str) -> PointChange:
    """A key point written by hand, with no statement yet; raises EditRefused as `rename_point`."""
    with editing(analysis) as held:
        row = new_point(held, _free_text(held, text))
        return store(held, Edit(Verb.ADDED, row, {row.pk: {"state": State.SHOWN}}), actor)


def set_state(
    *, analysis: Analysis, actor: User, points: Sequence[FoundPoint], verb: str, seen: int
) -> PointChange:
    """Hide, show again, take or decline key points; statements of declined ones fit none then."""
    _require_some(points)
    begins, ends = STATES[verb]
    with editing(analysis) as held:
        rows = alive(held, points, seen)
        for row in rows:
            if row.state not in begins:
                raise EditRefused(
                    _("“%(text)s” is %(state)s.")
                    % {"text": row.text, "state": row.get_state_display().lower()}
                )
        placed = _at(held, rows, None) if ends == State.REMOVED else []
        fields = {row.pk: {"state": ends} for row in rows}
        return store(held, Edit(verb, rows[0], fields, placed), actor)


def merge_points(
    *,
    analysis: Analysis,
    actor: User,
    points: Sequence[FoundPoint],
    seen: int,
    into: FoundPoint | None = None,
    text: str = "",
) -> PointChange:
    """Make several key points one.

    The one that stays is ``into``, or else the one with most comments; it is called ``text``
    then, unless that is empty.
    """
    chosen = list({each.pk: each for each in [*points, *([into] if into else [])]}.values())
    _require_some(chosen)
    if len(chosen) < 2:
        raise EditRefused(_("Choose at least two key points to merge."))
    with editing(analysis) as held:
        rows = alive(held, chosen, seen)
        largest = max(rows, key=lambda each: (each.comments, -each.position))
        target = next((each for each in rows if into and each.pk == into.pk), largest)
        gone = [each for each in rows if each.pk != target.pk]
        fields: dict[int, dict] = {
            each.pk: {"state": State.MERGED, "merged_into_id": target.pk} for each in gone
        }
        own: dict[str, Any] = (
            {"state": State.SHOWN} if any(each.state == State.SHOWN for each in rows) else {}
        )
        if text.strip():
            own |= by_hand(target, _free_text(held, text, but=target, gone=gone))
        if own:
            fields[target.pk] = own
        return store(held, Edit(Verb.MERGED, target, fields, _at(held, gone, target)), actor)


def split_point(
    *,
    analysis: Analysis,
    actor: User,
    point: FoundPoint | None,
    statements: Sequence[int],
    text: str,
    seen: int,
) -> PointChange:
    """Make a key point of statements of another one, or of some that fit none.

    Raises EditConflict if one of them is elsewhere by now.
    """
    if not statements:
        raise EditRefused(_("Choose at least one statement."))
    with editing(analysis) as held:
        row = alive(held, [point], seen)[0] if point else None
        require_at(held, row, statements)
        made = new_point(held, _free_text(held, text))
        verb = Verb.SPLIT if row else Verb.ADDED
        groups: list[Group] = [(made.pk, True, statements)]
        edit = Edit(verb, row or made, {made.pk: {"state": State.SHOWN}}, groups)
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
    """Put statements behind another key point, or behind none; they stay there.

    Raises EditConflict if one of them is elsewhere by now, or the key point was changed.
    """
    if not statements:
        raise EditRefused(_("Choose at least one statement."))
    if (point.pk if point else None) == (to.pk if to else None):
        raise EditRefused(_("They are there already: choose another key point."))
    with editing(analysis) as held:
        target = alive(held, [to], seen)[0] if to else None
        require_at(held, point, statements)
        groups: list[Group] = [(target.pk if target else None, True, statements)]
        return store(held, Edit(Verb.MOVED, target or point, {}, groups), actor)


def by_hand(point: FoundPoint, text: str) -> dict[str, Any]:
    """The fields of a key point that a person calls something; no language model wrote that."""
    return {"text": text} | ({"writer_id": None} if point.writer_id else {})


def _at(analysis: Analysis, rows: Sequence[FoundPoint], to: FoundPoint | None) -> list[Group]:
    """All statements behind some key points as groups that go elsewhere as they are."""
    placed = Placement.objects.filter(analysis=analysis, point__in=[each.pk for each in rows])
    groups: list[Group] = []
    for hand in (False, True):
        keys = list(placed.filter(is_by_hand=hand).values_list("argument", flat=True))
        if keys:
            groups.append((to.pk if to else None, hand, sorted(keys)))
    return groups


def _free_text(
    analysis: Analysis,
    text: str,
    *,
    but: FoundPoint | None = None,
    gone: Sequence[FoundPoint] = (),
) -> str:
    """The text on one line; raises EditRefused if it is empty, too long, or another one's."""
    text = " ".join(text.split())
    if not text:
        raise EditRefused(_("Write what the key point says."))
    if len(text) > LONGEST_TEXT:
        raise EditRefused(_("A key point has at most %d characters.") % LONGEST_TEXT)
    others = analysis.points.filter(text=text, state__in=FoundPoint.ALIVE)
    others = others.exclude(pk__in=[each.pk for each in (*([but] if but else []), *gone)])
    if others.exists():
        raise EditRefused(_("There is a key point of this text: merge the two instead."))
    return text


def _require_some(points: Sequence[FoundPoint]) -> None:
    if not points:
        raise EditRefused(_("Choose at least one key point."))
    if len(points) > MOST_POINTS:
        raise EditRefused(_("Too many key points at once: choose at most %d.") % MOST_POINTS)
