"""The figures of a snapshot as tables, and the changes between two snapshots."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.figures.models import Snapshot
from cqa_site.stats.estimate import Estimate, from_json
from cqa_site.web.tables import TableData
from cqa_site.web.templatetags.figures import pseudonym

from .snapshots import MedianOfPairs, RoundFigures

# The figures of a snapshot as tables: what pages show and what people take away.


# Tables that count labels, whose names stand beside them.
NAMED = ("labels", "majority")
Rows = list[list[Any]]
Build = Callable[[RoundFigures], tuple[list[str], Rows]]


@dataclass(frozen=True)
class RoundFigureFile:
    """Title, recipe and content of one figure."""

    title: Any
    recipe: Any
    build: Build


def figure_table(snapshot: Snapshot, figures: RoundFigures, slug: str) -> TableData:
    """Return one figure as a table with its recipe; raises KeyError for an unknown one."""
    entry = TABLES[slug]
    columns, rows = entry.build(figures)
    if slug in NAMED:
        columns, rows = _with_names(columns, rows, snapshot.campaign.guideline.level_names)
    assert snapshot.computed_at is not None  # noqa: S101 - there are figures
    where = _("Round “%(campaign)s”, snapshot #%(number)s, votes sha256 %(sha)s, %(date)s.") % {
        "campaign": snapshot.campaign.name,
        "number": snapshot.number,
        "sha": snapshot.sha256[:12],
        "date": date_format(snapshot.computed_at, "Y-m-d H:i e"),
    }
    return TableData(
        columns,
        rows,
        caption=f"{entry.title}. {where}",
        note=str(entry.recipe),
        name=f"{slug}-snapshot-{snapshot.number}",
    )


def _with_names(columns: list[str], rows: Rows, names: dict[int, str]) -> tuple[list[str], Rows]:
    """Add a column with the name of each label; empty for a label outside the scale."""
    label, *others = columns
    named = [[value, names.get(int(value), ""), *rest] for value, *rest in rows]
    return [label, _("Name"), *others], named


def _progress(figures: RoundFigures) -> tuple[list[str], Rows]:
    progress = figures.progress
    names = {
        "ordinary_items": _("Ordinary items"),
        "control_items": _("Control items"),
        "items_voted": _("Items with a counted vote"),
        "complete": _("Ordinary items with all votes"),
        "wanted": _("Votes wanted"),
        "filled": _("Votes collected"),
        "votes": _("Votes counted"),
        "control_votes": _("… on control items"),
        "raters": _("Annotators counted"),
        "extra": _("Extra votes, not counted"),
        "excluded": _("Votes of excluded annotators, not counted"),
        "excluded_raters": _("Excluded annotators"),
        "skipped": _("Skipped"),
        "expired": _("Reservation ran out"),
        "void": _("Not submitted"),
        "flagged": _("Flagged"),
        "machine_labels": _("Labels from models and classifiers, not counted"),
    }
    # Frozen snapshots from before they were told apart do not have the last one.
    counts = {name: getattr(progress, key) for key, name in names.items()}
    rows = [[name, count] for name, count in counts.items() if count is not None]
    return [_("Count"), _("Value")], rows


def _agreement(figures: RoundFigures) -> tuple[list[str], Rows]:
    scopes = {"all": _("all items"), "ordinary": _("ordinary items")}
    columns = [
        _("Items"),
        _("Statistic"),
        _("Level"),
        _("Value"),
        _("Low"),
        _("High"),
        _("Interval"),
        _("Items n"),
        _("Items used"),
        _("Annotators"),
        _("Votes"),
        _("Remark"),
    ]
    rows = [
        [
            name,
            entry.statistic,
            entry.level,
            entry.value,
            entry.low,
            entry.high,
            entry.interval or "",
            entry.n_items,
            n_used(entry),
            entry.n_raters,
            entry.n_values,
            entry.reason or "",
        ]
        for scope, name in scopes.items()
        for entry in figures.agreement[scope]
    ]
    return columns, rows


def n_used(entry: Estimate | MedianOfPairs) -> int:
    """Return the number of items behind a statistic, also for snapshots before version 3."""
    dropped = entry.n_dropped_items if isinstance(entry, Estimate) else 0
    return min(entry.n_pairable_items, entry.n_items - dropped)


def _labels(figures: RoundFigures) -> tuple[list[str], Rows]:
    total = figures.progress.votes
    columns = [_("Label"), _("Ordinary items"), _("Control items"), _("All"), _("Share")]
    rows = []
    for row in figures.labels:
        both = row.ordinary + row.control
        share = both / total if total else None
        rows.append([str(row.label), row.ordinary, row.control, both, share])
    return columns, rows


def _majority(figures: RoundFigures) -> tuple[list[str], Rows]:
    total = figures.majority.total
    rows = [
        [str(row.label), row.items, row.items / total if total else None]
        for row in figures.majority.items
    ]
    return [_("Majority label"), _("Items"), _("Share")], rows


def _confusion(figures: RoundFigures) -> tuple[list[str], Rows]:
    values = figures.values
    rows = zip(values, figures.confusion.cells, figures.confusion.sums, strict=True)
    columns = [_("One vote"), *(_("other vote %d") % value for value in values), _("Sum")]
    return columns, [[str(value), *cells, total] for value, cells, total in rows]


def _pairs(figures: RoundFigures) -> tuple[list[str], Rows]:
    pairs = figures.pairs
    names = [pseudonym(rater) for rater in pairs.raters]
    rows: Rows = [
        [names[a], names[b], pairs.values[a][b], pairs.n_shared[a][b]]
        for a in range(len(names))
        for b in range(a + 1, len(names))
    ]
    return [_("Annotator"), _("Annotator 2"), _("Ordinal alpha"), _("Shared items")], rows


def _per_label(figures: RoundFigures) -> tuple[list[str], Rows]:
    columns = [_("Label"), _("Votes on items with 2+ votes"), _("Agreement"), _("By chance")]
    rows = [[str(row.label), row.n_values, row.agreement, row.chance] for row in figures.per_label]
    return columns, rows


def _hardest(figures: RoundFigures) -> tuple[list[str], Rows]:
    columns = [
        _("Item"),
        _("Object 1"),
        _("Object 2"),
        _("Sentence"),
        _("Votes"),
        _("Majority"),
        _("Spread"),
        _("Disagreement"),
    ]
    rows = [
        [
            row.item,
            row.object1,
            row.object2,
            row.text,
            " ".join(str(vote) for vote in row.votes),
            str(row.majority),
            row.spread,
            row.relative,
        ]
        for row in figures.hardest
    ]
    return columns, rows


def _annotators(figures: RoundFigures) -> tuple[list[str], Rows]:
    columns = [
        _("Annotator"),
        _("Votes"),
        _("Skipped"),
        _("Extra"),
        _("Agrees with the others"),
        _("of votes"),
        _("Controls right"),
        _("of controls"),
        _("Median seconds"),
        _("Excluded"),
    ]
    rows = [
        [
            pseudonym(row.rater),
            row.votes,
            row.skipped,
            row.extra,
            row.agreement,
            row.compared,
            row.controls_right,
            row.controls,
            row.median_seconds,
            _("yes") if row.is_excluded else "",
        ]
        for row in figures.annotators
    ]
    return columns, rows


def _time(figures: RoundFigures) -> tuple[list[str], Rows]:
    time = figures.time
    rows = [(_("all"), time.all), *((str(row.label), row) for row in time.labels)]
    columns = [_("Label"), _("Votes"), _("Quartile 1, s"), _("Median, s"), _("Quartile 3, s")]
    return columns, [[name, row.n, row.q1, row.median, row.q3] for name, row in rows]


def _votes_over_time(figures: RoundFigures) -> tuple[list[str], Rows]:
    bins = figures.votes_over_time.bins
    rows = [[row.start, row.votes, row.total] for row in bins]
    return [_("From (UTC)"), _("Votes"), _("So far")], rows


TABLES: dict[str, RoundFigureFile] = {
    "agreement": RoundFigureFile(
        gettext_lazy("Agreement"),
        gettext_lazy(
            "Unit: item. Missing votes are skipped and items with one vote do not count. 95 % "
            "intervals: item jackknife, t corrected for skewness, for 20 or more items (50 where "
            "one label has over 80 % of the votes; 10 for percent agreement); for the median of "
            "pairs, quartiles over pairs. Fleiss' kappa needs the same number of votes on each "
            "item and uses the items with the most frequent number."
        ),
        _agreement,
    ),
    "progress": RoundFigureFile(
        gettext_lazy("Progress"),
        gettext_lazy(
            "Counted: answered votes, within the wanted number, from annotators who are not "
            "excluded."
        ),
        _progress,
    ),
    "labels": RoundFigureFile(
        gettext_lazy("Label distribution"),
        gettext_lazy("Counted votes, each once; control items separately from ordinary items."),
        _labels,
    ),
    "majority": RoundFigureFile(
        gettext_lazy("Majority labels"),
        gettext_lazy("Most frequent counted label of each item; the higher label wins a tie."),
        _majority,
    ),
    "confusion": RoundFigureFile(
        gettext_lazy("Label pairs"),
        gettext_lazy(
            "Pairs of votes on the same item, over all items. A pair weighs 1 / (votes on the "
            "item − 1), so a row adds up to the number of votes with that label on items with "
            "two or more votes."
        ),
        _confusion,
    ),
    "per-label": RoundFigureFile(
        gettext_lazy("Agreement by label"),
        gettext_lazy(
            "When someone gave this label, how often did another vote on the item agree? By "
            "chance: the same figure if votes were assigned at random."
        ),
        _per_label,
    ),
    "pairs": RoundFigureFile(
        gettext_lazy("Pairs of annotators"),
        gettext_lazy(
            "Ordinal alpha over the items that both annotators labelled; no value for fewer than "
            "5 shared items. At most the 15 annotators with the most counted votes."
        ),
        _pairs,
    ),
    "hardest": RoundFigureFile(
        gettext_lazy("Most disputed items"),
        gettext_lazy(
            "Disagreement: mean squared distance between an item's votes in ranks, divided by "
            "that between two votes drawn at random; 1 is the chance level."
        ),
        _hardest,
    ),
    "annotators": RoundFigureFile(
        gettext_lazy("Annotators"),
        gettext_lazy(
            "Agrees with the others: share of votes equal to the majority label of the item's "
            "other counted votes, the higher label on a tie."
        ),
        _annotators,
    ),
    "time": RoundFigureFile(
        gettext_lazy("Time per label"),
        gettext_lazy(
            "Seconds the page was visible and in use, as browsers reported them; votes without "
            "a time are left out."
        ),
        _time,
    ),
    "votes-over-time": RoundFigureFile(
        gettext_lazy("Votes over time"),
        gettext_lazy("Counted votes by the time of the first answer, UTC."),
        _votes_over_time,
    ),
}


# What moved between two snapshots of a campaign.


COUNTS = ("items_voted", "votes", "control_votes", "raters", "extra", "excluded", "skipped")


def compare(earlier: Snapshot, later: Snapshot) -> TableData:
    """Return counts, agreement and label shares side by side, with the difference.

    The difference of two snapshots of one campaign is not a test: most votes are in both.
    """
    before, after = (
        _rows(from_json(RoundFigures, snapshot.figures)) for snapshot in (earlier, later)
    )
    rows = [
        [name, before.get(name), after.get(name), _difference(before.get(name), after.get(name))]
        for name in [*before, *(name for name in after if name not in before)]
    ]
    return TableData(
        [_("Figure"), f"#{earlier.number}", f"#{later.number}", _("Difference")],
        rows,
        caption=_("Snapshots #%(a)d and #%(b)d") % {"a": earlier.number, "b": later.number},
    )


def _rows(figures: RoundFigures) -> dict[str, float | None]:
    names = {
        "items_voted": _("Items with a counted vote"),
        "votes": _("Votes counted"),
        "control_votes": _("Votes on control items"),
        "raters": _("Annotators counted"),
        "extra": _("Extra votes"),
        "excluded": _("Votes of excluded annotators"),
        "skipped": _("Skipped"),
    }
    rows: dict[str, float | None] = {names[key]: getattr(figures.progress, key) for key in COUNTS}
    scopes = {"all": _("all items"), "ordinary": _("ordinary items")}
    for scope, where in scopes.items():
        for entry in figures.agreement[scope]:
            rows[f"{entry.statistic}, {entry.level}, {where}"] = entry.value
    total = figures.progress.votes
    for row in figures.labels:
        share = (row.ordinary + row.control) / total if total else None
        rows[_("Share of label %d") % row.label] = share
    return rows


def _difference(before: Any, after: Any) -> Any:
    return None if before is None or after is None else after - before
