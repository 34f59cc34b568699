"""Scores of key points, counts, correlations, names of metrics, ROUGE and BERTScore, by hand."""

import json
import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from argsum.counting.methods.counts import (
    CountScore,
    mean_coverage,
    mean_redundancy,
    weighted_score,
)
from argsum.metrics.actions import bert_scores
from argsum.metrics.actions.bert_scores import BertScores, _load
from argsum.metrics.methods import (
    across_within,
    coverage_score,
    pairwise_pearson,
    rouge_matrix,
    soft_scores,
)

SIMILARITY = np.array([[0.9, 0.2, 0.1], [0.3, 0.8, 0.4]])  # references × summaries


def test_soft_scores_of_the_worked_example():
    found = soft_scores(SIMILARITY)
    assert found.precision == pytest.approx((0.9 + 0.8 + 0.4) / 3)
    assert found.recall == pytest.approx((0.9 + 0.8) / 2)
    assert found.f1 == pytest.approx(2 * 0.7 * 0.85 / 1.55)
    # Harmonic means of what is not positive; logarithms are below 0 all of them.
    assert soft_scores(np.zeros((2, 2))).f1 == 0
    assert soft_scores(np.array([[-2.0], [-4.0]])).f1 == pytest.approx(2 * -2 * -3 / -5)
    mixed = soft_scores(np.array([[0.5], [-2.0]]))
    assert (mixed.precision, mixed.recall, mixed.f1) == (0.5, -0.75, None)
    # Coverage score needs more than the threshold and a set something.
    assert [coverage_score(SIMILARITY, least) for least in (0.8, 0.79, 0.9)] == [0.5, 1.0, 0.0]
    for shape in ((0, 3), (3, 0), (3,)):
        for score in (soft_scores, lambda found: coverage_score(found, 0.5)):
            with pytest.raises(ValueError, match="at least one"):
                score(np.zeros(shape))
    with pytest.raises(ValueError, match="finite"):
        soft_scores(np.array([[0.5, np.nan]]))


def test_counts_of_the_worked_examples():
    # 5 of 4 references is 4: (3.5 + 4) / 2 / 4.
    assert mean_coverage([3.5, 5, None], 4) == CountScore(0.9375, n=2, unparsable=1, clipped=1)
    found = mean_redundancy([3, 6, 2.5], 5)
    assert found.value == pytest.approx(1 - (3 + 5 + 2.5) / 3 / 5)
    assert (found.n, found.unparsable, found.clipped) == (3, 0, 1)
    # At the bounds nothing is clipped, below them it is; no reply is no score.
    assert mean_coverage([0, 4], 4) == CountScore(0.5, n=2, unparsable=0, clipped=0)
    assert mean_coverage([-1, 4], 4) == CountScore(0.5, n=2, unparsable=0, clipped=1)
    assert mean_coverage([None, None], 4) == CountScore(None, n=0, unparsable=2, clipped=0)
    assert mean_redundancy([], 4) == CountScore(None, n=0, unparsable=0, clipped=0)
    for score in (mean_coverage, mean_redundancy):
        with pytest.raises(ValueError, match="nothing to count"):
            score([1], 0)
    # Weighted score.
    found = [weighted_score(0.9, 0.3, **weight) for weight in ({}, {"weight": 1}, {"weight": 0})]
    assert found == pytest.approx([(2 * 0.9 + 0.7) / 3, 0.9, 0.7])
    with pytest.raises(ValueError, match="between 0 and 1"):
        weighted_score(0.9, 0.3, weight=1.01)


