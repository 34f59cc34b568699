"""Split answers among experts, and align the lines of two versions of a text."""

import random
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

# Seeded split into answers for every expert and answers for one expert
#
# In the relevance paper (section 4.2), four experts edit the same ten answers
# for calibration and then ten answers each on their own, for a total of fifty
# comparisons. Here the sizes are free, and the seed reproduces the split.


class TooFewAnswers(ValueError):
    """The sets need more answers than are available."""

    def __init__(self, needed: int, available: int) -> None:
        super().__init__(f"the sets need {needed} answers, but {available} were found")
        self.needed = needed
        self.found = available


@dataclass(frozen=True, slots=True)
class EditAssignment:
    """Assignment of answers to experts.

    Parameters
    ----------
    calibration
        Answers that every expert edits.
    individual
        For each expert, in the given order, the answers that only this expert edits.
    """

    calibration: tuple[int, ...]
    individual: tuple[tuple[int, ...], ...]

    def desk(self, expert: int, seed: int) -> list[int]:
        """Return one expert's answers in desk order: calibration first, both parts shuffled.

        The order differs between experts, so that fatigue does not always affect the same answers.
        """
        source = random.Random(f"{seed}:{expert}")  # noqa: S311  an order, not a secret
        common = source.sample(self.calibration, len(self.calibration))
        own = source.sample(self.individual[expert], len(self.individual[expert]))
        return common + own


