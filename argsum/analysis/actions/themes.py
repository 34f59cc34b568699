"""Edit themes, and sign off the key points and themes shown."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils.translation import gettext as _, ngettext

from argsum.analysis.models import Analysis, FoundPoint, PointChange, SignOff
from argsum.analysis.reports.analyses import theme_names
from argsum.analysis.reports.history import digest_of, shown_points, sign_off_of
from argsum.analysis.reports.mentions import theme_counts
from cqa_site.people.models import User
from .analyses import record_work
from .edits import MOST_POINTS, Edit, EditConflict, EditRefused, alive, editing, store

LONGEST_THEME = 120
Verb = PointChange.Verb


def move_to_theme(
    *, analysis: Analysis, actor: User, points: Sequence[FoundPoint], theme: str, seen: int
) -> PointChange:
    """Move key points to a theme, which may be new. An empty name removes them from their themes.

    Names that differ only in case mean the same theme.

    Here and in later functions, ``seen`` is the revision of the analysis that the person saw.
    Raises EditConflict if a key point has been changed since, and EditRefused if nothing would
    change.
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
    """Merge themes under ``name`` or, by default, the name of the theme with the most comments."""
    if len(set(themes)) < 2:
        raise EditRefused(_("Choose at least two themes to merge."))
    with editing(analysis) as held:
        rows = _rows(held, themes, seen)
        counts = theme_counts(held)
        largest = max(themes, key=lambda own: counts[own].comments if own in counts else 0)
        target = _free(held, name, themes) if name.strip() else largest
        return store(held, _edit([row for row in rows if row.theme != target], target), actor)


def _rows(analysis: Analysis, themes: Sequence[str], seen: int) -> list[FoundPoint]:
    """Return the key points of themes, including merged and removed ones, most comments first."""
    # Not in a query, because the database refuses some characters, which no theme has.
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
    """Return a name on one line; raises EditRefused if another theme has it."""
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


def sign_off(*, analysis: Analysis, actor: User, seen: int) -> SignOff:
    """Sign off the key points shown, so that a language model can assign statements to them.

    ``seen`` is the revision of the analysis that the person saw.

    Raises
    ------
    EditConflict
        If key points have been edited since.
    EditRefused
        If no key points are shown, if any are still proposed, or if the key points shown are
        already signed off.
    """
    with editing(analysis) as held:
        if held.revision != seen:
            raise EditConflict(
                _("Key points were edited in the meantime. Review them, then sign off again.")
            )
        state = sign_off_of(held)
        if state.proposed:
            raise EditRefused(
                ngettext(
                    "%d key point is still proposed. Accept or decline it first.",
                    "%d key points are still proposed. Accept or decline them first.",
                    state.proposed,
                )
                % state.proposed
            )
        if not state.shown:
            raise EditRefused(_("There are no key points to sign off."))
        if state.is_valid:
            raise EditRefused(_("These key points are already signed off."))
        points = shown_points(held)
        signed = SignOff.objects.create(
            analysis=held, digest=digest_of(points), points=points, revision=seen, actor=actor
        )
        facts = {"key_points": len(points), "digest": signed.digest, "revision": seen}
        record_work(held, actor, "key_points_signed_off", **facts)
    return signed
