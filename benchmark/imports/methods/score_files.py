"""Files with score sheets: tables in any layout, and judgements released by CompQA."""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from annotation.imports.methods.releases import RawAnswer, propose_origin, read_raw_answers
from benchmark.judges.methods.judgements import (
    Judgement,
    JudgementState,
    read_scores,
    without_extras,
)
from benchmark.rubrics.methods.rubric import Rubric, RubricError
from cqa_site.tabular import Problem, Table, TableRow, UnreadableFile, open_table
from .columns import EMPTY, SUBMITTED, UNSCORED, ScoreRow, check_columns, read_field, read_points

# Score sheets from any table, with columns mapped by a person.
#
# A row is one sheet. A person's row is rejected if it has points outside the rubric's scale, or a
# criterion without points or a reason. A judge's row with such errors is a fact about the judge,
# so it becomes an unscored sheet with the reason. Nothing is rounded, clipped or filled in.

# Raters that are asked again rather than corrected; their unusable rows are stored.
MACHINES = ("model", "classifier")
_ABOUT = (
    "answer", "source", "position", "choice", "object1", "object2", "aspect", "system", "scenario",
    "text",
)  # fmt: skip


class _Bad(Exception):
    def __init__(self, problems: list[tuple[str, str]]) -> None:
        super().__init__(problems)
        self.problems = problems


def read_score_table(
    table: Table,
    mapping: Mapping[str, str],
    rubric: Rubric,
    *,
    rater: str = "",
    rater_kind: str = "person",
) -> Iterator[ScoreRow | Problem]:
    """Read sheets using a mapping from fields and criteria to columns, then close the table.

    Each row yields either one sheet or all of its problems. ``rater`` and ``rater_kind`` apply to
    rows that do not name a rater.

    Raises
    ------
    UnreadableFile
        If the mapping does not fit the table (see `check_columns`), or if `Table` raises it.
    """
    with table:
        wrong = check_columns(table.columns, mapping, rubric, has_rater=bool(rater))
        if wrong:
            raise UnreadableFile(table.name, "; ".join(wrong))
        for row in table.rows:
            try:
                yield _read_row(row, mapping, rubric, rater, rater_kind)
            except _Bad as bad:
                for where, reason in bad.problems:
                    yield Problem(table.name, row.number, mapping.get(where, where), reason)


def _read_row(
    row: TableRow, mapping: Mapping[str, str], rubric: Rubric, rater: str, rater_kind: str
) -> ScoreRow:
    read = _read_fields(row, mapping, rubric)
    total = read.pop("total", None)
    is_counted = read.pop("is_counted", None)
    about = {name: read.pop(name) for name in _ABOUT if name in read}
    if (origin := read.pop("origin", "")) and not about.get("system"):
        about["system"], scenario = propose_origin(origin)
        about["scenario"] = scenario if about.get("scenario") is None else about["scenario"]
    scores = {key: read_points(row.values[mapping[key]]) for key in rubric.keys}
    off_scale = tuple(filter(None, read.pop("off_scale", "").split()))
    read = {name: value for name, value in read.items() if value is not None}
    score_row = ScoreRow(
        row=row.number,
        about={name: value for name, value in about.items() if value not in (None, "")},
        off_scale=off_scale,
        is_counted=is_counted is not False,
        **read
        | {
            "rater": read.get("rater") or rater,
            "rater_kind": read.get("rater_kind") or rater_kind,
            "state": read.get("state") or SUBMITTED,
        },
    )
    if not score_row.rater:
        raise _Bad([("rater", "is empty")])
    scored = _scored(score_row, scores, rubric)
    _check_total(scored, total)
    return scored


def _read_fields(row: TableRow, mapping: Mapping[str, str], rubric: Rubric) -> dict[str, Any]:
    read: dict[str, Any] = {}
    problems = []
    for name, column in mapping.items():
        if name in rubric.keys:
            continue
        try:
            read[name] = read_field(name, row.values[column])
        except ValueError as error:
            problems.append((name, str(error)))
    for name in ("notes", "unable", "given"):
        unknown = [key for key in read.get(name, {}) if key not in rubric.keys]
        if unknown:
            problems.append((name, f"{', '.join(unknown)[:60]}: not criteria of this rubric"))
    if problems:
        raise _Bad(problems)
    return read


def _scored(row: ScoreRow, scores: Mapping[str, Any], rubric: Rubric) -> ScoreRow:
    if row.state == UNSCORED and row.reason:
        return row
    if row.rater_kind in MACHINES:
        return _of_a_machine(row, scores, rubric)
    if row.reason or row.state == UNSCORED:
        raise _Bad([("state", "only a model's sheet can be unscored; a person must give points")])
    if not row.unable and all(value is None for value in scores.values()):
        return replace(row, state=EMPTY)
    return _of_a_person(row, scores, rubric)


def _of_a_machine(row: ScoreRow, scores: Mapping[str, Any], rubric: Rubric) -> ScoreRow:
    judgement = read_scores({k: v for k, v in scores.items() if v is not None}, rubric)
    if judgement.is_scored:
        return replace(row, points=dict(judgement.points), reason="")
    detail = row.comment or judgement.detail
    points: dict[str, float] = (
        dict(judgement.given) if len(judgement.given) == len(rubric.criteria) else {}
    )
    return replace(
        row, state=UNSCORED, reason=judgement.reading.value, comment=detail, given=points
    )


