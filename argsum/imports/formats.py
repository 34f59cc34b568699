"""Files with stored scores as a format."""

from django.utils.translation import gettext_lazy as _

from cqa_site.files.counted import Counted, register_counted
from cqa_site.files.formats import Format, register_format
from cqa_site.files.options import Option, register_options

from .actions.book import StoredScoreReconciliation
from .actions.entries import BOOK
from .actions.reading import read_stored
from .asking import AskingScores
from .samples import SAMPLE, fits_scores


def register_summary_score_imports() -> None:
    """Make stored scores known to the platform."""
    register_counted(Counted(BOOK, _("Metrics of sets")))
    register_options(
        Option(
            "order",
            longest=20,
            hint=(
                "Of the arguments that stored cluster ids stand for: key_points, rows or texts. "
                "Blank: key_points, if the ids show it."
            ),
        )
    )
    register_format(
        Format(
            "metric_scores",
            _("Stored scores of summaries (JSON)"),
            read_stored,
            StoredScoreReconciliation,
            fits=fits_scores,
            sample=SAMPLE,
            asks="summary-scores",
            asking=AskingScores,
            holds=_(
                "Scores of runs bring sets without texts; clusterings hold ids of arguments in "
                "one order or another; soft scores belong to the sets that people counted, in "
                "the order of topic, stance and system."
            ),
            next_step=_("Its scores stand beside those that are computed here."),
            home=("datasets", _("Datasets")),
        )
    )
