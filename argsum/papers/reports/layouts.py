"""The argument summarization paper's tables as it lays them out.

``digits`` None has those of each printed number; tables of a study have three everywhere.
"""

from collections.abc import Iterable, Mapping, Sequence

from cqa_site.reproduction.tables import Cell, Layout, Line

from . import names

ORACLE = "The best setting of every topic and stance, chosen by the very score shown: an oracle."
WITHIN = "Pearson; within: mean ± population sd over topics and stances."
_ACROSS = ("Across", "Within")


def layouts() -> tuple[Layout, ...]:
    """Of the paper, in its order, then figure 2 as a table."""
    return (
        llm_table(names.TEMPERATURES),
        people_table(),
        data_table(),
        soft_table(list(names.SOFT_FUNCTIONS)),
        coverage_table(names.MATCH_SCORERS, names.MATCH_THRESHOLDS),
        clusters_table("ArgKP21", {each: names.scenarios(each) for each in names.CLUSTERED}),
        clusters_table("Debate", {each: names.scenarios(each) for each in names.CLUSTERED}),
        weighted_table(("ArgKP21", "Debate"), list(names.AVERAGED)),
    )


def llm_table(
    settings: Sequence[str], *, has_seconds: bool = True, digits: int | None = None
) -> Layout:
    """Counts of a language model beside people's, by temperature."""
    heads = [*_ACROSS, "Runtime (s)"] if has_seconds else list(_ACROSS)
    lines = [
        Line(
            (f"{float(each):.2f}" if each in names.TEMPERATURES else each,),
            tuple(
                cell
                for name in ("coverage", "redundancy")
                for cell in _correlation(
                    (names.LLM, f"{name}, temperature {each}"), has_seconds=has_seconds
                )
            ),
        )
        for each in settings
    ]
    return Layout(
        "argsum-llm",
        "Correlation of language-model counts with people’s coverage and redundancy.",
        ("Temperature", *heads, *heads),
        tuple(lines),
        spans=(
            ("LLM-based Coverage Score", len(heads)),
            ("LLM-based Redundancy Score", len(heads)),
        ),
        notes=(WITHIN,),
        digits=digits,
    )


def people_table() -> Layout:
    """The agreement of the text."""
    lines = [
        Line((name.capitalize(),), (Cell((names.PEOPLE, cell)),))
        for name in ("coverage", "redundancy")
        for cell in [f"{name}, mean Pearson of two annotators"]
    ]
    return Layout(
        "argsum-people",
        "Agreement of annotators: mean Pearson correlation of two of them.",
        ("Dimension", "Mean Pearson"),
        tuple(lines),
        digits=3,
    )


def data_table() -> Layout:
    """What preprocessing leaves of the two data sets."""
    pairs = (
        ("Unique arguments", "test: unique arguments", "unique arguments"),
        ("… with one summary", "test: … with exactly one key point", "… with exactly one reason"),
        ("… of one sentence", "test: … of one sentence", "… of one sentence"),
        ("… in the final data", "test: … of one sentence", "… in the released half"),
    )
    lines = [
        Line((text,), (Cell((names.DATA, first)), Cell((names.DEBATE, second))))
        for text, first, second in pairs
    ]
    return Layout(
        "argsum-data",
        "Arguments left by preprocessing.",
        ("Step", "ArgKP21, test", "Debate"),
        tuple(lines),
    )


def soft_table(
    functions: Iterable[str], *, has_seconds: bool = True, digits: int | None = None
) -> Layout:
    """Soft scores with people's coverage."""
    lines = [
        Line(
            (name,),
            (
                *(
                    cell
                    for part in ("sP", "sR", "sF1")
                    for cell in _correlation((names.SOFT, f"{name}, {part}"))
                ),
                *([Cell((names.SOFT, f"{name}, seconds"))] if has_seconds else []),
            ),
        )
        for name in functions
    ]
    spans = [("Soft-Precision", 2), ("Soft-Recall", 2), ("Soft-F1", 2)]
    return Layout(
        "argsum-soft",
        "Correlation of Soft-Scores with people’s coverage.",
        ("Similarity function", *_ACROSS * 3, *(["Runtime (s)"] if has_seconds else [])),
        tuple(lines),
        spans=(*spans, *([("", 1)] if has_seconds else [])),
        notes=(WITHIN,),
        digits=digits,
    )


def coverage_table(
    scorers: Sequence[str], thresholds: Iterable[str], *, digits: int | None = None
) -> Layout:
    """Coverage Scores with people's coverage, by threshold."""
    lines = [
        Line(
            (threshold,),
            tuple(
                cell
                for scorer in scorers
                for cell in _correlation((names.COVERAGE, f"{scorer}, threshold {threshold}"))
            ),
        )
        for threshold in thresholds
    ]
    return Layout(
        "argsum-coverage",
        "Correlation of Coverage Scores with people’s coverage.",
        ("Threshold", *_ACROSS * len(scorers)),
        tuple(lines),
        spans=tuple((f"CS ({scorer})", 2) for scorer in scorers),
        notes=(WITHIN,),
        digits=digits,
    )


def clusters_table(
    data: str,
    systems: Mapping[str, Sequence[str]],
    *,
    table: str = "",
    name: str = "",
    digits: int | None = None,
) -> Layout:
    """Systems and scenarios by index, share and seconds."""
    lines = [
        Line(
            (system, scenario),
            tuple(
                Cell((table or names.CLUSTERS[data], names.cluster_cell(system, scenario, each)))
                for each in names.CLUSTER_FIGURES
            ),
        )
        for system, scenarios in systems.items()
        for scenario in scenarios
    ]
    return Layout(
        f"argsum-clusters-{name or data.lower()}",
        f"Argument separation on {data}: adjusted Rand index.",
        ("ArgSum System", "Scenario", *names.CLUSTER_FIGURES),
        tuple(lines),
        notes=("Mean ± population sd over topics and stances.", ORACLE),
        digits=digits,
    )


def weighted_table(
    data: Sequence[str],
    systems: Iterable[str],
    *,
    table: str = names.FIGURE_2,
    name: str = "argsum-figure-2",
) -> Layout:
    """Figure 2 as a table: systems by weighted score, coverage and redundancy."""
    lines = [
        Line(
            (system,),
            tuple(
                Cell((table, names.weighted_cell(each, system, figure)))
                for each in data
                for figure in names.WEIGHTS
            ),
        )
        for system in systems
    ]
    heads = [each.capitalize() for each in names.WEIGHTS]
    return Layout(
        name,
        "Weighted Score, coverage and redundancy of systems.",
        ("ArgSum System", *heads * len(data)),
        tuple(lines),
        spans=tuple((each, len(heads)) for each in data),
        notes=(ORACLE,),
    )


def _correlation(key: tuple[str, str], *, has_seconds: bool = False) -> list[Cell]:
    cells = [Cell(key, 0, 1), Cell(key, 1, 3)]
    return [*cells, Cell((key[0], f"{key[1]}, seconds"))] if has_seconds else cells
