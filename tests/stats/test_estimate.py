import json

import pytest

from cqa_site.stats.agreement import krippendorff_alpha
from cqa_site.stats.estimate import Estimate
from tests.stats.tables import ratings_of

ABOUT = {
    "statistic": "toy",
    "recipe": "none",
    "n_items": 1,
    "n_pairable_items": 0,
    "n_raters": 1,
    "n_values": 1,
}


@pytest.mark.parametrize(
    "numbers",
    [
        {"value": float("nan"), "reason": "x"},
        {"value": 0.5, "low": 0.1, "high": float("inf")},
        {"value": 0.5, "low": 0.1, "reason": "x"},
        {"value": None},
        {"value": 0.5},
        {"value": None, "low": 0.1, "high": 0.2, "reason": "x"},
    ],
)
def test_half_an_answer_is_refused(numbers):
    with pytest.raises(ValueError, match=r"estimate|interval|undefined"):
        Estimate(**ABOUT, **numbers)


@pytest.mark.parametrize("rows", [[[1, 2], [2, 2], [0, 1]], [[1]]])
def test_estimates_survive_json(rows):
    estimate = krippendorff_alpha(ratings_of(rows), "ordinal")
    stored = json.loads(json.dumps(estimate.as_dict(), allow_nan=False))
    assert Estimate(**stored) == estimate
