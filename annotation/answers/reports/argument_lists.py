"""Sentences and labels of numbered lists of arguments, many lists at a time."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext

from annotation.answers.methods.conditions import NEWEST
from annotation.consensus.models import FinalLabel
from annotation.consensus.reports import label_source
from annotation.corpus.models.questions import ListedArgument
from annotation.labelling.models.campaigns import Campaign, campaigns_of
from cqa_site.people.models import Study

# Keys in one condition, well below what either database takes.
TOGETHER = 5_000


def numbered_texts(lists: Iterable[int | None]) -> dict[int | None, dict[int, str]]:
    """Key of a list → number → sentence, numbers ascending; an unknown list is empty."""
    found: dict[int | None, dict[int, str]] = {key: {} for key in lists}
    for row in _entries(found, "argument__text"):
        found[row[0]][row[1]] = row[2]
    return found


def numbered_labels(
    study: Study, lists: Iterable[int | None], whose: str = ""
) -> dict[int | None, dict[int, int | None]]:
    """Key of a list → number → final label, by the rule of `relevance_of`."""
    found: dict[int | None, dict[int, int | None]] = {key: {} for key in lists}
    rows = list(_entries(found, "argument"))
    labels = relevance_of(study, {row[2] for row in rows}, whose)
    for key, number, argument in rows:
        found[key][number] = labels[argument]
    return found


def _entries(lists: Iterable[int | None], field: str) -> Iterator[tuple]:
    for keys in _pieces(lists):
        entries = ListedArgument.objects.filter(argument_list__in=keys)
        ordered = entries.order_by("argument_list", "number")
        yield from ordered.values_list("argument_list_id", "number", field)


def relevance_of(
    study: Study, argument_pks: Iterable[int], whose: str = ""
) -> dict[int, int | None]:
    """Argument → its final label, None where there is none.

    ``whose`` is the public id of a campaign: its final labels alone; or `NEWEST`: of several
    campaigns that settled an argument, the one made last wins, whatever the label's provenance.
    Empty means what the study chose.
    """
    found: dict[int, int | None] = dict.fromkeys(argument_pks)
    campaigns = _campaigns(study, whose) if found else {}
    for keys in _pieces(found):
        settled = FinalLabel.objects.filter(argument__in=keys, label__isnull=False, **campaigns)
        oldest_first = settled.order_by("campaign__created_at", "campaign_id")
        found |= dict(oldest_first.values_list("argument_id", "label"))
    return found


def whose_labels(study: Study, whose: str = "") -> str:
    """The id of a campaign or `NEWEST`; for an empty choice, what the study's is now."""
    source = None if whose else label_source(study)
    return whose or (str(source.public_id) if source else NEWEST)


def labels_name(study: Study, whose: str = "") -> str:
    """Whose labels those are, in words."""
    found = whose_labels(study, whose)
    if found == NEWEST:
        return gettext("each sentence's newest")
    return campaigns_of(study).values_list("name", flat=True).get(public_id=found)


def labelled_campaigns(study: Study) -> QuerySet[Campaign]:
    """The campaigns of a study that have final labels, by name."""
    labels = FinalLabel.objects.filter(campaign=OuterRef("pk"), label__isnull=False)
    return campaigns_of(study).filter(Exists(labels)).order_by("name")


def _campaigns(study: Study, whose: str) -> dict[str, object]:
    """Which final labels count, as lookups."""
    if whose and whose != NEWEST:
        return {"campaign__study": study, "campaign__public_id": whose}
    source = None if whose else label_source(study)
    return {"campaign": source} if source else {"campaign__study": study}


def _pieces(keys: Iterable[int | None]) -> Iterator[list[Any]]:
    stream = iter(list(keys))
    while piece := list(islice(stream, TOGETHER)):
        yield piece
