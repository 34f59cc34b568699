"""Figures about time: seconds per label, and votes over time."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from .kept import OverTime, Quartiles, SecondsBin, TimeBin, Times

WIDTHS = (0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300)
MOST_BINS = 24
STEPS = (("hour", "h", 60), ("day", "D", 62), ("week", "W-SUN", 104), ("month", "MS", 10_000))


def time_per_label(used: pd.DataFrame, values: Sequence[int]) -> Times:
    """Median, quartiles and histogram of the active seconds browsers reported."""
    timed = used[used["active_ms"].notna()]
    seconds = timed["active_ms"].to_numpy(dtype=float) / 1000
    by_label = {value: seconds[(timed["label"] == value).to_numpy(dtype=bool)] for value in values}
    return Times(
        n_untimed=len(used) - len(timed),
        all=_quartiles(seconds),
        labels=tuple(_quartiles(by_label[value], value) for value in values),
        histogram=tuple(_histogram(seconds)),
        reason=None if len(seconds) else "no vote came with a time",
    )


def _quartiles(seconds: np.ndarray, label: int | None = None) -> Quartiles:
    if len(seconds) == 0:
        return Quartiles(label=label, n=0, q1=None, median=None, q3=None)
    q1, median, q3 = (float(value) for value in np.quantile(seconds, [0.25, 0.5, 0.75]))
    return Quartiles(label=label, n=len(seconds), q1=q1, median=median, q3=q3)


def _histogram(seconds: np.ndarray) -> list[SecondsBin]:
    """Equal bins up to where 98 % of the votes are; the last one is open to the right."""
    if len(seconds) == 0:
        return []
    reach = float(np.quantile(seconds, 0.98))
    width = next((width for width in WIDTHS if reach / width < MOST_BINS), WIDTHS[-1])
    bins = min(int(reach // width) + 1, MOST_BINS)
    places = np.minimum(seconds // width, bins - 1).astype(int)
    counts = np.bincount(places, minlength=bins)
    return [
        {
            "from": place * width,
            "to": (place + 1) * width if place < bins - 1 else None,
            "votes": int(count),
        }
        for place, count in enumerate(counts)
    ]


def votes_over_time(used: pd.DataFrame) -> OverTime:
    """Counted votes by hour, day, week or month (UTC), gaps filled with zeros."""
    times = used["answered_at"].dropna()
    undated = len(used) - len(times)
    if times.empty:
        return OverTime(step=None, bins=(), n_undated=undated, reason="no vote has a date")
    hours = (times.max() - times.min()).total_seconds() / 3600
    lengths = {"hour": 1, "day": 24, "week": 168, "month": 730}
    step, rule = next((name, rule) for name, rule, most in STEPS if hours / lengths[name] <= most)
    counts = pd.Series(1, index=times).resample(rule, closed="left", label="left").sum()
    form = "%Y-%m-%d %H:00" if step == "hour" else "%Y-%m-%d"
    bins = tuple(
        TimeBin(start=start.strftime(form), votes=int(count), total=int(total))
        for start, count, total in zip(counts.index, counts, counts.cumsum(), strict=True)
    )
    return OverTime(step=step, bins=bins, n_undated=undated, reason=None)
