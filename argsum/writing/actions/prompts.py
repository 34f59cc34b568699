"""The four kinds of prompts for writing key points, and what a request says."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_lazy as lazy

from argsum.datasets.models import Cell
from argsum.keypoints.models import SystemRun
from argsum.writing.methods.written_key_points import (
    clusters_schema,
    code_of,
    list_schema,
    one_schema,
)
from cqa_site.judging.neutral import Neutral, fence_records, fence_token, neutralise, quote
from cqa_site.judging.prompts import Layout, PromptParts, render
from cqa_site.runs.kind_parts import PromptKind
from cqa_site.runs.kinds import Question
from cqa_site.runs.models import PromptVersion

FOLDER = Path(__file__).parent.parent / "prompts"
CANDIDATES, SUMMARIES = "key_point_candidates", "key_point_summaries"
GLOBAL, LOCAL = "key_points_of_clusters", "key_point_of_cluster"
Variant = SystemRun.Variant
# Which kind of prompt a variant of a system asks with.
OF_VARIANT: dict[str, str] = {
    Variant.CANDIDATES: CANDIDATES,
    Variant.SUMMARIES: SUMMARIES,
    Variant.GLOBAL: GLOBAL,
    Variant.LOCAL: LOCAL,
}
# Fewest and most key points for a cell.
COUNTS = {CANDIDATES: (12, 20), SUMMARIES: (4, 8)}
_LIST = ("fewest", "most", "words")
_SHOWN = ("topic", "stance")
PROMPTS = {
    CANDIDATES: PromptKind(
        lazy("Candidates for key points"),
        Layout(_LIST, (*_SHOWN, "arguments")),
        FOLDER / "key_point_candidates.md",
    ),
    SUMMARIES: PromptKind(
        lazy("Key points of a debate"),
        Layout(_LIST, (*_SHOWN, "arguments")),
        FOLDER / "key_point_summaries.md",
    ),
    GLOBAL: PromptKind(
        lazy("Key points of all clusters"),
        Layout(("words",), (*_SHOWN, "clusters")),
        FOLDER / "key_points_of_clusters.md",
    ),
    LOCAL: PromptKind(
        lazy("Key point of one cluster"),
        Layout(("words",), (*_SHOWN, "arguments")),
        FOLDER / "key_point_of_cluster.md",
    ),
}
SIDES = {
    Cell.Stance.SUPPORTING: "supporting, for the topic",
    Cell.Stance.OPPOSING: "opposing, against the topic",
    Cell.Stance.NONE: "not given",
}


def write_request(
    prompt: PromptVersion,
    target: Mapping[str, Any],
    cell: Cell,
    groups: Mapping[int, Sequence[str]],
) -> Question:
    """One request about some groups of arguments of a cell.

    ``groups`` are cluster → its arguments; where a request is about a whole cell or a single
    cluster, there is one group. What people wrote goes in quoted and without hidden characters.
    """
    shown = {group: [neutralise(text) for text in texts] for group, texts in groups.items()}
    parts = PromptParts(prompt.system, prompt.user, PROMPTS[prompt.kind].layout)
    values = {
        "words": str(target["words"]),
        "topic": quote(neutralise(cell.topic).text),
        "stance": SIDES[Cell.Stance(cell.stance)],
    }
    if prompt.kind in COUNTS:
        values |= {"fewest": str(target["fewest"]), "most": str(target["most"])}
    if prompt.kind == GLOBAL:
        values["clusters"] = _clusters(shown)
    else:
        values["arguments"] = fenced_arguments(*shown.values())
    flags = tuple(name for texts in shown.values() for one in texts for name in one.flags.names)
    return Question(tuple(render(parts, values)), _schema(prompt.kind, target, groups), flags)


def _schema(kind: str, target: Mapping[str, Any], groups: Mapping[int, Any]) -> dict[str, Any]:
    if kind in COUNTS:
        return list_schema(target["fewest"], target["most"])
    return clusters_schema(list(groups)) if kind == GLOBAL else one_schema()


def fenced_arguments(texts: Sequence[Neutral]) -> str:
    """Numbered texts between marker lines."""
    plain = [one.text for one in texts]
    records = [{"id": number, "argument": text} for number, text in enumerate(plain, start=1)]
    return fence_records(records, fence_token("arguments", *plain))


def _clusters(groups: Mapping[int, Sequence[Neutral]]) -> str:
    """Clusters by code, so that a model that counts them itself is found out."""
    plain = {group: [one.text for one in texts] for group, texts in groups.items()}
    records = [{"cluster": code_of(group), "arguments": texts} for group, texts in plain.items()]
    every = [text for texts in plain.values() for text in texts]
    return fence_records(records, fence_token("clusters", *every))
