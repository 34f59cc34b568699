"""The four scenarios: their prompts, and what a request for one answer says."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_lazy as lazy

from annotation.answers.models.answers import Answer
from annotation.corpus.models.questions import Question
from cqa_site.judging.neutral import Neutral, fence_items, fence_token, neutralise, quote
from cqa_site.judging.prompts import Layout, PromptParts, render
from cqa_site.runs import kinds
from cqa_site.runs.kind_parts import PromptKind
from cqa_site.runs.models import PromptVersion

FOLDER = Path(__file__).parents[1] / "prompts"

SCENARIOS = {f"answer_{number}": Answer.Scenario(number) for number in range(1, 5)}
WITH_ARGUMENTS = ("answer_2", "answer_4")
_ALWAYS = ("object1", "object2", "details")
_NAMES = (
    lazy("Answers, scenario 1"),
    lazy("Answers, scenario 2"),
    lazy("Answers, scenario 3"),
    lazy("Answers, scenario 4"),
)
PROMPTS = {
    kind: PromptKind(
        name,
        Layout((), (*_ALWAYS, "arguments") if kind in WITH_ARGUMENTS else _ALWAYS),
        FOLDER / f"answer_scenario_{scenario}.md",
    )
    for (kind, scenario), name in zip(SCENARIOS.items(), _NAMES, strict=True)
}


def parts_of(version: PromptVersion) -> PromptParts:
    """The texts of a version with the placeholders of its scenario."""
    return PromptParts(version.system, version.user, PROMPTS[version.kind].layout)


def write_request(
    parts: PromptParts,
    question: Question,
    target: Mapping[str, Any],
    arguments: Mapping[int, str] | None,
) -> kinds.Question:
    """One request; what the study's texts say goes in quoted and without hidden characters.

    ``arguments`` are number → sentence, None where the scenario shows none.
    """
    pair = question.comparison
    values = {
        "object1": quote(neutralise(pair.object1).text),
        "object2": quote(neutralise(pair.object2).text),
        "details": _details(question, target),
    }
    shown: list[Neutral] = []
    if arguments is not None:
        shown = [neutralise(text) for text in arguments.values()]
        plain = [one.text for one in shown]
        numbered = list(zip(arguments, plain, strict=True))
        values["arguments"] = fence_items(numbered, fence_token("answers", *plain))
    flags = tuple(name for one in shown for name in one.flags.names)
    return kinds.Question(tuple(render(parts, values)), flags=flags)


def _details(question: Question, target: Mapping[str, Any]) -> str:
    """Lines about aspect and wording that follow the objects; empty where there are none."""
    lines = []
    if target["uses_aspect"] and question.aspect:
        lines.append(f"Focus on this aspect: {quote(neutralise(question.aspect).text)}")
    if target["uses_wording"] and question.wording:
        lines.append(f"The question as it was asked: {quote(neutralise(question.wording).text)}")
    return "".join(f"\n{line}" for line in lines)
