"""Edits of themes: move key points to another theme, rename a theme, merge themes."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils.translation import gettext as _

from argsum.analysis.models import Analysis, FoundPoint, PointChange
from argsum.analysis.reports.analyses import theme_names
from argsum.analysis.reports.mentions import theme_counts
from cqa_site.people.models import User

from .edits import MOST_POINTS, Edit, EditConflict, EditRefused, alive, editing, store

LONGEST_THEME = 120
Verb = PointChange.Verb


def move_to_theme(
    *, analysis: Analysis, actor: User, points: Sequence[FoundPoint], theme: str, seen: int
) -> PointChange:
    """Put key points into a theme, which may be new; an empty name takes them out of theirs.

    A name that differs from that of a theme only in case is that theme.

    ``seen`` is the revision of the analysis that the person looked at, here and below. Raises
    EditConflict if a key point was changed since then, EditRefused if nothing would change.
    """
    if not 0 < len(points) <= MOST_POINTS:
        raise EditRefused(_("Choose 1 to %d key points.") % MOST_POINTS)
    with editing(analysis) as held:
        name = _clean(theme) if theme.strip() else ""
        name = {own.casefold(): own for own in theme_names(held)}.get(name.casefold(), name)
        rows = [row for row in alive(held, points, seen) if row.theme != name]
        if not rows:
            raise EditRefused(_("The key points are already there. Choose another theme."))
        return store(held, _edit(rows, name), actor)


def rename_theme(
    *, analysis: Analysis, actor: User, theme: str, name: str, seen: int
) -> PointChange:
    """Change the name of a theme; raises EditRefused if it is empty, too long or in use."""
    with editing(analysis) as held:
        rows = _rows(held, [theme], seen)
        return store(held, _edit(rows, _free(held, name, [theme])), actor)


def merge_themes(
    *, analysis: Analysis, actor: User, themes: Sequence[str], seen: int, name: str = ""
) -> PointChange:
    """Make several themes one, called ``name``, or else like the one with the most comments."""
    if len(set(themes)) < 2:
        raise EditRefused(_("Choose at least two themes to merge."))
    with editing(analysis) as held:
        rows = _rows(held, themes, seen)
        counts = theme_counts(held)
        largest = max(themes, key=lambda own: counts[own].comments if own in counts else 0)
        target = _free(held, name, themes) if name.strip() else largest
        return store(held, _edit([row for row in rows if row.theme != target], target), actor)


def _rows(analysis: Analysis, themes: Sequence[str], seen: int) -> list[FoundPoint]:
    """Return the key points of themes, also merged and removed ones, most comments first."""
    # Not by the database, which refuses characters that no theme has.
    every = analysis.points.order_by("-comments", "position")
    rows = [row for row in every if row.theme in set(themes)]
    gone = {theme for theme in themes if not theme} | set(themes) - {row.theme for row in rows}
    if gone:
        raise EditConflict(
            _("There is no theme “%s”. It may have been renamed or merged in the meantime.")
            % min(gone)
        )
    alive(analysis, [row for row in rows if row.state in FoundPoint.ALIVE], seen)
    return rows


def _edit(rows: Sequence[FoundPoint], name: str) -> Edit:
    fields: dict[int, dict[str, Any]] = {row.pk: {"theme": name} for row in rows}
    return Edit(Verb.THEMED, rows[0], fields)


def _free(analysis: Analysis, name: str, but: Iterable[str]) -> str:
    """Return a name on one line; raises EditRefused if another theme on the page has it."""
    name = _clean(name)
    others = analysis.points.filter(state=FoundPoint.State.SHOWN).exclude(theme__in=but)
    if name.casefold() in map(str.casefold, others.values_list("theme", flat=True)):
        raise EditRefused(_("A theme with this name already exists. Merge the two instead."))
    return name


def _clean(name: str) -> str:
    name = " ".join(name.split())
    if not name:
        raise EditRefused(_("Enter the name of the theme."))
    if len(name) > LONGEST_THEME:
        raise EditRefused(_("A theme's name can have at most %d characters.") % LONGEST_THEME)
    return name
