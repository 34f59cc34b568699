"""How alike two texts are by their words: ROUGE F-measures with Porter's stemmer.

Source: Lin (2004), through the library rouge-score; argument summarization paper, section 3.4.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from cqa_site.stats.arrays import FloatArray

_KINDS = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL"}


def rouge_matrix(function: str, references: Sequence[str], summaries: Sequence[str]) -> FloatArray:
    """ROUGE F-measure of every reference with every summary, shape (references, summaries).

    Parameters
    ----------
    function
        One of `metric_names.ROUGE`.
    references, summaries : r and s texts
        F-measures do not depend on which side is which.

    Raises
    ------
    ValueError
        For any other function.
    """
    if function not in _KINDS:
        raise ValueError(f"{function!r} is no variant of ROUGE here.")
    kind = _KINDS[function]
    scorer = _scorer(kind)
    return np.array(
        [
            [scorer.score(reference, summary)[kind].fmeasure for summary in summaries]
            for reference in references
        ],
        dtype=np.float64,
    ).reshape(len(references), len(summaries))


@cache
def _scorer(kind: str) -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer([kind], use_stemmer=True)
