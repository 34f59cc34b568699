"""Subjects of a writing run's requests."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext

from argsum.datasets.models import Cell
from argsum.keypoints.models import SummarySet, WrittenPart
from cqa_site.people.models import Study
from cqa_site.runs.kinds import CallSubjects, RequestItem, Subject, Titles
from cqa_site.runs.models import Call, Run


class WritingCallKey(NamedTuple):
    """Keys of a subject: a cell of a system run, or clusters of one of its sets."""

    system_run: int
    cell: int
    summary_set: int = 0
    clusters: tuple[int, ...] = ()
    is_unfiltered: bool = False

    @classmethod
    def of(cls, ids: Sequence[int]) -> "WritingCallKey":
        """Read the keys from a request's row."""
        system_run, cell, summary_set, is_unfiltered, *clusters = ids
        return cls(system_run, cell, summary_set, tuple(clusters), bool(is_unfiltered))

    @property
    def subject(self) -> Subject:
        """Subject for the engine; its name is unique in a run."""
        ids = (self.system_run, self.cell, self.summary_set, int(self.is_unfiltered))
        name = f"s{self.summary_set}" if self.summary_set else f"c{self.cell}"
        if len(self.clusters) == 1:
            name += f"-{self.clusters[0]}"
        return Subject(name, (*ids, *self.clusters))


def _items(study: Study, calls: Sequence[Call]) -> dict[int, list[RequestItem | None]]:
    key = {call.pk: WritingCallKey.of(call.subject_ids) for call in calls}
    cells = Cell.objects.filter(dataset__study=study).in_bulk(
        {subject.cell for subject in key.values()}
    )
    sets = SummarySet.objects.filter(study=study).only("setting", "system", "public_id")
    summary_sets = sets.in_bulk({subject.summary_set for subject in key.values()})
    parts = WrittenPart.objects.filter(call__in=[call.pk for call in calls])
    replies = {part.call_id: part for part in parts}
    return {
        pk: [
            _item(
                cells.get(subject.cell),
                summary_sets.get(subject.summary_set),
                subject,
                replies.get(pk),
            )
        ]
        for pk, subject in key.items()
    }


def _item(
    cell: Cell | None,
    summary_set: SummarySet | None,
    key: WritingCallKey,
    part: WrittenPart | None,
) -> RequestItem | None:
    if cell is None:
        return None
    context = summary_set.setting if summary_set else ""
    if key.clusters:
        count = ngettext("%d cluster", "%d clusters", len(key.clusters)) % len(key.clusters)
        context = f"{context} · {count}"
    if part is None:
        return RequestItem(str(cell), context)
    value = ngettext("%d key point", "%d key points", len(part.texts)) % len(part.texts)
    if part.dropped:
        value += " · " + _("%d dropped") % part.dropped
    return RequestItem(
        str(cell), context, value if part.texts else "", _lines(part.texts), part.reason
    )


def _lines(texts: Mapping[str, str]) -> str:
    return "\n".join(texts[key] for key in sorted(texts, key=int))


def about(run: Run) -> str:
    """Return the label of the system run for which a run writes key points."""
    rows = run.study.system_runs.filter(public_id=run.spec["target"]["system_run"])
    return rows.values_list("label", flat=True).first() or ""


WRITING = CallSubjects(Titles(lazy("Cell"), lazy("Key points"), lazy("Text written")), _items)
