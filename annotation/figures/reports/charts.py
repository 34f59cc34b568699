"""Show the figures of a snapshot as charts, and state findings in sentences."""

from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _, ngettext

from annotation.consensus.reports import by_label
from annotation.labelling.models import Guideline
from cqa_site.results.boards import Conclusion, level_of, why_less
from cqa_site.results.figures import bounds_of
from cqa_site.stats.estimate import FIRM, TENTATIVE, Estimate
from cqa_site.stats.intervals import LEAST_RATED, MOST_OF_ONE, too_few
from cqa_site.stats.verdicts import RULES
from cqa_site.web.charts.bars import columns_over_time, heatmap, histogram, stacked_bars
from cqa_site.web.charts.dot_rows import intervals
from cqa_site.web.charts.points import Chart
from cqa_site.web.charts.vega import Spec
from cqa_site.web.tables import estimate_text, interval_text, text_of
from .snapshots import MedianOfPairs, RoundFigures

# Krippendorff's customary thresholds: no conclusions below the first, firm conclusions from the
# second on.
MARKS = (TENTATIVE, FIRM)


def _labels(figures: RoundFigures, size: str) -> Spec:
    kinds = {"ordinary": _("Ordinary items"), "control": _("Control items")}
    rows = [
        {"label": str(row.label), "votes": getattr(row, kind), "kind": name, "part": part}
        for part, (kind, name) in enumerate(kinds.items())
        for row in figures.labels
        if kind == "ordinary" or figures.progress.control_votes
    ]
    titles = (_("Label"), _("Counted votes"))
    return stacked_bars(rows, x="label", y="votes", series="kind", titles=titles, size=size)


def _labels_alt(figures: RoundFigures) -> str:
    parts = (f"{row.label}: {row.ordinary + row.control:,}" for row in figures.labels)
    return _("Counted votes by label. %s.") % "; ".join(parts)


def _alphas(figures: RoundFigures) -> list[dict[str, Any]]:
    """Return alpha at three levels for all items and, if there are controls, ordinary items."""
    scopes = {"all": _("All items")}
    if figures.progress.control_votes:
        scopes["ordinary"] = _("Ordinary items")
    return [
        {"level": entry.level, "scope": name, **bounds_of(entry)}
        for scope, name in scopes.items()
        for entry in figures.agreement[scope][:3]
    ]


def _agreement(figures: RoundFigures, size: str) -> Spec:
    return intervals(
        _alphas(figures),
        y="level",
        series="scope",
        title=_("Krippendorff's alpha, 95 % interval"),
        marks=MARKS,
        size=size,
    )


def _agreement_alt(figures: RoundFigures) -> str:
    known = [row for row in _alphas(figures) if row["value"] is not None]
    parts = [f"{row['scope']}, {row['level']}: {row['value']:.3f}" for row in known]
    return _("Krippendorff's alpha. %s.") % ("; ".join(parts) or _("Not defined"))


def _confusion(figures: RoundFigures, size: str) -> Spec:
    values, confusion = figures.values, figures.confusion
    rows = [
        {
            "one": str(value),
            "other": str(other),
            "share": confusion.shares[i][j],
            "text": _share(confusion.shares[i][j]),
        }
        for i, value in enumerate(values)
        for j, other in enumerate(values)
    ]
    titles = (_("Another vote on the item"), _("One vote"))
    return heatmap(rows, x="other", y="one", share="share", text="text", titles=titles, size=size)


def _confusion_alt(figures: RoundFigures) -> str:
    shares = figures.confusion.shares
    pairs = zip(figures.values, shares, strict=True)
    parts = [f"{value}: {_share(row[at])}" for at, (value, row) in enumerate(pairs)]
    return _("How often another vote on the item agrees, by label. %s.") % "; ".join(parts)


def _share(share: float | None) -> str:
    return "–" if share is None else f"{text_of(100 * share, 0)} %"


def _time(figures: RoundFigures, size: str) -> Spec:
    bins = figures.time.histogram
    width = bins[0]["to"] or bins[0]["from"] + 1 if bins else 1
    rows = [{**row, "to": row["to"] or row["from"] + width} for row in bins]
    titles = (_("Seconds; the last bar includes all longer times"), _("Counted votes"))
    return histogram(rows, start="from", end="to", y="votes", titles=titles, size=size)


def _time_alt(figures: RoundFigures) -> str:
    every = figures.time.all
    if not every.n:
        return str(figures.time.reason)
    text = ngettext(
        "Seconds per label: median %(median).1f, interquartile range %(q1).1f to %(q3).1f, "
        "%(n)d vote.",
        "Seconds per label: median %(median).1f, interquartile range %(q1).1f to %(q3).1f, "
        "%(n)d votes.",
        every.n,
    )
    return text % vars(every)


