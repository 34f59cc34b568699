"""What agreement of scores comes to, in a sentence, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmark.agreement.methods.figures import Agreement, Beside, Figure, JudgeRow
from cqa_site.results.finding import Finding, in_words, level_of, listed, short, why_less
from cqa_site.web.tables import text_of

from .choice import TOTAL, Choice
from .tables import column_names, rater_names

# Answers scored by two people from which their agreement can be told.
LEAST_SHARED = 30


def agreement_finding(figures: Agreement, choice: Choice) -> Finding:
    """How far people agree about totals, and the judge with them."""
    people = figures.people.columns[TOTAL].alpha_interval
    shared = figures.people.shared
    if shared < LEAST_SHARED or people.value is None:
        return Finding(
            _("How far people agree with each other can hardly be told here."),
            f"{_few(shared)} {_by_judges(figures)}".strip(),
            "warn",
        )
    level, mark = level_of(people)
    said = {"level": level, "alpha": text_of(people.value, 2)}
    says = _("People agree on totals %(level)s: alpha %(alpha)s") % said
    beside = figures.with_people.get(choice.judge, {}).get(TOTAL)
    if beside is not None:
        says += _beside(rater_names(figures)[choice.judge], beside.alpha_interval)
    return Finding(f"{says}.", _sure(figures, people, beside), mark)


def _few(shared: int) -> str:
    text = ngettext(
        "%(n)d answer was scored by two or more people, or scores were consolidated before they "
        "came here; %(least)d are needed.",
        "%(n)d answers were scored by two or more people, or scores were consolidated before "
        "they came here; %(least)d are needed.",
        shared,
    )
    return text % {"n": shared, "least": LEAST_SHARED}


def _by_judges(figures: Agreement) -> str:
    """What can be said without people: the judge that comes closest to what there is of them."""
    best = next((each for each in figures.judges if each.agreement.value is not None), None)
    if best is None:
        return ""
    said = {"name": short(best.name), "figure": _with_n(best.agreement)}
    return _("%(name)s agrees with them at alpha %(figure)s.") % said


def _beside(name: str, with_people: Figure) -> str:
    if with_people.value is None:
        return ""
    said = {"name": short(name), "alpha": text_of(with_people.value, 2)}
    return _("; %(name)s agrees with them at %(alpha)s") % said


def _sure(figures: Agreement, people: Figure, beside: object) -> str:
    """The intervals, the difference of both on the same answers, the weakest criterion."""
    said = [_("People: %s.") % _with_n(people), why_less(people)]
    if isinstance(beside, Beside) and beside.difference.value is not None:
        said.append(_("Judge minus people on the same answers: %s.") % _with_n(beside.difference))
    if weakest := _weakest(figures):
        said.append(_("People agree least about %s.") % weakest)
    return " ".join(filter(None, said))


def _weakest(figures: Agreement) -> str:
    names = column_names(figures)
    found = [
        (value, names[each.key])
        for each in figures.columns
        if each.kind == "criterion"
        and (value := figures.people.columns[each.key].alpha_interval.value) is not None
    ]
    if not found:
        return ""
    value, name = min(found)
    return f"{name} ({text_of(value, 2)})"


def _with_n(found: Figure) -> str:
    return f"{in_words(found)}, n {found.n:,}"


def judges_finding(judges: Sequence[JudgeRow]) -> Finding:
    """Which judge comes closest to people, and whether others cannot be told from it."""
    known = [each for each in judges if each.agreement.value is not None]
    if not known:
        needed = _("It needs answers that people and a judge have both scored.")
        return Finding(_("No judge can be compared with people yet."), needed, "warn")
    first, level = known[0], [each.name for each in known[1:] if each.rank_low == 1]
    said = {"name": short(first.name), "figure": _with_n(first.agreement)}
    if len(known) == 1:
        return Finding(_("%(name)s agrees with people at alpha %(figure)s.") % said)
    if level:
        names = listed([first.name, *level])
        says = _("%s come closest to people, and cannot be told apart.") % names
        return Finding(says, _("%(name)s: alpha %(figure)s.") % said)
    says = _("%(name)s comes closest to people: alpha %(figure)s.")
    return Finding(says % said, mark="good")
