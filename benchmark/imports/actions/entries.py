"""Entries for score sheets: released judgements and people's consolidated scores."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django.utils.translation import gettext as _, ngettext

from annotation.answers.models import Answer
from annotation.imports.actions.entries import answer_entry, origin_of
from annotation.imports.books.answers import Place
from annotation.imports.methods.releases import RawAnswer
from benchmark.imports.methods.human_scores import (
    OPENING,
    AnswerLink,
    HumanScore,
    Links,
    Origin,
    link_by_letters,
    read_human_scores,
)
from benchmark.imports.methods.score_files import (
    SCORES,
    SUM,
    JudgedAnswer,
    JudgedFile,
    read_judged_file,
)
from benchmark.judges.methods.judgements import Judgement, JudgementState
from benchmark.rubrics.methods.rubric import COMPQA, rubric_sha256, rubric_to_dict
from benchmark.rubrics.models import RubricVersion
from cqa_site.files.actions.imports import (
    Flag,
    ImportEntry,
    ImportRefused,
    ImportSource,
    Line,
    Note,
    rejected,
)
from cqa_site.people.models import Rater, Study
from cqa_site.runs.progress import reason_in_words
from cqa_site.tabular import Problem

SCORE_SHEETS = "sheets"
# Sheets by a model without usable points: stored with the reason and left out of all figures.
UNSCORED_SHEETS = "unscored_sheets"


@dataclass(frozen=True, slots=True)
class SheetEntry(ImportEntry):
    """One score sheet in a file.

    ``answer`` is the key of an answer in the study, or the position of an answer in the same file.
    A sheet is identified by file, position and rater; a sheet exported from this site also has its
    own id (``sheet``).
    """

    makes: ClassVar[str] = SCORE_SHEETS

    rubric: RubricVersion
    answer: int | Place
    source: str
    position: int
    rater_kind: str
    rater_id: str
    rater_name: str = ""
    replicate: int = 0
    points: Mapping[str, float] = field(default_factory=dict)
    unable: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    comment: str = ""
    reason: str = ""
    off_scale: tuple[str, ...] = ()
    given: Mapping[str, float] = field(default_factory=dict)
    is_consolidated: bool = False
    is_extra: bool = False
    submitted_at: datetime | None = None
    sheet: str = ""

    @property
    def book(self) -> str:
        return UNSCORED_SHEETS if self.reason else SCORE_SHEETS

    @property
    def values(self) -> tuple[Any, ...]:
        """Values that are equal if two sheets have the same content."""
        return self.reason, dict(self.points), dict(self.unable)


def chosen_rubric(study: Study, options: Mapping[str, Any]) -> RubricVersion:
    """Return the chosen rubric version, or the newest CompQA version if none was chosen.

    If no CompQA version is stored, the returned version is unsaved.

    A dry run writes nothing, so the first version is stored only by the import itself.
    """
    rubric_id = str(options.get("rubric") or "")
    if rubric_id:
        return _asked_for(study, rubric_id)
    newest = study.rubric_versions.filter(name=COMPQA.name).order_by("-number").first()
    return newest or RubricVersion(
        study=study,
        name=COMPQA.name,
        number=1,
        content=rubric_to_dict(COMPQA),
        sha256=rubric_sha256(COMPQA),
    )


def _asked_for(study: Study, rubric_id: str) -> RubricVersion:
    try:
        version = study.rubric_versions.filter(public_id=UUID(rubric_id)).first()
    except ValueError:
        version = None
    if version is None:
        raise ImportRefused(_("The study has no such rubric version."))
    return version


def read_judged_answers(source: ImportSource) -> Iterator[Line]:
    """Read answers with the judge's scores from the raw files, without repairs."""
    judge = str(source.options.get("rater") or "").strip()
    if not judge:
        raise ImportRefused(_("Name the judge that gave these scores; the file does not name it."))
    origin = origin_of(source.name, source.options)
    rubric = chosen_rubric(source.study, source.options)
    file = read_judged_file(source.path, rubric.rubric, name=source.name)
    yield Note(str(origin))
    yield from _judged_counts(file, judge)
    judgements = {answer.answer.position: answer.judgement for answer in file.answers}
    for problem in file.problems:
        if problem.column == SCORES and problem.row is not None:
            yield Flag(problem.row, problem.column, _unscored(judgements[problem.row]))
        elif problem.column == SUM:
            yield Flag(problem.row, problem.column, problem.reason)
        else:
            yield rejected(problem, of="answers")
    for judged in file.answers:
        record = judged.answer
        about = {"text": record.text, "choice": record.choice, "column": "comparison"}
        yield answer_entry(source, origin, record, **about)
        yield SheetEntry(
            rubric=rubric,
            answer=(source.name, record.position, record.choice),
            source=source.name,
            position=record.position,
            rater_kind=Rater.Kind.MODEL,
            rater_id=judge,
            rater_name=judge[:120],
            row=record.position,
            given=_given(judged, rubric),
            **_said(judged),
        )


def _given(judged: JudgedAnswer, rubric: RubricVersion) -> dict[str, int]:
    """Return all points of a complete but unscored judgement, even those outside the scale."""
    return {} if judged.judgement.is_scored else judged.paper_points(rubric.rubric) or {}


def _said(judged: JudgedAnswer) -> dict[str, Any]:
    judgement = judged.judgement
    if judgement.is_scored:
        return {"points": judgement.points, "notes": judgement.rationales}
    text = ", ".join(f"{key} {value}" for key, value in judgement.given.items())
    evidence = [judgement.detail, _("As given: %s") % text if text else ""]
    return {
        "reason": judgement.reading.value,
        "notes": judgement.rationales,
        "comment": "\n".join(filter(None, evidence))[:2_000],
    }


