"""Faithfulness of the relevance paper's machine answers, as far as its release supports it.

Read from imported answers; which of them are the subset is told by pair and text.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.methods.faithfulness import Figures, Pooled, measure, pool, texts_to_embed
from annotation.methods.faithfulness_relevance import (
    RELEVANT,
    cited_in_paper_segments,
    score_sets,
)
from annotation.models import Answer
from cqa_site.judging.embedding import SentenceEmbedder, embeddings_available
from cqa_site.people.models import Study

from .argument_lists import numbered_labels, numbered_texts

Values = dict[str, Any]
# Object 1, object 2 and text of an answer.
Key = tuple[str, str, str]
WORDS = ("jaccard_text", "jaccard_sentence", "levenshtein")
RELEVANCE = ("precision", "recall", "f1")


@dataclass(frozen=True)
class Cited:
    """An answer with its arguments and their final labels by number."""

    key: Key
    arguments: Mapping[int, str]
    labels: Mapping[int, int | None]

    def measure(self, mode: str, vectors: Any = None) -> Figures:
        """Its figures, with similarities if there are vectors."""
        text = self.key[2]
        return measure(text, self.arguments, self.labels, mode=mode, vectors=vectors)


def faithfulness_values(study: Study, subset: Collection[Key]) -> Values:
    """Figures of all answers of a study and of the subset; labels are the newest final ones."""
    everything = cited_answers(study)
    some = [each for each in everything if each.key in subset]
    sound = pool(each.measure("sound") for each in some)
    return {
        "silver_answers": (len(everything), len(some)),
        **_named("silver", pool(each.measure("paper") for each in everything), WORDS + RELEVANCE),
        **_named("subset", pool(each.measure("paper") for each in some), WORDS + RELEVANCE),
        **_named("clean", pool(map(_cleanly_read, some)), RELEVANCE),
        **_named("sound", sound, RELEVANCE),
        **_similarity(some),
    }


def cited_answers(study: Study) -> list[Cited]:
    """Every answer of a study; one without a list has no arguments."""
    answers = Answer.objects.filter(study=study).select_related("question__comparison")
    lists = {each.argument_list_id for each in answers if each.argument_list_id}
    texts, labels = numbered_texts(lists), numbered_labels(study, lists)
    return [
        Cited(
            (each.question.comparison.object1, each.question.comparison.object2, each.text),
            texts.get(each.argument_list_id, {}),
            labels.get(each.argument_list_id, {}),
        )
        for each in answers
    ]


def _named(name: str, means: Pooled, figures: Sequence[str]) -> Values:
    return {f"{name}_{figure}": getattr(means, figure) for figure in figures}


def _cleanly_read(answer: Cited) -> Figures:
    """Labels by number and every form of citation, but only where the paper looks for one."""
    cited = cited_in_paper_segments(answer.key[2])
    relevant = {n for n, label in answer.labels.items() if (label or 0) >= RELEVANT}
    if not cited or not relevant:
        return Figures()
    return Figures(**score_sets(cited, relevant)._asdict())


def _similarity(answers: Sequence[Cited]) -> Values:
    """Mean cosine by the embedded model; nothing where its packages are missing."""
    if not embeddings_available():
        return {}
    texts = [
        text
        for each in answers
        for text in texts_to_embed(each.key[2], each.arguments, mode="paper")
    ]
    distinct = list(dict.fromkeys(texts))
    rows = dict(zip(distinct, SentenceEmbedder().encode(distinct), strict=True))

    def known(wanted: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([rows[text] for text in wanted])

    figures = (each.measure("paper", known) for each in answers)
    return {"subset_similarity": pool(figures).similarity}
