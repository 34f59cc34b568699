"""A small invented file of stored scores, and how the format is recognised."""

from django.utils.translation import gettext as _

from argsum.datasets.imports.samples import DATASET, STANCE, TOPIC
from argsum.imports.methods.released_scores import CLUSTERINGS
from argsum.metrics.methods.names import LLM
from cqa_site.files.looking import Look, Sample, json_of


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


def fits_scores(look: Look) -> str:
    """One JSON object of scores, clusterings, a model's counts or soft scores."""
    named = {"scores", *CLUSTERINGS}
    if "parameter_names" in look.keys and named & set(look.keys):
        return _("it holds parameter_names beside scores or clusterings")
    if set(LLM) & set(look.keys):
        return _("it holds the counts of a language model")
    return ""