def _unscored(judgement: Judgement) -> str:
    why = reason_in_words(judgement.reading.value)
    return _("Unscored. %(why)s (%(detail)s)") % {"why": why, "detail": judgement.detail}


def _judged_counts(file: JudgedFile, judge: str) -> Iterator[Note]:
    """Yield the number of judgements for each reading."""
    fields = {
        "judge": judge,
        "valid": file.counts[JudgementState.VALID],
        "number": file.counts.total(),
    }
    yield Note(_("%(valid)s of %(number)s judgements by “%(judge)s” are usable.") % fields)
    others = [
        (reading, number)
        for reading, number in file.counts.items()
        if reading != JudgementState.VALID
    ]
    if others:
        listed = "; ".join(f"{_briefly(reading)} ({number})" for reading, number in sorted(others))
        yield Note(_("Stored as unscored and left out of every mean: %s.") % listed)


def _briefly(reading: JudgementState) -> str:
    return reason_in_words(reading.value).rstrip(".")


# The table does not show whose points were averaged, so it counts as one rater, with a second
# rater for answers that have two rows: those were sheets by different people, not repetitions.
RATER = "consolidated"


def read_human_table(source: ImportSource) -> Iterator[Line]:
    """Read one sheet per row and link it to an answer by its letters; reject unmatched rows."""
    rubric = chosen_rubric(source.study, source.options)
    scores: list[HumanScore] = []
    for record in read_human_scores(source.path, rubric.rubric, name=source.name):
        if isinstance(record, Problem):
            yield rejected(record, of=SCORE_SHEETS)
        else:
            scores.append(record)
    links = link_by_letters(scores, _answers(source.study, scores))
    yield from _human_counts(links)
    for score in links.unlinked:
        reason = _("no answer by “%s” in the study has these letters and digits") % score.system
        yield Flag(score.row, "comparison", reason, is_rejection=True, object=SCORE_SHEETS)
    earlier: Counter[int] = Counter()
    for link in links.links:
        yield from _remarks(link)
        yield _sheet(source, rubric, link, earlier[link.answer.position])
        earlier[link.answer.position] += 1


def _answers(study: Study, scores: Sequence[HumanScore]) -> dict[Origin, list[RawAnswer]]:
    """Return the answers by the named systems in file order, with the primary key as position."""
    answers = Answer.objects.filter(
        study=study, system__name__in={score.system for score in scores}
    ).order_by("source", "position", "choice", "pk")
    rows = answers.values_list(
        "system__name",
        "scenario",
        "pk",
        "question__comparison__object1",
        "question__comparison__object2",
        "question__aspect",
        "text",
        "choice",
    )
    by_origin: dict[Origin, list[RawAnswer]] = defaultdict(list)
    for system, scenario, pk, object1, two, aspect, text, choice in rows.iterator(2_000):
        by_origin[system, scenario].append(
            RawAnswer(pk, object1, two, aspect or None, text, choice)
        )
    return by_origin


def _sheet(
    source: ImportSource, rubric: RubricVersion, link: AnswerLink, earlier: int
) -> SheetEntry:
    score = link.score
    number = earlier + 1
    name = _("Consolidated people")
    return SheetEntry(
        row=score.row,
        rubric=rubric,
        answer=link.answer.position,
        source=source.name,
        position=score.row,
        rater_kind=Rater.Kind.REFERENCE,
        rater_id=f"{RATER}-{number}" if earlier else RATER,
        rater_name=_("Consolidated people, sheet %s") % number if earlier else name,
        points=score.points,
        off_scale=score.off_scale,
        is_consolidated=True,
    )


def _remarks(link: AnswerLink) -> Iterator[Flag]:
    score = link.score
    if score.swallowed:
        text = ngettext(
            "The text included %s row below it. It was cut at its first tab.",
            "The text included %s rows below it. It was cut at its first tab.",
            score.swallowed,
        )
        yield Flag(score.row, "comparison", text % score.swallowed)
    if link.rivals:
        yield Flag(
            score.row,
            "comparison",
            _("Matches several answers; the first unused answer is chosen."),
        )
    if link.how == OPENING:
        yield Flag(score.row, "comparison", _("Linked by the first 300 letters and digits."))
    if link.is_repeat:
        reason = _(
            "Another row is about the same answer, so this row is kept as another rater's sheet."
        )
        yield Flag(score.row, "", reason)
    for key in score.off_scale:
        reason = _("%s points are outside the scale; they are kept as given and marked.")
        yield Flag(score.row, key, reason % f"{score.points[key]:g}")
    for key in score.blanks:
        yield Flag(score.row, key, _("No points; the sheet has no total."))


def _human_counts(links: Links) -> Iterator[Note]:
    number = len(links.links)
    counts = {
        "linked": number,
        "rows": number + len(links.unlinked),
        "ambiguous": len(links.ambiguous),
        "repeats": len(links.repeats),
        "swallowed": sum(link.score.swallowed for link in links.links),
    }
    yield Note(_("%(linked)s of %(rows)s rows were matched to an answer in the study.") % counts)
    if not number:
        yield Note(_("Import the answers first, then this file again."))
        return
    yield Note(
        _(
            "Ambiguous links: %(ambiguous)s. Additional rows about the same answer: %(repeats)s. "
            "Rows contained in a text: %(swallowed)s."
        )
        % counts
    )
    yield Note(_("The total is the sum of the criteria; the “score” column is not used."))
