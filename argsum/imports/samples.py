"""Small invented files of stored scores and of key points, and how they are recognised."""

from django.utils.translation import gettext as _

from argsum.datasets.imports.samples import DATASET, STANCE, TOPIC
from argsum.imports.methods.released_scores import CLUSTERINGS
from argsum.imports.methods.system_files import INSIDE, columns_of
from argsum.metrics.methods.names import LLM
from cqa_site.files.looking import Look, Sample, csv_of, json_of


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
    """Key points by topic, in a table without arguments of its own, or in one JSON object."""
    if {"reference", "argument", "keypointid", "label"} & look.bare:
        return ""
    if {"topic", "key_point"} <= columns_of(look.columns).keys():
        return _("each row has a topic and a key point, and no argument")
    if set(INSIDE) & set(look.keys):
        return _("it holds summaries by topic and stance")
    return ""


def fits_scores(look: Look) -> str:
    """One JSON object of scores, clusterings, a model's counts or soft scores."""
    named = {"scores", *CLUSTERINGS}
    if "parameter_names" in look.keys and named & set(look.keys):
        return _("it holds parameter_names beside scores or clusterings")
    if set(LLM) & set(look.keys):
        return _("it holds the counts of a language model")
    return ""
