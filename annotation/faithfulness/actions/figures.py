"""Requests for faithfulness figures, and their computation in the background."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeVar

import numpy as np
from django.db import transaction
from django.db.models.fields.json import KT
from django.utils.translation import gettext as _
from numpy.typing import NDArray

from annotation.answers.actions import numbered_labels, numbered_texts
from annotation.answers.methods.segments import sound_segments
from annotation.answers.models import Answer
from annotation.corpus.actions import StoredVectors
from annotation.corpus.reports import Vector
from annotation.editing.models import EditingRound, Revision
from annotation.faithfulness.methods.faithfulness import (
    MODES,
    AnswerFigures,
    measure,
    texts_to_embed,
)
from annotation.faithfulness.models import FaithfulnessFigures, FaithfulnessSettings
from annotation.faithfulness.reports.expert_agreement import texts_of_rounds
from cqa_site.judging.embedding import EmbeddingsUnavailable, SentenceEmbedder
from cqa_site.judging.packages import PackagePart
from cqa_site.people.access import record
from cqa_site.people.models import Study, User
from cqa_site.runs.jobs import JobContext, cancel, enqueue, wait_for
from cqa_site.runs.models import Job
from .texts import (
    Text,
    compare,
    drop_superseded,
    embedding_of,
    is_stale,
    lacks_vectors,
    stale_pairs,
    stored_keys,
    texts_of,
)

JOB = "faithfulness"


@transaction.atomic
def request_figures(*, study: Study, embedding: str, actor: User | None = None) -> Job:
    """Request an update of a study's figures; a study has at most one active job of this kind.

    ``embedding`` names the sentence-embedding model and is stored as the study's choice. If it is
    empty, no similarities are computed.
    """
    FaithfulnessSettings.objects.update_or_create(study=study, defaults={"embedding": embedding})
    job = enqueue(study=study, kind=JOB, key=str(study.public_id), actor=actor)
    if actor is not None:
        record(
            study=study,
            actor=actor,
            verb="faithfulness_requested",
            subject=study.name,
            embedding=embedding,
        )
    return job


def after_closing(*, round_: EditingRound, actor: User) -> None:
    """Compute the agreement of experts in the background when their round is closed."""
    request_figures(study=round_.study, embedding=embedding_of(round_.study))


def make_figures(work: JobContext) -> None:
    """Handle a job; dependencies are imported here, because pages do not need them."""
    update_figures(work)


def latest_job(study: Study) -> Job | None:
    """Return the newest figures job of the study, in any state."""
    return _jobs(study).order_by("-created_at", "-pk").first()


def cancel_figures(*, study: Study, actor: User) -> bool:
    """Cancel a pending or running job; the figures stored so far remain valid and are kept."""
    ended = cancel(_jobs(study))
    if ended:
        record(study=study, actor=actor, verb="faithfulness_cancelled", subject=study.name)
    return bool(ended)


def _jobs(study: Study):
    return Job.objects.filter(study=study, key=f"{JOB}:{study.public_id}")


# Computation of faithfulness figures in the worker
#
# Figures are stored in batches, each row under a key of its sources. A worker that dies loses one
# batch, and the next job computes only the missing figures.

# Texts per batch; fewer with vectors, because each text has dozens of sentences.
TOGETHER = 50
TOGETHER_WITH_VECTORS = 20
DERIVED = {
    "jaccard_segment": "jaccard_segments",
    "levenshtein": "levenshtein",
    "similarity": "similarity",
}
COPIED = ("segments", "jaccard_text", "precision", "recall", "f1")
COUNTED = ("out_of_range", "malformed")
COLUMNS = [*DERIVED, *COPIED, *COUNTED, "key", "values", "citations", "embedding", "at"]
One = TypeVar("One")


@dataclass(frozen=True, slots=True)
class AnswerTexts:
    """A text with its arguments and their labels by number."""

    about: Text
    text: str
    arguments: dict[int, str]
    labels: dict[int, int | None]

    def measure(self, mode: str, known: dict[str, Vector] | None = None) -> AnswerFigures:
        """Return the figures, including similarities if the vectors of all sentences are known."""

        def vectors(sentences: Sequence[str]) -> NDArray[np.float32]:
            return np.stack([(known or {})[sentence] for sentence in sentences])

        lookup = None if known is None else vectors
        return measure(self.text, self.arguments, self.labels, mode=mode, vectors=lookup)

    @property
    def sentences(self) -> list[str]:
        """Sentences to embed, for both modes."""
        return [
            text for mode in MODES for text in texts_to_embed(self.text, self.arguments, mode=mode)
        ]

    @property
    def citations(self) -> list[tuple[int, int, int]]:
        """Start and end of each segment, with every listed number that it cites."""
        return [
            (segment.start, segment.end, number)
            for segment in sound_segments(self.text)
            for number in segment.numbers
            if number in self.arguments
        ]


def update_figures(work: JobContext) -> None:
    """Update word overlap and citations, then comparisons, then similarities."""
    texts = texts_of(work.study)
    make_word_figures(work, texts)
    compare_edited(work)
    model = embedding_of(work.study)
    try:
        if model:
            wait_for(PackagePart.LANGUAGE)
            add_similarities(work, texts, StoredVectors(SentenceEmbedder(model)))
    except EmbeddingsUnavailable as reason:
        # The other figures are stored; the page shows why the similarities are missing.
        work.progress(1, 1, str(reason)[:200])


def make_word_figures(work: JobContext, texts: Sequence[Text]) -> None:
    """Measure the texts whose figures are missing or outdated."""
    stored = stored_keys(work.study)
    stale = [text for text in texts if is_stale(text, stored)]
    for done, piece in _pieces(stale, TOGETHER):
        rows = [
            _figures_row(loaded, mode, loaded.measure(mode), "")
            for loaded in _load(work.study, piece)
            for mode in MODES
        ]
        _store(rows)
        work.progress(done, len(stale), _("Words and citations"))


def compare_edited(work: JobContext) -> None:
    """Compare edited and gold texts with the machine answers they are based on."""
    drop_superseded(work.study)
    pairs = stale_pairs(work.study)
    for done, piece in _pieces(pairs, TOGETHER):
        compare(work.study, piece)
        work.progress(done, len(pairs), _("Texts before and after editing"))


def add_similarities(work: JobContext, texts: Sequence[Text], embedder: StoredVectors) -> None:
    """Measure again, with sentence vectors, all texts that lack similarities from this model."""
    # These come first, so that experts' agreement is current whenever all figures are.
    if versions := texts_of_rounds(work.study):
        note = _("Embeddings of experts' versions")
        embedder.encode(versions, lambda done, total: work.progress(done, total, note))
    stored = stored_keys(work.study)
    lacking = [text for text in texts if lacks_vectors(text, stored, embedder.name)]
    for done, piece in _pieces(lacking, TOGETHER_WITH_VECTORS):
        every = _load(work.study, piece)
        sentences = list(
            dict.fromkeys(sentence for loaded in every for sentence in loaded.sentences)
        )
        known = dict(zip(sentences, embedder.encode(sentences), strict=True)) if sentences else {}
        rows = [
            _figures_row(loaded, mode, loaded.measure(mode, known), embedder.name)
            for loaded in every
            for mode in MODES
        ]
        _store(rows)
        work.progress(done, len(lacking), _("Sentence embeddings"))


def _load(study: Study, texts: Sequence[Text]) -> list[AnswerTexts]:
    lists = {text.argument_list for text in texts if text.argument_list}
    arguments, labels = numbered_texts(lists), numbered_labels(study, lists)
    answers = Answer.objects.filter(pk__in=[text.pk for text in texts if not text.is_revision])
    revisions = Revision.objects.filter(pk__in=[text.pk for text in texts if text.is_revision])
    contents = {(False, pk): text for pk, text in answers.values_list("pk", "text")}
    contents |= {(True, pk): text for pk, text in revisions.values_list("pk", KT("content__text"))}
    return [
        AnswerTexts(
            about=subject,
            text=contents[subject.is_revision, subject.pk],
            arguments=arguments.get(subject.argument_list or 0, {}),
            labels=labels.get(subject.argument_list or 0, {}),
        )
        for subject in texts
        # A text may have been deleted since the list was created.
        if (subject.is_revision, subject.pk) in contents
    ]


def _figures_row(
    loaded: AnswerTexts, mode: str, figures: AnswerFigures, embedding: str
) -> FaithfulnessFigures:
    about = loaded.about
    values = figures.to_json()
    columns = {name: values[name] for name in COPIED}
    columns |= {name: len(values[name]) for name in COUNTED}
    columns |= {name: _mean(values[source]) for name, source in DERIVED.items()}
    return FaithfulnessFigures(
        answer_id=None if about.is_revision else about.pk,
        revision_id=about.pk if about.is_revision else None,
        mode=mode,
        key=about.keys[mode],
        values=values,
        citations=loaded.citations if mode == FaithfulnessFigures.Mode.SOUND else [],
        embedding=embedding,
        **columns,
    )


def _store(rows: Iterable[FaithfulnessFigures]) -> None:
    every = list(rows)
    for unique in ("answer", "revision"):
        FaithfulnessFigures.objects.bulk_create(
            [row for row in every if getattr(row, f"{unique}_id") is not None],
            update_conflicts=True,
            unique_fields=[unique, "mode"],
            update_fields=COLUMNS,
        )


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def _pieces(rows: Sequence[One], size: int) -> Iterator[tuple[int, Sequence[One]]]:
    """Yield batches of rows, each with the number of rows up to the end of the batch."""
    for start in range(0, len(rows), size):
        piece = rows[start : start + size]
        yield start + len(piece), piece
