"""Count, list and compare near-duplicate comments."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Any

from django.db.models import BigIntegerField, Case, Count, F, Q, QuerySet, When
from django.utils.translation import gettext as _, gettext_lazy, ngettext

from argsum.analysis.models import Analysis
from argsum.datasets.models import Cell, NearDuplicate, NearDuplicateGroup

# Units: every comment, or near-duplicates once. Used in URLs, columns and cache keys.
COMMENTS, VOICES = UNITS = ("comments", "voices")


VOICES_RECIPE = gettext_lazy(
    "Unit: distinct voices. Near-duplicate comments, such as copies of a form "
    "letter, count as one voice, which mentions everything that any of them "
    "mentions."
)

BANDS_RECIPE = gettext_lazy("Statements with a weaker match (“perhaps”) count like all others.")


def copies_note(analysis: Analysis, unit: str) -> str:
    """Return a note on how tests treat near-duplicates, or "" if near-duplicates count once."""
    if unit == VOICES or analysis.voices == analysis.comments:
        return ""
    return _(
        "The tests treat near-duplicate comments as independent, so they find "
        "differences too often. Count distinct voices instead."
    )


def unit_of(wanted: str | None) -> str:
    """Return the unit in a URL query, by default comments."""
    return VOICES if wanted == VOICES else COMMENTS


def counted_in_words(number: int, unit: str) -> str:
    """Return a number of comments or voices as text, with the noun."""
    if unit == VOICES:
        return ngettext("%s distinct voice", "%s distinct voices", number) % f"{number:,}"
    return ngettext("%s comment", "%s comments", number) % f"{number:,}"


def mentions_in_words(number: int, sure: int, unit: str) -> str:
    """Return, as text, how many comments or voices make a point, and how many more may make it."""
    if number == sure:
        return counted_in_words(number, unit)
    if not sure:
        return _("perhaps %s") % counted_in_words(number, unit)
    more = number - sure
    perhaps = ngettext("perhaps %s more", "perhaps %s more", more) % f"{more:,}"
    return f"{counted_in_words(sure, unit)}, {perhaps}"


def sure_of(analysis: Analysis, counts: Any, unit: str) -> int:
    """Return the number of comments or voices with a sure statement, or all if there are no bands.

    ``counts`` is a key point or its `PointCounts`.
    """
    return int(getattr(counts, f"sure_{unit}" if analysis.has_bands else unit))


def both_in_words(analysis: Analysis, counts: Any, unit: str = COMMENTS) -> str:
    """Return, as text, how many comments and, if fewer, how many voices mention a key point.

    The unit comes first. ``counts`` is a key point or its `PointCounts`.
    """
    units = UNITS if unit == COMMENTS else UNITS[::-1]
    words = [
        mentions_in_words(getattr(counts, name), sure_of(analysis, counts, name), name)
        for name in units
    ]
    return words[0] if counts.voices == counts.comments else " / ".join(words)


def voice_of(path: str = "") -> Case:
    """Return the voice of a comment: its group's number, or its own number if it is ungrouped.

    ``path`` is the lookup path to the comment, ending in two underscores. Group numbers are
    negative.
    """
    return Case(
        When(**{f"{path}duplicate__is_out": False, "then": 0 - F(f"{path}duplicate__group")}),
        default=F(f"{path}pk"),
        output_field=BigIntegerField(),
    )


def has_duplicates(cell: Cell) -> bool:
    """Return whether any comments of a cell count as one voice."""
    return NearDuplicate.objects.filter(group__cell=cell, is_out=False).exists()


def voices_of(cell: Cell, comments: int) -> int:
    """Return the number of distinct voices among the first comments of a cell, using one query."""
    rows = NearDuplicate.objects.filter(
        group__cell=cell, is_out=False, comment__position__lte=comments
    )
    counted = rows.aggregate(n=Count("pk"), groups=Count("group", distinct=True))
    return comments - counted["n"] + counted["groups"]


def voices_by_comment(analysis: Analysis) -> dict[int, int]:
    """Map grouped comments to the negative numbers of their voices, using one query."""
    rows = NearDuplicate.objects.filter(group__cell=analysis.cell_id, is_out=False)
    return {comment: -group for comment, group in rows.values_list("comment", "group")}


# Number of words around a change. Longer equal passages are shortened.
AROUND = 6
# Maximum number of characters to compare, and those kept at the end of an equal beginning.
LONGEST, EQUAL = 4_000, 200
_WORD = re.compile(r"\s+|\w+|[^\w\s]")


@dataclass(frozen=True)
class Variation:
    """A near-duplicate and how it differs from the centre.

    ``parts`` are pieces of text, each "same", "removed", "added" or "gap". There are none if the
    texts are identical.
    """

    row: NearDuplicate
    parts: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class DuplicateGroupRow:
    """A group (see `groups_of`) with some of its variations."""

    group: NearDuplicateGroup
    variations: Sequence[Variation]


def groups_of(cell: Cell) -> QuerySet[NearDuplicateGroup]:
    """Return the groups of a cell with their comment counts, largest first."""
    is_in = Q(members__is_out=False)
    rows = cell.duplicate_groups.select_related("centre")
    rows = rows.annotate(out=Count("members", filter=~is_in))
    counted = rows.annotate(comments=Count("members", filter=is_in))
    return counted.order_by("is_undone", "-comments", "pk")


def group_rows(groups: Sequence[Any], most: int) -> list[DuplicateGroupRow]:
    """Return groups with up to ``most`` of their most different variations.

    This takes one query per group.
    """
    rows = []
    for group in groups:
        differing = members_of(group).exclude(comment__text=group.centre.text)[:most]
        rows.append(DuplicateGroupRow(group, compared(group, list(differing))))
    return rows


def members_of(group: NearDuplicateGroup) -> QuerySet[NearDuplicate]:
    """Return the near-duplicates in a group without its centre, the most different first."""
    rows = group.members.exclude(comment=group.centre_id).select_related("comment")
    return rows.order_by("shared", "comment__position")


def compared(group: NearDuplicateGroup, rows: Sequence[NearDuplicate]) -> list[Variation]:
    """Return near-duplicates with their differences from the centre of the group."""
    return [Variation(row, changes(group.centre.text, row.comment.text)) for row in rows]


def changes(before: str, after: str) -> list[tuple[str, str]]:
    """Return the differences between two texts, by word; empty if they are identical.

    Examples
    --------
    >>> changes("we ask you", "we beg you")
    [('we ', 'same'), ('ask', 'removed'), ('beg', 'added'), (' you', 'same')]
    >>> changes("last winter", "this year")
    [('last winter', 'removed'), ('this year', 'added')]
    """
    same = next((at for at, (x, y) in enumerate(zip_longest(before, after)) if x != y), 0)
    begin = before.rfind(" ", 0, max(0, same - EQUAL)) + 1
    old, new = (_WORD.findall(text[begin : begin + LONGEST]) for text in (before, after))
    parts: list[tuple[str, str]] = []
    removed = added = ""
    matcher = SequenceMatcher(str.isspace, old, new, autojunk=False)
    for tag, i1, i2, j1, j2 in [*matcher.get_opcodes(), ("end", 0, 0, 0, 0)]:
        before, after = "".join(old[i1:i2]), "".join(new[j1:j2])
        # A space between two changes is part of the change.
        if tag in ("equal", "end") and (before.strip() or tag == "end" or not removed + added):
            parts += [pair for pair in ((removed, "removed"), (added, "added")) if pair[0]]
            removed = added = ""
            ends = (i2, j2) == (len(old), len(new))
            parts += _shortened(old[i1:i2], is_first=(i1, j1) == (0, 0), is_last=ends)
        else:
            removed, added = removed + before, added + after
    if all(mark in ("same", "gap") for _text, mark in parts):
        return []
    return [*([("…", "gap")] if begin and parts[0][1] != "gap" else []), *parts]


def _shortened(words: Sequence[str], *, is_first: bool, is_last: bool) -> list[tuple[str, str]]:
    """Return an unchanged passage, reduced to the words next to changes."""
    start, end = (0 if is_first else 2 * AROUND), (0 if is_last else 2 * AROUND)
    if len(words) <= start + end + AROUND:
        return [("".join(words), "same")] if words else []
    first = [("".join(words[:start]), "same")] if start else []
    last = [("".join(words[len(words) - end :]), "same")] if end else []
    return [*first, ("…", "gap"), *last]


def uncompared(cell: Cell) -> int:
    """Return the number of comments not yet compared for near-duplicates."""
    return cell.comments.filter(position__gt=cell.compared_until or 0).order_by().count()
