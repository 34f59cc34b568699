"""Comparisons and arguments: known by the pair and by the sentence's hash."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.corpus.models.questions import Argument, Comparison

from ..actions.rows import AnswerEntry, ArgumentEntry, QuestionEntry, Unit, unit_of

if TYPE_CHECKING:
    from ..actions.reconcile import StudyReconciliation

Pair = tuple[str, str]
REPEATED_SHOWN = 10
Paired = ArgumentEntry | AnswerEntry | QuestionEntry


class ComparisonBook:
    """Pairs named by the file; None while new and not written."""

    def __init__(self, work: "StudyReconciliation") -> None:
        self.work = work
        self.known: dict[Pair, int | None] = {}
        self._first_rows: dict[Pair, int | None] = {}

    def take(self, entries: Iterable[Paired]) -> None:
        """Find the comparisons of a piece, or make them."""
        wanted: dict[Pair, Paired] = {}
        for entry in entries:
            wanted.setdefault((entry.object1, entry.object2), entry)
        fresh = {pair: entry for pair, entry in wanted.items() if pair not in self.known}
        if not fresh:
            return
        found = dict.fromkeys(fresh)
        stored = Comparison.objects.filter(
            study=self.work.study,
            object1__in={pair[0] for pair in fresh},
            object2__in={pair[1] for pair in fresh},
        )
        found |= {
            (one, two): pk
            for pk, one, two in stored.values_list("pk", "object1", "object2")
            if (one, two) in fresh
        }
        new = [pair for pair in fresh if found[pair] is None]
        if self.work.write:
            rows = Comparison.objects.bulk_create(
                Comparison(study=self.work.study, object1=one, object2=two) for one, two in new
            )
            found |= {(row.object1, row.object2): row.pk for row in rows}
        for pair, entry in fresh.items():
            self.work.result("comparisons", "new" if pair in new else "same")
            self._first_rows[pair] = entry.row
        self.known |= found

    def suggest_merges(self) -> None:
        """Flag pairs that differ only in case or order; deciding is the person's."""
        groups: dict[frozenset[str], list[Pair]] = {}
        stored = Comparison.objects.filter(study=self.work.study).values_list("object1", "object2")
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
        self.work.mention(self._first_rows[pair], "", reason)


class ArgumentBook:
    """Arguments named by the file; None while new and not written."""

    def __init__(self, work: "StudyReconciliation") -> None:
        self.work = work
        self.known: dict[Unit, int | None] = {}
        self._first_rows: dict[Unit, int | None] = {}
        self._repeated: dict[int, None] = {}

    def take(self, entries: list[ArgumentEntry]) -> None:
        """Find the arguments of a piece, or make them; their comparisons are known by now."""
        fresh: dict[Unit, ArgumentEntry] = {}
        for entry in entries:
            unit = unit_of(entry)
            self._note_repeated(unit, entry)
            if unit not in self.known:
                fresh.setdefault(unit, entry)
        pairs = {pk: pair for pair, pk in self.work.comparisons.known.items() if pk is not None}
        stored = Argument.objects.filter(
            study=self.work.study,
            comparison_id__in={self.work.comparisons.known[unit[:2]] for unit in fresh} - {None},
            text_sha256__in={unit[2] for unit in fresh},
        )
        fields = ("pk", "comparison_id", "text_sha256", "source_url", "external_id")
        found = {
            (*pairs[comparison], key): (pk, url, name)
            for pk, comparison, key, url, name in stored.values_list(*fields)
        }
        new = {unit: entry for unit, entry in fresh.items() if unit not in found}
        for unit, entry in fresh.items():
            if not entry.campaign:
                self.work.remark_blank(entry)
            if unit in found:
                self._compare_argument(entry, *found[unit])
                self.known[unit] = found[unit][0]
        self._add_arguments(new)

    def _add_arguments(self, new: dict[Unit, ArgumentEntry]) -> None:
        self.work.outcome.counts["arguments"]["new"] += len(new)
        self.known |= dict.fromkeys(new)
        if not self.work.write:
            return
        rows = Argument.objects.bulk_create(
            Argument(
                study=self.work.study,
                comparison_id=self.work.comparisons.known[unit[:2]],
                text=entry.text,
                text_sha256=unit[2],
                source_url=entry.source_url,
                external_id=entry.argument_id,
            )
            for unit, entry in new.items()
        )
        self.known |= {unit: row.pk for unit, row in zip(new, rows, strict=True)}

    def finish(self) -> None:
        """Say which rows brought nothing, because an earlier one had said it."""
        if not self._repeated:
            return
        text = ngettext(
            "%(number)s row repeats an argument of the file, which is taken once: row %(rows)s.",
            "%(number)s rows repeat arguments of the file, which are taken once: rows %(rows)s.",
            len(self._repeated),
        )
        shown = ", ".join(map(str, list(self._repeated)[:REPEATED_SHOWN]))
        rows = shown if len(self._repeated) <= REPEATED_SHOWN else f"{shown} …"
        self.work.outcome.notes.append(text % {"number": len(self._repeated), "rows": rows})

    def _note_repeated(self, unit: Unit, entry: ArgumentEntry) -> None:
        """Of a campaign, many rows are about one argument."""
        if entry.campaign or entry.row is None:
            return
        if self._first_rows.setdefault(unit, entry.row) != entry.row:
            self._repeated[entry.row] = None

    def _compare_argument(self, entry: ArgumentEntry, pk: int, url: str, name: str) -> None:
        """An empty cell says nothing, so it never counts as a change."""
        change = {}
        if entry.source_url and entry.source_url != url:
            change["source_url"] = entry.source_url
        if entry.argument_id and entry.argument_id != name:
            change["external_id"] = entry.argument_id
        self.work.result("arguments", "changed" if change else "same")
        if change:
            self.work.remark(entry, ", ".join(change), self.work.changed(url or name or "–"))
        if change and self.work.write and self.work.update_changed:
            Argument.objects.filter(pk=pk).update(**change)


def _folded(pair: Pair) -> frozenset[str]:
    one, two = (" ".join(part.split()).casefold() for part in pair)
    return frozenset({one, two}) if one != two else frozenset({one, two, ""})
