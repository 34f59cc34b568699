"""The statistics over the released crowd votes, read straight from the export with pandas.

An independent check: no importer takes part. Approved rows only; a task is an item.
"""

import os
from pathlib import Path

import pandas as pd
import pytest

from cqa_site.stats.agreement import krippendorff_alpha
from cqa_site.stats.latent.aggregation import majority, split_pattern
from cqa_site.stats.ratings import Ratings

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", ROOT.parent / "shared" / "data"))
EXPORT = DATA / "relevance" / "assignments_from_pool_42774131__05-02-2024.tsv"

pytestmark = [
    pytest.mark.reference,
    pytest.mark.skipif(not EXPORT.exists(), reason=f"released data not found at {EXPORT}"),
]

COLUMNS = {
    "ASSIGNMENT:task_id": "item",
    "ASSIGNMENT:worker_id": "rater",
    "OUTPUT:R-4": "value",
    "GOLDEN:R-4": "expected",
    "INPUT:input": "text",
}


@pytest.fixture(scope="module")
def votes() -> pd.DataFrame:
    rows = pd.read_csv(EXPORT, sep="\t")
    assert len(rows) == 6854
    return rows[rows["ASSIGNMENT:status"] == "APPROVED"].rename(columns=COLUMNS)


@pytest.fixture(scope="module")
def ordinary(votes) -> pd.DataFrame:
    return votes[votes["expected"].isna()]


@pytest.fixture(scope="module")
def accuracy(votes) -> pd.Series:
    controls = votes[votes["expected"].notna()]
    return (controls["value"] == controls["expected"]).groupby(controls["rater"]).mean()


def by_value(labels: pd.Series) -> list[int]:
    return labels.value_counts().sort_index().tolist()


def test_what_was_read(votes, ordinary):
    ratings = Ratings.from_frame(votes)
    assert (ratings.n_values, ratings.n_items, ratings.n_raters) == (6409, 1729, 282)
    assert by_value(votes["value"]) == [558, 1308, 2117, 2426]
    assert (len(ordinary), ordinary["item"].nunique()) == (5127, 1709)


@pytest.mark.parametrize(
    ("level", "over_all", "over_ordinary"),
    [("nominal", 0.2687, 0.2346), ("ordinal", 0.3397, 0.2917), ("interval", 0.3350, 0.2852)],
)
def test_alpha(votes, ordinary, level, over_all, over_ordinary):
    found = krippendorff_alpha(Ratings.from_frame(votes), level)
    assert found.value == pytest.approx(over_all, abs=5e-5)
    assert found.low < over_all < found.high
    found = krippendorff_alpha(Ratings.from_frame(ordinary), level)
    assert found.value == pytest.approx(over_ordinary, abs=5e-5)


def test_majority_over_tasks_and_over_distinct_units(votes):
    labels = majority(Ratings.from_frame(votes))
    assert by_value(labels["label"]) == [55, 241, 524, 909]
    text = votes.drop_duplicates("item").set_index("item")["text"]
    # Ten texts are two tasks each: one unit, with the votes of both.
    pooled = votes.assign(item=votes["text"], rater=votes["rater"] + votes["item"])
    units = majority(Ratings.from_frame(pooled))
    assert len(units) == text.nunique() == 1719
    assert by_value(units["label"]) == [49, 241, 522, 907]


def test_splits(ordinary):
    splits = split_pattern(Ratings.from_frame(ordinary)).value_counts()
    assert splits.to_dict() == {"3-0": 505, "2-1": 938, "1-1-1": 266}
    assert majority(Ratings.from_frame(ordinary))["tied"].sum() == 266


def test_control_accuracy(votes, accuracy):
    controls = votes[votes["expected"].notna()]
    assert (controls["value"] == controls["expected"]).sum() == 779
    assert len(controls) == 1282
    assert [(accuracy < 0.5).sum(), (accuracy == 1).sum(), (accuracy == 0).sum()] == [94, 39, 31]


def test_only_the_workers_with_half_of_the_controls_right(ordinary, accuracy):
    kept = accuracy.index[accuracy >= 0.5]
    everyone = Ratings.from_frame(ordinary)
    ratings = everyone.subset(raters=kept)
    labels = majority(ratings)
    assert (len(kept), ratings.n_values) == (188, 3856)
    assert everyone.n_items - ratings.n_items == 41
    assert labels["tied"].sum() == 399
    assert by_value(labels["label"]) == [55, 238, 439, 936]
    assert krippendorff_alpha(ratings, "ordinal").value == pytest.approx(0.4055, abs=5e-5)
