"""Describe edits and sign-offs of an analysis in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count
from django.db.models.fields.json import KeyTransform
from django.utils.formats import date_format
from django.utils.translation import gettext as _, ngettext

from argsum.analysis.methods.themes import cut
from argsum.analysis.models import Analysis, FoundPoint, PointChange, SignOff
from cqa_site.judging.chat import digest

Verb = PointChange.Verb
# Edits that change names, and undo edits.
NAMING = (Verb.RENAMED, Verb.MERGED, Verb.SPLIT, Verb.THEMED, Verb.UNDONE)
# States of a key point before and after the edit that created it from another.
RESTORED_STATES = (FoundPoint.State.REMOVED, FoundPoint.State.SHOWN)
# Maximum numbers of lines below an edit, and of characters in a name.
MOST_LINES, LONGEST_NAME = 6, 120
# Changed fields of key points, by primary key.
Fields = Mapping[str, Mapping[str, Any]]


def name_changes(changes: Sequence[PointChange]) -> dict[int, list[str]]:
    """Map edits to descriptions of what they renamed, merged, split or moved.

    This takes two queries. Statements are not read, because an edit may have moved all statements
    of an analysis.
    """
    naming = [change.pk for change in changes if change.verb in NAMING]
    rows = PointChange.objects.filter(pk__in=naming).annotate(
        old=KeyTransform("points", "before"), new=KeyTransform("points", "after")
    )
    edits = list(rows.order_by().values_list("pk", "point", "old", "new"))
    keys = {int(key) for _pk, _point, _old, new in edits for key in new or {}}
    texts = dict(FoundPoint.objects.filter(pk__in=keys).values_list("pk", "text"))
    return {pk: _in_words(point, old or {}, new or {}, texts) for pk, point, old, new in edits}


def _in_words(point: int | None, old: Fields, new: Fields, texts: Mapping[int, str]) -> list[str]:
    lines = _theme_lines(old, new)
    for key, fields in new.items():
        before, name = old.get(key, {}), texts.get(int(key), "")
        if "text" in fields and fields["text"] != before.get("text"):
            lines.append(f"{_quoted(before.get('text', ''))} → {_quoted(fields['text'])}")
        if fields.get("merged_into_id"):
            lines.append(_("merged: %s") % _quoted(name))
        elif before.get("merged_into_id"):
            lines.append(_("separate again: %s") % _quoted(name))
        elif (before.get("state"), fields.get("state")) == RESTORED_STATES and int(key) != point:
            lines.append(_("new key point: %s") % _quoted(name))
    if len(lines) <= MOST_LINES:
        return lines
    more = len(lines) - MOST_LINES
    rest = ngettext("and %s more change", "and %s more changes", more) % f"{more:,}"
    return [*lines[:MOST_LINES], rest]


def _theme_lines(old: Fields, new: Fields) -> list[str]:
    """Return a line for each pair of themes between which key points moved."""
    numbers: dict[tuple[str, str], int] = {}
    for key, fields in new.items():
        if "theme" in fields and (before := old.get(key, {}).get("theme", "")) != fields["theme"]:
            pair = (before, fields["theme"])
            numbers[pair] = numbers.get(pair, 0) + 1
    return [
        ngettext(
            "%(n)d key point: theme %(old)s → %(new)s",
            "%(n)d key points: theme %(old)s → %(new)s",
            n,
        )
        % {"n": n, "old": _theme(before), "new": _theme(after)}
        for (before, after), n in numbers.items()
    ]


def _theme(name: str) -> str:
    return _quoted(name) if name else _("none")


def _quoted(text: str) -> str:
    return f"“{cut(text, LONGEST_NAME)}”"


# Sign-offs: who approved the key points shown, and whether they are still the same.

State = FoundPoint.State


@dataclass(frozen=True)
class SignOffState:
    """The newest sign-off of an analysis, and whether it is still valid.

    ``shown`` and ``proposed`` are the current counts of key points in these states.
    """

    newest: SignOff | None
    is_valid: bool
    shown: int
    proposed: int

    @property
    def is_due(self) -> bool:
        """Whether a person can sign off now."""
        return not self.is_valid and bool(self.shown) and not self.proposed


def shown_points(analysis: Analysis) -> list[list[Any]]:
    """Return the content of a sign-off: primary key, text and theme of each key point shown."""
    rows = analysis.points.filter(state=State.SHOWN).order_by("position")
    return [list(row) for row in rows.values_list("pk", "text", "theme")]


def digest_of(points: list[list[Any]]) -> str:
    """Return the hexadecimal SHA-256 of key points as `shown_points` returns them."""
    return digest({"points": points})


def sign_off_of(analysis: Analysis) -> SignOffState:
    """Return the state of the sign-off, using three queries."""
    newest = analysis.sign_offs.select_related("actor").first()
    rows = analysis.points.filter(state__in=[State.SHOWN, State.PROPOSED]).order_by()
    numbers = dict(rows.values_list("state").annotate(n=Count("pk")))
    is_valid = newest is not None and newest.digest == digest_of(shown_points(analysis))
    shown, proposed = numbers.get(State.SHOWN, 0), numbers.get(State.PROPOSED, 0)
    return SignOffState(newest, is_valid, shown, proposed)


def sign_off_in_words(state: SignOffState) -> str:
    """Return who signed off, when, and whether key points have changed since, or ""."""
    if state.newest is None:
        return ""
    values = {"name": state.newest.actor, "day": date_format(state.newest.at, "Y-m-d H:i")}
    if state.is_valid:
        return _("Signed off by %(name)s on %(day)s UTC") % values
    return _("Changed since sign-off by %(name)s on %(day)s UTC: sign off again") % values