def split_answers(
    answers: Sequence[tuple[int, Hashable]],
    *,
    experts: int,
    calibration: int,
    individual: int,
    seed: int,
) -> EditAssignment:
    """Draw calibration and individual sets, spread over the questions as evenly as possible.

    Parameters
    ----------
    answers
        Pairs of an answer's key and its question. Their order does not matter,
        because the same pairs and seed always give the same split.
    experts
        Number of experts, at least 1.
    calibration, individual
        Number of answers for everybody, and number for each expert alone.
    seed
        Seed for the random order in which answers are dealt.

    Raises
    ------
    TooFewAnswers
        If ``calibration + experts * individual`` exceeds the number of answers.

    Notes
    -----
    Answers are dealt one at a time, first to the calibration set and then to
    the experts in turn. Questions that no set has yet are dealt first. A set
    gets a second answer to a question only if all remaining answers are to
    questions that it already has. With one answer to each of 50 questions and
    sizes 10 and 10, four experts share all 50 questions, as in the paper.

    Examples
    --------
    >>> pairs = [(n, n // 3) for n in range(30)]
    >>> split = split_answers(pairs, experts=2, calibration=2, individual=4, seed=1)
    >>> len(split.calibration), [len(own) for own in split.individual]
    (2, [4, 4])
    >>> sorted({n // 3 for n in (*split.calibration, *split.individual[0], *split.individual[1])})
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    needed = calibration + experts * individual
    if needed > len(answers):
        raise TooFewAnswers(needed, len(answers))
    waiting = _spread(answers, random.Random(seed))  # noqa: S311  an order, not a secret
    common = _Hand()
    for _turn in range(calibration):
        common.take_from(waiting)
    hands = [_Hand(set(common.questions)) for _expert in range(experts)]
    for _turn in range(individual):
        for hand in hands:
            hand.take_from(waiting)
    return EditAssignment(tuple(common.answers), tuple(tuple(hand.answers) for hand in hands))


def _spread(
    answers: Iterable[tuple[int, Hashable]], source: random.Random
) -> list[tuple[int, Hashable]]:
    """Return the pairs in random order, every question once before any question repeats."""
    by_question: dict[Hashable, list[int]] = defaultdict(list)
    # Sorted because a database may return rows in any order.
    for answer, question in sorted(answers, key=lambda pair: pair[0]):
        by_question[question].append(answer)
    questions = list(by_question)
    source.shuffle(questions)
    for members in by_question.values():
        source.shuffle(members)
    rounds = max(map(len, by_question.values()), default=0)
    return [
        (by_question[question][turn], question)
        for turn in range(rounds)
        for question in questions
        if turn < len(by_question[question])
    ]


class _Hand:
    """The contents of one set while answers are distributed."""

    def __init__(self, questions: set[Hashable] | None = None) -> None:
        self.answers: list[int] = []
        self.questions = questions or set()

    def take_from(self, waiting: list[tuple[int, Hashable]]) -> None:
        """Take the first answer to a new question, or otherwise the first answer."""
        places = range(len(waiting))
        place = next((n for n in places if waiting[n][1] not in self.questions), 0)
        answer, question = waiting.pop(place)
        self.answers.append(answer)
        self.questions.add(question)


# Alignment of unchanged, rewritten, removed and added lines in two versions of a text
#
# Editors often rewrite a line and add another next to it. A plain comparison of lines treats the
# whole block as removed and added. This alignment finds similar lines in the block, so that
# reviewers read only the changes inside them.

Pair = tuple[str | None, str | None]

# Minimum share of common words for a line to count as rewritten.
LEAST_ALIKE = 0.4
# Blocks with more pairs than this are not searched: 150 lines against 150.
MOST_PAIRS = 22_500


def align_lines(before: str, after: str) -> list[Pair]:
    """Return the lines of both texts in order, with None if a line has no counterpart.

    Parameters
    ----------
    before, after : str
        Lines end with a line feed; an empty text is one empty line.

    Returns
    -------
    list of (old line or None, new line or None)
        All old and new lines, each exactly once and in order. A pair of identical lines is an
        unchanged line; a pair of different lines is a rewritten line.

    Examples
    --------
    >>> align_lines("tea is warm\\nend", "new\\ntea is very warm\\nend")
    [(None, 'new'), ('tea is warm', 'tea is very warm'), ('end', 'end')]
    """
    old, new = before.split("\n"), after.split("\n")
    pairs: list[Pair] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            pairs += zip(old[i1:i2], new[j1:j2], strict=True)
        else:
            pairs += _block(old[i1:i2], new[j1:j2])
    return pairs


def _block(old: Sequence[str], new: Sequence[str]) -> Iterator[Pair]:
    """Yield the lines of a changed block; removed lines precede added lines at the same place."""
    i = j = 0
    for partner_old, partner_new in [*_successors(old, new), (len(old), len(new))]:
        yield from ((line, None) for line in old[i:partner_old])
        yield from ((None, line) for line in new[j:partner_new])
        if partner_old < len(old):
            yield old[partner_old], new[partner_new]
        i, j = partner_old + 1, partner_new + 1


def _successors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return indices of matching lines, in order on both sides, with maximal total similarity."""
    if not old or not new or len(old) * len(new) > MOST_PAIRS:
        return []
    alike = _likeness(old, new)
    # best[i][j] is the maximal total similarity of old[i:] and new[j:].
    best = [[0.0] * (len(new) + 1) for _line in range(len(old) + 1)]
    for i in reversed(range(len(old))):
        for j in reversed(range(len(new))):
            together = best[i + 1][j + 1] + alike[i][j]
            best[i][j] = max(best[i + 1][j], best[i][j + 1], together)
    successors = []
    i = j = 0
    while i < len(old) and j < len(new):
        if alike[i][j] and best[i][j] == best[i + 1][j + 1] + alike[i][j]:
            successors.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return successors


def _likeness(old: Sequence[str], new: Sequence[str]) -> list[list[float]]:
    """Return the share of shared words (Dice's coefficient with repeats); 0 below the minimum."""
    left = [Counter(line.casefold().split()) for line in old]
    right = [Counter(line.casefold().split()) for line in new]
    return [[_dice(a, b) for b in right] for a in left]


def _dice(first: Counter[str], second: Counter[str]) -> float:
    words = first.total() + second.total()
    share = 2 * (first & second).total() / words if words else 0.0
    return share if share >= LEAST_ALIKE else 0.0
