"""Books that find or create items, raters and votes of imported rounds."""

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from django.db.models import Max, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.labelling.models import Assignment, Item, VoteEvent
from cqa_site.files.actions.imports import Reconciliation
from cqa_site.people.models import Rater
from cqa_site.rounds.models import Place
from ..actions.entries import (
    ArgumentEntry,
    ItemKey,
    RaterKey,
    Unit,
    Vote,
    item_of,
    rater_of,
    unit_of,
)
from .arguments import ArgumentBook, EntryReconciliation, LabelRoundBook


@dataclass(frozen=True, slots=True)
class KnownItem:
    """An item at its first occurrence in the file; ``pk`` is None until written."""

    pk: int | None
    unit: Unit
    control_label: int | None


class ItemBook:
    """Items named in the file, by round name and item id."""

    def __init__(
        self, work: EntryReconciliation, label_rounds: LabelRoundBook, arguments: ArgumentBook
    ) -> None:
        self.work, self.label_rounds, self.arguments = work, label_rounds, arguments
        self.known: dict[ItemKey, KnownItem] = {}
        self._next_rank: dict[str, int] = {}

    def take(self, entries: list[ArgumentEntry]) -> list[ArgumentEntry]:
        """Compare or create the items of a batch; return the entries that match their items."""
        keyed = [(item_of(entry), entry) for entry in entries]
        fresh: dict[ItemKey, ArgumentEntry] = {}
        for key, entry in keyed:
            if key not in self.known:
                fresh.setdefault(key, entry)
        for name in dict.fromkeys(name for name, _id in fresh):
            self._take_label_round(name, {key: e for key, e in fresh.items() if key[0] == name})
        return [entry for key, entry in keyed if self._fits(key, entry)]

    def _take_label_round(self, name: str, fresh: dict[ItemKey, ArgumentEntry]) -> None:
        stored = {}
        label_round_id = self.label_rounds.pk(name)
        if label_round_id is not None:
            fields = ("external_id", "pk", "argument_id", "imported_control_label")
            items = Item.objects.filter(
                round_id=label_round_id, external_id__in=[key[1] for key in fresh]
            )
            stored = {row[0]: row[1:] for row in items.values_list(*fields)}
        new = {key: entry for key, entry in fresh.items() if key[1] not in stored}
        for key, entry in fresh.items():
            self.work.remark_blank(entry)
            if key[1] in stored:
                self._compare(key, entry, *stored[key[1]])
        self._add(name, label_round_id, new)

    def _compare(
        self, key: ItemKey, entry: ArgumentEntry, pk: int, argument_id: int, control: int | None
    ) -> None:
        unit = unit_of(entry)
        if self.arguments.known[unit] != argument_id:
            # No argument has this unit, so `_fits` rejects every row with this id.
            self.known[key] = KnownItem(pk, ("", "", ""), control)
            return
        self.known[key] = KnownItem(pk, unit, entry.control_label)
        is_changed = control != entry.control_label
        self.work.result("items", "changed" if is_changed else "same")
        if is_changed:
            sentence = _("no control label") if control is None else control
            self.work.mention(entry, "control label", self.work.changed(sentence))
        if is_changed and self.work.write and self.work.update_changed:
            label = entry.control_label
            Item.objects.filter(pk=pk).update(control_label=label, imported_control_label=label)

    def _add(
        self, name: str, label_round_id: int | None, new: dict[ItemKey, ArgumentEntry]
    ) -> None:
        self.work.outcome.counts["items"]["new"] += len(new)
        keys: list[int | None] = [None] * len(new)
        if self.work.write:
            rows = Item.objects.bulk_create(
                Item(
                    round_id=label_round_id,
                    argument_id=self.arguments.known[unit_of(entry)],
                    external_id=key[1],
                    rank=self._rank(name, label_round_id),
                    control_label=entry.control_label,
                    imported_control_label=entry.control_label,
                    is_retired=entry.is_retired,
                )
                for key, entry in new.items()
            )
            keys = [row.pk for row in rows]
        for (key, entry), pk in zip(new.items(), keys, strict=True):
            self.known[key] = KnownItem(pk, unit_of(entry), entry.control_label)

    def _rank(self, name: str, label_round_id: int | None) -> int:
        if name not in self._next_rank:
            last = Item.objects.filter(round_id=label_round_id).aggregate(last=Max("rank"))["last"]
            self._next_rank[name] = 0 if last is None else last + 1
        self._next_rank[name] += 1
        return self._next_rank[name] - 1

    def _fits(self, key: ItemKey, entry: ArgumentEntry) -> bool:
        item = self.known[key]
        if item.unit != unit_of(entry):
            reason = _("item %s is already used for another sentence") % key[1]
            self.work.leave_out(entry, "item", reason)
            return False
        if item.control_label != entry.control_label:
            reason = _("item %s has a different control label in an earlier row") % key[1]
            self.work.leave_out(entry, "control label", reason)
            return False
        return True


