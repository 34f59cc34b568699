"""Prompts for writing key points, and the arguments that they contain."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from django.utils.translation import gettext_lazy as lazy

from argsum.datasets.models import Cell, CellArgument
from argsum.keypoints.models import SummarySet, SystemRun
from argsum.systems.methods.clusters import by_quality, members
from argsum.writing.methods import clusters_schema, code_of, list_schema, one_schema
from argsum.writing.reports import WritingCallKey
from cqa_site.judging.prompts import (
    Neutral,
    PromptLayout,
    PromptParts,
    fence_records,
    fence_token,
    neutralise,
    quote,
    render,
)
from cqa_site.runs.kinds import CallRequest, PromptKind
from cqa_site.runs.models import PromptVersion, Run

FOLDER = Path(__file__).parent.parent / "prompts"
CANDIDATES, SUMMARIES = "key_point_candidates", "key_point_summaries"
GLOBAL, LOCAL = "key_points_of_clusters", "key_point_of_cluster"
Variant = SystemRun.Variant
# The prompt kind of each system variant.
OF_VARIANT: dict[str, str] = {
    Variant.CANDIDATES: CANDIDATES,
    Variant.SUMMARIES: SUMMARIES,
    Variant.GLOBAL: GLOBAL,
    Variant.LOCAL: LOCAL,
}
# Minimum and maximum number of key points per cell.
COUNTS = {CANDIDATES: (12, 20), SUMMARIES: (4, 8)}
_LIST = ("fewest", "most", "words")
_SHOWN = ("topic", "stance")
PROMPTS = {
    CANDIDATES: PromptKind(
        lazy("Candidates for key points"),
        PromptLayout(_LIST, (*_SHOWN, "arguments")),
        FOLDER / "key_point_candidates.md",
    ),
    SUMMARIES: PromptKind(
        lazy("Key points of a debate"),
        PromptLayout(_LIST, (*_SHOWN, "arguments")),
        FOLDER / "key_point_summaries.md",
    ),
    GLOBAL: PromptKind(
        lazy("Key points of all clusters"),
        PromptLayout(("words",), (*_SHOWN, "clusters")),
        FOLDER / "key_points_of_clusters.md",
    ),
    LOCAL: PromptKind(
        lazy("Key point of one cluster"),
        PromptLayout(("words",), (*_SHOWN, "arguments")),
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
) -> CallRequest:
    """Return a request about groups of a cell's arguments.

    ``groups`` maps clusters to their arguments; there is only one group if a request is about a
    whole cell or a single cluster. Texts by people are quoted and stripped of hidden characters.
    """
    neutrals = {group: [neutralise(text) for text in texts] for group, texts in groups.items()}
    parts = PromptParts(prompt.system, prompt.user, PROMPTS[prompt.kind].layout)
    values = {
        "words": str(target["words"]),
        "topic": quote(neutralise(cell.topic).text),
        "stance": SIDES[Cell.Stance(cell.stance)],
    }
    if prompt.kind in COUNTS:
        values |= {"fewest": str(target["fewest"]), "most": str(target["most"])}
    if prompt.kind == GLOBAL:
        values["clusters"] = _fenced_clusters(neutrals)
    else:
        values["arguments"] = fenced_arguments(*neutrals.values())
    flags = tuple(
        name for texts in neutrals.values() for neutral in texts for name in neutral.flags.names
    )
    return CallRequest(tuple(render(parts, values)), _schema(prompt.kind, target, groups), flags)


def _schema(kind: str, target: Mapping[str, Any], groups: Mapping[int, Any]) -> dict[str, Any]:
    if kind in COUNTS:
        return list_schema(target["fewest"], target["most"])
    return clusters_schema(list(groups)) if kind == GLOBAL else one_schema()


def fenced_arguments(texts: Sequence[Neutral]) -> str:
    """Return numbered texts between marker lines."""
    plain = [neutral.text for neutral in texts]
    records = [{"id": number, "argument": text} for number, text in enumerate(plain, start=1)]
    return fence_records(records, fence_token("arguments", *plain))


def _fenced_clusters(groups: Mapping[int, Sequence[Neutral]]) -> str:
    """Return clusters under codes, so that a reply that renumbers them is detected."""
    plain = {group: [neutral.text for neutral in texts] for group, texts in groups.items()}
    records = [{"cluster": code_of(group), "arguments": texts} for group, texts in plain.items()]
    every = [text for texts in plain.values() for text in texts]
    return fence_records(records, fence_token("clusters", *every))


class PromptArgument(NamedTuple):
    """An argument as shown in a request."""

    text: str
    quality: float | None


Own = Mapping[int, tuple[PromptArgument, str]]


def questions_of(run: Run, keys: Sequence[WritingCallKey]) -> list[CallRequest]:
    """Return the requests of a writing run, using three queries."""
    target = run.spec["target"]
    cells = Cell.objects.filter(dataset__study=run.study).in_bulk({key.cell for key in keys})
    arguments = _arguments(cells)
    sets = SummarySet.objects.filter(study=run.study).only("arguments", "clusters")
    summary_sets = sets.in_bulk({key.summary_set for key in keys})
    requests = []
    for subject in keys:
        own = arguments[subject.cell]
        if subject.summary_set:
            groups = _cluster_arguments(subject, summary_sets[subject.summary_set], own)
        else:
            groups = _whole(subject, own, run.prompt.kind)
        best = {
            group: _best(group_arguments, target["most_arguments"])
            for group, group_arguments in groups.items()
        }
        requests.append(write_request(run.prompt, target, cells[subject.cell], best))
    return requests


def _arguments(cells: Mapping[int, Cell]) -> dict[int, dict[int, tuple[PromptArgument, str]]]:
    """Map each cell and argument key to the displayed argument and the reason for exclusion."""
    arguments: dict[int, dict[int, tuple[PromptArgument, str]]] = {pk: {} for pk in cells}
    rows = CellArgument.objects.filter(cell__in=cells).order_by("cell", "position")
    for cell, pk, text, quality, left_out in rows.values_list(
        "cell", "pk", "text", "quality", "left_out"
    ):
        arguments[cell][pk] = PromptArgument(text, quality), left_out
    return arguments


def _cluster_arguments(
    key: WritingCallKey, summary_set: SummarySet, own: Own
) -> dict[int, list[PromptArgument]]:
    rows = members(summary_set.clusters or [])
    arguments = [own[pk][0] for pk in summary_set.arguments]
    return {cluster: [arguments[row] for row in rows[cluster]] for cluster in key.clusters}


def _whole(key: WritingCallKey, own: Own, prompt: str) -> dict[int, list[PromptArgument]]:
    """Return all arguments as group 0, or split into groups to preview a prompt about clusters."""
    arguments = [
        argument for argument, left_out in own.values() if key.is_unfiltered or not left_out
    ]
    if prompt in COUNTS:
        return {0: arguments}
    heaps = key.clusters[:1] if prompt == LOCAL else key.clusters
    return {heap: arguments[heap :: len(key.clusters)] for heap in heaps}


def _best(arguments: Sequence[PromptArgument], most: int) -> list[str]:
    order = by_quality(range(len(arguments)), [argument.quality for argument in arguments])
    return [arguments[place].text for place in order[:most]]
