"""Do answers cite the relevant arguments? Precision, recall and F1 of the numbers they cite.

Source: relevance paper, section 5.1 (argument relevance); relevant are the labels 2 and 3, the
figures are per answer. The two modes are described in `faithfulness`.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from annotation.answers.methods.citations import LONGEST_RANGE, find_citations
from annotation.answers.methods.layout import ARGUMENTS, find_sections
from annotation.answers.methods.segments import paper_pairs

from .segments import PAPER, SOUND

RELEVANT = 2
# Why an answer has no scores.
NO_ARGUMENTS, NO_LABELS = "no_arguments", "no_labels"
NO_RELEVANT, NO_CITATIONS = "no_relevant", "no_citations"
# Cited arguments that count neither for nor against an answer.
UNLABELLED = "unlabelled"
# All of them: what `relevance_scores` counts.
REASONS = (NO_ARGUMENTS, NO_LABELS, NO_RELEVANT, NO_CITATIONS, UNLABELLED)

Labels = Mapping[int, int | None]


class Scores(NamedTuple):
    """Shares between 0 and 1; higher is better."""

    precision: float
    recall: float
    f1: float


def cited_numbers(text: str, mode: str) -> set[int]:
    """Numbers an answer cites.

    The paper reads the brackets that end its segments; sound mode every citation but those in
    the closing list of arguments, which says nothing about what the text uses.
    """
    if mode == PAPER:
        pairs = paper_pairs(text)
        return {number for _segment, inside in pairs for number in paper_numbers(inside)}
    lists = [each for each in find_sections(text) if each.kind == ARGUMENTS]
    return {
        number
        for citation in find_citations(text)
        if not any(each.start <= citation.start < each.end for each in lists)
        for number in citation.numbers
    }


def paper_numbers(inside: str) -> list[int]:
    """Numbers in a bracket as the paper's evaluation reads them.

    Either every piece between ", " is a number, or all that counts are pieces that are ranges,
    or, without blank and tag, all pieces between commas are numbers. Otherwise there is none,
    so "3, generated" and "Argument 3" cite nothing. Departure: where the original stops with
    an error ("1-x", "foo", a range of thousands), there is none either.

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
) -> tuple[Scores | None, Counter[str]]:
    """Precision, recall and F1, or None; and what was left out and why.

    A cited number that no argument has counts as not relevant. A cited argument without a label
    is left out in sound mode; the paper takes it for not relevant.
    """
    if not arguments:
        return None, Counter([NO_ARGUMENTS])
    if all(labels.get(number) is None for number in arguments):
        return None, Counter([NO_LABELS])
    relevant = _relevant(arguments, labels, mode)
    unlabelled = {each for each in cited & arguments.keys() if labels.get(each) is None}
    why = Counter({UNLABELLED: len(unlabelled)} if unlabelled and mode == SOUND else {})
    used = cited - unlabelled if mode == SOUND else cited
    if not relevant:
        return None, why + Counter([NO_RELEVANT])
    if not used:
        return None, why + Counter([NO_CITATIONS])
    return score_sets(used, relevant), why


def _relevant(arguments: Mapping[int, str], labels: Labels, mode: str) -> set[int]:
    """Numbers of the relevant arguments.

    The paper looks an argument up by its text up to the first ". ", so an argument of several
    sentences mostly finds no label and counts as not relevant. Departure: it looks among all
    labelled sentences of the pair, here among the numbered ones; the released figures are the
    same.
    """
    relevant = {number for number in arguments if (labels.get(number) or 0) >= RELEVANT}
    if mode == SOUND:
        return relevant
    sentences = {arguments[number] for number in relevant}
    return {number for number, each in arguments.items() if each.split(". ")[0] in sentences}


def score_sets(used: set[int], relevant: set[int]) -> Scores:
    """Precision, recall and F1 of used numbers against relevant ones; neither is empty.

    Examples
    --------
    >>> score_sets({1, 2, 9}, {1, 2, 3, 4}).recall
    0.5
    """
    both = len(used & relevant)
    precision, recall = both / len(used), both / len(relevant)
    return Scores(
        precision, recall, 2 * precision * recall / (precision + recall) if both else 0.0
    )


def cited_in_paper_segments(text: str) -> set[int]:
    """Numbers in the brackets that end the paper's segments, read by the tolerant reader.

    Between the modes: it misses ``[5]`` in ``[3][5]``, but not ``[3, generated]``. The figures
    known for the released subset "with a clean citation parser" are computed this way.
    """
    return {
        number
        for _segment, inside in paper_pairs(text)
        for citation in find_citations(f"[{inside}]")
        for number in citation.numbers
    }