def _votes_over_time(figures: RoundFigures, size: str) -> Spec:
    over = figures.votes_over_time
    rows = [{"start": _instant(row.start), "votes": row.votes} for row in over.bins]
    titles = ("", _("Counted votes"))
    return columns_over_time(
        rows, x="start", y="votes", step=over.step or "day", titles=titles, size=size
    )


def _instant(start: str) -> str:
    """Return the start as an ISO date and time in UTC, with midnight for dates."""
    return start.replace(" ", "T") if " " in start else f"{start}T00:00"


def _votes_over_time_alt(figures: RoundFigures) -> str:
    over = figures.votes_over_time
    if not over.bins:
        return str(over.reason)
    first, last = over.bins[0], over.bins[-1]
    most = max(over.bins, key=lambda row: row.votes)
    return _(
        "%(total)d counted votes from %(first)s to %(last)s; the highest bar, from %(peak)s, has "
        "%(most)d."
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

_TOO_FEW = too_few(LEAST_RATED, "items")


def figures_finding(figures: RoundFigures, guideline: Guideline) -> Conclusion:
    """State the conclusion from ordinal alpha over all items, and the majority labels."""
    labels = _majority(figures, guideline)
    alpha = figures.agreement["all"][0]
    if alpha.value is None:
        says = _("Agreement between annotators cannot be computed yet: %s.") % alpha.reason
        return Conclusion(f"{says} {labels}".strip(), _so_far(figures), "warn")
    # Older snapshots may contain intervals from fewer items than a conclusion needs.
    is_enough = RULES["reliability"].allows(alpha.n_pairable_items)
    judged = alpha if is_enough else replace(alpha, low=None, high=None, reason=_TOO_FEW)
    level, mark = level_of(_("annotators agree"), judged)
    says = f"{level}: {_('ordinal alpha %s.') % text_of(alpha.value, 2)}"
    sure = [_interval(judged), why_less(judged), _prevalence(figures), _so_far(figures)]
    return Conclusion(f"{says} {labels}".strip(), " ".join(filter(None, sure)), mark)


def _majority(figures: RoundFigures, guideline: Guideline) -> str:
    """State the number of items per majority label."""
    total, progress = figures.majority.total, figures.progress
    if not total:
        return ""
    counts = {row.label: row.items for row in figures.majority.items}
    values = {"items": f"{total:,}", "labels": by_label(counts, guideline)}
    if controls := progress.items_voted - progress.ordinary_items_voted:
        text = ngettext(
            "Majority labels of %(items)s items, %(n)s of them a control item: %(labels)s.",
            "Majority labels of %(items)s items, %(n)s of them control items: %(labels)s.",
            controls,
        )
        return text % (values | {"n": f"{controls:,}"})
    text = ngettext(
        "Majority label of %(items)s item: %(labels)s.",
        "Majority labels of %(items)s items: %(labels)s.",
        total,
    )
    return text % values


def _interval(alpha: Estimate | MedianOfPairs) -> str:
    items = ngettext("%(n)s item", "%(n)s items", alpha.n_pairable_items)
    raters = ngettext("%(n)s annotator", "%(n)s annotators", alpha.n_raters)
    counts = {
        "items": items % {"n": f"{alpha.n_pairable_items:,}"},
        "raters": raters % {"n": f"{alpha.n_raters:,}"},
    }
    if alpha.low is None or alpha.high is None:
        text = _("No interval (%(why)s); %(items)s with two or more votes, %(raters)s.")
        return text % (counts | {"why": alpha.reason or "–"})
    text = _("95 %% interval %(bounds)s from %(items)s with two or more votes by %(raters)s.")
    return text % (counts | {"bounds": interval_text(alpha, 2)})


def _prevalence(figures: RoundFigures) -> str:
    """Return a note that names other figures to consult if one label has nearly all votes."""
    votes = {row.label: row.ordinary + row.control for row in figures.labels}
    label = max(votes, key=lambda level: votes[level])
    if votes[label] <= MOST_OF_ONE * figures.progress.votes:
        return ""
    named = {estimate.statistic: estimate_text(estimate) for estimate in figures.agreement["all"]}
    text = _(
        "%(share).0f %% of the votes are label %(label)d, which makes alpha low even where "
        "votes agree. See also percent agreement %(percent)s and Gwet's AC2 %(ac2)s."
    )
    return text % {
        "share": 100 * votes[label] / figures.progress.votes,
        "label": label,
        "percent": named.get("percent agreement", "–"),
        "ac2": named.get("Gwet's AC2", "–"),
    }


def _so_far(figures: RoundFigures) -> str:
    progress = figures.progress
    if progress.complete is None:
        return ""
    values = {"done": f"{progress.complete:,}", "all": f"{progress.ordinary_items:,}"}
    text = ngettext(
        "%(done)s of %(all)s item has all its votes.",
        "%(done)s of %(all)s items have all their votes.",
        progress.ordinary_items or 0,
    )
    return text % values
