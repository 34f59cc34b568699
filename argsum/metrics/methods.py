"""Metrics of sets: names, text similarity, soft scores and correlation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations
from typing import Any, Literal

import numpy as np

from cqa_site.stats.arrays import FloatArray

# Names of the metrics of a summary set: ``function:part``, or one word for metrics without parts
#
# A function compares a reference with a summary; the parts are the soft scores of these
# comparisons (`soft_scores`). Source: argument summarization paper, section 3.4.

Dimension = Literal["coverage", "redundancy"]

PARTS = ("precision", "recall", "f1")
# Part → its name in the released files.
RELEASED_PARTS = {"precision": "sP", "recall": "sR", "f1": "sF1"}
ROUGE = ("rouge_1", "rouge_2", "rouge_l")
BERT_SCORE, EMBEDDING = "bert_score_f", "embedding"
# Similarity functions that can be computed here; others come from files.
FUNCTIONS = (*ROUGE, BERT_SCORE, EMBEDDING)
COVERAGE_SCORE = "coverage_score"
LLM_COVERAGE, LLM_REDUNDANCY = "llm_coverage", "llm_redundancy"
LLM = (LLM_COVERAGE, LLM_REDUNDANCY)
LONGEST_NAME = 60

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
    """Return the name of one soft score.

    Raises
    ------
    ValueError
        If the part is unknown, or the name is too long to be stored.

    Examples
    --------
    >>> soft_name("rouge_1", "recall")
    'rouge_1:recall'
    """
    if part not in PARTS:
        raise ValueError(f"{part!r} is not a soft score.")
    name = f"{function}:{part}"
    if len(name) > LONGEST_NAME:
        raise ValueError(f"{function[:40]!r} is too long for a name.")
    return name


def split_name(metric: str) -> tuple[str, str]:
    """Return function and part; the part may be empty."""
    function, _, part = metric.partition(":")
    return function, part


def title_of(metric: str) -> str:
    """Return the title of a metric in tables.

    Examples
    --------
    >>> title_of("bert_score_f:recall"), title_of("bart_score_cnndm:f1")
    ('BERTScore F1, soft recall', 'bart_score_cnndm, soft F1')
    """
    function, part = split_name(metric)
    name = _TITLES.get(function, function)
    return f"{name}, {_PART_TITLES.get(part, part)}" if part else name


def dimension_of(metric: str) -> Dimension:
    """Return the dimension of people's judgements with which a metric is compared.

    Only counts of unique statements measure redundancy; metrics that compare summaries with
    references measure coverage.
    """
    return "redundancy" if metric == LLM_REDUNDANCY else "coverage"


# Word overlap of two texts: ROUGE F-measures with Porter's stemmer
#
# Source: Lin (2004), with the library rouge-score; argument summarization paper, section 3.4.

_KINDS = {"rouge_1": "rouge1", "rouge_2": "rouge2", "rouge_l": "rougeL"}


def rouge_matrix(function: str, references: Sequence[str], summaries: Sequence[str]) -> FloatArray:
    """Return ROUGE F-measures of all pairs, shape (references, summaries).

    Parameters
    ----------
    function
        One of `ROUGE`.
    references, summaries : r and s texts
        F-measures are the same if the sides are swapped.

    Raises
    ------
    ValueError
        If the function is not supported.
    """
    if function not in _KINDS:
        raise ValueError(f"{function!r} is not a supported ROUGE variant.")
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

    return RougeScorer([kind], tokenizer=_stemmed())


@cache
def _stemmed() -> Any:
    """Return a tokenizer that stems each text once, for any number of comparisons."""
    from rouge_score.tokenizers import DefaultTokenizer

    tokenizer = DefaultTokenizer(use_stemmer=True)
    tokenizer.tokenize = lru_cache(maxsize=4096)(tokenizer.tokenize)
    return tokenizer


# Scores of a set of summaries from their similarities with the references
#
# Source: argument summarization paper, section 3.4, equations 1–3; Li et al. (2023) for the soft
# scores and Khosravani et al. (2024) for the coverage score. Higher is better.


@dataclass(frozen=True)
class SoftScores:
    """Soft scores of one set of summaries, in the unit of the similarity.

    `f1` is the harmonic mean; None if precision and recall have different signs.
    """

    precision: float
    recall: float
    f1: float | None


def soft_scores(similarity: FloatArray) -> SoftScores:
    """Return how well each summary matches its best reference, and vice versa.

    Parameters
    ----------
    similarity : float array, shape (references, summaries)
        Similarities in any unit; higher is more similar.

    Returns
    -------
    SoftScores
        Precision is the mean over summaries, recall is the mean over references.

    Raises
    ------
    ValueError
        If there are no references or no summaries.

    Examples
    --------
    >>> found = soft_scores(np.array([[0.9, 0.2, 0.1], [0.3, 0.8, 0.4]]))
    >>> round(found.precision, 2), round(found.recall, 2), round(found.f1, 4)
    (0.7, 0.85, 0.7677)
    """
    _check(similarity)
    precision = float(similarity.max(axis=0).mean())
    recall = float(similarity.max(axis=1).mean())
    return SoftScores(precision, recall, _harmonic(precision, recall))


def coverage_score(similarity: FloatArray, threshold: float) -> float:
    """Return the share of references with a summary that matches above the threshold.

    Parameters
    ----------
    similarity : float array, shape (references, summaries)
        Match scores.
    threshold
        A score that equals the threshold is not a match.

    Raises
    ------
    ValueError
        If there are no references or no summaries.

    Examples
    --------
    >>> coverage_score(np.array([[0.9, 0.2, 0.1], [0.3, 0.8, 0.4]]), 0.8)
    0.5
    """
    _check(similarity)
    return float((similarity > threshold).any(axis=1).mean())


def _harmonic(precision: float, recall: float) -> float | None:
    # Similarities may be logarithms, all below 0; the harmonic mean is then still defined.
    if precision * recall < 0:
        return None
    both = precision + recall
    return 2 * precision * recall / both if both else 0.0


def _check(similarity: FloatArray) -> None:
    if similarity.ndim != 2 or not similarity.size:
        raise ValueError("A set needs at least one reference and one summary.")
    if not np.isfinite(similarity).all():
        raise ValueError("A similarity is not a finite number.")


# Correlation over summary sets, of a metric with people and of people with each other
#
# Source: argument summarization paper, sections 3.4 (people) and 4.1 (across and within).

Values = Sequence[float | None] | FloatArray
# Any two points are on a line, so a correlation of two points means nothing.
LEAST_PAIRS = 3


@dataclass(frozen=True)
class Correlations:
    """Pearson correlations of two columns over summary sets.

    Attributes
    ----------
    across
        Over all sets; None if undefined.
    n
        Number of sets with both values.
    within_mean, within_sd
        Mean and population standard deviation (ddof 0) over the cells with a correlation.
    per_cell
        cell → its correlation; cells without a correlation are not included.
    constant_cells
        Cells without a correlation, because a column does not vary.
    small_cells
        Cells with fewer than `LEAST_PAIRS` sets that have both values.
    """

    across: float | None
    n: int
    within_mean: float | None
    within_sd: float | None
    per_cell: dict[str, float]
    constant_cells: tuple[str, ...]
    small_cells: tuple[str, ...] = ()


@dataclass(frozen=True)
class RaterPair:
    """Two raters and the n sets that both judged; value is None if Pearson's r is undefined."""

    first: str
    second: str
    n: int
    value: float | None


