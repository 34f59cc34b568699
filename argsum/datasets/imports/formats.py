"""Formats of files with comments, arguments or argument qualities."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from django.urls import reverse
from django.utils.translation import gettext as _, gettext_lazy as lazy, ngettext, ngettext_lazy

from argsum.datasets.actions import in_use, is_frozen
from argsum.datasets.forms import QualitiesForm
from argsum.datasets.methods.argument_cells import quality_columns
from argsum.datasets.methods.argument_files import RatedRow, read_rated
from argsum.datasets.methods.comment_columns import proposed
from argsum.datasets.methods.statements import plain
from argsum.datasets.models import CellArgument, Dataset
from cqa_site.files.actions.imports import (
    ImportEntry,
    ImportRefused,
    ImportSource,
    Line,
    Note,
    Reconciliation,
    rejected,
)
from cqa_site.files.format_parts import (
    Look,
    ObjectCount,
    Option,
    Sample,
    csv_of,
    register_counted,
    register_options,
)
from cqa_site.files.formats import JUDGED, Format, PageLink, Text, register_format
from cqa_site.files.forms import ImportForm
from . import argument_files, comment_files
from .argument_files import (
    ARGUMENTS,
    CELLS,
    DATASET,
    TOPIC,
    dataset_name,
    existing_dataset,
    read_argkp,
    read_list,
    read_pairs,
)
from .comment_files import COMMENTS, OWN, read_comments
from .comments import STATEMENTS, CommentReconciliation, CommentsImportForm
from .datasets import DatasetImportForm, DatasetReconciliation, ExistingDatasetImportForm

if TYPE_CHECKING:
    from cqa_site.files.models import ImportBatch, ImportFile
    from cqa_site.people.models import Study
    from cqa_site.tabular import FilePreview


QUALITIES = "arguments"
PIECE = 500
COLUMNS = ("argument", "topic", "set", "WA", "MACE-P", "stance_WA", "stance_WA_conf")


@dataclass(frozen=True, slots=True)
class QualityEntry(ImportEntry):
    """The quality of one argument."""

    makes: ClassVar[str] = QUALITIES

    dataset: str
    rated: RatedRow


def read_qualities(source: ImportSource) -> Iterator[Line]:
    """Read one entry for each row with a quality."""
    column = source.text("quality")
    file = read_rated(source.path, name=source.name, column=column, **source.reading)
    for problem in file.problems:
        yield rejected(problem, of=QUALITIES)
    if file.others:
        text = _("The quality is read from %(column)s, not from %(others)s.")
        yield Note(text % {"column": file.column, "others": ", ".join(file.others)})
    for rated in file.rows:
        yield QualityEntry(rated.row, source.text("dataset"), rated)


class QualityReconciliation(Reconciliation):
    """Comparison of one file that changes only qualities."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._dataset: Dataset | None = None
        self._exact: dict[tuple[str, str], list[CellArgument]] = defaultdict(list)
        self._plain: dict[tuple[str, str], list[CellArgument]] = defaultdict(list)
        self._given: dict[int, float] = {}
        self._missing = 0
        self._is_changed = False

    def compare(self, entries: Sequence[QualityEntry]) -> None:
        if self._dataset is None:
            self._dataset = existing_dataset(self.study, entries[0].dataset, lock=self.write)
            self._read_arguments(self._dataset)
        changed = [row for entry in entries for row in self._take(entry)]
        if self.write:
            CellArgument.objects.bulk_update(changed, ["quality"], batch_size=PIECE)

    def finish(self) -> None:
        """Report arguments missing from the dataset, and reject changes to a dataset in use."""
        if self._missing:
            text = ngettext(
                "%s row has an argument that is not in the dataset and is left out.",
                "%s rows have arguments that are not in the dataset and are left out.",
                self._missing,
            )
            self.outcome.notes.append(text % f"{self._missing:,}")
        if self._dataset is not None and self._is_changed and is_frozen(self._dataset):
            raise ImportRefused(in_use(self._dataset))

    def _read_arguments(self, dataset: Dataset) -> None:
        arguments = CellArgument.objects.filter(cell__dataset=dataset)
        for row in arguments.select_related("cell").order_by("cell", "position"):
            self._exact[row.cell.topic, row.text].append(row)
            self._plain[plain(row.cell.topic), plain(row.text)].append(row)

    def _take(self, entry: QualityEntry) -> Iterator[CellArgument]:
        """Yield arguments with a new quality; the same text may occur for both stances."""
        rated = entry.rated
        arguments = self._exact.get((rated.topic, rated.text))
        arguments = arguments or self._plain.get((plain(rated.topic), plain(rated.text))) or []
        sided = [row for row in arguments if not rated.stance or row.cell.stance == rated.stance]
        if not arguments:
            self._missing += 1
        for row in sided or arguments:
            before = self._given.setdefault(row.pk, rated.quality)
            if before != rated.quality:
                reason = (
                    _("An earlier row gives the same argument the quality %s.") % f"{before:g}"
                )
                self.leave_out(entry, "quality", reason)
            elif row.quality == rated.quality:
                self.result(QUALITIES, "same")
            elif row.quality is None or self._differs(entry, row):
                self.result(QUALITIES, "changed" if row.quality is not None else "new")
                row.quality = rated.quality
                self._is_changed = True
                yield row

    def _differs(self, entry: QualityEntry, row: CellArgument) -> bool:
        """Return whether to replace a stored quality; a remark reports every difference."""
        self.mention(entry, "quality", self.changed(f"{row.quality:g}"))
        if not self.update_changed:
            self.result(QUALITIES, "changed")
        return self.update_changed


