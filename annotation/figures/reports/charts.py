"""The figures of a snapshot as charts, each with its numbers in words."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from cqa_site.stats.reliability.marks import FIRM, TENTATIVE
from cqa_site.web.charts.bars import columns_over_time, histogram, stacked_bars
from cqa_site.web.charts.chart import Chart
from cqa_site.web.charts.drawing import Spec
from cqa_site.web.charts.heatmap import heatmap
from cqa_site.web.charts.intervals import intervals
from cqa_site.web.tables import text_of

from .kept import Figures

# Krippendorff's customary marks: below the first no conclusions, from the second on firm ones.
MARKS = (TENTATIVE, FIRM)


def _labels(figures: Figures, size: str) -> Spec:
    kinds = {"ordinary": _("Ordinary items"), "control": _("Control items")}
    rows = [
        {"label": str(row.label), "votes": getattr(row, kind), "kind": name, "part": part}
        for part, (kind, name) in enumerate(kinds.items())
        for row in figures.labels
        if kind == "ordinary" or figures.progress.control_votes
    ]
    titles = (_("Label"), _("Counted votes"))
    return stacked_bars(rows, x="label", y="votes", series="kind", titles=titles, size=size)


def _labels_alt(figures: Figures) -> str:
    parts = (f"{row.label}: {row.ordinary + row.control:,}" for row in figures.labels)
    return _("Counted votes by label. %s.") % "; ".join(parts)


def _alphas(figures: Figures) -> list[dict[str, Any]]:
    """Three levels of alpha, for all items and, where they differ, for ordinary ones."""
    scopes = {"all": _("All items")}
    if figures.progress.control_votes:
        scopes["ordinary"] = _("Ordinary items")
    return [
        {
            "level": entry.level,
            "scope": name,
            "value": entry.value,
            "low": entry.low,
            "high": entry.high,
        }
        for scope, name in scopes.items()
        for entry in figures.agreement[scope][:3]
    ]


def _agreement(figures: Figures, size: str) -> Spec:
    return intervals(
        _alphas(figures),
        y="level",
        series="scope",
        title=_("Krippendorff's alpha, 95 % interval"),
        marks=MARKS,
        size=size,
    )


def _agreement_alt(figures: Figures) -> str:
    known = [row for row in _alphas(figures) if row["value"] is not None]
    parts = [f"{row['scope']}, {row['level']}: {row['value']:.3f}" for row in known]
    return _("Krippendorff's alpha. %s.") % ("; ".join(parts) or _("Not defined"))


def _confusion(figures: Figures, size: str) -> Spec:
    values, confusion = figures.values, figures.confusion
    rows = [
        {
            "one": str(one),
            "other": str(other),
            "share": confusion.shares[i][j],
            "text": _share(confusion.shares[i][j]),
        }
        for i, one in enumerate(values)
        for j, other in enumerate(values)
    ]
    titles = (_("Another vote on the item"), _("One vote"))
    return heatmap(rows, x="other", y="one", share="share", text="text", titles=titles, size=size)


def _confusion_alt(figures: Figures) -> str:
    shares = figures.confusion.shares
    pairs = zip(figures.values, shares, strict=True)
    parts = [f"{value}: {_share(row[at])}" for at, (value, row) in enumerate(pairs)]
    return _("How often another vote is the same, by label. %s.") % "; ".join(parts)


def _share(share: float | None) -> str:
    return "–" if share is None else f"{text_of(100 * share, 0)} %"


def _time(figures: Figures, size: str) -> Spec:
    bins = figures.time.histogram
    width = bins[0]["to"] or bins[0]["from"] + 1 if bins else 1
    rows = [{**row, "to": row["to"] or row["from"] + width} for row in bins]
    titles = (_("Seconds; the last bar holds all longer ones"), _("Counted votes"))
    return histogram(rows, start="from", end="to", y="votes", titles=titles, size=size)


def _time_alt(figures: Figures) -> str:
    every = figures.time.all
    if not every.n:
        return str(figures.time.reason)
    text = ngettext(
        "Seconds per label: median %(median).1f, middle half %(q1).1f to %(q3).1f, %(n)d vote.",
        "Seconds per label: median %(median).1f, middle half %(q1).1f to %(q3).1f, %(n)d votes.",
        every.n,
    )
    return text % vars(every)


def _votes_over_time(figures: Figures, size: str) -> Spec:
    over = figures.votes_over_time
    rows = [{"start": _instant(row.start), "votes": row.votes} for row in over.bins]
    titles = ("", _("Counted votes"))
    return columns_over_time(
        rows, x="start", y="votes", step=over.step or "day", titles=titles, size=size
    )


def _instant(start: str) -> str:
    """Without a zone Vega reads a local time, so the picture shows UTC wherever it is drawn."""
    return start.replace(" ", "T") if " " in start else f"{start}T00:00"


def _votes_over_time_alt(figures: Figures) -> str:
    over = figures.votes_over_time
    if not over.bins:
        return str(over.reason)
    first, last = over.bins[0], over.bins[-1]
    most = max(over.bins, key=lambda row: row.votes)
    return _(
        "%(total)d counted votes from %(first)s to %(last)s; most, %(most)d, from %(peak)s."
    ) % {
        "first": first.start,
        "last": last.start,
        "total": last.total,
        "most": most.votes,
        "peak": most.start,
    }


CHARTS = {
    "labels": Chart(_labels, _labels_alt),
    "agreement": Chart(_agreement, _agreement_alt),
    "confusion": Chart(_confusion, _confusion_alt),
    "time": Chart(_time, _time_alt),
    "votes-over-time": Chart(_votes_over_time, _votes_over_time_alt),
}
