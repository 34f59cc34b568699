"""Start, cancel, resume and delete analyses of comments, and update their counts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Count, Max, Min, ProtectedError
from django.utils.translation import gettext as _

from argsum.analysis.models import Analysis, FoundPoint, Placement
from argsum.analysis.reports.analyses import has_comments
from argsum.analysis.reports.voices import has_duplicates, voice_of, voices_of
from argsum.datasets.models import Cell, CellArgument, Comment, Dataset
from argsum.scorers.actions.encoders import (
    EncoderUnavailable,
    VectorReader,
    encoder_options,
    reader_of,
)
from argsum.scorers.actions.models import (
    BiEncoder,
    ScorerRefused,
    kept_rows,
    key_of,
    model_key,
    source_of,
    texts_key,
)
from argsum.scorers.actions.scorers import default_scorers, quality_scorer_of
from argsum.scorers.methods.encoders import SHIPPED, SURE_FROM, filler_classifier_in, side_by_side
from argsum.scorers.models import SHIPPED_MATCH, Scorer
from argsum.systems.methods.inputs import with_topic
from cqa_site.judging.embedding import side_in
from cqa_site.judging.encoders import MULTILINGUAL
from cqa_site.people.access import record
from cqa_site.people.models import Study, User
from cqa_site.runs.jobs import JobContext, cancel, enqueue
from cqa_site.runs.models import Job, Run

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from argsum.systems.methods.inputs import QualityScorer, Scores


PIECE = 2_000
MOST_COLUMNS, MOST_VALUES = 8, 40
# A column with more distinct values than this forms no groups: it is an id, a name or a text.
MOST_DIFFERENT = 400
LONGEST_VALUE = 120


def count_points(analysis: Analysis, points: Collection[int] | None = None) -> None:
    """Recount the evidence for all key points of an analysis, or for those with the given keys.

    Comments added after the last placement of statements do not count, as in `Analysis.comments`.
    """
    rows = FoundPoint.objects.filter(analysis=analysis)
    placed = Placement.objects.filter(analysis=analysis, point__isnull=False)
    if points is not None:
        rows, placed = rows.filter(pk__in=points), placed.filter(point__in=points)
    grouped = placed.order_by().values_list("point")
    statements: dict[int | None, int] = dict(grouped.annotate(n=Count("pk")))
    if analysis.cell.comments.count() > analysis.comments:
        grouped = grouped.filter(argument__said_in__comment__position__lte=analysis.comments)
    comments = voices = _counted(
        grouped, "argument__said_in__comment" if has_comments(analysis.cell) else "argument"
    )
    if has_duplicates(analysis.cell):
        voices = _counted(grouped, voice_of("argument__said_in__comment__"))
    names = ("statements", "comments", "sure_comments", "voices", "sure_voices")
    changed = []
    for point in rows.only("pk", *names):
        nothing = (0, 0)
        counts = (
            statements.get(point.pk, 0),
            *comments.get(point.pk, nothing),
            *voices.get(point.pk, nothing),
        )
        if counts != tuple(getattr(point, name) for name in names):
            for name, number in zip(names, counts, strict=True):
                setattr(point, name, number)
            changed.append(point)
    FoundPoint.objects.bulk_update(changed, names, batch_size=200)


def _counted(grouped: Any, unit: Any) -> dict[int, tuple[int, int]]:
    """Map key points to two counts of comments or voices: all, and those with a sure statement."""
    rows = grouped.annotate(
        n=Count(unit, distinct=True), sure=Count(unit, distinct=True, filter=Placement.SURE)
    )
    return {point: (n, sure) for point, n, sure in rows}


def count_analysis(analysis: Analysis) -> None:
    """Update the number of placed statements and the comment filters, without saving."""
    analysis.statements = analysis.placements.values("argument").distinct().count()
    analysis.comments = analysis.cell.comments.count() or analysis.statements
    analysis.facets = facets_of(analysis.cell)
    count_voices(analysis)


def count_voices(analysis: Analysis) -> None:
    """Update the number of voices among the comments of an analysis, without saving."""
    analysis.voices = voices_of(analysis.cell, analysis.comments)
    analysis.voices_revision += 1


def facets_of(cell: Cell) -> dict[str, Any]:
    """Return the filters for `Analysis.facets`, reading the comments once, in batches."""
    comments = Comment.objects.filter(cell=cell)
    attributes = comments.order_by().values_list("attributes", flat=True)
    dates = comments.aggregate(first=Min("written_on"), last=Max("written_on"))
    return {"attributes": _values(attributes.iterator(PIECE))} | {
        name: day.isoformat() if isinstance(day, date) else None for name, day in dates.items()
    }


def _values(rows: Iterable[dict[str, str]]) -> dict[str, list[tuple[str, int]]]:
    """Map columns that form groups to their values, the most frequent first."""
    counts: dict[str, dict[str, int]] = {}
    barred: set[str] = set()
    for attributes in rows:
        for column, value in attributes.items():
            if column in barred or not value:
                continue
            own = counts.setdefault(column, {})
            own[value] = own.get(value, 0) + 1
            if len(own) > MOST_DIFFERENT or len(value) > LONGEST_VALUE:
                barred.add(column)
                del counts[column]
    return {
        column: sorted(own.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_VALUES]
        for column, own in list(counts.items())[:MOST_COLUMNS]
    }


def require_vectors(scorer: Scorer) -> None:
    """Raise ScorerRefused unless the scorer is ready and reads one text at a time."""
    if scorer.task != Scorer.Task.MATCH:
        raise ScorerRefused(_("“%s” is not a match scorer.") % scorer.name)
    if scorer.state != Scorer.State.READY:
        raise ScorerRefused(_("“%s” is not ready.") % scorer.name)
    if scorer.kind != Scorer.Kind.BI_ENCODER:
        raise ScorerRefused(
            _(
                "“%s” reads both texts of a pair together, which is too slow here. Choose a "
                "bi-encoder."
            )
            % scorer.name
        )


def analysis_of(work: JobContext) -> Analysis:
    """Return a job's analysis, with its inputs."""
    rows = Analysis.objects.select_related("study", "cell", "match_scorer", "quality_scorer")
    return rows.get(study=work.study, pk=work.payload["analysis"])


