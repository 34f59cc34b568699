"""Score sheets as one grid per rater, and the model family of each judge."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from benchmark.rubrics.methods.rubric import Rubric
from cqa_site.stats.arrays import FloatArray, IntArray

# Families of language models, needed to test a judge's preference for its own family
#
# The family is recognized by a word in the name of the model or system. Users choose these names
# when they import or configure a model, so a lab can assign a family to any name.

# Words in names → family; the first match counts, "o1" and "o3" only as whole words.
WORDS: tuple[tuple[str, str], ...] = (
    (r"gpt|chatgpt|davinci|openai|\bo[134]\b", "gpt"),
    (r"vicuna", "vicuna"),
    (r"mixtral|mistral|ministral|codestral|magistral", "mistral"),
    (r"llama|meta-llama|alpaca", "llama"),
    (r"qwen|qwq", "qwen"),
    (r"gemini|gemma|palm|bard", "gemini"),
    (r"claude|anthropic", "claude"),
    (r"deepseek", "deepseek"),
    (r"command-r|\bcohere|\baya\b", "cohere"),
    (r"\bphi-?\d|\bphi\b", "phi"),
    (r"perplexity|\bpplx|\bsonar\b", "perplexity"),
    (r"falcon", "falcon"),
    (r"smollm", "smollm"),
)


def family_of(*names: str, known: Mapping[str, str] | None = None) -> str | None:
    """Return the family of a judge or system, from the first of its names that indicates one.

    Parameters
    ----------
    names
        For example the model name of the endpoint, then the name of the system.
    known
        Name → family, ignoring case; it overrides the words in a name. An empty string means no
        family.

    Returns
    -------
    str or None
        None if no name indicates a family, as for texts by people or from the web. "vicuna" is
        a separate family although it was tuned from Llama, because it learned from another
        model's chats.

    Examples
    --------
    >>> family_of("meta-llama/Llama-3-70B"), family_of("gpt4_sc3"), family_of("yahoo")
    ('llama', 'gpt', None)
    >>> family_of("judge 7", known={"Judge 7": "qwen"})
    'qwen'
    """
    families = {name.casefold(): family for name, family in (known or {}).items()}
    for name in names:
        plain = name.casefold()
        if plain in families:
            return families[plain] or None
        for words, family in WORDS:
            if re.search(words, plain):
                return family
    return None


# Score sheets as one grid for each rater, with answers as rows and total, groups and criteria as
# columns
#
# The table comes from `scoring.reports.sheets.sheet_table` and has one row for each sheet. For
# people, the first sheet of an answer counts and later sheets are blind repeats; replicates of a
# model are averaged. Missing points stay missing (NaN) everywhere.

PEOPLE = "people"
HUMAN_KINDS = ("person", "expert", "reference")
# Consolidated sheets of several people: a mean, more reliable than one person, and not a person.
CONSOLIDATED = "reference"


@dataclass(frozen=True, kw_only=True)
class SheetRater:
    """A person or judge that submitted sheets.

    Attributes
    ----------
    key
        Public id; `PEOPLE` for the mean of all people.
    name, kind, family
        Kind from the table, `PEOPLE` for the mean; family of a judge, or None.
    sheets, unscored
        Number of rows in the table, and of rows without points.
    replicates
        Largest number of sheets for one answer.
    """

    key: str
    name: str
    kind: str
    family: str | None = None
    sheets: int
    unscored: int = 0
    replicates: int = 1

    @property
    def is_judge(self) -> bool:
        return self.kind not in (*HUMAN_KINDS, PEOPLE)

    @property
    def is_consolidated(self) -> bool:
        return self.kind == CONSOLIDATED


@dataclass(frozen=True, eq=False, kw_only=True)
class PointsGrid:
    """Points of all raters for the same answers.

    Attributes
    ----------
    columns, maxima
        "total", keys of groups and keys of criteria; maximum points of each column.
    criteria
        Keys of the criteria, which are the last columns.
    answers : shape (n,)
        Primary keys of the answers.
    questions : shape (n,)
        Codes of the questions, starting at 0.
    systems, families : shape (n,), object
        System with scenario; model family of the system, or None.
    has_aspect : shape (n,), bool
    characters : shape (n,)
    raters
        Raters in the order of the report: people, then judges, each sorted by name.
    values
        Key of a rater, or `PEOPLE`, → shape (n, n_columns).
    """

    columns: tuple[str, ...]
    maxima: tuple[float, ...]
    criteria: tuple[str, ...]
    answers: IntArray
    questions: IntArray
    systems: np.ndarray
    families: np.ndarray
    has_aspect: np.ndarray
    characters: FloatArray
    raters: tuple[SheetRater, ...]
    values: dict[str, FloatArray]

    @property
    def people(self) -> tuple[SheetRater, ...]:
        return tuple(rater for rater in self.raters if not rater.is_judge)

    @property
    def persons(self) -> tuple[SheetRater, ...]:
        """People who scored individually; agreement among people is based on them."""
        return tuple(person for person in self.people if not person.is_consolidated)

    @property
    def judges(self) -> tuple[SheetRater, ...]:
        return tuple(rater for rater in self.raters if rater.is_judge)

    def column(self, key: str, name: str) -> FloatArray:
        """Return one rater's points in one column, shape (n,)."""
        return np.asarray(self.values[key][:, self.columns.index(name)], dtype=np.float64)


