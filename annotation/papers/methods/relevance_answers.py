"""Faithfulness of the relevance paper's answers (table 3), computed from plain texts.

The same functions handle the released files and imported answers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.faithfulness.methods.faithfulness import (
    RELEVANT,
    AnswerFigures,
    PooledMeans,
    cited_in_paper_segments,
    measure,
    pool,
    score_sets,
    texts_to_embed,
)
from annotation.imports.methods.releases import (
    ReleasedComparison,
    ReleasedLabel,
    Unit,
    read_final_labels,
    read_gold,
    read_silver,
)

Values = dict[str, Any]
# Object 1, object 2 and the text of an answer.
Key = tuple[str, str, str]
Embed = Callable[[list[str]], NDArray[np.float32]]
WORDS = ("jaccard_text", "jaccard_sentence", "levenshtein")
RELEVANCE = ("precision", "recall", "f1")


@dataclass(frozen=True)
class CitingAnswer:
    """An answer, with its arguments and their final labels by number."""

    key: Key
    arguments: Mapping[int, str]
    labels: Mapping[int, int | None]

    def measure(self, mode: str, vectors: Any = None) -> AnswerFigures:
        """Return the answer's figures, with similarities if vectors are given."""
        text = self.key[2]
        return measure(text, self.arguments, self.labels, mode=mode, vectors=vectors)


def answer_values(
    gold: Sequence[CitingAnswer],
    silver: Sequence[CitingAnswer],
    subset: Collection[Key],
    embed: Embed | None,
) -> Values:
    """Return the rows of table 3 in both modes, except coherence.

    Parameters
    ----------
    gold, silver
        Answers edited by experts, and answers as written by a machine.
    subset
        Machine answers to the questions with edited answers.
    embed
        Converts n texts to n rows of numbers; without it, no similarities are computed.
    """
    some = [answer for answer in silver if answer.key in subset]
    groups = {"gold": gold, "subset": some, "silver": silver}
    values: Values = {}
    for name, answers in groups.items():
        values[f"{name}_size"] = len(answers)
        values[f"{name}_questions"] = len({answer.key[:2] for answer in answers})
        paper = pool(answer.measure("paper") for answer in answers)
        sound = pool(answer.measure("sound") for answer in answers)
        values |= _named(name, paper, WORDS + RELEVANCE)
        values |= _named(f"{name}_sound", sound, WORDS + RELEVANCE)
    clean = pool(map(_cleanly_read, some))
    return values | _named("clean", clean, RELEVANCE) | _similarities(groups, embed)


def read_answers(
    gold: Path, silver: Sequence[Path], released: Path
) -> tuple[list[CitingAnswer], list[CitingAnswer]]:
    """Return the edited and machine answers in the released files.

    Edited answers cite the arguments of the machine answers about the same pair. The label of an
    argument is that of its first copy in the file of final labels. Answers that occur in several
    silver files are read only once.
    """
    labels = _first_labels(released)
    lists: dict[tuple[str, str], Mapping[int, str]] = {}
    machine: dict[tuple[Key, int], CitingAnswer] = {}
    for path in silver:
        for comparison in read_silver(path):
            if isinstance(comparison, ReleasedComparison):
                numbered = {argument.number: argument.text for argument in comparison.arguments}
                pair = (comparison.object1, comparison.object2)
                lists.setdefault(pair, numbered)
                for choice, text in enumerate(comparison.texts):
                    machine.setdefault(
                        ((*pair, text), choice), _cited((*pair, text), numbered, labels)
                    )
    edited = [_cited(key, lists.get(key[:2], {}), labels) for key in _gold_keys(gold)]
    return edited, list(machine.values())


def subset_of(path: Path) -> set[Key]:
    """Return the pair and text of each answer in a silver file."""
    return {
        (comparison.object1, comparison.object2, text)
        for comparison in read_silver(path)
        if isinstance(comparison, ReleasedComparison)
        for text in comparison.texts
    }


def _gold_keys(path: Path) -> Iterator[Key]:
    for comparison in read_gold(path):
        if isinstance(comparison, ReleasedComparison):
            yield from (
                (comparison.object1, comparison.object2, text) for text in comparison.texts
            )


def _first_labels(path: Path) -> dict[Unit, int | None]:
    first_labels: dict[Unit, int | None] = {}
    for label in read_final_labels(path):
        if isinstance(label, ReleasedLabel) and label.unit is not None:
            first_labels.setdefault(label.unit, label.label)
    return first_labels


def _cited(
    key: Key, arguments: Mapping[int, str], labels: Mapping[Unit, int | None]
) -> CitingAnswer:
    known = {number: labels.get((*key[:2], text)) for number, text in arguments.items()}
    return CitingAnswer(key, arguments, known)


def _named(name: str, means: PooledMeans, figures: Sequence[str]) -> Values:
    return {f"{name}_{figure}": getattr(means, figure) for figure in figures}


def _cleanly_read(answer: CitingAnswer) -> AnswerFigures:
    """Score by label number; read all forms of citation, but only at the end of segments."""
    cited = cited_in_paper_segments(answer.key[2])
    relevant = {n for n, label in answer.labels.items() if (label or 0) >= RELEVANT}
    if not cited or not relevant:
        return AnswerFigures()
    return AnswerFigures(**score_sets(cited, relevant)._asdict())


def _similarities(groups: Mapping[str, Sequence[CitingAnswer]], embed: Embed | None) -> Values:
    """Return the mean cosines of each group, or no values if there are no vectors."""
    if embed is None:
        return {}
    texts = (
        text
        for answers in groups.values()
        for answer in answers
        for text in texts_to_embed(answer.key[2], answer.arguments, mode="paper")
    )
    distinct = list(dict.fromkeys(texts))
    rows = dict(zip(distinct, embed(distinct), strict=True))

    def known(wanted: Sequence[str]) -> NDArray[np.float32]:
        return np.stack([rows[text] for text in wanted])

    return {
        f"{name}_similarity": pool(answer.measure("paper", known) for answer in answers).similarity
        for name, answers in groups.items()
    }