@dataclass(frozen=True)
class RaterPairs:
    """All pairs; `mean` is over the pairs with a value, or None if there are no values."""

    pairs: tuple[RaterPair, ...]
    mean: float | None


def across_within(metric: Values, human: Values, cells: Sequence[str]) -> Correlations:
    """Return the correlation over all sets, and its mean over cells.

    Parameters
    ----------
    metric, human : length n
        None and nan are missing values; a set counts if both values are known.
    cells : length n
        Topic and stance of each set.

    Raises
    ------
    ValueError
        If the lengths differ.

    Notes
    -----
    Without saying so, the paper leaves out cells in which a metric gives every set the same
    value. Here, `constant_cells` lists them.
    """
    x, y = _floats(metric), _floats(human)
    if not len(x) == len(y) == len(cells):
        raise ValueError("Metric values, human values and cells differ in length.")
    both = ~(np.isnan(x) | np.isnan(y))
    per_cell: dict[str, float] = {}
    constant: list[str] = []
    small: list[str] = []
    for cell in dict.fromkeys(cells):
        here = both & np.array([name == cell for name in cells], dtype=bool)
        value = pearson(x[here], y[here])
        if value is not None:
            per_cell[cell] = value
        else:
            (small if here.sum() < LEAST_PAIRS else constant).append(cell)
    correlations = list(per_cell.values())
    return Correlations(
        across=pearson(x[both], y[both]),
        n=int(both.sum()),
        within_mean=float(np.mean(correlations)) if correlations else None,
        within_sd=float(np.std(correlations)) if correlations else None,
        per_cell=per_cell,
        constant_cells=tuple(constant),
        small_cells=tuple(small),
    )


def pairwise_pearson(raters: Mapping[str, Values]) -> RaterPairs:
    """Return Pearson's r for every pair of raters over the sets that both judged.

    Parameters
    ----------
    raters
        rater → one value per set, in the same order for all; None and nan are missing values.

    Raises
    ------
    ValueError
        If the lengths differ.
    """
    columns = {name: _floats(values) for name, values in raters.items()}
    if len({len(values) for values in columns.values()}) > 1:
        raise ValueError("The raters differ in their number of sets.")
    pairs = []
    for first, second in combinations(columns, 2):
        x, y = columns[first], columns[second]
        both = ~(np.isnan(x) | np.isnan(y))
        pairs.append(RaterPair(first, second, int(both.sum()), pearson(x[both], y[both])))
    values = [pair.value for pair in pairs if pair.value is not None]
    return RaterPairs(tuple(pairs), float(np.mean(values)) if values else None)


def pearson(x: FloatArray, y: FloatArray) -> float | None:
    """Return Pearson's r, or None for fewer than `LEAST_PAIRS` values or a constant column."""
    if len(x) < LEAST_PAIRS or np.ptp(x) < 1e-12 or np.ptp(y) < 1e-12:
        return None
    left, right = x - x.mean(), y - y.mean()
    value = float(left @ right / np.sqrt((left @ left) * (right @ right)))
    return min(1.0, max(-1.0, value))


def _floats(values: Values) -> FloatArray:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