def test_across_and_within():
    # Within cell a exactly 1, within b exactly -1.
    found = across_within([1, 2, 3, 3, 4, 5], [1, 2, 3, 9, 8, 7], list("aaabbb"))
    # Centred x -2 -1 0 0 1 2 and y -4 -3 -2 4 3 2: 8 + 3 + 3 + 4 over √10 √58.
    assert found.across == pytest.approx(18 / math.sqrt(10 * 58))
    assert found.per_cell == {"a": pytest.approx(1), "b": pytest.approx(-1)}
    # The deviation is of a population.
    assert (found.within_mean, found.within_sd) == (pytest.approx(0), pytest.approx(1))
    assert (found.n, found.constant_cells, found.small_cells) == (6, (), ())
    # Constant and small cells are named and left out: c has one set with both values, and the
    # two of d always lie on a line.
    metric = [1, 2, 3, 5, 5, 5, 7, None, 3, 4, 6]
    found = across_within(metric, [2, 4, 6, 1, 2, 3, 1, 2, math.nan, 1, 2], list("aaabbbcccdd"))
    assert found.per_cell == {"a": pytest.approx(1)}
    assert (found.constant_cells, found.small_cells) == (("b",), ("c", "d"))
    assert (found.n, found.within_mean, found.within_sd) == (9, pytest.approx(1), 0)
    # Pairs of raters over what both judged.
    judged = {"A": [1, 2, 3, None], "B": [2, 4, 6, 9], "C": [3, 2, 1, 0], "D": [1, 1, 1, 1]}
    found = pairwise_pearson(judged)
    values = {(each.first, each.second): (each.n, each.value) for each in found.pairs}
    assert values["A", "B"] == (3, pytest.approx(1))
    assert (values["A", "C"], values["C", "D"]) == ((3, pytest.approx(-1)), (4, None))
    # B against C: centred -3.25 -1.25 .75 3.75 and 1.5 .5 -.5 -1.5.
    expected = (-4.875 - 0.625 - 0.375 - 5.625) / math.sqrt(26.75 * 5)
    assert values["B", "C"] == (4, pytest.approx(expected))
    assert found.mean == pytest.approx((1 - 1 + expected) / 3)
    assert pairwise_pearson({"A": [1, 2]}).mean is None
    with pytest.raises(ValueError, match="number of sets"):
        pairwise_pearson({"A": [1, 2], "B": [1]})


def test_rouge_by_hand():
    # With stems "tram(s)" and "safe" match, 2 of 3 words and 2 of 4: 2 · 2 / (3 + 4); none;
    # 2 · 1 / (3 + 1).
    found = rouge_matrix("rouge_1", ["trams are safe"], ["a tram is safe", "buses", "safe"])
    np.testing.assert_allclose(found, [[4 / 7, 0.0, 0.5]])
    # ROUGE 2 looks at the order of words; the longest common subsequence is "night buses".
    reference, turned = "night buses help", "help night buses"
    found = [rouge_matrix(name, [reference], [turned])[0, 0] for name in ("rouge_2", "rouge_l")]
    assert found == pytest.approx([0.5, 2 / 3])
    assert rouge_matrix("rouge_2", [reference], [reference])[0, 0] == 1


def test_a_local_folder_has_the_layer_of_its_model(tmp_path, monkeypatch):
    """Of a library that knows one model by its name."""
    asked = {}
    library = SimpleNamespace(BERTScorer=lambda **options: asked.update(options))
    utils = SimpleNamespace(model2layers={"known-large": 17})
    monkeypatch.setitem(sys.modules, "bert_score", library)
    monkeypatch.setitem(sys.modules, "bert_score.utils", utils)
    (tmp_path / "config.json").write_text(json.dumps({"num_hidden_layers": 4}))
    for name, layers in (("known-large", 17), ("own", 4)):
        _load(name, str(tmp_path))
        assert (asked["model_type"], asked["num_layers"]) == (str(tmp_path), layers)

    # A score stands in the row of its reference.
    def score(summaries, references, *, batch_size):
        lengths = [10 * len(summary) for summary in summaries]
        return None, None, np.array(lengths) + [len(reference) for reference in references]

    monkeypatch.setattr(bert_scores, "_load", lambda *named: SimpleNamespace(score=score))
    scores = BertScores("own", "folder").matrix(["r", "rr"], ["s", "ss", "sss"])
    assert scores.tolist() == [[11, 21, 31], [12, 22, 32]]
