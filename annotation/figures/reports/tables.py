"""Show the figures of a snapshot as tables, and compare two snapshots."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _, gettext_lazy as lazy

from annotation.figures.models import Snapshot
from cqa_site.results.figures import Column, EstimateColumn, FigureTable, TextColumn
from cqa_site.stats.estimate import Estimate, from_json
from cqa_site.web.tables import TableData
from cqa_site.web.templatetags.pages import pseudonym
from .snapshots import MedianOfPairs, RoundFigures

Columns = tuple[Column, ...]
# Labels in the guideline with their names.
Names = dict[int, str]


def figure_table(snapshot: Snapshot, figures: RoundFigures, slug: str) -> TableData:
    """Return one figure as a table with its recipe; raise KeyError for an unknown figure."""
    assert snapshot.computed_at is not None  # noqa: S101 - there are figures
    where = _("Round “%(name)s”, snapshot #%(number)s, SHA-256 of votes: %(sha)s, %(date)s.") % {
        "name": snapshot.label_round.name,
        "number": snapshot.number,
        "sha": snapshot.sha256[:12],
        "date": date_format(snapshot.computed_at, "Y-m-d H:i e"),
    }
    names = snapshot.label_round.guideline.level_names
    name = f"{slug}-snapshot-{snapshot.number}"
    return TABLES[slug].table(figures, names, where=where, name=name)


# Counts in a snapshot, in the order of the table; a count may be None.
COUNTS = {
    "ordinary_items": lazy("Ordinary items"),
    "control_items": lazy("Control items"),
    "items_voted": lazy("Items with a counted vote"),
    "complete": lazy("Ordinary items with all votes"),
    "wanted": lazy("Votes required"),
    "filled": lazy("Votes collected"),
    "votes": lazy("Votes counted"),
    "control_votes": lazy("… on control items"),
    "raters": lazy("Annotators counted"),
    "extra": lazy("Extra votes, not counted"),
    "excluded": lazy("Votes of excluded annotators, not counted"),
    "excluded_raters": lazy("Excluded annotators"),
    "skipped": lazy("Skipped"),
    "expired": lazy("Reservation ran out"),
    "void": lazy("Not submitted"),
    "flagged": lazy("Flagged"),
    "machine_labels": lazy("Labels from models and classifiers, not counted"),
}


def _progress(figures: RoundFigures, names: Names) -> Iterator[tuple[str, int]]:
    for name, title in COUNTS.items():
        count = getattr(figures.progress, name)
        if count is not None:
            yield str(title), count


def _agreement(
    figures: RoundFigures, *_names: Names
) -> list[tuple[str, Estimate | MedianOfPairs]]:
    scopes = {"all": _("all items"), "ordinary": _("ordinary items")}
    return [(name, entry) for scope, name in scopes.items() for entry in figures.agreement[scope]]


def n_used(entry: Estimate | MedianOfPairs) -> int:
    """Return the number of items behind a statistic, even for snapshots from before version 3."""
    dropped = entry.n_dropped_items if isinstance(entry, Estimate) else 0
    return min(entry.n_pairable_items, entry.n_items - dropped)


def _of_label(title: Any, names: Names) -> Columns:
    return (TextColumn(title, "label"), Column(_("Name"), lambda row: names.get(row.label, "")))


def _labels(figures: RoundFigures, names: Names) -> Columns:
    total = figures.progress.votes
    return (
        *_of_label(_("Label"), names),
        Column(_("Ordinary items"), "ordinary"),
        Column(_("Control items"), "control"),
        Column(_("All"), lambda row: row.ordinary + row.control),
        Column(_("Share"), lambda row: (row.ordinary + row.control) / total if total else None),
    )


def _majority(figures: RoundFigures, names: Names) -> Columns:
    total = figures.majority.total
    return (
        *_of_label(_("Majority label"), names),
        Column(_("Items"), "items"),
        Column(_("Share"), lambda row: row.items / total if total else None),
    )


def confusion_columns(title: Any, other: Any, values: Sequence[int]) -> Columns:
    """Return the columns of a square table whose rows are (label, counts, total)."""
    counts = (Column(other % value, f"1.{at}") for at, value in enumerate(values))
    return (TextColumn(title, "0"), *counts, Column(_("Sum"), "2"))


def _pairs(figures: RoundFigures, names: Names) -> Iterator[tuple[Any, ...]]:
    pairs = figures.pairs
    for (a, first), (b, second) in combinations(enumerate(map(pseudonym, pairs.raters)), 2):
        yield first, second, pairs.values[a][b], pairs.n_shared[a][b]


TABLES: dict[str, FigureTable] = {
    "agreement": FigureTable(
        lazy("Agreement"),
        lazy(
            "Unit: item. Missing votes are skipped and items with one vote do not count. 95 % "
            "intervals: item jackknife, t corrected for skewness, for 20 or more items (50 "
            "where one label has over 80 % of the votes; 10 for percent agreement); for the "
            "median of pairs, quartiles over pairs. Fleiss' kappa needs the same number of "
            "votes on each item, so it uses the items with the most frequent number of votes."
        ),
        (
            Column(lazy("Items"), "0"),
            Column(lazy("Statistic"), "1.statistic"),
            Column(lazy("Level"), "1.level"),
            EstimateColumn(lazy("Value"), "1"),
            TextColumn(lazy("Interval"), "1.interval"),
            Column(lazy("Items n"), "1.n_items"),
            Column(lazy("Items used"), lambda row: n_used(row[1])),
            Column(lazy("Annotators"), "1.n_raters"),
            Column(lazy("Votes"), "1.n_values"),
            TextColumn(lazy("Remark"), "1.reason"),
        ),
        _agreement,
    ),
    "progress": FigureTable(
        lazy("Progress"),
        lazy(
            "Counted: answered votes, up to the required number, from annotators who are not "
            "excluded."
        ),
        (Column(lazy("Count"), "0"), Column(lazy("Value"), "1")),
        _progress,
    ),
    "labels": FigureTable(
        lazy("Label distribution"),
        lazy("Each counted vote once; control items and ordinary items separately."),
        _labels,
        "labels",
    ),
    "majority": FigureTable(
        lazy("Majority labels"),
        lazy("Most frequent counted label of each item; the higher label wins a tie."),
        _majority,
        "majority.items",
    ),
    "confusion": FigureTable(
        lazy("Label pairs"),
        lazy(
            "Pairs of votes on the same item, over all items. Each pair has the weight 1 / "
            "(votes on the item − 1), so a row adds up to the number of votes with that label "
            "on items with two or more votes."
        ),
        lambda figures, names: confusion_columns(
            _("One vote"), _("other vote %d"), figures.values
        ),
        lambda figures, names: zip(
            figures.values, figures.confusion.cells, figures.confusion.sums, strict=True
        ),
    ),
    "per-label": FigureTable(
        lazy("Agreement by label"),
        lazy(
            "When someone gave this label, how often did another vote on the item agree? By "
            "chance: the same figure if votes were assigned at random."
        ),
        (
            TextColumn(lazy("Label"), "label"),
            Column(lazy("Votes on items with 2+ votes"), "n_values"),
            Column(lazy("Agreement"), "agreement"),
            Column(lazy("By chance"), "chance"),
        ),
        "per_label",
    ),
    "pairs": FigureTable(
        lazy("Pairs of annotators"),
        lazy(
            "Ordinal alpha over the items that both annotators labelled; no value for fewer "
            "than 5 shared items. Limited to the 15 annotators with the most counted votes."
        ),
        (
            Column(lazy("Annotator"), "0"),
            Column(lazy("Annotator 2"), "1"),
            Column(lazy("Ordinal alpha"), "2"),
            Column(lazy("Shared items"), "3"),
        ),
        _pairs,
    ),
    "hardest": FigureTable(
        lazy("Most disputed items"),
        lazy(
            "Disagreement: mean squared distance in ranks between an item's votes, divided by "
            "the same distance between two votes drawn at random; 1 is the chance level."
        ),
        (
            Column(lazy("Item"), "item"),
            Column(lazy("Object 1"), "object1"),
            Column(lazy("Object 2"), "object2"),
            Column(lazy("Sentence"), "text"),
            Column(lazy("Votes"), lambda row: " ".join(map(str, row.votes))),
            TextColumn(lazy("Majority"), "majority"),
            Column(lazy("Spread"), "spread"),
            Column(lazy("Disagreement"), "relative"),
        ),
        "hardest",
    ),
    "annotators": FigureTable(
        lazy("Annotators"),
        lazy(
            "Agrees with the others: share of votes equal to the majority label of the item's "
            "other counted votes (if labels tie, the higher label)."
        ),
        (
            Column(lazy("Annotator"), lambda row: pseudonym(row.rater)),
            Column(lazy("Votes"), "votes"),
            Column(lazy("Skipped"), "skipped"),
            Column(lazy("Extra"), "extra"),
            Column(lazy("Agrees with the others"), "agreement"),
            Column(lazy("Votes compared"), "compared"),
            Column(lazy("Controls correct"), "controls_right"),
            Column(lazy("Control answers"), "controls"),
            Column(lazy("Median seconds"), "median_seconds"),
            Column(lazy("Excluded"), lambda row: _("yes") if row.is_excluded else ""),
        ),
        "annotators",
    ),
    "time": FigureTable(
        lazy("Time per label"),
        lazy(
            "Number of seconds that the page was visible and in use, as reported by browsers; "
            "votes without a recorded time are left out."
        ),
        (
            Column(lazy("Label"), lambda row: _("all") if row.label is None else str(row.label)),
            Column(lazy("Votes"), "n"),
            Column(lazy("Quartile 1, s"), "q1"),
            Column(lazy("Median, s"), "median"),
            Column(lazy("Quartile 3, s"), "q3"),
        ),
        lambda figures, names: (figures.time.all, *figures.time.labels),
    ),
    "votes-over-time": FigureTable(
        lazy("Votes over time"),
        lazy("Counted votes by the time of the first answer, UTC."),
        (
            Column(lazy("From (UTC)"), "start"),
            Column(lazy("Votes"), "votes"),
            Column(lazy("Total so far"), "total"),
        ),
        "votes_over_time.bins",
    ),
}

COMPARED = {
    "items_voted": lazy("Items with a counted vote"),
    "votes": lazy("Votes counted"),
    "control_votes": lazy("Votes on control items"),
    "raters": lazy("Annotators counted"),
    "extra": lazy("Extra votes"),
    "excluded": lazy("Votes of excluded annotators"),
    "skipped": lazy("Skipped"),
}


def compare(earlier: Snapshot, later: Snapshot) -> TableData:
    """Return counts, agreement and label shares side by side, with the difference.

    The difference between two snapshots of one round is not a statistical test, because most
    votes are in both snapshots.
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
    rows: dict[str, float | None] = {
        str(title): getattr(figures.progress, name) for name, title in COMPARED.items()
    }
    for where, entry in _agreement(figures):
        rows[f"{entry.statistic}, {entry.level}, {where}"] = entry.value
    total = figures.progress.votes
    for row in figures.labels:
        share = (row.ordinary + row.control) / total if total else None
        rows[_("Share of label %d") % row.label] = share
    return rows


def _difference(before: Any, after: Any) -> Any:
    return None if before is None or after is None else after - before
