"""What the requests of a counting run are about."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext_lazy as lazy

from argsum.metrics.models import CountReply
from cqa_site.people.models import Study
from cqa_site.runs.kind_parts import CallSubjects, Item, Titles
from cqa_site.runs.models import Call


def _items(study: Study, calls: Sequence[Call]) -> dict[int, list[Item | None]]:
    keys = {call.pk: call.subject_ids[0] for call in calls}
    rows = study.summary_sets.select_related("cell").only("system", "setting", "cell")
    sets = rows.in_bulk(set(keys.values()))
    replies = CountReply.objects.filter(call__in=list(keys))
    said = {row.call_id: row for row in replies}
    return {pk: [_item(sets.get(key), said.get(pk))] for pk, key in keys.items()}


def _item(made: Any, row: CountReply | None) -> Item | None:
    if made is None:
        return None
    context = f"{made.system} · {made.setting}" if made.setting else made.system
    if row is None:
        return Item(str(made.cell), context)
    value = "" if row.count is None else f"{row.count:g}"
    return Item(str(made.cell), context, value, "", row.reason)


COUNTING = CallSubjects(Titles(lazy("Cell and set"), lazy("Count"), lazy("Note")), _items)