class QualitiesImportForm(ExistingDatasetImportForm):
    title = lazy("Argument qualities")
    form_class = QualitiesForm
    import_first = lazy("Import the arguments first, for example from this file, as a list.")


def _sample() -> bytes:
    rows = [
        (text, TOPIC, "dev", f"{0.5 + place / 40:.3f}", f"{0.45 + place / 40:.3f}", 1, 0.9)
        for place, text in enumerate(ARGUMENTS)
    ]
    return csv_of(COLUMNS, rows)


SAMPLE = Sample("sample-qualities.csv", _sample, {"dataset": DATASET}, after="argkp")


def fits_qualities(look: Look) -> str:
    """Return why the file fits, or "" if it lacks topics, arguments or an ArgQ-30k quality."""
    if not {"argument", "topic", "wa", "macep"} <= look.bare:
        return ""
    return _("each row has an argument with a quality (%s)") % quality_columns(look.columns)[0]


DATASETS_PAGE = ("datasets", lazy("Datasets"))
TO_SUM_UP = lazy("The comments can be summarized as key points, topic by topic.")
DONE = "done"
TO_PLACE = lazy(
    "This dataset already has key points. You can place the new comments under these key points."
)
NEW_COMMENTS = ngettext_lazy("%(shown)s comment", "%(shown)s comments", "number")
TO_SUMMARIZE = lazy("Systems can summarize the arguments, topic by topic.")


@dataclass(frozen=True)
class DatasetFormat(Format):
    reconciliation: type[Reconciliation] = DatasetReconciliation
    asks: str = "arguments"
    asking: type[ImportForm] | None = DatasetImportForm
    next_step: Text = TO_SUMMARIZE
    home: tuple[str, Text] | None = DATASETS_PAGE


@dataclass(frozen=True)
class CommentFormat(Format):
    """A file that creates or extends a dataset of comments."""

    reconciliation: type[Reconciliation] = CommentReconciliation
    asks: str = "comments"
    asking: type[ImportForm] | None = CommentsImportForm
    is_mapped: bool = True
    takes_lines: bool = True
    gives_way: bool = True
    next_step: Text = TO_SUM_UP
    home: tuple[str, Text] | None = DATASETS_PAGE

    def guess_columns(
        self, study: "Study", preview: "FilePreview", options: Mapping[str, Any]
    ) -> Mapping[str, str]:
        """Propose columns from their names and the length of their values."""
        return proposed(preview.columns, preview.rows, preview.titles)

    def is_own(self, preview: "FilePreview") -> bool:
        """Return whether the columns are those of our export of comments."""
        return preview.columns[: len(OWN)] == OWN

    def follow(self, file: "ImportFile") -> Text:
        """Return the next step: find key points, or place comments under existing key points."""
        dataset = _dataset_of(file.study, file)
        return TO_PLACE if dataset and _analysis_of(dataset) else self.next_step

    def links(self, study: "Study", file: "ImportFile | ImportBatch") -> list[PageLink]:
        """Return links to the dataset and its key points, or to the page that finds key points."""
        dataset = _dataset_of(study, file)
        if dataset is None:
            return super().links(study, file)
        own = [study.public_id, dataset.public_id]
        page = PageLink(lazy("Dataset"), reverse("dataset", args=own))
        if analysis := _analysis_of(dataset):
            there = reverse("analysis", args=[study.public_id, analysis.public_id])
            return [PageLink(lazy("Place new comments"), there), page]
        cells = list(dataset.cells.all()[:2])
        if len(cells) != 1:
            return [PageLink(lazy("Find key points"), page.address)]
        new = f"{reverse('analysis_new', args=own[:1])}?cell={cells[0].public_id}"
        return [PageLink(lazy("Find key points"), new), page]


