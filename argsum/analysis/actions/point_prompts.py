"""The kind of prompt by which a language model writes key points of an analysis."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_lazy as lazy

from argsum.datasets.models import Cell
from argsum.writing.actions.prompts import SIDES, fenced_arguments
from argsum.writing.methods.written_key_points import one_schema
from cqa_site.judging.neutral import fence_records, fence_token, neutralise, quote
from cqa_site.judging.prompts import Layout, PromptParts, render
from cqa_site.runs.kind_parts import PromptKind
from cqa_site.runs.kinds import Question
from cqa_site.runs.models import PromptVersion

OF_STATEMENTS = "key_point_of_statements"
PROMPTS = {
    OF_STATEMENTS: PromptKind(
        lazy("Key point of an analysis"),
        Layout(("words",), ("topic", "stance", "arguments", "refused")),
        Path(__file__).parent.parent / "prompts" / "key_point_of_statements.md",
    )
}
NONE_REFUSED = "none"
# A sentence that was refused, and what the key point says that it is nearer to.
Refused = tuple[str, str]


def write_request(
    prompt: PromptVersion,
    target: Mapping[str, Any],
    cell: Cell,
    statements: Sequence[str],
    refused: Sequence[Refused] = (),
) -> Question:
    """One request about the statements behind a key point, with what was refused before."""
    shown = [neutralise(text) for text in statements]
    values = {
        "words": str(target["words"]),
        "topic": quote(neutralise(cell.topic).text),
        "stance": SIDES[Cell.Stance(cell.stance)],
        "arguments": fenced_arguments(shown),
        "refused": _refused(refused),
    }
    parts = PromptParts(prompt.system, prompt.user, PROMPTS[prompt.kind].layout)
    flags = tuple(name for one in shown for name in one.flags.names)
    return Question(tuple(render(parts, values)), one_schema(), flags)


def _refused(pairs: Sequence[Refused]) -> str:
    if not pairs:
        return NONE_REFUSED
    records = [
        {"refused": neutralise(text).text, "closer_to": neutralise(nearest).text}
        for text, nearest in pairs
    ]
    plain = [text for record in records for text in record.values()]
    return "\n" + fence_records(records, fence_token("refused", *plain))
