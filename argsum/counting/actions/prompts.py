"""The two kinds of prompts that ask for a count, and what one request says."""

from collections.abc import Sequence
from pathlib import Path

from django.utils.translation import gettext_lazy as lazy

from argsum.datasets.models import Cell
from argsum.keypoints.models import SummarySet
from argsum.metrics.models import CountReply
from argsum.writing.actions.prompts import SIDES
from cqa_site.judging.neutral import Neutral, fence_records, fence_token, neutralise, quote
from cqa_site.judging.prompts import Layout, PromptParts, render
from cqa_site.runs.kind_parts import PromptKind
from cqa_site.runs.kinds import Question
from cqa_site.runs.models import PromptVersion

FOLDER = Path(__file__).parent.parent / "prompts"
COVERAGE, UNIQUENESS = "count_coverage", "count_redundancy"
DIMENSIONS: dict[str, str] = {
    COVERAGE: CountReply.Dimension.COVERAGE,
    UNIQUENESS: CountReply.Dimension.UNIQUENESS,
}
PROMPTS = {
    COVERAGE: PromptKind(
        lazy("Count of covered references"),
        Layout((), ("topic", "stance", "references", "summaries")),
        FOLDER / "coverage.md",
    ),
    UNIQUENESS: PromptKind(
        lazy("Count of unique key points"),
        Layout((), ("topic", "stance", "summaries")),
        FOLDER / "redundancy.md",
    ),
}


def write_request(prompt: PromptVersion, shown: SummarySet) -> Question:
    """The request about one set, with its texts quoted and without hidden characters.

    The set comes with its cell, its summaries and the cell's key points, all in order.
    """
    summaries = [neutralise(each.text) for each in shown.summaries.all()]
    texts = list(summaries)
    cell = shown.cell
    values = {
        "topic": quote(neutralise(cell.topic).text),
        "stance": SIDES[Cell.Stance(cell.stance)],
        "summaries": _numbered(summaries, "summaries"),
    }
    if prompt.kind == COVERAGE:
        references = [neutralise(each.text) for each in cell.key_points.all()]
        values["references"] = _numbered(references, "references")
        texts += references
    parts = PromptParts(prompt.system, prompt.user, PROMPTS[prompt.kind].layout)
    flags = tuple(name for each in texts for name in each.flags.names)
    return Question(tuple(render(parts, values)), None, flags)


def _numbered(texts: Sequence[Neutral], name: str) -> str:
    plain = [each.text for each in texts]
    records = [{"id": number, "statement": text} for number, text in enumerate(plain, start=1)]
    return fence_records(records, fence_token(name, *plain))
