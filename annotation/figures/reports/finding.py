"""How far annotators agree and which labels won, and how sure that is."""

from dataclasses import replace

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.consensus.finding import by_label
from annotation.figures.reports.kept import Figures, MedianOfPairs
from annotation.labelling.models.campaigns import Guideline
from cqa_site.results.boards import bounds_of
from cqa_site.results.finding import Finding, in_words, level_of, why_less
from cqa_site.stats.estimate import Estimate
from cqa_site.stats.intervals import LEAST_RATED, too_few
from cqa_site.stats.reliability.item_jackknife import MOST_OF_ONE
from cqa_site.stats.verdicts import RULES
from cqa_site.web.tables import text_of

_TOO_FEW = too_few(LEAST_RATED, "items")


def figures_finding(figures: Figures, guideline: Guideline) -> Finding:
    """What ordinal alpha over all items allows to conclude, and the majority labels."""
    labels = _majority(figures, guideline)
    alpha = figures.agreement["all"][0]
    if alpha.value is None:
        says = _("How far annotators agree cannot be said yet: %s.") % alpha.reason
        return Finding(f"{says} {labels}".strip(), _so_far(figures), "warn")
    # Snapshots of earlier versions hold intervals of fewer items than a verdict needs.
    is_enough = RULES["reliability"].allows(alpha.n_pairable_items)
    judged = alpha if is_enough else replace(alpha, low=None, high=None, reason=_TOO_FEW)
    level, mark = level_of(_("annotators agree"), judged)
    says = f"{level}: {_('ordinal alpha %s.') % text_of(alpha.value, 2)}"
    sure = [_interval(judged), why_less(judged), _prevalence(figures), _so_far(figures)]
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


def _prevalence(figures: Figures) -> str:
    """A note on prevalence where one label holds nearly all votes, and which figures to read."""
    votes = {row.label: row.ordinary + row.control for row in figures.labels}
    label = max(votes, key=lambda each: votes[each])
    if votes[label] <= MOST_OF_ONE * figures.progress.votes:
        return ""
    named = {each.statistic: in_words(each) for each in figures.agreement["all"]}
    text = _(
        "%(share).0f %% of the votes are label %(label)d: alpha is low then even where votes "
        "agree. Read beside it percent agreement %(percent)s and Gwet's AC2 %(ac2)s."
    )
    return text % {
        "share": 100 * votes[label] / figures.progress.votes,
        "label": label,
        "percent": named.get("percent agreement", "–"),
        "ac2": named.get("Gwet's AC2", "–"),
    }


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
