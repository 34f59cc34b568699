"""Charts that find a fall in accuracy: limits, run lengths, where a fall is found."""

import numpy as np
import pytest

from cqa_site.stats.drift import RUN_LENGTH, AccuracyChart, AccuracyFall, accuracy_chart, find_fall

PAIRS = ((0.92, 0.78), (0.8, 0.6), (0.95, 0.6), (0.55, 0.5), (0.99, 0.94))


@pytest.mark.parametrize(("usual", "fallen"), PAIRS)
def test_the_limit_is_the_smallest_with_rare_false_signals(usual, fallen):
    chart = accuracy_chart(usual, fallen)
    lower = AccuracyChart(usual, fallen, chart.rise, chart.limit - 1)
    assert lower.run_length(usual) < RUN_LENGTH <= chart.run_length(usual)
    assert chart.run_length(fallen) < chart.run_length(usual) / 3


def test_run_lengths_and_shares_are_those_of_drawn_answers():
    chart, draws = accuracy_chart(0.92, 0.78), np.random.default_rng(4)
    signals = []
    for _study in range(2_000):
        fall = find_fall(chart, (draws.random(600) < 0.78).tolist())
        assert fall is not None
        signals.append(fall.signal)
    assert np.mean(signals) == pytest.approx(chart.run_length(0.78), rel=0.05)
    within = np.mean(np.array(signals) <= 60)
    assert within == pytest.approx(chart.signal_share(0.78, 60), abs=0.03)


def test_a_fall_from_92_to_78_is_found_within_60_controls():
    chart = accuracy_chart(0.92, 0.78)
    assert chart.run_length(0.92) >= 1_000
    assert chart.run_length(0.78) < 60
    assert chart.signal_share(0.78, 60, before=60) > 0.85
    assert chart.signal_share(0.92, 60) < 0.04


def test_the_start_of_a_fall_is_where_the_sum_last_left_zero():
    chart = accuracy_chart(0.92, 0.78)
    # One mistake is forgotten after six right answers; then four in a row reach 24.
    answers = [False] + [True] * 9 + [False, True, False, False, False, False, True]
    assert chart.sums(answers)[:8] == [6, 5, 4, 3, 2, 1, 0, 0]
    assert find_fall(chart, answers) == AccuracyFall(signal=16, start=11)
    assert find_fall(chart, answers[:15]) is None
    assert find_fall(chart, []) is None


@pytest.mark.parametrize("pair", [(0.78, 0.92), (0.8, 0.8), (1.0, 0.8), (0.8, 0.0)])
def test_no_chart_finds_a_rise(pair):
    with pytest.raises(ValueError, match="accurac"):
        accuracy_chart(*pair)
