"""The prompts of the scoring judge, and what one request says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_lazy as lazy

from annotation.answers.models.answers import Answer
from annotation.corpus.models.questions import Question
from benchmark.judges.methods.canaries import CANARIES, plant
from benchmark.judges.methods.judgement_schema import judgement_schema
from benchmark.judges.methods.texts import criteria_text, format_text, points_text
from benchmark.judges.reports.calls import CANARY, PLAIN, SWAP, Asked
from benchmark.rubrics.methods.rubric import Rubric
from cqa_site.judging.neutral import fence, fence_token, neutralise, quote
from cqa_site.judging.prompts import Layout, PromptParts, placeholders, render
from cqa_site.runs import kinds
from cqa_site.runs.kind_parts import PromptKind
from cqa_site.runs.models import PromptVersion

SHEET, GROUP = "scoring_sheet", "scoring_group"
FOLDER = Path(__file__).parent.parent / "prompts"
LAYOUT = Layout(("criteria", "format", "examples"), ("question", "aspect", "answer"))
PROMPTS = {
    SHEET: PromptKind(
        lazy("Scores, the whole sheet a request"), LAYOUT, FOLDER / "scoring_sheet.md"
    ),
    GROUP: PromptKind(lazy("Scores, one group a request"), LAYOUT, FOLDER / "scoring_group.md"),
}
NO_ASPECT = "none"


@dataclass(frozen=True, slots=True)
class Shots:
    """The examples of a run: their answers, and the target's entries about them."""

    answers: Sequence[Answer]
    entries: Sequence[Mapping[str, Any]]


def missing_placeholders(prompt: PromptVersion, *, with_examples: bool) -> list[str]:
    """What a prompt must show and does not: the rubric is shown to every judge."""
    wanted = ["criteria", "format", *(["examples"] if with_examples else [])]
    shown = {*placeholders(prompt.system), *placeholders(prompt.user)}
    return [name for name in wanted if name not in shown]


def group_of(prompt: PromptVersion, rubric: Rubric, asked: Asked) -> str | None:
    """The group whose criteria a request asks for; None for all of them."""
    if prompt.kind != GROUP:
        return None
    # A preview has no group; it shows the first.
    return rubric.groups[max(asked.group, 1) - 1].key


class Writer:
    """Writes the requests of one run; what all of them share is written once."""

    def __init__(
        self, prompt: PromptVersion, rubric: Rubric, target: Mapping[str, Any], shots: Shots
    ) -> None:
        self.prompt, self.rubric, self.shots = prompt, rubric, shots
        self.reasons: bool = target["reasons"]
        self.parts = PromptParts(prompt.system, prompt.user, LAYOUT)
        self._shared: dict[str | None, dict[str, str]] = {}

    def write(self, asked: Asked, answer: Answer) -> kinds.Question:
        """One request about an answer, as it is or with what a probe changes."""
        group = group_of(self.prompt, self.rubric, asked)
        text = answer.text
        if asked.probe == CANARY:
            criteria = self.rubric.of_group(group)
            text = plant(CANARIES[asked.variant], text, criteria, reasons=self.reasons)
        shown, noticed = _shown(answer.question, text, is_swapped=asked.probe == SWAP)
        schema = judgement_schema(self.rubric, group=group, with_reasons=self.reasons)
        # What we planted ourselves is no finding about the answers.
        flags = noticed if asked.probe == PLAIN else ()
        messages = render(self.parts, self._common(group) | shown)
        return kinds.Question(tuple(messages), schema, flags)

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
        """Scored answers before the one that is asked about; empty without any."""
        parts = []
        criteria = self.rubric.of_group(group)
        pairs = zip(self.shots.answers, self.shots.entries, strict=True)
        for number, (answer, entry) in enumerate(pairs, start=1):
            shown, _noticed = _shown(answer.question, answer.text)
            points = points_text(entry["points"], entry["notes"], criteria, reasons=self.reasons)
            parts.append(
                f"Example {number}, scored by people.\n\nQuestion: {shown['question']}\n"
                f"Aspect asked about: {shown['aspect']}\n\nAnswer:\n{shown['answer']}\n\n{points}"
            )
        return "\n\n".join(parts)


def question_text(question: Question, *, is_swapped: bool = False) -> str:
    """The question in English, whatever the language of the page: prompts must not depend on it.

    Its own wording is used where it has one and the objects keep their places.
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
    """The texts of one item, made harmless to carry, and what was noticed about the answer."""
    neutral = neutralise(text)
    aspect = neutralise(question.aspect).text
    values = {
        "question": quote(neutralise(question_text(question, is_swapped=is_swapped)).text),
        "aspect": quote(aspect) if aspect.strip() else NO_ASPECT,
        "answer": fence(neutral.text, fence_token("scoring", neutral.text)),
    }
    return values, neutral.flags.names
