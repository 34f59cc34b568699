"""Training recipes of scorers and writers, batches, and ridge regression."""

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from argsum.datasets.methods.argument_cells import RawCell
from cqa_site.judging.training import RecipeError, TrainingRecipe
from cqa_site.stats.arrays import FloatArray, Floats


@dataclass(frozen=True, kw_only=True)
class ScorerRecipe(TrainingRecipe):
    """Training recipe of a scorer.

    Attributes
    ----------
    steps : int
        Maximum number of batches, over which the learning rate falls to zero.
    batch : int
        Arguments of one cell in a batch, in addition to all its key points.
    entropy, scale : float
        Weight of the class-balanced cross-entropy on cosines times `scale`.
    contrast, temperature : float
        Weight of the supervised contrastive loss, and its temperature.
    frozen : int
        1 freezes the word vectors, n + 1 also the first n layers.
    longest : int
        Maximum number of tokens in a text; longer texts are cut.
    averaging : float
        Decay of the moving average of the weights at each step; 0 means no average. Both the last
        weights and their average are evaluated on dev.
    checks, patience : int
        Number of checks on the dev split, and number of checks without a better figure after which
        the training ends.
    members : int
        Number of successive training runs with consecutive seeds, whose best weights are averaged.
    uses_topic : bool
        Whether the topic is prepended to each text, because its meaning depends on the topic.
    quick : bool
        Whether matrices are multiplied in 16 bits if the processor supports it. This takes less
        than half the time, but other processors produce slightly different weights.
    """

    bounds: ClassVar = {
        "steps": (1, 100_000),
        "batch": (4, 128),
        "learning_rate": (1e-7, 1e-2),
        "scale": (1, 100),
        "entropy": (0, 10),
        "contrast": (0, 10),
        "temperature": (0.01, 1),
        "frozen": (0, 24),
        "longest": (8, 512),
        "averaging": (0, 0.9999),
        "checks": (1, 100),
        "patience": (1, 100),
        "members": (1, 10),
        "seed": (0, 2**31 - 100),
    }
    steps: int = 120
    batch: int = 40
    learning_rate: float = 1e-4
    entropy: float = 0.0
    scale: float = 10.0
    contrast: float = 1.0
    temperature: float = 0.1
    frozen: int = 1
    longest: int = 64
    averaging: float = 0.98
    checks: int = 4
    patience: int = 2
    members: int = 4
    seed: int = 1
    uses_topic: bool = True
    quick: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.entropy and not self.contrast:
            raise RecipeError("Without entropy and contrast nothing is learned.")

    def check_steps(self) -> frozenset[int]:
        """Return the steps after which the dev split is checked, including the last step."""
        return frozenset(
            max(1, round(self.steps * look / self.checks)) for look in range(1, self.checks + 1)
        )

    def rate_at(self, step: int) -> float:
        """Return a step's share of the learning rate.

        The share rises for a tenth of the steps, then falls.
        """
        warm = max(1, self.steps // 10)
        if step < warm:
            return (step + 1) / warm
        return max(0.0, (self.steps - step) / max(1, self.steps - warm))


# Input and training of a writer of key points, with all numbers that affect them.
#
# A writer is a sequence-to-sequence model. Its input is built as in the argument summarization
# paper, section 3.3: the task, the stance, the topic, then the arguments of a cluster, best first.

# Named in the authors' code; the paper does not give its size.
WRITER_MODEL = "google/flan-t5-base"
# The task in the wording that T5 and its descendants were trained on.
TASK = "summarize:"
SIDES = {1: "supporting", -1: "opposing", 0: ""}
# Beam search without sampling, as in the authors' code; the paper gives neither number.
BEAMS, MOST_TOKENS_OUT = 6, 128


def writer_input(topic: str, stance: int, arguments: Sequence[str]) -> str:
    """Return the input of a writer; the arguments of a cluster are given best first.

    Examples
    --------
    >>> writer_input("Buses at night", -1, ["They cost much.", "They wake people."])
    'summarize: opposing Buses at night They cost much. They wake people.'
    """
    return " ".join(filter(None, [TASK, SIDES[stance], topic, *arguments]))


@dataclass(frozen=True)
class TrainingExample:
    """One training example: the arguments of a key point, best first, and the key point."""

    topic: str
    stance: int
    arguments: tuple[str, ...]
    key_point: str

    @property
    def text(self) -> str:
        """Input of the writer."""
        return writer_input(self.topic, self.stance, self.arguments)


@dataclass(frozen=True, kw_only=True)
class WritingRecipe(TrainingRecipe):
    """Training recipe of a writer; the defaults are the authors'.

    Attributes
    ----------
    epochs : int
        Number of passes over the key points of the train split; dev is checked after each pass.
    batch : int
        Key points in a batch.
    learning_rate : float
        Falls to zero over all batches. It is from the paper (appendix A); the other numbers are
        from the authors' code.
    longest_in, longest_out : int
        Maximum numbers of tokens in the arguments and in the key point; longer input is cut at the
        end, where the weakest arguments are.
    """

    bounds: ClassVar = {
        "epochs": (1, 100),
        "batch": (1, 64),
        "learning_rate": (1e-7, 1e-2),
        "longest_in": (16, 1024),
        "longest_out": (4, 128),
        "seed": (0, 2**31 - 100),
    }
    epochs: int = 15
    batch: int = 16
    learning_rate: float = 4e-4
    longest_in: int = 512
    longest_out: int = MOST_TOKENS_OUT
    seed: int = 1


# Batches for the match scorer: arguments of one cell with all key points of this cell.
#
# Texts of one batch share a topic, so that only their content distinguishes them, and each text is
# encoded once for all its pairs.

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
        Positions of the evaluated arguments, which preprocessing keeps and which have exactly one
        key point.
    qualities
        Qualities of the arguments, 0–1, or None if unknown.
    """

    topic: str
    stance: int
    arguments: tuple[str, ...]
    key_points: tuple[str, ...]
    labels: Labels
    judged: tuple[int, ...] = ()
    qualities: tuple[float | None, ...] = ()

    @property
    def name(self) -> str:
        """Topic and stance on one line."""
        return f"{self.topic} ({self.stance:+d})"

    def reference(self) -> list[str]:
        """Return the key point of each evaluated argument."""
        return [self.key_points[int(self.labels[row].argmax())] for row in self.judged]

    def matching(self) -> list[tuple[str, ...]]:
        """Return the arguments of each key point, best first, and those without a quality last."""
        worth = [-math.inf if quality is None else quality for quality in self.qualities]
        return [
            tuple(
                self.arguments[row]
                for row in sorted(np.flatnonzero(column), key=lambda row: -worth[row])
            )
            for column in (self.labels == MATCH).T
        ]


@dataclass(frozen=True)
class Batch:
    """Some arguments of a cell, by position."""

    cell: int
    rows: tuple[int, ...]


def training_cell(raw: RawCell, judged: Iterable[int] = ()) -> TrainingCell:
    """Return a training cell from a cell that was read from a file."""
    labels = np.full((len(raw.arguments), len(raw.key_points)), UNDECIDED, dtype=np.int8)
    for (argument, key_point), is_match in raw.matches.items():
        labels[argument, key_point] = MATCH if is_match else NO_MATCH
    return TrainingCell(
        raw.topic,
        raw.stance,
        tuple(raw_argument.text for raw_argument in raw.arguments),
        tuple(point.text for point in raw.key_points),
        labels,
        tuple(judged),
        tuple(raw_argument.quality for raw_argument in raw.arguments),
    )


def both_stances(cells: Iterable[TrainingCell]) -> list[TrainingCell]:
    """Merge the stances of each topic; arguments of one side match no key points of the other.

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
    """Return a cell of statements on one topic; the first text of each point represents it.

    Parameters
    ----------
    topic
        The topic of the statements.
    points
        Name of a point → two or more different wordings of the point.
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
    """Return all arguments in seeded order, in batches of about `size` from one cell.

    A cell is cut into equal parts, so that no batch has only one argument.
    """
    draw = random.Random(seed)  # noqa: S311  an order, not a secret
    batches = []
    for place, cell in enumerate(cells):
        rows = list(range(len(cell.arguments)))
        draw.shuffle(rows)
        parts = max(1, round(len(rows) / size))
        batches += [
            Batch(place, tuple(int(row) for row in part))
            for part in np.array_split(np.array(rows, dtype=np.int64), parts)
            if len(part)
        ]
    draw.shuffle(batches)
    return batches


def shared_key_points(labels: Labels) -> tuple[Mask, Mask]:
    """Return which pairs of arguments share a key point and which certainly do not.

    Parameters
    ----------
    labels : shape (n, k)
        As in `TrainingCell`.

    Returns
    -------
    positive, negative : bool arrays, shape (n, n)
        Only above the diagonal, so that each pair counts once. Both leave out arguments without
        key points. They also leave out pairs if it is undecided whether one argument matches a key
        point of the other, because such pairs may share a key point.

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


# Quality score by ridge regression on sentence vectors.

# Candidate penalties; the dev split chooses.
PENALTIES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)


