"""Edits of an analysis in words, with names before and after."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models.fields.json import KeyTransform
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from argsum.analysis.methods.themes import cut
from argsum.analysis.models import FoundPoint, PointChange

Verb = PointChange.Verb
# Edits that change names, and undoing, which changes them back.
NAMING = (Verb.RENAMED, Verb.MERGED, Verb.SPLIT, Verb.THEMED, Verb.UNDONE)
# States before and after an edit of another key point that made this one.
MADE = (FoundPoint.State.REMOVED, FoundPoint.State.SHOWN)
# Lines below an edit; letters of a name.
MOST_LINES, LONGEST_NAME = 6, 120
# Changed fields of key points, by primary key.
Fields = Mapping[str, Mapping[str, Any]]


def name_changes(changes: Sequence[PointChange]) -> dict[int, list[str]]:
    """Map edits to what they renamed, merged, split or moved, in words; two queries.

    Statements are not read: an edit can have moved all of an analysis.
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
        elif (before.get("state"), fields.get("state")) == MADE and int(key) != point:
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
