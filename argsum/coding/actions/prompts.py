"""Prompts for proposals and assignments, and the content of their requests."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_lazy as lazy

from argsum.analysis.actions.point_writing import about_cell, call_request
from argsum.coding.methods import codes_schema, points_schema
from argsum.datasets.models import Cell
from argsum.writing.methods import code_of
from cqa_site.judging.prompts import Neutral, PromptLayout, fence_records, fence_token, neutralise
from cqa_site.runs.kinds import CallRequest, PromptKind
from cqa_site.runs.models import PromptVersion

FOLDER = Path(__file__).parent.parent / "prompts"
PROPOSE, ASSIGN = "propose_key_points", "assign_statements"
READ, MERGE = "read", "merge"
PROPOSAL_PROMPTS = {
    PROPOSE: PromptKind(
        lazy("Key points proposed from comments"),
        PromptLayout(("topic", "stance", "words", "most", "themes"), ("step", "material")),
        FOLDER / "propose_key_points.md",
    )
}
ASSIGNMENT_PROMPTS = {
    ASSIGN: PromptKind(
        lazy("Statements assigned to signed-off key points"),
        PromptLayout(("topic", "stance", "codebook", "most"), ("statements",)),
        FOLDER / "assign_statements.md",
    )
}


def read_request(
    prompt: PromptVersion, target: Mapping[str, Any], cell: Cell, statements: Sequence[str]
) -> CallRequest:
    """Return a request for the key points in the given statements."""
    neutrals = [neutralise(text) for text in statements]
    records = [{"statement": neutral.text} for neutral in neutrals]
    return _proposal_request(prompt, target, cell, READ, records, neutrals)


def merge_request(
    prompt: PromptVersion,
    target: Mapping[str, Any],
    cell: Cell,
    entries: Sequence[tuple[str, str]],
) -> CallRequest:
    """Return a request that merges key points, given as pairs of theme and text."""
    pairs = [(neutralise(theme), neutralise(text)) for theme, text in entries]
    records = [{"theme": theme.text, "key_point": text.text} for theme, text in pairs]
    return _proposal_request(
        prompt, target, cell, MERGE, records, [part for pair in pairs for part in pair]
    )


def assign_request(
    prompt: PromptVersion, target: Mapping[str, Any], cell: Cell, statements: Sequence[str]
) -> CallRequest:
    """Return a request for the codes of the given statements; a run has one codebook."""
    neutrals = [neutralise(text) for text in statements]
    codes = [entry["code"] for entry in target["codebook"]]
    records = [
        {"id": code_of(at), "statement": neutral.text} for at, neutral in enumerate(neutrals)
    ]
    values = about_cell(cell) | {
        "codebook": _codebook(target["codebook"]),
        "most": str(target["most_codes"]),
        "statements": _fenced(records, "statements", neutrals),
    }
    schema = codes_schema(len(statements), codes, target["most_codes"])
    return call_request(prompt, ASSIGNMENT_PROMPTS, values, schema, neutrals)


def _proposal_request(
    prompt: PromptVersion,
    target: Mapping[str, Any],
    cell: Cell,
    step: str,
    records: Sequence[Mapping[str, str]],
    neutrals: Sequence[Neutral],
) -> CallRequest:
    numbered = [{"id": number} | dict(record) for number, record in enumerate(records, start=1)]
    values = about_cell(cell) | {
        "words": str(target["words"]),
        "most": str(target["points"]),
        "themes": str(target["themes"]),
        "step": step,
        "material": _fenced(numbered, step, neutrals),
    }
    schema = points_schema(target["points"], target["words"], len(records))
    return call_request(prompt, PROPOSAL_PROMPTS, values, schema, neutrals)


def _codebook(entries: Sequence[Mapping[str, str]]) -> str:
    """Return the key points and their codes, between marker lines."""
    records = []
    for entry in entries:
        record = {"code": entry["code"], "key_point": neutralise(entry["text"]).text}
        if entry["theme"]:
            record["theme"] = neutralise(entry["theme"]).text
        records.append(record)
    texts = [text for record in records for text in record.values()]
    return fence_records(records, fence_token("codebook", *texts))


def _fenced(records: Sequence[Mapping[str, Any]], name: str, neutrals: Sequence[Neutral]) -> str:
    return fence_records(records, fence_token(name, *(neutral.text for neutral in neutrals)))
