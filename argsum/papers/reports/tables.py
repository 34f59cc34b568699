"""Layouts and printed values of the paper's tables."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from cqa_site.reproduction.figures import PrintedFigure
from cqa_site.reproduction.tables import TableCell, TableLayout, TableLine
from . import release

# Tables of the argument summarization paper, in its layout.
#
# With ``digits`` None, a value has as many digits as the printed one. Tables of a study always
# have three.

ORACLE = "The best setting for each topic and stance, chosen by the score shown: an oracle."
WITHIN = "Pearson; within: mean ± population sd over topics and stances."
_ACROSS = ("Across", "Within")


def layouts() -> tuple[TableLayout, ...]:
    """Return the paper's tables in order, followed by figure 2 as a table."""
    return (
        llm_table(release.TEMPERATURES),
        people_table(),
        data_table(),
        soft_table(list(release.SOFT_FUNCTIONS)),
        coverage_table(release.MATCH_SCORERS, release.MATCH_THRESHOLDS),
        clusters_table(
            "ArgKP21", {system: release.scenarios(system) for system in release.CLUSTERED}
        ),
        clusters_table(
            "Debate", {system: release.scenarios(system) for system in release.CLUSTERED}
        ),
        weighted_table(("ArgKP21", "Debate"), list(release.AVERAGED)),
    )


