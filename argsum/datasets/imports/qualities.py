"""A file of qualities for arguments that are there: by topic and text, whatever their stance."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from argsum.datasets.actions.datasets import in_use, is_frozen
from argsum.datasets.forms import QualitiesForm
from argsum.datasets.methods.argument_columns import quality_columns
from argsum.datasets.methods.rated_files import RatedRow, read_rated
from argsum.datasets.methods.same_text import plain
from argsum.datasets.models import CellArgument, Dataset
from cqa_site.files.actions.reconcile import Reconciliation
from cqa_site.files.actions.rows import Entry, ImportRefused, Line, Note, Source, rejected
from cqa_site.files.asking import Asking
from cqa_site.files.looking import Look, Sample, csv_of

from .samples import ARGUMENTS, DATASET, TOPIC

BOOK = "arguments"
PIECE = 500
COLUMNS = ("argument", "topic", "set", "WA", "MACE-P", "stance_WA", "stance_WA_conf")


@dataclass(frozen=True, slots=True)
class QualityEntry(Entry):
    """The quality of one argument."""

    is_row: ClassVar[bool] = True

    dataset: str
    rated: RatedRow


def read_qualities(source: Source) -> Iterator[Line]:
    """One entry a row that has a quality."""
    found = read_rated(source.path, name=source.name, column=source.text("quality"))
    for problem in found.problems:
        yield rejected(problem, of=BOOK)
    if found.others:
        text = _("The quality is read from %(column)s, not from %(others)s.")
        yield Note(text % {"column": found.column, "others": ", ".join(found.others)})
    for rated in found.rows:
        yield QualityEntry(rated.row, source.text("dataset"), rated)


class QualityReconciliation(Reconciliation):
    """One pass over one file, which changes nothing but qualities."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._dataset: Dataset | None = None
        self._exact: dict[tuple[str, str], list[CellArgument]] = defaultdict(list)
        self._plain: dict[tuple[str, str], list[CellArgument]] = defaultdict(list)
        self._given: dict[int, float] = {}
        self._missing = 0
        self._is_changed = False

    def compare(self, entries: Sequence[QualityEntry]) -> None:
        """Compare a piece of the file."""
        if self._dataset is None:
            self._open(entries[0].dataset)
        changed = [row for entry in entries for row in self._take(entry)]
        if self.write:
            CellArgument.objects.bulk_update(changed, ["quality"], batch_size=PIECE)

    def finish(self) -> None:
        """Say what the dataset lacks, and refuse a change of what was used."""
        if self._missing:
            text = ngettext(
                "%s row is about an argument that the dataset does not have, and is left out.",
                "%s rows are about arguments that the dataset does not have, and are left out.",
                self._missing,
            )
            self.outcome.notes.append(text % f"{self._missing:,}")
        if self._dataset is not None and self._is_changed and is_frozen(self._dataset):
            raise ImportRefused(in_use(self._dataset))

    def _open(self, name: str) -> None:
        rows = Dataset.objects.filter(study=self.study, name=name)
        self._dataset = (rows.select_for_update() if self.write else rows).first()
        if self._dataset is None:
            raise ImportRefused(_("The study has no dataset called “%s”.") % name)
        arguments = CellArgument.objects.filter(cell__dataset=self._dataset)
        for row in arguments.select_related("cell").order_by("cell", "position"):
            self._exact[row.cell.topic, row.text].append(row)
            self._plain[plain(row.cell.topic), plain(row.text)].append(row)

    def _take(self, entry: QualityEntry) -> Iterator[CellArgument]:
        """Arguments that get another quality; the same text may stand on both sides."""
        rated = entry.rated
        found = self._exact.get((rated.topic, rated.text))
        found = found or self._plain.get((plain(rated.topic), plain(rated.text))) or []
        sided = [row for row in found if not rated.stance or row.cell.stance == rated.stance]
        if not found:
            self._missing += 1
        for row in sided or found:
            before = self._given.setdefault(row.pk, rated.quality)
            if before != rated.quality:
                reason = _("The same argument had %s before.") % f"{before:g}"
                self.leave_out(entry.row, "quality", reason, of=BOOK)
            elif row.quality == rated.quality:
                self.result(BOOK, "same")
            elif row.quality is None or self._differs(entry, row):
                self.result(BOOK, "changed" if row.quality is not None else "new")
                row.quality = rated.quality
                self._is_changed = True
                yield row

    def _differs(self, entry: QualityEntry, row: CellArgument) -> bool:
        """Whether a stored quality is replaced, which is said in any case."""
        self.mention(entry.row, "quality", self.changed(f"{row.quality:g}"))
        if not self.update_changed:
            self.result(BOOK, "changed")
        return self.update_changed


class AskingQualities(Asking):
    """Which dataset they are for, and which column they are in."""

    title = lazy("Qualities of arguments")
    heading = lazy("Which dataset are they for?")

    def missing(self) -> tuple[Any, Any] | None:
        """That there is nothing yet that could have a quality."""
        if self.study.argument_datasets.exists():
            return None
        return _("No dataset yet"), _("Import the arguments first, such as this file as a list.")

    def form(self, data: Any) -> forms.Form:
        """With what was said."""
        return QualitiesForm(data, study=self.study, initial=self.file.options)


def _sample() -> bytes:
    rows = [
        (text, TOPIC, "dev", f"{0.5 + place / 40:.3f}", f"{0.45 + place / 40:.3f}", 1, 0.9)
        for place, text in enumerate(ARGUMENTS)
    ]
    return csv_of(COLUMNS, rows)


SAMPLE = Sample("sample-qualities.csv", _sample, {"dataset": DATASET}, after="argkp")


def fits_qualities(look: Look) -> str:
    """Topics and arguments with the two qualities of ArgQ-30k."""
    if not {"argument", "topic", "wa", "macep"} <= look.bare:
        return ""
    return _("each row has an argument with a quality (%s)") % quality_columns(look.columns)[0]
