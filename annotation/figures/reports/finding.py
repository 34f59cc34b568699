"""How far annotators agree and which labels won, and how sure that is."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.consensus.finding import by_label
from annotation.figures.reports.kept import Figures, MedianOfPairs
from annotation.labelling.models.campaigns import Guideline
from cqa_site.results.boards import bounds_of
from cqa_site.results.finding import Finding, level_of, why_less
from cqa_site.stats.estimate import Estimate
from cqa_site.web.tables import text_of


def figures_finding(figures: Figures, guideline: Guideline) -> Finding:
    """What ordinal alpha over all items allows to conclude, and the majority labels."""
    labels = _majority(figures, guideline)
    alpha = figures.agreement["all"][0]
    if alpha.value is None:
        says = _("How far annotators agree cannot be said yet: %s.") % alpha.reason
        return Finding(f"{says} {labels}".strip(), _so_far(figures), "warn")
    level, mark = level_of(alpha)
    said = {"level": level, "alpha": text_of(alpha.value, 2)}
    says = _("Annotators agree %(level)s: ordinal alpha %(alpha)s.") % said
    sure = [_interval(alpha), why_less(alpha), _so_far(figures)]
    return Finding(f"{says} {labels}".strip(), " ".join(filter(None, sure)), mark)


def _majority(figures: Figures, guideline: Guideline) -> str:
    """How many items have each majority label."""
    total, progress = figures.majority.total, figures.progress
    if not total:
        return ""
    counts = {row.label: row.items for row in figures.majority.items}
    said = {"items": f"{total:,}", "labels": by_label(counts, guideline)}
    if controls := progress.items_voted - progress.ordinary_items_voted:
        text = ngettext(
            "Majority labels of %(items)s items, %(n)s of them a control item: %(labels)s.",
            "Majority labels of %(items)s items, %(n)s of them control items: %(labels)s.",
            controls,
        )
        return text % (said | {"n": f"{controls:,}"})
    text = ngettext(
        "Majority label of %(items)s item: %(labels)s.",
        "Majority labels of %(items)s items: %(labels)s.",
        total,
    )
    return text % said


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
