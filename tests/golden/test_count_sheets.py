"""The four released annotators through the import: 144 sets, and how far they agree."""

import os
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from argsum.counting.methods.released_rows import LEFT_OUT
from argsum.counting.models import CountSheet
from argsum.datasets.models import Cell
from argsum.keypoints.models import SummarySet
from argsum.metrics.methods.correlation import pairwise_pearson
from tests.cast import make_study

_DEFAULT = Path(__file__).resolve().parents[2].parent / "shared" / "data"
FOLDER = Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", _DEFAULT)) / "argsum" / "human"
FILES = [FOLDER / f"A{number}.csv" for number in range(1, 5)]
pytestmark = [
    pytest.mark.django_db,
    pytest.mark.reference,
    pytest.mark.skipif(
        not all(path.exists() for path in FILES),
        reason="released data absent: argsum (set COUNTERPOINT_REFERENCE_DATA)",
    ),
]


def run():
    out = StringIO()
    call_command("import_counts", *FILES, study="Released", dataset="ArgKP", stdout=out)
    return out.getvalue()


def agreement(sheets, share):
    """Mean Pearson of the pairs of raters to three digits, and the sets each pair shares."""
    found = {
        (rater, key): value
        for rater, key, value in sheets.values_list("rater__name", "summary_set", share)
    }
    keys = sorted({key for _rater, key in found})
    raters = {
        rater: [found.get((rater, key)) for key in keys]
        for rater in sorted({rater for rater, _key in found})
    }
    pairs = pairwise_pearson(raters)
    return round(pairs.mean, 3), [pair.n for pair in pairs.pairs]


def test_four_files_make_144_sets_whose_sheets_agree_as_published():
    make_study("Released")
    run()
    assert (Cell.objects.count(), SummarySet.objects.count()) == (6, 144)
    assert SummarySet.objects.exclude(system__contains=LEFT_OUT).count() == 126
    assert CountSheet.objects.count() == 96 + 3 * 144
    # Every count is a half step, and none is missing.
    doubled = [2 * each for each in CountSheet.objects.values_list("covered", flat=True)]
    assert all(each.is_integer() for each in doubled)
    rows = CountSheet.objects.exclude(summary_set__system__contains=LEFT_OUT)
    assert agreement(rows, "coverage") == (0.697, [84, 84, 84, 126, 126, 126])
    assert agreement(rows, "redundancy") == (0.722, [84, 84, 84, 126, 126, 126])
    run()
    assert (SummarySet.objects.count(), CountSheet.objects.count()) == (144, 528)
