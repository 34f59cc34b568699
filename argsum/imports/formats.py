"""File formats of stored scores and key points, with their questions and samples."""

from typing import Any

from django.utils.translation import gettext as _, gettext_lazy as lazy

from argsum.datasets.forms import ExistingDatasetForm
from argsum.datasets.imports.argument_files import DATASET, STANCE, TOPIC
from argsum.datasets.imports.datasets import ExistingDatasetImportForm
from argsum.metrics.methods import LLM
from cqa_site.files.format_parts import (
    Look,
    ObjectCount,
    Option,
    Sample,
    csv_of,
    json_of,
    register_counted,
    register_options,
)
from cqa_site.files.formats import JUDGED, WRITTEN, Format, register_format
from .actions.key_points import POINTS, SystemReconciliation, read_system_points
from .actions.placement import METRIC_SETS, system_of
from .actions.scores import StoredScoreReconciliation, read_stored
from .forms import StoredScoresForm, SystemKeyPointsForm
from .methods.released_scores import CLUSTERINGS
from .methods.system_files import INSIDE, columns_of


def _scores() -> bytes:
    settings = {
        f"({threshold},)": {"llm_coverage": coverage, "runtime": 2.5}
        for threshold, coverage in ((0.3, 0.75), (0.5, 0.5))
    }
    content = {"parameter_names": ["threshold"], "scores": {TOPIC: {str(STANCE): settings}}}
    return json_of(content)


SAMPLE = Sample(
    "sample-scores.json", _scores, {"dataset": DATASET, "system": "Sample"}, after="argkp"
)


def _key_points() -> bytes:
    rows = [
        (
            TOPIC,
            STANCE,
            "Somebody’s system",
            "People get together in a garden",
            "a0;a1;a2;a3;a4;a5",
        ),
        (TOPIC, STANCE, "Somebody’s system", "Plants keep the air cool and clean", "a6;a7;a8;a9"),
        (TOPIC, STANCE, "Somebody’s system", "Children see how vegetables grow", "a12;a14;a17"),
    ]
    return csv_of(("topic", "stance", "system", "key_point", "arguments"), rows)


KEY_POINT_SAMPLE = Sample(
    "sample-system.csv",
    _key_points,
    {"dataset": DATASET, "system": "Somebody’s system"},
    after="argkp",
)


def fits_key_points(look: Look) -> str:
    """Return why the file fits, or "" if it does not contain key points by topic."""
    if {"reference", "argument", "keypointid", "label"} & look.bare:
        return ""
    if {"topic", "key_point"} <= columns_of(look.columns).keys():
        return _("each row has a topic and a key point, but no argument")
    if set(INSIDE) & set(look.keys):
        return _("it contains summaries by topic and stance")
    return ""


def fits_scores(look: Look) -> str:
    """Return why the JSON fits, or "" if it has no scores, clusterings or counts by a model."""
    named = {"scores", *CLUSTERINGS}
    if "parameter_names" in look.keys and named & set(look.keys):
        return _("it contains parameter_names alongside scores or clusterings")
    if set(LLM) & set(look.keys):
        return _("it contains counts by a language model")
    return ""


class ScoresImportForm(ExistingDatasetImportForm):
    title = lazy("Stored scores")
    form_class: type[ExistingDatasetForm] = StoredScoresForm

    def initial(self) -> dict[str, Any]:
        """Return the earlier answers, with the system taken from the file name if not given."""
        return self.file.options | {"system": system_of(self.file.options, self.file.name)}


class KeyPointsImportForm(ScoresImportForm):
    """Questions about the key points' dataset and about data missing from the file."""

    title = lazy("Key points of a system")
    form_class = SystemKeyPointsForm


def register_summary_score_imports() -> None:
    """Register the formats of stored scores and key points for import."""
    register_counted(
        ObjectCount(METRIC_SETS, lazy("Metrics of sets")),
        ObjectCount(POINTS, lazy("Key points of systems")),
    )
    register_options(
        Option(
            "order",
            longest=20,
            hint=(
                "Order of the arguments behind stored ids: key_points, rows or texts. Default: "
                "detected from the ids. With none, ids of key points are ignored."
            ),
        ),
        Option("stance", longest=10, hint="Stance, if the file has none: 1 or -1."),
        Option(
            "scorer",
            longest=120,
            hint=(
                "Name of the match scorer that finds arguments if the file has none. Default: "
                "the default scorer. With none, nothing is matched."
            ),
        ),
    )
    register_format(
        Format(
            "system_points",
            lazy("Key points of a system (CSV, JSON, JSONL, TXT)"),
            read_system_points,
            SystemReconciliation,
            heading=WRITTEN,
            fits=fits_key_points,
            sample=KEY_POINT_SAMPLE,
            asks="key-points",
            asking=KeyPointsImportForm,
            holds=lazy(
                "One row per key point: topic, stance, key_point and, if known, system, "
                "setting, prevalence and arguments (ids or texts, separated by semicolons). Or "
                "one JSON object: topic → stance → list of key points. Or a list with one key "
                "point per line."
            ),
            next_step=lazy(
                "The system appears on the leaderboard once metrics are computed or people have "
                "counted its key points."
            ),
            home=("key_points", lazy("Key points")),
        )
    )
    register_format(
        Format(
            "metric_scores",
            lazy("Stored scores of summaries (JSON)"),
            read_stored,
            StoredScoreReconciliation,
            heading=JUDGED,
            fits=fits_scores,
            sample=SAMPLE,
            asks="summary-scores",
            asking=ScoresImportForm,
            holds=lazy(
                "Scores from runs create sets without texts. Clusterings list argument ids in "
                "one of several orders. Soft scores belong to the sets that people have "
                "judged, ordered by topic, stance and system."
            ),
            next_step=lazy("The scores are shown next to the scores computed here."),
            home=("datasets", lazy("Datasets")),
        )
    )
