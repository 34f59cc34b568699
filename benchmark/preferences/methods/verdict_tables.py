"""Tables of verdicts on pairs, and the systems they connect."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmark.preferences.methods.pairs import (
    DRAW,
    FIRST,
    LEFT,
    LOSS,
    OUTCOMES,
    RIGHT,
    SECOND,
    SIDES,
    WIN,
)
from cqa_site.stats.arrays import FloatArray, IntArray

# Verdicts on two answers to one question, in one table for people and judges.
#
# A verdict means that the first answer is better, that the second is better, that both are equally
# good, or that both are bad. Which answer is called first has no meaning; its side is stored.

COLUMNS = ("question", "pair", "first", "second", "outcome", "rater", "side")
_MIRRORED = {FIRST: SECOND, SECOND: FIRST, LEFT: RIGHT, RIGHT: LEFT}
# Column of each of `OUTCOMES`.
_COLUMN = np.array([WIN, LOSS, DRAW, DRAW])


class VerdictsError(ValueError):
    """Raised if a table cannot be read as verdicts."""


class MissingVerdictColumnError(VerdictsError):
    """Raised if a column is missing from a table of verdicts."""


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Checked verdicts; in each row the first system precedes the second by name.

    Attributes
    ----------
    frame
        One row per verdict, with `COLUMNS` and ``weight``.
    systems, questions
        Names, sorted as text.
    """

    frame: pd.DataFrame
    systems: tuple[str, ...]
    questions: tuple[Any, ...]

    @classmethod
    def from_frame(cls, table: pd.DataFrame) -> Verdicts:
        """Read a table of verdicts.

        Parameters
        ----------
        table
            One row per verdict. ``question``; ``pair``: name of the two answers, the same for both
            orders; ``first``, ``second``: their systems; ``outcome``: one of `OUTCOMES`;
            ``rater``; ``side``: the side of the first answer, ``both`` if the row merges both
            orders; and optionally ``weight``: at least 0, 1 by default.

        Raises
        ------
        MissingVerdictColumnError
            If a column is missing.
        VerdictsError
            If an outcome or side is unknown, a system is compared with itself, a weight is
            invalid, a value is missing, or pairs of different questions or systems have the same
            name.
        """
        absent = [column for column in COLUMNS if column not in table.columns]
        if absent:
            raise MissingVerdictColumnError(
                f"the table of verdicts lacks columns: {', '.join(absent)}"
            )
        frame = table.loc[:, list(COLUMNS)].reset_index(drop=True)
        if frame.isna().to_numpy().any():
            raise VerdictsError("a verdict has a missing value")
        weight = table["weight"] if "weight" in table.columns else np.ones(len(table))
        frame = frame.assign(
            first=frame["first"].astype(str),
            second=frame["second"].astype(str),
            weight=np.asarray(weight, dtype=float),
        )
        _refuse_bad_values(frame)
        frame = _in_order(frame)
        about = frame[["pair", "question", "first", "second"]].drop_duplicates()
        twice = about["pair"].duplicated()
        if twice.any():
            name = about["pair"][twice].iloc[0]
            raise VerdictsError(f"pair {name} has different questions or systems")
        return _named(frame)

    def __len__(self) -> int:
        return len(self.frame)

    def among(self, systems: Iterable[str]) -> Verdicts:
        """Return the verdicts that compare two of the named systems."""
        wanted = list(systems)
        mask = self.frame["first"].isin(wanted) & self.frame["second"].isin(wanted)
        return self._only(mask)

    def with_weight(self) -> Verdicts:
        return self._only(self.frame["weight"] > 0)

    def _only(self, mask: pd.Series) -> Verdicts:
        return self if mask.all() else _named(self.frame[mask].reset_index(drop=True))

    def count(self) -> PairCounts:
        """Add up the weights of the verdicts by question, pair of systems and outcome."""
        first = _places(self.frame["first"], self.systems)
        second = _places(self.frame["second"], self.systems)
        codes, pair = np.unique(first * len(self.systems) + second, return_inverse=True)
        column = _COLUMN[_places(self.frame["outcome"], OUTCOMES)]
        question = _places(self.frame["question"], self.questions)
        counts = np.zeros((len(self.questions), len(codes), 3))
        np.add.at(counts, (question, pair, column), self.frame["weight"])
        first, second = np.divmod(codes, max(len(self.systems), 1))
        return PairCounts(self.systems, first, second, counts)


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Counts of verdicts by pair of systems and question.

    Attributes
    ----------
    systems
        Names.
    first, second : shape (n_pairs,)
        Positions of both systems in `systems`; each pair occurs once, with first below second.
    by_question : shape (n_questions, n_pairs, 3)
        Weights of wins by the first, wins by the second, and draws. Both bad counts as a draw.
    """

    systems: tuple[str, ...]
    first: IntArray
    second: IntArray
    by_question: FloatArray

    @property
    def total(self) -> FloatArray:
        """Sums over all questions, shape (n_pairs, 3)."""
        return np.asarray(self.by_question.sum(axis=0))


def _places(column: pd.Series, names: tuple[Any, ...]) -> IntArray:
    """Return each value's position in the names. For a few rows, a pandas map is much slower."""
    places = {name: place for place, name in enumerate(names)}
    return np.array([places[value] for value in column.tolist()], dtype=np.int64)


