"""Which answer a row of human scores is about, found by its letters and digits.

The consolidated table has lost the places of the answers, so their letters (`answer_letters`) are
compared, among the answers of the same system, scenario and pair only.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from annotation.imports.methods.raw_answers import RawAnswer

from .answer_letters import OPENING_LENGTH, letters_of
from .human_scores import HumanScore

LETTERS, OPENING = "letters", "opening"

Origin = tuple[str, int]


@dataclass(frozen=True)
class Link:
    """A row and its answer.

    Attributes
    ----------
    how : str
        `LETTERS`: all letters and digits are equal; `OPENING`: the first 300 are.
    rivals : tuple of int
        Positions of other answers that fit as well; the first that no row had yet was taken.
    is_repeat : bool
        An earlier row of the table is about the same answer: a second sheet for it.
    """

    score: HumanScore
    answer: RawAnswer
    how: str
    rivals: tuple[int, ...] = ()
    is_repeat: bool = False


@dataclass(frozen=True)
class Links:
    """Links in the order of the rows, and the rows that fit no answer."""

    links: tuple[Link, ...]
    unlinked: tuple[HumanScore, ...]

    @property
    def ambiguous(self) -> tuple[Link, ...]:
        return tuple(each for each in self.links if each.rivals)

    @property
    def repeats(self) -> tuple[Link, ...]:
        return tuple(each for each in self.links if each.is_repeat)

    def made_by(self, how: str) -> int:
        """How many links were made this way."""
        return sum(each.how == how for each in self.links)


def link_by_letters(
    scores: Sequence[HumanScore], answers: Mapping[Origin, Sequence[RawAnswer]]
) -> Links:
    """Link every row to the answer with its letters, else to the one with its first 300.

    Several rows may be about one answer: the release has six answers that were scored twice and
    not consolidated. Among equal answers, the first that no row has yet is taken.

    Parameters
    ----------
    scores : sequence of HumanScore
        Rows of the human table.
    answers : mapping
        (system, scenario) → answers of that file.
    """
    known = _by_pair(answers)
    links: list[Link] = []
    unlinked: list[HumanScore] = []
    taken: set[tuple[Origin, int]] = set()
    for score in scores:
        origin = (score.system, score.scenario)
        among = known.get((origin, score.object1, score.object2), [])
        how, fitting = _fitting(letters_of(score.text), among)
        if not fitting:
            unlinked.append(score)
            continue
        free = [each for each in fitting if (origin, each.position) not in taken]
        chosen = (free or fitting)[0]
        rivals = tuple(each.position for each in fitting if each is not chosen)
        links.append(Link(score, chosen, how, rivals, is_repeat=not free))
        taken.add((origin, chosen.position))
    return Links(tuple(links), tuple(unlinked))


def _fitting(wanted: str, among: Sequence[tuple[RawAnswer, str]]) -> tuple[str, list[RawAnswer]]:
    whole = [answer for answer, letters in among if letters == wanted]
    if whole or len(wanted) < OPENING_LENGTH:
        return LETTERS, whole if wanted else []
    opening = wanted[:OPENING_LENGTH]
    return OPENING, [answer for answer, letters in among if letters.startswith(opening)]


def _by_pair(
    answers: Mapping[Origin, Iterable[RawAnswer]],
) -> dict[tuple[Origin, str, str], list[tuple[RawAnswer, str]]]:
    known: dict[tuple[Origin, str, str], list[tuple[RawAnswer, str]]] = {}
    for origin, listed in answers.items():
        for each in listed:
            place = (origin, each.object1, each.object2)
            known.setdefault(place, []).append((each, letters_of(each.text)))
    return known
