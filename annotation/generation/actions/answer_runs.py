"""Runs in which a language model writes answers, and the preview of their prompts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import F, Min, QuerySet
from django.utils.translation import gettext_lazy as lazy

from annotation.answers.actions import choices_before, numbered_texts, system_of
from annotation.answers.methods.answer_text import count_words
from annotation.answers.models import (
    LABELS,
    Answer,
    Condition,
    decoding_of,
    deviations,
    filters_of,
    identity,
    wording_of,
)
from annotation.corpus.models import Question
from annotation.generation.models import GenerationRun
from annotation.labelling.models import label_rounds_of
from cqa_site.judging.reply_parsing import PARSER_VERSION, ReplyNotUsable, parse_prose
from cqa_site.people.models import Study
from cqa_site.runs import kinds
from cqa_site.runs.kinds import EndedCall, PreviewTargets, ReplyReading, Subject
from cqa_site.runs.models import Call, PromptVersion, Reply, Run
from cqa_site.tabular.cells import text_key
from .prompts import (
    SCENARIOS,
    WITH_ARGUMENTS,
    ArgumentDraw,
    chosen_questions,
    count_learned,
    count_left_out,
    draw,
    drawn_lists,
    keep_list,
    parts_of,
    target_of,
    write_request,
)

# Answers by a language model, with one request for each question and choice
#
# Each request asks for a single text, even if an endpoint could return several. Each choice
# therefore has its own reply, its own repetition after truncation, its own cost reserved in
# advance, and its own evidence. Choices are the run's replicates; their numbers continue those of
# the system's earlier answers.

KIND = "answers"
# Lengths are grouped in steps of this many words, so that identical answers share a step.
STEP = 25


class WrittenAnswer(NamedTuple):
    """An answer, and the model reported as its author."""

    text: str
    model: str


class AnswersKind:
    """Run-engine hooks for ``answers`` runs."""

    parser_version = PARSER_VERSION
    values_title = lazy("Lengths in words:")
    dominance = None

    def begin(self, run: Run) -> None:
        """Link the run to the system and condition of its answers."""
        GenerationRun.objects.create(
            run=run, system=system_of(run), condition=condition_of_run(run)
        )

    def subjects(self, run: Run) -> list[Subject]:
        """Return one subject per question, with its argument list once the run exists.

        Scenarios with arguments skip questions that have no argument left.
        """
        if run.prompt.kind not in WITH_ARGUMENTS:
            spec = run.spec
            keys = chosen_questions(run.study, spec["target"], spec["seed"], spec["model"])
            if run.pk is not None:
                GenerationRun.objects.filter(run=run).update(left_out=count_learned(run))
            return [Subject(f"q{question.pk}", (question.pk,)) for question in keys]
        drawn = list(drawn_lists(run))
        if run.pk is None:
            return [_subject(draw) for draw in drawn if draw.arguments]
        # Fix the arguments before anything is sent, because later labels could change them.
        GenerationRun.objects.filter(run=run).update(
            left_out=count_left_out(drawn) | count_learned(run)
        )
        return [_subject(draw, _kept(run, draw)) for draw in drawn if draw.arguments]

    def questions(self, run: Run, subjects: Sequence[Subject]) -> list[kinds.CallRequest]:
        """Write the prompts, with a bounded number of queries."""
        keys = [subject.ids[0] for subject in subjects]
        rows = run.study.questions.select_related("comparison").in_bulk(keys)
        texts = _texts(run, subjects, rows)
        parts, target = parts_of(run.prompt), run.spec["target"]
        return [
            write_request(parts, rows[subject.ids[0]], target, texts.get(subject.ids[0]))
            for subject in subjects
        ]

    def read(self, run: Run, call: Call, reply: Reply) -> ReplyReading:
        """Read one reply into `WrittenAnswer`."""
        try:
            text = parse_prose(reply.text, reply.finish_reason, refusal=reply.refusal)
        except ReplyNotUsable as problem:
            return ReplyReading.unscored(problem.reason)
        return ReplyReading(value=WrittenAnswer(text, reply.model))

    def store(self, run: Run, ended: Sequence[EndedCall]) -> None:
        """Store one answer for each call that returned a text; stored answers never change."""
        generation = GenerationRun.objects.get(run=run)
        under = condition_of_run(run).pk if run.amendments else generation.condition_id
        system = generation.system_id
        written = [reply for reply in ended if not reply.reading.reason]
        questions = {reply.call.subject_ids[0] for reply in written}
        before = choices_before(run, system=system, condition=under, questions=questions)
        Answer.objects.bulk_create(
            _answer(run, system, under, reply, before[reply.call.subject_ids[0]])
            for reply in written
        )

    def values(self, run: Run) -> dict[str, int]:
        """Count the answers by their length in words, shortest first."""
        texts = run.answers.values_list("text", flat=True)
        steps = Counter(count_words(text) // STEP for text in texts)
        return {f"{STEP * at}–{STEP * at + STEP - 1}": steps[at] for at in sorted(steps)}

    def texts(self, run: Run) -> Sequence[str]:
        """Return the texts of the answers written so far."""
        return list(run.answers.order_by("pk").values_list("text", flat=True))

    def check(self, run: Run) -> list[str]:
        """Check that only finished calls have an answer, and that it matches the reply."""
        answers = run.answers.select_related("call__reply").order_by("pk")
        problems = []
        seen: Counter[int | None] = Counter()
        firsts = _firsts(run)
        for answer in answers.iterator(200):
            seen[answer.call_id] += 1
            first = firsts[answer.question_id, answer.condition_id]
            if contradiction := _contradiction(answer, first):
                problems.append(f"answer {answer.pk} {contradiction}")
        done = set(run.calls.filter(state=Call.State.DONE).values_list("pk", flat=True))
        problems += [f"call {pk} has {seen[pk]} answers" for pk in done if seen[pk] != 1]
        problems += [f"call {pk} has an answer but is not done" for pk in seen if pk not in done]
        return problems


def _subject(drawn: ArgumentDraw, *lists: int) -> Subject:
    return Subject(f"q{drawn.question.pk}", (drawn.question.pk, *lists))


def _kept(run: Run, drawn: ArgumentDraw) -> int:
    return keep_list(drawn, run.spec["target"], run.spec["seed"]).pk


def _texts(
    run: Run, subjects: Sequence[Subject], questions: Mapping[int, Question]
) -> dict[int, Mapping[int, str]]:
    """Map questions to sentences by number; draw them if no list is stored, as in an estimate."""
    if run.prompt.kind not in WITH_ARGUMENTS:
        return {}
    list_keys = {subject.ids[0]: subject.ids[1] for subject in subjects if len(subject.ids) > 1}
    lists = numbered_texts(list_keys.values())
    fresh = [question for pk, question in questions.items() if pk not in list_keys]
    drawn = draw(run.study, fresh, run.spec["target"], run.spec["seed"])
    texts: dict[int, Mapping[int, str]] = {key: lists[pk] for key, pk in list_keys.items()}
    for selection in drawn:
        texts[selection.question.pk] = {
            number: argument.text for number, argument in selection.numbered
        }
    return texts


def _answer(run: Run, system: int, under: int, reply: EndedCall, before: int) -> Answer:
    written: WrittenAnswer = reply.reading.value
    return Answer(
        study_id=run.study_id,
        question_id=reply.call.subject_ids[0],
        system_id=system,
        condition_id=under,
        scenario=SCENARIOS[run.prompt.kind],
        choice=before + reply.call.replicate + 1,
        argument_list_id=reply.call.subject_ids[1] if len(reply.call.subject_ids) > 1 else None,
        text=written.text,
        text_sha256=text_key(written.text),
        run=run,
        call=reply.call,
        prompt_id=run.prompt_id,
        model=written.model,
    )


def _firsts(run: Run) -> dict[tuple[int, int], int]:
    """Map (question, condition) to the choice number of the run's first replicate."""
    first = Min(F("choice") - F("call__replicate"))
    rows = run.answers.order_by().values_list("question", "condition").annotate(first=first)
    return {(question, under): choice for question, under, choice in rows}