def grid_of(
    table: pd.DataFrame, rubric: Rubric, families: Mapping[str, str] | None = None
) -> PointsGrid:
    """Arrange the sheets of a table into a grid.

    Parameters
    ----------
    table
        A table from `sheet_table`; other columns are ignored.
    rubric
        The rubric, which names the columns of points.
    families
        Name of a model, system or judge → family (see `family_of`).
    """
    groups = {group.key: float(group.maximum) for group in rubric.groups}
    points = {criterion.key: float(criterion.maximum) for criterion in rubric.criteria}
    maxima = {"total": float(rubric.maximum), **groups, **points}
    columns = tuple(maxima)
    firsts = table.drop_duplicates("answer")
    codes = pd.Index(firsts["answer"]).get_indexer(table["answer"])
    scores = table[list(columns)].to_numpy(dtype=float)
    values: dict[str, FloatArray] = {}
    raters = []
    for rows, rater in _raters(table, families):
        own = rows
        if not rater.is_judge:
            ordered = rows[np.argsort(table["replicate"].to_numpy()[rows], kind="stable")]
            scored = ordered[~np.isnan(scores[ordered]).all(axis=1)]
            own = scored[np.sort(np.unique(codes[scored], return_index=True)[1])]
        raters.append(rater)
        values[rater.key] = _means(scores[own], codes[own], len(firsts))
    people = [values[person.key] for person in raters if not person.is_judge]
    values[PEOPLE] = nan_mean(people, (len(firsts), len(columns)))
    names = firsts["system"].astype(str) + " " + firsts["scenario"].astype(str)
    return PointsGrid(
        columns=columns,
        maxima=tuple(maxima.values()),
        criteria=tuple(points),
        answers=firsts["answer"].to_numpy(dtype=np.int64),
        questions=pd.factorize(firsts["question"])[0].astype(np.int64),
        systems=np.asarray(names, dtype=object),
        families=_families(firsts, families),
        has_aspect=(firsts["aspect"].fillna("") != "").to_numpy(dtype=bool),
        characters=firsts["characters"].to_numpy(dtype=float),
        raters=tuple(raters),
        values=values,
    )


def nan_mean(grids: list[FloatArray], shape: tuple[int, ...]) -> FloatArray:
    """Return the cell-by-cell mean of grids of the same shape, ignoring missing values."""
    total, known = np.zeros(shape), np.zeros(shape)
    for grid in grids:
        total += np.nan_to_num(grid)
        known += ~np.isnan(grid)
    undefined = np.full(shape, np.nan)
    return np.asarray(np.divide(total, known, out=undefined, where=known > 0))


def _raters(
    table: pd.DataFrame, families: Mapping[str, str] | None
) -> list[tuple[IntArray, SheetRater]]:
    """Return each rater with the positions of its rows: people, then judges, sorted by name."""
    pairs = []
    for key, rows in table.groupby("rater_id", sort=True).indices.items():
        part = table.iloc[rows]
        name = str(part["rater_name"].iloc[0]) or f"R-{str(key).replace('-', '')[:6]}"
        kind = str(part["rater_kind"].iloc[0])
        rater = SheetRater(
            key=str(key),
            name=name,
            kind=kind,
            family=None if kind in HUMAN_KINDS else family_of(name, known=families),
            sheets=len(part),
            unscored=int((part["state"] == "unscored").sum()),
            replicates=int(part["answer"].value_counts().max()),
        )
        pairs.append((np.asarray(rows, dtype=np.int64), rater))
    return sorted(pairs, key=lambda pair: (pair[1].is_judge, pair[1].name, pair[1].key))


def _means(scores: FloatArray, codes: IntArray, n: int) -> FloatArray:
    """Return the mean of each answer's sheets, shape (n, n_columns)."""
    known = ~np.isnan(scores)
    total, count = np.zeros((n, scores.shape[1])), np.zeros((n, scores.shape[1]))
    np.add.at(total, codes, np.nan_to_num(scores))
    np.add.at(count, codes, known)
    undefined = np.full(total.shape, np.nan)
    return np.asarray(np.divide(total, count, out=undefined, where=count > 0))


def _families(firsts: pd.DataFrame, families: Mapping[str, str] | None) -> np.ndarray:
    """Return the family of each answer's system; None for texts by people."""
    about = firsts[["model", "system", "system_kind"]].fillna("").astype(str)
    known = {
        row: None if row[2] == "human" else family_of(row[0], row[1], known=families)
        for row in set(about.itertuples(index=False, name=None))
    }
    rows = about.itertuples(index=False, name=None)
    return np.array([known[row] for row in rows], dtype=object)
