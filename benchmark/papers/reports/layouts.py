"""Tables of the CompQA paper: names, printed cells and layouts."""

from collections.abc import Iterable, Sequence

from benchmark.rubrics.methods.rubric import COMPQA, Rubric
from cqa_site.reproduction.tables import TableCell, TableLayout, TableLine

PEOPLE = "people"
NAMES = {
    "gpt3-5": "GPT-3.5",
    "gpt4": "GPT-4o",
    "llama3-70b": "Llama-3-70B",
    "llama3-8b": "Llama-3-8B",
    "mixtral": "Mixtral",
    "perplexity": "Perplexity",
    "human": "Human",
    "yahoo": "Yahoo",
    "cam": "CAM",
}
# Scores compared in table 2.
SEPARATELY, FINALLY = "separately", "final score"
ALPHA, SPEARMAN, PEARSON = "alpha", "Spearman", "Pearson"
WITH_ASPECT, WITHOUT = "with an aspect", "without"


def cell_name(rater: str, system: str, scenario: int = 0) -> str:
    """Return the name of a leaderboard cell; scenario 0 means none."""
    under = f", scenario {scenario}" if scenario else ""
    return f"{NAMES.get(system, system)}{under}, by {NAMES.get(rater, rater)}"


def agreement_name(judge: str, scores: str, statistic: str) -> str:
    """Return the name of a figure in table 2."""
    return f"{NAMES.get(judge, judge)}, {scores}: {statistic}"


def aspect_name(rater: str, has_aspect: bool) -> str:
    """Return the name of a cell in table 4."""
    return f"{WITH_ASPECT if has_aspect else WITHOUT}, by {NAMES.get(rater, rater)}"


def scenario_name(rater: str, scenario: int, column: str) -> str:
    """Return the name of a bar in figures 6 and 7."""
    return f"scenario {scenario}, {column}, by {NAMES.get(rater, rater)}"


