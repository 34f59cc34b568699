"""Whether a judge labels as people do, in a sentence, and how sure that is."""

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.judges.reports.found import Figures, JudgeFigures, TrainedFigures
from cqa_site.results.finding import Finding, in_words, level_of, short, why_less
from cqa_site.web.tables import text_of


def judges_finding(figures: Figures) -> Finding | None:
    """The best judge beside people, and whether they agree with it as with each other."""
    if not figures.judges:
        return None
    best = _best(figures)
    if best is None:
        says = _("No judge can be ranked yet.")
        sure = _(
            "Agreement needs arguments with a final label and a judge's label, and a judge has to "
            "label at least 95 % of what it was asked."
        )
        return Finding(says, sure, "warn")
    difference, name = best.difference, short(best.short_name)
    if difference.value is None or difference.low is None or difference.high is None:
        says = _("Whether %(name)s agrees with people as they do with each other cannot be told.")
        sure = _reason(best, difference.reason)
        return Finding(says % {"name": name}, f"{sure} {_demonstrated(best)}".strip(), "warn")
    n, mark = difference.n_pairable_items, ""
    if difference.low > 0:
        says, mark = (
            _("Yes: %(name)s agrees with people more than they do with each other."),
            "good",
        )
    elif difference.high < 0:
        says, mark = (
            _("No: %(name)s agrees with people less than they do with each other."),
            "warn",
        )
    else:
        says = ngettext(
            "Not proven: this %(n)s argument cannot tell whether %(name)s agrees with people as "
            "they do with each other.",
            "Not proven: these %(n)s arguments cannot tell whether %(name)s agrees with people as "
            "they do with each other.",
            n,
        )
    sure = f"{_numbers(figures, best)} {_demonstrated(best)}".strip()
    return Finding(says % {"name": name, "n": f"{n:,}"}, sure, mark)


def _demonstrated(judge: JudgeFigures) -> str:
    if not judge.is_demonstration:
        return ""
    return _("Demonstration: the model in the box answers at chance level.")


def _best(figures: Figures) -> JudgeFigures | None:
    """The first judge that is ranked and has a defined alpha."""
    ranked = (row for row in figures.judges if not row.is_low)
    return next((row for row in ranked if row.ordinal.value is not None), None)


def _reason(best: JudgeFigures, reason: str | None) -> str:
    said = _("With final labels: ordinal alpha %s.") % in_words(best.ordinal)
    return f"{said} {capfirst(reason or '')}."


def _numbers(figures: Figures, best: JudgeFigures) -> str:
    text = _(
        "Difference of alphas %(difference)s on the %(n)s arguments that carry both. Ordinal "
        "alpha with final labels %(final)s, with votes %(votes)s; people among themselves "
        "%(people)s."
    )
    return text % {
        "difference": in_words(best.difference),
        "n": f"{best.difference.n_pairable_items:,}",
        "final": in_words(best.ordinal),
        "votes": in_words(best.with_votes),
        "people": in_words(figures.people.agreement),
    }


def trained_finding(figures: TrainedFigures, number: int) -> Finding:
    """How far a version of the trained judge agrees with labels it had not seen."""
    alpha = figures.ordinal
    if alpha.value is None:
        says = _("How far version %(n)d agrees with people cannot be said.") % {"n": number}
        return Finding(says, f"{capfirst(alpha.reason or '')}.", "warn")
    level, mark = level_of(alpha)
    said = {"n": number, "level": level, "alpha": text_of(alpha.value, 2)}
    says = _("Version %(n)d agrees with final labels %(level)s: ordinal alpha %(alpha)s.") % said
    sure = ngettext(
        "%(figure)s on %(n)s argument of a pair it had not seen.",
        "%(figure)s on %(n)s arguments of pairs it had not seen.",
        figures.n,
    )
    sure %= {"figure": in_words(alpha), "n": f"{figures.n:,}"}
    return Finding(says, f"{sure} {why_less(alpha)}".strip(), mark)
