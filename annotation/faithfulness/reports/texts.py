"""Texts with their citations, coherence verdicts, and scores for other label sets."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils.translation import gettext_lazy as lazy

from annotation.answers.methods.answer_text import find_malformed
from annotation.answers.models import NEWEST, Answer
from annotation.answers.reports import labelled_rounds, numbered_labels, numbered_texts
from annotation.consensus.models import FinalLabel
from annotation.corpus.models import ArgumentList
from annotation.editing.models import Revision
from annotation.faithfulness.methods.faithfulness import AnswerFigures, with_labels
from annotation.faithfulness.methods.segments import Match, SegmentMatches, match_segments
from annotation.faithfulness.models import CoherenceVerdict, FaithfulnessFigures
from cqa_site.people.models import Study
from cqa_site.results.figures import Column, TextColumn, table_of
from cqa_site.runs.models import Run
from cqa_site.web.tables import TableData

# Stored faithfulness figures by a label set other than the study's
#
# Stored figures use the labels chosen for the study. Only precision, recall and F1 depend on
# labels. Since the numbers that a text cites are stored, these three are computed on request.

SCORES = ("precision", "recall", "f1")


def answer_of(row: FaithfulnessFigures) -> Answer:
    """Return the row's answer, directly or through its revision."""
    answer = row.revision.sheet.answer if row.revision else row.answer
    assert answer is not None  # noqa: S101 - the database sees to one of the two
    return answer


class Relabel:
    """Computes scores from other labels; reads all lists of a study at once."""

    def __init__(self, study: Study, mode: str, whose: str) -> None:
        lists = ArgumentList.objects.filter(question__comparison__study=study)
        keys = list(lists.values_list("pk", flat=True))
        self.mode = mode
        self.arguments = numbered_texts(keys)
        self.labels = numbered_labels(study, keys, whose)

    def __call__(self, figures: AnswerFigures, argument_list: int | None) -> AnswerFigures:
        """Return the figures of a text written with or without a list of arguments."""
        key = argument_list or 0
        arguments, labels = self.arguments.get(key, {}), self.labels.get(key, {})
        return with_labels(figures, arguments, labels, mode=self.mode)


class RelabelledRows:
    """Rows of single texts scored from other labels, sorted by score and read in slices.

    Parameters
    ----------
    rows
        All rows that may be shown, in the order used for equal scores.
    path
        Lookup path from a row to its answer.
    sort
        One of `SCORES`, with a minus for descending order; otherwise the order does not change.
    only_unscored
        Whether rows with scores are left out.
    """

    def __init__(
        self,
        rows: QuerySet[FaithfulnessFigures],
        relabel: Relabel,
        *,
        path: str,
        sort: str = "",
        only_unscored: bool = False,
    ) -> None:
        self.rows, self.relabel, self.path = rows, relabel, path
        self.keys = [key for key, _scores in self._ordered(sort, only_unscored)]

    def __len__(self) -> int:
        return len(self.keys)

    def __getitem__(self, places: slice) -> list[FaithfulnessFigures]:
        wanted = self.keys[places]
        figures = self.rows.in_bulk(wanted)
        return [self._shown(figures[key]) for key in wanted if key in figures]

    def iterator(self, size: int) -> Iterator[FaithfulnessFigures]:
        """Yield all rows, loading them in batches."""
        for start in range(0, len(self), size):
            yield from self[start : start + size]

    def _ordered(self, sort: str, only_unscored: bool) -> list[tuple[int, AnswerFigures]]:
        columns = ("pk", "values", f"{self.path}__argument_list")
        pairs = [
            (pk, self.relabel(AnswerFigures.from_json(values), listed))
            for pk, values, listed in self.rows.values_list(*columns)
        ]
        if only_unscored:
            pairs = [pair for pair in pairs if pair[1].f1 is None]
        name = sort.removeprefix("-")
        if name not in SCORES:
            return pairs
        known = [pair for pair in pairs if getattr(pair[1], name) is not None]
        known.sort(key=lambda pair: getattr(pair[1], name), reverse=sort.startswith("-"))
        return known + [pair for pair in pairs if getattr(pair[1], name) is None]

    def _shown(self, row: FaithfulnessFigures) -> FaithfulnessFigures:
        listed = answer_of(row).argument_list_id
        put_scores(row, self.relabel(AnswerFigures.from_json(row.values), listed))
        return row


def put_scores(row: FaithfulnessFigures, figures: AnswerFigures) -> None:
    """Replace the scores of a row without saving it."""
    row.values = figures.to_json()
    for name in SCORES:
        setattr(row, name, getattr(figures, name))