# Table 5: system, scenario (0 for none), then the scores by these judges.
JUDGES_5 = ("mixtral", "gpt4", "people", "llama3-8b", "llama3-70b", "perplexity", "gpt3-5")
CELLS = """
gpt3-5 1 18.76±0.59 16.95±1.44 14.93±2.84 17.07±2.14 16.63±1.27 16.84±2.14 17.90±1.65
gpt3-5 2 16.77±2.80 14.10±3.15 11.46±2.93 11.86±4.00 12.14±4.99 11.07±5.79 13.39±4.07
gpt3-5 3 18.71±0.57 18.21±1.02 16.92±1.90 16.59±3.09 18.54±1.02 18.44±1.12 17.74±1.56
gpt3-5 4 18.02±1.35 17.37±1.83 15.00±1.70 14.81±3.51 17.69±2.00 18.12±1.53 15.17±3.21
gpt4 1 18.57±0.72 17.59±1.00 15.22±1.52 17.44±1.53 17.90±0.86 18.41±0.88 17.84±2.15
gpt4 2 17.97±8.75 17.22±1.33 14.48±1.62 14.56±2.78 17.75±1.55 18.41±1.50 16.77±2.76
gpt4 3 18.91±0.31 18.23±0.95 17.24±1.33 17.71±1.53 18.95±0.32 18.94±0.31 18.36±1.14
gpt4 4 18.38±0.78 18.03±0.95 16.89±0.94 16.83±1.59 18.99±0.08 18.99±0.08 17.21±2.47
llama3-70b 1 18.74±0.56 17.22±1.20 14.04±1.59 17.34±2.16 17.34±1.00 18.06±1.00 17.38±2.66
llama3-70b 2 16.44±2.62 15.90±1.78 13.29±2.40 12.70±4.11 13.86±4.22 15.74±4.30 13.69±4.11
llama3-70b 3 18.76±0.59 18.06±1.11 17.69±1.58 16.82±2.67 18.96±0.20 19.00±0.00 17.90±1.31
llama3-70b 4 18.80±0.49 17.30±1.37 16.46±1.30 15.96±2.86 18.90±0.36 18.92±0.27 15.94±2.95
llama3-8b 1 18.70±0.71 16.78±1.40 14.00±2.94 16.31±2.36 16.52±1.71 17.56±0.93 17.67±2.15
llama3-8b 2 16.12±3.15 14.10±3.36 11.94±2.65 11.51±4.90 11.04±4.40 13.52±5.41 11.76±4.83
llama3-8b 3 18.92±0.27 18.26±0.88 16.50±1.96 18.60±0.64 19.00±0.00 19.00±0.000 18.58±0.70
llama3-8b 4 18.59±0.81 17.18±1.57 16.68±1.10 15.82±2.98 18.02±1.49 18.68±0.89 15.81±2.73
mixtral 1 18.71±0.62 16.80±1.20 14.67±1.73 17.16±1.81 16.58±2.11 17.48±0.79 17.31±3.05
mixtral 2 17.50±1.98 16.12±1.76 11.54±3.66 13.74±3.81 15.54±3.48 16.54±3.78 15.73±3.32
mixtral 3 18.86±0.50 18.40±0.86 16.29±2.73 18.02±1.86 18.86±0.53 18.84±0.51 18.06±1.39
mixtral 4 18.38±0.70 17.48±1.43 12.50±2.39 16.22±2.13 18.82±0.56 18.80±0.57 17.12±1.97
perplexity 1 18.78±0.46 17.32±1.24 12.86±1.48 17.28±1.98 17.68±0.91 18.08±0.99 17.22±3.75
perplexity 2 16.84±2.33 16.46±2.07 14.14±2.00 13.88±2.97 16.00±2.79 18.04±2.18 14.52±3.78
perplexity 3 19.00±0.00 18.68±0.47 17.40±1.84 18.40±1.03 19.00±0.00 19.00±0.00 18.53±0.96
perplexity 4 18.76±0.69 17.20±1.56 15.64±1.75 15.68±2.27 18.78±0.91 18.76±1.29 15.82±3.53
human 0 17.65±1.58 17.088±1.72 16.69±1.76 14.29±3.23 17.96±1.56 18.33±1.03 15.29±2.68
yahoo 0 13.32±4.97 9.32±3.95 6.00±1.00 5.21±5.91 5.96±3.64 5.96±3.68 5.88±4.86
cam 0 9.66±4.43 9.52±3.81 8.04±2.78 6.54±4.21 6.40±2.29 6.46±2.89 8.74±4.56
"""
# Table 3: system, then the scores by these judges.
JUDGES_3 = ("gpt4", "gpt3-5", "perplexity", "mixtral", "llama3-8b", "llama3-70b", "people")
ROWS = """
gpt4 17.77±1.06 17.54±2.14 18.69±0.69 18.45±2.64 16.64±1.86 18.40±0.70 15.96±1.35
gpt3-5 16.66±1.86 16.05±2.62 16.12±2.64 18.05±1.33 15.08±3.18 16.25±2.32 14.58±2.34
perplexity 17.42±1.34 16.52±3.00 18.47±1.11 18.34±0.87 16.31±2.06 17.87±1.15 15.00±1.77
mixtral 17.20±1.31 17.05±2.43 17.92±1.41 18.36±0.94 16.29±2.40 17.45±1.67 13.75±2.63
llama3-8b 16.58±1.80 15.95±2.60 17.19±1.81 18.08±1.24 15.56±2.72 16.15±1.90 14.77±2.16
llama3-70b 17.12±1.37 16.22±2.76 17.93±1.39 18.19±1.068 15.70±2.95 17.27±1.45 15.37±1.72
cam 9.52±3.808 8.74±4.56 6.46±2.89 9.66±4.43 6.54±4.21 6.40±2.29 8.04±2.78
yahoo 9.32±3.95 5.88±4.86 5.96±3.68 13.32±4.97 5.21±5.91 5.96±3.64 6.00±1.00
human 17.09±1.72 15.29±2.68 18.33±1.03 17.65±1.57 14.29±3.23 17.96±1.56 16.69±1.76
"""
# Table 2: judge; alpha and "Spearman" of all scores concatenated, then of the totals.
AGREEMENT = """
gpt4 0.71 0.69 0.58 0.55
gpt3-5 0.63 0.63 0.31 0.40
perplexity 0.71 0.72 0.39 0.60
mixtral 0.55 0.69 0.22 0.62
llama3-8b 0.48 0.49 0.41 0.46
llama3-70b 0.61 0.76 0.47 0.72
"""

# Systems with their scenarios, 0 for none.
Rows = Sequence[tuple[str, int]]
SCENARIOS = range(1, 5)
MEANS = "Mean ± sample sd of the points over answers."
MEANS_OF_MEANS = (
    "Mean of the scenario means ± mean of their sds, which is not a standard deviation of "
    "anything."
)
PAPER_ROWS = [(line.split()[0], int(line.split()[1])) for line in CELLS.strip().splitlines()]
PAPER_SYSTEMS = [line.split()[0] for line in ROWS.strip().splitlines()]
PAPER_JUDGES_2 = [line.split()[0] for line in AGREEMENT.strip().splitlines()]


def layouts(raters: Sequence[str]) -> tuple[TableLayout, ...]:
    """Return the paper's tables, with columns for additional judges after those of the paper."""
    more = [rater for rater in raters if rater not in (*JUDGES_3, PEOPLE)]
    return (
        pairs_table(),
        agreement_table([*PAPER_JUDGES_2, *more]),
        systems_table(PAPER_SYSTEMS, [*JUDGES_3, *more]),
        aspects_table(["llama3-70b", PEOPLE, *(rater for rater in raters if rater != PEOPLE)]),
        cells_table(PAPER_ROWS, [*JUDGES_5, *more]),
        scenarios_table([PEOPLE, *(rater for rater in raters if rater != PEOPLE)]),
    )


