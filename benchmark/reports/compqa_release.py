"""The released judgements and human scores of CompQA, read, linked and made into sheets.

Off-scale values stay in, as in the paper's own averages: these sheets serve its recipe only.
"""

from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from annotation.methods.raw_answers import RawAnswer
from benchmark.methods.compqa_rubric import COMPQA
from benchmark.methods.human_links import Links, link_by_letters
from benchmark.methods.human_scores import HumanScore, read_human_scores
from benchmark.methods.judged_files import JudgedFile, judge_of, read_judged_file
from benchmark.methods.score_recipes import with_totals

HUMAN = Path("human", "human_evaluation_367.tsv")
JUDGED = Path("judged_gpt4")
JUDGE, PEOPLE = judge_of(JUDGED.name), "people"


class ReleaseMissing(Exception):
    """Files of the release are not where they were looked for."""


@dataclass(frozen=True)
class Release:
    """What the files hold; rows and records that could not be read are not here.

    Attributes
    ----------
    files : tuple of JudgedFile
        By name of the file.
    people : tuple of HumanScore
        In the order of the table.
    links : Links
        Which answer each human score is about.
    """

    files: tuple[JudgedFile, ...]
    people: tuple[HumanScore, ...]
    links: Links

    @property
    def answers(self) -> list[RawAnswer]:
        return [each.answer for file in self.files for each in file.answers]


def read_release(data: Path) -> Release:
    """Read a folder of released files, or its subfolder ``compqa``.

    Raises
    ------
    ReleaseMissing
        Naming the path that is not there.
    UnreadableFile
        If a file is damaged.
    """
    folder = data / "compqa" if (data / "compqa").is_dir() else data
    judged = sorted((folder / JUDGED).glob("*.json"))
    if not judged:
        raise ReleaseMissing(f"{folder / JUDGED} is missing, or has no JSON files.")
    if not (folder / HUMAN).is_file():
        raise ReleaseMissing(f"{folder / HUMAN} is missing.")
    files = tuple(read_judged_file(path, COMPQA) for path in judged)
    rows = read_human_scores(folder / HUMAN, COMPQA)
    people = tuple(each for each in rows if isinstance(each, HumanScore))
    answers = {
        (file.system, file.scenario): [each.answer for each in file.answers] for file in files
    }
    return Release(files, people, link_by_letters(people, answers))


def release_sheets(release: Release) -> pd.DataFrame:
    """Sheets of the judge and of people, with totals and ``has_aspect``.

    Six answers have two human rows, which the paper counts like rows about different answers;
    the choice of a human sheet is therefore its row, negative to tell it from a position.
    """
    judged = (
        _about(each.answer, file.system, file.scenario)
        | {"rater": JUDGE, "choice": each.answer.position}
        | (each.paper_points(COMPQA) or {})
        for file in release.files
        for each in file.answers
    )
    scored = (
        _about(each.answer, each.score.system, each.score.scenario)
        | {"rater": PEOPLE, "choice": -each.score.row}
        | each.score.points
        for each in release.links.links
    )
    return with_totals(pd.DataFrame(chain(judged, scored)), COMPQA)


def paired_sheets(release: Release, sheets: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The judge's and people's sheets of the linked answers, row by row."""
    judge = sheets[sheets["rater"] == JUDGE].set_index(["system", "scenario", "choice"])
    people = sheets[sheets["rater"] == PEOPLE].reset_index(drop=True)
    places = [
        (each.score.system, each.score.scenario, each.answer.position)
        for each in release.links.links
    ]
    return judge.loc[places].reset_index(drop=True), people


def _about(answer: RawAnswer, system: str, scenario: int) -> dict[str, Any]:
    return {
        "system": system,
        "scenario": scenario,
        "question": f"{answer.object1} / {answer.object2} / {answer.aspect or ''}",
        "has_aspect": answer.aspect is not None,
    }
