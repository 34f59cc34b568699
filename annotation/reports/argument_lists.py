"""Sentences and labels of numbered lists of arguments, many lists at a time."""

from collections.abc import Iterable, Iterator
from itertools import islice

from annotation.models import FinalLabel, ListedArgument
from cqa_site.people.models import Study

# Keys in one condition, well below what either database takes.
TOGETHER = 5_000


def numbered_texts(lists: Iterable[int]) -> dict[int, dict[int, str]]:
    """Key of a list → number → sentence, numbers ascending; an unknown list is empty."""
    found: dict[int, dict[int, str]] = {key: {} for key in lists}
    for row in _entries(found, "argument__text"):
        found[row[0]][row[1]] = row[2]
    return found


def numbered_labels(study: Study, lists: Iterable[int]) -> dict[int, dict[int, int | None]]:
    """Key of a list → number → final label, by the rule of `relevance_of`."""
    found: dict[int, dict[int, int | None]] = {key: {} for key in lists}
    rows = list(_entries(found, "argument"))
    labels = relevance_of(study, {row[2] for row in rows})
    for key, number, argument in rows:
        found[key][number] = labels[argument]
    return found


def _entries(lists: Iterable[int], field: str) -> Iterator[tuple]:
    for keys in _pieces(lists):
        entries = ListedArgument.objects.filter(argument_list__in=keys)
        ordered = entries.order_by("argument_list", "number")
        yield from ordered.values_list("argument_list_id", "number", field)


def relevance_of(study: Study, argument_pks: Iterable[int]) -> dict[int, int | None]:
    """Argument → its final label, None where no campaign settled one.

    Several campaigns may have settled the same argument: the one made last
    that has a label for it wins, whatever the label's provenance.
    """
    found: dict[int, int | None] = dict.fromkeys(argument_pks)
    for keys in _pieces(found):
        settled = FinalLabel.objects.filter(
            campaign__study=study, argument__in=keys, label__isnull=False
        )
        oldest_first = settled.order_by("campaign__created_at", "campaign_id")
        found |= dict(oldest_first.values_list("argument_id", "label"))
    return found


def _pieces(keys: Iterable[int]) -> Iterator[list[int]]:
    stream = iter(list(keys))
    while piece := list(islice(stream, TOGETHER)):
        yield piece