def _of_a_person(row: ScoreRow, scores: Mapping[str, Any], rubric: Rubric) -> ScoreRow:
    scale = replace(rubric, allows_halves=True) if row.is_consolidated else rubric
    points: dict[str, float] = {}
    problems = []
    for key, value in scores.items():
        if value is None and key in row.unable:
            continue
        if value is None:
            problems.append((key, "is empty"))
        elif row.is_consolidated and key in row.off_scale and not isinstance(value, str):
            points[key] = value
        else:
            try:
                scale.check_points(key, value)
                points[key] = value
            except RubricError as error:
                problems.append((key, error.reason))
    if problems:
        raise _Bad(problems)
    unable = {key: why for key, why in row.unable.items() if key not in points}
    return replace(row, points=points, unable=unable)


def _check_total(row: ScoreRow, total: float | None) -> None:
    if total is None or row.state == UNSCORED or row.unable:
        return
    added = sum(row.points.values())
    if total != added:
        raise _Bad([("total", f"is {total:g}, but the points add up to {added:g}")])


# Judgements as released by CompQA: the answers in one file, each with its ``score_dict``.
#
# The records in a folder ``judged_<judge>`` are those of the raw answers in the same order, plus
# ``score_dict`` (criterion → points) and ``score`` (the plain sum, valid or not). System and
# scenario are read from the file name, as for raw answers. Score dicts are classified, never
# repaired; each file has a count for each class.

SCORES, SUM = "score_dict", "score"
_FOLDER = re.compile(r"judged[ _-]+(.+)", re.IGNORECASE)


@dataclass(frozen=True)
class JudgedAnswer:
    """One record: the answer and the judge's scores.

    ``asked`` is the judgement without entries outside the rubric (such as "16"), which the paper
    ignores; ``stated_sum`` is the sum in the file, None if it is not a number.
    """

    answer: RawAnswer
    judgement: Judgement
    asked: Judgement
    stated_sum: float | None

    def paper_points(self, rubric: Rubric) -> dict[str, int] | None:
        """Return the points that the paper uses: any whole numbers, if every criterion has one."""
        points = self.asked.given
        return points if len(points) == len(rubric.criteria) else None


@dataclass(frozen=True)
class JudgedFile:
    """File for one system and scenario (0 for none), judged by one judge.

    Attributes
    ----------
    answers : tuple of JudgedAnswer
        In file order; records without a readable answer are in ``problems`` instead.
    problems : tuple of Problem
        Unreadable records, unscored judgements and wrong sums, each with file, position (from 1),
        column and reason. An answer is lost only if its record is unreadable.
    counts : Counter of Reading
        Number of judgements by reading.
    """

    name: str
    system: str
    scenario: int
    answers: tuple[JudgedAnswer, ...]
    problems: tuple[Problem, ...]
    counts: Counter[JudgementState]


def judge_of(folder: str) -> str:
    """Return the judge's name, taken from a folder's name.

    >>> judge_of("judged_gpt4"), judge_of("scores")
    ('gpt4', 'scores')
    """
    match = _FOLDER.fullmatch(folder)
    return match[1] if match else folder


def read_judged_file(
    path: str | os.PathLike[str], rubric: Rubric, *, name: str | None = None
) -> JudgedFile:
    """Read a whole file, which has a few hundred answers.

    Raises
    ------
    UnreadableFile
        If the file is not JSON of this kind, or has no score dicts.
    """
    answers: list[JudgedAnswer] = []
    problems: list[Problem] = []
    with open_table(path, name=name, kind="json") as table:
        if SCORES not in table.columns:
            raise UnreadableFile(table.name, f"contains no judgements: {SCORES} is missing")
        # A second pass reads the answers, so that their rules are defined in one place.
        records = read_raw_answers(path, name=name)
        for row, answer in zip(table.rows, records, strict=True):
            if isinstance(answer, Problem):
                problems.append(answer)
                continue
            judged = _judged(row, answer, rubric)
            answers.append(judged)
            problems += _remarks(judged, table.name, rubric)
        file = table.name
    counts = Counter(judged_answer.judgement.reading for judged_answer in answers)
    return JudgedFile(file, *propose_origin(file), tuple(answers), tuple(problems), counts)


def _judged(row: TableRow, answer: RawAnswer, rubric: Rubric) -> JudgedAnswer:
    stated = row.values.get(SUM)
    is_number = isinstance(stated, int | float) and not isinstance(stated, bool)
    value = row.values.get(SCORES)
    judgement = scores = read_scores(value, rubric)
    if judgement.reading is JudgementState.EXTRA_KEYS:
        scores = read_scores(without_extras(value, rubric.keys), rubric)
    return JudgedAnswer(answer, judgement, scores, float(str(stated)) if is_number else None)


def _remarks(judged: JudgedAnswer, file: str, rubric: Rubric) -> Iterator[Problem]:
    position, judgement = judged.answer.position, judged.judgement
    if not judgement.is_scored:
        reason = f"unscored, {judgement.reading}: {judgement.detail}"
        yield Problem(file, position, SCORES, reason)
    points = judged.paper_points(rubric)
    if points is not None and judged.stated_sum not in (None, sum(points.values())):
        reason = f"is {judged.stated_sum:g}, but the points add up to {sum(points.values())}"
        yield Problem(file, position, SUM, reason)
