"""Items of imported campaigns: the argument behind an id, and its known label."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Max
from django.utils.translation import gettext as _

from annotation.labelling.models.campaigns import Item

from ..actions.rows import ArgumentEntry, ItemKey, Unit, item_of, unit_of

if TYPE_CHECKING:
    from ..actions.reconcile import StudyReconciliation


@dataclass(frozen=True, slots=True)
class KnownItem:
    """An item as the file first named it; ``pk`` is None while not written."""

    pk: int | None
    unit: Unit
    control_label: int | None


class ItemBook:
    """Items named by the file, by campaign name and item id."""

    def __init__(self, work: "StudyReconciliation") -> None:
        self.work = work
        self.known: dict[ItemKey, KnownItem] = {}
        self._next_rank: dict[str, int] = {}

    def take(self, entries: list[ArgumentEntry]) -> list[ArgumentEntry]:
        """Compare or make the items of a piece; give back the entries that fit theirs."""
        keyed = [(item_of(entry), entry) for entry in entries]
        fresh: dict[ItemKey, ArgumentEntry] = {}
        for key, entry in keyed:
            if key not in self.known:
                fresh.setdefault(key, entry)
        for name in dict.fromkeys(name for name, _id in fresh):
            self._take_campaign(name, {key: e for key, e in fresh.items() if key[0] == name})
        return [entry for key, entry in keyed if self._fits(key, entry)]

    def _take_campaign(self, name: str, fresh: dict[ItemKey, ArgumentEntry]) -> None:
        stored = {}
        campaign_id = self.work.campaigns.pk(name)
        if campaign_id is not None:
            fields = ("external_id", "pk", "argument_id", "imported_control_label")
            items = Item.objects.filter(
                campaign_id=campaign_id, external_id__in=[key[1] for key in fresh]
            )
            stored = {row[0]: row[1:] for row in items.values_list(*fields)}
        new = {key: entry for key, entry in fresh.items() if key[1] not in stored}
        for key, entry in fresh.items():
            self.work.remark_blank(entry)
            if key[1] in stored:
                self._compare(key, entry, *stored[key[1]])
        self._add(name, campaign_id, new)

    def _compare(
        self, key: ItemKey, entry: ArgumentEntry, pk: int, argument_id: int, control: int | None
    ) -> None:
        unit = unit_of(entry)
        if self.work.arguments.known[unit] != argument_id:
            # A unit nobody has: every row with this id is then rejected by `_fits`.
            self.known[key] = KnownItem(pk, ("", "", ""), control)
            return
        self.known[key] = KnownItem(pk, unit, entry.control_label)
        is_changed = control != entry.control_label
        self.work.result("items", "changed" if is_changed else "same")
        if is_changed:
            shown = _("no control label") if control is None else control
            self.work.remark(entry, "control label", self.work.changed(shown))
        if is_changed and self.work.write and self.work.update_changed:
            label = entry.control_label
            Item.objects.filter(pk=pk).update(control_label=label, imported_control_label=label)

    def _add(self, name: str, campaign_id: int | None, new: dict[ItemKey, ArgumentEntry]) -> None:
        self.work.outcome.counts["items"]["new"] += len(new)
        keys: list[int | None] = [None] * len(new)
        if self.work.write:
            rows = Item.objects.bulk_create(
                Item(
                    campaign_id=campaign_id,
                    argument_id=self.work.arguments.known[unit_of(entry)],
                    external_id=key[1],
                    rank=self._rank(name, campaign_id),
                    control_label=entry.control_label,
                    imported_control_label=entry.control_label,
                    is_retired=entry.is_retired,
                )
                for key, entry in new.items()
            )
            keys = [row.pk for row in rows]
        for (key, entry), pk in zip(new.items(), keys, strict=True):
            self.known[key] = KnownItem(pk, unit_of(entry), entry.control_label)

    def _rank(self, name: str, campaign_id: int | None) -> int:
        if name not in self._next_rank:
            last = Item.objects.filter(campaign_id=campaign_id).aggregate(last=Max("rank"))["last"]
            self._next_rank[name] = 0 if last is None else last + 1
        self._next_rank[name] += 1
        return self._next_rank[name] - 1

    def _fits(self, key: ItemKey, entry: ArgumentEntry) -> bool:
        item = self.known[key]
        if item.unit != unit_of(entry):
            reason = _("item %s already stands for another sentence") % key[1]
            self.work.reject(entry, "item", reason)
            return False
        if item.control_label != entry.control_label:
            reason = _("item %s has another control label in an earlier row") % key[1]
            self.work.reject(entry, "control label", reason)
            return False
        return True
