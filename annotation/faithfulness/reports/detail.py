"""One text segment by segment: what it cites, what that says, and what judges thought of it."""

from collections import defaultdict
from dataclasses import dataclass

from annotation.answers.methods.citations import find_malformed
from annotation.answers.models.answers import Answer
from annotation.answers.reports.argument_lists import numbered_labels, numbered_texts
from annotation.editing.models import Revision
from annotation.faithfulness.methods.faithfulness import Figures, with_labels
from annotation.faithfulness.methods.segment_matches import Match, Matched, match_segments
from annotation.faithfulness.models import CoherenceVerdict, FaithfulnessFigures
from cqa_site.runs.models import Run

from .labels import put_scores


@dataclass(frozen=True, slots=True)
class Cited:
    """A cited number: its argument beside the segment, None if there is none, and verdicts."""

    number: int
    match: Match | None
    verdicts: list[CoherenceVerdict]


@dataclass(frozen=True, slots=True)
class Row:
    """A segment as the page shows it.

    Parameters
    ----------
    similarity
        Cosine with the closest argument by that figure; None where it was not measured.
    cited
        Arguments that exist, the closest first, then numbers that no argument has.
    """

    number: int
    matched: Matched
    similarity: float | None
    cited: list[Cited]

    @property
    def best(self) -> Match | None:
        """The closest argument that counts: a cited one, or in paper mode any."""
        if self.matched.place is None:
            return self.matched.closest
        return self.matched.cited[0] if self.matched.cited else None

    @property
    def closer(self) -> Match | None:
        """An argument that is closer than every cited one, though the segment does not cite it."""
        return self.matched.closest if self.matched.has_closer else None


@dataclass(frozen=True, slots=True)
class Argument:
    """A numbered argument with its label, and whether the text cites it."""

    number: int
    text: str
    label: int | None
    is_cited: bool


@dataclass(frozen=True, slots=True)
class Detail:
    """Everything about one text in one mode."""

    figures: FaithfulnessFigures | None
    rows: list[Row]
    arguments: list[Argument]
    malformed: list[str]


def detail_of(
    answer: Answer, revision: Revision | None, mode: str, run: Run | None, whose: str = ""
) -> Detail:
    """Look closely at an answer, or at a revision of it; a bounded number of queries."""
    text = revision.text if revision else answer.text
    key = answer.argument_list_id
    arguments = numbered_texts([key])[key] if key else {}
    labels = numbered_labels(answer.study, [key], whose)[key] if key else {}
    kept = revision.figures if revision else answer.figures
    figures = kept.filter(mode=mode).first()
    if figures and whose:
        put_scores(
            figures, with_labels(Figures.from_json(figures.values), arguments, labels, mode=mode)
        )
    matched = match_segments(text, arguments, mode=mode)
    cited = set(figures.values["cited"]) if figures else set()
    return Detail(
        figures=figures,
        rows=_rows(matched, figures, _verdicts(answer, revision, run)),
        arguments=[
            Argument(number, sentence, labels.get(number), number in cited)
            for number, sentence in arguments.items()
        ],
        malformed=find_malformed(text),
    )


def _rows(
    matched: list[Matched],
    figures: FaithfulnessFigures | None,
    verdicts: dict[tuple[int, int, int], list[CoherenceVerdict]],
) -> list[Row]:
    similar = _similarities(matched, figures)
    return [
        Row(
            number=number,
            matched=each,
            similarity=similar.get(number),
            cited=_cited(each, verdicts),
        )
        for number, each in enumerate(matched, start=1)
    ]


def _cited(
    matched: Matched, verdicts: dict[tuple[int, int, int], list[CoherenceVerdict]]
) -> list[Cited]:
    if matched.place is None:
        return []
    known = {match.number: match for match in matched.cited}
    numbers = [*known, *(number for number in matched.numbers if number not in known)]
    return [
        Cited(number, known.get(number), verdicts.get((*matched.place, number), []))
        for number in numbers
    ]


def _similarities(matched: list[Matched], figures: FaithfulnessFigures | None) -> dict[int, float]:
    """Number of a segment → its similarity: figures have one for each that was measured."""
    kept = figures.values["similarity"] if figures else []
    measured = [
        number
        for number, each in enumerate(matched, start=1)
        if (each.cited if each.place else each.closest)
    ]
    # Another length means that the figures are out of date; then no number fits its segment.
    return dict(zip(measured, kept, strict=True)) if len(measured) == len(kept) else {}


def _verdicts(
    answer: Answer, revision: Revision | None, run: Run | None
) -> dict[tuple[int, int, int], list[CoherenceVerdict]]:
    found: dict[tuple[int, int, int], list[CoherenceVerdict]] = defaultdict(list)
    if run is not None:
        rows = run.coherence_verdicts.filter(answer=answer, revision=revision)
        for verdict in rows.order_by("start", "number", "replicate"):
            found[verdict.start, verdict.end, verdict.number].append(verdict)
    return found