def llm_table(
    settings: Sequence[str], *, has_seconds: bool = True, digits: int | None = None
) -> TableLayout:
    """Return the table of a language model's counts and human counts, by temperature."""
    heads = [*_ACROSS, "Runtime (s)"] if has_seconds else list(_ACROSS)
    lines = [
        TableLine(
            (f"{float(setting):.2f}" if setting in release.TEMPERATURES else setting,),
            tuple(
                cell
                for name in ("coverage", "redundancy")
                for cell in _correlation(
                    (release.LLM, f"{name}, temperature {setting}"), has_seconds=has_seconds
                )
            ),
        )
        for setting in settings
    ]
    return TableLayout(
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


def people_table() -> TableLayout:
    """Return the table of annotator agreement reported in the text."""
    lines = [
        TableLine((name.capitalize(),), (TableCell((release.PEOPLE, cell)),))
        for name in ("coverage", "redundancy")
        for cell in [f"{name}, mean Pearson of two annotators"]
    ]
    return TableLayout(
        "argsum-people",
        "Agreement of annotators: mean pairwise Pearson correlation.",
        ("Dimension", "Mean Pearson"),
        tuple(lines),
        digits=3,
    )


def data_table() -> TableLayout:
    """Return the table of arguments that remain after preprocessing, for both datasets."""
    pairs = (
        ("Unique arguments", "test: unique arguments", "unique arguments"),
        ("… with one summary", "test: … with exactly one key point", "… with exactly one reason"),
        ("… of one sentence", "test: … of one sentence", "… of one sentence"),
        ("… in the final data", "test: … of one sentence", "… in the released half"),
    )
    lines = [
        TableLine((text,), (TableCell((release.DATA, first)), TableCell((release.DEBATE, second))))
        for text, first, second in pairs
    ]
    return TableLayout(
        "argsum-data",
        "Arguments left after preprocessing.",
        ("Step", "ArgKP21, test", "Debate"),
        tuple(lines),
    )


def soft_table(
    functions: Iterable[str], *, has_seconds: bool = True, digits: int | None = None
) -> TableLayout:
    """Return the table of soft scores and human coverage."""
    lines = [
        TableLine(
            (name,),
            (
                *(
                    cell
                    for part in ("sP", "sR", "sF1")
                    for cell in _correlation((release.SOFT, f"{name}, {part}"))
                ),
                *([TableCell((release.SOFT, f"{name}, seconds"))] if has_seconds else []),
            ),
        )
        for name in functions
    ]
    spans = [("Soft-Precision", 2), ("Soft-Recall", 2), ("Soft-F1", 2)]
    return TableLayout(
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
) -> TableLayout:
    """Return the table of Coverage Scores and human coverage, by threshold."""
    lines = [
        TableLine(
            (threshold,),
            tuple(
                cell
                for scorer in scorers
                for cell in _correlation((release.COVERAGE, f"{scorer}, threshold {threshold}"))
            ),
        )
        for threshold in thresholds
    ]
    return TableLayout(
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
) -> TableLayout:
    """Return the table of systems and scenarios with index, share and seconds."""
    lines = [
        TableLine(
            (system, scenario),
            tuple(
                TableCell(
                    (
                        table or release.CLUSTERS[data],
                        release.cluster_cell(system, scenario, figure),
                    )
                )
                for figure in release.CLUSTER_FIGURES
            ),
        )
        for system, scenarios in systems.items()
        for scenario in scenarios
    ]
    return TableLayout(
        f"argsum-clusters-{name or data.lower()}",
        f"Argument separation on {data}: adjusted Rand index.",
        ("ArgSum System", "Scenario", *release.CLUSTER_FIGURES),
        tuple(lines),
        notes=("Mean ± population sd over topics and stances.", ORACLE),
        digits=digits,
    )


def weighted_table(
    data: Sequence[str],
    systems: Iterable[str],
    *,
    table: str = release.FIGURE_2,
    name: str = "argsum-figure-2",
) -> TableLayout:
    """Return figure 2 as a table: systems with weighted score, coverage and redundancy."""
    lines = [
        TableLine(
            (system,),
            tuple(
                TableCell((table, release.weighted_cell(dataset, system, figure)))
                for dataset in data
                for figure in release.WEIGHTS
            ),
        )
        for system in systems
    ]
    heads = [weight.capitalize() for weight in release.WEIGHTS]
    return TableLayout(
        name,
        "Weighted Score, coverage and redundancy of systems.",
        ("ArgSum System", *heads * len(data)),
        tuple(lines),
        spans=tuple((dataset, len(heads)) for dataset in data),
        notes=(ORACLE,),
    )


def _correlation(key: tuple[str, str], *, has_seconds: bool = False) -> list[TableCell]:
    cells = [TableCell(key, 0, 1), TableCell(key, 1, 3)]
    return [*cells, TableCell((key[0], f"{key[1]}, seconds"))] if has_seconds else cells


# Across / mean within ± sd within, of sP, sR and sF1; seconds.
SOFT = """
ROUGE 1 | -0.118 / -0.072 ± 0.194 | 0.164 / 0.315 ± 0.170 | 0.027 / 0.127 ± 0.184 | 0.428
BERTScore F1 | -0.028 / 0.092 ± 0.262 | 0.254 / 0.402 ± 0.175 | 0.121 / 0.240 ± 0.242 | 354.2
MoverScore | -0.046 / 0.044 ± 0.227 | 0.156 / 0.310 ± 0.204 | 0.069 / 0.191 ± 0.207 | 55.93
BARTScore CNN/DM | -0.146 / -0.305 ± 0.164 | 0.024 / -0.011 ± 0.283 | -0.053 / -0.132 ± 0.264 | 84.33
BARTScore Parabank | -0.271 / -0.221 ± 0.251 | -0.012 / 0.112 ± 0.339 | -0.132 / -0.022 ± 0.320 | 41.09
BLEURT | -0.209 / -0.218 ± 0.289 | 0.033 / 0.138 ± 0.247 | -0.091 / -0.055 ± 0.294 | 487.3
MENLI | -0.154 / -0.039 ± 0.287 | 0.265 / 0.372 ± 0.260 | 0.107 / 0.228 ± 0.298 | 254.6
"""  # noqa: E501
SOFT_PARTS = ("sP", "sR", "sF1")

# Temperature: across / within ± sd and seconds, for coverage and for redundancy.
LLM = """
0.2 | 0.736 / 0.756 ± 0.100 | 495.1 | 0.798 / 0.697 ± 0.226 | 1305.3
0.3 | 0.725 / 0.747 ± 0.133 | 467.7 | 0.789 / 0.752 ± 0.096 | 1651.1
0.4 | 0.746 / 0.771 ± 0.112 | 529.3 | 0.817 / 0.758 ± 0.122 | 1515.4
0.5 | 0.742 / 0.757 ± 0.127 | 512.0 | 0.812 / 0.724 ± 0.210 | 1446.3
0.6 | 0.741 / 0.762 ± 0.122 | 629.7 | 0.837 / 0.795 ± 0.088 | 1359.9
0.7 | 0.755 / 0.789 ± 0.103 | 644.3 | 0.830 / 0.782 ± 0.112 | 1425.6
0.8 | 0.729 / 0.755 ± 0.108 | 612.4 | 0.828 / 0.762 ± 0.111 | 1431.1
0.9 | 0.754 / 0.782 ± 0.131 | 676.4 | 0.843 / 0.784 ± 0.109 | 1651.0
1.0 | 0.767 / 0.803 ± 0.115 | 845.5 | 0.852 / 0.824 ± 0.055 | 1649.1
"""

# Threshold: across / within ± sd for the scorers of BarH, SMatchToPr and MCArgSum.
COVERAGE = """
0.40 | 0.478 / 0.585 ± 0.254 | -0.092 / -0.157 ± 0.037 | 0.206 / -0.057 ± 0.223
0.45 | 0.475 / 0.605 ± 0.248 | 0.163 / -0.074 ± 0.187 | 0.300 / -0.019 ± 0.307
0.50 | 0.465 / 0.627 ± 0.251 | 0.174 / -0.023 ± 0.196 | 0.300 / -0.019 ± 0.307
0.55 | 0.462 / 0.657 ± 0.273 | 0.378 / 0.249 ± 0.307 | 0.281 / -0.002 ± 0.292
0.60 | 0.489 / 0.698 ± 0.222 | 0.469 / 0.338 ± 0.371 | 0.415 / 0.137 ± 0.390
0.65 | 0.464 / 0.676 ± 0.218 | 0.465 / 0.411 ± 0.256 | 0.449 / 0.256 ± 0.357
0.70 | 0.458 / 0.657 ± 0.233 | 0.457 / 0.404 ± 0.212 | 0.369 / 0.297 ± 0.295
0.75 | 0.466 / 0.658 ± 0.197 | 0.541 / 0.550 ± 0.182 | 0.379 / 0.347 ± 0.319
0.80 | 0.429 / 0.591 ± 0.154 | 0.511 / 0.600 ± 0.196 | 0.444 / 0.551 ± 0.193
0.85 | 0.414 / 0.556 ± 0.201 | 0.468 / 0.558 ± 0.085 | 0.364 / 0.421 ± 0.270
0.90 | 0.295 / 0.504 ± 0.249 | 0.238 / 0.261 ± 0.070 | 0.316 / 0.401 ± 0.129
"""

# System and scenario: index, share clustered and seconds, each as mean ± sd over the cells.
CLUSTERS = {
    "ArgKP21": """
USKPM | Excl. noise | 0.273 ± 0.045 | 0.884 ± 0.079 | 1.417 ± 0.136
USKPM | Incl. noise | 0.253 ± 0.057 | 1.000 ± 0.000 | 1.478 ± 0.113
USKPM | IC | 0.268 ± 0.052 | 1.000 ± 0.000 | 4.377 ± 4.378
MCArgSum | Excl. noise | 0.594 ± 0.299 | 0.908 ± 0.061 | 1.133 ± 0.178
MCArgSum | Incl. noise | 0.547 ± 0.255 | 1.000 ± 0.000 | 1.133 ± 0.178
MCArgSum (BarH) | Excl. noise | 0.725 ± 0.182 | 0.858 ± 0.064 | 53.86 ± 25.19
MCArgSum (BarH) | Incl. noise | 0.640 ± 0.158 | 1.000 ± 0.000 | 53.86 ± 25.19
MCArgSum (SMatchToPr) | Excl. noise | 0.682 ± 0.109 | 0.881 ± 0.042 | 2.723 ± 0.435
MCArgSum (SMatchToPr) | Incl. noise | 0.639 ± 0.113 | 1.000 ± 0.000 | 2.723 ± 0.435
""",
    "Debate": """
USKPM | Excl. noise | 0.298 ± 0.054 | 0.797 ± 0.051 | 2.090 ± 0.518
USKPM | Incl. noise | 0.232 ± 0.049 | 1.000 ± 0.000 | 2.044 ± 0.507
USKPM | IC | 0.262 ± 0.054 | 1.000 ± 0.000 | 15.38 ± 9.633
MCArgSum | Excl. noise | 0.369 ± 0.135 | 0.878 ± 0.095 | 1.931 ± 0.690
MCArgSum | Incl. noise | 0.315 ± 0.123 | 1.000 ± 0.000 | 1.931 ± 0.690
MCArgSum (BarH) | Excl. noise | 0.411 ± 0.085 | 0.789 ± 0.079 | 201.9 ± 166.7
MCArgSum (BarH) | Incl. noise | 0.311 ± 0.099 | 1.000 ± 0.000 | 201.9 ± 166.7
MCArgSum (SMatchToPr) | Excl. noise | 0.305 ± 0.071 | 0.783 ± 0.068 | 6.109 ± 2.323
MCArgSum (SMatchToPr) | Incl. noise | 0.245 ± 0.045 | 1.000 ± 0.000 | 6.109 ± 2.323
""",
}

# Values for figure 2 that the text reports.
FIGURE_2 = """
ArgKP21 | BarH | weighted score | 0.85
ArgKP21 | BarH, written candidates | weighted score | 0.88
ArgKP21 | BarH, written summaries | weighted score | 0.86
ArgKP21 | SMatchToPr | weighted score | 0.86
ArgKP21 | SMatchToPr | coverage | 0.91
ArgKP21 | SMatchToPr | redundancy | 0.24
ArgKP21 | SMatchToPr, written candidates | weighted score | 0.88
ArgKP21 | SMatchToPr, written summaries | weighted score | 0.85
ArgKP21 | USKPM | weighted score | 0.80
ArgKP21 | MCArgSum | weighted score | 0.84
ArgKP21 | MCArgSum | seconds | 3.779
Debate | MCArgSum | weighted score | 0.89
Debate | MCArgSum | coverage | 0.88
Debate | MCArgSum | seconds | 7.375
"""

DATA = """
topics in train / dev / test | 24 / 4 / 3
labelled pairs | 27,519
test: unique arguments | 732
test: … with exactly one key point |
test: … of one sentence | 428
"""
DEBATE = """
arguments | 3,228
unique arguments | 3,180
… with exactly one reason |
… of one sentence | 2,321
… in the released half | 1,165
topics | 4
"""
PEOPLE = """
sets | 126
coverage, mean Pearson of two annotators | 0.697
redundancy, mean Pearson of two annotators | 0.722
"""

NO_WEIGHTS = "needs the authors' match scorers, whose weights are not in this folder"
# Where the paper prints each table; the available text of its appendix has no table numbers.
PLACES = {
    release.DATA: "section 4, appendix D.1",
    release.DEBATE: "section 4, appendix D.1",
    release.PEOPLE: "section 3.4",
    release.SOFT: "appendix E",
    release.COVERAGE: "appendix E",
    release.LLM: "section 4.1",
    release.FIGURE_2: "section 4.2.2",
    **dict.fromkeys(release.CLUSTERS.values(), "appendix E"),
}
WHY = {
    (release.DATA, "test: unique arguments"): "the released test split has 723 arguments",
    (release.FIGURE_2, release.weighted_cell("Debate", "MCArgSum", "weighted score")): (
        "the scores of the settings give less than the stored average"
    ),
    (release.FIGURE_2, release.weighted_cell("ArgKP21", "SMatchToPr", "coverage")): (
        "the stored average is .905; .912 is that of SMatchToPr with written candidates"
    ),
    (release.LLM, "coverage, temperature 0.7"): (
        "the stored standard deviation has five digits, of which .10245 rounds to .102"
    ),
    **{
        (
            release.SOFT,
            f"{name}, seconds",
        ): "the stored seconds of the sets add up to a little less"
        for name in ("MoverScore", "BARTScore Parabank")
    },
}
NO_SECONDS = "seconds are not in this folder"


def printed() -> tuple[PrintedFigure, ...]:
    """Return all printed figures in the order of the paper's sections."""
    return tuple(_printed())


def _printed() -> Iterator[PrintedFigure]:
    for table, text in (
        (release.DATA, DATA), (release.DEBATE, DEBATE), (release.PEOPLE, PEOPLE),
    ):  # fmt: skip
        for cell, value in _lines(text):
            yield _one(table, cell, value)
    for name, *values, seconds in _lines(SOFT):
        for part, value in zip(SOFT_PARTS, values, strict=True):
            yield _one(release.SOFT, f"{name}, {part}", value)
        yield _one(release.SOFT, f"{name}, seconds", seconds)
    for threshold, *values in _lines(COVERAGE):
        for scorer, value in zip(release.MATCH_SCORERS, values, strict=True):
            yield _one(release.COVERAGE, f"{scorer}, threshold {threshold}", value, NO_WEIGHTS)
    for temperature, coverage, first, redundancy, second in _lines(LLM):
        for name, value, seconds in (
            ("coverage", coverage, first), ("redundancy", redundancy, second),
        ):  # fmt: skip
            cell = f"{name}, temperature {temperature}"
            yield _one(release.LLM, cell, value)
            yield _one(release.LLM, f"{cell}, seconds", seconds, NO_SECONDS)
    for data, text in CLUSTERS.items():
        for system, scenario, *values in _lines(text):
            for figure, value in zip(release.CLUSTER_FIGURES, values, strict=True):
                cell = release.cluster_cell(system, scenario, figure)
                yield _one(release.CLUSTERS[data], cell, value)
    for data, system, figure, value in _lines(FIGURE_2):
        cell = release.weighted_cell(data, system, figure)
        yield _one(release.FIGURE_2, cell, value, NO_SECONDS if figure == "seconds" else "")


def _one(table: str, cell: str, value: str, why: str = "") -> PrintedFigure:
    return PrintedFigure(table, cell, value, WHY.get((table, cell), why), PLACES[table])


def _lines(text: str) -> list[list[str]]:
    return [[part.strip() for part in line.split("|")] for line in text.strip().splitlines()]
