"""Proposals of key points by a language model: requests in words, and the list of a run."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from argsum.analysis.models import FoundPoint
from argsum.coding.models import ProposedList
from argsum.datasets.models import CellArgument
from cqa_site.people.models import Study
from cqa_site.runs.kinds import CallSubjects, RequestItem, Titles
from cqa_site.runs.models import Call, Run

from .keys import ListKey

EXAMPLES = 3


@dataclass(frozen=True)
class ProposedEntry:
    """One key point of the final list, with statements that it was drawn from.

    ``point`` is the resulting key point; None if one with the same text already existed.
    """

    theme: str
    text: str
    examples: Sequence[str]
    point: FoundPoint | None


@dataclass(frozen=True)
class ProposalOutcome:
    """Lists of a run: how many requests read statements and how many merged, and the result."""

    read: int
    merged: int
    unusable: int
    entries: Sequence[ProposedEntry]


def proposal_of(run: Run) -> ProposalOutcome:
    """Return the outcome of a run; five queries."""
    rows = list(run.proposed_lists.order_by("pk").defer("dropped"))
    usable = [row for row in rows if not row.reason]
    return ProposalOutcome(
        read=sum(not row.step for row in usable),
        merged=sum(bool(row.step) for row in usable),
        unusable=len(rows) - len(usable),
        entries=_entries(final) if (final := _final(rows)) else [],
    )


def _final(rows: Sequence[ProposedList]) -> ProposedList | None:
    """Return the proposed list, even if it has nothing new; None if there is none."""
    proposed = [row for row in rows if row.change_id is not None]
    last = [row for row in rows if row.step == max(row.step for row in rows)]
    if proposed or len(last) != 1 or last[0].reason:
        return proposed[-1] if proposed else None
    return last[0]


def _entries(final: ProposedList) -> list[ProposedEntry]:
    wanted = [pk for _theme, _text, own in final.entries for pk in own[:EXAMPLES]]
    texts = dict(CellArgument.objects.filter(pk__in=wanted).values_list("pk", "text"))
    made = FoundPoint.objects.filter(
        analysis__changes=final.change_id, origin=FoundPoint.Origin.MODEL
    )
    points = {point.written: point for point in made.order_by("pk")}
    return [
        ProposedEntry(
            theme,
            text,
            [texts[pk] for pk in sources[:EXAMPLES] if pk in texts],
            points.get(text),
        )
        for theme, text, sources in final.entries
    ]


def _items(study: Study, calls: Sequence[Call]) -> dict[int, list[RequestItem | None]]:
    rows = ProposedList.objects.filter(call__in=[call.pk for call in calls])
    lists = {row.call_id: row for row in rows}
    return {call.pk: [_item(call, lists.get(call.pk))] for call in calls}


def _item(call: Call, row: ProposedList | None) -> RequestItem:
    key = ListKey.of(call.subject_ids)
    if key.step:
        text = ngettext("%d list merged", "%d lists merged", len(key.sources)) % len(key.sources)
    else:
        text = ngettext("%d statement read", "%d statements read", key.records) % key.records
    context = _("step %d") % (key.step + 1)
    if row is None:
        return RequestItem(text, context)
    value = " · ".join(entry for _theme, entry, _sources in row.entries)
    dropped = ngettext("%d entry left out", "%d entries left out", row.dropped) % row.dropped
    return RequestItem(text, context, value, dropped if row.dropped else "", row.reason)


PROPOSAL_CALLS = CallSubjects(
    Titles(lazy("Request"), lazy("Key points proposed"), lazy("Note")), _items
)
