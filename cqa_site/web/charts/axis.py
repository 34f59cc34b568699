"""Round values along an axis, and where they stand."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import ceil, floor, log10

# Steps of an axis of time, in seconds: minutes, hours, days, weeks, months, years.
_TIMES = (60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400, 172800, 604800, 1209600)
_DAYS = 86400 * 30, 86400 * 90, 86400 * 365, 86400 * 3650


@dataclass(frozen=True)
class Axis:
    """Both ends, the values that are written, and their words."""

    low: float
    high: float
    ticks: Sequence[float]
    labels: Sequence[str]

    def place(self, value: float, start: float, end: float) -> float:
        """The pixel of a value, where the axis runs from one pixel to another."""
        return start + (value - self.low) / (self.high - self.low) * (end - start)


def axis_of(
    values: Iterable[float | None] = (),
    *,
    domain: Sequence[float] | None = None,
    most: int = 5,
    is_whole: bool = False,
) -> Axis:
    """An axis on which nothing lies outside; it ends at round values unless a domain is given."""
    known = [value for value in values if value is not None] + list(domain or ())
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if low == high:
        low, high = (0.0, 1.0) if not low else (low - abs(low) / 2, high + abs(low) / 2)
    step = _step(high - low, most)
    if is_whole:
        step = max(1.0, float(ceil(step)))
    if domain is None:
        low, high = floor(low / step + 1e-9) * step, ceil(high / step - 1e-9) * step
    ticks = _round_values(low, high, step)
    if len(ticks) < 2:
        ticks = _round_values(low, high, _step(high - low, 2 * most))
    return Axis(low, high, ticks, [in_words(tick) for tick in ticks])


def time_axis(values: Sequence[float], *, most: int) -> Axis:
    """An axis of seconds since 1970, its words in UTC."""
    low, high = (min(values), max(values)) if values else (0.0, 86400.0)
    pad = max((high - low) / 20, 60.0)
    low, high = low - pad, high + pad
    steps = [each for each in (*_TIMES, *_DAYS) if (high - low) / each <= most]
    step = steps[0] if steps else _DAYS[-1]
    ticks = [float(at * step) for at in range(ceil(low / step), floor(high / step) + 1)]
    form = "%d %b %Y" if step >= _DAYS[0] else "%d %b" if step >= 86400 else "%d %b %H:%M"
    return Axis(low, high, ticks, [f"{datetime.fromtimestamp(at, UTC):{form}}" for at in ticks])


def seconds(at: str) -> float:
    """An ISO time without a zone, read as UTC."""
    return datetime.fromisoformat(at).replace(tzinfo=UTC).timestamp()


def in_words(value: float) -> str:
    """A round value as people write it."""
    return f"{value:,.10g}".replace("-", "−") if abs(value) < 1e10 else f"{value:.3g}"


def _round_values(low: float, high: float, step: float) -> list[float]:
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [round(at * step, 10) + 0.0 for at in range(first, last + 1)]


def _step(span: float, most: int) -> float:
    """The smallest round step that makes no more than so many."""
    power = 10.0 ** floor(log10(span / most))
    return next(power * each for each in (1, 2, 5, 10) if span / (power * each) <= most + 1e-9)
