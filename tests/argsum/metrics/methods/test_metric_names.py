"""Names of metrics, and ROUGE by hand."""

import numpy as np
import pytest

from argsum.metrics.methods.names import dimension_of, soft_name, split_name, title_of
from argsum.metrics.methods.text_similarity import rouge_matrix


def test_names_and_titles():
    assert split_name(soft_name("menli", "recall")) == ("menli", "recall")
    assert split_name("llm_coverage") == ("llm_coverage", "")
    assert title_of("rouge_l:f1") == "ROUGE-L, soft F1"
    assert dimension_of("llm_redundancy") == "redundancy"
    assert dimension_of("rouge_1:precision") == "coverage"
    with pytest.raises(ValueError, match="no soft score"):
        soft_name("rouge_1", "accuracy")
    with pytest.raises(ValueError, match="longer"):
        soft_name("x" * 60, "recall")
    with pytest.raises(ValueError, match="no variant"):
        rouge_matrix("bleu", ["a"], ["a"])


def test_rouge_by_hand():
    # With stems "tram(s)" and "safe" match: 2 of 3 words and 2 of 4.
    found = rouge_matrix("rouge_1", ["trams are safe"], ["a tram is safe", "buses", "safe"])
    # 2 · 2 / (3 + 4); none; 2 · 1 / (3 + 1).
    np.testing.assert_allclose(found, [[4 / 7, 0.0, 0.5]])


def test_rouge_looks_at_the_order_of_words():
    reference, same, turned = "night buses help", "night buses help", "help night buses"
    assert rouge_matrix("rouge_2", [reference], [same])[0, 0] == 1
    assert rouge_matrix("rouge_2", [reference], [turned])[0, 0] == 0.5
    # The longest common subsequence is "night buses": 2 of 3 both ways.
    assert rouge_matrix("rouge_l", [reference], [turned])[0, 0] == pytest.approx(2 / 3)
