"""Judgements as CompQA releases them: the answers of one file, each with its ``score_dict``.

The records of a folder ``judged_<judge>`` are those of the raw answers, in their order, plus
``score_dict`` (criterion → points) and ``score`` (their plain sum, whatever it is worth). System
and scenario come from the name of the file, as for raw answers. Score dicts are classified, never
repaired: a file says how many of each kind it has.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from annotation.imports.methods.raw_answers import RawAnswer, propose_origin, read_raw_answers
from benchmark.judges.methods.judgement_keys import Reading, without_extras
from benchmark.judges.methods.judgement_reading import Judgement, read_scores
from benchmark.rubrics.methods.rubric import Rubric
from cqa_site.tabular import DEFAULT_LIMITS, Limits, Problem, Row, UnreadableFile, open_table

SCORES, SUM = "score_dict", "score"
_FOLDER = re.compile(r"judged[ _-]+(.+)", re.IGNORECASE)


@dataclass(frozen=True)
class JudgedAnswer:
    """One record: the answer, and what the judge gave it.

    ``asked`` is the judgement without entries that nobody asked for (a "16"), which the paper
    passes over; ``stated_sum`` is the file's own, None where it is no number.
    """

    answer: RawAnswer
    judgement: Judgement
    asked: Judgement
    stated_sum: float | None

    def paper_points(self, rubric: Rubric) -> dict[str, int] | None:
        """What the paper averages: whole numbers of all criteria, on the scale or not."""
        given = self.asked.given
        return given if len(given) == len(rubric.criteria) else None


@dataclass(frozen=True)
class JudgedFile:
    """A file of one system under one scenario (0 for none), judged by one judge.

    Attributes
    ----------
    answers : tuple of JudgedAnswer
        In file order; records without a readable answer are not here but among the problems.
    problems : tuple of Problem
        Unreadable records, unscored judgements and sums that are not the sum, each with file,
        position from 1, column and reason. Only the first kind costs an answer.
    counts : Counter of Reading
        How many judgements were read as what.
    """

    name: str
    system: str
    scenario: int
    answers: tuple[JudgedAnswer, ...]
    problems: tuple[Problem, ...]
    counts: Counter[Reading]


def judge_of(folder: str) -> str:
    """The judge that a folder is named after.

    >>> judge_of("judged_gpt4"), judge_of("scores")
    ('gpt4', 'scores')
    """
    found = _FOLDER.fullmatch(folder)
    return found[1] if found else folder


def read_judged_file(
    path: str | os.PathLike[str],
    rubric: Rubric,
    *,
    name: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> JudgedFile:
    """Read a whole file; it holds a few hundred answers.

    Raises
    ------
    UnreadableFile
        If it is not such JSON, or has no score dicts at all.
    """
    shown_name = name or Path(path).name
    answers: list[JudgedAnswer] = []
    problems: list[Problem] = []
    with open_table(path, name=shown_name, kind="json", limits=limits) as table:
        if SCORES not in table.columns:
            raise UnreadableFile(shown_name, f"holds no judgements: no {SCORES}")
        # Read once more for the answers, so that their rules stay in one place.
        records = read_raw_answers(path, name=shown_name, limits=limits)
        for row, answer in zip(table.rows, records, strict=True):
            if isinstance(answer, Problem):
                problems.append(answer)
                continue
            judged = _judged(row, answer, rubric)
            answers.append(judged)
            problems += _remarks(judged, table.name, rubric)
        file = table.name
    counts = Counter(each.judgement.reading for each in answers)
    return JudgedFile(file, *propose_origin(file), tuple(answers), tuple(problems), counts)


def _judged(row: Row, answer: RawAnswer, rubric: Rubric) -> JudgedAnswer:
    stated = row.values.get(SUM)
    is_number = isinstance(stated, int | float) and not isinstance(stated, bool)
    said = row.values.get(SCORES)
    judgement = asked = read_scores(said, rubric)
    if judgement.reading is Reading.EXTRA_KEYS:
        asked = read_scores(without_extras(said, rubric.keys), rubric)
    return JudgedAnswer(answer, judgement, asked, float(str(stated)) if is_number else None)


def _remarks(judged: JudgedAnswer, file: str, rubric: Rubric) -> Iterator[Problem]:
    position, judgement = judged.answer.position, judged.judgement
    if not judgement.is_scored:
        reason = f"unscored, {judgement.reading}: {judgement.detail}"
        yield Problem(file, position, SCORES, reason)
    points = judged.paper_points(rubric)
    if points is not None and judged.stated_sum not in (None, sum(points.values())):
        reason = f"says {judged.stated_sum:g}, but the points add up to {sum(points.values())}"
        yield Problem(file, position, SUM, reason)
