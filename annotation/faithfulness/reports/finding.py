"""What faithfulness and editing come to, in a sentence, and how sure that is."""

from collections.abc import Sequence
from itertools import combinations
from statistics import fmean

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.faithfulness.reports.edited_figures import Change, Summary
from annotation.faithfulness.reports.expert_agreement import ExpertAgreement
from annotation.faithfulness.reports.faithfulness import HEADLINES, GroupFigures
from annotation.faithfulness.reports.tables import MEASURES, text_of_group
from cqa_site.results.finding import Finding, in_words, listed
from cqa_site.stats.paired_tests import PairedTest, least_units, paired_tests
from cqa_site.web.tables import text_of


def faithfulness_finding(groups: Sequence[GroupFigures]) -> Finding | None:
    """The group whose texts keep closest to their arguments; rule "paired means"."""
    for name in HEADLINES:
        known = [each for each in groups if each.measures[name].value is not None]
        if known:
            return _closest(name, sorted(known, key=lambda each: -(_value(each, name))))
    return None


def _value(group: GroupFigures, name: str) -> float:
    return group.measures[name].value or 0.0


def _called(group: GroupFigures) -> str:
    return f"{group.name} ({text_of_group(group)})"


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
    others = zip(groups[1:], tests, strict=False)
    unclear = [(_called(group), test) for group, test in others if test.direction != "above"]
    next_best = {"name": _called(groups[1]), "value": _figure(groups[1], name)}
    text = ngettext(
        "Paired t test.", "Paired t tests, Holm's correction for %d pairs.", len(tests)
    )
    method = text % len(tests) if len(tests) > 1 else text
    sure = [_("Next: %(name)s, %(value)s.") % next_best, method]
    if unclear:
        says = _("%(name)s has the highest %(measure)s in these data: %(value)s.")
        text = _("It is not shown to be above %s on common questions.")
        sure.append(text % listed([name for name, _test in unclear]))
        of_them = [test for _name, test in unclear]
        sure.append(_what_would_tell(of_them, len(tests), _("common questions")))
    else:
        says = _("%(name)s keeps closest to its arguments: %(measure)s %(value)s.")
    return Finding(says % said, " ".join(filter(None, sure)), "" if unclear else "good")


def _figure(group: GroupFigures, name: str) -> str:
    return in_words(group.measures[name])


def _what_would_tell(tests: Sequence[PairedTest], family: int, units: str) -> str:
    """How many units any verdict needs, or would show the clearest of these differences."""
    least = least_units(family)
    if max(test.n for test in tests) < least:
        return _("A verdict needs %(n)d or more %(units)s.") % {"n": least, "units": units}
    enough = min((test.enough for test in tests if test.enough), default=None)
    text = _("About %(n)s %(units)s would show the clearest difference (80 %% power).")
    return text % {"n": f"{enough:,}", "units": units} if enough else ""


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
    known = [each for each in (*summary.checks, *summary.changes) if each.n]
    tests = paired_tests([each.by_question for each in known])
    tested = zip(known, tests, strict=True)
    moved = [_moved(each) for each, test in tested if test.direction != "not_shown"]
    if moved:
        text = _("Shown to have moved: %(moved)s. %(n)d measures tested together over questions.")
        return Finding(says, text % {"moved": "; ".join(moved), "n": len(known)})
    sure = _("No measure is shown to have moved, of %d tested together over questions.")
    tells = _what_would_tell(tests, len(tests), _("questions")) if tests else ""
    return Finding(says, f"{sure % len(known)} {tells}".strip())


def _moved(change: Change) -> str:
    values = (text_of(each, change.decimals) for each in (change.before, change.after))
    return f"{change.title} {' → '.join(values)}"


def experts_finding(found: ExpertAgreement) -> Finding | None:
    """Whether experts' versions are more alike than they and the machine's; "paired means"."""
    if not found.alike:
        return None
    tests = paired_tests([[together - machine for together, machine in found.alike]])
    together, machine = (fmean(column) for column in zip(*found.alike, strict=True))
    said = {"experts": text_of(together, 2), "machine": text_of(machine, 2)}
    text = {
        "above": _(
            "Experts' versions are more alike (%(experts)s) than they are to the machine's "
            "(%(machine)s)."
        ),
        "below": _(
            "Experts' versions are less alike (%(experts)s) than they are to the machine's "
            "(%(machine)s)."
        ),
        "not_shown": _(
            "Similarity of experts' versions: %(experts)s to each other, %(machine)s to the "
            "machine's. Which is higher is not shown."
        ),
    }[tests[0].direction]
    sure = ngettext(
        "Mean cosines over %d calibration answer of two or more experts, paired t test.",
        "Mean cosines over %d calibration answers of two or more experts, paired t test.",
        tests[0].n,
    )
    is_open = tests[0].direction == "not_shown"
    tells = _what_would_tell(tests, 1, _("answers")) if is_open else ""
    return Finding(text % said, f"{sure % tests[0].n} {tells}".strip())
