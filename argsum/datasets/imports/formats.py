"""The formats of files with arguments."""

from dataclasses import dataclass

from django.utils.translation import gettext_lazy as _

from cqa_site.files.actions.reconcile import Reconciliation
from cqa_site.files.asking import Asking
from cqa_site.files.counted import Counted, register_counted
from cqa_site.files.formats import Format, Text, register_format
from cqa_site.files.options import Option, register_options

from . import qualities, samples
from .asking import AskingDataset
from .book import DatasetReconciliation
from .entries import BOOK
from .reading import read_argkp, read_list, read_pairs

DATASETS_PAGE = ("datasets", _("Datasets"))
TO_SUMMARIZE = _("Systems can summarize its arguments, topic by topic.")


@dataclass(frozen=True)
class DatasetFormat(Format):
    """A file that makes or fills a dataset."""

    reconciliation: type[Reconciliation] = DatasetReconciliation
    asks: str = "arguments"
    asking: type[Asking] | None = AskingDataset
    next_step: Text = TO_SUMMARIZE
    home: tuple[str, Text] | None = DATASETS_PAGE


def register_argument_imports() -> None:
    """Make files with arguments known to the platform."""
    register_counted(
        Counted(BOOK, _("Topics with stance")),
        Counted("key_points", _("Reference key points")),
        Counted("matches", _("Labels of pairs")),
    )
    register_options(
        Option("dataset", longest=120, hint="By name; by default the file's."),
        Option("recipe", longest=20, hint="Of a new dataset of arguments: blank, or published."),
        Option("half", longest=4, hint="Only the test or the dev half takes part: test or dev."),
        Option("seed", longest=10, hint="Draws the half. Blank: 1."),
        Option("quality", longest=80, hint="Column of the quality, where a file has several."),
    )
    register_format(
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
            _("Comments or arguments on topics, without key points (CSV, JSONL)"),
            read_list,
            fits=samples.fits_list,
            sample=samples.SAMPLES["argument_list"],
            holds=_(
                "One row per comment or argument: topic, argument and, if known, stance and "
                "quality."
            ),
        ),
        DatasetFormat(
            "rated_arguments",
            _("Qualities of arguments that are here (CSV)"),
            qualities.read_qualities,
            qualities.QualityReconciliation,
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
