"""What agreement of scores comes to, in a sentence, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from benchmark.agreement.methods.figures import Agreement, Beside, Figure, JudgeRow, is_closest
from cqa_site.results.finding import Finding, in_words, level_of, listed, short, why_less
from cqa_site.stats.one_sided_tests import more_needed
from cqa_site.stats.verdicts import LEVEL, RULES, corrected_level
from cqa_site.web.tables import text_of

from .choice import TOTAL, Choice
from .tables import column_names, rater_names


def agreement_finding(figures: Agreement, choice: Choice) -> Finding:
    """How far people agree about totals, and the judge with them."""
    people = figures.people.columns[TOTAL].alpha_interval
    shared = figures.people.shared
    if not RULES["reliability"].allows(shared) or people.value is None:
        return Finding(
            _("How far people agree with each other can hardly be told here."),
            f"{_few(shared)} {_by_judges(figures)}".strip(),
            "warn",
        )
    level, mark = level_of(_("people agree on totals"), people)
    says = f"{level}: {_('alpha %s') % text_of(people.value, 2)}"
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
    return text % {"n": shared, "least": RULES["reliability"].least}


def _by_judges(figures: Agreement) -> str:
    """The judge with the highest alpha in these data, where people do not suffice."""
    best = next((each for each in figures.judges if each.agreement.value is not None), None)
    if best is None:
        return ""
    said = {"name": short(best.name), "figure": _with_n(best.agreement)}
    return _("Highest alpha with them in these data: %(name)s, %(figure)s.") % said


def _beside(name: str, with_people: Figure) -> str:
    if with_people.value is None:
        return ""
    said = {"name": short(name), "alpha": text_of(with_people.value, 2)}
    return _("; %(name)s agrees with them at %(alpha)s") % said


def _sure(figures: Agreement, people: Figure, beside: Beside | None) -> str:
    """The intervals, the difference of both on the same answers, the weakest criterion."""
    said = [_("People: %s.") % _with_n(people), why_less(people)]
    if beside and beside.difference.value is not None:
        said.append(_("Judge minus people on the same answers: %s.") % _with_n(beside.difference))
    if weakest := _weakest(figures):
        said.append(_("Lowest criterion in these data: %s.") % weakest)
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
    """Which judge agrees with people most, and whether that is shown of all others."""
    known = [each for each in judges if each.agreement.value is not None]
    if not known:
        needed = _("It needs answers that people and a judge have both scored.")
        return Finding(_("No judge can be compared with people yet."), needed, "warn")
    first = known[0]
    said = {"name": short(first.name), "figure": _with_n(first.agreement)}
    if len(known) == 1:
        return Finding(_("%(name)s agrees with people at alpha %(figure)s.") % said)
    if is_closest(known):
        says = _(
            "%(name)s agrees with people more than any other judge here does: alpha %(figure)s."
        )
        sure = _("Shown on the answers that both judges scored, corrected over all pairs (Holm).")
        return Finding(says % said, sure, "good")
    says = _("%(name)s has the highest alpha with people in these data: %(figure)s.") % said
    level = [each for each in known[1:] if each.rank_low in (1, None)]
    unclear = _("Not shown to agree less: %s.") % listed([each.name for each in level])
    return Finding(says, f"{unclear} {_would_tell(first, level, len(known))}".strip())


def _would_tell(first: JudgeRow, level: Sequence[JudgeRow], n_judges: int) -> str:
    """How many answers would tell the first judge from the one that is nearest to it."""
    names = {"first": short(first.name), "second": short(level[0].name)}
    found = level[0].to_first
    if found is None or found.p_yes is None or found.units is None:
        text = _("A test of two judges needs %(n)d questions that both and people scored.")
        return text % {"n": RULES["closest judge"].least}
    one_sided = corrected_level(LEVEL, n_judges * (n_judges - 1) // 2) / 2
    more = more_needed(found.n, found.p_yes / 2, found.units, one_sided)
    if not more:
        return ""
    text = ngettext(
        "About %(n)s more answer by both would tell %(first)s from %(second)s.",
        "About %(n)s more answers by both would tell %(first)s from %(second)s.",
        more,
    )
    return text % {"n": f"{more:,}", **names}
