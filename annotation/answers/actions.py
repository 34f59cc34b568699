"""Create questions, systems and argument lists, and record the training data of models."""

import hashlib
import json
import uuid
from collections.abc import Iterable, Sequence
from typing import Any

from django.db import IntegrityError, transaction

from annotation.answers.models import Answer, LearnedComparison, System
from annotation.answers.reports import numbered_labels, numbered_texts, relevance_of, whose_labels
from annotation.corpus.models import Argument, ArgumentList, Comparison, ListedArgument, Question
from cqa_site.people.access import record
from cqa_site.people.models import Study, User
from cqa_site.runs.models import Run


class AlreadyThere(Exception):
    """The study already has this question, or a system with this name; the message names it."""


def add_question(
    *, comparison: Comparison, aspect: str = "", wording: str = "", actor: User | None
) -> Question:
    """Create a question about a comparison; raise AlreadyThere if it exists."""
    fields = {"comparison": comparison, "aspect": aspect.strip(), "wording": wording.strip()}
    try:
        with transaction.atomic():
            question = Question.objects.create(study=comparison.study, **fields)
    except IntegrityError as error:
        raise AlreadyThere(str(Question(**fields))) from error
    record(study=comparison.study, actor=actor, verb="question_added", subject=str(question))
    return question


@transaction.atomic
def add_missing_questions(*, study: Study, actor: User | None) -> int:
    """Create a plain question for every comparison without one; return the number created."""
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    questions = Question.objects.bulk_create(
        Question(study=study, comparison=comparison)
        for comparison in study.comparisons.filter(questions__isnull=True)
    )
    if questions:
        record(
            study=study,
            actor=actor,
            verb="questions_added",
            subject=study.name,
            number=len(questions),
        )
    return len(questions)


def change_system(*, system: System, name: str, kind: str, actor: User | None) -> None:
    """Change the name and kind of a system; raise AlreadyThere if the name is taken."""
    before = {"name": system.name, "kind": system.kind}
    if before == {"name": name, "kind": kind}:
        return
    system.name, system.kind = name, kind
    try:
        with transaction.atomic():
            system.save(update_fields=["name", "kind"])
    except IntegrityError as error:
        system.name, system.kind = before["name"], before["kind"]
        raise AlreadyThere(name) from error
    record(study=system.study, actor=actor, verb="system_changed", subject=name, before=before)


NAME_LENGTH = System._meta.get_field("name").max_length


def system_of(run: Run) -> System:
    """Return the study's system for a run's endpoint and model, creating it on first use."""
    model = run.spec["model"]
    ours = run.study.systems.filter(generation_runs__run__endpoint=run.endpoint_id, model=model)
    return ours.order_by("pk").first() or _new_system(run.study, model, run.endpoint.name)


def _new_system(study: Study, model: str, endpoint: str) -> System:
    """Create a system named after the model, or after model and endpoint if the name is taken."""
    names = [model, f"{model} · {endpoint}"]
    names += [f"{model} · {number}" for number in range(2, 1_000)]
    for name in names:
        system, is_new = System.objects.get_or_create(
            study=study,
            name=name[:NAME_LENGTH],
            defaults={"kind": System.Kind.MODEL, "model": model},
        )
        if is_new:
            return system
    raise RuntimeError("a thousand systems have the name of this model")


def choices_before(
    run: Run, *, system: int, condition: int, questions: Iterable[int]
) -> dict[int, int]:
    """Map each question to the number of choices before a run's first choice.

    A run's answers to a question are numbered consecutively, in the order of the replicates, not
    of the replies. Their numbers follow the highest existing choice and any choices that an
    unfinished run may still add. The first answer fixes the numbers of the others, so a reply
    that is read again, or requested again much later, gets the number it would have had.

    Call this only while storing answers. A model's system belongs to one endpoint, whose lock
    lets only one worker store answers at a time, so no two runs see the same last number.
    """
    wanted = set(questions)
    rows = Answer.objects.filter(
        study=run.study_id, question__in=wanted, system=system, condition=condition
    )
    answers = rows.order_by().values_list(
        "question", "run", "choice", "call__replicate", "run__spec__replicates"
    )
    before, own = dict.fromkeys(wanted, 0), {}
    for question, by, choice, replicate, replicates in answers:
        if by == run.pk:
            own[question] = choice - replicate - 1
        else:
            last = choice if by is None else choice - replicate - 1 + replicates
            before[question] = max(before[question], last)
    return before | own


