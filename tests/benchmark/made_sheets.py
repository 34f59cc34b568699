"""Invented tables of score sheets, as `sheet_table` gives them, without a database."""

import numpy as np
import pandas as pd

from benchmark.rubrics.methods.rubric import COMPQA, Rubric, rubric_from_dict, rubric_to_dict

SYSTEMS = ("gpt4", "llama3", "mixtral", "yahoo")


def part_of(rubric: Rubric, keys: tuple[str, ...]) -> Rubric:
    """The rubric with these criteria alone, numbered anew."""
    stored = rubric_to_dict(rubric)
    chosen = [criterion for criterion in stored["criteria"] if criterion["key"] in keys]
    criteria = [
        criterion | {"key": f"C{number}"} for number, criterion in enumerate(chosen, start=1)
    ]
    for group in stored["groups"]:
        group["maximum"] = sum(
            criterion["maximum"] for criterion in criteria if criterion["group"] == group["key"]
        )
    maximum = sum(group["maximum"] for group in stored["groups"])
    return rubric_from_dict(stored | {"criteria": criteria, "maximum": maximum})


# All three groups, 5 points: every figure is computed for 8 columns instead of 19.
BRIEF = part_of(COMPQA, ("C1", "C2", "C9", "C15"))


def truth(rubric: Rubric, answers: int, seed: int = 1) -> np.ndarray:
    """Points of every criterion (columns) for each answer, drawn at random."""
    rng = np.random.default_rng(seed)
    highest = [criterion.maximum for criterion in rubric.criteria]
    return rng.integers(0, highest, (answers, len(highest)), endpoint=True).astype(float)


def noisy(points: np.ndarray, rubric: Rubric, share: float, seed: int) -> np.ndarray:
    """The points with a share of them drawn anew."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, [each.maximum + 1 for each in rubric.criteria], points.shape)
    return np.where(rng.random(points.shape) < share, drawn, points).astype(float)


def sheets_of(
    rubric: Rubric,
    name: str,
    points: np.ndarray,
    *,
    kind: str = "person",
    replicate: int = 0,
    state: str = "submitted",
    answers: list[int] | None = None,
) -> pd.DataFrame:
    """One rater's sheets; answer i is by system i % 4 to question i // 4."""
    places = np.arange(len(points)) if answers is None else np.array(answers)
    table = pd.DataFrame(points, columns=list(rubric.keys), dtype=float)
    table["answer"] = places + 1
    table["question"] = places // len(SYSTEMS)
    table["system"] = [SYSTEMS[place % len(SYSTEMS)] for place in places]
    table["aspect"] = ["speed" if place // 4 % 2 else "" for place in places]
    table["characters"] = 500 + 37 * (places % 11)
    fixed = {"scenario": 1, "model": "", "system_kind": "imported", "run": 0}
    about = {"rater_id": f"id-{name}", "rater_name": name, "rater_kind": kind}
    table = table.assign(**fixed, **about, replicate=replicate, state=state)
    table["total"] = table[list(rubric.keys)].sum(axis=1, skipna=False)
    for group in rubric.groups:
        keys = [each.key for each in rubric.of_group(group.key)]
        table[group.key] = table[keys].sum(axis=1, skipna=False)
    return table


def together(*tables: pd.DataFrame) -> pd.DataFrame:
    """Several raters' sheets as one table."""
    return pd.concat(tables, ignore_index=True)
