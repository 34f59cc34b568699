"""Compare the entries of a file with a study, piece by piece, and write what is new.

Everything is known by its natural key: the pair, the sentence's hash, the item's
id in its campaign, the rater's id, the vote's id or its item and rater. A dry
run takes the same path and leaves out the inserts, so it holds no write lock
that annotators would have to wait for.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from django.utils.translation import gettext as _

from annotation.models import Argument, Comparison, Participation, Rater
from cqa_site.people.models import Study, User

from .campaigns import CampaignBook
from .items import ItemBook
from .rows import Entry, Flag, Note, Outcome, RaterKey, Unit, rater_of, unit_of
from .votes import VoteBook

CHUNK = 2_000
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_LIMITS = {"object1": 300, "object2": 300, "source_url": 2_000, "argument_id": 200, "item_id": 200}

Pair = tuple[str, str]


def reconcile(
    *,
    study: Study,
    lines: Iterable[Entry | Flag | Note],
    write: bool,
    update_changed: bool = False,
    actor: User | None = None,
    progress=None,
) -> Outcome:
    """Go through a file once; with ``write`` the caller holds the transaction."""
    work = Reconciliation(study, write=write, update_changed=update_changed, actor=actor)
    stream = iter(lines)
    done = 0
    while chunk := list(islice(stream, CHUNK)):
        work.take(chunk)
        done += len(chunk)
        if progress is not None:
            progress(done)
    return work.finish()


class Reconciliation:
    """One pass over one file; books remember what the file has named so far."""

    def __init__(
        self, study: Study, *, write: bool, update_changed: bool, actor: User | None
    ) -> None:
        self.study = study
        self.write = write
        self.update_changed = update_changed
        self.outcome = Outcome()
        self.campaigns = CampaignBook(self, actor)
        self.items = ItemBook(self)
        self.votes = VoteBook(self)
        # Known objects of the file, by natural key; None stands for "new, not written".
        self.comparisons: dict[Pair, int | None] = {}
        self.arguments: dict[Unit, int | None] = {}
        self.raters: dict[RaterKey, int | None] = {}
        self._participations: set[tuple[str, RaterKey]] = set()
        self._first_rows: dict[Pair, int | None] = {}

    def take(self, chunk: list[Entry | Flag | Note]) -> None:
        """Compare one piece of the file, parents before children."""
        entries = [entry for line in chunk if (entry := self._sort_out(line)) is not None]
        self._take_comparisons(entries)
        self._take_arguments(entries)
        labelled = [entry for entry in entries if entry.campaign]
        if labelled:
            self.campaigns.take(labelled)
            labelled = self.items.take(labelled)
            self._take_raters(labelled)
            self._take_participations(labelled)
            self.votes.take(labelled)

    def finish(self) -> Outcome:
        """Add what only the whole file shows."""
        self.outcome.campaign_ids = self.campaigns.ids
        self._suggest_merges()
        return self.outcome

    def result(self, name: str, result: str) -> None:
        """Count one object."""
        self.outcome.counts[name][result] += 1

    def remark(self, entry: Entry, column: str, reason: str) -> None:
        """Flag a row that is kept."""
        self.outcome.flag(Flag(entry.row, _place(entry, column), reason))

    def reject(self, entry: Entry, column: str, reason: str) -> None:
        """Leave a row out."""
        what = "votes" if entry.votes else "items" if entry.campaign else "arguments"
        self.outcome.flag(
            Flag(entry.row, _place(entry, column), reason, is_rejection=True, object=what)
        )

    # -- rows ---------------------------------------------------------------------------------

    def _sort_out(self, line: Entry | Flag | Note) -> Entry | None:
        """Keep flags and notes; give an entry back if every cell can be stored."""
        if isinstance(line, Note):
            self.outcome.notes.append(line.text)
            return None
        if isinstance(line, Flag):
            self.outcome.flag(line)
            return None
        for column, reason in _unstorable(line):
            self.reject(line, column, reason)
            return None
        return line

    # -- comparisons and arguments --------------------------------------------------------------

    def _take_comparisons(self, entries: list[Entry]) -> None:
        wanted: dict[Pair, Entry] = {}
        for entry in entries:
            wanted.setdefault((entry.object1, entry.object2), entry)
        fresh = {pair: entry for pair, entry in wanted.items() if pair not in self.comparisons}
        if not fresh:
            return
        found = dict.fromkeys(fresh)
        stored = Comparison.objects.filter(
            study=self.study,
            object1__in={pair[0] for pair in fresh},
            object2__in={pair[1] for pair in fresh},
        )
        found |= {
            (one, two): pk
            for pk, one, two in stored.values_list("pk", "object1", "object2")
            if (one, two) in fresh
        }
        new = [pair for pair in fresh if found[pair] is None]
        if self.write:
            rows = Comparison.objects.bulk_create(
                Comparison(study=self.study, object1=one, object2=two) for one, two in new
            )
            found |= {(row.object1, row.object2): row.pk for row in rows}
        for pair, entry in fresh.items():
            self.result("comparisons", "new" if pair in new else "same")
            self._first_rows[pair] = entry.row
        self.comparisons |= found

    def _take_arguments(self, entries: list[Entry]) -> None:
        fresh: dict[Unit, Entry] = {}
        for entry in entries:
            unit = unit_of(entry)
            if unit not in self.arguments:
                fresh.setdefault(unit, entry)
        pairs = {pk: pair for pair, pk in self.comparisons.items() if pk is not None}
        stored = Argument.objects.filter(
            study=self.study,
            comparison_id__in={self.comparisons[unit[:2]] for unit in fresh} - {None},
            text_sha256__in={unit[2] for unit in fresh},
        )
        fields = ("pk", "comparison_id", "text_sha256", "source_url", "external_id")
        found = {
            (*pairs[comparison], key): (pk, url, name)
            for pk, comparison, key, url, name in stored.values_list(*fields)
        }
        new = {unit: entry for unit, entry in fresh.items() if unit not in found}
        for unit, entry in fresh.items():
            if unit in found:
                self._compare_argument(entry, *found[unit])
                self.arguments[unit] = found[unit][0]
        self._add_arguments(new)

    def _add_arguments(self, new: dict[Unit, Entry]) -> None:
        self.outcome.counts["arguments"]["new"] += len(new)
        for entry in new.values():
            if not entry.text.strip():
                self.remark(entry, "", _("The sentence is blank; kept and flagged."))
        self.arguments |= dict.fromkeys(new)
        if not self.write:
            return
        rows = Argument.objects.bulk_create(
            Argument(
                study=self.study,
                comparison_id=self.comparisons[unit[:2]],
                text=entry.text,
                text_sha256=unit[2],
                source_url=entry.source_url,
                external_id=entry.argument_id,
            )
            for unit, entry in new.items()
        )
        self.arguments |= {unit: row.pk for unit, row in zip(new, rows, strict=True)}

    def _compare_argument(self, entry: Entry, pk: int, url: str, name: str) -> None:
        """An empty cell says nothing, so it never counts as a change."""
        change = {}
        if entry.source_url and entry.source_url != url:
            change["source_url"] = entry.source_url
        if entry.argument_id and entry.argument_id != name:
            change["external_id"] = entry.argument_id
        self.result("arguments", "changed" if change else "same")
        if change:
            self.remark(entry, ", ".join(change), self.changed(url or name or "–"))
        if change and self.write and self.update_changed:
            Argument.objects.filter(pk=pk).update(**change)

    def changed(self, stored: object) -> str:
        """Say what is stored where the file has something else."""
        if self.update_changed:
            return _("Replaced; stored before: %s") % stored
        return _("Differs and was kept; stored: %s") % stored

    # -- raters ---------------------------------------------------------------------------------

    def _take_raters(self, entries: list[Entry]) -> None:
        fresh = {
            rater_of(vote): vote.rater_name
            for entry in entries
            for vote in entry.votes
            if rater_of(vote) not in self.raters
        }
        if not fresh:
            return
        stored = Rater.objects.filter(
            study=self.study,
            kind__in={kind for kind, _id in fresh},
            external_id__in={name for _kind, name in fresh},
        )
        found = {
            (kind, name): pk
            for pk, kind, name in stored.values_list("pk", "kind", "external_id")
            if (kind, name) in fresh
        }
        new = {key: name for key, name in fresh.items() if key not in found}
        self.outcome.counts["raters"]["new"] += len(new)
        self.outcome.counts["raters"]["same"] += len(found)
        self.raters |= dict.fromkeys(new) | found
        if self.write:
            rows = Rater.objects.bulk_create(
                Rater(study=self.study, kind=kind, external_id=key, name=name)
                for (kind, key), name in new.items()
            )
            self.raters |= {(row.kind, row.external_id): row.pk for row in rows}

    def _take_participations(self, entries: list[Entry]) -> None:
        """Let researchers see and exclude imported raters like those who worked here."""
        fresh = {
            (entry.campaign, rater_of(vote))
            for entry in entries
            for vote in entry.votes
        } - self._participations
        self._participations |= fresh
        if not self.write or not fresh:
            return
        wanted = {(self.campaigns.pk(name), self.raters[rater]) for name, rater in fresh}
        stored = Participation.objects.filter(
            campaign_id__in={campaign for campaign, _rater in wanted},
            rater_id__in={rater for _campaign, rater in wanted},
        )
        wanted -= set(stored.values_list("campaign_id", "rater_id"))
        Participation.objects.bulk_create(
            Participation(campaign_id=campaign, rater_id=rater)
            for campaign, rater in sorted(wanted)
        )

    # -- the whole file -------------------------------------------------------------------------

    def _suggest_merges(self) -> None:
        groups: dict[frozenset[str], list[Pair]] = {}
        stored = Comparison.objects.filter(study=self.study).values_list("object1", "object2")
        for pair in dict.fromkeys([*self._first_rows, *stored]):
            groups.setdefault(_folded(pair), []).append(pair)
        for pairs in groups.values():
            for pair in pairs[1:]:
                if pair in self._first_rows:
                    self._suggest_merge(pair, pairs[0])

    def _suggest_merge(self, pair: Pair, other: Pair) -> None:
        reason = _(
            "“%(pair)s” differs from “%(other)s” only in case or order. "
            "If they mean the same, merge them in the source; nothing was merged here."
        ) % {"pair": " vs ".join(pair), "other": " vs ".join(other)}
        self.outcome.flag(Flag(self._first_rows[pair], "", reason))


def _place(entry: Entry, column: str) -> str:
    return " · ".join(part for part in (entry.place, column) if part)


def _folded(pair: Pair) -> frozenset[str]:
    one, two = (" ".join(part.split()).casefold() for part in pair)
    return frozenset({one, two}) if one != two else frozenset({one, two, ""})


def _unstorable(entry: Entry) -> Iterator[tuple[str, str]]:
    """What PostgreSQL would refuse, said in words and for SQLite alike."""
    for column, most in _LIMITS.items():
        if len(getattr(entry, column)) > most:
            yield column, _("longer than %s characters") % most
    texts = [entry.object1, entry.object2, entry.text, entry.source_url, entry.item_id]
    for vote in entry.votes:
        texts += [vote.rater_id, vote.comment]
        if not vote.rater_id:
            yield "rater", _("is empty")
        if len(vote.rater_id) > 128 or len(vote.external_id) > 200:
            yield "rater", _("an id is too long")
    if any(map(_UNSTORABLE.search, texts)):
        yield "", _("holds a NUL character or half of a surrogate pair")
    repeated = Counter(map(rater_of, entry.votes))
    if any(count > 1 for count in repeated.values()):
        yield "rater", _("names one rater twice")
