"""What key point analysis works with: vectors and qualities by a study's scorers, kept on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from argsum.analysis.models import Analysis
from argsum.scorers.actions.models import BiEncoder, ScorerRefused, model_key, source_of
from argsum.scorers.actions.score_files import kept_rows, key_of, texts_key
from argsum.scorers.actions.scorers import quality_scorer_of
from argsum.scorers.models import Scorer
from argsum.systems.methods.scoring import with_topic
from cqa_site.judging.embedding import side_in
from cqa_site.runs.jobs import Work

if TYPE_CHECKING:
    from argsum.systems.methods.scoring import QualityScorer, Scores

# Texts whose vectors are kept in one file: what a worker that dies has to read once more.
PIECE = 2_000


def require_vectors(scorer: Scorer) -> None:
    """Raises ScorerRefused unless the scorer is ready and reads one text at a time."""
    if scorer.task != Scorer.Task.MATCH:
        raise ScorerRefused(_("“%s” scores something else.") % scorer.name)
    if scorer.state != Scorer.State.READY:
        raise ScorerRefused(_("“%s” is not ready.") % scorer.name)
    if scorer.kind != Scorer.Kind.BI_ENCODER:
        raise ScorerRefused(
            _("“%s” reads two texts together, which takes too long here: choose a bi-encoder.")
            % scorer.name
        )


def analysis_of(work: Work) -> Analysis:
    """The analysis that a job is about, with what it is made from."""
    rows = Analysis.objects.select_related("study", "cell", "match_scorer", "quality_scorer")
    return rows.get(study=work.study, pk=work.payload["analysis"])


class ScorerTools:
    """`argsum.analysis.methods.finding.Tools` of one analysis; nothing is loaded before a text.

    Parameters
    ----------
    analysis
        With its scorers and its cell.
    work
        Hears how far it is, and raises StaleWorker once the job was cancelled or taken over.
    """

    def __init__(self, analysis: Analysis, work: Work) -> None:
        require_vectors(analysis.match_scorer)
        scorer = analysis.match_scorer
        self.work, self.topic = work, analysis.cell.topic
        self.prefix = self.topic if scorer.uses_topic else ""
        source = source_of(scorer)
        self.encoder = BiEncoder(source, model_key(scorer), quick=True)
        # What is all on one side of a debate praises and complains for the same reasons.
        self.side = None if analysis.cell.stance else side_in(Path(source))
        self._grader: QualityScorer | None = None
        self._quality = analysis.quality_scorer
        self._share = 0.0

    @property
    def tells_sides(self) -> bool:
        """Whether vectors know which side a text takes."""
        return self.side is not None

    def say(self, share: float, what: str) -> None:
        """How far it is, 0–1."""
        self._share = share
        self.work.progress(min(99, round(100 * share)), 100, what)

    def vectors(self, texts: Sequence[str]) -> Scores:
        """Vectors of length 1, shape (n, d), piece by piece from disk or from the model.

        Where texts may take either side, and the scorer tells sides, with the coordinates of
        `cqa_site.judging.embedding.Side`.
        """
        import numpy as np

        read = with_topic(texts, self.prefix)
        pieces = []
        for start in range(0, len(read), PIECE):
            pieces.append(self._piece(read[start : start + PIECE], start, len(read)))
        if not pieces:
            return np.zeros((0, 0), dtype=np.float32)
        found: Scores = np.concatenate(pieces) if len(pieces) > 1 else pieces[0]
        return found if self.side is None else self.side.added(found)

    def quality(self, texts: Sequence[str]) -> Scores:
        """How well each text is put, shape (n,); nan without a scorer."""
        import numpy as np

        if self._quality is None:
            return np.full(len(texts), np.nan, dtype=np.float32)
        if self._grader is None:
            self._grader = quality_scorer_of(self._quality)
        found = np.empty(len(texts), dtype=np.float32)
        for start in range(0, len(texts), PIECE):
            piece = texts[start : start + PIECE]
            found[start : start + len(piece)] = self._grader.scores(piece, topic=self.topic)
            self._step(_("quality of statement %(n)s of %(all)s"), start, len(texts))
        return found

    def _piece(self, texts: list[str], start: int, total: int) -> Scores:
        def step(done: int, _piece: int) -> None:
            self._step(_("reading statement %(n)s of %(all)s"), start + done, total)

        key = key_of("quick vectors", self.encoder.key, texts_key(texts))
        return kept_rows(key, len(texts), lambda: self.encoder.embedder.encode(texts, step))

    def _step(self, words: str, done: int, total: int) -> None:
        note = words % {"n": f"{done:,}", "all": f"{total:,}"}
        self.work.progress(min(99, round(100 * self._share)), 100, note)
