"""Whether a judge labels as people do, in a sentence, and how sure that is."""

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.judges.reports.found import BestJudge, Figures, JudgeFigures, TrainedFigures
from cqa_site.results.finding import Finding, in_words, level_of, short, why_less, would_show
from cqa_site.stats.paired_tests import units_that_tell
from cqa_site.stats.verdicts import direction_of
from cqa_site.web.tables import text_of


def judges_finding(figures: Figures) -> Finding | None:
    """The best judge beside people, and whether they agree with it as with each other.

    Rule "one against a group".
    """
    if not figures.judges:
        return None
    best = figures.best
    judge = figures.named(best.key) if best else None
    if best is None or judge is None:
        says = _("No judge can be ranked yet.")
        needed = _(
            "Agreement needs arguments with a final label and a judge's label, and a judge has to "
            "label at least 95 % of what it was asked."
        )
        return Finding(says, needed, "warn")
    says, mark = {
        "above": (
            _("Yes: %(name)s agrees with people more than they do with each other."),
            "good",
        ),
        "below": (_("No: %(name)s agrees with people less than they do with each other."), "warn"),
        "not_shown": (
            _(
                "Not proven: whether %(name)s agrees with people as much as they do with each "
                "other."
            ),
            "",
        ),
    }[direction_of(best.difference)]
    sure = [_difference(best), _alphas(figures, judge), _demonstrated(judge)]
    return Finding(says % {"name": short(judge.short_name)}, " ".join(filter(None, sure)), mark)


def _demonstrated(judge: JudgeFigures) -> str:
    if not judge.is_demonstration:
        return ""
    return _("Demonstration: the model in the box answers at chance level.")


def _difference(best: BestJudge) -> str:
    """The difference with its interval, of how many it is the best, and what would tell."""
    difference = best.difference
    text = ngettext(
        "Difference of alphas %(difference)s on the %(n)s argument with votes and its label.",
        "Difference of alphas %(difference)s on the %(n)s arguments with votes and its label.",
        difference.n_pairable_items,
    )
    said = {"difference": in_words(difference), "n": f"{difference.n_pairable_items:,}"}
    parts = [text % said]
    if difference.low is None:
        parts.append(_("No interval: %s.") % difference.reason)
    elif best.n > 1:
        text = _("Its interval is corrected for the choice among %d judges.")
        parts.append(text % best.n)
    if difference.low is not None and direction_of(difference) == "not_shown":
        n, level = difference.n_pairable_items, 1 - difference.confidence
        needed = units_that_tell(difference.value or 0.0, difference, n, level)
        parts.append(would_show(needed, _("arguments"), _("a difference of this size")))
    return " ".join(parts)


def _alphas(figures: Figures, judge: JudgeFigures) -> str:
    text = _(
        "Ordinal alpha with final labels %(final)s, with votes %(votes)s; people among themselves "
        "%(people)s."
    )
    return text % {
        "final": in_words(judge.ordinal),
        "votes": in_words(judge.with_votes),
        "people": in_words(figures.people.agreement),
    }


def trained_finding(figures: TrainedFigures, number: int) -> Finding:
    """How far a version of the trained judge agrees with labels it had not seen."""
    alpha = figures.ordinal
    if alpha.value is None:
        says = _("How far version %(n)d agrees with people cannot be said.") % {"n": number}
        return Finding(says, f"{capfirst(alpha.reason or '')}.", "warn")
    level, mark = level_of(_("version %d agrees with final labels") % number, alpha)
    says = f"{level}: {_('ordinal alpha %s.') % text_of(alpha.value, 2)}"
    sure = ngettext(
        "%(figure)s on %(n)s argument of a pair it had not seen.",
        "%(figure)s on %(n)s arguments of pairs it had not seen.",
        figures.n,
    )
    sure %= {"figure": in_words(alpha), "n": f"{figures.n:,}"}
    return Finding(says, f"{sure} {why_less(alpha)}".strip(), mark)
