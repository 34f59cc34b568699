"""What a prompt makes of arguments: the messages as they would leave. Nothing is stored."""

from collections.abc import Mapping
from dataclasses import dataclass

from annotation.models import Argument
from cqa_site.judging.estimating import estimate_messages
from cqa_site.people.models import Study
from cqa_site.runs.kinds import Subject, kind_of
from cqa_site.runs.models import PromptVersion, Run

from .guidelines import default_levels
from .relevance_judge import KIND, SINGLE

# How many sentences of one comparison stand in the preview of a prompt for several.
SHOWN_TOGETHER = 3


@dataclass(frozen=True, slots=True)
class Preview:
    """Messages for some arguments, their size in tokens, what was noticed about the texts."""

    arguments: list[Argument]
    messages: tuple[Mapping[str, str], ...]
    tokens: int
    flags: list[str]


def preview_prompt(study: Study, version: PromptVersion, argument: Argument) -> Preview:
    """Write the request about an argument of the study, on the study's newest label scale.

    ``version`` may be unsaved. Where its kind asks about several sentences at once, the next
    ones of the same comparison come along. Blank sentences are never judged.
    """
    arguments = [argument]
    if version.kind != SINGLE:
        same = study.arguments.filter(comparison=argument.comparison_id, pk__gte=argument.pk)
        arguments = list(same.exclude(text__regex=r"^\s*$").order_by("pk")[:SHOWN_TOGETHER])
    guideline = study.guidelines.first()
    levels = guideline.levels if guideline else default_levels()
    run = Run(study=study, kind=KIND, prompt=version, spec={"target": {"levels": levels}})
    subject = Subject("preview", tuple(each.pk for each in arguments))
    question = kind_of(run).questions(run, [subject])[0]
    return Preview(
        arguments,
        question.messages,
        estimate_messages(question.messages),
        sorted(set(question.flags)),
    )