def known_labels(study: Study, choice: str) -> str:
    """Return the requested label set; an unknown set gives an empty text (the study's choice)."""
    if choice in ("", NEWEST):
        return choice
    known = {
        str(public_id) for public_id in labelled_rounds(study).values_list("public_id", flat=True)
    }
    return choice if choice in known else ""


def mark_of_labels(study: Study, whose: str) -> str:
    """Return a short key that changes with any label in the set."""
    rows = FinalLabel.objects.filter(label_round__study=study, label__isnull=False)
    if whose != NEWEST:
        rows = rows.filter(label_round__public_id=whose)
    seen = list(rows.order_by("pk").values_list("pk", "label"))
    return hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:16]


WRITTEN = 500
VERDICTS = {"yes": True, "no": False, "none": None}


class CitationSubject(NamedTuple):
    """A citation as identified in a run's subject; ``revision`` is 0 for the answer itself."""

    answer: int
    revision: int
    start: int
    end: int
    number: int


@dataclass(frozen=True, slots=True)
class VerdictSelection:
    """Filter for verdicts by value and text; ``texts`` is answers, edited or both."""

    said: str = ""
    system: Any = None
    scenario: int | None = None
    condition: Any = None
    texts: str = ""

    @classmethod
    def from_query(cls, query: QueryDict) -> Self:
        """Read a selection from a URL query; unknown values are ignored."""
        # This import loads the views of the REST framework, which workers do not need.
        from cqa_site.web.rest.queries import id_from

        scenario, verdict, texts = (query.get(name, "") for name in ("scenario", "said", "texts"))
        return cls(
            said=verdict if verdict in VERDICTS else "",
            system=id_from(query.get("system", "")),
            scenario=int(scenario) if scenario in map(str, Answer.Scenario.values) else None,
            condition=id_from(query.get("condition", "")),
            texts=texts if texts in ("answers", "edited") else "",
        )


@dataclass(frozen=True, slots=True)
class CitationVerdict:
    """A verdict with its segment and argument."""

    verdict: CoherenceVerdict
    passage: str
    argument: str


def verdicts_of(run: Run, wanted: VerdictSelection) -> QuerySet[CoherenceVerdict]:
    rows = run.coherence_verdicts.select_related(
        "call", "answer__system", "answer__condition", "answer__question__comparison", "revision"
    )
    if wanted.said:
        rows = rows.filter(is_coherent=VERDICTS[wanted.said])
    if wanted.system is not None:
        rows = rows.filter(answer__system__public_id=wanted.system)
    if wanted.scenario is not None:
        rows = rows.filter(answer__scenario=wanted.scenario)
    if wanted.condition is not None:
        rows = rows.filter(answer__condition__public_id=wanted.condition)
    if wanted.texts:
        rows = rows.filter(revision__isnull=wanted.texts == "answers")
    return rows.order_by("answer", "revision", "start", "number", "replicate")


def shown(verdicts: Sequence[CoherenceVerdict]) -> list[CitationVerdict]:
    """Return the verdicts with their segments and arguments, using one query."""
    keys = {row.answer.argument_list_id for row in verdicts if row.answer.argument_list_id}
    lists = numbered_texts(keys)
    return [
        CitationVerdict(
            row,
            (row.revision or row.answer).text[row.start : row.end],
            lists.get(row.answer.argument_list_id, {}).get(row.number, ""),
        )
        for row in verdicts
    ]


def verdicts_table(run: Run, rows: QuerySet[CoherenceVerdict]) -> TableData:
    shown_verdicts = (verdict for piece in _pieces(rows) for verdict in shown(piece))
    return table_of(VERDICT_COLUMNS, shown_verdicts, name=f"coherence-run-{run.number}")


VERDICT_COLUMNS = (
    TextColumn(lazy("Answer"), "verdict.answer.public_id"),
    TextColumn(lazy("Revision"), "verdict.revision.public_id"),
    Column(lazy("System"), "verdict.answer.system.name"),
    TextColumn(lazy("Scenario"), "verdict.answer.scenario"),
    Column(lazy("Condition"), "verdict.answer.condition.name"),
    Column(lazy("Object 1"), "verdict.answer.question.comparison.object1"),
    Column(lazy("Object 2"), "verdict.answer.question.comparison.object2"),
    TextColumn(lazy("Cited number"), "verdict.number"),
    Column(lazy("Segment"), "passage"),
    Column(lazy("Argument"), "argument"),
    Column(
        lazy("Coherent"), lambda row: {True: "1", False: "0", None: ""}[row.verdict.is_coherent]
    ),
    Column(lazy("Reason for no score"), "verdict.reason"),
    Column(lazy("The judge's reason"), "verdict.rationale"),
    Column(lazy("Replicate"), lambda row: str(row.verdict.replicate + 1)),
)


