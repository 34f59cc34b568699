"""The job that places new statements: behind key points that are there, or as proposed ones."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Max
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from argsum.analysis.models import Analysis, FoundPoint, Placement, PointChange
from argsum.datasets.models import CellArgument
from cqa_site.people.access import record
from cqa_site.people.models import User
from cqa_site.runs.jobs import JobRefused, Work
from cqa_site.runs.models import Job

from .counting import count_analysis, count_points
from .edits import Edit, EditRefused, editing, keep
from .making import REFUSED, in_words, keep_placements, said_by
from .starting import PLACE, AnalysisRefused, enqueue_for, statements_of, subject_of
from .tools import ScorerTools, analysis_of

State = FoundPoint.State
# Statements that say what a key point is about, and the fewest that are proposed as a new one.
BEHIND = 100
FEWEST = 2


@dataclass(frozen=True)
class Fitted:
    """New statements, the key point of each by primary key, its score, and clusters of the rest.

    ``proposed`` are texts of new key points; ``clusters`` their positions in it, -1 for none.
    """

    keys: Sequence[int]
    points: Sequence[int | None]
    scores: Sequence[float]
    proposed: Sequence[str]
    clusters: Sequence[int]


def new_statements(analysis: Analysis) -> int:
    """How many statements of the cell were not there when it was last gone through."""
    return max(0, statements_of(analysis.cell).order_by().count() - analysis.statements)


def new_comments(analysis: Analysis) -> int:
    """How many comments came since; statements where the cell has no comments."""
    comments = analysis.cell.comments.order_by().count()
    return max(0, comments - analysis.comments) if comments else new_statements(analysis)


@transaction.atomic
def place_new_comments(*, analysis: Analysis, actor: User | None) -> Job:
    """Have a worker place what came since; raises AnalysisRefused if nothing did."""
    if analysis.state != Analysis.State.DONE:
        raise AnalysisRefused(_("The analysis is not done yet."))
    if not new_statements(analysis) and not new_comments(analysis):
        raise AnalysisRefused(_("No comment has come since."))
    record(
        study=analysis.study, actor=actor, verb="comments_placing", subject=subject_of(analysis)
    )
    return enqueue_for(analysis, PLACE, actor)


def place_statements(work: Work) -> None:
    """Handle a job: what was placed before, by machine or by hand, stays where it is."""
    analysis = analysis_of(work)
    if analysis.state != Analysis.State.DONE:
        return
    try:
        fitted = _fit(analysis, work)
        with editing(analysis) as held:
            # Whoever edits locks the analysis before anything else, too.
            work.finish()
            _store(held, fitted, work.job.created_by)
    except (*REFUSED, EditRefused) as problem:
        raise JobRefused(in_words(problem)) from None


def _fit(analysis: Analysis, work: Work) -> Fitted:
    from argsum.analysis.methods.finding import NONE, find_points, place_new

    known = Placement.objects.filter(analysis=analysis).values_list("argument", flat=True)
    seen = set(known.iterator())
    rows = statements_of(analysis.cell).values_list("pk", "text")
    new = [(pk, text) for pk, text in rows.iterator() if pk not in seen]
    keys, texts = [pk for pk, _text in new], [text for _pk, text in new]
    shown = list(analysis.points.filter(state=State.SHOWN).order_by("position"))
    behind = [_behind(analysis, each) for each in shown]
    tools = ScorerTools(analysis, work)
    placed, scores = place_new(texts, [each.text for each in shown], behind, tools)
    rest = [row for row, place in enumerate(placed) if place == NONE]
    proposed: list[str] = []
    clusters = [NONE] * len(keys)
    if len(rest) >= FEWEST:
        counts = said_by([keys[row] for row in rest])
        found = find_points([texts[row] for row in rest], tools, counts=counts)
        sizes = [found.placed.count(place) for place in range(len(found.points))]
        kept = [place for place, size in enumerate(sizes) if size >= FEWEST]
        proposed = [found.points[place] for place in kept]
        for row, place, score in zip(rest, found.placed, found.scores, strict=True):
            if place in kept:
                clusters[row], scores[row] = kept.index(place), score
    points = [shown[place].pk if place != NONE else None for place in placed]
    return Fitted(keys, points, scores, proposed, clusters)


def _behind(analysis: Analysis, point: FoundPoint) -> list[str]:
    """The best statements behind a key point, those that people placed before others."""
    rows = Placement.objects.filter(analysis=analysis, point=point)
    rows = rows.order_by("-is_by_hand", "-score", "argument_id")
    return list(rows.values_list("argument__text", flat=True)[:BEHIND])


def _store(analysis: Analysis, fitted: Fitted, actor: User | None) -> None:
    """Inside `editing`; key points may have been merged or removed while the worker computed."""
    comments = new_comments(analysis)
    now = _where_now(analysis)
    last = analysis.points.aggregate(last=Max("position"))["last"] or 0
    analysis.revision += 1
    made = FoundPoint.objects.bulk_create(
        FoundPoint(
            analysis=analysis,
            position=last + place,
            text=text,
            written=text,
            origin=FoundPoint.Origin.PROPOSED,
            state=State.PROPOSED,
            revision=analysis.revision,
        )
        for place, text in enumerate(fitted.proposed, start=1)
    )
    points = [
        now.get(point) if point is not None else made[place].pk if place >= 0 else None
        for point, place in zip(fitted.points, fitted.clusters, strict=True)
    ]
    # A statement that was removed meanwhile is no more; one that is placed already stays.
    there = set(CellArgument.objects.filter(cell=analysis.cell).values_list("pk", flat=True))
    there -= set(analysis.placements.values_list("argument", flat=True))
    rows = zip(fitted.keys, points, fitted.scores, strict=True)
    keep_placements(analysis, (row for row in rows if row[0] in there))
    count_points(analysis)
    count_analysis(analysis)
    analysis.save(update_fields=["statements", "comments", "facets"])
    Analysis.objects.filter(pk=analysis.pk).update(placed_at=Now())
    after = {"comments": comments, "proposed": len(made)}
    keep(analysis, Edit(PointChange.Verb.PLACED), actor, number=len(fitted.keys), after=after)


def _where_now(analysis: Analysis) -> dict[int, int | None]:
    """Key point → the one that it is part of now; None where it is no more."""
    rows = {each.pk: each for each in analysis.points.only("pk", "state", "merged_into_id")}
    found: dict[int, int | None] = {}
    for pk, row in rows.items():
        while row.state == State.MERGED and row.merged_into_id is not None:
            row = rows[row.merged_into_id]
        found[pk] = row.pk if row.state in FoundPoint.ALIVE else None
    return found
