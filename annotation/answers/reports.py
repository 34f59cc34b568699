"""Read answers by question, system and condition, with the numbered arguments they cite."""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, QuerySet
from django.utils.translation import gettext as _

from annotation.answers.methods.answer_text import count_words, find_citations
from annotation.answers.methods.rendering import Piece, split_citations
from annotation.answers.models import NEWEST, Answer, System
from annotation.consensus.models import FinalLabel
from annotation.consensus.reports import label_source
from annotation.corpus.methods.sentences import SentencePart, split_sentence
from annotation.corpus.models import ListedArgument, Question
from annotation.labelling.models import LabelRound, label_rounds_of
from cqa_site.people.models import Study, User

# Number of keys in one query condition, well below the limit of either database.
TOGETHER = 5_000


def numbered_texts(lists: Iterable[int | None]) -> dict[int | None, dict[int, str]]:
    """Map list key → number → sentence, numbers ascending; empty for an unknown list."""
    texts: dict[int | None, dict[int, str]] = {key: {} for key in lists}
    for row in _entries(texts, "argument__text"):
        texts[row[0]][row[1]] = row[2]
    return texts


def numbered_labels(
    study: Study, lists: Iterable[int | None], whose: str = ""
) -> dict[int | None, dict[int, int | None]]:
    """Map list key → number → final label, by the rule of `relevance_of`."""
    list_labels: dict[int | None, dict[int, int | None]] = {key: {} for key in lists}
    rows = list(_entries(list_labels, "argument"))
    labels = relevance_of(study, {row[2] for row in rows}, whose)
    for key, number, argument in rows:
        list_labels[key][number] = labels[argument]
    return list_labels


def _entries(lists: Iterable[int | None], field: str) -> Iterator[tuple]:
    for keys in _pieces(lists):
        entries = ListedArgument.objects.filter(argument_list__in=keys)
        ordered = entries.order_by("argument_list", "number")
        yield from ordered.values_list("argument_list_id", "number", field)


def relevance_of(
    study: Study, argument_pks: Iterable[int], whose: str = ""
) -> dict[int, int | None]:
    """Map each argument to its final label, or None.

    ``whose`` is the public id of the only round whose final labels are used, or `NEWEST`: if
    several rounds have a label for an argument, the newest round wins, regardless of the label's
    provenance. An empty string means the study's choice.
    """
    relevance: dict[int, int | None] = dict.fromkeys(argument_pks)
    label_rounds = _label_rounds(study, whose) if relevance else {}
    for keys in _pieces(relevance):
        settled = FinalLabel.objects.filter(argument__in=keys, label__isnull=False, **label_rounds)
        oldest_first = settled.order_by("label_round__created_at", "label_round_id")
        relevance |= dict(oldest_first.values_list("argument_id", "label"))
    return relevance


def whose_labels(study: Study, whose: str = "") -> str:
    """Return a round id or `NEWEST`; for an empty choice, the study's current choice."""
    source = None if whose else label_source(study)
    return whose or (str(source.public_id) if source else NEWEST)


def labels_name(study: Study, whose: str = "") -> str:
    """Return the name of the chosen labels."""
    source = whose_labels(study, whose)
    if source == NEWEST:
        return _("newest label of each sentence")
    return label_rounds_of(study).values_list("name", flat=True).get(public_id=source)


def labelled_rounds(study: Study) -> QuerySet[LabelRound]:
    labels = FinalLabel.objects.filter(label_round=OuterRef("pk"), label__isnull=False)
    return label_rounds_of(study).filter(Exists(labels)).order_by("name")


def _label_rounds(study: Study, whose: str) -> dict[str, object]:
    """Return lookups that select the final labels to use."""
    if whose and whose != NEWEST:
        return {"label_round__study": study, "label_round__public_id": whose}
    source = None if whose else label_source(study)
    return {"label_round": source} if source else {"label_round__study": study}


def _pieces(keys: Iterable[int | None]) -> Iterator[list[Any]]:
    stream = iter(list(keys))
    while piece := list(islice(stream, TOGETHER)):
        yield piece


