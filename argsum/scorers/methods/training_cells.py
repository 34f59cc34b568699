"""Batches for the match scorer: arguments of one cell with all key points of that cell.

Texts of one batch share a topic, so that only what is said tells them apart, and each text is
encoded once for all pairs it is in.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from argsum.datasets.methods.raw_cells import RawCell

UNDECIDED, NO_MATCH, MATCH = -1, 0, 1
BOTH = 0
Labels = NDArray[np.int8]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class TrainingCell:
    """One topic and stance, or one topic with `BOTH` stances.

    Attributes
    ----------
    labels : int8 array, shape (n arguments, k key points)
        1 match, 0 no match, -1 undecided.
    judged
        Positions of the arguments that take part in the evaluation: those that preprocessing
        keeps, each with exactly one key point.
    """

    topic: str
    stance: int
    arguments: tuple[str, ...]
    key_points: tuple[str, ...]
    labels: Labels
    judged: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """Topic and stance in one line."""
        return f"{self.topic} ({self.stance:+d})"

    def reference(self) -> list[str]:
        """The key point of each judged argument."""
        return [self.key_points[int(self.labels[row].argmax())] for row in self.judged]


@dataclass(frozen=True)
class Batch:
    """Some arguments of a cell, by their positions."""

    cell: int
    rows: tuple[int, ...]


def training_cell(raw: RawCell, judged: Iterable[int] = ()) -> TrainingCell:
    """A cell as it was read from a file."""
    labels = np.full((len(raw.arguments), len(raw.key_points)), UNDECIDED, dtype=np.int8)
    for (argument, key_point), is_match in raw.matches.items():
        labels[argument, key_point] = MATCH if is_match else NO_MATCH
    return TrainingCell(
        raw.topic,
        raw.stance,
        tuple(each.text for each in raw.arguments),
        tuple(each.text for each in raw.key_points),
        labels,
        tuple(judged),
    )


def both_stances(cells: Iterable[TrainingCell]) -> list[TrainingCell]:
    """One cell for each topic: no argument of one side matches a key point of the other.

    Examples
    --------
    >>> labels = np.ones((1, 1), dtype=np.int8)
    >>> pro, con = (TrainingCell("bikes", side, ("a",), ("k",), labels) for side in (1, -1))
    >>> both_stances([pro, con])[0].labels.tolist()
    [[1, 0], [0, 1]]
    """
    topics: dict[str, list[TrainingCell]] = {}
    for cell in cells:
        topics.setdefault(cell.topic, []).append(cell)
    return [_joined(topic, sides) for topic, sides in topics.items()]


def _joined(topic: str, cells: Sequence[TrainingCell]) -> TrainingCell:
    arguments = [text for cell in cells for text in cell.arguments]
    key_points = [text for cell in cells for text in cell.key_points]
    labels = np.full((len(arguments), len(key_points)), NO_MATCH, dtype=np.int8)
    judged: list[int] = []
    row = column = 0
    for cell in cells:
        n, k = cell.labels.shape
        labels[row : row + n, column : column + k] = cell.labels
        judged += [row + at for at in cell.judged]
        row, column = row + n, column + k
    return TrainingCell(topic, BOTH, tuple(arguments), tuple(key_points), labels, tuple(judged))


def statement_cell(topic: str, points: Mapping[str, Sequence[str]]) -> TrainingCell:
    """Statements on one topic; of each point the first text stands for it.

    Parameters
    ----------
    topic
        What they are about.
    points
        Name of a point → two or more different wordings of it.
    """
    groups = list(points.values())
    arguments = [text for group in groups for text in group[1:]]
    own = np.repeat(np.arange(len(groups)), [len(group) - 1 for group in groups])
    labels = np.full((len(arguments), len(groups)), NO_MATCH, dtype=np.int8)
    labels[np.arange(len(arguments)), own] = MATCH
    key_points = tuple(group[0] for group in groups)
    everyone = tuple(range(len(arguments)))
    return TrainingCell(topic, BOTH, tuple(arguments), key_points, labels, everyone)


def epoch_batches(cells: Sequence[TrainingCell], *, size: int, seed: int) -> list[Batch]:
    """Every argument once, in batches of about `size` of one cell, in an order by the seed.

    A cell is cut into equal parts, so that no batch is left with a single argument.
    """
    draw = random.Random(seed)  # noqa: S311  an order, not a secret
    found = []
    for place, cell in enumerate(cells):
        rows = list(range(len(cell.arguments)))
        draw.shuffle(rows)
        parts = max(1, round(len(rows) / size))
        found += [
            Batch(place, tuple(int(row) for row in part))
            for part in np.array_split(np.array(rows, dtype=np.int64), parts)
            if len(part)
        ]
    draw.shuffle(found)
    return found


def shared_key_points(labels: Labels) -> tuple[Mask, Mask]:
    """Which pairs of arguments share a key point, and which certainly do not.

    Parameters
    ----------
    labels : shape (n, k)
        As in `TrainingCell`.

    Returns
    -------
    positive, negative : bool arrays, shape (n, n)
        Only above the diagonal, so that each pair counts once. Arguments without any key point
        are in neither, and so are two of which one is undecided about a key point of the other:
        nobody said what they have in common.

    Examples
    --------
    >>> labels = np.array([[1, 0], [1, -1], [0, 1], [0, 0]], dtype=np.int8)
    >>> positive, negative = shared_key_points(labels)
    >>> np.argwhere(positive).tolist(), np.argwhere(negative).tolist()
    ([[0, 1]], [[0, 2]])
    """
    matched, undecided = ((labels == value).astype(np.int32) for value in (MATCH, UNDECIDED))
    has_one = matched.any(axis=1)
    shares = matched @ matched.T > 0
    might_share = undecided @ matched.T > 0
    apart = np.outer(has_one, has_one) & ~shares & ~might_share & ~might_share.T
    above = np.triu(np.ones(shares.shape, dtype=bool), 1)
    return shares & above, apart & above
