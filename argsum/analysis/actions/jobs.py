"""Background jobs: find key points, place new statements, split a key point."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import repeat, zip_longest
from typing import Any

from django.db import transaction
from django.db.models import Count
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from argsum.analysis.methods.key_points import ClusteringResult
from argsum.analysis.models import Analysis, FoundPoint, Placement, PointChange
from argsum.analysis.reports.mentions import BEST_FIRST
from argsum.datasets.methods.statements import language_of
from argsum.datasets.models import CellArgument, CommentStatement
from argsum.scorers.actions.models import ScorerRefused
from cqa_site.judging.embedding import EmbeddingsUnavailable
from cqa_site.people.models import User
from cqa_site.runs.jobs import JobContext, StaleWorker, enqueue, refusing
from cqa_site.runs.models import Job
from cqa_site.web.bulk_queries import insert_like
from .analyses import (
    PIECE,
    PLACE,
    SPLIT,
    AnalysisRefused,
    ScorerTools,
    analysis_of,
    count_analysis,
    count_points,
    enqueue_for,
    record_work,
    statements_of,
)
from .edits import (
    Edit,
    EditRefused,
    alive,
    editing,
    keep,
    new_point,
    new_points,
    require_at,
    store,
)
from .placing import Move
from .voices import group_comments

# The analysis job reads forward from the first statement, and other workers read backward from the
# last. Each worker finds on disk what the others have read, so none waits, and a crashed worker
# loses only its own share.
JOB = "analysis_reading"
# Statements per job, which take about a minute. Fewer are not worth starting another worker.
SHARE = 5 * PIECE


def ask_for_help(analysis: Analysis, statements: int) -> None:
    """Queue shares of statements, last share first; the analysis job starts with the first one."""
    for start in reversed(range(SHARE, statements, SHARE)):
        about: Any = {
            "key": f"{analysis.public_id}:{start}",
            "analysis": analysis.pk,
            "start": start,
        }
        enqueue(study=analysis.study, kind=JOB, actor=analysis.created_by, **about)


def read_share(work: JobContext) -> None:
    """Run a job that stores the vectors of a share, unless the analysis no longer needs them."""
    try:
        analysis = analysis_of(work)
    except Analysis.DoesNotExist:
        return
    if analysis.state not in Analysis.ACTIVE:
        return
    start = work.payload["start"]
    rows = statements_of(analysis.cell).values_list("text", flat=True)
    ScorerTools(analysis, work).vectors(list(rows[start : start + SHARE]))


AnalysisState = Analysis.State
PLACEMENT_PIECE = 5_000
# Errors that the person who started the job can fix. They see the reason.
REFUSED = (AnalysisRefused, ScorerRefused, EmbeddingsUnavailable, MemoryError)


def make_analysis(work: JobContext) -> None:
    """Find the key points of a cell, and store them only when all are finished."""
    analysis = analysis_of(work)
    rows = Analysis.objects.filter(pk=analysis.pk, state__in=Analysis.ACTIVE)
    if not rows.update(state=AnalysisState.RUNNING, job=work.job):
        return
    with refusing(REFUSED, partial(_fail, analysis), in_words):
        _make(analysis, work)


def in_words(problem: Exception) -> str:
    """Return the message that users see for an error."""
    return str(problem) or _("There are too many statements for this machine's memory.")


def said_by(keys: list[int]) -> list[int]:
    """Return the number of comments with each statement, or 1 if no comment contains it."""
    counts: dict[int, int] = {}
    for start in range(0, len(keys), PLACEMENT_PIECE):
        rows = CommentStatement.objects.filter(argument__in=keys[start : start + PLACEMENT_PIECE])
        grouped = rows.order_by().values_list("argument")
        counts.update(grouped.annotate(n=Count("comment", distinct=True)))
    return [counts.get(key, 1) for key in keys]


def _make(analysis: Analysis, work: JobContext) -> None:
    from argsum.analysis.methods.key_points import find_points

    begun = time.monotonic()
    rows = list(statements_of(analysis.cell).values_list("pk", "text"))
    keys, texts = [pk for pk, _text in rows], [text for _pk, text in rows]
    del rows
    ask_for_help(analysis, len(texts))
    group_comments(analysis.cell, work.progress)
    tools = ScorerTools(analysis, work)
    counts, language = said_by(keys), language_of(texts)
    result = find_points(texts, tools, counts=counts)
    work.step(99, 100, _("storing"))
    with transaction.atomic():
        held = Analysis.objects.select_for_update(of=("self",)).get(pk=analysis.pk)
        if held.state != AnalysisState.RUNNING:
            raise StaleWorker
        work.finish()
        _store_analysis(held, keys, result)
        held.cutoff, held.language, held.sure_from = result.cutoff, language, tools.sure_from
        held.state, held.error = AnalysisState.DONE, ""
        held.seconds = round(time.monotonic() - begun, 2)
        held.save()
        Analysis.objects.filter(pk=held.pk).update(done_at=Now(), placed_at=Now())


def _store_analysis(analysis: Analysis, keys: list[int], result: ClusteringResult) -> None:
    themes, distinct = result.themes or repeat(""), result.distinct or repeat(None)
    found_points = zip(result.points, themes, distinct, strict=False)
    points = FoundPoint.objects.bulk_create(
        [
            FoundPoint(
                analysis=analysis,
                position=place,
                text=text,
                written=text,
                theme=theme,
                distinctness=distinctness,
            )
            for place, (text, theme, distinctness) in enumerate(found_points, start=1)
        ],
        batch_size=PLACEMENT_PIECE,
    )
    at = [points[place].pk if place >= 0 else None for place in result.placed]
    keep_placements(analysis, zip(keys, at, result.scores, result.sure, strict=True))
    count_analysis(analysis)
    count_points(analysis)


@transaction.atomic(savepoint=False)
def keep_placements(
    analysis: Analysis, rows: Iterable[tuple[int, int | None, float, bool]]
) -> None:
    """Store placements: statements and key points (by primary key), scores, and which are sure.

    No model objects are created: 130,000 of them took five seconds of CPU time, while SQLite
    blocked other writers.
    """
    insert_like(Placement(analysis=analysis), ["argument", "point", "score", "is_sure"], rows)


def _fail(analysis: Analysis, message: str) -> None:
    Analysis.objects.filter(pk=analysis.pk, state=AnalysisState.RUNNING).update(
        state=AnalysisState.FAILED, error=message
    )


PointState, Verb = FoundPoint.State, PointChange.Verb
# Number of statements that represent a key point, and the minimum to propose a new one.
BEHIND = 100
FEWEST = 2


@dataclass(frozen=True)
class StatementPlacement:
    """New statements with their key points (primary keys) and scores, and clusters of the rest.

    ``proposed`` are texts of new key points, and ``clusters`` are positions in ``proposed``, or
    -1. ``near`` are the nearest key points with a theme; empty if no key point has a theme.
    """

    keys: Sequence[int]
    points: Sequence[int | None]
    scores: Sequence[float]
    sure: Sequence[bool]
    proposed: Sequence[str]
    clusters: Sequence[int]
    near: Sequence[int]


def new_statements(analysis: Analysis) -> int:
    """Return the number of statements added to the cell since the analysis last read it."""
    return max(0, statements_of(analysis.cell).order_by().count() - analysis.statements)


def new_comments(analysis: Analysis) -> int:
    """Return the number of new comments, or of new statements in a cell without comments."""
    comments = analysis.cell.comments.order_by().count()
    return max(0, comments - analysis.comments) if comments else new_statements(analysis)


@transaction.atomic
def place_new_comments(*, analysis: Analysis, actor: User | None) -> Job:
    """Queue a job that places new comments; raises AnalysisRefused if there are none."""
    if analysis.state != Analysis.State.DONE:
        raise AnalysisRefused(_("The analysis is not finished yet."))
    if not new_statements(analysis) and not new_comments(analysis):
        raise AnalysisRefused(_("There are no new comments."))
    record_work(analysis, actor, "comments_placing")
    return enqueue_for(analysis, PLACE, actor)


def place_statements(work: JobContext) -> None:
    """Run a job that places new statements.

    Earlier placements, by machine or by hand, do not change.
    """
    analysis = analysis_of(work)
    if analysis.state != Analysis.State.DONE:
        return
    with refusing((*REFUSED, EditRefused), in_words=in_words):
        fitted = _fit(analysis, work)
        with editing(analysis) as held:
            # Edits lock the analysis first, too.
            work.finish()
            _store_placements(held, fitted, work.job.created_by)


def _fit(analysis: Analysis, work: JobContext) -> StatementPlacement:
    from argsum.analysis.methods.key_points import NONE, find_points, nearest_points, place_new

    group_comments(analysis.cell, work.progress)
    known = Placement.objects.filter(analysis=analysis).values_list("argument", flat=True)
    seen = set(known.iterator())
    rows = statements_of(analysis.cell).values_list("pk", "text")
    new = [(pk, text) for pk, text in rows.iterator() if pk not in seen]
    keys, texts = [pk for pk, _text in new], [text for _pk, text in new]
    targets = list(analysis.points.filter(state=PointState.SHOWN).order_by("position"))
    behind = [_behind(analysis, point) for point in targets]
    tools = ScorerTools(analysis, work)
    placed, scores, sure = place_new(texts, [point.text for point in targets], behind, tools)
    rest = [row for row, place in enumerate(placed) if place == NONE]
    proposed: list[str] = []
    clusters = [NONE] * len(keys)
    if len(rest) >= FEWEST:
        counts = said_by([keys[row] for row in rest])
        result = find_points([texts[row] for row in rest], tools, counts=counts)
        sizes = [result.placed.count(place) for place in range(len(result.points))]
        places = [place for place, size in enumerate(sizes) if size >= FEWEST]
        proposed = [result.points[place] for place in places]
        for row, place, score, is_sure in zip(
            rest, result.placed, result.scores, result.sure, strict=True
        ):
            if place in places:
                clusters[row], scores[row], sure[row] = places.index(place), score, is_sure
    points = [targets[place].pk if place != NONE else None for place in placed]
    themed = [point for point in targets if point.theme]
    nearest = nearest_points(proposed, [point.text for point in themed], tools)
    near = [themed[place].pk for place in nearest]
    return StatementPlacement(keys, points, scores, sure, proposed, clusters, near)


def _behind(analysis: Analysis, point: FoundPoint) -> list[str]:
    """Return the best statements of a key point, those placed by hand first."""
    rows = Placement.objects.filter(analysis=analysis, point=point)
    rows = rows.order_by(*BEST_FIRST)
    return list(rows.values_list("argument__text", flat=True)[:BEHIND])


def _store_placements(analysis: Analysis, fitted: StatementPlacement, actor: User | None) -> None:
    """Store placements. Call inside `editing`.

    Key points may have been merged or removed since the placements were computed.
    """
    comments = new_comments(analysis)
    now = _where_now(analysis)
    # Their current texts.
    themes = dict(analysis.points.values_list("pk", "theme"))
    near = [themes.get(now.get(point) or 0, "") for point in fitted.near]
    analysis.revision += 1
    worded = zip_longest(fitted.proposed, near, fillvalue="")
    about = {"origin": FoundPoint.Origin.PROPOSED, "state": PointState.PROPOSED}
    proposals = new_points(analysis, worded, **about)
    points = [
        now.get(point) if point is not None else proposals[place].pk if place >= 0 else None
        for point, place in zip(fitted.points, fitted.clusters, strict=True)
    ]
    # Statements that were removed meanwhile are skipped, and those already placed stay.
    there = set(CellArgument.objects.filter(cell=analysis.cell).values_list("pk", flat=True))
    there -= set(analysis.placements.values_list("argument", flat=True))
    rows = zip(fitted.keys, points, fitted.scores, fitted.sure, strict=True)
    keep_placements(analysis, (row for row in rows if row[0] in there))
    count_analysis(analysis)
    count_points(analysis)
    counts = ["statements", "comments", "facets", "voices", "voices_revision"]
    analysis.save(update_fields=counts)
    Analysis.objects.filter(pk=analysis.pk).update(placed_at=Now())
    after = {"comments": comments, "proposed": len(proposals)}
    keep(analysis, Edit(Verb.PLACED), actor, number=len(fitted.keys), after=after)


def _where_now(analysis: Analysis) -> dict[int, int | None]:
    """Map each key point to itself, to the one it was merged into, or to None if removed."""
    rows = {point.pk: point for point in analysis.points.only("pk", "state", "merged_into_id")}
    targets: dict[int, int | None] = {}
    for pk, row in rows.items():
        while row.state == PointState.MERGED and row.merged_into_id is not None:
            row = rows[row.merged_into_id]
        targets[pk] = row.pk if row.state in FoundPoint.ALIVE else None
    return targets


FEWEST_STATEMENTS = 4


@transaction.atomic
def ask_to_split(*, analysis: Analysis, actor: User, point: FoundPoint, seen: int) -> Job:
    """Queue a job that splits a key point; raises EditRefused if it has too few statements."""
    row = alive(analysis, [point], seen)[0]
    if row.statements < FEWEST_STATEMENTS:
        raise EditRefused(
            _("There are too few statements to split automatically. Choose some by hand.")
        )
    return enqueue_for(analysis, SPLIT, actor, point=row.pk, seen=seen)


def split_by_itself(work: JobContext) -> None:
    """Run a job that splits a key point: its largest part stays, the others become new key points.

    Statements that people placed or that fit no part also stay.
    """
    analysis = analysis_of(work)
    point = FoundPoint.objects.get(analysis=analysis, pk=work.payload["point"])
    with refusing((*REFUSED, EditRefused), in_words=in_words):
        parts = _parts(analysis, point, work)
        with editing(analysis) as held:
            work.finish()
            _store_parts(held, point, parts, work.payload["seen"], work.job.created_by)


def _parts(analysis: Analysis, point: FoundPoint, work: JobContext) -> list[tuple[str, list[int]]]:
    """Return the texts of all parts but the largest, with their statements, larger parts first."""
    from argsum.analysis.methods.key_points import find_points

    rows = Placement.objects.filter(analysis=analysis, point=point, is_by_hand=False)
    pairs = list(rows.order_by("argument_id").values_list("argument", "argument__text"))
    keys, texts = [pk for pk, _text in pairs], [text for _pk, text in pairs]
    result = find_points(texts, ScorerTools(analysis, work), counts=said_by(keys))
    parts: list[list[int]] = [[] for _text in result.points]
    for key, place in zip(keys, result.placed, strict=True):
        if place >= 0:
            parts[place].append(key)
    groups = [
        (text, own) for text, own in zip(result.points, parts, strict=True) if len(own) >= FEWEST
    ]
    groups.sort(key=lambda part: -len(part[1]))
    if len(groups) < 2:
        raise EditRefused(_("No separate parts were found. Choose some statements by hand."))
    return groups[1:]


def _store_parts(
    analysis: Analysis,
    point: FoundPoint,
    parts: list[tuple[str, list[int]]],
    seen: int,
    actor: User | None,
) -> None:
    row = alive(analysis, [point], seen)[0]
    moves = []
    fields = {}
    for text, keys in parts:
        require_at(analysis, row, keys)
        part = new_point(analysis, text, row.theme)
        fields[part.pk] = {"state": PointState.SHOWN}
        moves.append(Move(row.pk, part.pk, False, keys))
    store(analysis, Edit(Verb.SPLIT, row, fields, moves=moves), actor)
