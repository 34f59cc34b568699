"""Samples of placements, and figures corrected by the answers about them."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats

from argsum.analysis.methods import audit
from argsum.analysis.methods.audit import BEHIND, ELSEWHERE, PERHAPS, AnsweredStratum, Stratum
from benchmarks.verdicts.audit import CASES, audited, figure_holds, useless

# Behind, perhaps and elsewhere, of 100 comments: 8 of 10, 1 of 2 and 1 of 10 make the point.
STRATA = [AnsweredStratum(20, 10, 8), AnsweredStratum(10, 2, 1), AnsweredStratum(70, 10, 1)]


def test_the_corrected_share_weights_each_band_by_its_pairs_and_samples_by_their_answers():
    share = audit.corrected_share([STRATA])
    assert share.value == pytest.approx(0.2 * 0.8 + 0.1 * 0.5 + 0.7 * 0.1)
    assert (share.answers, share.hits) == (22, 10)
    assert share.low < share.value < share.high
    later = [AnsweredStratum(50, 33, 33), AnsweredStratum(50, 33, 0)]
    share = audit.corrected_share([STRATA, later])
    assert share.value == pytest.approx((22 * 0.28 + 66 * 0.5) / 88)
    empty = [AnsweredStratum(50, 0, 0), AnsweredStratum(50, 0, 0)]
    assert audit.corrected_share([STRATA, empty]).value == pytest.approx(0.28)


def test_a_band_that_was_asked_in_full_adds_no_error():
    known = [AnsweredStratum(20, 20, 16), AnsweredStratum(80, 80, 4)]
    share = audit.corrected_share([known])
    assert (share.low, share.value, share.high) == (pytest.approx(0.2),) * 3
    # Comments that stand for more make it the interval of the full count, and two samples of the
    # same comments tell no more than their number.
    exact = stats.binomtest(20, 100).proportion_ci(method="exact")
    for times in (1, 2):
        share = audit.corrected_share([known] * times, comments=100)
        assert (share.low, share.high) == pytest.approx(tuple(exact))


def test_precision_of_one_band_has_the_exact_interval():
    many = audit.audited_precision([[AnsweredStratum(10**9, 12, 9)]])
    exact = stats.binomtest(9, 12).proportion_ci(method="exact")
    assert (many.value, many.low, many.high) == pytest.approx((0.75, *exact), abs=1e-6)
    few = audit.audited_precision([[AnsweredStratum(13, 12, 9)]])
    assert few.high - few.low < (many.high - many.low) / 2
    # Halves are no reason to widen what is known.
    whole = audit.audited_precision([[AnsweredStratum(10, 10, 8.5)]])
    assert (whole.low, whole.value, whole.high) == (0.85, 0.85, 0.85)


def test_recall_compares_what_was_found_with_what_was_missed():
    recall = audit.audited_recall([STRATA[:1]], [STRATA[1:]])
    assert recall.value == pytest.approx(16 / (16 + 5 + 7))
    assert 0 < recall.low < recall.value < recall.high < 1
    nothing = [AnsweredStratum(20, 10, 0)], [AnsweredStratum(80, 10, 0)]
    assert audit.audited_recall([nothing[0]], [nothing[1]]).reason == audit.NOTHING_MADE
    # Figures without enough answers say why.
    thin = [AnsweredStratum(20, 8, 8), AnsweredStratum(80, 1, 0)]
    assert audit.corrected_share([thin]).reason == audit.TOO_FEW_ANSWERS
    assert audit.corrected_share([thin]).low is None
    assert audit.corrected_share([[*thin, AnsweredStratum(5, 0, 0)]]).value is None
    assert audit.audited_precision([[AnsweredStratum(20, 4, 4)]]).reason == audit.TOO_FEW_BEHIND
    assert audit.corrected_share([]).reason == audit.NO_ANSWERS


def test_every_group_and_band_gets_its_part_of_the_sample():
    pairs = {
        Stratum(group, band): n
        for group in (audit.SMALLER, 4, 7)
        for band, n in ((BEHIND, 30), (PERHAPS, 0 if group == 7 else 9), (ELSEWHERE, 200))
    }
    drawn = audit.allocate(pairs, 60)
    assert sum(drawn.values()) == 60
    for group in (audit.SMALLER, 4, 7):
        assert sum(n for stratum, n in drawn.items() if stratum.group == group) == 20
    assert (drawn[4, BEHIND], drawn[4, PERHAPS]) == (8, 3)
    assert (7, PERHAPS) not in drawn
    few = {(1, BEHIND): 3, (1, ELSEWHERE): 2}
    assert audit.allocate({Stratum(*key): n for key, n in few.items()}, 60) == few
    assert [audit.own_groups(60, 14), audit.own_groups(60, 6), audit.own_groups(5, 9)] == [5, 6, 1]


@pytest.mark.parametrize("n", [2, 40])
def test_all_pairs_elsewhere_are_equally_likely(n):
    """Both ways: one by one from many, and all of them in random order."""
    counted = [np.array([0, 1, 2]), np.array([9])]
    generator = np.random.default_rng(5)
    seen = Counter()
    times = 4000 if n == 2 else 200
    for _number in range(times):
        pairs = audit.draw_elsewhere(10, counted, n, generator)
        assert len(set(pairs)) == min(n, 16)
        seen.update(pairs)
    assert set(seen) == {(0, at) for at in range(3, 10)} | {(1, at) for at in range(9)}
    assert stats.chisquare(list(seen.values())).pvalue > 0.001


def test_the_target_says_how_many_answers_are_needed():
    pairs = {BEHIND: 24, PERHAPS: 8, ELSEWHERE: 266}
    wide, narrow = (audit.answers_needed(pairs, width, {}) for width in (0.1, 0.03))
    assert sum(wide.values()) < sum(narrow.values()) < 298
    # Half of what is behind is wrong: more of it has to be read.
    worse = audit.answers_needed(pairs, 0.03, {BEHIND: AnsweredStratum(24, 10, 5)})
    assert worse[BEHIND] >= narrow[BEHIND]
    # Nothing but asking about all of them would do.
    assert audit.answers_needed({BEHIND: 6, ELSEWHERE: 6}, 0.001, {}) == {BEHIND: 6, ELSEWHERE: 6}


@pytest.mark.parametrize("name", ["of these comments", "beyond these comments"])
@pytest.mark.parametrize("case", ["3 % make it, precision .6", "30 % make it, precision .6"])
def test_the_interval_holds_the_truth_at_its_smallest_sample(name, case):
    study = figure_holds(name, *CASES[case])
    generator = np.random.default_rng(3)
    held = [study(10, generator) for _number in range(300)]
    known = [is_held for is_held in held if is_held is not None]
    assert len(known) > 100
    assert np.mean(known) > 0.93


def test_a_good_machine_narrows_the_interval_and_a_useless_one_does_no_harm():
    generator = np.random.default_rng(4)
    widths = {"good": [], "useless": []}
    for _number in range(60):
        good = audited(60, generator, 0.3, 0.95, 0.95)
        for name, study in (("good", good), ("useless", useless(60, generator, 0.3))):
            share = audit.corrected_share([list(study.strata.values())])
            widths[name].append(share.high - share.low)
    assert np.mean(widths["good"]) < 0.75 * np.mean(widths["useless"])
    # A useless machine is no worse than the sample alone.
    generator = np.random.default_rng(4)
    for _number in range(100):
        drawn = useless(60, generator, 0.1)
        share = audit.corrected_share([list(drawn.strata.values())], comments=300)
        weights = [(part.pairs / 300, part.answers) for part in drawn.strata.values()]
        n = 1 / sum(weight**2 / answers for weight, answers in weights)
        low, high = audit.exact_interval(share.value, n, 0.95)
        assert share.high - share.low <= high - low + 1e-9


@pytest.mark.parametrize("pairs", [6, 10, 24])
def test_precision_holds_the_truth_where_few_pairs_are_left(pairs):
    """Exactly, over all samples of each size."""
    for n in range(5, pairs):
        strata = (AnsweredStratum(pairs, n, hits) for hits in range(n + 1))
        shares = [audit.audited_precision([[stratum]]) for stratum in strata]
        for made in range(pairs + 1):
            chances = stats.hypergeom(pairs, made, n).pmf(np.arange(n + 1))
            truth = made / pairs
            held = [share.low - 1e-9 <= truth <= share.high + 1e-9 for share in shares]
            assert chances[held].sum() >= 0.95


@pytest.mark.parametrize("rate", [0.6, 0.85, 0.95])
@pytest.mark.parametrize(("pairs", "n", "strata"), [(8, 6, 3), (20, 15, 10), (50, 40, 3)])
def test_precision_of_many_groups_holds_the_truth_where_few_pairs_are_left(pairs, n, strata, rate):
    generator = np.random.default_rng(6)
    held = []
    for _number in range(300):
        made = generator.binomial(pairs, rate, strata)
        hits = generator.hypergeometric(made, pairs - made, n)
        share = audit.audited_precision([[AnsweredStratum(pairs, n, int(own)) for own in hits]])
        held.append(share.low - 1e-9 <= made.sum() / (pairs * strata) <= share.high + 1e-9)
    assert np.mean(held) > 0.95


def test_a_sample_that_has_just_begun_hides_no_other():
    begun = [AnsweredStratum(30, 1, 0), AnsweredStratum(70, 0, 0)]
    thin = [AnsweredStratum(30, 1, 0), AnsweredStratum(70, 3, 0)]
    for more in (begun, thin):
        assert audit.corrected_share([STRATA, more]) == audit.corrected_share([STRATA])
    own, others = [STRATA[:1], begun[:1]], [STRATA[1:], begun[1:]]
    assert audit.audited_recall(own, others) == audit.audited_recall(own[:1], others[:1])
    unanswered = [AnsweredStratum(30, 9, 9), AnsweredStratum(30, 0, 0)]
    alone = audit.audited_precision([STRATA[:1]])
    assert audit.audited_precision([STRATA[:1], unanswered]) == alone
