"""What a prompt makes of an item of the study: the messages as they would leave.

Nothing is stored.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Model

from cqa_site.judging.estimating import estimate_messages
from cqa_site.people.models import Study
from cqa_site.runs.kinds import Subject, kind_of, run_kind_of
from cqa_site.runs.models import PromptVersion


@dataclass(frozen=True, slots=True)
class Preview:
    """Messages for some items, their size in tokens, what was noticed about the texts."""

    items: list[Any]
    messages: tuple[Mapping[str, str], ...]
    tokens: int
    flags: list[str]


def preview_prompt(study: Study, version: PromptVersion, item: Model) -> Preview:
    """Write the request about an item of the study; ``version`` may be unsaved."""
    tried = run_kind_of(version.kind).tried_on
    run, items = tried.draft(study, version, item)
    subject = Subject("preview", tried.ids(items))
    question = kind_of(run).questions(run, [subject])[0]
    return Preview(
        items,
        question.messages,
        estimate_messages(question.messages),
        sorted(set(question.flags)),
    )
