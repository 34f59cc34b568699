"""Texts with faithfulness figures, outdated figures, and comparisons of edited texts."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet

from annotation.answers.actions import numbered_labels, numbered_texts
from annotation.answers.methods.checklist import check_answer
from annotation.answers.models import Answer, System, under
from annotation.editing.models import Revision
from annotation.editing.reports import newest_revisions
from annotation.faithfulness.methods.faithfulness import MODES
from annotation.faithfulness.methods.segments import word_distance
from annotation.faithfulness.models import EditedText, FaithfulnessFigures, FaithfulnessSettings
from cqa_site.judging.embedding import PACKAGED_MODEL
from cqa_site.people.models import Study

# Texts with faithfulness figures, and outdated figures
#
# Figures are stored with a key of everything they are computed from. When a text, its arguments or
# a label changes, the expected key changes too, so no signal is needed.

# Increase this with every change that may alter the figures of an unchanged text.
RECIPE = 1
Stored = dict[tuple[bool, int, str], tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Text:
    """An answer, or a revision of an answer, with the current keys of its figures.

    Parameters
    ----------
    pk
        Primary key of the answer or revision.
    argument_list
        Primary key of the list of numbered arguments; None if the text has none.
    keys
        Maps each mode to a key computed from text, arguments, labels and recipe.
    """

    is_revision: bool
    pk: int
    argument_list: int | None
    keys: dict[str, str]


@dataclass(frozen=True, slots=True)
class SourcePair:
    """A text written by people, and the machine answers that it may be based on.

    Parameters
    ----------
    after
        Primary key of the revision or the imported gold answer.
    before
        Primary keys of answers: only the edited answer, or all answers to the same question.
    key
        Key computed from all these texts and the recipe.
    """

    is_revision: bool
    after: int
    before: tuple[int, ...]
    key: str


@dataclass(frozen=True, slots=True)
class Freshness:
    """Counts of all texts, and of texts that lack figures, vectors or a comparison."""

    texts: int
    stale: int
    without_vectors: int
    stale_pairs: int

    @property
    def is_current(self) -> bool:
        """Whether all figures are up to date."""
        return not (self.stale or self.without_vectors or self.stale_pairs)


def freshness(study: Study) -> Freshness:
    """Compare the stored figures with their current sources, without computing new figures."""
    texts, stored = texts_of(study), stored_keys(study)
    model = embedding_of(study)
    stale = sum(is_stale(text, stored) for text in texts)
    lacking = sum(lacks_vectors(text, stored, model) for text in texts) if model else 0
    return Freshness(len(texts), stale, lacking, len(stale_pairs(study)))


def embedding_of(study: Study) -> str:
    """Return the sentence-embedding model for the study's figures; empty if none is set."""
    chosen = FaithfulnessSettings.objects.filter(study=study).first()
    return chosen.embedding if chosen else PACKAGED_MODEL


def texts_of(study: Study) -> list[Text]:
    """Return every answer and every revision of the study."""
    arguments = ("argument_list", "argument_list__sha256")
    answers = Answer.objects.filter(study=study).order_by("pk")
    revisions = Revision.objects.filter(sheet__answer__study=study).order_by("pk")
    in_sheet = [f"sheet__answer__{name}" for name in arguments]
    rows = [(False, *row) for row in answers.values_list("pk", "text_sha256", *arguments)]
    rows += [(True, *row) for row in revisions.values_list("pk", "text_sha256", *in_sheet)]
    labels = numbered_labels(study, {row[3] for row in rows if row[3]})
    digests = {pk: _digest(sorted(label.items())) for pk, label in labels.items()}
    return [
        Text(is_revision, pk, listed, _keys(sha256, listed_sha256, digests.get(listed)))
        for is_revision, pk, sha256, listed, listed_sha256 in rows
    ]


def stored_keys(study: Study) -> Stored:
    """Map (is a revision, primary key, mode) to (key of the figures, model of their vectors)."""
    about = ("mode", "key", "embedding")
    answers = FaithfulnessFigures.objects.filter(answer__study=study)
    revisions = FaithfulnessFigures.objects.filter(revision__sheet__answer__study=study)
    rows = [(False, *row) for row in answers.values_list("answer", *about)]
    rows += [(True, *row) for row in revisions.values_list("revision", *about)]
    return {(is_revision, pk, mode): (key, model) for is_revision, pk, mode, key, model in rows}


def is_stale(text: Text, stored: Stored) -> bool:
    """Whether the figures of a text are missing or outdated."""
    return any(_stored(text, mode, stored)[0] != key for mode, key in text.keys.items())


def lacks_vectors(text: Text, stored: Stored, model: str) -> bool:
    """Whether the text lacks similarities from this model."""
    return any(_stored(text, mode, stored)[1] != model for mode in text.keys)


