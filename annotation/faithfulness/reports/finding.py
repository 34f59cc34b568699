"""What faithfulness and editing come to, in a sentence, and how sure that is."""

from collections.abc import Sequence
from itertools import combinations
from statistics import fmean

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as lazy
from django.utils.translation import ngettext

from annotation.faithfulness.reports.edited_figures import Change, Summary
from annotation.faithfulness.reports.expert_agreement import ExpertAgreement
from annotation.faithfulness.reports.faithfulness import HEADLINES, GroupFigures
from annotation.faithfulness.reports.tables import MEASURES, text_of_group
from cqa_site.results.finding import Finding, in_words, listed, short, would_show
from cqa_site.stats.paired_tests import PairedTest, least_units, paired_tests
from cqa_site.web.tables import text_of

BEST = {
    "f1": lazy("cites the relevant arguments best"),
    "similarity": lazy("stays most similar to its arguments"),
    "jaccard_segment": lazy("shares most words with its arguments"),
}


def faithfulness_finding(groups: Sequence[GroupFigures]) -> Finding | None:
    """The group that is best by the first headline measure that is known; rule "paired means"."""
    for name in HEADLINES:
        known = [each for each in groups if each.measures[name].value is not None]
        if known:
            return _closest(name, sorted(known, key=lambda each: -(_value(each, name))))
    return None


def _value(group: GroupFigures, name: str) -> float:
    return group.measures[name].value or 0.0


def _called(group: GroupFigures) -> str:
    return f"{short(group.name)} ({text_of_group(group)})"


def _closest(name: str, groups: Sequence[GroupFigures]) -> Finding:
    best, measure = groups[0], MEASURES[name]
    said = {"name": _called(best), "measure": measure.title, "value": _figure(best, name)}
    if len(groups) == 1:
        return Finding(
            _("%(name)s: %(measure)s %(value)s.") % said, f"{capfirst(str(measure.recipe))}."
        )
    pairs = combinations([each.by_question[name] for each in groups], 2)
    tests = paired_tests(
        [[one[at] - other[at] for at in one.keys() & other.keys()] for one, other in pairs]
    )
    # Pairs with the first group come first.
    others = list(zip(groups[1:], tests, strict=False))
    is_tested = any(test.p is not None for _group, test in others)
    unclear = [(_called(group), test) for group, test in others if test.direction != "above"]
    next_best = {"name": _called(groups[1]), "value": _figure(groups[1], name)}
    text = ngettext(
        "Paired t test.", "Paired t tests, Holm's correction for %d pairs.", len(tests)
    )
    method = text % len(tests) if len(tests) > 1 else text
    sure = [_("Next: %(name)s, %(value)s.") % next_best, method if is_tested else ""]
    if unclear:
        says = _("%(name)s has the highest %(measure)s in these data: %(value)s.")
        text = _("It is not shown to be above %s on common questions.")
        of_them = [test for _name, test in unclear]
        if is_tested:
            sure.append(text % listed([name for name, _test in unclear], shortened=str))
        sure.append(_what_would_tell(of_them, len(tests), _("common questions")))
    else:
        says = f"%(name)s {BEST[name]}: %(measure)s %(value)s."
    return Finding(says % said, " ".join(filter(None, sure)), "" if unclear else "good")


def _figure(group: GroupFigures, name: str) -> str:
    return in_words(group.measures[name])


def _what_would_tell(tests: Sequence[PairedTest], family: int, units: str) -> str:
    """How many units any verdict needs, or would show the clearest of these differences."""
    least = least_units(family)
    if max(test.n for test in tests) < least:
        return _("A verdict needs %(n)d or more %(units)s.") % {"n": least, "units": units}
    enough = min((test.enough for test in tests if test.enough), default=None)
    if not any(test.value for test in tests):
        return ""
    one, many = _("a difference of this size"), _("the clearest of these differences")
    return would_show(enough, units, many if len(tests) > 1 else one)


def edited_finding(summary: Summary) -> Finding | None:
    """How much editing changed, and which measures are shown to have moved; "paired means"."""
    if not summary.n:
        return None
    text = ngettext(
        "Editing changed %(words)s words of a text on average, over %(n)s text.",
        "Editing changed %(words)s words of a text on average, over %(n)s texts.",
        summary.n,
    )
    says = text % {"words": in_words(summary.distance, 1), "n": f"{summary.n:,}"}
    tests, moved = tested_changes(summary)
    n, sure = sum(test.p is not None for test in tests), ""
    if n:
        text = _(
            "%(moved)s. Measures tested together over questions: %(n)d. Each interval below is "
            "for its measure alone."
        )
        names = _("Shown to have moved: %s") % "; ".join(map(_moved, moved)) if moved else ""
        sure = text % {"moved": names or _("No measure is shown to have moved"), "n": n}
    if tests and not moved:
        sure = f"{sure} {_what_would_tell(tests, len(tests), _('questions'))}".strip()
    return Finding(says, sure)


def tested_changes(summary: Summary) -> tuple[list[PairedTest], list[Change]]:
    """Tests of all measures that have a value, and the measures that are shown to have moved."""
    known = [each for each in (*summary.checks, *summary.changes) if each.n]
    tests = paired_tests([each.by_question for each in known])
    pairs = zip(known, tests, strict=True)
    return tests, [each for each, test in pairs if test.direction != "not_shown"]


def _moved(change: Change) -> str:
    values = (text_of(each, change.decimals) for each in (change.before, change.after))
    return f"{change.title} {' → '.join(values)}"


def experts_finding(found: ExpertAgreement) -> Finding | None:
    """Whether experts' versions are more alike than they and the machine's; "paired means"."""
    if not found.alike:
        return None
    tests = paired_tests([[together - machine for together, machine in found.alike]])
    together, machine = (fmean(column) for column in zip(*found.alike, strict=True))
    places = 2 if text_of(together, 2) != text_of(machine, 2) else 3
    said = {"experts": text_of(together, places), "machine": text_of(machine, places)}
    text = {
        "above": _(
            "Experts' versions are more similar to each other (%(experts)s) than to the machine's "
            "(%(machine)s)."
        ),
        "below": _(
            "Experts' versions are less similar to each other (%(experts)s) than to the machine's "
            "(%(machine)s)."
        ),
        "not_shown": _(
            "Similarity of experts' versions: %(experts)s to each other, %(machine)s to the "
            "machine's. Which is higher is not shown."
        ),
    }[tests[0].direction]
    sure = ngettext(
        "Mean cosines over %d calibration answer of two or more experts.",
        "Mean cosines over %d calibration answers of two or more experts.",
        tests[0].n,
    )
    method = "" if tests[0].p is None else _("Paired t test.")
    is_open = tests[0].direction == "not_shown"
    tells = _what_would_tell(tests, 1, _("answers")) if is_open else ""
    return Finding(text % said, " ".join(filter(None, (sure % tests[0].n, method, tells))))
