"""Prompts for summaries in prose, and the statements that a request contains."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_lazy as lazy

from argsum.analysis.actions.point_writing import about_cell, call_request
from argsum.analysis.models import Analysis, FoundPoint, Placement
from argsum.analysis.reports.mentions import theme_counts
from argsum.analysis.reports.points import points_of, ranked_statements
from argsum.analysis.reports.voices import COMMENTS, sure_of
from argsum.datasets.models import CellArgument
from argsum.prose.methods import paragraphs_of, sentences_schema, statements_for
from argsum.prose.models import ProseParagraph
from argsum.prose.reports import ParagraphKey, heading_of
from cqa_site.judging.prompts import PromptLayout, fence_records, fence_token, neutralise, quote
from cqa_site.runs.kinds import CallRequest, PromptKind
from cqa_site.runs.models import PromptVersion

OF_THEME = "summary_of_theme"
PROMPTS = {
    OF_THEME: PromptKind(
        lazy("Paragraph on a theme"),
        PromptLayout(
            ("words", "sentences"), ("topic", "stance", "theme", "points", "statements", "refused")
        ),
        Path(__file__).parent.parent / "prompts" / "summary_of_theme.md",
    )
}
PARAGRAPHS, SENTENCES, WORDS, STATEMENTS = 12, 4, 30, 24
Verdict = ProseParagraph.Verdict
NONE = "none"
# Reasons for refusing a sentence, as shown to the language model.
WRONG: Mapping[str, str] = {
    Verdict.UNSUPPORTED: "the statements that it cites do not say this",
    Verdict.PART: "a part of it is said by none of the statements that it cites",
    Verdict.FIGURE: "it has a number or a count that no statement it cites has",
    Verdict.EMPTY: "it is empty",
    Verdict.TOO_LONG: "it is too long",
    Verdict.UNCITED: "it cites no statement",
    Verdict.UNKNOWN: "it cites a number that no statement has",
    Verdict.TOO_MANY: "it cites too many statements",
    Verdict.REPEATED: "it repeats an earlier sentence",
}
# A sentence of an earlier attempt, and the reason why it was refused.
Refused = tuple[str, str]


def target_of(
    analysis: Analysis,
    *,
    paragraphs: int = PARAGRAPHS,
    sentences: int = SENTENCES,
    words: int = WORDS,
    statements: int = STATEMENTS,
) -> dict[str, Any]:
    """Return the target of a run, as stored in its spec; all numbers are maximums."""
    return {
        "analysis": str(analysis.public_id),
        "paragraphs": paragraphs,
        "sentences": sentences,
        "words": words,
        "statements": statements,
    }


def write_request(
    prompt: PromptVersion,
    target: Mapping[str, Any],
    points: Sequence[FoundPoint],
    statements: Sequence[CellArgument],
    refused: Sequence[Refused] = (),
) -> CallRequest:
    """Return a request about one theme, with the sentences refused earlier."""
    neutrals = [neutralise(statement.text) for statement in statements]
    shown = [{"id": at, "statement": text.text} for at, text in enumerate(neutrals, start=1)]
    wrong = [
        {"refused": neutralise(text).text, "reason": WRONG[verdict]} for text, verdict in refused
    ]
    heading = heading_of(points)
    values = about_cell(statements[0].cell) | {
        "words": str(target["words"]),
        "sentences": str(target["sentences"]),
        "theme": quote(neutralise(heading).text) if heading else NONE,
        "points": _fenced("points", [_point_record(point) for point in points]),
        "statements": _fenced("statements", shown),
        "refused": "\n" + _fenced("refused", wrong) if wrong else NONE,
    }
    schema = sentences_schema(len(statements), target["sentences"])
    return call_request(prompt, PROMPTS, values, schema, neutrals)


def _fenced(name: str, records: Sequence[Mapping[str, Any]]) -> str:
    texts = [str(value) for record in records for value in record.values()]
    return fence_records(records, fence_token(name, *texts)) if records else NONE


def _point_record(point: FoundPoint) -> dict[str, Any]:
    sure = sure_of(point.analysis, point, COMMENTS)
    record = {"key_point": neutralise(point.text).text, "comments": sure}
    return record | ({"perhaps": point.comments - sure} if point.comments > sure else {})


def material_of(analysis: Analysis, target: Mapping[str, Any]) -> list[ParagraphKey]:
    """Return the content of a run's requests, most comments first, in at most four queries."""
    shown = points_of(analysis, FoundPoint.State.SHOWN).filter(statements__gt=0)
    counts = theme_counts(analysis)
    rows = [
        (pk, theme, counts[theme].comments if theme in counts and theme else comments)
        for pk, theme, comments in shown.values_list("pk", "theme", "comments")
    ]
    groups = paragraphs_of(rows, target["paragraphs"])
    named = [point for group in groups for point in group]
    # Only surely placed statements if the analysis has bands.
    sure = Placement.SURE if analysis.has_bands else None
    best = ranked_statements(analysis, named, target["statements"], sure)
    keys = []
    for group in groups:
        candidates = [best.get(point, []) for point in group]
        if statements := statements_for(candidates, target["statements"]):
            keys.append(ParagraphKey(1, tuple(group), tuple(statements)))
    return keys
