"""Questions with their answers: counted by system, and side by side with their arguments."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, QuerySet
from django.utils.translation import gettext as _

from annotation.answers.methods.citations import find_citations
from annotation.answers.methods.cited_text import Piece, split_citations
from annotation.answers.methods.length import count_words
from annotation.answers.models.answers import Answer, System
from annotation.corpus.methods.highlight import Segment, split_sentence
from annotation.corpus.models.questions import ListedArgument, Question
from cqa_site.people.models import Study, User

from .argument_lists import relevance_of

MOST_COLUMNS = 12


# -- counts -----------------------------------------------------------------------------------


def visible_answers(study: Study, *, is_blind: bool) -> QuerySet[Answer]:
    """Answers a reader may see: texts by people would tell an expert what others made of them."""
    answers = study.answers.order_by()
    return answers.exclude(system__kind=System.Kind.HUMAN) if is_blind else answers


def count_by_system(
    answers: QuerySet[Answer], questions: Iterable[Question]
) -> dict[int, dict[int, int]]:
    """Question → system → number of answers, in one query."""
    rows = answers.filter(question__in=list(questions)).values_list("question", "system")
    found: dict[int, dict[int, int]] = {}
    for question, system, number in rows.annotate(Count("pk")):
        found.setdefault(question, {})[system] = number
    return found


def count_unasked(study: Study) -> int:
    """Comparisons without a question."""
    return study.comparisons.filter(questions__isnull=True).count()


def busiest_systems(study: Study) -> list[System]:
    """Systems with most answers first, as many as a table has columns for."""
    counted = study.systems.annotate(answer_count=Count("answers"))
    return list(counted.order_by("-answer_count", "name")[:MOST_COLUMNS])


def systems_with_counts(study: Study) -> QuerySet[System]:
    """Systems by name with how many answers and questions they have."""
    return study.systems.annotate(
        answer_count=Count("answers"),
        question_count=Count("answers__question", distinct=True),
    ).order_by("name")


def counts_by_condition(study: Study) -> dict[tuple[int, int], int]:
    """How many answers a system (its id) has under a condition (its id), in one query."""
    rows = Answer.objects.filter(question__study=study).values_list("system", "condition")
    return {(system, condition): n for system, condition, n in rows.annotate(Count("pk"))}


# -- side by side -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Listed:
    """One numbered argument beside the answers."""

    number: int
    public_id: UUID
    parts: list[Segment]
    text: str
    label: int | None
    cited: int


@dataclass(frozen=True)
class NumberedArguments:
    """One list of arguments; ``place`` counts the lists of a page from 1."""

    place: int
    entries: list[Listed]


@dataclass(frozen=True)
class Column:
    """One answer as its reader may see it: without origin and address for who must not know."""

    title: str
    about: str
    public_id: UUID | None
    pieces: list[Piece]
    list_place: int | None
    words: int


def in_order(answers: QuerySet[Answer], shuffled_for: User | None) -> list[int]:
    """Keys of answers by system, condition and choice, or shuffled the same way for one person."""
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
) -> tuple[list[Column], list[NumberedArguments]]:
    """The answers of these keys in their order, and the arguments they cite: three queries.

    ``first`` is the number of the first text where texts have numbers instead of names. Who may
    still have to label the arguments gets them without labels.
    """
    found = Answer.objects.select_related("system", "condition").in_bulk(keys)
    answers = [found[key] for key in keys]
    lists = numbered_arguments(question, answers, with_labels=with_labels)
    columns = [
        _column(answer, lists.get(answer.argument_list_id), first + at, is_blind)
        for at, answer in enumerate(answers)
    ]
    return columns, list(lists.values())


def _column(
    answer: Answer, listed: NumberedArguments | None, number: int, is_blind: bool
) -> Column:
    numbers = {entry.number for entry in listed.entries} if listed else set()
    about = "" if is_blind else about_answer(answer)
    return Column(
        title=_("Text %d") % number if is_blind else answer.system.name,
        about=about,
        public_id=None if is_blind else answer.public_id,
        pieces=split_citations(answer.text, numbers),
        list_place=listed.place if listed else None,
        words=count_words(answer.text),
    )


def about_answer(answer: Answer) -> str:
    """Condition and choice in a few words."""
    choice = _("choice %d") % answer.choice
    if answer.scenario == Answer.Scenario.NONE and answer.condition.is_plain:
        return choice
    return " · ".join([answer.condition.name, choice])


def numbered_arguments(
    question: Question, answers: Sequence[Answer], *, with_labels: bool
) -> dict[int | None, NumberedArguments]:
    """The lists of some answers by key, in the order in which the answers need them."""
    needed = dict.fromkeys(each.argument_list_id for each in answers if each.argument_list_id)
    rows = list(
        ListedArgument.objects.filter(argument_list__in=list(needed))
        .select_related("argument")
        .order_by("argument_list", "number")
    )
    wanted = {row.argument_id for row in rows} if with_labels else set()
    labels = relevance_of(question.study, wanted)
    cited = _cited(answers)
    lists: dict[int, list[Listed]] = {key: [] for key in needed}
    for row in rows:
        entry = Listed(
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


def _marked(text: str, question: Question) -> list[Segment]:
    return split_sentence(text, question.comparison.object1, question.comparison.object2)


def _cited(answers: Sequence[Answer]) -> Counter[tuple[int | None, int]]:
    """How many of the answers cite a number of their list."""
    found: Counter[tuple[int | None, int]] = Counter()
    for answer in answers:
        citations = find_citations(answer.text)
        numbers = {number for citation in citations for number in citation.numbers}
        found.update((answer.argument_list_id, number) for number in numbers)
    return found
