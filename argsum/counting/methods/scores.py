"""Coverage and redundancy from counts that a language model replied several times.

Source: argument summarization paper, section 3.4 (LLM-based) and section 4.2.2 (weighted score).
"""

from collections.abc import Sequence
from dataclasses import dataclass

WEIGHT = 2 / 3


@dataclass(frozen=True)
class CountScore:
    """A mean over replies.

    Attributes
    ----------
    value
        0–1; None where no reply could be read.
    n
        Replies that were read.
    unparsable
        Replies that were not; they are in no mean.
    clipped
        Replies that counted more than there is, or less than nothing.
    """

    value: float | None
    n: int
    unparsable: int
    clipped: int


def mean_coverage(replies: Sequence[float | None], references: int) -> CountScore:
    """Mean share of references that are covered; higher is better.

    Parameters
    ----------
    replies
        Counts of covered references; None is a reply that could not be read.
    references
        How many there are; counts are clipped to 0 … this.

    Raises
    ------
    ValueError
        Without references.

    Examples
    --------
    >>> mean_coverage([3.5, 5, None], 4)
    CountScore(value=0.9375, n=2, unparsable=1, clipped=1)
    """
    return _mean_share(replies, references)


def mean_redundancy(replies: Sequence[float | None], summaries: int) -> CountScore:
    """1 − the mean share of summaries that say something of their own; lower is better.

    Parameters
    ----------
    replies
        Counts of unique statements; None is a reply that could not be read.
    summaries
        How many there are; counts are clipped to 0 … this.

    Raises
    ------
    ValueError
        Without summaries.

    Examples
    --------
    >>> round(mean_redundancy([3, 6, 2.5], 5).value, 2)
    0.3
    """
    unique = _mean_share(replies, summaries)
    value = None if unique.value is None else 1 - unique.value
    return CountScore(value, unique.n, unique.unparsable, unique.clipped)


def weighted_score(coverage: float, redundancy: float, weight: float = WEIGHT) -> float:
    """`weight` × coverage + (1 − `weight`) × (1 − redundancy); 0–1, higher is better.

    Raises
    ------
    ValueError
        If the weight does not lie between 0 and 1.
    """
    if not 0 <= weight <= 1:
        raise ValueError("A weight lies between 0 and 1.")
    return weight * coverage + (1 - weight) * (1 - redundancy)


def _mean_share(replies: Sequence[float | None], most: int) -> CountScore:
    if most < 1:
        raise ValueError("There is nothing to count.")
    read = [reply for reply in replies if reply is not None]
    counts = [min(max(reply, 0.0), float(most)) for reply in read]
    return CountScore(
        value=sum(counts) / len(counts) / most if counts else None,
        n=len(read),
        unparsable=len(replies) - len(read),
        clipped=sum(count != reply for count, reply in zip(counts, read, strict=True)),
    )
