"""Score sheets from any table, once a person has said which column is what.

A row is one sheet. Of a person it is taken whole or not at all: points that the rubric does not
have, and criteria without points or reason, reject the row. Of a judge such a row is a fact about
the judge, so it becomes an unscored sheet with the reason. Nothing is rounded, clipped or filled.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from annotation.imports.methods.raw_answers import propose_origin
from benchmark.judges.methods.judgement_reading import read_scores
from benchmark.rubrics.methods.rubric import Rubric, RubricError
from cqa_site.tabular import Problem, Row, Table, UnreadableFile

from .cells import read_field, read_points
from .columns import check_columns
from .row import EMPTY, SUBMITTED, UNSCORED, ScoreRow

# Raters that are asked again rather than corrected; their unusable rows are kept.
MACHINES = ("model", "classifier")
_ABOUT = (
    "answer",
    "source",
    "position",
    "choice",
    "object1",
    "object2",
    "aspect",
    "system",
    "scenario",
    "text",
)


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
    """Read sheets by a mapping of field or criterion to column; the table is closed at the end.

    Parameters
    ----------
    table : Table
        As opened; its rows are used up.
    mapping : mapping of str to str
        Keys are among `score_columns.FIELDS` and the criteria.
    rubric : Rubric
        By which the points were given.
    rater, rater_kind : str
        Where a row does not name its own.

    Yields
    ------
    ScoreRow or Problem
        In file order. A row gives either one sheet or all its problems.

    Raises
    ------
    UnreadableFile
        For a mapping that does not fit the table, and as `Table` does.
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
    row: Row, mapping: Mapping[str, str], rubric: Rubric, rater: str, rater_kind: str
) -> ScoreRow:
    read = _read_fields(row, mapping, rubric)
    total = read.pop("total", None)
    is_counted = read.pop("is_counted", None)
    about = {name: read.pop(name) for name in _ABOUT if name in read}
    if (origin := read.pop("origin", "")) and not about.get("system"):
        about["system"], scenario = propose_origin(origin)
        about["scenario"] = scenario if about.get("scenario") is None else about["scenario"]
    given = {key: read_points(row.values[mapping[key]]) for key in rubric.keys}
    off_scale = tuple(filter(None, read.pop("off_scale", "").split()))
    read = {name: value for name, value in read.items() if value is not None}
    made = ScoreRow(
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
    if not made.rater:
        raise _Bad([("rater", "is empty")])
    scored = _scored(made, given, rubric)
    _check_total(scored, total)
    return scored


def _read_fields(row: Row, mapping: Mapping[str, str], rubric: Rubric) -> dict[str, Any]:
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
            problems.append((name, f"{', '.join(unknown)[:60]}: no criteria of this rubric"))
    if problems:
        raise _Bad(problems)
    return read


def _scored(made: ScoreRow, given: Mapping[str, Any], rubric: Rubric) -> ScoreRow:
    if made.state == UNSCORED and made.reason:
        return made
    if made.rater_kind in MACHINES:
        return _of_a_machine(made, given, rubric)
    if made.reason or made.state == UNSCORED:
        raise _Bad([("state", "only a model's sheet is unscored; a person's has points")])
    if not made.unable and all(value is None for value in given.values()):
        return replace(made, state=EMPTY)
    return _of_a_person(made, given, rubric)


def _of_a_machine(made: ScoreRow, given: Mapping[str, Any], rubric: Rubric) -> ScoreRow:
    judgement = read_scores({k: v for k, v in given.items() if v is not None}, rubric)
    if judgement.is_scored:
        return replace(made, points=dict(judgement.points), reason="")
    detail = made.comment or judgement.detail
    said: dict[str, float] = (
        dict(judgement.given) if len(judgement.given) == len(rubric.criteria) else {}
    )
    return replace(
        made, state=UNSCORED, reason=judgement.reading.value, comment=detail, given=said
    )


def _of_a_person(made: ScoreRow, given: Mapping[str, Any], rubric: Rubric) -> ScoreRow:
    scale = replace(rubric, allows_halves=True) if made.is_consolidated else rubric
    points: dict[str, float] = {}
    problems = []
    for key, value in given.items():
        if value is None and key in made.unable:
            continue
        if value is None:
            problems.append((key, "is empty"))
        elif made.is_consolidated and key in made.off_scale and not isinstance(value, str):
            points[key] = value
        else:
            try:
                scale.check_points(key, value)
                points[key] = value
            except RubricError as error:
                problems.append((key, error.reason))
    if problems:
        raise _Bad(problems)
    unable = {key: why for key, why in made.unable.items() if key not in points}
    return replace(made, points=points, unable=unable)


def _check_total(made: ScoreRow, total: float | None) -> None:
    if total is None or made.state == UNSCORED or made.unable:
        return
    added = sum(made.points.values())
    if total != added:
        raise _Bad([("total", f"says {total:g}, but the points add up to {added:g}")])