def fit_ridge(vectors: Floats, values: Floats, penalty: float) -> tuple[FloatArray, float]:
    """Return weights, shape (d,), and bias that minimize squared error + penalty × |weights|².

    Parameters
    ----------
    vectors : float array, shape (n, d)
        Vectors of the texts.
    values : float array, shape (n,)
        Known qualities.
    penalty
        At least 0; the bias is not penalised.

    Examples
    --------
    >>> weights, bias = fit_ridge(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0]), 0)
    >>> weights.round(6).tolist(), round(bias, 6)
    ([2.0], 1.0)
    """
    x, y = np.asarray(vectors, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if len(x) != len(y) or not len(y):
        raise ValueError(f"{len(x)} vectors for {len(y)} values")
    middle, mean = x.mean(axis=0), float(y.mean())
    centred = x - middle
    left = centred.T @ centred + penalty * np.eye(x.shape[1])
    weights = np.linalg.lstsq(left, centred.T @ (y - mean), rcond=None)[0]
    return weights, mean - float(middle @ weights)


def best_penalty(
    train: tuple[Floats, Floats],
    dev: tuple[Floats, Floats],
    penalties: Sequence[float] = PENALTIES,
) -> float:
    """Return the penalty with the smallest squared error on dev; ties go to the smallest."""
    errors = {}
    for penalty in penalties:
        weights, bias = fit_ridge(*train, penalty)
        errors[penalty] = float(((dev[0] @ weights + bias - dev[1]) ** 2).mean())
    return min(penalties, key=lambda candidate: (errors[candidate], candidate))
