"""Figures of the relevance paper, computed from votes, labels and the released files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from annotation.consensus.methods import describe_votes, final_labels
from annotation.imports.methods.releases import ReleasedLabel, Unit, read_final_labels
from annotation.imports.methods.votes import (
    CrowdVote,
    ExpertControl,
    ExpertLabel,
    ExpertSheet,
    match_key,
    read_expert_workbook,
    read_toloka,
)
from cqa_site.stats.agreement import Level, fleiss_kappa, krippendorff_alpha
from cqa_site.stats.disagreement import majority, split_pattern
from cqa_site.stats.ratings import Ratings

# Figures of the relevance paper from tables of votes and labels
#
# The same functions handle the released files and imported or live rounds
# (`annotation.papers.reports`). If the results differ, an import has lost data.
#
# A table of *rows* has one row for each item that was served to a rater, with or without a vote:
# ``item``, ``unit`` (the argument, which several items may share), ``pair`` (the two objects),
# ``rater``, ``value`` (missing without a vote), ``is_counted``, ``is_blank``, ``is_control``,
# ``control_label`` (missing for ordinary items), and ``place`` (position of the item in its block,
# from 1). A table of *votes* contains only the rows that count.

LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")
SCALE = (0, 1, 2, 3)
PATTERNS = ("3-0", "2-1", "1-1-1")
Values = dict[str, Any]


def crowd_values(rows: pd.DataFrame, min_accuracy: float) -> Values:
    """Return the sizes, agreement, control accuracy and majority labels of the crowd's votes.

    ``min_accuracy`` is the minimum share of right answers on control items for a worker to be kept
    in the figures named ``kept_*``. Workers without control items are not kept.
    """
    votes = rows[rows["is_counted"]]
    ordinary = votes[~votes["is_control"]]
    return {
        **_sizes(rows, votes),
        "votes": (len(ordinary), len(votes) - len(ordinary)),
        "vote_values": _distribution(votes["value"]),
        **{f"alpha_all_{level}": _alpha(votes, level) for level in LEVELS},
        **{f"alpha_ordinary_{level}": _alpha(ordinary, level) for level in LEVELS},
        **_control_accuracy(votes),
        **_kept_workers(rows, ordinary, control_accuracy(votes), min_accuracy),
        **_majorities(votes, ordinary),
    }


def control_accuracy(votes: pd.DataFrame) -> pd.Series:
    """Map raters to their share of right answers on control items, if they have any."""
    controls = votes[votes["is_control"]]
    return _is_right(controls).groupby(controls["rater"]).mean()


def consensus_values(
    labels: Mapping[Any, int], released: Mapping[Any, Collection[int]]
) -> tuple[int, int]:
    """Count the labels that equal a released label, and the units that have both labels.

    If the release labels copies of a sentence differently, each of these labels counts as
    released.
    """
    both = [unit for unit in released if unit in labels]
    return sum(labels[unit] in released[unit] for unit in both), len(both)


def expert_values(controls: pd.DataFrame, batches: pd.DataFrame) -> Values:
    """Return experts' agreement on their control sheet and in the overlap of their batches.

    Parameters
    ----------
    controls, batches
        Columns item, unit, rater and value, with one row per label. A unit may be in several
        batches.
    """
    together = batches.assign(item=batches["unit"])
    twice = together[together.groupby("unit")["unit"].transform("size") > 1]
    spread = twice.groupby("unit")["value"].agg(lambda values: values.max() - values.min())
    return {
        "expert_controls": (controls["item"].nunique(), controls["rater"].nunique()),
        "expert_alpha": _alpha(controls, "ordinal"),
        "expert_fleiss": fleiss_kappa(_ratings(controls)).value,
        "batch_items": int(together["unit"].nunique()),
        "batch_twice": len(spread),
        "batch_alpha": _alpha(twice, "ordinal"),
        "batch_equal": int((spread == 0).sum()),
    }


def model_values(labels: pd.DataFrame) -> Values:
    """Return the agreement of a model's labels with the final labels.

    Parameters
    ----------
    labels
        Columns item, rater ("final" or "model") and value, with one row per label.
    """
    table = labels.pivot(index="item", columns="rater", values="value").dropna()
    return {
        "model_exact": float((table["model"] == table["final"]).mean()),
        **{f"model_alpha_{level}": _alpha(labels, level) for level in LEVELS},
    }


def _sizes(rows: pd.DataFrame, votes: pd.DataFrame) -> Values:
    items = rows.drop_duplicates("item")
    per_item = votes.groupby("item").size().reindex(items["item"], fill_value=0)
    places = rows.loc[rows["is_control"], "place"].value_counts()
    pairs = set(items["pair"])
    return {
        "rows": len(rows),
        "answered_void": (len(votes), len(rows) - len(votes)),
        "workers": votes["rater"].nunique(),
        "tasks": len(items),
        "ordinary_control": (int((~items["is_control"]).sum()), int(items["is_control"].sum())),
        "blank": int(items["is_blank"].sum()),
        "pairs": len(pairs),
        "pairs_folded": len({frozenset(map(str.casefold, pair)) for pair in pairs}),
        "votes_per_task": (int(per_item.min()), int(per_item.max())),
        "control_positions": tuple(
            int(places.get(place, 0)) for place in range(1, int(places.index.max()) + 1)
        )
        if len(places)
        else (),
    }


def _is_right(controls: pd.DataFrame) -> pd.Series:
    return controls["value"].astype(int) == controls["control_label"].astype(int)


def _control_accuracy(votes: pd.DataFrame) -> Values:
    controls = votes[votes["is_control"]]
    accuracy = control_accuracy(votes)
    return {
        "control_accuracy": (int(_is_right(controls).sum()), len(controls)),
        "workers_below_half": int((accuracy < 0.5).sum()),
        "workers_perfect_zero": (int((accuracy == 1).sum()), int((accuracy == 0).sum())),
    }


def _kept_workers(
    rows: pd.DataFrame, ordinary: pd.DataFrame, accuracy: pd.Series, min_accuracy: float
) -> Values:
    good = accuracy[accuracy >= min_accuracy].index
    votes = ordinary[ordinary["rater"].isin(good)]
    table = majority(_ratings(votes))
    return {
        "kept_workers": len(good),
        "kept_votes": len(votes),
        "kept_tasks_without": rows.loc[~rows["is_control"], "item"].nunique() - len(table),
        "kept_ties": int(table["tied"].sum()),
        "kept_alpha": _alpha(votes, "ordinal"),
        "kept_labels": _distribution(table["label"]),
    }


def _majorities(votes: pd.DataFrame, ordinary: pd.DataFrame) -> Values:
    units = describe_votes(votes)
    splits = Counter(split_pattern(_ratings(ordinary)))
    return {
        "majority_tasks": _distribution(majority(_ratings(votes))["label"]),
        "majority_units": _distribution(units["majority_label"]),
        "splits": tuple(splits[pattern] for pattern in PATTERNS),
        "tied_units": int(units["tied"].sum()),
    }


def _ratings(votes: pd.DataFrame) -> Ratings:
    return Ratings.from_frame(votes[["item", "rater", "value"]])


def _alpha(votes: pd.DataFrame, level: Level) -> float | None:
    return krippendorff_alpha(_ratings(votes), level).value


def _distribution(labels: pd.Series) -> tuple[int, ...]:
    counts = labels.astype(int).value_counts()
    return tuple(int(counts.get(value, 0)) for value in SCALE)


# The first batches, in which experts overrule the majority (inferred; see
# docs/papers/relevance.md).
OVERRIDING = 3
COLUMNS = ["item", "unit", "rater", "value"]


def release_values(
    votes: Path, experts: Path, released: Path, *, min_accuracy: float = 0.5
) -> Values:
    """Compute all figures of the paper's votes and labels directly from the files.

    Parameters
    ----------
    votes, experts, released
        The crowd's export, the experts' workbook, and the file of final and model labels.
    min_accuracy
        See `relevance_paper.crowd_values`.

    Raises
    ------
    UnreadableFile
        If a file does not have the content that its name suggests.
    """
    rows = read_crowd(votes)
    sheets = [sheet for sheet in read_expert_workbook(experts) if sheet.is_rated]
    records = _records(released)
    batches = _batches(sheets, set(rows["unit"]))
    labels: dict[Unit, list[int]] = {}
    for record in records:
        if record.unit is not None and record.label is not None:
            labels.setdefault(record.unit, []).append(record.label)
    return {
        **crowd_values(rows, min_accuracy),
        **_consensus(rows, batches, labels),
        **expert_values(_controls(sheets), pd.concat(batches)),
        **model_values(_model(records)),
    }


def model_release_values(released: Path) -> Values:
    """Return the agreement of the released model and final labels; see `release_values`."""
    return model_values(_model(_records(released)))


def read_crowd(path: Path) -> pd.DataFrame:
    """Read all rows of the crowd's export, with or without a vote."""
    votes = (vote for vote in read_toloka(path) if isinstance(vote, CrowdVote))
    rows = pd.DataFrame(map(_row, votes))
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


