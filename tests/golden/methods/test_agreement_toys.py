"""Small tables worked out by hand; the arithmetic stands beside each number.

The panel of the alpha cases (x is no rating)::

    item   r0 r1 r2      ordered pairs / (ratings - 1)
    i0      0  0  1      (0,0) 2/2 = 1, (0,1) and (1,0) 2/2 = 1 each
    i1      1  1  x      (1,1) 2/1 = 2
    i2      2  2  2      (2,2) 6/2 = 3
    i3      0  x  2      (0,2) and (2,0) 1/1 = 1 each
    i4      x  2  x      one rating: no pair

    coincidences  1 1 1   margins 3, 3, 4; 10 pairable values
                  1 2 0
                  1 0 3
"""

import math

import pandas as pd
import pytest

from cqa_site.stats.agreement import (
    coincidences,
    krippendorff_alpha,
    per_item_disagreement,
    per_label_agreement,
)
from cqa_site.stats.latent.aggregation import majority, split_pattern
from cqa_site.stats.latent.dawid_skene import dawid_skene
from cqa_site.stats.latent.mace import mace
from tests.stats.tables import ratings_of

PANEL = ratings_of([[0, 0, 1], [1, 1, None], [2, 2, 2], [0, None, 2], [None, 2, None]])


def test_coincidences():
    assert coincidences(PANEL).to_numpy().tolist() == [[1, 1, 1], [1, 2, 0], [1, 0, 3]]


@pytest.mark.parametrize(
    ("level", "value"),
    [
        # Observed 1+1+1+1 = 4; expected 10² - 3² - 3² - 4² = 66; 1 - 9*4/66.
        ("nominal", 5 / 11),
        # Mid-ranks 1.5, 4.5, 8: squared distances 9, 42.25, 12.25.
        # Observed 2*9 + 2*42.25 = 102.5; expected 2*(3*3*9 + 3*4*42.25 + 3*4*12.25) = 1470.
        ("ordinal", 1 - 9 * 102.5 / 1470),
        # Observed 2*1 + 2*4 = 10; expected 2*(3*3*1 + 3*4*4 + 3*4*1) = 138.
        ("interval", 8 / 23),
        # Squared (difference / sum): 1, 1, 1/9. Observed 4; expected 2*(9 + 12 + 12/9) = 134/3.
        ("ratio", 13 / 67),
    ],
)
def test_krippendorff_alpha(level, value):
    found = krippendorff_alpha(PANEL, level)
    assert found.value == pytest.approx(value, abs=1e-12)
    assert (found.n_items, found.n_pairable_items, found.n_values) == (5, 4, 10 + 1)


def test_item_jackknife_of_the_nominal_alpha():
    # Without i0: margins 1, 2, 4; 1 - 6*2/(49-21) = 4/7. Pseudo-value 4*5/11 - 3*4/7.
    # Without i1: margins 3, 1, 4; 1 - 7*4/(64-26) = 5/19.
    # Without i2: margins 3, 3, 1; 1 - 6*4/(49-19) = 1/5.
    # Without i3: margins 2, 3, 3; 1 - 7*2/(64-22) = 2/3.
    # Pseudo-values .103896, 1.028708, 1.218182, -.181818: mean .542242, squares about it
    # .192147 + .236649 + .456895 + .524263 = 1.409954; standard error √(1.409954/3/4) = .342778.
    # t with 3 degrees of freedom 3.182446: reach 1.090872.
    found = krippendorff_alpha(PANEL, "nominal")
    assert found.low == pytest.approx(0.542242 - 1.090872, abs=1e-5)
    assert found.high == 1.0  # 1.633 is cut at the largest possible alpha


def test_per_item_disagreement():
    table = per_item_disagreement(PANEL, "nominal")
    # Two random values differ with probability 66/90.
    expected = {"i3": 1.0, "i0": 2 / 3, "i1": 0.0, "i2": 0.0}
    assert table["mean_distance"].to_dict() == pytest.approx(expected)
    assert table["relative"].astype(float)["i0"] == pytest.approx((2 / 3) / (66 / 90))
    assert table["spread"].to_dict() == {"i3": 2, "i0": 1, "i1": 0, "i2": 0}


def test_per_label_agreement():
    # Diagonal over margin: 1/3, 2/3, 3/4; by chance 2/9, 2/9, 3/9.
    table = per_label_agreement(PANEL)
    assert table["agreement"].tolist() == pytest.approx([1 / 3, 2 / 3, 3 / 4])
    assert table["chance"].tolist() == pytest.approx([2 / 9, 2 / 9, 3 / 9])


def test_majority_and_splits():
    assert majority(PANEL)["label"].tolist() == [0, 1, 2, 2, 2]
    assert majority(PANEL)["tied"].tolist() == [False, False, False, True, False]
    assert split_pattern(PANEL).tolist() == ["2-1", "2-0", "3-0", "1-1", "1-0"]


TWO_RATERS = ratings_of([[0, 0], [1, 1], [0, 1]])


def test_one_step_of_dawid_skene():
    # Vote shares start i0 (1, 0), i1 (0, 1), i2 (.5, .5); class shares .5, .5. Smoothing .5:
    #   r0, true 0: given 0 1+.5+.5 = 2,  given 1 .5   -> .8 .2
    #   r0, true 1: given 0 .5+.5 = 1,    given 1 1+.5 -> .4 .6
    #   r1 mirrors it: true 0 -> .6 .4, true 1 -> .2 .8
    # i0: .5*.8*.6 = .24 against .5*.4*.2 = .04; i1 the mirror; i2: .5*.8*.4 = .5*.4*.8 = .16.
    found = dawid_skene(TWO_RATERS, smoothing=0.5, max_iterations=1)
    expected = [[6 / 7, 1 / 7], [1 / 7, 6 / 7], [0.5, 0.5]]
    assert found.posteriors.to_numpy() == pytest.approx(pd.DataFrame(expected).to_numpy())
    assert found.log_likelihood == pytest.approx(2 * math.log(0.28) + math.log(0.32))
    assert found.labels.tolist() == [0, 1, 1]
    # r0 gave 0, 1, 0: (6/7 + 6/7 + 1/2) / 3.
    assert found.raters["accuracy"].tolist() == pytest.approx([31 / 42, 31 / 42])


def test_one_step_of_mace():
    # Start: knows .5, guesses evenly, so the label is given with .5+.25 = .75, the other with .25.
    # i0: .75² against .25² -> .9, .1; i1 the mirror; i2 .5, .5.
    # Of a right rating .5/.75 = 2/3 was known: r0 .6 + .6 + 1/3 = 23/15, guessed 3 - 23/15.
    # Smoothing .1: competence (23/15 + .1) / 3.2 = .510417.
    # r0 guessed 0: .4 + 2/3 + .1, guessed 1: .4 + .1 -> .7, .3; r1 the mirror.
    found = mace(TWO_RATERS, restarts=1, smoothing=0.1, max_iterations=1)
    known = (23 / 15 + 0.1) / 3.2
    assert found.raters["competence"].tolist() == pytest.approx([known, known])
    often, seldom = (1 - known) * 0.7, (1 - known) * 0.3
    right, wrong = (known + often) * (known + seldom), often * seldom
    assert found.posteriors.loc["i0", 0.0] == pytest.approx(right / (right + wrong))
    tied = 2 * (known + often) * often
    likelihood = 2 * math.log((right + wrong) / 2) + math.log(tied / 2)
    assert found.log_likelihood == pytest.approx(likelihood)
    assert found.labels.tolist() == [0, 1, 1]
