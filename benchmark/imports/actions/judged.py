"""Released judgements: the answers of one system, each with a sheet of one judge."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from annotation.imports.actions.origin import Origin, origin_of
from annotation.imports.actions.rows import AnswerEntry
from benchmark.imports.methods.judged_files import (
    SCORES,
    SUM,
    JudgedAnswer,
    JudgedFile,
    read_judged_file,
)
from benchmark.judges.methods.judgement_keys import Reading
from benchmark.judges.methods.judgement_reading import Judgement
from benchmark.rubrics.models import RubricVersion
from cqa_site.files.actions.rows import Flag, ImportRefused, Line, Note, Source, rejected
from cqa_site.people.models import Rater
from cqa_site.runs.words import reason_in_words

from .entries import SheetEntry, chosen_rubric


def read_judged_answers(source: Source) -> Iterator[Line]:
    """Answers as the raw files have them, and what the judge gave each; nothing is repaired."""
    judge = str(source.options.get("rater") or "").strip()
    if not judge:
        raise ImportRefused(_("Say which judge gave these scores; the file does not."))
    origin = origin_of(source.name, source.options)
    rubric = chosen_rubric(source.study, source.options)
    file = read_judged_file(source.path, rubric.rubric, name=source.name)
    yield Note(str(origin))
    yield from _counted(file, judge)
    found = {each.answer.position: each.judgement for each in file.answers}
    for problem in file.problems:
        if problem.column == SCORES and problem.row is not None:
            yield Flag(problem.row, problem.column, _unscored(found[problem.row]))
        elif problem.column == SUM:
            yield Flag(problem.row, problem.column, problem.reason)
        else:
            yield rejected(problem, of="answers")
    for judged in file.answers:
        yield _answer(source, origin, judged)
        yield SheetEntry(
            rubric=rubric,
            answer=(source.name, judged.answer.position, judged.answer.choice),
            source=source.name,
            position=judged.answer.position,
            rater_kind=Rater.Kind.MODEL,
            rater_id=judge,
            rater_name=judge[:120],
            row=judged.answer.position,
            given=_given(judged, rubric),
            **_said(judged),
        )


def _answer(source: Source, origin: Origin, judged: JudgedAnswer) -> AnswerEntry:
    record = judged.answer
    return AnswerEntry(
        row=record.position,
        object1=record.object1,
        object2=record.object2,
        aspect=record.aspect or "",
        text=record.text,
        source=source.name,
        position=record.position,
        choice=record.choice,
        system=origin.system,
        system_kind=origin.system_kind,
        scenario=origin.scenario,
        column="comparison",
    )


def _given(judged: JudgedAnswer, rubric: RubricVersion) -> dict[str, int]:
    """Points of an unscored judgement that has all criteria, off the scale as some are."""
    return {} if judged.judgement.is_scored else judged.paper_points(rubric.rubric) or {}


def _said(judged: JudgedAnswer) -> dict[str, Any]:
    judgement = judged.judgement
    if judgement.is_scored:
        return {"points": judgement.points, "notes": judgement.rationales}
    given = ", ".join(f"{key} {value}" for key, value in judgement.given.items())
    evidence = [judgement.detail, _("As given: %s") % given if given else ""]
    return {
        "reason": judgement.reading.value,
        "notes": judgement.rationales,
        "comment": "\n".join(filter(None, evidence))[:2_000],
    }


def _unscored(judgement: Judgement) -> str:
    why = reason_in_words(judgement.reading.value)
    return _("Unscored. %(why)s (%(detail)s)") % {"why": why, "detail": judgement.detail}


def _counted(file: JudgedFile, judge: str) -> Iterator[Note]:
    """Every way in which judgements were read, with its number."""
    shown = {
        "judge": judge,
        "valid": file.counts[Reading.VALID],
        "number": file.counts.total(),
    }
    yield Note(_("%(valid)s of %(number)s judgements of “%(judge)s” can be used.") % shown)
    others = [(each, number) for each, number in file.counts.items() if each != Reading.VALID]
    if others:
        listed = "; ".join(f"{_briefly(each)} ({number})" for each, number in sorted(others))
        yield Note(_("Unscored, kept as such and in no mean: %s.") % listed)


def _briefly(reading: Reading) -> str:
    return reason_in_words(reading.value).rstrip(".")
