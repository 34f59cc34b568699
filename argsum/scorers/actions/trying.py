"""Score two texts on the spot: in a worker, so that no web process loads a model."""

from __future__ import annotations

from uuid import uuid4

import numpy as np
from django.utils.translation import gettext as _

from argsum.scorers.models import Scorer
from cqa_site.judging.embedding import EmbeddingsUnavailable
from cqa_site.people.models import User
from cqa_site.runs.jobs import JobRefused, Work, enqueue
from cqa_site.runs.models import Job

from .models import ScorerRefused
from .scorers import match_scorer_of, quality_scorer_of

JOB = "try_scorer"


def request_try(*, scorer: Scorer, first: str, second: str, topic: str, actor: User | None) -> Job:
    """Ask for one score; the note of the job says it. Raises ScorerRefused."""
    if scorer.state != Scorer.State.READY:
        raise ScorerRefused(_("“%s” is not ready.") % scorer.name)
    if scorer.task == Scorer.Task.WRITE:
        raise ScorerRefused(_("“%s” writes; it scores nothing.") % scorer.name)
    return enqueue(
        study=scorer.study,
        kind=JOB,
        key=uuid4().hex,
        actor=actor,
        scorer=str(scorer.public_id),
        first=first,
        second=second,
        topic=topic,
    )


def try_scorer(work: Work) -> None:
    """Handle a job."""
    asked = work.payload
    scorer = Scorer.objects.get(study=work.study, public_id=asked["scorer"])
    try:
        score = _score(scorer, asked["first"], asked["second"], asked["topic"])
    except (ScorerRefused, EmbeddingsUnavailable) as reason:
        raise JobRefused(str(reason)) from reason
    work.progress(1, 1, in_words(scorer, score))


def in_words(scorer: Scorer, score: float) -> str:
    """The score, and on which side of the threshold it is."""
    if np.isnan(score):
        return _("No argument of the study has this text and a quality.")
    shown = f"{score:.3f}"
    if scorer.task == Scorer.Task.QUALITY:
        return _("Quality %s") % shown
    if scorer.threshold is None:
        return _("Score %s; the scorer has no threshold") % shown
    limit = f"{scorer.threshold:.3f}"
    if score > scorer.threshold:
        return _("Score %(s)s: a match, above %(t)s") % {"s": shown, "t": limit}
    return _("Score %(s)s: no match, not above %(t)s") % {"s": shown, "t": limit}


def _score(scorer: Scorer, first: str, second: str, topic: str) -> float:
    if scorer.task == Scorer.Task.MATCH:
        return float(match_scorer_of(scorer).matrix([first], [second], topic=topic)[0, 0])
    return float(quality_scorer_of(scorer).scores([first], topic=topic)[0])
