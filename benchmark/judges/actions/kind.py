"""The run kind "scoring", with its prompts, rater and preview."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db.models import Model, QuerySet
from django.utils.translation import gettext_lazy as lazy

from annotation.answers.models import Answer
from annotation.corpus.models import Question
from benchmark.judges.methods.canaries import CANARIES, CANARY, PLAIN, SWAP, ScoringCallKey, plant
from benchmark.judges.methods.judgements import (
    READER_VERSION,
    criteria_text,
    format_text,
    judgement_schema,
    points_text,
    read_judgement,
)
from benchmark.rubrics.methods.rubric import Rubric
from benchmark.rubrics.models import RubricVersion, default_rubric
from benchmark.scoring.models import ScoringRun
from cqa_site.judging.prompts import (
    PromptLayout,
    PromptParts,
    fence,
    fence_token,
    neutralise,
    placeholders,
    quote,
    render,
)
from cqa_site.people.models import Rater, Study
from cqa_site.runs import kinds
from cqa_site.runs.actions.runs import RunRefused
from cqa_site.runs.kinds import (
    CallRequest,
    EndedCall,
    PreviewTargets,
    PromptKind,
    ReplyReading,
    Subject,
    rater_of,
)
from cqa_site.runs.models import Call, PromptVersion, Reply, Run
from cqa_site.runs.planning import MOST
from .storage import find_problems, store_ended
from .targets import (
    example_answers,
    held_out,
    is_the_text_of,
    refuse_contamination,
    rubric_of,
    subjects_of,
    target_of,
)

SHEET, GROUP = "scoring_sheet", "scoring_group"
FOLDER = Path(__file__).parent.parent / "prompts"
LAYOUT = PromptLayout(("criteria", "format", "examples"), ("question", "aspect", "answer"))
PROMPTS = {
    SHEET: PromptKind(lazy("Scores, one request per sheet"), LAYOUT, FOLDER / "scoring_sheet.md"),
    GROUP: PromptKind(lazy("Scores, one request per group"), LAYOUT, FOLDER / "scoring_group.md"),
}
NO_ASPECT = "none"


@dataclass(frozen=True, slots=True)
class Shots:
    """Examples of a run: their answers, and their entries in the target."""

    answers: Sequence[Answer]
    entries: Sequence[Mapping[str, Any]]


def missing_placeholders(prompt: PromptVersion, *, with_examples: bool) -> list[str]:
    """Return the required placeholders that a prompt lacks; every judge must see the rubric."""
    wanted = ["criteria", "format", *(["examples"] if with_examples else [])]
    names = {*placeholders(prompt.system), *placeholders(prompt.user)}
    return [name for name in wanted if name not in names]


def group_of(prompt: PromptVersion, rubric: Rubric, key: ScoringCallKey) -> str | None:
    """Return the group whose criteria a request covers; None for all criteria."""
    if prompt.kind != GROUP:
        return None
    # A preview has no group and shows the first one.
    return rubric.groups[max(key.group, 1) - 1].key


class RequestWriter:
    """Writes the requests of one run, with shared parts written only once."""

    def __init__(
        self, prompt: PromptVersion, rubric: Rubric, target: Mapping[str, Any], shots: Shots
    ) -> None:
        self.prompt, self.rubric, self.shots = prompt, rubric, shots
        self.reasons: bool = target["reasons"]
        self.parts = PromptParts(prompt.system, prompt.user, LAYOUT)
        self._shared: dict[str | None, dict[str, str]] = {}

    def write(self, key: ScoringCallKey, answer: Answer) -> kinds.CallRequest:
        """Return the request for one answer; probes have planted text or swapped objects."""
        group = group_of(self.prompt, self.rubric, key)
        text = answer.text
        if key.probe == CANARY:
            criteria = self.rubric.of_group(group)
            text = plant(CANARIES[key.variant], text, criteria, reasons=self.reasons)
        fields, noticed = _shown(answer.question, text, is_swapped=key.probe == SWAP)
        schema = judgement_schema(self.rubric, group=group, with_reasons=self.reasons)
        # Flags raised by planted text say nothing about the answers.
        flags = noticed if key.probe == PLAIN else ()
        messages = render(self.parts, self._common(group) | fields)
        return kinds.CallRequest(tuple(messages), schema, flags)

    def _common(self, group: str | None) -> dict[str, str]:
        if group not in self._shared:
            criteria = self.rubric.of_group(group)
            self._shared[group] = {
                "criteria": criteria_text(self.rubric, group),
                "format": format_text(criteria, reasons=self.reasons),
                "examples": self._examples(group),
            }
        return self._shared[group]

    def _examples(self, group: str | None) -> str:
        """Return the scored examples shown before the answer; empty if there are none."""
        parts = []
        criteria = self.rubric.of_group(group)
        pairs = zip(self.shots.answers, self.shots.entries, strict=True)
        for number, (answer, entry) in enumerate(pairs, start=1):
            fields, _noticed = _shown(answer.question, answer.text)
            points = points_text(entry["points"], entry["notes"], criteria, reasons=self.reasons)
            parts.append(
                f"Example {number}, scored by people.\n\nQuestion: {fields['question']}\n"
                f"Aspect asked about: {fields['aspect']}\n\n"
                f"Answer:\n{fields['answer']}\n\n{points}"
            )
        return "\n\n".join(parts)


def question_text(question: Question, *, is_swapped: bool = False) -> str:
    """Return the question in English, because prompts must not depend on the page language.

    The question's own wording is used, if it has one and the objects are not swapped.
    """
    if question.wording and not is_swapped:
        return question.wording
    pair = [question.comparison.object1, question.comparison.object2]
    first, second = pair[::-1] if is_swapped else pair
    if question.aspect:
        return f"Which is better for {question.aspect}: {first} or {second}?"
    return f"Which is better: {first} or {second}?"


def _shown(
    question: Question, text: str, *, is_swapped: bool = False
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the neutralized texts of one item, and the flags raised for the answer."""
    neutral = neutralise(text)
    aspect = neutralise(question.aspect).text
    values = {
        "question": quote(neutralise(question_text(question, is_swapped=is_swapped)).text),
        "aspect": quote(aspect) if aspect.strip() else NO_ASPECT,
        "answer": fence(neutral.text, fence_token("scoring", neutral.text)),
    }
    return values, neutral.flags.names


