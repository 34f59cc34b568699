"""The formats of files with comments or arguments."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from argsum.datasets.methods.comment_columns import proposed
from cqa_site.files.actions.guessing import guessed
from cqa_site.files.actions.reconcile import Reconciliation
from cqa_site.files.asking import Asking
from cqa_site.files.counted import Counted, register_counted
from cqa_site.files.formats import JUDGED, Format, Link, Text, register_format
from cqa_site.files.options import Option, register_options

from . import comment_samples, qualities, samples
from .asking import AskingDataset
from .book import DatasetReconciliation
from .comment_asking import AskingComments
from .comment_book import STATEMENTS, CommentReconciliation
from .comment_reading import COMMENTS, OWN, read_comments
from .entries import BOOK, dataset_name
from .reading import read_argkp, read_list, read_pairs

if TYPE_CHECKING:
    from argsum.datasets.models import Dataset
    from cqa_site.files.models import ImportBatch, ImportFile
    from cqa_site.people.models import Study
    from cqa_site.tabular import Preview

DATASETS_PAGE = ("datasets", _("Datasets"))
TO_SUM_UP = _("What they say can be summed up in key points, topic by topic.")
DONE = "done"
TO_PLACE = _("Key points were found in this dataset before; the new comments can be placed there.")
NEW_COMMENTS = ngettext_lazy("%(shown)s comment", "%(shown)s comments", "number")
TO_SUMMARIZE = _("Systems can summarize its arguments, topic by topic.")


@dataclass(frozen=True)
class DatasetFormat(Format):
    """A file that makes or fills a dataset."""

    reconciliation: type[Reconciliation] = DatasetReconciliation
    asks: str = "arguments"
    asking: type[Asking] | None = AskingDataset
    next_step: Text = TO_SUMMARIZE
    home: tuple[str, Text] | None = DATASETS_PAGE


@dataclass(frozen=True)
class CommentFormat(Format):
    """A file that makes or fills a dataset of comments."""

    reconciliation: type[Reconciliation] = CommentReconciliation
    asks: str = "comments"
    asking: type[Asking] | None = AskingComments
    is_mapped: bool = True
    takes_lines: bool = True
    gives_way: bool = True
    next_step: Text = TO_SUM_UP
    home: tuple[str, Text] | None = DATASETS_PAGE

    def guess(
        self, file: "ImportFile", shown: "Preview", options: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """Columns by their names, and by the length of what is in them."""
        is_own = shown.columns[: len(OWN)] == OWN
        return guessed(file, shown, proposed(shown.columns, shown.rows), is_own=is_own)

    def follow(self, file: "ImportFile") -> Text:
        """New key points, or places at those that are here."""
        dataset = _dataset_of(file.study, file)
        return TO_PLACE if dataset and _analysis_of(dataset) else self.next_step

    def links(self, study: "Study", file: "ImportFile | ImportBatch") -> list[Link]:
        """To the key points of the dataset, found or not found yet, and to the dataset."""
        dataset = _dataset_of(study, file)
        if dataset is None:
            return super().links(study, file)
        own = [study.public_id, dataset.public_id]
        page = Link(_("Dataset"), reverse("dataset", args=own))
        if analysis := _analysis_of(dataset):
            there = reverse("analysis", args=[study.public_id, analysis.public_id])
            return [Link(_("Place them at its key points"), there), page]
        cells = list(dataset.cells.all()[:2])
        if len(cells) != 1:
            return [Link(_("Find key points"), page.address)]
        new = f"{reverse('analysis_new', args=own[:1])}?cell={cells[0].public_id}"
        return [Link(_("Find key points"), new), page]


def _dataset_of(study: "Study", file: "ImportFile | ImportBatch") -> "Dataset | None":
    # Several files of one upload may have filled several.
    name = getattr(file, "name", "")
    return study.argument_datasets.filter(name=dataset_name(file.options, name)).first()


def _analysis_of(dataset: "Dataset") -> Any:
    # By its relation: analyses are made from datasets, which know nothing of them.
    return dataset.study.analyses.filter(cell__dataset=dataset, state=DONE).first()


def register_argument_imports() -> None:
    """Make files with arguments known to the platform."""
    register_counted(
        Counted(BOOK, _("Topics, each stance by itself")),
        Counted("key_points", _("Reference key points")),
        Counted("matches", _("Labels of pairs")),
        Counted(COMMENTS, _("Comments"), NEW_COMMENTS),
        Counted(STATEMENTS, _("Different statements")),
    )
    register_options(
        Option("dataset", longest=120, hint="By name; by default the file's."),
        Option(
            "topic",
            longest=500,
            hint=(
                "What people were asked, or what comments or key points are about; needed unless "
                "the file says it, or the dataset is here with one topic."
            ),
        ),
        Option(
            "first_row",
            longest=7,
            hint="Of one column: comment or header. Blank: what the row itself looks like.",
            flag="first-row",
        ),
        Option(
            "date_order",
            longest=5,
            hint="What 3/4/2024 begins with: day or month. Blank: what the column shows.",
            flag="date-order",
        ),
        Option(
            "repeats",
            longest=4,
            hint="Comments without id that are here already: same (also if blank), or new.",
        ),
        Option("recipe", longest=20, hint="Of a new dataset of arguments: blank, or published."),
        Option("half", longest=4, hint="Only the test or the dev half takes part: test or dev."),
        Option("seed", longest=10, hint="Draws the half. Blank: 1."),
        Option("quality", longest=80, hint="Column of the quality, where a file has several."),
    )
    register_format(
        CommentFormat(
            "comments",
            _("Comments, one a row (CSV, TSV, XLSX, JSONL, plain text with one comment a line)"),
            read_comments,
            fits=comment_samples.fits_comments,
            sample=comment_samples.SAMPLE,
            holds=_(
                "One row per comment. One column is enough; a date, a group and whatever else "
                "stands beside it are kept."
            ),
        ),
        DatasetFormat(
            "argkp",
            _("Arguments, key points and their labels (ZIP of three CSV files)"),
            read_argkp,
            fits=samples.fits_argkp,
            sample=samples.SAMPLES["argkp"],
            holds=_(
                "An archive with arguments_…, key_points_… and labels_… for train, dev or test, "
                "as CSV files."
            ),
        ),
        DatasetFormat(
            "argument_pairs",
            _("Pairs of arguments and key points (CSV)"),
            read_pairs,
            fits=samples.fits_pairs,
            sample=samples.SAMPLES["argument_pairs"],
            holds=_(
                "One row per argument and key point: topic, argument, key_point, stance, label "
                "and, if known, set and quality. Without a label column every row is a match."
            ),
        ),
        DatasetFormat(
            "argument_list",
            _("Arguments on topics, without key points (CSV, JSONL)"),
            read_list,
            fits=samples.fits_list,
            sample=samples.SAMPLES["argument_list"],
            holds=_("One row per argument: topic, argument and, if known, stance and quality."),
        ),
        DatasetFormat(
            "rated_arguments",
            _("Qualities of arguments that are here (CSV)"),
            qualities.read_qualities,
            qualities.QualityReconciliation,
            heading=JUDGED,
            fits=qualities.fits_qualities,
            sample=qualities.SAMPLE,
            asks="qualities",
            asking=qualities.AskingQualities,
            next_step=_("Systems can take the imported quality, and a scorer can learn from it."),
            holds=_(
                "One row per argument: topic, argument and a quality from 0 to 1, such as the WA "
                "or MACE-P of ArgQ-30k. Arguments of the dataset are found by topic and text."
            ),
        ),
    )