class RaterBook:
    """Raters named in the file; the key of a new rater is None until written."""

    def __init__(self, work: Reconciliation) -> None:
        self.work = work
        self.known: dict[RaterKey, int | None] = {}

    def find(self, named: dict[RaterKey, str]) -> None:
        """Find raters by kind and id, or create them with the given names."""
        fresh = {key: name for key, name in named.items() if key not in self.known}
        if not fresh:
            return
        stored = Rater.objects.filter(
            study=self.work.study,
            kind__in={kind for kind, _id in fresh},
            external_id__in={name for _kind, name in fresh},
        )
        matches = {
            (kind, name): pk
            for pk, kind, name in stored.values_list("pk", "kind", "external_id")
            if (kind, name) in fresh
        }
        new = {key: name for key, name in fresh.items() if key not in matches}
        self.work.outcome.counts["raters"]["new"] += len(new)
        self.work.outcome.counts["raters"]["same"] += len(matches)
        self.known |= dict.fromkeys(new) | matches
        if self.work.write:
            rows = Rater.objects.bulk_create(
                Rater(study=self.work.study, kind=kind, external_id=key, name=name)
                for (kind, key), name in new.items()
            )
            self.known |= {(row.kind, row.external_id): row.pk for row in rows}


class PlacedRaterBook(RaterBook):
    """Raters who voted, and their enrolment in each round."""

    def __init__(self, work: Reconciliation, label_rounds: LabelRoundBook) -> None:
        super().__init__(work)
        self.label_rounds = label_rounds
        self._places: set[tuple[str, RaterKey]] = set()

    def take(self, entries: list[ArgumentEntry]) -> None:
        """Find or create the raters of a batch, with their enrolments."""
        self.find({rater_of(vote): vote.rater_name for entry in entries for vote in entry.votes})
        self._take_places(entries)

    def _take_places(self, entries: list[ArgumentEntry]) -> None:
        """Enrol imported raters, so that researchers can see and exclude them like all others."""
        fresh = {
            (entry.label_round, rater_of(vote)): vote.is_rater_excluded
            for entry in entries
            for vote in entry.votes
            if (entry.label_round, rater_of(vote)) not in self._places
        }
        self._places |= set(fresh)
        if not self.work.write or not fresh:
            return
        wanted = {
            (self.label_rounds.pk(name), self.known[rater]): is_excluded
            for (name, rater), is_excluded in fresh.items()
        }
        stored = Place.objects.filter(
            round__in={label_round for label_round, _rater in wanted},
            rater_id__in={rater for _label_round, rater in wanted},
        )
        there = set(stored.values_list("round_id", "rater_id"))
        Place.objects.bulk_create(
            _place(*key, is_excluded) for key, is_excluded in wanted.items() if key not in there
        )


def _place(label_round_id: Any, rater_id: Any, is_excluded: bool) -> Place:
    row = Place(round_id=label_round_id, rater_id=rater_id)
    if is_excluded:
        row.excluded_at = timezone.now()
        row.exclusion_reason = _("Excluded in the imported file.")
        row.is_decided_by_person = True
    return row


# Votes, identified by their own id if the source has it, otherwise by item and rater

State = Assignment.State
VoteKey = tuple[ItemKey, RaterKey]


@dataclass(slots=True)
class StoredVote:
    """A stored vote, or the vote's first occurrence in the file (``pk`` is None until written)."""

    pk: int | None
    state: str
    label: int | None
    row: int | None = None


