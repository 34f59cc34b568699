"""Scorers of a study: default and new scorers, stored scores, and trial scores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from argsum.datasets.models import CellArgument, Dataset
from argsum.scorers.models import SHIPPED_MATCH, SHIPPED_QUALITY, Scorer
from argsum.systems.methods.inputs import MatchScorer, QualityScorer, Scores
from cqa_site.judging.embedding import PACKAGED_MODEL, EmbeddingsUnavailable
from cqa_site.people.access import record
from cqa_site.people.models import Study, User
from cqa_site.runs.jobs import JobContext, enqueue, refusing
from cqa_site.runs.models import Job
from .models import (
    BiEncoder,
    CrossEncoder,
    QualityColumn,
    Regressor,
    ScorerRefused,
    kept,
    key_of,
    model_key,
    resolve,
    source_of,
    texts_key,
    weights_hash,
)

Task, Kind, State = Scorer.Task, Scorer.Kind, Scorer.State
# The default scorers, created when the scorers of a study are first read.
MATCH, QUALITY, COLUMN = "Counterpoint match", "Counterpoint quality", "Imported quality"
DEFAULTS: tuple[dict[str, Any], ...] = (
    {"name": MATCH, "task": Task.MATCH, "kind": Kind.BI_ENCODER, "base_model": SHIPPED_MATCH},
    {
        "name": "MiniLM (not tuned)",
        "task": Task.MATCH,
        "kind": Kind.BI_ENCODER,
        "base_model": PACKAGED_MODEL,
    },
    {"name": QUALITY, "task": Task.QUALITY, "kind": Kind.REGRESSOR, "base_model": SHIPPED_QUALITY},
    {"name": COLUMN, "task": Task.QUALITY, "kind": Kind.COLUMN},
)
KINDS: dict[str, tuple[Scorer.Kind, ...]] = {
    Task.MATCH: (Kind.BI_ENCODER, Kind.CROSS_ENCODER),
    Task.QUALITY: (Kind.COLUMN, Kind.REGRESSOR, Kind.CROSS_ENCODER),
}


def first_scorers(study: Study) -> dict[str, Scorer]:
    """Return the default scorers of a study by name, creating missing scorers."""
    names = [spec["name"] for spec in DEFAULTS]
    scorers = {scorer.name: scorer for scorer in study.scorers.filter(name__in=names)}
    for default in DEFAULTS:
        if default["name"] not in scorers:
            scorers[default["name"]] = _default(study, default)
    return scorers


def default_scorers(study: Study, dataset: Dataset | None = None) -> tuple[Scorer, Scorer]:
    """Return the default match and quality scorers.

    The default quality scorer is the imported quality if the arguments of the dataset have one.
    If no dataset is given, all arguments of the study count.
    """
    scorers = first_scorers(study)
    return scorers[MATCH], scorers[COLUMN if has_qualities(study, dataset) else QUALITY]


def has_qualities(study: Study, dataset: Dataset | None = None) -> bool:
    """Return whether any argument was imported with a quality."""
    rows = CellArgument.objects.filter(cell__dataset__study=study, quality__isnull=False)
    return (rows.filter(cell__dataset=dataset) if dataset else rows).exists()


def _default(study: Study, fields: dict) -> Scorer:
    usual = {key: value for key, value in fields.items() if key != "name"}
    if fields["kind"] != Kind.COLUMN:
        usual["sha256"] = weights_hash(resolve(fields["base_model"]))
    # `get_or_create` reads the row if another request has just created it.
    return Scorer.objects.get_or_create(study=study, name=fields["name"], defaults=usual)[0]


def add_scorer(
    *,
    study: Study,
    name: str,
    task: str,
    kind: str,
    actor: User | None,
    base_model: str = "",
    threshold: float | None = None,
    uses_topic: bool = False,
) -> Scorer:
    """Add a scorer without training: a model by name, or the imported column.

    Raises
    ------
    ScorerRefused
        If the name is taken, the kind does not fit the task, or the model name is invalid.
    """
    if kind not in KINDS.get(task, ()) or kind == Kind.REGRESSOR:
        raise ScorerRefused(_("A scorer for this task and method needs training."))
    scorer = Scorer(
        study=study,
        name=name,
        task=task,
        kind=kind,
        threshold=threshold,
        uses_topic=uses_topic,
        created_by=actor,
    )
    if kind != Kind.COLUMN:
        scorer.base_model = base_model
        # Hash the weights, possibly gigabytes, before the transaction.
        scorer.sha256 = weights_hash(source_of(scorer))
    with transaction.atomic():
        keep_new(scorer)
        record(study=study, actor=actor, verb="scorer_added", subject=name, model=base_model)
    return scorer


def keep_new(scorer: Scorer) -> None:
    """Store a new row. Raises ScorerRefused if the name is taken."""
    try:
        with transaction.atomic():
            scorer.save(force_insert=True)
    except IntegrityError:
        raise ScorerRefused(_("The study already has a scorer with this name.")) from None


def match_scorer_of(scorer: Scorer) -> MatchScorer:
    """Return a scorer of text pairs that stores matrices on disk and loads its model later.

    Raises
    ------
    ScorerRefused
        If the scorer is for another task, or is not ready.
    """
    _require(scorer, Task.MATCH)
    source = source_of(scorer)
    inner: BiEncoder | CrossEncoder
    if scorer.kind == Kind.BI_ENCODER:
        inner = BiEncoder(source, model_key(scorer), uses_topic=scorer.uses_topic)
    else:
        inner = CrossEncoder(source, uses_topic=scorer.uses_topic)
    return StoredMatrices(inner, f"{scorer.kind}:{model_key(scorer)}")


def quality_scorer_of(scorer: Scorer) -> QualityScorer:
    """Return a scorer of single arguments; a model's scores are stored on disk.

    Raises
    ------
    ScorerRefused
        If the scorer is for another task, or is not ready.
    """
    _require(scorer, Task.QUALITY)
    if scorer.kind == Kind.COLUMN:
        return QualityColumn(scorer.study_id)
    if scorer.kind == Kind.CROSS_ENCODER:
        reader = CrossEncoder(source_of(scorer), uses_topic=scorer.uses_topic)
        return StoredScores(reader, model_key(scorer))
    # The shipped regression uses vectors of the packaged model.
    is_shipped = scorer.base_model == SHIPPED_QUALITY
    source = PACKAGED_MODEL if is_shipped else resolve(scorer.base_model)
    embedding = BiEncoder(source, weights_hash(source))
    return Regressor(Path(source_of(scorer)), embedding)


def writer_called(study: Study, name: str) -> Scorer | None:
    """Return the study's trained writer with this name, in any state."""
    return study.scorers.filter(task=Task.WRITE, name=name).first()


