"""The job that splits a key point by itself: its statements are gone through like comments."""

from django.db import transaction
from django.utils.translation import gettext as _

from argsum.analysis.models import Analysis, FoundPoint, Placement, PointChange
from cqa_site.people.models import User
from cqa_site.runs.jobs import JobRefused, Work
from cqa_site.runs.models import Job

from .edits import Edit, EditRefused, Group, alive, editing, new_point, require_at, store
from .making import REFUSED, in_words, said_by
from .placing import FEWEST
from .starting import SPLIT, enqueue_for
from .tools import ScorerTools, analysis_of

State, Verb = FoundPoint.State, PointChange.Verb
FEWEST_STATEMENTS = 4


@transaction.atomic
def ask_to_split(*, analysis: Analysis, actor: User, point: FoundPoint, seen: int) -> Job:
    """Have a worker split a key point; raises EditRefused if there is too little behind it."""
    row = alive(analysis, [point], seen)[0]
    if row.statements < FEWEST_STATEMENTS:
        raise EditRefused(_("There are too few statements to split: choose some by hand."))
    return enqueue_for(analysis, SPLIT, actor, point=row.pk, seen=seen)


def split_by_itself(work: Work) -> None:
    """Handle a job: the largest part keeps the key point, further parts become new ones.

    What people placed stays, and so does what fits no part.
    """
    analysis = analysis_of(work)
    point = FoundPoint.objects.get(analysis=analysis, pk=work.payload["point"])
    try:
        parts = _parts(analysis, point, work)
        with editing(analysis) as held:
            work.finish()
            _store(held, point, parts, work.payload["seen"], work.job.created_by)
    except (*REFUSED, EditRefused) as problem:
        raise JobRefused(in_words(problem)) from None


def _parts(analysis: Analysis, point: FoundPoint, work: Work) -> list[tuple[str, list[int]]]:
    """Texts of the further parts with their statements, the largest first."""
    from argsum.analysis.methods.finding import find_points

    rows = Placement.objects.filter(analysis=analysis, point=point, is_by_hand=False)
    pairs = list(rows.order_by("argument_id").values_list("argument", "argument__text"))
    keys, texts = [pk for pk, _text in pairs], [text for _pk, text in pairs]
    found = find_points(texts, ScorerTools(analysis, work), counts=said_by(keys))
    parts: list[list[int]] = [[] for _text in found.points]
    for key, place in zip(keys, found.placed, strict=True):
        if place >= 0:
            parts[place].append(key)
    made = [
        (text, own) for text, own in zip(found.points, parts, strict=True) if len(own) >= FEWEST
    ]
    made.sort(key=lambda each: -len(each[1]))
    if len(made) < 2:
        raise EditRefused(_("No parts were found in it: choose some statements by hand."))
    return made[1:]


def _store(
    analysis: Analysis,
    point: FoundPoint,
    parts: list[tuple[str, list[int]]],
    seen: int,
    actor: User | None,
) -> None:
    row = alive(analysis, [point], seen)[0]
    groups: list[Group] = []
    fields = {}
    for text, keys in parts:
        require_at(analysis, row, keys)
        made = new_point(analysis, text)
        fields[made.pk] = {"state": State.SHOWN}
        groups.append((made.pk, False, keys))
    store(analysis, Edit(Verb.SPLIT, row, fields, groups), actor)
