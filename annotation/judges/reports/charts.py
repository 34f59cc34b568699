"""Cached figures about judges, as charts and as findings in sentences."""

import hashlib
from typing import Any

from django.core.cache import cache
from django.utils.text import capfirst
from django.utils.translation import gettext as _, ngettext

from annotation.figures.reports.charts import MARKS
from annotation.labelling.models import LabelRound
from cqa_site.results.boards import Conclusion, level_of, short, why_less, would_show
from cqa_site.results.figures import bounds_of
from cqa_site.stats.means import units_that_tell
from cqa_site.stats.verdicts import direction_of
from cqa_site.web.charts import points
from cqa_site.web.charts.bars import heatmap
from cqa_site.web.charts.dot_rows import intervals
from cqa_site.web.charts.points import MOST, Chart, distinct, of_all
from cqa_site.web.charts.vega import Spec
from cqa_site.web.tables import estimate_text, text_of
from .results import (
    BestJudge,
    JudgeConfusion,
    JudgeFigures,
    JudgeResults,
    JudgeSelection,
    TrainedFigures,
)
from .tables import KINDS

KEPT_SECONDS = 24 * 3600


def figures_of(label_round: LabelRound, choice: JudgeSelection, state: str) -> JudgeResults:
    """Return the figures of a selection in this state, from the cache if possible."""
    query = hashlib.sha256(choice.query.encode()).hexdigest()
    key = f"judge-figures:{label_round.pk}:{state}:{query}"
    figures: JudgeResults | None = cache.get(key)
    if figures is None:
        from .figures import compute_figures

        figures = compute_figures(label_round, choice)
        cache.set(key, figures, KEPT_SECONDS)
    return figures


def _names(figures: JudgeResults) -> dict[str, str]:
    """Return the judges' names: model, prompt version and run, or the rater's name."""
    names = distinct(row.short_name for row in figures.judges)
    return {row.key: name for row, name in zip(figures.judges, names, strict=True)}


def _judges_rows(figures: JudgeResults) -> list[dict[str, Any]]:
    """Return people's alpha, then the best judges' alphas against votes and final labels."""
    votes, final = _("with people's votes"), _("with final labels")
    rows = [{"who": _("People"), "with": votes, **bounds_of(figures.people.agreement)}]
    names = _names(figures)
    for row in figures.judges[:MOST]:
        rows.append({"who": names[row.key], "with": votes, **bounds_of(row.with_votes)})
        rows.append({"who": names[row.key], "with": final, **bounds_of(row.ordinal)})
    return rows


def _judges(figures: JudgeResults, size: str) -> Spec:
    return intervals(
        _judges_rows(figures),
        y="who",
        series="with",
        title=of_all(_("Ordinal alpha, 95 % interval"), len(figures.judges)),
        marks=MARKS,
        size=size,
    )


def _judges_alt(figures: JudgeResults) -> str:
    known = [row for row in _judges_rows(figures) if row["value"] is not None]
    parts = [f"{row['who']} {row['with']}: {row['value']:.3f}" for row in known]
    return _("Ordinal alpha. %s.") % ("; ".join(parts) or _("Not defined"))


def _known(figures: JudgeResults) -> JudgeConfusion:
    return figures.confusion or JudgeConfusion([], [], [], [])


def _confusion(figures: JudgeResults, size: str) -> Spec:
    confusion = _known(figures)
    values = confusion.values
    rows = [
        {
            "final": str(final),
            "judge": str(judge),
            "share": confusion.shares[i][j],
            "text": str(confusion.cells[i][j]),
        }
        for i, final in enumerate(values)
        for j, judge in enumerate(values)
    ]
    titles = (_("Judge's label"), _("Final label"))
    return heatmap(
        rows, x="judge", y="final", share="share", text="text", titles=titles, size=size
    )


def _confusion_alt(figures: JudgeResults) -> str:
    confusion = _known(figures)
    rows = zip(confusion.values, confusion.cells, confusion.sums, strict=True)
    parts = [
        _("final label %(label)d: %(hits)d of %(sum)d identical")
        % {"label": value, "hits": cells[at], "sum": total}
        for at, (value, cells, total) in enumerate(rows)
    ]
    return _("Final labels compared with the judge's labels. %s.") % "; ".join(parts)


def _cost_rows(figures: JudgeResults) -> list[dict[str, Any]]:
    names = _names(figures)
    return [
        {
            "cost": row.per_thousand,
            "kind": str(KINDS[row.kind]),
            "name": names[row.key],
            **bounds_of(row.ordinal),
        }
        for row in figures.judges
        if row.per_thousand is not None and row.ordinal.value is not None
    ]


def _cost(figures: JudgeResults, size: str) -> Spec:
    titles = (_("Cost per 1,000 labels"), _("Ordinal alpha with final labels"))
    return points.points(
        _cost_rows(figures),
        x="cost",
        y="value",
        series="kind",
        text="name",
        titles=titles,
        size=size,
    )


def _cost_alt(figures: JudgeResults) -> str:
    parts = [
        _("%(name)s: alpha %(alpha).3f at a cost of %(cost).4g")
        % {"name": row["name"], "alpha": row["value"], "cost": row["cost"]}
        for row in _cost_rows(figures)
    ]
    return _("Agreement against cost per 1,000 labels. %s.") % "; ".join(parts)