class StoredMatrices:
    """A match scorer with its matrices stored on disk; see `argsum.scorers.actions.models`.

    ``key`` identifies the weights and their use, because the same weights may be used in two ways.
    """

    def __init__(self, inner: BiEncoder | CrossEncoder, key: str) -> None:
        self.inner, self.key = inner, key

    def matrix(self, rows: Sequence[str], columns: Sequence[str], *, topic: str = "") -> Scores:
        """Return scores, shape (r, c), mapped from the file."""
        prefix = topic if self.inner.uses_topic else ""
        # Version 2: the topic is also prepended to the columns.
        key = key_of("matrix 2", self.key, prefix, texts_key(rows), texts_key(columns))
        return kept(
            key,
            (len(rows), len(columns)),
            lambda out: self.inner.fill(out, rows, columns, topic=topic),
        )


class StoredScores:
    """A quality scorer with its scores stored on disk."""

    def __init__(self, inner: CrossEncoder, key: str) -> None:
        self.inner, self.key = inner, key

    def scores(self, arguments: Sequence[str], *, topic: str = "") -> Scores:
        """Return quality, shape (n,)."""
        prefix = topic if self.inner.uses_topic else ""
        key = key_of("quality", self.key, prefix, texts_key(arguments))
        return kept(
            key,
            (len(arguments),),
            lambda out: np.copyto(out, self.inner.scores(arguments, topic=topic)),
        )


def _require(scorer: Scorer, task: str) -> None:
    if scorer.task != task:
        raise ScorerRefused(_("“%s” is not a match scorer.") % scorer.name)
    if scorer.state != State.READY:
        raise ScorerRefused(_("“%s” is not ready.") % scorer.name)


# Trial scores are computed in a worker, so that no web process loads a model.

JOB = "try_scorer"


def request_try(*, scorer: Scorer, first: str, second: str, topic: str, actor: User | None) -> Job:
    """Queue a trial score, which appears in the job's note. Raises ScorerRefused."""
    if scorer.state != Scorer.State.READY:
        raise ScorerRefused(_("“%s” is not ready.") % scorer.name)
    if scorer.task == Scorer.Task.WRITE:
        raise ScorerRefused(_("“%s” is a writer and cannot score.") % scorer.name)
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


def try_scorer(work: JobContext) -> None:
    """Handle a job: compute a trial score."""
    payload = work.payload
    scorer = Scorer.objects.get(study=work.study, public_id=payload["scorer"])
    with refusing((ScorerRefused, EmbeddingsUnavailable)):
        score = _score(scorer, payload["first"], payload["second"], payload["topic"])
    work.progress(1, 1, in_words(scorer, score))


def in_words(scorer: Scorer, score: float) -> str:
    """Return the score as text, and whether it exceeds the threshold."""
    if np.isnan(score):
        return _("No argument in the study has this text and a quality score.")
    text = f"{score:.3f}"
    if scorer.task == Scorer.Task.QUALITY:
        return _("Quality %s") % text
    if scorer.threshold is None:
        return _("Score %s; the scorer has no threshold") % text
    limit = f"{scorer.threshold:.3f}"
    if score > scorer.threshold:
        return _("Score %(s)s: a match, above %(t)s") % {"s": text, "t": limit}
    return _("Score %(s)s: no match, not above %(t)s") % {"s": text, "t": limit}


def _score(scorer: Scorer, first: str, second: str, topic: str) -> float:
    if scorer.task == Scorer.Task.MATCH:
        return float(match_scorer_of(scorer).matrix([first], [second], topic=topic)[0, 0])
    return float(quality_scorer_of(scorer).scores([first], topic=topic)[0])
