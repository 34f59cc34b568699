"""Human scores from CompQA, linked to answers by their letters and digits."""

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

# The consolidated human scores of CompQA: one row per answer, points C1 … C15.
#
# The file is tab-separated; quoted texts contain line breaks. Where two annotators scored an
# answer, the points are their means, so halves occur. An answer's total is the sum of its points;
# the column ``score`` belongs to one annotator and is 0 if that annotator did not score the
# answer. One text contains the rows below it because a quotation mark in it was never closed; this
# text ends at its first tab.

_ABOUT = ("object1", "object2", "comparison", "model", "scenario")
_TEXTS = ("object1", "object2", "comparison", "model")


@dataclass(frozen=True)
class HumanScore:
    """One scored answer.

    Attributes
    ----------
    row : int
        Physical line where the record starts.
    system, scenario : str, int
        System that wrote the answer, and its scenario (0 for none), as in the raw answers.
    aspect : str or None
        None if the cell is empty.
    text : str
        Text up to its first tab.
    swallowed : int
        Number of rows after that tab.
    points : dict of str to float
        Criterion → points as in the file.
    off_scale : tuple of str
        Criteria whose points are not 0 … maximum in steps of 0.5: slips by the annotators (three
        in the release), which the paper's totals include.
    blanks : tuple of str
        Criteria with an empty cell (none in the release, which has 0 instead). They have no
        points, and the row has no total.
    stated_score : float or None
        Value of the column ``score``, which is not the total.
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
        """Sum of the points; None if any are missing."""
        return None if self.blanks else sum(self.points.values())


def read_human_scores(
    path: str | os.PathLike[str], rubric: Rubric, *, name: str | None = None
) -> Iterator[HumanScore | Problem]:
    """Read the rows in file order; unused columns may contain anything.

    Half points are on the scale even if the rubric does not allow them. Raise `UnreadableFile`
    before the first row if a column is missing, or later if the file is damaged.
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
    """Return the scenario; for systems without scenarios, its cell contains the system's name."""
    if cell in ("1", "2", "3", "4"):
        return int(cell)
    if cell not in ("", system):
        raise BadCell("scenario", f"{cell[:20]!a} is neither 1 to 4 nor the system's name")
    return 0


# Comparison of texts by their letters and digits.
#
# Texts that passed through a workbook or another program lose white space, quotation marks and
# character encoding ("‚Äô" for an apostrophe). Letters a to z and digits survive, so only these
# are compared. Texts with different letters are never matched automatically; nearly equal texts
# are shown to a person.

# For texts whose end was lost or changed: equal openings of this length are no coincidence.
OPENING_LENGTH = 300
# In the CompQA release, several answers by one system to one question reach .98, so no threshold
# can decide; pairs below this value are not worth showing to a person.
NEAR = 0.9

_OTHER = re.compile(r"[^A-Za-z0-9]+")
_SHOWN, _BEFORE = 240, 60


def letters_of(text: str) -> str:
    """Return the letters a to z (in lower case) and the digits of a text.

    >>> letters_of("It’s 3.5-inch!") == letters_of("It‚Äôs 3.5-inch!")
    True
    """
    return _OTHER.sub("", text).lower()


def letters_key(text: str) -> bytes:
    """Return a 16-byte hash of the letters of a text, or of the text itself if it has none."""
    return blake2b((letters_of(text) or text).encode(), digest_size=16).digest()


def likeness(text: str, other: str) -> float:
    """Return the similarity of two strings of letters, from 0 to 1; 0 if too low to show.

    The similarity is twice the length of the longest common subsequence, divided by the sum of the
    lengths. It is shown if it is at least `NEAR`, or if the first `OPENING_LENGTH` letters are
    equal.

    >>> likeness("teawins", "teawins"), likeness("teawins", "coffee")
    (1.0, 0.0)
    """
    from rapidfuzz import fuzz

    opening = text[:OPENING_LENGTH]
    begins_alike = len(opening) == OPENING_LENGTH and other.startswith(opening)
    cutoff = 0 if begins_alike else 100 * NEAR
    return fuzz.ratio(text, other, score_cutoff=cutoff) / 100


def excerpts(text: str, other: str) -> tuple[str, str]:
    """Return excerpts of two texts: the beginning, and the passage where the letters first differ.

    >>> excerpts("Tea wins.", "Tea  wins!")
    ('Tea wins.', 'Tea  wins!')
    """
    first, second = letters_of(text), letters_of(other)
    pairs = enumerate(zip(first, second, strict=False))
    same = next((at for at, (a, b) in pairs if a != b), min(len(first), len(second)))
    return _excerpt(text, same), _excerpt(other, same)


def _excerpt(text: str, same: int) -> str:
    """Return the opening, and the passage after the first ``same`` letters if it comes later."""
    if len(text) <= _SHOWN:
        return text
    places = [match.start() for match in re.finditer("[A-Za-z0-9]", text)]
    at = places[same] if same < len(places) else len(text)
    opening = text[:_SHOWN]
    if at < _SHOWN:
        return f"{opening} …"
    begin = max(at - _BEFORE, _SHOWN)
    return f"{opening} … {text[begin : begin + _SHOWN]}"


# Links from rows of human scores to answers, by letters and digits.
#
# The consolidated table does not contain the positions of the answers, so letters are compared,
# but only among answers with the same system, scenario and pair.

LETTERS, OPENING = "letters", "opening"

Origin = tuple[str, int]


@dataclass(frozen=True)
class AnswerLink:
    """Link from a row to its answer.

    Attributes
    ----------
    how : str
        `LETTERS`: all letters and digits are equal; `OPENING`: the first 300 are equal.
    rivals : tuple of int
        Positions of other answers that also fit; the first answer without a row is chosen.
    is_repeat : bool
        Whether an earlier row is about the same answer, so that this row is a second sheet.
    """

    score: HumanScore
    answer: RawAnswer
    how: str
    rivals: tuple[int, ...] = ()
    is_repeat: bool = False


@dataclass(frozen=True)
class Links:
    """Links in row order, and the rows that match no answer."""

    links: tuple[AnswerLink, ...]
    unlinked: tuple[HumanScore, ...]

    @property
    def ambiguous(self) -> tuple[AnswerLink, ...]:
        return tuple(link for link in self.links if link.rivals)

    @property
    def repeats(self) -> tuple[AnswerLink, ...]:
        return tuple(link for link in self.links if link.is_repeat)

    def made_by(self, how: str) -> int:
        """Return the number of links made by this method."""
        return sum(link.how == how for link in self.links)


def link_by_letters(
    scores: Sequence[HumanScore], answers: Mapping[Origin, Sequence[RawAnswer]]
) -> Links:
    """Link each row to the answer with the same letters, or at least the same first 300 letters.

    Several rows can be about one answer: the release has six answers that were scored twice and
    not consolidated. Among identical answers by the same system under the same scenario, the first
    answer without a row is chosen.
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
