"""What a prompt makes of an item of the study: the messages as they would leave.

Nothing is stored.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Model, QuerySet
from django.utils.functional import Promise

from cqa_site.judging.estimating import estimate_messages
from cqa_site.people.models import Study
from cqa_site.runs.kind_parts import part_of, run_kind_of
from cqa_site.runs.kinds import Subject, kind_of
from cqa_site.runs.models import PromptVersion, Run


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