@dataclass(frozen=True)
class ArgumentBeside:
    """One numbered argument, without its label and source if the reader may not see them."""

    number: int
    text: str
    segments: list[SentencePart]
    is_cited: bool
    label: int | None = None
    source: str = ""

    @property
    def link(self) -> str:
        """The source if it is a web address; otherwise empty."""
        return self.source if self.source.startswith(("https://", "http://")) else ""


def listed_arguments(answer: Answer) -> list[ListedArgument]:
    if answer.argument_list_id is None:
        return []
    entries = ListedArgument.objects.filter(argument_list=answer.argument_list_id)
    return list(entries.select_related("argument").order_by("number"))


def arguments_beside(
    answer: Answer,
    entries: Sequence[ListedArgument],
    cited: Collection[int],
    labels: Mapping[int, int | None] | None = None,
) -> list[ArgumentBeside]:
    """Return the arguments, marked as cited or not; ``labels`` adds their labels and sources."""
    comparison = answer.question.comparison
    return [
        ArgumentBeside(
            number=entry.number,
            text=entry.argument.text,
            segments=split_sentence(entry.argument.text, comparison.object1, comparison.object2),
            is_cited=entry.number in cited,
            label=labels[entry.argument_id] if labels is not None else None,
            source=entry.argument.source_url if labels is not None else "",
        )
        for entry in entries
    ]


MOST_COLUMNS = 12


def visible_answers(study: Study, *, is_blind: bool) -> QuerySet[Answer]:
    """Return the answers that a reader may see; blind readers see no texts by people."""
    answers = study.answers.order_by()
    return answers.exclude(system__kind=System.Kind.HUMAN) if is_blind else answers


def count_by_system(
    answers: QuerySet[Answer], questions: Iterable[Question]
) -> dict[int, dict[int, int]]:
    """Map question → system → number of answers, in one query."""
    rows = answers.filter(question__in=list(questions)).values_list("question", "system")
    counts: dict[int, dict[int, int]] = {}
    for question, system, number in rows.annotate(Count("pk")):
        counts.setdefault(question, {})[system] = number
    return counts


def count_unasked(study: Study) -> int:
    """Return the number of comparisons without a question."""
    return study.comparisons.filter(questions__isnull=True).count()


def busiest_systems(study: Study) -> list[System]:
    """Return the systems with the most answers in descending order, at most one per column."""
    counted = study.systems.annotate(answer_count=Count("answers"))
    return list(counted.order_by("-answer_count", "name")[:MOST_COLUMNS])


def systems_with_counts(study: Study) -> QuerySet[System]:
    """Return the systems by name, with counts of their answers and questions."""
    return study.systems.annotate(
        answer_count=Count("answers"), question_count=Count("answers__question", distinct=True)
    ).order_by("name")


def counts_by_condition(study: Study) -> dict[tuple[int, int], int]:
    """Map (system id, condition id) to the number of answers, in one query."""
    rows = Answer.objects.filter(question__study=study).values_list("system", "condition")
    return {(system, condition): n for system, condition, n in rows.annotate(Count("pk"))}


@dataclass(frozen=True)
class NumberedArgumentRow:
    """Row for one numbered argument next to the answers."""

    number: int
    public_id: UUID
    parts: list[SentencePart]
    text: str
    label: int | None
    cited: int


@dataclass(frozen=True)
class NumberedArguments:
    """One list of arguments; ``place`` is its number on the page, counted from 1."""

    place: int
    entries: list[NumberedArgumentRow]


@dataclass(frozen=True)
class AnswerColumn:
    """One answer as a reader may see it; blind readers see neither its origin nor its address."""

    title: str
    about: str
    public_id: UUID | None
    pieces: list[Piece]
    list_place: int | None
    words: int


def in_order(answers: QuerySet[Answer], shuffled_for: User | None) -> list[int]:
    """Sort keys by system, condition and choice, or in a random order fixed for each person."""
    if shuffled_for is None:
        ordered = answers.order_by("system__name", "scenario", "condition", "choice", "pk")
        return list(ordered.values_list("pk", flat=True))
    seed = str(shuffled_for.public_id)
    rows = list(answers.values_list("pk", "public_id"))
    return [pk for pk, key in sorted(rows, key=lambda row: _drawn(seed, row[1]))]


