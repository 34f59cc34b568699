"""Find the votes behind a figure, as rows of the snapshot's own table.

A figure has a short name: ``alpha``, ``alpha-ordinary``, ``cell:2:3``, ``label:3``,
``majority:3``, ``pair:<rater>:<rater>``, ``rater:<rater>``, ``item:<item>``, ``time``,
``votes``, ``rows``. Recomputing the figure from its rows gives the same value.
"""

from collections.abc import Callable
from typing import Any

import pandas as pd

from cqa_site.stats.agreement import krippendorff_alpha
from cqa_site.stats.disagreement import majority
from cqa_site.stats.estimate import Estimate
from cqa_site.web.tables import TableData
from .figures import in_scope, ratings_of
from .snapshots import counted


class NoSuchFigure(ValueError):
    """The name of a figure is invalid."""


def units(votes: pd.DataFrame, figure: str) -> pd.DataFrame:
    """Return the rows behind a figure in table order; raise NoSuchFigure for an unknown name."""
    name, _, rest = figure.partition(":")
    if name not in _ROWS:
        raise NoSuchFigure(figure)
    try:
        return _ROWS[name](votes, rest)
    except ValueError as error:
        raise NoSuchFigure(figure) from error


def pairable(used: pd.DataFrame) -> pd.DataFrame:
    """Return the counted votes on items with at least two counted votes."""
    return used[used.groupby("item_id")["item_id"].transform("size") >= 2]


def _cell(votes: pd.DataFrame, rest: str) -> pd.DataFrame:
    """Return votes with the cell's labels on items with both labels (or one at least twice)."""
    first, second = (int(label) for label in rest.split(":"))
    used = counted(votes)
    sizes = used.groupby(["item_id", "label"]).size().unstack(fill_value=0)
    if not {first, second} <= set(sizes.columns):
        return used[:0]
    both = (sizes[first] > 0) & (sizes[second] > (1 if first == second else 0))
    return used[used["label"].isin([first, second]) & used["item_id"].isin(sizes.index[both])]


def _label(votes: pd.DataFrame, rest: str) -> pd.DataFrame:
    used = counted(votes)
    return used[used["label"] == int(rest)]


def _majority(votes: pd.DataFrame, rest: str) -> pd.DataFrame:
    used = counted(votes)
    labels = majority(ratings_of(used))["label"]
    return used[used["item_id"].isin(labels.index[labels == int(rest)])]


def _pair(votes: pd.DataFrame, rest: str) -> pd.DataFrame:
    """Return the votes by two raters on their shared items."""
    first, second = rest.split(":")
    used = counted(votes)
    of_both = used[used["rater_id"].isin([first, second])]
    return pairable(of_both) if first != second else of_both


def _time(votes: pd.DataFrame, rest: str) -> pd.DataFrame:
    used = counted(votes)
    return used[used["active_ms"].notna()]


_ROWS: dict[str, Callable[[pd.DataFrame, str], pd.DataFrame]] = {
    "rows": lambda votes, rest: votes,
    "votes": lambda votes, rest: counted(votes),
    "alpha": lambda votes, rest: pairable(counted(votes)),
    "alpha-ordinary": lambda votes, rest: pairable(in_scope(counted(votes), "ordinary")),
    "cell": _cell,
    "label": _label,
    "majority": _majority,
    "pair": _pair,
    "rater": lambda votes, rest: votes[votes["rater_id"] == rest],
    "item": lambda votes, rest: votes[votes["item_id"] == rest],
    "time": _time,
}


def recomputed(rows: pd.DataFrame, figure: str) -> Estimate | None:
    """Recompute ordinal alpha from the rows as a check; return None for any other figure."""
    if figure.partition(":")[0] not in ("alpha", "alpha-ordinary", "pair"):
        return None
    return krippendorff_alpha(ratings_of(rows), "ordinal")


def unit_rows(rows: pd.DataFrame) -> TableData:
    """Return the rows as a table with the snapshot's columns, for download."""
    columns = [_plain(rows[name]) for name in rows.columns]
    return TableData(list(rows.columns), list(zip(*columns, strict=True)), name="votes")


def page_rows(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return rows for a page, with integers as text and times that templates can format."""
    columns = [_plain(rows[name]) for name in rows.columns]
    records = (dict(zip(rows.columns, cells, strict=True)) for cells in zip(*columns, strict=True))
    return [
        {
            **row,
            "label_text": _digit(row["label"]),
            "control_text": _digit(row["control_label"]),
            "seconds": None if row["active_ms"] is None else row["active_ms"] / 1000,
            "item_key": f"item:{row['item_id']}",
            "rater_key": f"rater:{row['rater_id']}",
        }
        for row in records
    ]


def _plain(column: pd.Series) -> list[Any]:
    """Return Python values, with None for missing values."""
    return [
        None if is_missing else value
        for value, is_missing in zip(column.tolist(), column.isna(), strict=True)
    ]


def _digit(label: int | None) -> str:
    return "" if label is None else str(int(label))