def _contradiction(answer: Answer, first: int) -> str:
    """Return the first inconsistency between answer and call, or an empty text if consistent."""
    call = answer.call
    if text_key(answer.text) != answer.text_sha256:
        return "does not match its hash"
    if call is None:
        return "has no call"
    if call.reply is None or _said(call.reply) != answer.text:
        return "differs from its reply"
    if answer.question_id != call.subject_ids[0]:
        return "does not match its call"
    if answer.choice != first + call.replicate or first < 1:
        return "is not in its run's order"
    return ""


def _said(reply: Reply) -> str:
    """Return the text of a reply, even if truncated, or an empty text if it is not usable."""
    try:
        return parse_prose(reply.text, "stop")
    except ReplyNotUsable:
        return ""


def condition_of_run(run: Run) -> Condition:
    """Return the current condition of a run's answers; parameters may have been corrected."""
    target = run.spec["target"]
    return condition(
        run.study,
        scenario=SCENARIOS[run.prompt.kind],
        prompt=run.prompt,
        filters=filters_of(target, shows_arguments=run.prompt.kind in WITH_ARGUMENTS),
        wording=wording_of(target),
        decoding=decoding_of(run.params),
    )


def condition(
    study: Study,
    *,
    scenario: int,
    prompt: PromptVersion | None = None,
    filters: Mapping[str, Any] | None = None,
    wording: Mapping[str, Any] | None = None,
    decoding: Mapping[str, Any] | None = None,
) -> Condition:
    """Return the study's condition with these parts; imports give only a scenario."""
    parts = {
        "filters": dict(filters or {}),
        "wording": dict(wording or {}),
        "decoding": dict(decoding or {}),
    }
    key = identity(scenario=scenario, prompt=prompt.sha256 if prompt else "", **parts)
    row, _is_new = Condition.objects.get_or_create(
        study=study,
        sha256=key,
        defaults={
            **parts,
            "scenario": scenario,
            "prompt": prompt,
            "prompt_number": prompt.number if prompt else None,
            "labels_name": _labels_name(study, parts["filters"]),
            "is_plain": not deviations(parts["filters"], parts["wording"]),
        },
    )
    return row


def _labels_name(study: Study, filters: Mapping[str, Any]) -> str:
    """Return the current name of the round whose labels filter the arguments."""
    if LABELS not in filters:
        return ""
    named = label_rounds_of(study).filter(public_id=filters[LABELS])
    return named.values_list("name", flat=True).first() or ""


def _questions(study: Study) -> QuerySet[Question]:
    return study.questions.order_by("pk")


def _sample_answer(
    study: Study, version: PromptVersion, question: Question
) -> tuple[Run, list[Question]]:
    """Return a sample run and its question, with the arguments drawn by default."""
    spec = {"target": target_of(), "seed": 1}
    run = Run(study=study, kind=KIND, prompt=version, spec=spec)
    return run, [question]


ANSWERS = PreviewTargets(lazy("Question"), _questions, _sample_answer)