def _drawn(seed: str, key: UUID) -> bytes:
    return hashlib.sha256(f"{seed}:{key}".encode()).digest()


def side_by_side(
    question: Question,
    keys: Sequence[int],
    *,
    is_blind: bool,
    first: int = 1,
    with_labels: bool = True,
) -> tuple[list[AnswerColumn], list[NumberedArguments]]:
    """Return the answers, in the order of the keys, with their arguments, using three queries.

    ``first`` is the number of the first text if texts have numbers instead of names. Readers who
    may still have to label the arguments get them without labels.
    """
    rows = Answer.objects.select_related("system", "condition").in_bulk(keys)
    answers = [rows[key] for key in keys]
    lists = numbered_arguments(question, answers, with_labels=with_labels)
    columns = [
        _column(answer, lists.get(answer.argument_list_id), first + at, is_blind)
        for at, answer in enumerate(answers)
    ]
    return columns, list(lists.values())


def _column(
    answer: Answer, listed: NumberedArguments | None, number: int, is_blind: bool
) -> AnswerColumn:
    numbers = {entry.number for entry in listed.entries} if listed else set()
    about = "" if is_blind else about_answer(answer)
    return AnswerColumn(
        title=_("Text %d") % number if is_blind else answer.system.name,
        about=about,
        public_id=None if is_blind else answer.public_id,
        pieces=split_citations(answer.text, numbers),
        list_place=listed.place if listed else None,
        words=count_words(answer.text),
    )


def about_answer(answer: Answer) -> str:
    """Return the condition and choice in a few words."""
    choice = _("choice %d") % answer.choice
    if answer.scenario == Answer.Scenario.NONE and answer.condition.is_plain:
        return choice
    return " · ".join([answer.condition.name, choice])


def numbered_arguments(
    question: Question, answers: Sequence[Answer], *, with_labels: bool
) -> dict[int | None, NumberedArguments]:
    """Map the key of each list to its arguments, in the order of the answers."""
    needed = dict.fromkeys(
        answer.argument_list_id for answer in answers if answer.argument_list_id
    )
    rows = list(
        ListedArgument.objects.filter(argument_list__in=list(needed))
        .select_related("argument")
        .order_by("argument_list", "number")
    )
    wanted = {row.argument_id for row in rows} if with_labels else set()
    labels = relevance_of(question.study, wanted)
    cited = _cited(answers)
    lists: dict[int, list[NumberedArgumentRow]] = {key: [] for key in needed}
    for row in rows:
        entry = NumberedArgumentRow(
            number=row.number,
            public_id=row.argument.public_id,
            parts=_marked(row.argument.text, question),
            text=row.argument.text,
            label=labels.get(row.argument_id),
            cited=cited[row.argument_list_id, row.number],
        )
        lists[row.argument_list_id].append(entry)
    return {
        key: NumberedArguments(place, entries)
        for place, (key, entries) in enumerate(lists.items(), start=1)
    }


def _marked(text: str, question: Question) -> list[SentencePart]:
    return split_sentence(text, question.comparison.object1, question.comparison.object2)


def _cited(answers: Sequence[Answer]) -> Counter[tuple[int | None, int]]:
    """Count, for each list and number, the answers that cite it."""
    counts: Counter[tuple[int | None, int]] = Counter()
    for answer in answers:
        citations = find_citations(answer.text)
        numbers = {number for citation in citations for number in citation.numbers}
        counts.update((answer.argument_list_id, number) for number in numbers)
    return counts


def find_violations() -> Iterator[str]:
    """Yield every answer whose scenario or study differs from that of its condition."""
    unlike = Answer.objects.exclude(
        condition__scenario=F("scenario"), condition__study=F("study")
    ).order_by("pk")
    for pk in unlike.values_list("pk", flat=True):
        yield f"answer {pk} has another scenario or study than its condition"
