"""How far annotators agree, in a sentence, and how sure that is."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.figures.reports.kept import Figures, MedianOfPairs
from cqa_site.results.boards import bounds_of
from cqa_site.results.finding import Finding, level_of
from cqa_site.stats.estimate import Estimate
from cqa_site.web.tables import text_of


def figures_finding(figures: Figures) -> Finding:
    """What ordinal alpha over all items allows to conclude."""
    alpha = figures.agreement["all"][0]
    if alpha.value is None:
        says = _("How far annotators agree cannot be said yet: %s.") % alpha.reason
        return Finding(says, _so_far(figures), "warn")
    level, mark = level_of(alpha)
    said = {"level": level, "alpha": text_of(alpha.value, 2)}
    return Finding(
        _("Annotators agree %(level)s: ordinal alpha %(alpha)s.") % said,
        f"{_interval(alpha)} {_so_far(figures)}",
        mark,
    )


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
    return text % (counts | {"bounds": bounds_of(alpha.low, alpha.high)})


def _so_far(figures: Figures) -> str:
    progress = figures.progress
    if progress.complete is None:
        return ""
    said = {"done": f"{progress.complete:,}", "all": f"{progress.ordinary_items:,}"}
    text = ngettext(
        "%(done)s of %(all)s item has all its votes.",
        "%(done)s of %(all)s items have all their votes.",
        progress.ordinary_items or 0,
    )
    return text % said
