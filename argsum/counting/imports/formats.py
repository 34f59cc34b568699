"""Files with people's counts as a format."""

from django.utils.translation import gettext_lazy as _

from argsum.datasets.imports.formats import DatasetFormat
from cqa_site.files.counted import Counted, register_counted
from cqa_site.files.formats import JUDGED, register_format
from cqa_site.files.options import Option, register_options

from .asking import AskingCounts
from .book import CountReconciliation
from .entries import BOOK
from .reading import read_count_sheets
from .samples import SAMPLE, fits_counts


def register_count_imports() -> None:
    """Make counts known to the platform."""
    register_counted(Counted("sets", _("Sets of key points")), Counted(BOOK, _("Count sheets")))
    register_options(
        Option(
            "references",
            longest=10,
            hint=(
                "Of counts whose references are worded otherwise than the dataset's: blank takes "
                "those that are clear, same takes none, order takes the first for the first."
            ),
        )
    )
    register_format(
        DatasetFormat(
            "count_sheets",
            _("Coverage and uniqueness counts of one person (CSV)"),
            read_count_sheets,
            CountReconciliation,
            heading=JUDGED,
            fits=fits_counts,
            sample=SAMPLE,
            asks="counts",
            asking=AskingCounts,
            holds=_(
                "One row per set: topic, stance, reference, prediction, n_covered, n_unique, "
                "coverage, redundancy, file_name. Coverage and redundancy are read from their "
                "own columns; -2 is a set not judged, -1 an unsure count."
            ),
        )
    )