class VoteBook:
    """Votes seen in the file so far, to recognize repeated rows."""

    def __init__(
        self,
        work: EntryReconciliation,
        label_rounds: LabelRoundBook,
        items: ItemBook,
        raters: RaterBook,
    ) -> None:
        self.work, self.label_rounds, self.items, self.raters = work, label_rounds, items, raters
        self._live: dict[VoteKey, StoredVote] = {}
        self._void: dict[VoteKey, int] = defaultdict(int)
        self._ids: dict[tuple[str, str], StoredVote] = {}
        self._copies: list[tuple[StoredVote, ArgumentEntry, Vote]] = []

    def take(self, entries: list[ArgumentEntry]) -> None:
        """Compare the votes of a batch with the database and earlier rows, then add new votes."""
        stored = _StoredVotes(self, entries)
        new: list[tuple[Assignment, StoredVote]] = []
        for entry in entries:
            for vote in entry.votes:
                self._take_vote(entry, vote, stored, new)
        if not self.work.write:
            return
        rows = Assignment.objects.bulk_create(row for row, _known in new)
        for row, (_same, known) in zip(rows, new, strict=True):
            known.pk = row.pk
        self._keep_copies()

    def _take_vote(
        self,
        entry: ArgumentEntry,
        vote: Vote,
        stored: "_StoredVotes",
        new: list[tuple[Assignment, StoredVote]],
    ) -> None:
        pair: VoteKey = (item_of(entry), rater_of(vote))
        earlier = self._earlier(entry, vote, pair)
        if earlier is not None:
            self._compare_in_file(entry, vote, earlier)
            return
        if (entry.label_round, vote.external_id) in stored.foreign:
            reason = _("the vote %s is already stored with another item or rater")
            self.work.leave_out(entry, "", reason % vote.external_id)
            return
        match = stored.find(entry, vote, pair, self._void[pair])
        if match is not None:
            self._compare(entry, vote, match)
        known = match or StoredVote(None, vote.state, vote.label)
        known.row = entry.row
        self._remember(entry, vote, pair, known)
        if match is None:
            self.work.result("votes", "new")
            new.append((self._assignment(entry, vote, pair), known))

    def _earlier(self, entry: ArgumentEntry, vote: Vote, pair: VoteKey) -> StoredVote | None:
        if vote.external_id and (entry.label_round, vote.external_id) in self._ids:
            return self._ids[entry.label_round, vote.external_id]
        return None if vote.state == State.VOID else self._live.get(pair)

    def _remember(
        self, entry: ArgumentEntry, vote: Vote, pair: VoteKey, known: StoredVote
    ) -> None:
        if vote.external_id:
            self._ids[entry.label_round, vote.external_id] = known
        if vote.state == State.VOID:
            self._void[pair] += 1
        else:
            self._live[pair] = known

    def _compare_in_file(self, entry: ArgumentEntry, vote: Vote, earlier: StoredVote) -> None:
        if (earlier.state, earlier.label) == (vote.state, vote.label):
            self.work.result("votes", "same")
            return
        values = {"row": earlier.row, "label": earlier.label, "here": vote.label}
        if not entry.keeps_first_copy:
            reason = _("row %(row)s already has this rater's vote on this item: %(label)s")
            self.work.leave_out(entry, "label", reason % values)
            return
        self.work.result("votes", "same")
        reason = _(
            "Row %(row)s has the same argument with label %(label)s; this row has label %(here)s."
        )
        self.work.mention(entry, vote.rater_name, reason % values)
        self._copies.append((earlier, entry, vote))

    def _compare(self, entry: ArgumentEntry, vote: Vote, old_vote: StoredVote) -> None:
        is_same = (old_vote.state, old_vote.label) == (vote.state, vote.label)
        self.work.result("votes", "same" if is_same else "changed")
        if is_same:
            return
        state = old_vote.state if old_vote.label is None else old_vote.label
        self.work.mention(entry, "label", self.work.changed(state))
        if self.work.write and self.work.update_changed:
            self._replace(entry, vote, old_vote)
        old_vote.state, old_vote.label = vote.state, vote.label

    def _replace(self, entry: ArgumentEntry, vote: Vote, old_vote: StoredVote) -> None:
        """Change the vote and record the change as an event; its history is never rewritten."""
        Assignment.objects.filter(pk=old_vote.pk).update(state=vote.state, label=vote.label)
        count = VoteEvent.objects.filter(assignment_id=old_vote.pk).count()
        VoteEvent.objects.create(
            assignment_id=old_vote.pk,
            client_key=f"import:{count}",
            kind=VoteEvent.Kind.CHANGE,
            label=vote.label,
            comment=_("Changed by an import from %s.") % old_vote.label,
        )

    def _assignment(self, entry: ArgumentEntry, vote: Vote, pair: VoteKey) -> Assignment:
        answered = vote.at if vote.state in (State.ANSWERED, State.SKIPPED) else None
        return Assignment(
            round_id=self.label_rounds.pk(entry.label_round),
            item_id=self.items.known[pair[0]].pk,
            rater_id=self.raters.known[pair[1]],
            state=vote.state,
            label=vote.label,
            is_extra=vote.is_extra,
            is_flagged=vote.is_flagged,
            skip_reason=vote.skip_reason,
            block=vote.block,
            position=vote.position,
            comment=vote.comment,
            external_id=vote.external_id,
            served_at=vote.at,
            answered_at=answered,
            active_ms=vote.active_ms,
        )

    def _keep_copies(self) -> None:
        """Record labels from repeated copies of a released argument as events on the vote."""
        if not self._copies:
            return
        keys = {known.pk for known, _entry, _vote in self._copies}
        stored = set(
            VoteEvent.objects.filter(assignment_id__in=keys).values_list(
                "assignment_id", "client_key"
            )
        )
        events = {}
        for known, entry, vote in self._copies:
            key = (known.pk, f"copy:{entry.row}")
            if key not in stored:
                events[key] = self._copy_event(*key, entry, vote)
        VoteEvent.objects.bulk_create(events.values())
        Assignment.objects.filter(pk__in={pk for pk, _key in events}).update(is_flagged=True)
        self._copies.clear()

    def _copy_event(self, pk: int | None, key: str, entry: ArgumentEntry, vote: Vote) -> VoteEvent:
        return VoteEvent(
            assignment_id=pk,
            client_key=key,
            kind=VoteEvent.Kind.FLAG,
            label=vote.label,
            comment=_("Row %s of the file repeats the argument with this label.") % entry.row,
        )


