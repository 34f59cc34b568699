import numpy as np
import pytest

from cqa_site.stats.agreement import (
    LEVELS,
    krippendorff_alpha,
    per_item_disagreement,
    per_label_agreement,
)
from tests.stats.tables import ratings_of, simulated


@pytest.mark.parametrize("level", LEVELS)
def test_relative_disagreement_averages_to_one_minus_alpha(level):
    ratings = simulated(70, 5, 0.4)
    table = per_item_disagreement(ratings, level)
    share = np.average(table["relative"].astype(float), weights=table["n"])
    assert 1 - share == pytest.approx(krippendorff_alpha(ratings, level).value)


def test_the_most_disputed_item_comes_first_and_single_ratings_do_not_come():
    table = per_item_disagreement(ratings_of([[1, 1], [0, 3], [2, None], [1, 2]]), "ordinal")
    assert table.index.tolist() == ["i1", "i3", "i0"]
    assert table["spread"].tolist() == [3, 1, 0]


def test_one_value_leaves_the_relative_distance_missing():
    table = per_item_disagreement(ratings_of([[1, 1], [1, 1]]), "interval")
    assert table["mean_distance"].tolist() == [0, 0]
    assert table["relative"].isna().all()


def test_specific_agreement_of_two_raters_is_positive_agreement():
    # Cells 11: 3, 10: 1, 01: 2, 00: 4 -> 2*3/(2*3+3) and 2*4/(2*4+3).
    rows = [[1, 1]] * 3 + [[1, 0]] + [[0, 1]] * 2 + [[0, 0]] * 4
    table = per_label_agreement(ratings_of(rows))
    assert table["agreement"].tolist() == pytest.approx([8 / 11, 6 / 9])
    assert table["n_values"].tolist() == [11, 9]
    assert table["chance"].tolist() == pytest.approx([10 / 19, 8 / 19])


def test_a_label_nobody_could_repeat_has_no_agreement():
    table = per_label_agreement(ratings_of([[0, 0], [3, None]]))
    assert table["n_values"].tolist() == [2, 0]
    assert table["agreement"].isna().tolist() == [False, True]
