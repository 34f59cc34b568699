"""The argument summarization paper's tables, computed from a live study."""

from collections.abc import Sequence
from statistics import fmean, pstdev

from argsum.counting.methods.released_counts import LEFT_OUT
from argsum.datasets.methods.preprocessing import ONE_KEY_POINT, ONE_SENTENCE, READ, UNIQUE, summed
from argsum.datasets.models import Dataset
from argsum.leaderboard.methods import INDICES, SystemRow
from argsum.leaderboard.reports.board import board_choice, ended_sets, summary_board
from argsum.leaderboard.reports.people_agreement import people_agreement
from argsum.leaderboard.reports.scores import metric_rows
from argsum.metrics.methods import COVERAGE_SCORE, LLM, RELEASED_PARTS, split_name
from argsum.scorers.methods.figures import LEAST_SHARE
from cqa_site.people.models import Study
from cqa_site.reproduction.figures import Key, MeasuredFigure, ReproducedValue, compare
from cqa_site.reproduction.reproduced import Reproduction
from cqa_site.reproduction.tables import TableCell, TableLayout, TableLine
from . import release
from .reproduction import correlations
from .tables import (
    clusters_table,
    coverage_table,
    llm_table,
    people_table,
    soft_table,
    weighted_table,
)

# Minimum shares of clustered arguments where unclustered ones are left out: ours, then the
# paper's.
SHARES = (LEAST_SHARE, 0.70)
DIGITS = 3
_STEPS = {
    READ: "Arguments imported",
    UNIQUE: "Unique arguments",
    ONE_KEY_POINT: "… with one summary",
    ONE_SENTENCE: "… of one sentence",
}


def argsum_of_study(study: Study) -> Reproduction:
    """Return the paper's tables for the datasets, annotators, metrics and systems of a study.

    Tables that would have no rows are left out, and so are the systems that the paper's release
    leaves out.
    """
    datasets = list(study.argument_datasets.order_by("pk"))
    figures: dict[Key, ReproducedValue] = {}
    layouts: list[TableLayout] = []
    for part in (_metrics(study), _people(study), _data(datasets), *_boards(study, datasets)):
        values, more = part
        figures |= values
        layouts += more
    return Reproduction(tuple(compare(figures)), tuple(layouts))


Part = tuple[dict[Key, ReproducedValue], list[TableLayout]]


def _metrics(study: Study) -> Part:
    """Return every metric's correlation with human counts, over all datasets of the study."""
    values: dict[Key, ReproducedValue] = {}
    temperatures: dict[str, None] = {}
    functions: dict[str, None] = {}
    settings: dict[str, None] = {}
    for row in metric_rows(study):
        function, part = split_name(row.source.metric)
        setting = row.source.setting
        if row.source.metric in LLM:
            label = setting.rpartition("imported, temperature ")[2]
            temperatures.setdefault(label)
            key = release.LLM, f"{function.removeprefix('llm_')}, temperature {label}"
        elif function == COVERAGE_SCORE:
            settings.setdefault(setting)
            key = release.COVERAGE, f"{COVERAGE_SCORE}, threshold {setting}"
        else:
            named = {value: name for name, value in release.SOFT_FUNCTIONS.items()}
            name = named.get(function, function)
            label = name if setting in ("", "imported") else f"{name} ({setting})"
            functions.setdefault(label)
            key = release.SOFT, f"{label}, {RELEASED_PARTS.get(part, part)}"
        values[key] = ReproducedValue(ours=correlations(row.found))
    tables = (
        (temperatures, llm_table(list(temperatures), has_seconds=False, digits=DIGITS)),
        (functions, soft_table(_in_order(functions), has_seconds=False, digits=DIGITS)),
        (settings, coverage_table((COVERAGE_SCORE,), list(settings), digits=DIGITS)),
    )
    return values, [layout for rows, layout in tables if rows]


def _in_order(functions: dict[str, None]) -> list[str]:
    """Return the functions, those of the paper first and in its order."""
    paper = [function for function in release.SOFT_FUNCTIONS if function in functions]
    return [*paper, *sorted(functions.keys() - set(paper))]


def _people(study: Study) -> Part:
    agreement = people_agreement(study, without=LEFT_OUT)
    values = {
        (
            release.PEOPLE,
            f"{dimension.dimension}, mean Pearson of two annotators",
        ): ReproducedValue(ours=MeasuredFigure((dimension.pairs.mean,), agreement.sets))
        for dimension in agreement.dimensions
        if dimension.pairs.mean is not None
    }
    return values, [people_table()] if values else []


