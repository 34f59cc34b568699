"""Human scores of CompQA, and their links to answers by letters and digits."""

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b

from annotation.imports.methods.releases import RawAnswer
from benchmark.rubrics.methods.rubric import Rubric, RubricError
from cqa_site.tabular import BadCell, Problem, TableRow, open_table

# The consolidated human scores of CompQA: one row an answer, points C1 … C15.
#
# Tab-separated, texts quoted with line breaks inside. The points are means of two annotators where
# there were two, so halves occur. An answer's total is the sum of its points; the column ``score``
# is one annotator's and 0 where that one did not score the answer. One text has swallowed the rows
# below it, because a quotation mark in it was never closed: it ends at its first tab.

_ABOUT = ("object1", "object2", "comparison", "model", "scenario")
_TEXTS = ("object1", "object2", "comparison", "model")


@dataclass(frozen=True)
class HumanScore:
    """One scored answer.

    Attributes
    ----------
    row : int
        Physical line on which the record starts.
    system, scenario : str, int
        Who wrote the answer under which prompt, 0 for none, as in the raw answers.
    aspect : str or None
        None where the cell is empty.
    text : str
        Up to its first tab.
    swallowed : int
        Number of rows after that tab.
    points : dict of str to float
        Criterion → points as in the file.
    off_scale : tuple of str
        Criteria whose points are not 0 … maximum in steps of 0.5: slips of the annotators (three
        in the release), which the paper's totals contain.
    blanks : tuple of str
        Criteria whose cell is empty (none in the release, which has 0 instead). They have no
        points, and the row has no total.
    stated_score : float or None
        The column that is not the total.
    """

    row: int
    system: str
    scenario: int
    object1: str
    object2: str
    aspect: str | None
    text: str
    swallowed: int
    points: dict[str, float]
    off_scale: tuple[str, ...]
    blanks: tuple[str, ...]
    stated_score: float | None

    @property
    def total(self) -> float | None:
        """Sum of the points; None if one is missing."""
        return None if self.blanks else sum(self.points.values())


def read_human_scores(
    path: str | os.PathLike[str], rubric: Rubric, *, name: str | None = None
) -> Iterator[HumanScore | Problem]:
    """Read the rows in file order; unused columns may hold anything.

    Half points are on the scale whether or not the rubric allows them. Raises `UnreadableFile` at
    the first step if a column is missing, later if the file is damaged.
    """
    halves = replace(rubric, allows_halves=True)
    with open_table(path, name=name, kind="tsv") as table:
        table.require((*_ABOUT, *rubric.keys))
        yield from table.records(partial(_read_row, rubric=halves))


def _read_row(row: TableRow, rubric: Rubric) -> HumanScore:
    cells = {column: str(value or "") for column, value in row.values.items()}
    empty = [column for column in _TEXTS if not cells[column].strip()]
    if empty:
        raise BadCell(empty[0], "is empty")
    text, _tab, behind = cells["comparison"].partition("\t")
    blanks = tuple(key for key in rubric.keys if not cells[key].strip())
    points = {key: _number(cells[key], key) for key in rubric.keys if key not in blanks}
    return HumanScore(
        row=row.number,
        system=cells["model"],
        scenario=_scenario(cells["scenario"], cells["model"]),
        object1=cells["object1"],
        object2=cells["object2"],
        aspect=cells.get("aspect", "").strip() or None,
        text=text,
        swallowed=behind.count("\n"),
        points=points,
        off_scale=tuple(key for key, point in points.items() if _is_off(key, point, rubric)),
        blanks=blanks,
        stated_score=_number(cells["score"], "score") if cells.get("score") else None,
    )


def _number(cell: str, column: str) -> float:
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise BadCell(column, f"{cell[:20]!a} is not a number")
    return number


def _is_off(key: str, points: float, rubric: Rubric) -> bool:
    try:
        rubric.check_points(key, points)
    except RubricError:
        return True
    return False


def _scenario(cell: str, system: str) -> int:
    """Return the scenario; systems without scenarios have their own name in this cell."""
    if cell in ("1", "2", "3", "4"):
        return int(cell)
    if cell not in ("", system):
        raise BadCell("scenario", f"{cell[:20]!a} is neither 1 to 4 nor the system's name")
    return 0


# Whether two texts are one answer, told by their letters and digits.
#
# Texts that went through a workbook or another program lose white space, quotation marks and the
# encoding of signs ("‚Äô" for an apostrophe). Letters a to z and digits survive, so they are what
# is compared. Texts with other letters are never taken for one; those that are nearly alike are
# shown to a person.

