"""How arguments are distributed over the labels of a scale, in a sentence."""

from collections.abc import Mapping

from django.utils.translation import ngettext

from annotation.labelling.models.campaigns import Guideline
from cqa_site.results.finding import Finding


def labels_finding(counts: Mapping[int | None, int], guideline: Guideline) -> Finding | None:
    """How many arguments have each final label; those without one are counted under None."""
    labels = {label: n for label, n in counts.items() if label is not None}
    total, left = sum(labels.values()), counts.get(None, 0)
    if not total:
        return None
    text = ngettext(
        "Final labels of %(n)s argument: %(labels)s.",
        "Final labels of %(n)s arguments: %(labels)s.",
        total,
    )
    says = text % {"n": f"{total:,}", "labels": by_label(labels, guideline)}
    if not left:
        return Finding(says)
    sure = ngettext("%(n)s more has no label yet.", "%(n)s more have no label yet.", left)
    return Finding(says, sure % {"n": f"{left:,}"})


def by_label(counts: Mapping[int, int], guideline: Guideline) -> str:
    """How many have each label, the highest first: 4 “Both, with a reason” (3), 2 … (1)."""
    names = guideline.level_names
    parts = [
        f"{counts[label]:,} “{names[label]}” ({label})"
        if label in names
        else f"{counts[label]:,} ({label})"
        for label in sorted(counts, reverse=True)
        if counts[label]
    ]
    return ", ".join(parts)
