"""The CompQA paper's tables as it lays them out, for its judges and any others there are."""

from collections.abc import Iterable, Sequence

from benchmark.rubrics.methods.compqa_rubric import COMPQA
from benchmark.rubrics.methods.rubric import Rubric
from cqa_site.reproduction.tables import Cell, Layout, Line

from .names import (
    ALPHA,
    FINALLY,
    NAMES,
    PEARSON,
    PEOPLE,
    SEPARATELY,
    SPEARMAN,
    agreement_name,
    aspect_name,
    cell_name,
    scenario_name,
)
from .published_cells import AGREEMENT, CELLS, JUDGES_3, JUDGES_5, ROWS

# Systems with the scenarios they answered under, 0 for none.
Rows = Sequence[tuple[str, int]]
SCENARIOS = range(1, 5)
MEANS = "Mean ± sample sd of the points over answers."
MEANS_OF_MEANS = "Mean of the scenario means ± mean of their sds, which is no sd of anything."
PAPER_ROWS = [(line.split()[0], int(line.split()[1])) for line in CELLS.strip().splitlines()]
PAPER_SYSTEMS = [line.split()[0] for line in ROWS.strip().splitlines()]
PAPER_JUDGES_2 = [line.split()[0] for line in AGREEMENT.strip().splitlines()]


def layouts(raters: Sequence[str]) -> tuple[Layout, ...]:
    """The paper's tables with its own columns, those of further judges behind them."""
    more = [each for each in raters if each not in (*JUDGES_3, PEOPLE)]
    return (
        pairs_table(),
        agreement_table([*PAPER_JUDGES_2, *more]),
        systems_table(PAPER_SYSTEMS, [*JUDGES_3, *more]),
        aspects_table(["llama3-70b", PEOPLE, *(each for each in raters if each != PEOPLE)]),
        cells_table(PAPER_ROWS, [*JUDGES_5, *more]),
        scenarios_table([PEOPLE, *(each for each in raters if each != PEOPLE)]),
    )


def study_layouts(
    raters: Sequence[str], rows: Rows, rubric: Rubric = COMPQA
) -> tuple[Layout, ...]:
    """The same tables with the judges and systems of a study, people last."""
    judges = [each for each in raters if each != PEOPLE]
    ordered = [*judges, *(each for each in raters if each == PEOPLE)]
    found = [pairs_table()]
    if judges and PEOPLE in raters:
        found.append(agreement_table(judges))
    found += [
        systems_table(list(dict.fromkeys(system for system, _ in rows)), ordered),
        aspects_table(ordered),
        cells_table(rows, ordered),
    ]
    scenarios = sorted({scenario for _, scenario in rows if scenario in SCENARIOS})
    if scenarios:
        found.append(scenarios_table(ordered, rubric, scenarios))
    return tuple(found)


def pairs_table() -> Layout:
    """Table 1: what the questions are about."""
    cells = {
        "Pairs of objects": "pairs",
        "Pairs with an aspect": "pairs with an aspect",
        "Arguments of a pair: mean": "arguments: mean",
        "Arguments of a pair: least": "arguments: least",
        "Arguments of a pair: most": "arguments: most",
        "Pairs with more arguments than the mean": "pairs with more than the mean",
    }
    lines = tuple(Line((text,), (Cell(("table 1", cell)),)) for text, cell in cells.items())
    caption = "Pairs of objects and their arguments."
    return Layout("compqa-1", caption, ("", "n"), lines, digits=None)


def agreement_table(judges: Iterable[str]) -> Layout:
    """Table 2: judges and people."""
    statistics = (ALPHA, SPEARMAN, PEARSON)
    lines = tuple(
        Line(
            (f"{_name(judge)}, {scores}",),
            tuple(Cell(("table 2", agreement_name(judge, scores, each))) for each in statistics),
        )
        for judge in judges
        for scores in (SEPARATELY, FINALLY)
    )
    return Layout(
        "compqa-2",
        "Agreement and correlation of judges and people.",
        ("Judge", "Krippendorff’s α", "Spearman", "Pearson"),
        lines,
        notes=(
            "Separately: the scores of all criteria put end to end; final score: sums of the "
            "criteria. α is for interval data.",
        ),
    )


def systems_table(systems: Iterable[str], raters: Sequence[str]) -> Layout:
    """Table 3: systems by raters."""
    lines = tuple(
        Line(
            (_name(system),),
            tuple(Cell(("table 3", cell_name(rater, system))) for rater in raters),
        )
        for system in systems
    )
    heads = ("System", *map(_name, raters))
    return Layout("compqa-3", "Mean scores of systems.", heads, lines, notes=(MEANS_OF_MEANS,))


def aspects_table(raters: Sequence[str]) -> Layout:
    """Table 4: questions with and without an aspect."""
    raters = list(dict.fromkeys(raters))
    lines = tuple(
        Line(
            (text,),
            tuple(Cell(("table 4", aspect_name(rater, has_aspect))) for rater in raters),
        )
        for text, has_aspect in (("yes", True), ("no", False))
    )
    return Layout(
        "compqa-4",
        "Mean scores of answers to questions with and without an aspect.",
        ("Aspect", *map(_name, raters)),
        lines,
        notes=("Mean ± population sd of the means of systems and scenarios.",),
    )


def cells_table(rows: Rows, raters: Sequence[str]) -> Layout:
    """Table 5: systems and scenarios by raters."""
    lines = tuple(
        Line(
            (_name(system), str(scenario or "")),
            tuple(Cell(("table 5", cell_name(rater, system, scenario))) for rater in raters),
        )
        for system, scenario in rows
    )
    heads = ("System", "Scenario", *map(_name, raters))
    caption = "Mean scores of systems under each scenario."
    return Layout("compqa-5", caption, heads, lines, notes=(MEANS,))


def scenarios_table(
    raters: Sequence[str], rubric: Rubric = COMPQA, scenarios: Sequence[int] = SCENARIOS
) -> Layout:
    """Figures 6 and 7 as a table."""
    columns = ("total", *(each.key for each in rubric.groups))
    lines = tuple(
        Line(
            (_name(rater), str(scenario)),
            tuple(
                Cell((f"figure {6 if each == 'total' else 7}", name))
                for each in columns
                for name in [scenario_name(rater, scenario, each)]
            ),
        )
        for rater in raters
        for scenario in scenarios
    )
    return Layout(
        "compqa-figures-6-7",
        "Mean scores of scenarios over all answers.",
        ("Judge", "Scenario", *(each.capitalize() for each in columns)),
        lines,
    )


def _name(key: str) -> str:
    return "Human" if key == PEOPLE else NAMES.get(key, key)
