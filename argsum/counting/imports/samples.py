"""A small invented file of one person's counts, and how the format is recognised."""

from django.utils.translation import gettext as _

from argsum.datasets.imports.samples import DATASET, KEY_POINTS, STANCE, TOPIC
from cqa_site.files.looking import Look, Sample, csv_of

COLUMNS = (
    "topic",
    "stance",
    "reference",
    "prediction",
    "n_covered",
    "n_unique",
    "coverage",
    "redundancy",
    "file_name",
)
# What two systems wrote: one misses a key point, the other says the same twice.
WRITTEN = {
    "alpha.json": ("People get together", "The air gets better"),
    "beta.json": ("People meet", "Neighbours meet", "Children learn about plants", "Cooler towns"),
}
COUNTS = {"alpha.json": (2, 2), "beta.json": (3, 3)}


def _counts() -> bytes:
    rows = []
    for name, texts in WRITTEN.items():
        covered, unique = COUNTS[name]
        shares = (covered / len(KEY_POINTS), 1 - unique / len(texts))
        rows.append(
            (TOPIC, STANCE, _lines(KEY_POINTS), _lines(texts), covered, unique, *shares, name)
        )
    return csv_of(COLUMNS, rows)


def _lines(texts: tuple[str, ...]) -> str:
    return "\n".join(f"{number}: {text}" for number, text in enumerate(texts, 1))


SAMPLE = Sample("sample-counts.csv", _counts, {"dataset": DATASET, "rater": "A1"})


def fits_counts(look: Look) -> str:
    """References, predictions and their counts."""
    if not look.has("reference", "prediction", "coverage", "redundancy"):
        return ""
    return _("each row has references, predictions, coverage and redundancy")
