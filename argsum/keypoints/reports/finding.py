"""What a set of key points says in one sentence, and who says so."""

from collections.abc import Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from cqa_site.results.finding import Finding
from cqa_site.web.templatetags.figures import percent

from .key_points import Side


def sides_finding(sides: Sequence[Side], sheets: int) -> Finding | None:
    """How many arguments the key points stand for, and which have most of them.

    ``sheets`` is how often somebody judged sets of these sides. Of a set that came without its
    arguments, or without key points, there is nothing to say.
    """
    known = [side for side in sides if side.is_unassigned_known and side.points]
    if not known:
        return None
    n = sum(len(side.points) for side in known)
    matched, total = sum(side.matched for side in known), sum(side.total for side in known)
    says = ngettext(
        "%(n)s key point stands for %(share)s of %(total)s arguments",
        "%(n)s key points stand for %(share)s of %(total)s arguments",
        n,
    ) % {"n": f"{n:,}", "share": percent(matched / total if total else 0.0), "total": f"{total:,}"}
    return Finding(f"{says}; {_most(known, total)}", _checked(sheets), "" if sheets else "warn")


def _most(known: Sequence[Side], total: int) -> str:
    """The key point with most arguments; how many have as many, where it is not alone."""
    points = [point for side in known for point in side.points]
    most = max(points, key=lambda each: each.count)
    alike = [each for each in points if each.count == most.count]
    said = {
        "count": f"{most.count:,}",
        "share": percent(most.count / total if total else 0.0),
        "text": most.text,
        "alike": f"{len(alike):,}",
    }
    if len(points) == 1:
        return _("it says: “%(text)s”") % said
    if len(alike) > 1:
        return _("%(alike)s share first place with %(count)s each (%(share)s).") % said
    return _("the most frequent, with %(count)s (%(share)s): “%(text)s”") % said


def _checked(sheets: int) -> str:
    if not sheets:
        return _(
            "A system decided which argument says what; no person or judge has compared these key "
            "points with reference ones."
        )
    text = ngettext(
        "A system decided which argument says what; %(n)s sheet compares these key points with "
        "reference ones.",
        "A system decided which argument says what; %(n)s sheets compare these key points with "
        "reference ones.",
        sheets,
    )
    return text % {"n": f"{sheets:,}"}