def study_layouts(
    raters: Sequence[str], rows: Rows, rubric: Rubric = COMPQA
) -> tuple[TableLayout, ...]:
    """Return the paper's tables for the judges and systems of a study, with people last."""
    judges = [rater for rater in raters if rater != PEOPLE]
    ordered = [*judges, *(rater for rater in raters if rater == PEOPLE)]
    layouts = [pairs_table()]
    if judges and PEOPLE in raters:
        layouts.append(agreement_table(judges))
    layouts += [
        systems_table(list(dict.fromkeys(system for system, _ in rows)), ordered),
        aspects_table(ordered),
        cells_table(rows, ordered),
    ]
    scenarios = sorted({scenario for _, scenario in rows if scenario in SCENARIOS})
    if scenarios:
        layouts.append(scenarios_table(ordered, rubric, scenarios))
    return tuple(layouts)


def pairs_table() -> TableLayout:
    """Return table 1: pairs of objects, their aspects and their arguments."""
    cells = {
        "Pairs of objects": "pairs",
        "Pairs with an aspect": "pairs with an aspect",
        "Arguments of a pair: mean": "arguments: mean",
        "Arguments of a pair: least": "arguments: least",
        "Arguments of a pair: most": "arguments: most",
        "Pairs with more arguments than the mean": "pairs with more than the mean",
    }
    lines = tuple(
        TableLine((text,), (TableCell(("table 1", cell)),)) for text, cell in cells.items()
    )
    caption = "Pairs of objects and their arguments."
    return TableLayout("compqa-1", caption, ("", "n"), lines, digits=None)


def agreement_table(judges: Iterable[str]) -> TableLayout:
    """Return table 2: agreement of judges with people."""
    statistics = (ALPHA, SPEARMAN, PEARSON)
    lines = tuple(
        TableLine(
            (f"{_name(judge)}, {scores}",),
            tuple(
                TableCell(("table 2", agreement_name(judge, scores, statistic)))
                for statistic in statistics
            ),
        )
        for judge in judges
        for scores in (SEPARATELY, FINALLY)
    )
    return TableLayout(
        "compqa-2",
        "Agreement and correlation of judges and people.",
        ("Judge", "Krippendorff’s α", "Spearman", "Pearson"),
        lines,
        notes=(
            "Separately: the scores of all criteria put end to end; final score: sums of the "
            "criteria. α is for interval data.",
        ),
    )


def systems_table(systems: Iterable[str], raters: Sequence[str]) -> TableLayout:
    """Return table 3: systems by raters."""
    lines = tuple(
        TableLine(
            (_name(system),),
            tuple(TableCell(("table 3", cell_name(rater, system))) for rater in raters),
        )
        for system in systems
    )
    heads = ("System", *map(_name, raters))
    return TableLayout(
        "compqa-3", "Mean scores of systems.", heads, lines, notes=(MEANS_OF_MEANS,)
    )


def aspects_table(raters: Sequence[str]) -> TableLayout:
    """Return table 4: questions with and without an aspect."""
    raters = list(dict.fromkeys(raters))
    lines = tuple(
        TableLine(
            (text,),
            tuple(TableCell(("table 4", aspect_name(rater, has_aspect))) for rater in raters),
        )
        for text, has_aspect in (("yes", True), ("no", False))
    )
    return TableLayout(
        "compqa-4",
        "Mean scores of answers to questions with and without an aspect.",
        ("Aspect", *map(_name, raters)),
        lines,
        notes=("Mean ± population sd of the means of systems and scenarios.",),
    )


def cells_table(rows: Rows, raters: Sequence[str]) -> TableLayout:
    """Return table 5: systems and scenarios by raters."""
    lines = tuple(
        TableLine(
            (_name(system), str(scenario or "")),
            tuple(TableCell(("table 5", cell_name(rater, system, scenario))) for rater in raters),
        )
        for system, scenario in rows
    )
    heads = ("System", "Scenario", *map(_name, raters))
    caption = "Mean scores of systems under each scenario."
    return TableLayout("compqa-5", caption, heads, lines, notes=(MEANS,))


def scenarios_table(
    raters: Sequence[str], rubric: Rubric = COMPQA, scenarios: Sequence[int] = SCENARIOS
) -> TableLayout:
    """Return figures 6 and 7 as a table."""
    columns = ("total", *(group.key for group in rubric.groups))
    lines = tuple(
        TableLine(
            (_name(rater), str(scenario)),
            tuple(
                TableCell((f"figure {6 if column == 'total' else 7}", name))
                for column in columns
                for name in [scenario_name(rater, scenario, column)]
            ),
        )
        for rater in raters
        for scenario in scenarios
    )
    return TableLayout(
        "compqa-figures-6-7",
        "Mean scores of scenarios over all answers.",
        ("Judge", "Scenario", *(column.capitalize() for column in columns)),
        lines,
    )


def _name(key: str) -> str:
    return "Human" if key == PEOPLE else NAMES.get(key, key)