def stale_pairs(study: Study) -> list[SourcePair]:
    """Return texts by people whose comparison with a machine answer is missing or outdated."""
    rows = EditedText.objects.filter(before__study=study)
    stored: dict[tuple[int | None, int | None], str] = {
        (row[0], row[1]): row[2] for row in rows.values_list("revision", "gold", "key")
    }
    return [
        pair
        for pair in _pairs(study)
        if stored.get((pair.after, None) if pair.is_revision else (None, pair.after)) != pair.key
    ]


def _pairs(study: Study) -> list[SourcePair]:
    newest = newest_revisions(study).values_list(
        "pk", "text_sha256", "sheet__answer", "sheet__answer__text_sha256"
    )
    edited = [
        SourcePair(True, pk, (answer,), _digest(RECIPE, sha256, before))
        for pk, sha256, answer, before in newest
    ]
    machine = _machine_answers(study)
    # Texts edited here are compared as revisions, with the exact answer they are based on.
    gold = _with_arguments(study).filter(system__kind=System.Kind.HUMAN, revision__isnull=True)
    for pk, sha256, question in gold.values_list("pk", "text_sha256", "question"):
        if before := machine[question]:
            keys, texts = zip(*before, strict=True)
            edited.append(SourcePair(False, pk, keys, _digest(RECIPE, sha256, *texts)))
    return edited


def _machine_answers(study: Study) -> dict[int, list[tuple[int, str]]]:
    """Map questions to (primary key, hash) of their plain machine answers with arguments."""
    machine_answers: dict[int, list[tuple[int, str]]] = defaultdict(list)
    rows = under(_with_arguments(study).exclude(system__kind=System.Kind.HUMAN), [])
    for question, pk, sha256 in rows.values_list("question", "pk", "text_sha256"):
        machine_answers[question].append((pk, sha256))
    return machine_answers


def _with_arguments(study: Study) -> QuerySet[Answer]:
    return Answer.objects.filter(study=study, argument_list__isnull=False).order_by("pk")


def _keys(sha256: str, listed: str | None, labels: str | None) -> dict[str, str]:
    return {mode: _digest(RECIPE, mode, sha256, listed, labels) for mode in MODES}


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _stored(text: Text, mode: str, stored: Stored) -> tuple[str, str]:
    return stored.get((text.is_revision, text.pk, mode), ("", ""))


# Comparison of texts by people with machine answers

COLUMNS = [
    "before", "key", "edit_distance", "words_before", "words_after", "checks_before",
    "checks_after", "at",
]  # fmt: skip


def drop_superseded(study: Study) -> None:
    """Delete comparisons of revisions that are no longer the newest on their sheet."""
    edited = EditedText.objects.filter(before__study=study, revision__isnull=False)
    edited.exclude(revision__in=newest_revisions(study).order_by().values("pk")).delete()


def compare(study: Study, pairs: Sequence[SourcePair]) -> None:
    """Compare the given texts with their machine answers, and store the results."""
    answers = _answers(study, (pk for pair in pairs for pk in pair.before))
    gold = _answers(study, (pair.after for pair in pairs if not pair.is_revision))
    revisions = Revision.objects.in_bulk([pair.after for pair in pairs if pair.is_revision])
    lists = numbered_texts({answer.argument_list_id for answer in answers.values()})
    for is_revision, versions, unique in ((True, revisions, "revision"), (False, gold, "gold")):
        rows = [
            _row(pair, [answers[pk] for pk in pair.before], versions[pair.after], lists)
            for pair in pairs
            if pair.is_revision == is_revision
        ]
        EditedText.objects.bulk_create(
            rows, update_conflicts=True, unique_fields=[unique], update_fields=COLUMNS
        )


def _answers(study: Study, keys: Iterable[int]) -> dict[int, Answer]:
    answers = Answer.objects.select_related("question__comparison")
    return {answer.pk: answer for answer in answers.filter(study=study, pk__in=set(keys))}


def _row(
    pair: SourcePair, candidates: Sequence[Answer], after: Answer | Revision, lists: dict
) -> EditedText:
    distances = [
        (word_distance(candidate.text, after.text), candidate.pk) for candidate in candidates
    ]
    distance, nearest = min(distances)
    before = next(candidate for candidate in candidates if candidate.pk == nearest)
    arguments = lists.get(before.argument_list_id, {})
    return EditedText(
        before=before,
        revision=after if isinstance(after, Revision) else None,
        gold=after if isinstance(after, Answer) else None,
        key=pair.key,
        edit_distance=distance,
        words_before=len(before.text.split()),
        words_after=len(after.text.split()),
        checks_before=_checks(before.text, arguments, before),
        checks_after=_checks(after.text, arguments, before),
    )


def _checks(text: str, arguments: dict[int, str], answer: Answer) -> dict[str, bool | None]:
    pair = answer.question.comparison
    checks = check_answer(text, arguments, pair.object1, pair.object2)
    return {check.name: check.is_passed for check in checks}
