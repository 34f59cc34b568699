"""Votes: known by their own id where the source has one, else by item and rater."""

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Q
from django.utils.translation import gettext as _

from annotation.labelling.models.votes import Assignment, VoteEvent

from ..actions.rows import ArgumentEntry, ItemKey, RaterKey, Vote, item_of, rater_of

if TYPE_CHECKING:
    from ..actions.reconcile import StudyReconciliation

State = Assignment.State
Pair = tuple[ItemKey, RaterKey]


@dataclass(slots=True)
class StoredVote:
    """What the database has, or what this file said first (``pk`` None until written)."""

    pk: int | None
    state: str
    label: int | None
    row: int | None = None


class VoteBook:
    """Votes named by the file so far, so that a repeated row is seen as one."""

    def __init__(self, work: "StudyReconciliation") -> None:
        self.work = work
        self._live: dict[Pair, StoredVote] = {}
        self._void: dict[Pair, int] = defaultdict(int)
        self._ids: dict[tuple[str, str], StoredVote] = {}
        self._copies: list[tuple[StoredVote, ArgumentEntry, Vote]] = []

    def take(self, entries: list[ArgumentEntry]) -> None:
        """Compare the votes of a piece with the database and the rows before, then add."""
        stored = _Stored(self.work, entries)
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
        stored: "_Stored",
        new: list[tuple[Assignment, StoredVote]],
    ) -> None:
        pair: Pair = (item_of(entry), rater_of(vote))
        earlier = self._earlier(entry, vote, pair)
        if earlier is not None:
            self._compare_in_file(entry, vote, earlier)
            return
        if (entry.campaign, vote.external_id) in stored.foreign:
            reason = _("the vote %s is there with another item or rater")
            self.work.reject(entry, "", reason % vote.external_id)
            return
        found = stored.find(entry, vote, pair, self._void[pair])
        if found is not None:
            self._compare(entry, vote, found)
        known = found or StoredVote(None, vote.state, vote.label)
        known.row = entry.row
        self._remember(entry, vote, pair, known)
        if found is None:
            self.work.result("votes", "new")
            new.append((self._assignment(entry, vote, pair), known))

    def _earlier(self, entry: ArgumentEntry, vote: Vote, pair: Pair) -> StoredVote | None:
        if vote.external_id and (entry.campaign, vote.external_id) in self._ids:
            return self._ids[entry.campaign, vote.external_id]
        return None if vote.state == State.VOID else self._live.get(pair)

    def _remember(self, entry: ArgumentEntry, vote: Vote, pair: Pair, known: StoredVote) -> None:
        if vote.external_id:
            self._ids[entry.campaign, vote.external_id] = known
        if vote.state == State.VOID:
            self._void[pair] += 1
        else:
            self._live[pair] = known

    def _compare_in_file(self, entry: ArgumentEntry, vote: Vote, earlier: StoredVote) -> None:
        if (earlier.state, earlier.label) == (vote.state, vote.label):
            self.work.result("votes", "same")
            return
        said = {"row": earlier.row, "label": earlier.label, "here": vote.label}
        if not entry.keeps_first_copy:
            reason = _("row %(row)s already holds this rater's vote on this item: %(label)s")
            self.work.reject(entry, "label", reason % said)
            return
        self.work.result("votes", "same")
        reason = _("Row %(row)s holds the same argument with label %(label)s, this one %(here)s.")
        self.work.remark(entry, vote.rater_name, reason % said)
        self._copies.append((earlier, entry, vote))

    def _compare(self, entry: ArgumentEntry, vote: Vote, found: StoredVote) -> None:
        is_same = (found.state, found.label) == (vote.state, vote.label)
        self.work.result("votes", "same" if is_same else "changed")
        if is_same:
            return
        shown = found.state if found.label is None else found.label
        self.work.remark(entry, "label", self.work.changed(shown))
        if self.work.write and self.work.update_changed:
            self._replace(entry, vote, found)
        found.state, found.label = vote.state, vote.label

    def _replace(self, entry: ArgumentEntry, vote: Vote, found: StoredVote) -> None:
        """Change the vote and keep the act: the history of a vote is only ever added to."""
        Assignment.objects.filter(pk=found.pk).update(state=vote.state, label=vote.label)
        count = VoteEvent.objects.filter(assignment_id=found.pk).count()
        VoteEvent.objects.create(
            assignment_id=found.pk,
            client_key=f"import:{count}",
            kind=VoteEvent.Kind.CHANGE,
            label=vote.label,
            comment=_("Changed by an import from %s.") % found.label,
        )

    def _assignment(self, entry: ArgumentEntry, vote: Vote, pair: Pair) -> Assignment:
        answered = vote.at if vote.state in (State.ANSWERED, State.SKIPPED) else None
        return Assignment(
            campaign_id=self.work.campaigns.pk(entry.campaign),
            item_id=self.work.items.known[pair[0]].pk,
            rater_id=self.work.raters.known[pair[1]],
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
        """Keep what other copies of a released label said, as events beside the vote."""
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


class _Stored:
    """The votes the database has on the items and by the raters of one piece."""

    def __init__(self, work: "StudyReconciliation", entries: list[ArgumentEntry]) -> None:
        self._by_id: dict[tuple[str, str], StoredVote] = {}
        self._live: dict[Pair, StoredVote] = {}
        self._void: dict[Pair, list[StoredVote]] = defaultdict(list)
        # Ids of votes that the file gives to another item or rater than the database.
        self.foreign: set[tuple[str, str]] = set()
        for name in dict.fromkeys(entry.campaign for entry in entries):
            if work.campaigns.pk(name) is not None:
                self._load(work, name, [entry for entry in entries if entry.campaign == name])

    def _load(self, work: "StudyReconciliation", name: str, entries: list[ArgumentEntry]) -> None:
        items = {work.items.known[key].pk: key for key in map(item_of, entries)}
        raters = {
            work.raters.known[rater_of(vote)]: rater_of(vote)
            for entry in entries
            for vote in entry.votes
        }
        votes = Assignment.objects.filter(campaign_id=work.campaigns.pk(name))
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

    def _add(self, name: str, external_id: str, vote: StoredVote, pair: Pair) -> None:
        if external_id:
            self._by_id[name, external_id] = vote
        if vote.state == State.VOID:
            self._void[pair].append(vote)
        else:
            self._live[pair] = vote

    def find(
        self, entry: ArgumentEntry, vote: Vote, pair: Pair, seen_void: int
    ) -> StoredVote | None:
        """The stored vote this one is; the n-th void one of a pair where they have no ids."""
        if vote.external_id and (entry.campaign, vote.external_id) in self._by_id:
            return self._by_id[entry.campaign, vote.external_id]
        if vote.state != State.VOID:
            return self._live.get(pair)
        void = self._void[pair]
        if vote.external_id or seen_void >= len(void):
            return None
        return void[seen_void]