class ScorerTools:
    """`AnalysisTools` for one analysis, loaded when the first text is read.

    Parameters
    ----------
    analysis
        The analysis, with its scorers and its cell.
    work
        Receives the progress, and raises StaleWorker if the job was cancelled or taken over.
    """

    def __init__(self, analysis: Analysis, work: JobContext) -> None:
        require_vectors(analysis.match_scorer)
        scorer = analysis.match_scorer
        self.work, self.topic = work, analysis.cell.topic
        self.prefix = self.topic if scorer.uses_topic else ""
        source = source_of(scorer)
        self.is_quick = statements_of(analysis.cell).count() > MOST_PRECISE
        self.encoder = BiEncoder(source, model_key(scorer), quick=self.is_quick)
        self.encoder_name = str(analysis.options.get("encoder", SHIPPED))
        self.other = reader_of(self.encoder_name, quick=self.is_quick)
        # Statements on one side of a debate praise and complain for the same reasons. The models
        # that detect sides and filler only work with vectors of the match scorer.
        has_match = self.encoder_name != MULTILINGUAL
        self.side = side_in(Path(source)) if has_match and not analysis.cell.stance else None
        self._filler = filler_classifier_in(Path(source)) if has_match else None
        is_shipped = scorer.base_model == SHIPPED_MATCH
        self.sure_from = SURE_FROM.get(self.encoder_name) if is_shipped else None
        self._grader: QualityScorer | None = None
        self._quality = analysis.quality_scorer
        self._share, self._until, self._what = 0.0, 0.0, ""

    @property
    def tells_sides(self) -> bool:
        """Return whether the vectors encode the side of a text."""
        return self.side is not None

    def say(self, share: float, what: str, until: float | None = None) -> None:
        """Report progress as a share (0–1). Reading texts then advances it to ``until``."""
        self._share, self._until, self._what = share, until or share, what
        # A model takes an unknown time to load, so there is no progress before the first text.
        self.work.progress(min(99, round(100 * share)), 100 if share else 0, what)

    def vectors(self, texts: Sequence[str]) -> Scores:
        """Return vectors of length 1, shape (n, d), read in batches from disk or from the model.

        If texts may take either side and the scorer separates sides, the vectors include the
        coordinates of `cqa_site.judging.embedding.SideClassifier`.
        """
        import numpy as np

        read = with_topic(texts, self.prefix)
        if not read:
            return np.zeros((0, 0), dtype=np.float32)
        parts = [self._read(read, reader) for reader in self._readers()]
        vectors = side_by_side(parts)
        return vectors if self.side is None else self.side.added(vectors, parts[0])

    def filler(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Return which texts are filler, shape (n,); all False if there is no filler model."""
        import numpy as np

        if self._filler is None or not texts:
            return np.zeros(len(texts), dtype=bool)
        vectors = self._read(with_topic(texts, self.prefix), self._readers()[0])
        return self._filler.is_filler(texts, vectors)

    def quality(self, texts: Sequence[str]) -> Scores:
        """Return the writing quality of each text, shape (n,), or nan if there is no scorer."""
        import numpy as np

        if self._quality is None:
            return np.full(len(texts), np.nan, dtype=np.float32)
        if self._grader is None:
            self._grader = quality_scorer_of(self._quality)
        scores = np.empty(len(texts), dtype=np.float32)
        for start in range(0, len(texts), PIECE):
            piece = texts[start : start + PIECE]
            scores[start : start + len(piece)] = self._grader.scores(piece, topic=self.topic)
            self.say(self._share, self._what)
        return scores

    def _readers(self) -> list[VectorReader]:
        """Return only the multilingual reader, or the match scorer's and an optional one."""
        if self.other is not None and self.encoder_name == MULTILINGUAL:
            return [self.other]
        own = VectorReader(self.encoder.key, self.encoder.embedder)
        return [own] if self.other is None else [own, self.other]

    def _read(self, texts: list[str], reader: VectorReader) -> Scores:
        import numpy as np

        places = range(0, len(texts), PIECE)
        pieces = [
            self._piece(texts[start : start + PIECE], reader, start, len(texts))
            for start in places
        ]
        return np.concatenate(pieces) if len(pieces) > 1 else pieces[0]

    def _piece(self, texts: list[str], reader: VectorReader, start: int, total: int) -> Scores:
        readers = self._readers()
        before = [held.key for held in readers].index(reader.key)

        def step(done: int, _piece: int) -> None:
            note = _("reading statement %(n)s of %(all)s")
            read = (before + (start + done) / total) / len(readers)
            share = self._share + (self._until - self._share) * read
            note %= {"n": f"{start + done:,}", "all": f"{total:,}"}
            self.work.progress(min(99, round(100 * share)), 100, note)

        what = "quick vectors" if self.is_quick else "vectors"
        key = key_of(what, reader.key, texts_key(texts))
        return kept_rows(key, len(texts), lambda: reader.embedder.encode(texts, step))


State = Analysis.State
MAKE, PLACE, SPLIT = "analysis", "analysis_place", "analysis_split"
CHECK, FOLLOW = "analysis_check_written", "analysis_follow_run"
MOST_CELLS = 50
MOST_STATEMENTS = 200_000
# Maximum number of statements read in full precision, which gives the same key points on every
# kind of processor. Larger sets use 16-bit instructions, which take less than half the time.
MOST_PRECISE = 6_000
FEWEST_STATEMENTS = 3


class AnalysisRefused(Exception):
    """The analysis cannot perform this action. The message gives the reason."""


@transaction.atomic
def start_analysis(
    *,
    study: Study,
    actor: User | None,
    cell: Cell,
    match_scorer: Scorer | None = None,
    quality_scorer: Scorer | None = None,
    encoder: str = "",
) -> Analysis:
    """Start a job that finds a cell's key points, or return an identical active analysis.

    The study's first scorers are used by default. ``encoder`` is an installed encoder or
    "shipped"; if it is empty, the language of the comments decides. Raises AnalysisRefused if the
    cell has too few or too many statements, or if a scorer or the encoder is unsuitable.
    """
    Study.objects.select_for_update().get(pk=study.pk)
    usual_match, usual_quality = default_scorers(study, cell.dataset)
    scorer = match_scorer or usual_match
    _refuse_unfit(study, cell, scorer)
    try:
        is_one_sided = cell.stance != Cell.Stance.NONE
        options = encoder_options(scorer, statements_of(cell), encoder, is_one_sided=is_one_sided)
    except EncoderUnavailable as reason:
        raise AnalysisRefused(str(reason)) from None
    fields: dict[str, Any] = {
        "cell": cell,
        "match_scorer": scorer,
        "quality_scorer": quality_scorer or usual_quality,
        "options": options,
    }
    same = study.analyses.filter(state__in=Analysis.ACTIVE, **fields).first()
    if same is not None and is_at_work(same):
        return same
    analysis = Analysis.objects.create(
        study=study,
        number=(study.analyses.aggregate(last=Max("number"))["last"] or 0) + 1,
        name=_name(cell),
        created_by=actor,
        **fields,
    )
    record_work(analysis, actor, "analysis_started")
    enqueue_for(analysis, MAKE, actor)
    return analysis


def analyse_dataset(*, study: Study, actor: User, dataset: Dataset) -> list[Analysis]:
    """Start one analysis per topic and stance, all with default settings.

    Raises
    ------
    AnalysisRefused
        If there are more than 50 cells, or if no cell can be analysed.
    """
    cells = list(dataset.cells.order_by("position")[: MOST_CELLS + 1])
    if len(cells) > MOST_CELLS:
        raise AnalysisRefused(
            _("At most %d analyses can be started at once. Choose one topic at a time.")
            % MOST_CELLS
        )
    analyses, reasons = [], []
    for cell in cells:
        try:
            analyses.append(start_analysis(study=study, actor=actor, cell=cell))
        except AnalysisRefused as reason:
            reasons.append(str(reason))
    if not analyses:
        raise AnalysisRefused(reasons[0] if reasons else _("The dataset has no comments."))
    return analyses


@transaction.atomic
def cancel_analysis(*, analysis: Analysis, actor: User) -> None:
    """Stop the computation. If the analysis is finished, cancel only jobs queued since then.

    Raises AnalysisRefused if nothing is running.
    """
    changed = Analysis.objects.filter(pk=analysis.pk, state__in=Analysis.ACTIVE).update(
        state=State.CANCELLED
    )
    ended = cancel(_jobs(analysis))
    if not changed and not ended:
        raise AnalysisRefused(_("This analysis is not in progress."))
    record_work(analysis, actor, "analysis_cancelled")
    analysis.refresh_from_db(fields=["state"])


@transaction.atomic
def resume_analysis(*, analysis: Analysis, actor: User) -> None:
    """Restart a failed, cancelled or interrupted analysis, using the stored vectors.

    Raises AnalysisRefused if it is finished or still running.
    """
    states = [State.FAILED, State.CANCELLED]
    if not is_at_work(analysis):
        states += Analysis.ACTIVE
    rows = Analysis.objects.filter(pk=analysis.pk, state__in=states)
    if not rows.update(state=State.WAITING, error=""):
        analysis.refresh_from_db(fields=["state"])
        raise AnalysisRefused(
            _("The analysis cannot be resumed because its state is “%s”.")
            % analysis.get_state_display().lower()
        )
    analysis.state, analysis.error = State.WAITING, ""
    record_work(analysis, actor, "analysis_resumed")
    enqueue_for(analysis, MAKE, actor)


@transaction.atomic
def delete_analysis(*, analysis: Analysis, actor: User) -> None:
    """Delete an analysis with its key points and edits; raises AnalysisRefused if it is active."""
    if is_at_work(analysis):
        raise AnalysisRefused(_("Stop the analysis first."))
    runs = Run.objects.filter(
        study=analysis.study_id,
        spec__target__analysis=str(analysis.public_id),
        state__in=[*Run.ACTIVE, Run.State.DRAFT],
    )
    if run := runs.first():
        raise AnalysisRefused(
            _("A language model is working on this analysis. Stop run #%d first.") % run.number
        )
    record_work(analysis, actor, "analysis_deleted")
    try:
        analysis.delete()
    except ProtectedError:
        raise AnalysisRefused(
            _("An audit uses this analysis. Delete its draft audits first.")
        ) from None


def enqueue_for(analysis: Analysis, kind: str, actor: User | None, **more: Any) -> Job:
    """Queue a job for an analysis. Only one job of each kind is active at a time."""
    key = str(analysis.public_id)
    job = enqueue(
        study=analysis.study, kind=kind, key=key, actor=actor, analysis=analysis.pk, **more
    )
    if analysis.job_id != job.pk:
        Analysis.objects.filter(pk=analysis.pk).update(job=job)
        analysis.job = job
    return job


def is_at_work(analysis: Analysis) -> bool:
    """Return whether any job of the analysis is pending or running."""
    return _jobs(analysis).exists()


def writing_now(analysis: Analysis) -> Run | None:
    """Return the active language-model run for an analysis, or None."""
    runs = [run for run in (analysis.writing, analysis.coding) if run]
    return next((run for run in runs if run.is_active or run.state == Run.State.DRAFT), None)


def statements_of(cell: Cell) -> Any:
    """Return the included statements of a cell, in order."""
    return CellArgument.objects.filter(cell=cell, left_out="").order_by("position")


def record_work(analysis: Analysis, actor: User | None, verb: str, **facts: Any) -> None:
    """Log a user's action on an analysis."""
    subject = f"#{analysis.number} {analysis.name}"
    record(study=analysis.study, actor=actor, verb=verb, subject=subject, **facts)


def _jobs(analysis: Analysis) -> Any:
    keys = [f"{kind}:{analysis.public_id}" for kind in (MAKE, PLACE, SPLIT, CHECK, FOLLOW)]
    return Job.objects.filter(study_id=analysis.study_id, key__in=keys, state__in=Job.ACTIVE)


def _name(cell: Cell) -> str:
    if cell.stance == Cell.Stance.NONE:
        return cell.topic[:120]
    stance = cell.get_stance_display()
    return f"{cell.topic[: 117 - len(stance)]} ({stance})"


def _refuse_unfit(study: Study, cell: Cell, scorer: Scorer) -> None:
    if cell.dataset.study_id != study.pk or scorer.study_id != study.pk:
        raise AnalysisRefused(_("Comments and scorers must belong to the study."))
    try:
        require_vectors(scorer)
    except ScorerRefused as reason:
        raise AnalysisRefused(str(reason)) from None
    number = statements_of(cell).count()
    if number < FEWEST_STATEMENTS:
        raise AnalysisRefused(
            _("“%(topic)s” has fewer than %(n)d statements.")
            % {"topic": cell.topic, "n": FEWEST_STATEMENTS}
        )
    if number > MOST_STATEMENTS:
        raise AnalysisRefused(
            _("The topic has %(n)s statements, but the maximum is %(most)s.")
            % {"n": f"{number:,}", "most": f"{MOST_STATEMENTS:,}"}
        )
