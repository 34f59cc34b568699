"""The job behind an analysis: read the statements, find key points, store all of it at once."""

import time
from collections.abc import Iterable

from django.db import transaction
from django.db.models import Count
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from argsum.analysis.methods.finding import Found
from argsum.analysis.models import Analysis, FoundPoint, Placement
from argsum.datasets.methods.language import language_of
from argsum.datasets.models import CommentStatement
from argsum.scorers.actions.models import ScorerRefused
from cqa_site.judging.embedding import EmbeddingsUnavailable
from cqa_site.runs.jobs import JobRefused, StaleWorker, Work
from cqa_site.runs.ledger.writing import insert_like

from .counting import count_analysis, count_points
from .reading import ask_for_help
from .starting import AnalysisRefused, statements_of
from .tools import ScorerTools, analysis_of

State = Analysis.State
PIECE = 5_000
# Whoever asked can do something about these, and reads why.
REFUSED = (AnalysisRefused, ScorerRefused, EmbeddingsUnavailable, MemoryError)


def make_analysis(work: Work) -> None:
    """Find the key points of a cell; nothing is stored before all of it is."""
    analysis = analysis_of(work)
    rows = Analysis.objects.filter(pk=analysis.pk, state__in=Analysis.ACTIVE)
    if not rows.update(state=State.RUNNING, job=work.job):
        return
    try:
        _make(analysis, work)
    except REFUSED as problem:
        message = in_words(problem)
        _fail(analysis, message)
        raise JobRefused(message) from None
    except StaleWorker:
        raise
    except Exception:
        _fail(analysis, _("An unexpected error; the server's log has the details."))
        raise


def in_words(problem: Exception) -> str:
    """What a person reads about it."""
    return str(problem) or _("There are too many statements for the memory of this machine.")


def said_by(keys: list[int]) -> list[int]:
    """How many comments say each statement; 1 for one that is no part of a comment."""
    found: dict[int, int] = {}
    for start in range(0, len(keys), PIECE):
        rows = CommentStatement.objects.filter(argument__in=keys[start : start + PIECE])
        grouped = rows.order_by().values_list("argument")
        found.update(grouped.annotate(n=Count("comment", distinct=True)))
    return [found.get(key, 1) for key in keys]


def _make(analysis: Analysis, work: Work) -> None:
    from argsum.analysis.methods.finding import find_points

    begun = time.monotonic()
    rows = list(statements_of(analysis.cell).values_list("pk", "text"))
    keys, texts = [pk for pk, _text in rows], [text for _pk, text in rows]
    del rows
    ask_for_help(analysis, len(texts))
    tools = ScorerTools(analysis, work)
    counts, language = said_by(keys), language_of(texts)
    setting = analysis.options.get("setting", "")
    try:
        found = find_points(texts, tools, counts=counts, setting=setting)
    except (KeyError, ValueError):
        if not setting:
            raise
        raise AnalysisRefused(
            _("There is no setting “%s” for these comments.") % setting
        ) from None
    work.step(99, 100, _("storing"))
    with transaction.atomic():
        held = Analysis.objects.select_for_update(of=("self",)).get(pk=analysis.pk)
        if held.state != State.RUNNING:
            raise StaleWorker
        work.finish()
        _store(held, keys, found)
        held.choice, held.language = found.choice(), language
        held.state, held.error = State.DONE, ""
        held.seconds = round(time.monotonic() - begun, 2)
        held.save()
        Analysis.objects.filter(pk=held.pk).update(done_at=Now(), placed_at=Now())


def _store(analysis: Analysis, keys: list[int], found: Found) -> None:
    points = FoundPoint.objects.bulk_create(
        [
            FoundPoint(analysis=analysis, position=place, text=text, written=text)
            for place, text in enumerate(found.points, start=1)
        ],
        batch_size=PIECE,
    )
    at = [points[place].pk if place >= 0 else None for place in found.placed]
    keep_placements(analysis, zip(keys, at, found.scores, strict=True))
    count_points(analysis)
    count_analysis(analysis)


@transaction.atomic(savepoint=False)
def keep_placements(analysis: Analysis, rows: Iterable[tuple[int, int | None, float]]) -> None:
    """Store statements, key points and scores, the first two by primary key.

    On SQLite nobody else writes meanwhile: 130,000 took five seconds of the processor as objects.
    """
    insert_like(Placement(analysis=analysis), ["argument", "point", "score"], rows)


def _fail(analysis: Analysis, message: str) -> None:
    Analysis.objects.filter(pk=analysis.pk, state=State.RUNNING).update(
        state=State.FAILED, error=message
    )