# The scoring judge: a language model that fills in the same sheet as people
#
# The kind of the prompt version decides whether one reply covers the whole sheet or one group of
# criteria.

KIND = "scoring"


class ScoringKind:
    """Implementation of the run kind ``scoring`` for the engine."""

    parser_version = READER_VERSION
    values_title = lazy("Totals:")
    dominance = MOST

    def begin(self, run: Run) -> None:
        """Link the run to its rubric, its examples and its rater."""
        target = run.spec["target"]
        rubric = run.study.rubric_versions.get(public_id=target["rubric"])
        refuse_unfit(run, rubric)
        ScoringRun.objects.create(
            run=run,
            rubric=rubric,
            rater=_rater(run),
            examples=[answer.pk for answer in example_answers(run.study, target)],
        )

    def subjects(self, run: Run) -> list[Subject]:
        """Return one subject per answer, or one per group of criteria, followed by the probes."""
        target = run.spec["target"]
        groups = len(rubric_of(target).groups) if run.prompt.kind == GROUP else 0
        return subjects_of(run.study, target, run.spec["seed"], groups)

    def questions(self, run: Run, subjects: Sequence[Subject]) -> list[CallRequest]:
        """Write the prompts, using two queries.

        Raises `ContaminatedTargetError` if one of the answers is held out.
        """
        target = run.spec["target"]
        keys = [ScoringCallKey(*subject.ids) for subject in subjects]
        examples = example_answers(run.study, target)
        rows = Answer.objects.filter(study=run.study).select_related("question__comparison")
        answers = rows.in_bulk({key.answer for key in keys})
        refuse_contamination(list(answers.values()), held_out(examples, target))
        shots = Shots(examples, target["examples"])
        writer = RequestWriter(run.prompt, rubric_of(target), target, shots)
        return [writer.write(key, answers[key.answer]) for key in keys]

    def read(self, run: Run, call: Call, reply: Reply) -> ReplyReading:
        """Read one reply into a `Judgement` with all requested criteria, or with a reason."""
        rubric = rubric_of(run.spec["target"])
        group = group_of(run.prompt, rubric, ScoringCallKey(*call.subject_ids))
        judgement = read_judgement(
            reply.text, reply.finish_reason, rubric, group=group, refusal=reply.refusal
        )
        if judgement.is_scored:
            return ReplyReading(value=judgement)
        return ReplyReading.unscored(judgement.reading, judgement)

    def store(self, run: Run, ended: Sequence[EndedCall]) -> None:
        """Store one sheet per answer and replicate; keep stored probes out of all means."""
        store_ended(run, ended)

    def values(self, run: Run) -> dict[str, int]:
        """Count how often each total occurs, by group if a reply covers a single group."""
        totals: Counter[tuple[str, Any]] = Counter()
        if run.prompt.kind == GROUP:
            parts = run.judgement_parts.filter(reason="").values_list("group", "points")
            totals.update((group, sum(points.values())) for group, points in parts)
        else:
            sheets = run.score_sheets.filter(total__isnull=False)
            totals.update(("", total) for total in sheets.values_list("total", flat=True))
        return {
            f"{group}: {total:g}" if group else f"{total:g}": n
            for (group, total), n in sorted(totals.items())
        }

    def texts(self, run: Run) -> Sequence[str]:
        """Return no texts, because judges give points and not prose."""
        return ()

    def check(self, run: Run) -> list[str]:
        """Check sheets, parts and probes against the ledger and the stored replies."""
        return find_problems(run, self.read)


