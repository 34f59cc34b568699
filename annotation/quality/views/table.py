"""The table of annotators: its columns, orders and filters."""

from collections.abc import Callable
from typing import Any

from django.utils.translation import gettext_lazy

from annotation.quality.reports.quality import Annotator
from cqa_site.stats.verdicts import LEVEL

Key = Callable[[Annotator], Any]

# By upper bound: annotators shown to be bad come before those who had bad luck.
DEFAULT_SORT = "interval"
SORTS: dict[str, Key] = {
    "name": lambda each: each.rater.pseudonym,
    "votes": lambda each: each.votes,
    "accuracy": lambda each: each.controls.accuracy,
    "interval": lambda each: each.high_percent,
    "agreement": lambda each: each.agreement,
    "seconds": lambda each: each.median_seconds,
}
HEADS = {
    "name": gettext_lazy("Annotator"),
    "votes": gettext_lazy("Labels"),
    "accuracy": gettext_lazy("Control accuracy"),
    "interval": gettext_lazy("95 % interval"),
    "agreement": gettext_lazy("Agrees with others"),
    "seconds": gettext_lazy("Median time"),
}
FILTERS: dict[str, tuple[Any, Key]] = {
    "": (gettext_lazy("All"), lambda each: True),
    "low": (gettext_lazy("95 % interval below the mark"), lambda each: each.is_low),
    "one_value": (gettext_lazy("One label only"), lambda each: each.is_one_value),
    "hasty": (gettext_lazy("Very fast"), lambda each: each.is_hasty),
    "stopped": (gettext_lazy("Paused"), lambda each: each.is_stopped),
    "excluded": (gettext_lazy("Excluded"), lambda each: each.is_excluded),
}


def sort_people(people: list[Annotator], sort: str) -> list[Annotator]:
    """Sort by a column, "-" for descending; undefined values last either way."""
    key = SORTS.get(sort.removeprefix("-"), SORTS[DEFAULT_SORT])
    known = [each for each in people if key(each) is not None]
    known.sort(key=lambda each: (key(each), each.rater.pk), reverse=sort.startswith("-"))
    return known + [each for each in people if key(each) is None]


def heads(sort: str) -> list[dict[str, Any]]:
    """Columns with the order they are in and the one a click gives."""
    column, is_descending = sort.removeprefix("-"), sort.startswith("-")
    return [
        {
            "title": title,
            "order": ("descending" if is_descending else "ascending") if name == column else "",
            "next": f"-{name}" if name == column and not is_descending else name,
            "is_number": name not in ("name", "interval"),
        }
        for name, title in HEADS.items()
    ]


def filters(people: list[Annotator], show: str) -> list[dict[str, Any]]:
    """Filters that would leave somebody, each with how many."""
    counts = {name: sum(map(test, people)) for name, (_title, test) in FILTERS.items()}
    return [
        {"name": name, "title": title, "count": counts[name], "is_current": name == show}
        for name, (title, _test) in FILTERS.items()
        if counts[name] or name in ("", show)
    ]


def totals(people: list[Annotator]) -> dict[str, float]:
    """Sums over all annotators, and how many intervals lie below a mark by chance at most."""
    with_controls = sum(bool(each.controls.n) for each in people)
    return {
        "people": len(people),
        "labels": sum(each.votes for each in people),
        "right": sum(each.controls.right for each in people),
        "controls": sum(each.controls.n for each in people),
        "low": sum(each.is_low for each in people),
        "with_controls": with_controls,
        "by_chance": with_controls * LEVEL / 2,
        "excluded": sum(each.is_excluded for each in people),
    }
