"""Released data of CompQA: sheets, counts, and the values printed in the paper."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from annotation.imports.methods.releases import RawAnswer, ReleasedComparison, read_silver
from benchmark.imports.methods.human_scores import (
    LETTERS,
    OPENING,
    HumanScore,
    Links,
    link_by_letters,
    read_human_scores,
)
from benchmark.imports.methods.individual_sheets import OwnSheets, is_own_sheets, read_own_sheets
from benchmark.imports.methods.score_files import JudgedFile, judge_of, read_judged_file
from benchmark.judges.methods.judgements import JudgementState
from benchmark.leaderboard.methods.paper import ANSWER, with_totals
from benchmark.rubrics.methods.rubric import COMPQA
from cqa_site.reproduction.figures import Key, MeasuredFigure, PrintedFigure
from .layouts import (
    AGREEMENT,
    ALPHA,
    CELLS,
    FINALLY,
    JUDGES_3,
    JUDGES_5,
    NAMES,
    PEOPLE,
    ROWS,
    SEPARATELY,
    SPEARMAN,
    agreement_name,
    aspect_name,
    cell_name,
)

# Released judgements and human scores of CompQA as tables of sheets.
#
# There are two tables. The paper's table contains everything in the paper's averages: values
# outside the scale, and both rows where two people's sheets for an answer were not merged. Our
# table is the result of importing the same files: judgements outside the scale are unscored, and
# people's sheets for an answer are averaged (values outside the scale are kept and marked).

JUDGED, PEOPLE_FOLDER = "judged_*", "human"
# The release of the relevance paper has the argument lists for the same 50 pairs.
ARGUMENTS = Path("relevance", "silver_50x3.json")
KEYS = list(COMPQA.keys)


class AnswerReleaseMissing(Exception):
    """Raised if files of the release are missing."""


@dataclass(frozen=True)
class AnswerRelease:
    """Contents of the files, without unreadable rows and records.

    Attributes
    ----------
    judged : mapping of str to tuple of JudgedFile
        Judge (name of its folder) → files by name.
    people : tuple of HumanScore
        In the order of the consolidated table; empty if the table is missing.
    own_sheets : tuple of OwnSheets
        Individual sheets of each person.
    arguments : mapping of pair to int, or None
        Number of arguments for each pair of objects; None if the file is missing.
    """

    judged: Mapping[str, tuple[JudgedFile, ...]]
    people: tuple[HumanScore, ...]
    own_sheets: tuple[OwnSheets, ...]
    arguments: Mapping[tuple[str, str], int] | None

    @property
    def files(self) -> tuple[JudgedFile, ...]:
        """Files of the first judge; all judges scored the same answers."""
        return next(iter(self.judged.values()))

    @property
    def answers(self) -> list[RawAnswer]:
        return [answer.answer for file in self.files for answer in file.answers]

    @cached_property
    def links(self) -> Links:
        """The answer that each human score refers to."""
        answers = {
            (file.system, file.scenario): [answer.answer for answer in file.answers]
            for file in self.files
        }
        return link_by_letters(self.people, answers)


def read_release(data: Path) -> AnswerRelease:
    """Read a folder of released files, or its subfolder ``compqa``.

    Read every folder ``judged_<judge>`` and every table in ``human``.

    Raises
    ------
    AnswerReleaseMissing
        If a path is missing; the message names it.
    UnreadableFile
        If a file is damaged.
    """
    folder = data / "compqa" if (data / "compqa").is_dir() else data
    judged = {
        judge_of(subfolder.name): _judged_files(subfolder)
        for subfolder in sorted(folder.glob(JUDGED))
    }
    judged = {judge: files for judge, files in judged.items() if files}
    if not judged:
        raise AnswerReleaseMissing(f"{folder / JUDGED} is missing, or has no JSON files.")
    tables = sorted((folder / PEOPLE_FOLDER).glob("*.tsv"))
    own = [table for table in tables if is_own_sheets(table)]
    people = chain.from_iterable(
        read_human_scores(table, COMPQA) for table in tables if table not in own
    )
    return AnswerRelease(
        judged=judged,
        people=tuple(person for person in people if isinstance(person, HumanScore)),
        own_sheets=tuple(read_own_sheets(table, COMPQA) for table in own),
        arguments=_arguments(folder),
    )


def paper_sheets(release: AnswerRelease) -> pd.DataFrame:
    """Return the sheets by judges and people that the paper averages, with totals.

    Six answers have two human rows, which the paper counts as if they were about different
    answers. The choice number of a human sheet is therefore its row number, made negative to
    distinguish it from a position. The column ``position`` is the answer's position in its file.
    """
    rows = chain(_judgements(release, is_sound=False), _human_rows(release, is_sound=False))
    return with_totals(_frame(rows), COMPQA)


def our_sheets(release: AnswerRelease) -> pd.DataFrame:
    """Return the sheets as an import creates them: one sheet per answer and rater."""
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
    arguments: Counter[tuple[str, str]] = Counter()
    for comparison in read_silver(path):
        if isinstance(comparison, ReleasedComparison):
            arguments[comparison.object1, comparison.object2] += len(comparison.arguments)
    return arguments


def _frame(rows: Iterator[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(rows).reindex(columns=[*ANSWER, "rater", "position", "has_aspect", *KEYS])


def _judgements(release: AnswerRelease, *, is_sound: bool) -> Iterator[dict[str, Any]]:
    for judge, files in release.judged.items():
        for file in files:
            for answer in file.answers:
                points = answer.judgement.points if is_sound else answer.paper_points(COMPQA)
                about = _about(answer.answer, file.system, file.scenario)
                choice = answer.answer.position
                yield about | {"rater": judge, "choice": choice} | (points or {})


def _human_rows(release: AnswerRelease, *, is_sound: bool) -> Iterator[dict[str, Any]]:
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


# Counts of the released CompQA files, and of the rows read and linked.

COUNTS, PAIRS = "counts", "table 1"
Values = dict[Key, MeasuredFigure]
Pair = tuple[str, str]


def count_values(release: AnswerRelease) -> Values:
    """Count answers, pairs, judgements and human rows, and the rows linked by each method."""
    values = {
        (COUNTS, cell): MeasuredFigure(numbers) for cell, numbers in _counts(release).items()
    }
    return values | pair_values(_pairs(release), release.arguments)


def pair_values(aspects: Mapping[Pair, bool], arguments: Mapping[Pair, int] | None) -> Values:
    """Return table 1: counts of pairs, of pairs with an aspect, and of arguments per pair.

    ``arguments`` maps pairs to their number of arguments; None if unknown.
    """
    values: Values = {
        (PAIRS, "pairs"): MeasuredFigure((len(aspects),)),
        (PAIRS, "pairs with an aspect"): MeasuredFigure((sum(aspects.values()),)),
    }
    known = arguments or {}
    numbers = [known[pair] for pair in aspects if pair in known]
    if not numbers:
        return values
    mean = float(np.mean(numbers))
    counted = {
        "arguments: mean": mean,
        "arguments: least": min(numbers),
        "arguments: most": max(numbers),
        "pairs with more than the mean": sum(number > mean for number in numbers),
    }
    n = len(numbers)
    return values | {(PAIRS, cell): MeasuredFigure((value,), n) for cell, value in counted.items()}


def _pairs(release: AnswerRelease) -> dict[tuple[str, str], bool]:
    """Map each pair to whether it has an aspect; aspects of Yahoo's questions do not count."""
    pairs: dict[tuple[str, str], bool] = {}
    for file in release.files:
        for answer in file.answers:
            pair = answer.answer.object1, answer.answer.object2
            has_aspect = bool(answer.answer.aspect) and file.system != "yahoo"
            pairs[pair] = pairs.get(pair, False) or has_aspect
    return pairs


