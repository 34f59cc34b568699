"""What a prompt makes of arguments or questions: the messages as they would leave.

Nothing is stored.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Model, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as lazy

from annotation.models import Answer, Argument, Question
from cqa_site.judging.estimating import estimate_messages
from cqa_site.people.models import Study
from cqa_site.runs.kind_parts import part_of, run_kind_of
from cqa_site.runs.kinds import Subject, kind_of
from cqa_site.runs.models import PromptVersion, Run

from . import answer_generation, coherence_judge, relevance_judge
from .answer_targets import target_of
from .coherence_texts import citing_answers, first_citation
from .guidelines import default_levels

# How many sentences of one comparison stand in the preview of a prompt for several.
SHOWN_TOGETHER = 3


@dataclass(frozen=True, slots=True)
class Preview:
    """Messages for some items, their size in tokens, what was noticed about the texts."""

    items: list[Model]
    messages: tuple[Mapping[str, str], ...]
    tokens: int
    flags: list[str]


def _keys(items: Sequence[Model]) -> tuple[int, ...]:
    return tuple(each.pk for each in items)


@dataclass(frozen=True, slots=True)
class Previewed:
    """What prompts of one kind of run are tried out on.

    Parameters
    ----------
    name
        What one item is called.
    items
        All items of a study that such a prompt may meet.
    draft
        An unsaved run with this prompt, and the items that its request is about.
    ids
        What the request's subject is known by: the items' keys, or what a kind makes of them.
    """

    name: Promise
    items: Callable[[Study], QuerySet]
    draft: Callable[[Study, PromptVersion, Model], tuple[Run, list[Model]]]
    ids: Callable[[Sequence[Model]], tuple[int, ...]] = _keys


def previewed(version_kind: str) -> Previewed:
    """What prompts of a kind are tried out on."""
    tried: Previewed = part_of(run_kind_of(version_kind), "tried_on")
    return tried


def preview_prompt(study: Study, version: PromptVersion, item: Model) -> Preview:
    """Write the request about an item of the study; ``version`` may be unsaved."""
    tried = previewed(version.kind)
    run, items = tried.draft(study, version, item)
    subject = Subject("preview", tried.ids(items))
    question = kind_of(run).questions(run, [subject])[0]
    return Preview(
        items,
        question.messages,
        estimate_messages(question.messages),
        sorted(set(question.flags)),
    )


def _arguments(study: Study) -> QuerySet[Argument]:
    """Blank sentences are never judged."""
    return study.arguments.exclude(text__regex=r"^\s*$").order_by("pk")


def _relevance(
    study: Study, version: PromptVersion, argument: Argument
) -> tuple[Run, list[Argument]]:
    """On the study's newest scale, with the next sentences of the comparison if they fit."""
    arguments = [argument]
    if version.kind == relevance_judge.BATCH:
        same = _arguments(study).filter(comparison=argument.comparison_id, pk__gte=argument.pk)
        arguments = list(same[:SHOWN_TOGETHER])
    guideline = study.guidelines.first()
    levels = guideline.levels if guideline else default_levels()
    spec = {"target": {"levels": levels}}
    return Run(study=study, kind=relevance_judge.KIND, prompt=version, spec=spec), arguments


def _questions(study: Study) -> QuerySet[Question]:
    return study.questions.order_by("pk")


def _answer(
    study: Study, version: PromptVersion, question: Question
) -> tuple[Run, list[Question]]:
    """With the arguments that a run with the usual choices would draw."""
    spec = {"target": target_of(), "seed": 1}
    run = Run(study=study, kind=answer_generation.KIND, prompt=version, spec=spec)
    return run, [question]


def _citation(study: Study, version: PromptVersion, answer: Answer) -> tuple[Run, list[Answer]]:
    """With the first citation of the answer."""
    return Run(study=study, kind=coherence_judge.KIND, prompt=version, spec={}), [answer]


RELEVANCE = Previewed(lazy("Argument"), _arguments, _relevance)
ANSWERS = Previewed(lazy("Question"), _questions, _answer)
COHERENCE = Previewed(
    lazy("Answer with citations"),
    citing_answers,
    _citation,
    lambda answers: first_citation(answers[0]),
)