def _data(datasets: Sequence[Dataset]) -> Part:
    """Return the number of arguments after preprocessing, in the test split if there is one."""
    values: dict[Key, ReproducedValue] = {}
    names = []
    for dataset in datasets:
        counts = dataset.recipe.get("counts") or {}
        left = counts.get("test") or summed(counts.values())
        for step, text in _STEPS.items():
            if step in left:
                values[release.DATA, f"{dataset}: {text}"] = ReproducedValue(
                    ours=MeasuredFigure((left[step],))
                )
        if left:
            names.append(f"{dataset}")
    lines = [
        TableLine((text,), tuple(TableCell((release.DATA, f"{name}: {text}")) for name in names))
        for text in _STEPS.values()
    ]
    caption = "Arguments left after preprocessing; of the test split if there is one."
    if not names:
        return {}, []
    return values, [TableLayout("argsum-data", caption, ("Step", *names), tuple(lines))]


def _boards(study: Study, datasets: Sequence[Dataset]) -> list[Part]:
    """Return clusters and weighted scores for every dataset that has sets."""
    parts = []
    for number, dataset in enumerate(datasets, start=1):
        boards = {share: _rows(study, dataset, share) for share in SHARES}
        # Table names must stay short enough to type.
        name = str(number) if len(datasets) > 1 else ""
        parts += [_clusters(dataset, boards, name), _weighted(dataset, boards[LEAST_SHARE], name)]
    return parts


def _rows(study: Study, dataset: Dataset, share: float) -> list[SystemRow]:
    query = {"dataset": str(dataset.public_id), "selection": "oracle", "share": f"{share}"}
    choice = board_choice(study, query)
    if not ended_sets(study, dataset, choice.split).exists():
        return []
    return [row for row in summary_board(choice).rows if LEFT_OUT not in row.system]


def _clusters(dataset: Dataset, boards: dict[float, list[SystemRow]], name: str) -> Part:
    table = f"clusters of {dataset}, oracle"
    values: dict[Key, ReproducedValue] = {}
    systems: dict[str, list[str]] = {}
    for share, rows in boards.items():
        for row in sorted(rows, key=lambda system_row: system_row.system):
            for index in INDICES:
                if index == "including" and share != LEAST_SHARE:
                    continue
                scenario = _scenario(index, share)
                for figure, measured in _of_clusters(row, index).items():
                    values[table, release.cluster_cell(row.system, scenario, figure)] = (
                        ReproducedValue(ours=measured)
                    )
                    systems.setdefault(row.system, [])
                    if scenario not in systems[row.system]:
                        systems[row.system].append(scenario)
    layout = clusters_table(
        f"{dataset}", systems, table=table, name=name or "study", digits=DIGITS
    )
    return values, [layout] if systems else []


def _scenario(index: str, share: float) -> str:
    return release.INCLUDING if index == "including" else f"{release.EXCLUDING} (≥ {share:.0%})"


def _of_clusters(row: SystemRow, index: str) -> dict[str, MeasuredFigure]:
    """Return index, share and seconds over the cells, for the clusterings with the best index."""
    chosen = [(cell, *_own(row, cell, index)) for cell in row.chosen]
    known = [record for record in chosen if record[1] is not None]
    values = {
        release.ARI: [value for _cell, value, _share, _seconds in known],
        release.SHARE: [
            1.0 if index == "including" else share for _cell, _value, share, _seconds in known
        ],
        release.SECONDS: [seconds for _cell, _value, _share, seconds in known],
    }
    return {
        name: MeasuredFigure((fmean(figures), pstdev(figures)), len(figures), "±")
        for name, numbers in values.items()
        if (figures := [number for number in numbers if number is not None])
    }


def _own(row: SystemRow, cell: str, index: str) -> tuple[float | None, float | None, float | None]:
    """Return a cell's index, and the share and seconds of its clustering."""
    figures = row.clusterings.get(cell, {}).get(index, row.chosen[cell])
    return row.by_cell[cell][index], figures.share, figures.seconds


def _weighted(dataset: Dataset, rows: Sequence[SystemRow], name: str) -> Part:
    values: dict[Key, ReproducedValue] = {}
    systems = []
    for row in rows:
        estimates = [row.figures[measure] for measure in ("weighted", "coverage", "redundancy")]
        for figure, estimate in zip(release.WEIGHTS, estimates, strict=True):
            if estimate.value is not None:
                key = release.OWN_WEIGHTED, release.weighted_cell(f"{dataset}", row.system, figure)
                values[key] = ReproducedValue(
                    ours=MeasuredFigure((estimate.value,), estimate.n_values)
                )
        if estimates[0].value is not None:
            systems.append(row.system)
    layout = weighted_table(
        (f"{dataset}",),
        systems,
        table=release.OWN_WEIGHTED,
        name="-".join(filter(None, ("argsum-figure-2", name))),
    )
    return values, [layout] if systems else []
