"""The released judgements and human scores of CompQA, read, linked and made into sheets.

Two tables of sheets come of them. The paper's has everything that its averages have: values off
the scale, and both rows where two people's sheets of an answer were not merged. Ours is what an
import of the same files gives: judgements off the scale are unscored, people's sheets of an answer
averaged (those off the scale are kept and marked).
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from annotation.imports.methods.raw_answers import RawAnswer
from annotation.imports.methods.silver import SilverComparison, read_silver
from benchmark.imports.methods.human_links import Links, link_by_letters
from benchmark.imports.methods.human_scores import HumanScore, read_human_scores
from benchmark.imports.methods.judged_files import JudgedFile, judge_of, read_judged_file
from benchmark.imports.methods.own_sheets import OwnSheets, is_own_sheets, read_own_sheets
from benchmark.leaderboard.methods.recipes import ANSWER, with_totals
from benchmark.rubrics.methods.compqa_rubric import COMPQA

JUDGED, PEOPLE_FOLDER, PEOPLE = "judged_*", "human", "people"
# The relevance paper's release has the argument lists of the same 50 pairs.
ARGUMENTS = Path("relevance", "silver_50x3.json")
KEYS = list(COMPQA.keys)


class ReleaseMissing(Exception):
    """Files of the release are not where they were looked for."""


@dataclass(frozen=True)
class Release:
    """What the files hold; rows and records that could not be read are not here.

    Attributes
    ----------
    judged : mapping of str to tuple of JudgedFile
        Judge, named after its folder → files by name.
    people : tuple of HumanScore
        In the order of the consolidated table; empty if it is not there.
    own_sheets : tuple of OwnSheets
        Of the files of single people.
    arguments : mapping of pair to int, or None
        How many arguments each pair of objects has; None if their file is not there.
    """

    judged: Mapping[str, tuple[JudgedFile, ...]]
    people: tuple[HumanScore, ...]
    own_sheets: tuple[OwnSheets, ...]
    arguments: Mapping[tuple[str, str], int] | None

    @property
    def files(self) -> tuple[JudgedFile, ...]:
        """Those of one judge: the answers in them are everybody's."""
        return next(iter(self.judged.values()))

    @property
    def answers(self) -> list[RawAnswer]:
        return [each.answer for file in self.files for each in file.answers]

    @cached_property
    def links(self) -> Links:
        """Which answer each human score is about."""
        answers = {
            (file.system, file.scenario): [each.answer for each in file.answers]
            for file in self.files
        }
        return link_by_letters(self.people, answers)


def read_release(data: Path) -> Release:
    """Read a folder of released files, or its subfolder ``compqa``.

    Every folder ``judged_<judge>`` and every table of ``human`` that is there is read.

    Raises
    ------
    ReleaseMissing
        Naming the path that is not there.
    UnreadableFile
        If a file is damaged.
    """
    folder = data / "compqa" if (data / "compqa").is_dir() else data
    judged = {judge_of(each.name): _judged_files(each) for each in sorted(folder.glob(JUDGED))}
    judged = {judge: files for judge, files in judged.items() if files}
    if not judged:
        raise ReleaseMissing(f"{folder / JUDGED} is missing, or has no JSON files.")
    tables = sorted((folder / PEOPLE_FOLDER).glob("*.tsv"))
    own = [each for each in tables if is_own_sheets(each)]
    people = chain.from_iterable(
        read_human_scores(each, COMPQA) for each in tables if each not in own
    )
    return Release(
        judged=judged,
        people=tuple(each for each in people if isinstance(each, HumanScore)),
        own_sheets=tuple(read_own_sheets(each, COMPQA) for each in own),
        arguments=_arguments(folder),
    )


def paper_sheets(release: Release) -> pd.DataFrame:
    """Sheets of every judge and of people as the paper averages them, with totals.

    Six answers have two human rows, which the paper counts like rows about different answers;
    the choice of a human sheet is therefore its row, negative to tell it from a position. The
    column ``position`` has the position of the answer in its file.
    """
    rows = chain(_judgements(release, is_sound=False), _human_rows(release, is_sound=False))
    return with_totals(_frame(rows), COMPQA)


def our_sheets(release: Release) -> pd.DataFrame:
    """The same as an import makes them: one sheet for an answer and rater."""
    rows = chain(_judgements(release, is_sound=True), _human_rows(release, is_sound=True))
    sheets = _frame(rows)
    keys = [*ANSWER, "rater", "position", "has_aspect"]
    mean = sheets.groupby(keys, sort=False, dropna=False)[KEYS].mean().reset_index()
    return with_totals(mean, COMPQA)


def _judged_files(folder: Path) -> tuple[JudgedFile, ...]:
    return tuple(read_judged_file(path, COMPQA) for path in sorted(folder.glob("*.json")))


def _arguments(folder: Path) -> Mapping[tuple[str, str], int] | None:
    path = folder.parent / ARGUMENTS
    if not path.is_file():
        return None
    found: Counter[tuple[str, str]] = Counter()
    for each in read_silver(path):
        if isinstance(each, SilverComparison):
            found[each.object1, each.object2] += len(each.arguments)
    return found


def _frame(rows: Iterator[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(rows).reindex(columns=[*ANSWER, "rater", "position", "has_aspect", *KEYS])


def _judgements(release: Release, *, is_sound: bool) -> Iterator[dict[str, Any]]:
    for judge, files in release.judged.items():
        for file in files:
            for each in file.answers:
                points = each.judgement.points if is_sound else each.paper_points(COMPQA)
                about = _about(each.answer, file.system, file.scenario)
                choice = each.answer.position
                yield about | {"rater": judge, "choice": choice} | (points or {})


def _human_rows(release: Release, *, is_sound: bool) -> Iterator[dict[str, Any]]:
    for link in release.links.links:
        score = link.score
        if is_sound and score.blanks:
            continue
        choice = link.answer.position if is_sound else -score.row
        about = _about(link.answer, score.system, score.scenario)
        yield about | {"rater": PEOPLE, "choice": choice} | score.points


def _about(answer: RawAnswer, system: str, scenario: int) -> dict[str, Any]:
    return {
        "system": system,
        "scenario": scenario,
        "question": f"{answer.object1} / {answer.object2} / {answer.aspect or ''}",
        "position": answer.position,
        "has_aspect": answer.aspect is not None,
    }
