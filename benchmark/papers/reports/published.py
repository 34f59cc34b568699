"""What the CompQA paper prints, and why single figures cannot be had or come out otherwise."""

from collections.abc import Iterator

from cqa_site.reproduction.figures import Key, Printed

from .names import (
    ALPHA,
    FINALLY,
    NAMES,
    PEOPLE,
    SEPARATELY,
    SPEARMAN,
    agreement_name,
    aspect_name,
    cell_name,
)
from .published_cells import AGREEMENT, CELLS, JUDGES_3, JUDGES_5, ROWS
from .release import Release

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


def absent_reasons(release: Release) -> dict[Key, str]:
    """Why figures cannot be computed: the files that are not there."""
    missing = [each for each in NAMES if each not in release.judged]
    found = {each.key: NO_JUDGE for judge in missing for each in PRINTED if _is_by(each, judge)}
    if not release.people:
        found |= {
            each.key: NO_PEOPLE
            for each in PRINTED
            if _is_by(each, PEOPLE) or each.table == "table 2"
        }
    if len(release.own_sheets) <= 1:
        found |= {each.key: NO_OWN_SHEETS for each in PRINTED if each.table == "section 3"}
    if release.arguments is None:
        found |= {each.key: NO_ARGUMENTS for each in PRINTED if "the mean" in each.cell}
        found |= {each.key: NO_ARGUMENTS for each in PRINTED if "arguments:" in each.cell}
    # A figure that cannot be right says so, too.
    return {
        key: f"{why}; {_WHY[key]}" if _WHY.get(key) in (IMPOSSIBLE, FROM_IMPOSSIBLE) else why
        for key, why in found.items()
    }


def _is_by(printed: Printed, rater: str) -> bool:
    name = NAMES.get(rater, rater)
    return printed.cell.endswith(f"by {name}") or (
        printed.cell.startswith(f"{name}, ") and (printed.table == "table 2")
    )


def _leaderboard(table: str, text: str, judges: tuple[str, ...]) -> Iterator[Printed]:
    for line in text.strip().splitlines():
        system, *figures = line.split()
        scenario = int(figures.pop(0)) if len(figures) > len(judges) else 0
        for judge, figure in zip(judges, figures, strict=True):
            cell = cell_name(judge, system, scenario)
            yield Printed(table, cell, figure.replace("±", " ± "), _WHY.get((table, cell), ""))


def _agreement() -> Iterator[Printed]:
    for line in AGREEMENT.strip().splitlines():
        judge, *figures = line.split()
        names = [(part, each) for part in (SEPARATELY, FINALLY) for each in (ALPHA, SPEARMAN)]
        for name, figure in zip(names, figures, strict=True):
            yield Printed("table 2", agreement_name(judge, *name), figure, NO_SUBSET)


PRINTED = (
    Printed("counts", "answers", "2,158", place="section 3"),
    Printed("counts", "… of the six models", "2,000", place="section 3"),
    Printed("counts", "… of CAM / Yahoo / Human", "50 / 28 / 80", place="section 3"),
    Printed(
        "counts", "pairs with an aspect, as section 2.2 has it", "18", TWO_COUNTS, "section 2.2"
    ),
    Printed("counts", "human rows", "367", place="section 3"),
    Printed("table 1", "pairs", "50"),
    Printed("table 1", "pairs with an aspect", "20"),
    Printed("table 1", "arguments: mean", "10"),
    Printed("table 1", "arguments: least", "3"),
    Printed("table 1", "arguments: most", "20", MOST),
    Printed("table 1", "pairs with more than the mean", "23"),
    Printed("section 3", "answers scored by both", "123", OVERLAP),
    Printed("section 3", "two annotators, total: alpha", "0.75"),
    Printed("section 3", "two annotators, all scores: alpha", "0.71"),
    *_agreement(),
    *_leaderboard("table 3", ROWS, JUDGES_3),
    Printed("table 4", aspect_name("llama3-70b", True), "16.43 ± 3.52"),
    Printed("table 4", aspect_name(PEOPLE, True), "13.43 ± 2.98"),
    Printed("table 4", aspect_name("llama3-70b", False), "16.44 ± 3.52"),
    Printed("table 4", aspect_name(PEOPLE, False), "15.01 ± 2.69"),
    *_leaderboard("table 5", CELLS, JUDGES_5),
    Printed("section 4", "fine-tuned Llama-3-8B", "18.40 ± 1.25", NO_ANSWERS),
    Printed("section 4", "question-answer pairs for it", "1,244", NO_SCORES),
)