def refuse_unfit(run: Run, rubric: RubricVersion) -> None:
    """Raise `RunRefused` if the judge would not see the same rubric and scale as people."""
    target = run.spec["target"]
    if not is_the_text_of(rubric, target):
        raise RunRefused("The plan does not contain the text of this rubric version.")
    if rubric.rubric.allows_halves:
        raise RunRefused("Judges give whole points, but this rubric allows half points.")
    if missing := missing_placeholders(run.prompt, with_examples=bool(target["examples"])):
        names = ", ".join(f"{{{{{name}}}}}" for name in missing)
        raise RunRefused(f"The prompt does not show {names}.")


def _rater(run: Run) -> Rater:
    """Return the rater of a run.

    Each combination of model, prompt, rubric, number of examples and parameters has one rater.

    The choice of examples does not matter, so two runs that hold out different answers complement
    each other.
    """
    target = run.spec["target"]
    shots = len(target["examples"])
    return rater_of(
        run,
        rater_name(run.spec["model"], shots, run.prompt),
        rubric=target["rubric_sha256"],
        shots=shots,
        reasons=target["reasons"],
    )


def rater_name(model: str, shots: int, prompt: PromptVersion) -> str:
    """Return the name of a judge in tables."""
    return f"{model} · {shots}-shot · {prompt}"[:120]


def _answers(study: Study) -> QuerySet[Answer]:
    """Return the answers to choose from; blank answers are never judged."""
    return study.answers.exclude(text__regex=r"^\s*$").order_by("pk")


def _draft(study: Study, version: PromptVersion, answer: Model) -> tuple[Run, list[Model]]:
    """Return a preview run with the study's newest rubric and without examples."""
    rubric = study.rubric_versions.order_by("-created_at", "-pk").first() or default_rubric(study)
    spec = {"target": target_of(rubric), "seed": 1}
    return Run(study=study, kind=KIND, prompt=version, spec=spec), [answer]


SCORING = PreviewTargets(
    lazy("Answer"), _answers, _draft, lambda answers: tuple(ScoringCallKey(answers[0].pk))
)