# Where the end of a text was lost or changed; so much of a beginning is no coincidence.
OPENING_LENGTH = 300
# Several answers of one system to one question reach .98 in the CompQA release, so no value
# decides alone; below this one they are not worth a person's look.
NEAR = 0.9

_OTHER = re.compile(r"[^A-Za-z0-9]+")
_SHOWN, _BEFORE = 240, 60


def letters_of(text: str) -> str:
    """Return the letters a to z and digits of a text, in lower case.

    >>> letters_of("It’s 3.5-inch!") == letters_of("It‚Äôs 3.5-inch!")
    True
    """
    return _OTHER.sub("", text).lower()


def letters_key(text: str) -> bytes:
    """Return a 16-byte hash of the letters of a text, or of the text itself if it has none."""
    return blake2b((letters_of(text) or text).encode(), digest_size=16).digest()


def likeness(text: str, other: str) -> float:
    """Return the similarity of two strings of letters, 0 to 1; it is 0 if too low to show.

    Twice the longest common subsequence by the sum of the lengths. Worth showing: a similarity of
    at least `NEAR`, or the same first `OPENING_LENGTH` letters.

    >>> likeness("teawins", "teawins"), likeness("teawins", "coffee")
    (1.0, 0.0)
    """
    from rapidfuzz import fuzz

    opening = text[:OPENING_LENGTH]
    begins_alike = len(opening) == OPENING_LENGTH and other.startswith(opening)
    cutoff = 0 if begins_alike else 100 * NEAR
    return fuzz.ratio(text, other, score_cutoff=cutoff) / 100


def excerpts(text: str, other: str) -> tuple[str, str]:
    """Return the beginnings of two texts and the passage where their letters first differ.

    >>> excerpts("Tea wins.", "Tea  wins!")
    ('Tea wins.', 'Tea  wins!')
    """
    first, second = letters_of(text), letters_of(other)
    pairs = enumerate(zip(first, second, strict=False))
    same = next((at for at, (a, b) in pairs if a != b), min(len(first), len(second)))
    return _excerpt(text, same), _excerpt(other, same)


def _excerpt(text: str, same: int) -> str:
    """Return the opening, and the passage after the first ``same`` letters if it is further on."""
    if len(text) <= _SHOWN:
        return text
    places = [match.start() for match in re.finditer("[A-Za-z0-9]", text)]
    at = places[same] if same < len(places) else len(text)
    opening = text[:_SHOWN]
    if at < _SHOWN:
        return f"{opening} …"
    begin = max(at - _BEFORE, _SHOWN)
    return f"{opening} … {text[begin : begin + _SHOWN]}"


# Which answer a row of human scores is about, found by its letters and digits.
#
# The consolidated table has lost the places of the answers, so their letters are compared, among
# the answers of the same system, scenario and pair only.

LETTERS, OPENING = "letters", "opening"

Origin = tuple[str, int]


@dataclass(frozen=True)
class AnswerLink:
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

    links: tuple[AnswerLink, ...]
    unlinked: tuple[HumanScore, ...]

    @property
    def ambiguous(self) -> tuple[AnswerLink, ...]:
        return tuple(link for link in self.links if link.rivals)

    @property
    def repeats(self) -> tuple[AnswerLink, ...]:
        return tuple(link for link in self.links if link.is_repeat)

    def made_by(self, how: str) -> int:
        """Return how many links were made by this method."""
        return sum(link.how == how for link in self.links)


def link_by_letters(
    scores: Sequence[HumanScore], answers: Mapping[Origin, Sequence[RawAnswer]]
) -> Links:
    """Link each row to the answer with the same letters, else with the same first 300.

    Several rows may be about one answer: the release has six answers that were scored twice and
    not consolidated. Among equal answers of a system and scenario, the first that no row has yet
    is taken.
    """
    known = _by_pair(answers)
    links: list[AnswerLink] = []
    unlinked: list[HumanScore] = []
    positions: set[tuple[Origin, int]] = set()
    for score in scores:
        origin = (score.system, score.scenario)
        among = known.get((origin, score.object1, score.object2), [])
        how, fitting = _fitting(letters_of(score.text), among)
        if not fitting:
            unlinked.append(score)
            continue
        free = [answer for answer in fitting if (origin, answer.position) not in positions]
        chosen = (free or fitting)[0]
        rivals = tuple(answer.position for answer in fitting if answer is not chosen)
        links.append(AnswerLink(score, chosen, how, rivals, is_repeat=not free))
        positions.add((origin, chosen.position))
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
        for answer in listed:
            place = (origin, answer.object1, answer.object2)
            known.setdefault(place, []).append((answer, letters_of(answer.text)))
    return known