# Numbered lists of arguments, each stored once per question; `reports` reads them

__all__ = [
    "argument_list", "list_key", "numbered_labels", "numbered_texts", "relevance_of",
    "whose_labels",
]  # fmt: skip


def list_key(numbered: Iterable[tuple[int, str]]) -> str:
    """Return the SHA-256 that identifies a list, computed from its numbers and texts in order."""
    pairs = [[number, text] for number, text in numbered]
    return hashlib.sha256(json.dumps(pairs, ensure_ascii=False).encode()).hexdigest()


def argument_list(
    question: Question, numbered: Sequence[tuple[int, Argument]], recipe: dict[str, Any]
) -> ArgumentList:
    """Return the list of the given arguments with their numbers, creating it if necessary.

    ``recipe`` describes how the list was drawn and is stored only with a new list. Raises
    ValueError if a number occurs twice.
    """
    if len({number for number, _argument in numbered}) < len(numbered):
        raise ValueError("two arguments have the same number")
    key = list_key((number, argument.text) for number, argument in numbered)
    known_list = ArgumentList.objects.filter(question=question, sha256=key).first()
    if known_list is not None:
        return known_list
    try:
        with transaction.atomic():
            return _make_list(question, numbered, recipe, key)
    except IntegrityError:
        # Another process created the same list between the two statements.
        return ArgumentList.objects.get(question=question, sha256=key)


def _make_list(
    question: Question, numbered: Sequence[tuple[int, Argument]], recipe: dict, key: str
) -> ArgumentList:
    new_list = ArgumentList.objects.create(question=question, sha256=key, recipe=recipe)
    ListedArgument.objects.bulk_create(
        ListedArgument(argument_list=new_list, number=number, argument=argument)
        for number, argument in numbered
    )
    return new_list


MOST_BYTES = 256 * 1024 * 1024


class NotPairs(Exception):
    """A file does not name questions of the study; the message gives the place and the reason."""


def question_ids(lines: Iterable[str | bytes], name: str) -> set[uuid.UUID]:
    """Return the ids of the questions named in a *Training data* file of pairs."""
    public_ids = set()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            public_ids.add(uuid.UUID(json.loads(line)["about"]["question"]))
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            text = f"{name}, line {number}: the pair does not name its question (about, question)."
            raise NotPairs(text) from problem
    if not public_ids:
        raise NotPairs(f"{name} has no pairs.")
    return public_ids


@transaction.atomic
def mark_learned(
    *, system: System, questions: Iterable[uuid.UUID], source: str, actor: User | None
) -> int:
    """Record the questions a system's model was trained on; return how many comparisons are new.

    All questions about the same two objects count as learned. Raises NotPairs if a question
    is not in the study.
    """
    wanted = set(questions)
    rows = system.study.questions.filter(public_id__in=wanted)
    if missing := sorted(map(str, wanted - set(rows.values_list("public_id", flat=True)))):
        raise NotPairs(f"{len(missing)} questions are not in this study, such as {missing[0]}.")
    known = set(system.learned.values_list("comparison_id", flat=True))
    fresh = set(rows.values_list("comparison_id", flat=True)) - known
    LearnedComparison.objects.bulk_create(
        (
            LearnedComparison(system=system, comparison_id=key, source=source[:200])
            for key in sorted(fresh)
        ),
        ignore_conflicts=True,
    )
    if fresh:
        record(
            study=system.study,
            actor=actor,
            verb="system_learned",
            subject=system.name,
            comparisons=len(fresh),
            source=source,
        )
    return len(fresh)
