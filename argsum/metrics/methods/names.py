"""Names of the metrics of a summary set: ``function:part``, or one word where there are no parts.

The functions compare a reference with a summary; the parts are the soft scores made of these
comparisons (`argsum.metrics.methods.soft_scores`). Source: argument summarization paper,
section 3.4.
"""

from typing import Literal

Dimension = Literal["coverage", "redundancy"]

PARTS = ("precision", "recall", "f1")
# Part → what the released files call it.
RELEASED_PARTS = {"precision": "sP", "recall": "sR", "f1": "sF1"}
ROUGE = ("rouge_1", "rouge_2", "rouge_l")
BERT_SCORE, EMBEDDING = "bert_score_f", "embedding"
# Similarity functions that can be computed here; any other comes from a file.
FUNCTIONS = (*ROUGE, BERT_SCORE, EMBEDDING)
COVERAGE_SCORE = "coverage_score"
LLM_COVERAGE, LLM_REDUNDANCY = "llm_coverage", "llm_redundancy"
LLM = (LLM_COVERAGE, LLM_REDUNDANCY)
LONGEST = 60

_TITLES = {
    "rouge_1": "ROUGE-1",
    "rouge_2": "ROUGE-2",
    "rouge_l": "ROUGE-L",
    "bert_score_p": "BERTScore precision",
    "bert_score_r": "BERTScore recall",
    BERT_SCORE: "BERTScore F1",
    EMBEDDING: "Embedding cosine",
    "mover_score": "MoverScore",
    "bleurt": "BLEURT",
    "menli": "MENLI",
    COVERAGE_SCORE: "Coverage Score",
    LLM_COVERAGE: "Coverage by a judge",
    LLM_REDUNDANCY: "Redundancy by a judge",
}
_PART_TITLES = {"precision": "soft precision", "recall": "soft recall", "f1": "soft F1"}


def soft_name(function: str, part: str) -> str:
    """The name of one soft score.

    Raises
    ------
    ValueError
        For an unknown part, or a name that is too long to be stored.

    Examples
    --------
    >>> soft_name("rouge_1", "recall")
    'rouge_1:recall'
    """
    if part not in PARTS:
        raise ValueError(f"{part!r} is no soft score.")
    name = f"{function}:{part}"
    if len(name) > LONGEST:
        raise ValueError(f"{function[:40]!r} is longer than a name may be.")
    return name


def split_name(metric: str) -> tuple[str, str]:
    """Function and part; the part is empty where there is none."""
    function, _, part = metric.partition(":")
    return function, part


def title_of(metric: str) -> str:
    """A metric as tables name it.

    Examples
    --------
    >>> title_of("bert_score_f:recall"), title_of("bart_score_cnndm:f1")
    ('BERTScore F1, soft recall', 'bart_score_cnndm, soft F1')
    """
    function, part = split_name(metric)
    name = _TITLES.get(function, function)
    return f"{name}, {_PART_TITLES.get(part, part)}" if part else name


def dimension_of(metric: str) -> Dimension:
    """Which judgement of people a metric is compared with.

    Only counts of unique statements say anything about redundancy; whatever compares summaries
    with references is about coverage.
    """
    return "redundancy" if metric == LLM_REDUNDANCY else "coverage"