def _records(path: Path) -> list[ReleasedLabel]:
    return [label for label in read_final_labels(path) if isinstance(label, ReleasedLabel)]


def _batches(sheets: Iterable[ExpertSheet], crowd: set[Unit]) -> list[pd.DataFrame]:
    """Return the labels of each rated batch, matching damaged sentences to the crowd's copy."""
    spelled = {
        (first, second, match_key(text)): (first, second, text) for first, second, text in crowd
    }

    def labels(sheet: ExpertSheet) -> Iterator[dict[str, Any]]:
        for row in sheet.rows:
            if isinstance(row, ExpertLabel) and row.label is not None:
                unit = (row.object1, row.object2, row.text)
                known = spelled.get((*unit[:2], match_key(row.text)), unit)
                spelling = unit if unit in crowd else known
                yield dict(
                    zip(COLUMNS, (spelling, spelling, sheet.position, row.label), strict=True)
                )

    batches = (sheet for sheet in sheets if sheet.kind == "batch")
    return [pd.DataFrame(labels(sheet), columns=COLUMNS) for sheet in batches]


def _controls(sheets: Iterable[ExpertSheet]) -> pd.DataFrame:
    """Return the labels of the control sheet, except the item that the sheet does not score."""
    rows = [
        (row.row, row.row, rater, label)
        for sheet in sheets
        for row in sheet.rows
        if isinstance(row, ExpertControl) and row.is_scored
        for rater, label in enumerate(row.labels)
        if label is not None
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _model(records: Iterable[ReleasedLabel]) -> pd.DataFrame:
    """Return the final and model labels of the first copy of each unit."""
    first: dict[Unit, ReleasedLabel] = {}
    for record in records:
        if record.unit is not None:
            first.setdefault(record.unit, record)
    rows = [
        (unit, rater, value)
        for unit, label in first.items()
        for rater, value in (("final", label.label), ("model", label.model_label))
        if value is not None
    ]
    return pd.DataFrame(rows, columns=["item", "rater", "value"])


def _consensus(
    rows: pd.DataFrame, batches: list[pd.DataFrame], released: dict[Unit, list[int]]
) -> Values:
    """Compare majorities, expert overrides and ties (settled as released) with released labels."""
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
