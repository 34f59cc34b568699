"""What a set of key points says in one sentence, and who says so."""

from collections.abc import Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from cqa_site.results.finding import Finding
from cqa_site.web.tables import text_of

from .key_points import Side


def sides_finding(sides: Sequence[Side], sheets: int) -> Finding | None:
    """How many arguments the key points stand for, and the one with most of them.

    ``sheets`` is how often somebody judged sets of these sides. Of a set that came without its
    arguments, or without key points, there is nothing to say.
    """
    known = [side for side in sides if side.is_unassigned_known and side.points]
    if not known:
        return None
    n = sum(len(side.points) for side in known)
    matched, total = sum(side.matched for side in known), sum(side.total for side in known)
    most = max((point for side in known for point in side.points), key=lambda each: each.count)
    says = ngettext(
        "%(n)s key point stands for %(share)s %% of %(total)s arguments; %(most)s say: “%(text)s”",
        "%(n)s key points stand for %(share)s %% of %(total)s arguments; most, %(most)s, say: "
        "“%(text)s”",
        n,
    ) % {
        "n": f"{n:,}",
        "share": text_of(100 * matched / total if total else 0.0, 0),
        "total": f"{total:,}",
        "most": f"{most.count:,}",
        "text": most.text,
    }
    return Finding(says, _checked(sheets), "" if sheets else "warn")


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