class _StoredVotes:
    """Stored votes by the raters of one batch on the items of that batch."""

    def __init__(self, book: VoteBook, entries: list[ArgumentEntry]) -> None:
        self._by_id: dict[tuple[str, str], StoredVote] = {}
        self._live: dict[VoteKey, StoredVote] = {}
        self._void: dict[VoteKey, list[StoredVote]] = defaultdict(list)
        # Ids of votes whose item or rater in the file differs from the database.
        self.foreign: set[tuple[str, str]] = set()
        for name in dict.fromkeys(entry.label_round for entry in entries):
            if book.label_rounds.pk(name) is not None:
                self._load(book, name, [entry for entry in entries if entry.label_round == name])

    def _load(self, book: VoteBook, name: str, entries: list[ArgumentEntry]) -> None:
        items = {book.items.known[key].pk: key for key in map(item_of, entries)}
        raters = {
            book.raters.known[rater_of(vote)]: rater_of(vote)
            for entry in entries
            for vote in entry.votes
        }
        votes = Assignment.objects.filter(round_id=book.label_rounds.pk(name))
        fields = ("pk", "state", "label", "item_id", "rater_id", "external_id")
        ids = {vote.external_id for entry in entries for vote in entry.votes} - {""}
        known = votes.filter(
            Q(item_id__in=set(items) - {None}, rater_id__in=set(raters) - {None})
            | Q(external_id__in=ids)
        )
        for row in known.order_by("pk").values_list(*fields):
            pk, state, label, item, rater, external_id = row
            if item in items and rater in raters:
                vote = StoredVote(pk, state, label)
                self._add(name, external_id, vote, (items[item], raters[rater]))
            else:
                self.foreign.add((name, external_id))

    def _add(self, name: str, external_id: str, vote: StoredVote, pair: VoteKey) -> None:
        if external_id:
            self._by_id[name, external_id] = vote
        if vote.state == State.VOID:
            self._void[pair].append(vote)
        else:
            self._live[pair] = vote

    def find(
        self, entry: ArgumentEntry, vote: Vote, pair: VoteKey, seen_void: int
    ) -> StoredVote | None:
        """Return the matching stored vote; void votes without ids are matched by their order."""
        if vote.external_id and (entry.label_round, vote.external_id) in self._by_id:
            return self._by_id[entry.label_round, vote.external_id]
        if vote.state != State.VOID:
            return self._live.get(pair)
        void = self._void[pair]
        if vote.external_id or seen_void >= len(void):
            return None
        return void[seen_void]
