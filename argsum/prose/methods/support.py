"""Whether the cited statements support a sentence, judged by vectors.

The faithfulness engine compares the sentence with each cited statement; here its similarities are
compared with those of all statements under other key points, because a similarity alone depends on
the encoder and the topic. The cut-offs are measured by ``python -m benchmarks.prose``. This
compares meaning roughly. It does not show that a sentence is true, and a sentence that says the
opposite of a statement about the same thing may pass.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.answers.methods.answer_text import words_of
from annotation.faithfulness.methods.segments import (
    SOUND,
    MeasuredSegment,
    distances,
    similarities,
)
from argsum.scorers.methods.encoders import SHIPPED
from argsum.systems.methods.inputs import Scores
from cqa_site.judging.encoders import MPNET

from .replies import PART, SUPPORTED, UNSUPPORTED

# Of the statements at other key points, the share that may be closer to the sentence than the
# closest one it cites; the same for each of its clauses, and for each citation.
CLOSER, CLAUSE_CLOSER, CITED_CLOSER = 0.02, 0.10, 0.10
# Least cosine of a sentence with the mean of what it cites, by the encoder of the match scorer
# that comes with the site; not known for others.
NEAR_FROM = {SHIPPED: 0.70, MPNET: 0.58}
# With fewer statements at other key points, all statements that are not cited are compared.
FEWEST = 20
# The engine computes in another precision: closer by less than this is no closer.
ROUNDING = 1e-4
SHORTEST_CLAUSE = 4
_LINKS = "and|but|while|whereas|und|aber|während|sondern|et|mais|tandis que"
_BOUNDARY = re.compile(
    rf"(?:[.!?]\s+|\s*[,;:–—]\s+)(?:(?:{_LINKS})\s+)?|\s+(?:{_LINKS})\s+", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class SentenceSupport:
    """Result of checking a sentence.

    Attributes
    ----------
    verdict
        `SUPPORTED`, `UNSUPPORTED`, or `PART` if a clause is not supported.
    cites
        The citations that stay: statements that the sentence is close to.
    scores
        ``similarity`` with the closest cited statement, ``overlap`` of words with it (Jaccard),
        ``near``, the cosine with the mean of all that are cited, and ``closer``, the share of
        statements at other key points that are closer; ``clause``, the largest such share of a
        clause.
    """

    verdict: str
    cites: tuple[int, ...]
    scores: Mapping[str, float]


def clauses_of(text: str) -> list[str]:
    """Return the parts of a sentence that make sense alone, or else the whole text.

    Parts of fewer than four words stay with their neighbour.

    Examples
    --------
    >>> clauses_of("Staff are friendly and patient, but nobody answers the phone at night.")
    ['Staff are friendly patient', 'nobody answers the phone at night']
    """
    parts: list[str] = []
    for part in filter(None, _BOUNDARY.split(text.strip().rstrip(".!?"))):
        is_short = len(part.split()) < SHORTEST_CLAUSE
        if parts and (is_short or len(parts[-1].split()) < SHORTEST_CLAUSE):
            parts[-1] += f" {part}"
        else:
            parts.append(part)
    return parts if len(parts) > 1 else [text]


def texts_of(text: str) -> list[str]:
    """Return the texts of a sentence whose vectors `support_of` needs."""
    return list(dict.fromkeys([text, *clauses_of(text)]))


def support_of(
    text: str,
    cited: Mapping[int, str],
    vectors: Mapping[str, Scores],
    others: Scores,
    near_from: float | None = None,
) -> SentenceSupport:
    """Compare a sentence with what it cites, and with statements under other key points.

    Parameters
    ----------
    text
        The sentence.
    cited
        Number → statement; at least one.
    vectors
        Of length 1, of `texts_of` the sentence and of every cited statement.
    others : shape (n, d)
        Vectors of length 1 of statements at other key points.
    near_from
        See `NEAR_FROM`; None leaves this condition out.
    """
    numbers, parts = tuple(cited), clauses_of(text)
    whole, *clauses = [MeasuredSegment(part, words_of(part), numbers) for part in (text, *parts)]
    alone = [MeasuredSegment(text, whole.words, (number,)) for number in numbers]
    similarity, *further = similarities(
        [whole, *clauses, *alone],
        cited,
        SOUND,
        lambda texts: np.array([vectors[key] for key in texts]),
    )
    (overlap,), _edits = distances([whole], cited, SOUND)
    closer = _closer(others, vectors[text], similarity)
    clause = max(
        _closer(others, vectors[part], value)
        for part, value in zip(parts, further[: len(parts)], strict=True)
    )
    stay = tuple(
        number
        for number, value in zip(numbers, further[len(parts) :], strict=True)
        if _closer(others, vectors[text], value) <= CITED_CLOSER
    )
    middle = np.mean([vectors[statement] for statement in cited.values()], axis=0)
    near = float(vectors[text] @ middle / max(float(np.linalg.norm(middle)), 1e-9))
    values = {"similarity": similarity, "overlap": overlap, "near": near}
    values |= {"closer": closer, "clause": clause}
    verdict = SUPPORTED if clause <= CLAUSE_CLOSER else PART
    if closer > CLOSER or (near_from is not None and near < near_from):
        verdict = UNSUPPORTED
    return SentenceSupport(verdict, stay, {name: round(v, 4) for name, v in values.items()})


def _closer(others: Scores, vector: Scores, similarity: float) -> float:
    """Return the share of other statements that are closer to a text than ``similarity``."""
    if not len(others):
        return 0.0
    return float(np.mean(others @ vector > similarity + ROUNDING))


def compared(placed: Sequence[set[int]], points: set[int], cited: Sequence[int]) -> list[int]:
    """Return the positions of the statements that a sentence is compared with.

    ``placed`` are the key points of each statement; ``points`` are those of the ``cited`` ones.
    """
    away = [at for at, own in enumerate(placed) if own.isdisjoint(points)]
    if len(away) < FEWEST:
        away = list(range(len(placed)))
    return sorted(set(away) - set(cited))
