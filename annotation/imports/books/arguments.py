"""Books that find or create comparisons, arguments and rounds; matching of damaged sentences."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _, ngettext

from annotation.corpus.models import Argument, Comparison
from annotation.labelling.actions.rounds import default_guideline
from annotation.labelling.models import LabelRound
from cqa_site.files.actions.imports import Flag, ImportEntry, ImportRefused, Line, Reconciliation
from cqa_site.people.models import Study, User
from ..actions.entries import AnswerEntry, ArgumentEntry, QuestionEntry, Unit, unit_of
from ..methods.votes import match_key


class EntryReconciliation(Reconciliation):
    """Remarks on single entries, shared by all books."""

    def remark_blank(self, entry: ArgumentEntry) -> None:
        """Flag an imported row without a sentence; released data contain such rows."""
        if not entry.text.strip():
            self.mention(entry, "", _("The sentence is blank. The row was kept and flagged."))

    def made_by(self, entry: ImportEntry) -> str:
        """Return the kind of object that an entry mainly creates."""
        if not isinstance(entry, ArgumentEntry):
            return entry.makes
        return "votes" if entry.votes else "items" if entry.label_round else "arguments"


Pair = tuple[str, str]
REPEATED_SHOWN = 10
# Fields of an argument, other than its text, that a file may contain.
_COMPARED = ("source_url", "external_id", "attributes")
Paired = ArgumentEntry | AnswerEntry | QuestionEntry


class ComparisonBook:
    """Pairs named in the file; the key of a new pair is None until written."""

    def __init__(self, work: EntryReconciliation) -> None:
        self.work = work
        self.known: dict[Pair, int | None] = {}
        self._first: dict[Pair, Paired] = {}

    def take(self, entries: Iterable[Paired]) -> None:
        """Find or create the comparisons of a batch."""
        wanted: dict[Pair, Paired] = {}
        for entry in entries:
            wanted.setdefault((entry.object1, entry.object2), entry)
        fresh = {pair: entry for pair, entry in wanted.items() if pair not in self.known}
        if not fresh:
            return
        keys = dict.fromkeys(fresh)
        stored = Comparison.objects.filter(
            study=self.work.study,
            object1__in={pair[0] for pair in fresh},
            object2__in={pair[1] for pair in fresh},
        )
        keys |= {
            (first, second): pk
            for pk, first, second in stored.values_list("pk", "object1", "object2")
            if (first, second) in fresh
        }
        new = [pair for pair in fresh if keys[pair] is None]
        if self.work.write:
            rows = Comparison.objects.bulk_create(
                Comparison(study=self.work.study, object1=first, object2=second)
                for first, second in new
            )
            keys |= {(row.object1, row.object2): row.pk for row in rows}
        for pair, entry in fresh.items():
            self.work.result("comparisons", "new" if pair in new else "same")
            self._first[pair] = entry
        self.known |= keys

    def suggest_merges(self) -> None:
        """Flag pairs that differ only in case or order, so that a person can decide."""
        groups: dict[frozenset[str], list[Pair]] = {}
        stored = Comparison.objects.filter(study=self.work.study).values_list("object1", "object2")
        for pair in dict.fromkeys([*self._first, *stored]):
            groups.setdefault(_folded(pair), []).append(pair)
        for pairs in groups.values():
            for pair in pairs[1:]:
                if pair in self._first:
                    reason = _(
                        "“%(pair)s” differs from “%(other)s” only in case or order. "
                        "If both mean the same thing, merge them in the source; nothing was "
                        "merged here."
                    ) % {"pair": " vs ".join(pair), "other": " vs ".join(pairs[0])}
                    self.work.mention(self._first[pair], "", reason)


class ArgumentBook:
    """Arguments named in the file; the key of a new argument is None until written."""

    def __init__(self, work: EntryReconciliation, comparisons: ComparisonBook) -> None:
        self.work, self.comparisons = work, comparisons
        self.known: dict[Unit, int | None] = {}
        self._first_rows: dict[Unit, int | None] = {}
        self._repeated: dict[int, None] = {}

    def take(self, entries: list[ArgumentEntry]) -> None:
        """Find or create the arguments of a batch; their comparisons already exist."""
        fresh: dict[Unit, ArgumentEntry] = {}
        for entry in entries:
            unit = unit_of(entry)
            self._note_repeated(unit, entry)
            if unit not in self.known:
                fresh.setdefault(unit, entry)
        pairs = {pk: pair for pair, pk in self.comparisons.known.items() if pk is not None}
        stored = Argument.objects.filter(
            study=self.work.study,
            comparison_id__in={self.comparisons.known[unit[:2]] for unit in fresh} - {None},
            text_sha256__in={unit[2] for unit in fresh},
        )
        fields = ("pk", "comparison_id", "text_sha256", *_COMPARED)
        rows = {
            (*pairs[comparison], key): (pk, dict(zip(_COMPARED, values, strict=True)))
            for pk, comparison, key, *values in stored.values_list(*fields)
        }
        new = {unit: entry for unit, entry in fresh.items() if unit not in rows}
        for unit, entry in fresh.items():
            if not entry.label_round:
                self.work.remark_blank(entry)
            if unit in rows:
                self._compare_argument(entry, *rows[unit])
                self.known[unit] = rows[unit][0]
        self._add_arguments(new)

    def _add_arguments(self, new: dict[Unit, ArgumentEntry]) -> None:
        self.work.outcome.counts["arguments"]["new"] += len(new)
        self.known |= dict.fromkeys(new)
        if not self.work.write:
            return
        rows = Argument.objects.bulk_create(
            Argument(
                study=self.work.study,
                comparison_id=self.comparisons.known[unit[:2]],
                text=entry.text,
                text_sha256=unit[2],
                source_url=entry.source_url,
                external_id=entry.argument_id,
                attributes=dict(entry.attributes),
            )
            for unit, entry in new.items()
        )
        self.known |= {unit: row.pk for unit, row in zip(new, rows, strict=True)}

    def finish(self) -> None:
        """Report rows that added nothing because they repeat an earlier row."""
        if not self._repeated:
            return
        text = ngettext(
            "%(number)s row repeats an argument in the file; each argument is imported once: "
            "row %(rows)s.",
            "%(number)s rows repeat arguments in the file; each argument is imported once: "
            "rows %(rows)s.",
            len(self._repeated),
        )
        numbers = ", ".join(map(str, list(self._repeated)[:REPEATED_SHOWN]))
        rows = numbers if len(self._repeated) <= REPEATED_SHOWN else f"{numbers} …"
        self.work.outcome.notes.append(text % {"number": len(self._repeated), "rows": rows})

    def _note_repeated(self, unit: Unit, entry: ArgumentEntry) -> None:
        """Count repeated arguments, except in a round, where rows may share an argument."""
        if entry.label_round or entry.row is None:
            return
        if self._first_rows.setdefault(unit, entry.row) != entry.row:
            self._repeated[entry.row] = None

    def _compare_argument(self, entry: ArgumentEntry, pk: int, stored: dict[str, Any]) -> None:
        """Compare an argument with the stored argument; an empty cell is not a change."""
        attributes = {**stored["attributes"], **entry.attributes}
        pairs = zip(_COMPARED, (entry.source_url, entry.argument_id, attributes), strict=True)
        change = {name: value for name, value in pairs if value and value != stored[name]}
        self.work.result("arguments", "changed" if change else "same")
        if change:
            before = next((stored[name] for name in change if stored[name]), "–")
            self.work.mention(entry, ", ".join(change), self.work.changed(before))
        if change and self.work.write and self.work.update_changed:
            Argument.objects.filter(pk=pk).update(**change)


def _folded(pair: Pair) -> frozenset[str]:
    first, second = (" ".join(part.split()).casefold() for part in pair)
    return frozenset({first, second}) if first != second else frozenset({first, second, ""})


def match_to_study(study: Study, lines: Iterable[Line]) -> Iterator[Line]:
    """Replace the sentences in workbook rows with the study's spelling.

    The sentences differ only in damage (misread encoding, runs of white space), so
    the stored sentence is used and the row is flagged.
    """
    stream = iter(lines)
    while chunk := list(islice(stream, 2_000)):
        yield from _matched(study, chunk)


def _matched(study: Study, chunk: list[Line]) -> Iterator[Line]:
    entries = [line for line in chunk if isinstance(line, ArgumentEntry)]
    spellings = _spellings(study, {(entry.object1, entry.object2) for entry in entries})
    for line in chunk:
        stored = _stored_text(line, spellings) if isinstance(line, ArgumentEntry) else None
        if isinstance(line, ArgumentEntry) and stored is not None:
            reason = _("Matched a sentence in the study that differs only in damaged characters.")
            yield Flag(line.row, line.place, reason)
            yield replace(line, text=stored)
        else:
            yield line


def _spellings(study: Study, pairs: set[Pair]) -> dict[tuple[str, str, str], set[str]]:
    rows = Argument.objects.filter(
        study=study,
        comparison__object1__in={name for name, _two in pairs},
        comparison__object2__in={second for _first, second in pairs},
    )
    spellings: dict[tuple[str, str, str], set[str]] = {}
    columns = ("comparison__object1", "comparison__object2", "text")
    for first, second, text in rows.values_list(*columns):
        spellings.setdefault((first, second, match_key(text)), set()).add(text)
    return spellings


def _stored_text(
    entry: ArgumentEntry, spellings: dict[tuple[str, str, str], set[str]]
) -> str | None:
    """Return the only other spelling in the study; None for an exact or doubtful match."""
    texts = spellings.get((entry.object1, entry.object2, match_key(entry.text)), set())
    return next(iter(texts)) if len(texts) == 1 and entry.text not in texts else None


class LabelRoundBook:
    """Rounds named in the file; a new round is None until it is written."""

    def __init__(self, work: EntryReconciliation, actor: User | None) -> None:
        self.work = work
        self.actor = actor
        self.known: dict[str, LabelRound | None] = {}

    @property
    def ids(self) -> list[int]:
        """Keys of the rounds, in file order."""
        return [label_round.pk for label_round in self.known.values() if label_round is not None]

    def pk(self, name: str) -> int | None:
        """Return the key of a round; None for a new round in a dry run."""
        label_round = self.known[name]
        return label_round.pk if label_round else None

    def take(self, entries: list[ArgumentEntry]) -> None:
        """Find or create the rounds of a batch."""
        for name in dict.fromkeys(entry.label_round for entry in entries):
            if name not in self.known:
                self.known[name] = self._find_or_make(name)

    def _find_or_make(self, name: str) -> LabelRound | None:
        label_round = LabelRound.objects.filter(study=self.work.study, name=name).first()
        if label_round is not None and label_round.is_live:
            raise ImportRefused(
                _("“%s” is a round run on this site. Choose another name for the imported votes.")
                % name
            )
        self.work.result("label_rounds", "same" if label_round else "new")
        if label_round is not None or not self.work.write:
            return label_round
        now = timezone.now()
        return LabelRound.objects.create(
            study=self.work.study,
            name=name,
            origin=LabelRound.Origin.IMPORTED,
            state=LabelRound.State.CLOSED,
            guideline=default_guideline(self.work.study, actor=self.actor),
            created_by=self.actor,
            closed_at=now,
            **LabelRound.USUAL,
        )
