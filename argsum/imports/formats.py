"""Files with stored scores as a format."""

from django.utils.translation import gettext_lazy as _

from cqa_site.files.counted import Counted, register_counted
from cqa_site.files.formats import JUDGED, WRITTEN, Format, register_format
from cqa_site.files.options import Option, register_options

from .actions.book import StoredScoreReconciliation
from .actions.entries import BOOK
from .actions.reading import read_stored
from .actions.system_book import SystemReconciliation
from .actions.system_reading import POINTS, read_system_points
from .asking import AskingKeyPoints, AskingScores
from .samples import KEY_POINT_SAMPLE, SAMPLE, fits_key_points, fits_scores


def register_summary_score_imports() -> None:
    """Make stored scores known to the platform."""
    register_counted(
        Counted(BOOK, _("Metrics of sets")), Counted(POINTS, _("Key points of systems"))
    )
    register_options(
        Option(
            "order",
            longest=20,
            hint=(
                "Of the arguments that stored ids stand for: key_points, rows or texts. Blank: "
                "whichever the ids show. none: ids of key points are left aside."
            ),
        ),
        Option("stance", longest=10, hint="Of key points whose file names no stance: 1 or -1."),
        Option(
            "scorer",
            longest=120,
            hint=(
                "Match scorer, by name, that finds the arguments of key points whose file names "
                "none. Blank: the usual one; none: nobody."
            ),
        ),
    )
    register_format(
        Format(
            "system_points",
            _("Key points of a system (CSV, JSON, JSONL, TXT)"),
            read_system_points,
            SystemReconciliation,
            heading=WRITTEN,
            fits=fits_key_points,
            sample=KEY_POINT_SAMPLE,
            asks="key-points",
            asking=AskingKeyPoints,
            holds=_(
                "One row per key point: topic, stance, key_point and, if known, system, setting, "
                "prevalence and arguments (ids or texts, divided by semicolons). Or one JSON "
                "object: topic → stance → list of key points; or a list with one key point a line."
            ),
            next_step=_(
                "It stands on the leaderboard once metrics were computed or people count."
            ),
            home=("key_points", _("Key points")),
        )
    )
    register_format(
        Format(
            "metric_scores",
            _("Stored scores of summaries (JSON)"),
            read_stored,
            StoredScoreReconciliation,
            heading=JUDGED,
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
