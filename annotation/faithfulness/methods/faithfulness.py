"""Measures of an answer's closeness to its arguments and of the relevance of its citations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from math import fsum
from typing import Any, NamedTuple

from annotation.answers.methods.answer_text import (
    ARGUMENTS,
    LONGEST_RANGE,
    find_citations,
    find_malformed,
    find_sections,
)
from annotation.answers.methods.segments import paper_pairs
from .segments import (
    MODES,
    PAPER,
    SOUND,
    Vectors,
    distances,
    embedded_texts,
    jaccard_text,
    segments_of,
    similarities,
)

# Precision, recall and F1 of the arguments that answers cite
#
# Source: relevance paper, section 5.1 (argument relevance). Arguments labelled 2 or 3 are
# relevant, and figures are computed per answer. The two modes are described in `faithfulness`.

RELEVANT = 2
# Reasons for missing scores
NO_ARGUMENTS, NO_LABELS = "no_arguments", "no_labels"
NO_RELEVANT, NO_CITATIONS = "no_relevant", "no_citations"
# Cited arguments that do not affect an answer's scores
UNLABELLED = "unlabelled"
# All reasons that `relevance_scores` counts
REASONS = (NO_ARGUMENTS, NO_LABELS, NO_RELEVANT, NO_CITATIONS, UNLABELLED)

Labels = Mapping[int, int | None]


class FaithfulnessScores(NamedTuple):
    """Shares from 0 to 1; higher is better."""

    precision: float
    recall: float
    f1: float


def cited_numbers(text: str, mode: str) -> set[int]:
    """Return the numbers that an answer cites.

    The paper reads the brackets at the end of its segments. Sound mode reads every citation except
    those in the closing list of arguments, which does not show which arguments are used.
    """
    if mode == PAPER:
        pairs = paper_pairs(text)
        return {number for _segment, inside in pairs for number in paper_numbers(inside)}
    lists = [section for section in find_sections(text) if section.kind == ARGUMENTS]
    return {
        number
        for citation in find_citations(text)
        if not any(section.start <= citation.start < section.end for section in lists)
        for number in citation.numbers
    }


def paper_numbers(inside: str) -> list[int]:
    """Return the numbers in a bracket as the paper's evaluation reads them.

    If every piece between ", " is a number, these numbers are returned. Otherwise only pieces that
    are ranges count, or, in a bracket without spaces or tags, numbers between commas. In any
    other case the result is empty, so "3, generated" and "Argument 3" cite nothing. Departure: the
    result is also empty where the original stops with an error ("1-x", "foo", a range of
    thousands).

    Examples
    --------
    >>> [paper_numbers(each) for each in ("1, 2", "2-4, 9", "1,2", "3, generated", "Paris")]
    [[1, 2], [2, 3, 4], [1, 2], [], []]
    """
    pieces = inside.split(", ")
    plain = _whole_numbers(piece.replace(" generated", "") for piece in pieces)
    if plain is not None:
        return plain
    if "-" in inside:
        return _paper_ranges(piece for piece in pieces if "-" in piece)
    if " " in inside or "generated" in inside:
        return []
    return _whole_numbers(inside.split(",")) or []


def _paper_ranges(pieces: Iterable[str]) -> list[int]:
    numbers: list[int] = []
    for piece in pieces:
        ends = _whole_numbers(piece.split("-"))
        if ends is None or len(ends) != 2 or ends[1] - ends[0] >= LONGEST_RANGE:
            return []
        numbers += range(ends[0], ends[1] + 1)
    return numbers


def _whole_numbers(pieces: Iterable[str]) -> list[int] | None:
    try:
        return [int(piece) for piece in pieces]
    except ValueError:
        return None


def relevance_scores(
    cited: set[int], arguments: Mapping[int, str], labels: Labels, mode: str
) -> tuple[FaithfulnessScores | None, Counter[str]]:
    """Return precision, recall and F1, or None if undefined, and counts of exclusions by reason.

    A cited number without an argument counts as not relevant. Sound mode leaves out cited
    arguments without a label; the paper treats them as not relevant.
    """
    if not arguments:
        return None, Counter([NO_ARGUMENTS])
    if all(labels.get(number) is None for number in arguments):
        return None, Counter([NO_LABELS])
    relevant = _relevant(arguments, labels, mode)
    unlabelled = {
        citation for citation in cited & arguments.keys() if labels.get(citation) is None
    }
    why = Counter({UNLABELLED: len(unlabelled)} if unlabelled and mode == SOUND else {})
    used = cited - unlabelled if mode == SOUND else cited
    if not relevant:
        return None, why + Counter([NO_RELEVANT])
    if not used:
        return None, why + Counter([NO_CITATIONS])
    return score_sets(used, relevant), why


def _relevant(arguments: Mapping[int, str], labels: Labels, mode: str) -> set[int]:
    """Return the numbers of the relevant arguments.

    The paper looks up the label of an argument by its text up to the first ". ", so most arguments
    with several sentences have no label and count as not relevant. Departure: the paper searches
    all labelled sentences of the pair, but this function searches only the numbered ones. This
    does not change the released figures.
    """
    relevant = {number for number in arguments if (labels.get(number) or 0) >= RELEVANT}
    if mode == SOUND:
        return relevant
    sentences = {arguments[number] for number in relevant}
    return {
        number for number, argument in arguments.items() if argument.split(". ")[0] in sentences
    }


def score_sets(used: set[int], relevant: set[int]) -> FaithfulnessScores:
    """Return precision, recall and F1 of used against relevant numbers; neither set may be empty.

    Examples
    --------
    >>> score_sets({1, 2, 9}, {1, 2, 3, 4}).recall
    0.5
    """
    both = len(used & relevant)
    precision, recall = both / len(used), both / len(relevant)
    return FaithfulnessScores(
        precision, recall, 2 * precision * recall / (precision + recall) if both else 0.0
    )


def cited_in_paper_segments(text: str) -> set[int]:
    """Return the numbers in brackets at the end of the paper's segments, read tolerantly.

    This is a compromise between the modes: it misses ``[5]`` in ``[3][5]``, but reads ``[3,
    generated]``. The known figures of the released subset "with a clean citation parser" use it.
    """
    return {
        number
        for _segment, inside in paper_pairs(text)
        for citation in find_citations(f"[{inside}]")
        for number in citation.numbers
    }


# Closeness of an answer to its numbered arguments
#
# Figures of one answer, and their means over answers, in two modes:
#
# "paper"
# Reproduces the released evaluation of the relevance paper (section 5.1, table 3), including its
# artefacts: the segments (`segments.paper_segments`), the reading of brackets (`paper_numbers`),
# and the matching of arguments with labels (up to the first full stop).
# "sound"
# Uses statements and citations as a reader sees them (`segments.sound_segments`,
# `citations.find_citations`). Compares each statement with the arguments it cites, by words,
# ignoring case and punctuation. Finds labels by the number of the argument.
#
# Jaccard, similarity, precision, recall and F1 range from 0 to 1, and higher is closer (similarity
# can be negative). Levenshtein counts inserted, removed and replaced words; lower is closer.

__all__ = [
    "MODES", "AnswerFigures", "PooledMeans", "measure", "pool", "texts_to_embed", "with_labels",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class AnswerFigures:
    """Figures of one answer.

    Attributes
    ----------
    jaccard_text : float or None
        Word overlap of the answer with all arguments together; None if there are no arguments.
    jaccard_segments, levenshtein, similarity : tuple of float
        Figures of each measured segment, in order, for the argument that is closest by that
        figure. ``similarity`` is empty if there are no vectors.
    precision, recall, f1 : float or None
        Scores of the cited arguments against the relevant ones; if None, ``skipped`` has the
        reason.
    cited, out_of_range : tuple of int
        Cited numbers in ascending order, and cited numbers without an argument.
    malformed : tuple of str
        Texts that look like failed citations, as written.
    segments : int
        Number of segments, measured or not.
    skipped : dict of str to int
        Maps reasons to counts. "uncited", "generated" and "nonexistent" count segments, and
        "unlabelled" counts cited arguments; any other reason is 1 for this answer.
    """

    jaccard_text: float | None = None
    jaccard_segments: tuple[float, ...] = ()
    levenshtein: tuple[float, ...] = ()
    similarity: tuple[float, ...] = ()
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    cited: tuple[int, ...] = ()
    out_of_range: tuple[int, ...] = ()
    malformed: tuple[str, ...] = ()
    segments: int = 0
    skipped: dict[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return JSON values from which `from_json` restores equal figures."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> AnswerFigures:
        """Restore figures from the result of `to_json`, even after a round trip through JSON."""
        read: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value
            for key, value in values.items()
        }
        return cls(**read)


def measure(
    text: str,
    arguments: Mapping[int, str],
    labels: Labels,
    *,
    mode: str,
    vectors: Vectors | None = None,
) -> AnswerFigures:
    """Compute the figures of one answer.

    Parameters
    ----------
    text : str
        The answer.
    arguments : mapping of int to str
        Sentences by number, as the author of the answer saw them.
    labels : mapping of int to int or None
        Relevance from 0 to 3 by number; None or missing for unlabelled arguments.
    mode : {"paper", "sound"}
        The recipe; see the comment above.
    vectors : callable, optional
        Converts n texts to n rows of numbers; called once, for `texts_to_embed`.

    Raises
    ------
    ValueError
        If the mode is unknown.
    """
    _check_mode(mode)
    segments = segments_of(text, arguments, mode)
    jaccard, levenshtein = distances(segments.measured, arguments, mode)
    cosines = similarities(segments.measured, arguments, mode, vectors) if vectors else ()
    cited = cited_numbers(text, mode)
    scores, why = relevance_scores(cited, arguments, labels, mode)
    return AnswerFigures(
        jaccard_text=jaccard_text(text, arguments, mode),
        jaccard_segments=jaccard,
        levenshtein=levenshtein,
        similarity=cosines,
        **(scores._asdict() if scores else {}),
        cited=tuple(sorted(cited)),
        out_of_range=tuple(sorted(cited - arguments.keys())),
        malformed=tuple(find_malformed(text)),
        segments=segments.total,
        skipped=dict(segments.left_out + why),
    )


def with_labels(
    figures: AnswerFigures, arguments: Mapping[int, str], labels: Labels, *, mode: str
) -> AnswerFigures:
    """Return the figures with precision, recall and F1 recomputed from other labels.

    No other figure depends on labels, so the text is not needed. See `measure` for parameters.
    """
    _check_mode(mode)
    scores, why = relevance_scores(set(figures.cited), arguments, labels, mode)
    counts = {reason: n for reason, n in figures.skipped.items() if reason not in REASONS}
    blank = dict.fromkeys(FaithfulnessScores._fields)
    return replace(
        figures, **(scores._asdict() if scores else blank), skipped=dict(Counter(counts) + why)
    )


def texts_to_embed(text: str, arguments: Mapping[int, str], *, mode: str) -> list[str]:
    """Return the distinct texts whose vectors `measure` requires, segments first."""
    _check_mode(mode)
    return embedded_texts(segments_of(text, arguments, mode).measured, arguments, mode)


def _check_mode(mode: str) -> None:
    if mode not in MODES:
        raise ValueError(f"{mode!r} is not a mode; the modes are {', '.join(MODES)}")


@dataclass(frozen=True, slots=True)
class PooledMeans:
    """Means over answers; a mean is None if there are no values.

    ``jaccard_text``, ``precision``, ``recall`` and ``f1`` are means over answers; ``n_scored``
    answers have the last three. The other figures are means over all ``n_segments`` measured
    segments.
    ``skipped`` adds up the counts of all answers.
    """

    n_answers: int
    n_segments: int
    jaccard_text: float | None
    jaccard_sentence: float | None
    levenshtein: float | None
    similarity: float | None
    precision: float | None
    recall: float | None
    f1: float | None
    n_scored: int
    skipped: dict[str, int]


def pool(figures: Iterable[AnswerFigures]) -> PooledMeans:
    """Return the mean figures over any number of answers."""
    every = list(figures)
    scored = [answer for answer in every if answer.f1 is not None]
    skipped: Counter[str] = Counter()
    for answer_figures in every:
        skipped.update(answer_figures.skipped)
    return PooledMeans(
        n_answers=len(every),
        n_segments=sum(len(answer.levenshtein) for answer in every),
        jaccard_text=_mean(answer.jaccard_text for answer in every),
        jaccard_sentence=_mean(value for answer in every for value in answer.jaccard_segments),
        levenshtein=_mean(value for answer in every for value in answer.levenshtein),
        similarity=_mean(value for answer in every for value in answer.similarity),
        precision=_mean(answer.precision for answer in scored),
        recall=_mean(answer.recall for answer in scored),
        f1=_mean(answer.f1 for answer in scored),
        n_scored=len(scored),
        skipped=dict(skipped),
    )


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if known else None