def _prompt_rows(figures: JudgeResults) -> list[dict[str, Any]]:
    known = [row for row in figures.judges if row.run and row.ordinal.value is not None]
    return [
        {
            # Vega reads times without a zone as local, so the chart shows UTC everywhere.
            "at": row.at[:19],
            "model": row.model,
            "name": row.short_name,
            **bounds_of(row.ordinal),
        }
        for row in sorted(known, key=lambda row: row.at)
    ]


def _prompts(figures: JudgeResults, size: str) -> Spec:
    titles = ("", _("Ordinal alpha with final labels"))
    return points.points(
        _prompt_rows(figures),
        x="at",
        y="value",
        series="model",
        text="name",
        titles=titles,
        is_time=True,
        size=size,
    )


def _prompts_alt(figures: JudgeResults) -> str:
    parts = [f"{row['model']}, {row['name']}: {row['value']:.3f}" for row in _prompt_rows(figures)]
    return _(
        "Ordinal alpha of each run, in the order in which the runs were made. %s."
    ) % "; ".join(parts)


# Specification, text alternative and rows of each chart
CHARTS = {
    "judges": Chart(_judges, _judges_alt, lambda figures: figures.judges),
    "confusion": Chart(_confusion, _confusion_alt, lambda figures: figures.confusion),
    "cost": Chart(_cost, _cost_alt, _cost_rows),
    "prompts": Chart(_prompts, _prompts_alt, _prompt_rows),
}


def judges_finding(figures: JudgeResults) -> Conclusion | None:
    """State which judge is best, and whether people agree with it as much as with each other.

    Rule "one against a group".
    """
    if not figures.judges:
        return None
    best = figures.best
    judge = figures.named(best.key) if best else None
    if best is None or judge is None:
        says = _("No judge can be ranked yet.")
        needed = _(
            "Agreement needs arguments with a final label and a judge's label, and a judge "
            "must label at least 95 % of the arguments it was asked about."
        )
        return Conclusion(says, needed, "warn")
    says, mark = {
        "above": (
            _("Yes: %(name)s agrees with people more than they do with each other."),
            "good",
        ),
        "below": (_("No: %(name)s agrees with people less than they do with each other."), "warn"),
        "not_shown": (
            _(
                "Not proven: the data cannot tell whether %(name)s agrees with people as much as "
                "they do with each other."
            ),
            "",
        ),
    }[direction_of(best.difference)]
    sure = [_difference(best), _alphas(figures, judge), _demonstrated(judge)]
    return Conclusion(says % {"name": short(judge.short_name)}, " ".join(filter(None, sure)), mark)


def _demonstrated(judge: JudgeFigures) -> str:
    if not judge.is_demonstration:
        return ""
    return _("Demonstration: the built-in model answers at chance level.")


def _difference(best: BestJudge) -> str:
    """Describe the difference, its interval, the number of judges, and the data needed."""
    difference = best.difference
    text = ngettext(
        "Difference in alpha: %(difference)s on the %(n)s argument with votes and the judge's "
        "label.",
        "Difference in alpha: %(difference)s on the %(n)s arguments with votes and the judge's "
        "label.",
        difference.n_pairable_items,
    )
    values = {"difference": estimate_text(difference), "n": f"{difference.n_pairable_items:,}"}
    parts = [text % values]
    if difference.low is None:
        parts.append(_("No interval: %s.") % difference.reason)
    elif best.n > 1:
        text = _("The interval is corrected for the choice among %d judges.")
        parts.append(text % best.n)
    if difference.low is not None and direction_of(difference) == "not_shown":
        n, level = difference.n_pairable_items, 1 - difference.confidence
        needed = units_that_tell(difference.value or 0.0, difference, n, level)
        parts.append(would_show(needed, _("arguments"), _("a difference of this size")))
    return " ".join(parts)


def _alphas(figures: JudgeResults, judge: JudgeFigures) -> str:
    text = _(
        "Ordinal alpha with final labels %(final)s, with votes %(votes)s; people with each other "
        "%(people)s."
    )
    return text % {
        "final": estimate_text(judge.ordinal),
        "votes": estimate_text(judge.with_votes),
        "people": estimate_text(figures.people.agreement),
    }


def trained_finding(figures: TrainedFigures, number: int) -> Conclusion:
    """State how well a trained judge's version agrees with labels it was not trained on."""
    alpha = figures.ordinal
    if alpha.value is None:
        says = _("The agreement of version %(n)d with people cannot be computed.") % {"n": number}
        return Conclusion(says, f"{capfirst(alpha.reason or '')}.", "warn")
    level, mark = level_of(_("version %d agrees with final labels") % number, alpha)
    says = f"{level}: {_('ordinal alpha %s.') % text_of(alpha.value, 2)}"
    sure = ngettext(
        "%(figure)s on %(n)s argument from a pair that the judge had not seen.",
        "%(figure)s on %(n)s arguments from pairs that the judge had not seen.",
        figures.n,
    )
    sure %= {"figure": estimate_text(alpha), "n": f"{figures.n:,}"}
    return Conclusion(says, f"{sure} {why_less(alpha)}".strip(), mark)