def _dataset_of(study: "Study", file: "ImportFile | ImportBatch") -> "Dataset | None":
    # Each file of a batch may have created another dataset.
    name = getattr(file, "name", "")
    return study.argument_datasets.filter(name=dataset_name(file.options, name)).first()


def _analysis_of(dataset: "Dataset") -> Any:
    # Through the relation, because datasets must not depend on analyses.
    return dataset.study.analyses.filter(cell__dataset=dataset, state=DONE).first()


def register_argument_imports() -> None:
    """Register the formats of argument files for import."""
    register_counted(
        ObjectCount(CELLS, lazy("Topics by stance")),
        ObjectCount("key_points", lazy("Reference key points")),
        ObjectCount("matches", lazy("Pair labels")),
        ObjectCount(COMMENTS, lazy("Comments"), NEW_COMMENTS),
        ObjectCount(STATEMENTS, lazy("Different statements")),
    )
    register_options(
        Option("dataset", longest=120, hint="Dataset name. Default: the file name."),
        Option(
            "topic",
            longest=500,
            hint=(
                "Topic or question. Required unless the file has topics or the existing dataset "
                "has only one."
            ),
        ),
        Option(
            "first_row",
            longest=7,
            hint=(
                "First row of a single-column file: comment or header. Default: detected from the "
                "row."
            ),
            flag="first-row",
        ),
        Option(
            "date_order",
            longest=5,
            hint="First number in 3/4/2024: day or month. Default: detected from the column.",
            flag="date-order",
        ),
        Option(
            "repeats", longest=4, hint="Existing comments without an id: same (default) or new."
        ),
        Option(
            "recipe", longest=20, hint="Recipe of a new dataset of arguments: blank or published."
        ),
        Option("half", longest=4, hint="Keep only one half: test or dev."),
        Option("seed", longest=10, hint="Seed for choosing the random half. Default: 1."),
        Option("quality", longest=80, hint="Quality column, if the file has several."),
    )
    register_format(
        CommentFormat(
            "comments",
            lazy("Comments, one per row (CSV, TSV, XLSX, JSONL, or plain text with one per line)"),
            read_comments,
            fits=comment_files.fits_comments,
            sample=comment_files.SAMPLE,
            holds=lazy(
                "One row per comment. One column is enough; a date, a group and any other "
                "columns are kept."
            ),
        ),
        DatasetFormat(
            "argkp",
            lazy("Arguments, key points and their labels (ZIP of three CSV files)"),
            read_argkp,
            fits=argument_files.fits_argkp,
            sample=argument_files.SAMPLES["argkp"],
            holds=lazy(
                "An archive with arguments_…, key_points_… and labels_… for train, dev or test, "
                "as CSV files."
            ),
        ),
        DatasetFormat(
            "argument_pairs",
            lazy("Pairs of arguments and key points (CSV)"),
            read_pairs,
            fits=argument_files.fits_pairs,
            sample=argument_files.SAMPLES["argument_pairs"],
            holds=lazy(
                "One row per argument and key point: topic, argument, key_point, stance, label "
                "and, if known, set and quality. Without a label column every row is a match."
            ),
        ),
        DatasetFormat(
            "argument_list",
            lazy("Arguments on topics, without key points (CSV, JSONL)"),
            read_list,
            fits=argument_files.fits_list,
            sample=argument_files.SAMPLES["argument_list"],
            holds=lazy("One row per argument: topic, argument and, if known, stance and quality."),
        ),
        DatasetFormat(
            "rated_arguments",
            lazy("Qualities of imported arguments (CSV)"),
            read_qualities,
            QualityReconciliation,
            heading=JUDGED,
            fits=fits_qualities,
            sample=SAMPLE,
            asks="qualities",
            asking=QualitiesImportForm,
            next_step=lazy(
                "Systems can use the imported quality, and a scorer can be trained on it."
            ),
            holds=lazy(
                "One row per argument: topic, argument and a quality from 0 to 1, such as WA or "
                "MACE-P from ArgQ-30k. Arguments are matched by topic and text."
            ),
        ),
    )