def _named(frame: pd.DataFrame) -> Verdicts:
    systems = sorted({*frame["first"], *frame["second"]})
    return Verdicts(frame, tuple(systems), tuple(sorted(frame["question"].unique(), key=str)))


def _refuse_bad_values(frame: pd.DataFrame) -> None:
    for column, allowed in (("outcome", OUTCOMES), ("side", SIDES)):
        unknown = set(frame[column]) - set(allowed)
        if unknown:
            raise VerdictsError(
                f"{column} must be one of {', '.join(allowed)}, not {min(unknown)!r}"
            )
    same = frame["first"] == frame["second"]
    if same.any():
        raise VerdictsError(f"{frame['first'][same].iloc[0]!r} is compared with itself")
    weight = frame["weight"].to_numpy()
    if not (np.isfinite(weight) & (weight >= 0)).all():
        raise VerdictsError("a weight must be a number of at least 0")


def _in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """Swap the systems of a row if the first comes after the second by name."""
    turned = frame["first"] > frame["second"]
    return frame.assign(
        first=frame["first"].where(~turned, frame["second"]),
        second=frame["second"].where(~turned, frame["first"]),
        outcome=frame["outcome"].where(~turned, frame["outcome"].map(_mirrored)),
        side=frame["side"].where(~turned, frame["side"].map(_mirrored)),
    )


def _mirrored(word: str) -> str:
    return _MIRRORED.get(word, word)


# Systems that verdicts can rank: components of the graph of verdicts, and finite strengths.
#
# A system that never loses or ties has no finite strength, regardless of the number of verdicts,
# because the likelihood keeps growing with it. Therefore, maximum likelihood strengths exist only
# if all systems are linked by verdicts in both directions.
#
# Source: Ford (1957), Solution of a ranking problem from binary comparisons: without ties, finite
# strengths exist if and only if the graph of wins is strongly connected. `has_finite_ties` adds
# the condition for ties, which follows from the concavity of the log-likelihood.

BoolArray = NDArray[np.bool_]


def was_as_good(first: IntArray, second: IntArray, counts: FloatArray, n: int) -> BoolArray:
    """Return, for any two systems, whether a verdict rated one at least as good as the other.

    Parameters
    ----------
    first, second : shape (n_pairs,)
        Positions of the systems in each pair.
    counts : shape (..., n_pairs, 3)
        Weights of wins by the first, wins by the second, and draws.
    n
        Number of systems.

    Returns
    -------
    shape (..., n, n)
        Whether the row was at least as good as the column in any verdict.
    """
    links = np.zeros((*counts.shape[:-2], n, n), dtype=bool)
    drawn = counts[..., DRAW] > 0
    links[..., first, second] = (counts[..., WIN] > 0) | drawn
    links[..., second, first] = (counts[..., LOSS] > 0) | drawn
    return links


def reachable(links: BoolArray) -> BoolArray:
    """Return whether a path of links leads from row to column; every node reaches itself."""
    n = links.shape[-1]
    paths = links | np.eye(n, dtype=bool)
    # Each squaring doubles the length of the known paths.
    for _ in range(max(n - 1, 1).bit_length()):
        paths = (paths.astype(np.float32) @ paths.astype(np.float32)) > 0
    return paths


def strong_components(links: BoolArray) -> list[IntArray]:
    """Return the strongly connected components, by size (descending), then by first position."""
    paths = reachable(links)
    label = (paths & paths.T).argmax(axis=1)
    parts = [np.flatnonzero(label == number) for number in np.unique(label)]
    return sorted(parts, key=lambda part: (-len(part), part[0]))


def has_finite_ties(first: IntArray, second: IntArray, counts: FloatArray, n: int) -> bool:
    """Return whether strengths and the tie parameter of a strongly connected graph are finite.

    Notes
    -----
    Along a direction (u, v) of the log strengths and the log tie parameter, the log-likelihood
    never falls if and only if ``u_i - u_j >= 2 v`` for every win of i over j and
    ``|u_i - u_j| <= 2 v`` for every tie. In a strongly connected graph, only ``v > 0`` can satisfy
    this. By the theory of difference constraints, one does unless some cycle of verdicts has more
    wins, each followed from winner to loser, than ties. Two systems that beat each other form such
    a cycle. Without ties, the tie parameter is 0 and the strengths are finite.
    """
    if not (counts[:, DRAW] > 0).any():
        return True
    length = np.full((n, n), np.inf)
    drawn = counts[:, DRAW] > 0
    length[first[drawn], second[drawn]] = length[second[drawn], first[drawn]] = 1.0
    for better, worse, column in ((first, second, WIN), (second, first, LOSS)):
        won = counts[:, column] > 0
        length[better[won], worse[won]] = -1.0
    # The Floyd–Warshall algorithm; a negative cycle appears on the diagonal.
    for middle in range(n):
        length = np.minimum(length, length[:, [middle]] + length[[middle], :])
    return bool((np.diag(length) < 0).any())
