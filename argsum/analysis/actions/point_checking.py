"""The job that looks whether written key points fit: those that do become edits.

A text fits if it matches the statements behind its own key point better, on average, than those
behind any other one. One that does not is asked for again, with what was refused and why. Edits
come first and further requests with the end of the job, each in one transaction: a worker that
dies leaves nothing to be paid twice.
"""

from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext as _

from argsum.analysis.models import Analysis, FoundPoint, Placement, PointChange, WrittenPoint
from argsum.analysis.reports.written import Asked
from cqa_site.people.models import User
from cqa_site.runs.actions.runs import RunRefused, ask_more
from cqa_site.runs.jobs import JobRefused, Work
from cqa_site.runs.kinds import Subject
from cqa_site.runs.ledger.gates import locked_gate
from cqa_site.runs.models import Run

from .edits import Edit, EditRefused, alive, editing, store
from .making import REFUSED, in_words
from .point_writing import ATTEMPTS
from .starting import statements_of
from .tools import ScorerTools, analysis_of

Verdict = WrittenPoint.Verdict
CHECKED = ["verdict", "nearest", "scores", "note"]


def check_written(work: Work) -> None:
    """Handle a job; nothing is written for a run that was cancelled."""
    analysis = analysis_of(work)
    if analysis.writing_id is None:
        return
    run = Run.objects.select_related("endpoint", "prompt", "study").get(pk=analysis.writing_id)
    try:
        while not _is_over(run, work):
            _check(analysis, run, work)
    except (*REFUSED, EditRefused, RunRefused) as problem:
        raise JobRefused(in_words(problem)) from None


def _is_over(run: Run, work: Work) -> bool:
    """End the job together with asking for what did not fit; False if there is more to check.

    Under the gate's lock, behind which replies are stored: none can come in between.
    """
    with transaction.atomic(), locked_gate(run.endpoint):
        run.refresh_from_db(fields=["state"])
        if run.state == Run.State.CANCELLED:
            work.finish()
            return True
        if _unchecked(run):
            return False
        ask_more(run=run, subjects=_again(run))
        work.finish()
        return True


def _unchecked(run: Run) -> list[WrittenPoint]:
    rows = run.written_points.filter(verdict=Verdict.UNCHECKED, point__isnull=False)
    return list(rows.exclude(text="").select_related("point", "call").order_by("pk"))


def _again(run: Run) -> list[Subject]:
    """Requests about what was refused; the engine leaves out those that were asked."""
    rows = run.written_points.filter(verdict=Verdict.REFUSED, attempt__lt=ATTEMPTS)
    ids = rows.order_by("pk").values_list("call__subject_ids", flat=True)
    return [Asked.of(each).again.subject for each in ids]


def _check(analysis: Analysis, run: Run, work: Work) -> None:
    rows = _unchecked(run)
    _look(rows, analysis, ScorerTools(analysis, work))
    with editing(analysis) as held:
        run.refresh_from_db(fields=["state"])
        if run.state == Run.State.CANCELLED:
            return
        for row in rows:
            if row.verdict == Verdict.UNCHECKED:
                _take(held, run, row, work.job.created_by)
        WrittenPoint.objects.bulk_update(rows, CHECKED, batch_size=200)
        work.step(99, 100, _("storing"))


def _look(rows: Sequence[WrittenPoint], analysis: Analysis, tools: ScorerTools) -> None:
    """Refuse what matches the statements of another key point as well as its own; not saved."""
    import numpy as np

    from argsum.analysis.methods.fitting import fits_of

    shown = analysis.points.filter(state=FoundPoint.State.SHOWN, statements__gt=0)
    points = list(shown.order_by("pk"))
    places = {each.pk: place for place, each in enumerate(points)}
    known = [row for row in rows if row.point_id in places]
    if not known:
        return
    tools.say(0.0, _("reading the statements"))
    placed, texts = _placed(analysis, places)
    # In the order of the analysis: their vectors are on disk since then.
    statements = tools.vectors(texts)
    tools.say(0.9, _("checking what was written"))
    written = tools.vectors([row.text for row in known])
    own = [places[row.point_id or 0] for row in known]
    fits = fits_of(written, own, statements, np.array(placed), len(points))
    for row, fit in zip(known, fits, strict=True):
        row.scores = [round(each, 4) for each in (fit.own, fit.other) if each is not None]
        if not fit.fits:
            row.verdict = Verdict.REFUSED
            row.nearest = points[fit.nearest or 0].text


def _placed(analysis: Analysis, places: dict[int, int]) -> tuple[list[int], list[str]]:
    """The place of the key point of each statement, -1 for none, and what it says."""
    at = dict(Placement.objects.filter(analysis=analysis).values_list("argument", "point"))
    pairs = list(statements_of(analysis.cell).values_list("pk", "text"))
    return [places.get(at.get(pk) or 0, -1) for pk, _text in pairs], [text for _pk, text in pairs]


def _take(analysis: Analysis, run: Run, row: WrittenPoint, actor: User | None) -> None:
    """Call a key point what was written, unless somebody changed it since the run began."""
    if row.point is None:
        return
    try:
        point = alive(analysis, [row.point], Asked.of(row.call.subject_ids).seen)[0]
    except EditRefused as reason:
        row.verdict, row.note = Verdict.CHANGED, str(reason)
        return
    others = analysis.points.filter(state__in=FoundPoint.ALIVE, text__iexact=row.text)
    if not point.statements:
        row.verdict, row.note = Verdict.CHANGED, _("No statement stands behind it any more.")
    elif others.exclude(pk=point.pk).exists():
        row.verdict, row.nearest = Verdict.REFUSED, row.text
    elif point.text == row.text:
        row.verdict = Verdict.SAME
    else:
        row.verdict = Verdict.TAKEN
        fields = {point.pk: {"text": row.text, "writer_id": run.pk}}
        store(analysis, Edit(PointChange.Verb.WRITTEN, point, fields), actor)
