"""What faithfulness and editing come to, in a sentence, and how sure that is."""

from collections.abc import Sequence

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.faithfulness.reports.edited_figures import Change, Summary
from annotation.faithfulness.reports.expert_agreement import ExpertAgreement
from annotation.faithfulness.reports.faithfulness import GroupFigures
from annotation.faithfulness.reports.tables import MEASURES, text_of_group
from cqa_site.results.finding import Finding, in_words
from cqa_site.stats.estimate import Estimate
from cqa_site.web.tables import text_of

# By which groups are compared: the first of these that is known.
HEADLINES = ("f1", "similarity", "jaccard_segment")


def faithfulness_finding(groups: Sequence[GroupFigures]) -> Finding | None:
    """Whose texts keep closest to their arguments."""
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
    next_best = groups[1]
    says = _("%(name)s keeps closest to its arguments: %(measure)s %(value)s.")
    other = {"name": _called(next_best), "value": _figure(next_best, name)}
    sure = _("Next: %(name)s, %(value)s.") % other
    if _overlap(best.measures[name], next_best.measures[name]):
        sure += " " + _("The intervals overlap, so the order may be chance.")
        return Finding(says % said, sure)
    return Finding(says % said, sure, "good")


def _figure(group: GroupFigures, name: str) -> str:
    return in_words(group.measures[name])


def _overlap(first: Estimate, second: Estimate) -> bool:
    """Whether two intervals share a value; unknown ones are taken to."""
    if first.low is None or second.high is None:
        return True
    return first.low <= second.high


def edited_finding(summary: Summary) -> Finding | None:
    """How much editing changed, and which measure it moved most surely."""
    if not summary.n:
        return None
    text = ngettext(
        "Editing changed %(words)s words of a text on average, over %(n)s text.",
        "Editing changed %(words)s words of a text on average, over %(n)s texts.",
        summary.n,
    )
    says = text % {"words": in_words(summary.distance, 1), "n": f"{summary.n:,}"}
    moved = [each for each in (*summary.checks, *summary.changes) if _is_moved(each.difference)]
    if not moved:
        return Finding(says, _("No measure is shown to have moved either way."))
    parts = (f"{each.title} {_moved(each)}" for each in moved)
    return Finding(says, _("Moved beyond chance: %s.") % "; ".join(parts))


def _moved(change: Change) -> str:
    return " → ".join(text_of(each, change.decimals) for each in (change.before, change.after))


def _is_moved(difference: Estimate) -> bool:
    low, high = difference.low, difference.high
    return low is not None and high is not None and (low > 0 or high < 0)


def experts_finding(found: ExpertAgreement) -> Finding | None:
    """Whether experts' versions are more alike than each of them and the machine's text."""
    together, machine = _means(found)
    if together is None or machine is None:
        return None
    said = {"experts": text_of(together, 2), "machine": text_of(machine, 2)}
    text = (
        _(
            "Experts' versions are more alike (%(experts)s) than they are to the machine's "
            "(%(machine)s)."
        )
        if together > machine
        else _(
            "Experts' versions are no more alike (%(experts)s) than they are to the machine's "
            "(%(machine)s)."
        )
    )
    n = found.n_answers
    sure = ngettext(
        "Mean cosine over %d calibration answer; no interval.",
        "Mean cosine over %d calibration answers; no interval.",
        n,
    )
    return Finding(text % said, sure % n)


def _means(found: ExpertAgreement) -> tuple[float | None, float | None]:
    """Mean likeness of every two experts, and of the experts to the machine, by answers."""
    cells = found.cells
    n = len(cells)
    pairs = [cells[row][at] for row in range(1, n) for at in range(row + 1, n)]
    return _mean(pairs), _mean([cells[0][at] for at in range(1, n)] if n else [])


def _mean(cells: Sequence) -> float | None:
    known = [(each.value, each.n) for each in cells if each.value is not None and each.n]
    total = sum(n for _value, n in known)
    return sum(value * n for value, n in known) / total if total else None