def _counts(release: AnswerRelease) -> dict[str, tuple[int, ...]]:
    by_system: Counter[str] = Counter()
    for file in release.files:
        by_system[file.system] += len(file.answers)
    others = tuple(by_system[system] for system in ("cam", "yahoo", "human"))
    total = len(release.answers)
    with_aspect = sum(_pairs(release).values())
    counts = {
        "answers": (total,),
        "… of the six models": (total - sum(others),),
        "… of CAM / Yahoo / Human": others,
        "… with the text of an earlier one of the file": (_repeated_texts(release),),
        "files": (len(release.files),),
        "pairs with an aspect, as section 2.2 has it": (with_aspect,),
    }
    for judge, files in release.judged.items():
        counts |= dict(_judge_counts(NAMES.get(judge, judge), files))
    return counts | (_human_counts(release) if release.people else {})


def _repeated_texts(release: AnswerRelease) -> int:
    texts = [[answer.answer.text for answer in file.answers] for file in release.files]
    return sum(len(text) - len(set(text)) for text in texts)


def _judge_counts(
    judge: str, files: tuple[JudgedFile, ...]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Count, by reason, the sheets that the paper cannot use, and count off-scale values."""
    judged = [answer for file in files for answer in file.answers]
    readings = Counter(answer.judgement.reading for answer in judged)
    missing = [
        answer for answer in judged if answer.judgement.reading is JudgementState.MISSING_KEYS
    ]
    both = sum("not asked for" in answer.judgement.detail for answer in missing)
    top = {criterion.key: criterion.maximum for criterion in COMPQA.criteria}
    off = [
        sum(not 0 <= value <= top[key] for key, value in answer.asked.given.items())
        for answer in judged
    ]
    yield f"{judge}: sheets", (len(judged),)
    unusable = sum(answer.paper_points(COMPQA) is None for answer in judged)
    yield f"{judge}: sheets without all 15 scores", (unusable,)
    yield (
        f"{judge}: … some criteria only / numbered otherwise / both / empty",
        (
            len(missing) - both,
            readings[JudgementState.RENUMBERED],
            both,
            readings[JudgementState.EMPTY],
        ),
    )
    yield f"{judge}: values outside the scale", (sum(off),)
    yield (
        f"{judge}: sheets that are unscored here",
        (sum(not answer.judgement.is_scored for answer in judged),),
    )


def _human_counts(release: AnswerRelease) -> dict[str, tuple[int, ...]]:
    people, links = release.people, release.links
    return {
        "human rows": (len(people),),
        "… linked to their answer": (len(links.links),),
        "… by all letters / the first 300": (links.made_by(LETTERS), links.made_by(OPENING)),
        "… with 0 in the column score": (sum(person.stated_score == 0 for person in people),),
        "… swallowed by another row's text": (sum(person.swallowed for person in people),),
        "human scores out of range": (sum(len(person.off_scale) for person in people),),
    }


CUT_OFF = "the paper's figure is cut off, not rounded"
TWO_COUNTS = "table 1 of the paper and the files have 20"
NO_SUBSET = "which answers the paper took is not known; these are all that people scored"
NO_JUDGE = "no judgements by this judge in this folder"
NO_PEOPLE = "no table of people's scores in this folder"
NO_OWN_SHEETS = "no files of single people's sheets in this folder"
NO_ARGUMENTS = "no lists of arguments beside this folder"
NO_ANSWERS = "neither these answers nor judgements of them"
NO_SCORES = "the paper does not say which judge gave the 18 points or more"
OVERLAP = "rows of the two people's own files with points of both"
MOST = "the lists go on beyond 20"
OTHER_SD = "the printed sd is not that of the released sheets"
IMPOSSIBLE = "no 150 scores from 0 to 19 with this mean have an sd above 4.32"
FROM_IMPOSSIBLE = "made with the sd of 8.75 in table 5 that no such scores can have"

_WHY: dict[Key, str] = {
    ("table 5", cell_name("gpt3-5", "gpt3-5", 2)): OTHER_SD,
    ("table 5", cell_name("gpt3-5", "llama3-70b", 1)): CUT_OFF,
    ("table 5", cell_name("mixtral", "gpt4", 2)): IMPOSSIBLE,
    ("table 3", cell_name("mixtral", "gpt4")): FROM_IMPOSSIBLE,
    ("table 3", cell_name(PEOPLE, "perplexity")): CUT_OFF,
    ("table 3", cell_name(PEOPLE, "llama3-8b")): CUT_OFF,
}


def absent_reasons(release: AnswerRelease) -> dict[Key, str]:
    """Return the reasons why figures cannot be computed, such as missing files."""
    missing = [name for name in NAMES if name not in release.judged]
    reasons = {
        figure.key: NO_JUDGE for judge in missing for figure in PRINTED if _is_by(figure, judge)
    }
    if not release.people:
        reasons |= {
            figure.key: NO_PEOPLE
            for figure in PRINTED
            if _is_by(figure, PEOPLE) or figure.table == "table 2"
        }
    if len(release.own_sheets) <= 1:
        reasons |= {figure.key: NO_OWN_SHEETS for figure in PRINTED if figure.table == "section 3"}
    if release.arguments is None:
        reasons |= {figure.key: NO_ARGUMENTS for figure in PRINTED if "the mean" in figure.cell}
        reasons |= {figure.key: NO_ARGUMENTS for figure in PRINTED if "arguments:" in figure.cell}
    # Figures with impossible printed values get that reason as well.
    return {
        key: f"{why}; {_WHY[key]}" if _WHY.get(key) in (IMPOSSIBLE, FROM_IMPOSSIBLE) else why
        for key, why in reasons.items()
    }


def _is_by(printed: PrintedFigure, rater: str) -> bool:
    name = NAMES.get(rater, rater)
    return printed.cell.endswith(f"by {name}") or (
        printed.cell.startswith(f"{name}, ") and (printed.table == "table 2")
    )


def _leaderboard(table: str, text: str, judges: tuple[str, ...]) -> Iterator[PrintedFigure]:
    for line in text.strip().splitlines():
        system, *figures = line.split()
        scenario = int(figures.pop(0)) if len(figures) > len(judges) else 0
        for judge, figure in zip(judges, figures, strict=True):
            cell = cell_name(judge, system, scenario)
            yield PrintedFigure(
                table, cell, figure.replace("±", " ± "), _WHY.get((table, cell), "")
            )


def _agreement() -> Iterator[PrintedFigure]:
    for line in AGREEMENT.strip().splitlines():
        judge, *figures = line.split()
        names = [
            (part, statistic) for part in (SEPARATELY, FINALLY) for statistic in (ALPHA, SPEARMAN)
        ]
        for name, figure in zip(names, figures, strict=True):
            yield PrintedFigure("table 2", agreement_name(judge, *name), figure, NO_SUBSET)


PRINTED = (
    PrintedFigure("counts", "answers", "2,158", place="section 3"),
    PrintedFigure("counts", "… of the six models", "2,000", place="section 3"),
    PrintedFigure("counts", "… of CAM / Yahoo / Human", "50 / 28 / 80", place="section 3"),
    PrintedFigure(
        "counts", "pairs with an aspect, as section 2.2 has it", "18", TWO_COUNTS, "section 2.2"
    ),
    PrintedFigure("counts", "human rows", "367", place="section 3"),
    PrintedFigure("table 1", "pairs", "50"),
    PrintedFigure("table 1", "pairs with an aspect", "20"),
    PrintedFigure("table 1", "arguments: mean", "10"),
    PrintedFigure("table 1", "arguments: least", "3"),
    PrintedFigure("table 1", "arguments: most", "20", MOST),
    PrintedFigure("table 1", "pairs with more than the mean", "23"),
    PrintedFigure("section 3", "answers scored by both", "123", OVERLAP),
    PrintedFigure("section 3", "two annotators, total: alpha", "0.75"),
    PrintedFigure("section 3", "two annotators, all scores: alpha", "0.71"),
    *_agreement(),
    *_leaderboard("table 3", ROWS, JUDGES_3),
    PrintedFigure("table 4", aspect_name("llama3-70b", True), "16.43 ± 3.52"),
    PrintedFigure("table 4", aspect_name(PEOPLE, True), "13.43 ± 2.98"),
    PrintedFigure("table 4", aspect_name("llama3-70b", False), "16.44 ± 3.52"),
    PrintedFigure("table 4", aspect_name(PEOPLE, False), "15.01 ± 2.69"),
    *_leaderboard("table 5", CELLS, JUDGES_5),
    PrintedFigure("section 4", "fine-tuned Llama-3-8B", "18.40 ± 1.25", NO_ANSWERS),
    PrintedFigure("section 4", "question-answer pairs for it", "1,244", NO_SCORES),
)
