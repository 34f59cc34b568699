"""Lengths and choices of a run's answers, comparison of two runs, and subjects of calls."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as lazy, ngettext

from annotation.answers.methods.answer_text import count_words
from annotation.answers.methods.checklist import find_choice
from annotation.answers.models import Answer
from annotation.corpus.models import Question
from cqa_site.people.models import Study
from cqa_site.runs.kinds import CallSubjects, RequestItem, Titles
from cqa_site.runs.models import Call, Run

# Finding the choice takes about 2 ms per text, while the page waits.
MOST_READ = 500
FIRST, SECOND, NEITHER, UNCLEAR, NONE = "object1", "object2", "neither", "unclear", "none"
CHOICES: dict[str, Promise] = {
    FIRST: lazy("the first object"),
    SECOND: lazy("the second object"),
    NEITHER: lazy("neither: the answer declines to choose"),
    UNCLEAR: lazy("a word that names neither object"),
    NONE: lazy("no part that names a choice"),
}
LEFT_OUT: dict[str, Promise] = {
    "blank": lazy("arguments without a sentence"),
    "unlabelled": lazy("arguments without a final label"),
    "relevance": lazy("arguments with another label"),
    "unclear": lazy("arguments that do not clearly favour either object"),
    "other_object": lazy("arguments for the other object"),
    "too_many": lazy("arguments beyond the maximum per question"),
    "learned": lazy("questions that the model was trained on"),
    "questions": lazy("questions left without arguments and therefore not asked"),
}


@dataclass(frozen=True, slots=True)
class AnswerChoice:
    """One answer with its length in words and its choice (see `CHOICES`)."""

    answer: Answer
    words: int
    choice: str


@dataclass(frozen=True, slots=True)
class Spread:
    """Lengths and choices in a run, based on the first `read` of its `answers`."""

    answers: int
    read: int
    words_mean: float | None
    words_least: int | None
    words_most: int | None
    choices: dict[str, int]


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """Answers of two runs to one question."""

    question: Question
    first: list[AnswerChoice]
    second: list[AnswerChoice]
    is_changed: bool | None


@dataclass(frozen=True, slots=True)
class AnswersComparison:
    """Comparison of two runs on the questions they share.

    `decided` counts the questions for which, in both runs, most answers choose one object;
    `changed` counts those for which the runs choose different objects.
    """

    pairs: list[AnswerPair]
    first: Spread
    second: Spread
    decided: int
    changed: int


def read_answers(run: Run) -> list[AnswerChoice]:
    """Return a run's first answers, in the order of questions, with lengths and choices."""
    answers = run.answers.select_related("question__comparison").order_by("question", "choice")
    return [say(answer) for answer in answers[:MOST_READ]]


def say(answer: Answer) -> AnswerChoice:
    """Return the length and choice of an answer; its question's comparison must be loaded."""
    pair = answer.question.comparison
    match = find_choice(answer.text, pair.object1, pair.object2)
    if match is None:
        choice = NONE
    else:
        choice = {1: FIRST, 2: SECOND, 0: NEITHER, None: UNCLEAR}[match.meant]
    return AnswerChoice(answer, count_words(answer.text), choice)


def spread_of(run: Run, choices: Sequence[AnswerChoice]) -> Spread:
    """Return the lengths and choices; ``choices`` is the result of `read_answers`."""
    words = [choice.words for choice in choices]
    counted = Counter(choice.choice for choice in choices)
    return Spread(
        answers=run.answers.count(),
        read=len(choices),
        words_mean=sum(words) / len(words) if words else None,
        words_least=min(words, default=None),
        words_most=max(words, default=None),
        choices={name: counted[name] for name in CHOICES if counted[name]},
    )


def compare_answers(first: Run, second: Run) -> AnswersComparison:
    """Compare two runs of one study, question by question."""
    choices = [read_answers(run) for run in (first, second)]
    by_question = [_by_question(run_choices) for run_choices in choices]
    pairs = [
        _pair(answers, by_question[1][key])
        for key, answers in by_question[0].items()
        if key in by_question[1]
    ]
    verdicts = [pair.is_changed for pair in pairs if pair.is_changed is not None]
    return AnswersComparison(
        pairs,
        spread_of(first, choices[0]),
        spread_of(second, choices[1]),
        decided=len(verdicts),
        changed=sum(verdicts),
    )


def _by_question(choices: Sequence[AnswerChoice]) -> dict[int, list[AnswerChoice]]:
    question: dict[int, list[AnswerChoice]] = defaultdict(list)
    for choice in choices:
        question[choice.answer.question_id].append(choice)
    return question


def _pair(first: list[AnswerChoice], second: list[AnswerChoice]) -> AnswerPair:
    chosen = (_chosen(first), _chosen(second))
    is_changed = None if None in chosen else chosen[0] != chosen[1]
    return AnswerPair(first[0].answer.question, first, second, is_changed)


def _chosen(choices: Sequence[AnswerChoice]) -> str | None:
    """Return the object that more than half of the answers choose."""
    choice, count = Counter(answer.choice for answer in choices).most_common(1)[0]
    return choice if choice in (FIRST, SECOND) and count > len(choices) / 2 else None


def _questions(study: Study, calls: Sequence[Call]) -> dict[int, list[RequestItem | None]]:
    keys = {call.subject_ids[0] for call in calls}
    questions = study.questions.select_related("comparison").in_bulk(keys)
    answers = Answer.objects.filter(call__in=[call.pk for call in calls])
    call_answers = {answer.call_id: answer for answer in answers}
    return {
        call.pk: [_question(questions.get(call.subject_ids[0]), call, call_answers.get(call.pk))]
        for call in calls
    }


def _question(question: Question | None, call: Call, answer: Answer | None) -> RequestItem | None:
    if question is None:
        return None
    value = ""
    if answer is not None:
        words = count_words(answer.text)
        value = ngettext("%d word", "%d words", words) % words
    reason = call.reason if call.state == Call.State.UNSCORED else ""
    return RequestItem(
        str(question), str(question.comparison), value, reason=reason, answer=answer
    )


ANSWERS_CALLS = CallSubjects(Titles(lazy("Question"), lazy("Answer"), lazy("Text")), _questions)
