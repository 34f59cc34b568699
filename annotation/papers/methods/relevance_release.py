"""The relevance paper's released files as the tables of `relevance_paper`, without a database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from annotation.consensus.methods.consensus import final_labels
from annotation.imports.methods.expert_workbook import (
    ExpertControl,
    ExpertLabel,
    ExpertSheet,
    match_key,
    read_expert_workbook,
)
from annotation.imports.methods.final_labels import FinalLabel, Unit, read_final_labels
from annotation.imports.methods.toloka import CrowdVote, read_toloka

from .relevance_paper import Values, consensus_values, crowd_values, expert_values, model_values

# The first batches whose experts overrule the majority; inferred, see docs/papers/relevance.md.
OVERRIDING = 3
COLUMNS = ["item", "unit", "rater", "value"]


def release_values(
    votes: Path, experts: Path, released: Path, *, min_accuracy: float = 0.5
) -> Values:
    """Every figure of the paper's votes and labels, computed straight from the files.

    Parameters
    ----------
    votes, experts, released
        The crowd's export, the experts' workbook, and the final labels with the model's.
    min_accuracy
        See `relevance_paper.crowd_values`.

    Raises
    ------
    UnreadableFile
        If one of them is not what its name says.
    """
    rows = read_crowd(votes)
    sheets = [each for each in read_expert_workbook(experts) if each.is_rated]
    records = _records(released)
    batches = _batches(sheets, set(rows["unit"]))
    return {
        **crowd_values(rows, min_accuracy),
        **_consensus(rows, batches, _released(records)),
        **expert_values(_controls(sheets), pd.concat(batches)),
        **model_values(_model(records)),
    }


def model_release_values(released: Path) -> Values:
    """Agreement of the released labels of the model with the final ones; see `release_values`."""
    return model_values(_model(_records(released)))


def read_crowd(path: Path) -> pd.DataFrame:
    """Every row of the crowd's export, voted on or not; see `relevance_paper`."""
    found = (each for each in read_toloka(path) if isinstance(each, CrowdVote))
    rows = pd.DataFrame(map(_row, found))
    rows["place"] = rows.groupby("block").cumcount() + 1
    return rows


def _row(vote: CrowdVote) -> Values:
    return {
        "item": vote.task_id,
        "unit": (vote.object1, vote.object2, vote.text),
        "pair": (vote.object1, vote.object2),
        "rater": vote.worker_id,
        "value": vote.label,
        "is_counted": vote.is_counted,
        "is_blank": vote.is_blank,
        "is_control": vote.control_label is not None,
        "control_label": vote.control_label,
        "block": vote.assignment_id,
    }


def _records(path: Path) -> list[FinalLabel]:
    return [each for each in read_final_labels(path) if isinstance(each, FinalLabel)]


def _batches(sheets: Iterable[ExpertSheet], crowd: set[Unit]) -> list[pd.DataFrame]:
    """Labels of each rated batch; a sentence with damaged characters meets the crowd's copy."""
    spelled = {(one, two, match_key(text)): (one, two, text) for one, two, text in crowd}

    def labels(sheet: ExpertSheet) -> Iterator[dict[str, Any]]:
        for row in sheet.rows:
            if isinstance(row, ExpertLabel) and row.label is not None:
                unit = (row.object1, row.object2, row.text)
                known = spelled.get((*unit[:2], match_key(row.text)), unit)
                found = unit if unit in crowd else known
                yield dict(zip(COLUMNS, (found, found, sheet.position, row.label), strict=True))

    batches = (sheet for sheet in sheets if sheet.kind == "batch")
    return [pd.DataFrame(labels(sheet), columns=COLUMNS) for sheet in batches]


def _controls(sheets: Iterable[ExpertSheet]) -> pd.DataFrame:
    """Labels on the control sheet, without the item that its own statistics leave out."""
    found = [
        (row.row, row.row, rater, label)
        for sheet in sheets
        for row in sheet.rows
        if isinstance(row, ExpertControl) and row.is_scored
        for rater, label in enumerate(row.labels)
        if label is not None
    ]
    return pd.DataFrame(found, columns=COLUMNS)


def _released(records: Iterable[FinalLabel]) -> dict[Unit, list[int]]:
    """Unit → the labels of its copies, the first one first."""
    found: dict[Unit, list[int]] = {}
    for each in records:
        if each.unit is not None and each.label is not None:
            found.setdefault(each.unit, []).append(each.label)
    return found


def _model(records: Iterable[FinalLabel]) -> pd.DataFrame:
    """Final label and model's label of each unit's first copy."""
    first: dict[Unit, FinalLabel] = {}
    for each in records:
        if each.unit is not None:
            first.setdefault(each.unit, each)
    rows = [
        (unit, rater, value)
        for unit, each in first.items()
        for rater, value in (("final", each.label), ("model", each.model_label))
        if value is not None
    ]
    return pd.DataFrame(rows, columns=["item", "rater", "value"])


def _consensus(
    rows: pd.DataFrame, batches: list[pd.DataFrame], released: dict[Unit, list[int]]
) -> Values:
    """Majority, experts over it, and tied units as released, each against the released labels."""
    votes = rows[rows["is_counted"]].astype({"value": int})
    overrides = pd.concat(batches[:OVERRIDING])
    nothing = pd.DataFrame(columns=["unit", "rater", "value"])
    before = final_labels(votes, overrides, nothing)
    tied = [unit for unit in before.index[before["tied"]] if unit in released]
    decisions = [(unit, "released", released[unit][0]) for unit in tied]
    after = final_labels(votes, overrides, pd.DataFrame(decisions, columns=nothing.columns))
    return {
        "equal_majority": consensus_values(_known(before["majority_label"]), released),
        "equal_experts": consensus_values(_known(before["label"]), released),
        "equal_adjudicated": consensus_values(_known(after["label"]), released),
    }


def _known(labels: pd.Series) -> dict[Any, int]:
    return {unit: int(label) for unit, label in labels.dropna().items()}