def _pieces(rows: QuerySet[CoherenceVerdict]) -> Iterator[list[CoherenceVerdict]]:
    start = 0
    while piece := list(rows[start : start + WRITTEN]):
        start += WRITTEN
        yield piece


# Segments of one text, with citations, cited arguments and verdicts


@dataclass(frozen=True, slots=True)
class CitedArgument:
    """A cited number with its verdicts; ``match`` is None if the number has no argument."""

    number: int
    match: Match | None
    verdicts: list[CoherenceVerdict]


@dataclass(frozen=True, slots=True)
class SegmentRow:
    """A segment as shown on the page.

    Parameters
    ----------
    similarity
        Cosine with the most similar argument; None if not measured.
    cited
        Existing arguments, closest first, then numbers without an argument.
    """

    number: int
    matched: SegmentMatches
    similarity: float | None
    cited: list[CitedArgument]

    @property
    def best(self) -> Match | None:
        """Closest cited argument, or in paper mode the closest of all arguments."""
        if self.matched.place is None:
            return self.matched.closest
        return self.matched.cited[0] if self.matched.cited else None

    @property
    def closer(self) -> Match | None:
        """Uncited argument that is closer to the segment than any cited one."""
        return self.matched.closest if self.matched.has_closer else None


@dataclass(frozen=True, slots=True)
class CitableArgument:
    """A numbered argument with its label, and whether the text cites it."""

    number: int
    text: str
    label: int | None
    is_cited: bool


@dataclass(frozen=True, slots=True)
class Detail:
    """All details of one text in one mode."""

    figures: FaithfulnessFigures | None
    rows: list[SegmentRow]
    arguments: list[CitableArgument]
    malformed: list[str]


def detail_of(
    answer: Answer, revision: Revision | None, mode: str, run: Run | None, whose: str = ""
) -> Detail:
    """Return the details of an answer or revision, with a bounded number of queries."""
    text = revision.text if revision else answer.text
    key = answer.argument_list_id
    arguments = numbered_texts([key])[key] if key else {}
    labels = numbered_labels(answer.study, [key], whose)[key] if key else {}
    records = revision.figures if revision else answer.figures
    figures = records.filter(mode=mode).first()
    if figures and whose:
        put_scores(
            figures,
            with_labels(AnswerFigures.from_json(figures.values), arguments, labels, mode=mode),
        )
    matched = match_segments(text, arguments, mode=mode)
    cited = set(figures.values["cited"]) if figures else set()
    return Detail(
        figures=figures,
        rows=_rows(matched, figures, _verdicts_of_text(answer, revision, run)),
        arguments=[
            CitableArgument(number, sentence, labels.get(number), number in cited)
            for number, sentence in arguments.items()
        ],
        malformed=find_malformed(text),
    )


def _rows(
    matched: list[SegmentMatches],
    figures: FaithfulnessFigures | None,
    verdicts: dict[tuple[int, int, int], list[CoherenceVerdict]],
) -> list[SegmentRow]:
    similar = _similarities(matched, figures)
    return [
        SegmentRow(
            number=number,
            matched=matches,
            similarity=similar.get(number),
            cited=_cited(matches, verdicts),
        )
        for number, matches in enumerate(matched, start=1)
    ]


def _cited(
    matched: SegmentMatches, verdicts: dict[tuple[int, int, int], list[CoherenceVerdict]]
) -> list[CitedArgument]:
    if matched.place is None:
        return []
    known = {match.number: match for match in matched.cited}
    numbers = [*known, *(number for number in matched.numbers if number not in known)]
    return [
        CitedArgument(number, known.get(number), verdicts.get((*matched.place, number), []))
        for number in numbers
    ]


def _similarities(
    matched: list[SegmentMatches], figures: FaithfulnessFigures | None
) -> dict[int, float]:
    """Map segment numbers to similarities, which the figures list for each measured segment."""
    value = figures.values["similarity"] if figures else []
    measured = [
        number
        for number, matches in enumerate(matched, start=1)
        if (matches.cited if matches.place else matches.closest)
    ]
    # If the lengths differ, the figures are outdated and cannot be matched with segments.
    return dict(zip(measured, value, strict=True)) if len(measured) == len(value) else {}


def _verdicts_of_text(
    answer: Answer, revision: Revision | None, run: Run | None
) -> dict[tuple[int, int, int], list[CoherenceVerdict]]:
    verdicts: dict[tuple[int, int, int], list[CoherenceVerdict]] = defaultdict(list)
    if run is not None:
        rows = run.coherence_verdicts.filter(answer=answer, revision=revision)
        for verdict in rows.order_by("start", "number", "replicate"):
            verdicts[verdict.start, verdict.end, verdict.number].append(verdict)
    return verdicts
