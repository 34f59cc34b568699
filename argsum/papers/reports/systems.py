"""Systems and scorers of the argument summarization paper, from its released data."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean, pstdev

import numpy as np

from argsum.counting.methods.scores import weighted_score
from argsum.imports.methods.released_scores import (
    StoredRun,
    iter_cells,
    read_clusterings,
    read_evaluations,
)
from argsum.scorers.methods.cluster_figures import (
    LEAST_SHARE,
    BestPerCell,
    ClusterFigure,
    Noise,
    best_per_cell,
    cluster_figure,
)
from argsum.systems.candidates import pick_candidates
from argsum.systems.methods.assignment import accuracy, assign
from argsum.systems.methods.mcargsum import THRESHOLDS, merge_clusters
from argsum.systems.smatchtopr import RULE
from cqa_site.judging.embedding import SentenceEmbedder
from cqa_site.reproduction.figures import Found, Key, Measured
from cqa_site.reproduction.reproduced import Say
from cqa_site.tabular import UnreadableFile

from . import names
from .release import CLUSTERINGS, EVALUATION, PreparedCell, Release

Rows = Iterator[tuple[Key, Found]]
# Of what must be clustered where unclustered arguments are left out. The paper prints 70 %, which
# gives its figures of Debate; on ArgKP they take 72.5 to 76.5 %.
LEAST_SHARES = {"ArgKP21": LEAST_SHARE, "Debate": 0.70}
_PREFIXES = {"ArgKP21": "ArgKP21_", "Debate": "Debate_test_"}
_SCENARIOS: dict[str, tuple[str, Noise]] = {
    names.EXCLUDING: ("clustering", "exclude"),
    names.INCLUDING: ("clustering", "include"),
    names.ITERATIVE: ("iterative_clustering", "include"),
}
_TOPICS = {"Routine": "vaccination", "Social": "media", "The USA": "USA"}


def clusters(release: Release) -> Rows:
    """The best stored clustering of every cell: index, share and seconds.

    Files that are not there are passed over.
    """
    for data, cells in (("ArgKP21", release.test_cells), ("Debate", release.debate_cells)):
        for system, clustering in (names.CLUSTERED | names.FURTHER).items():
            path = release.folder / CLUSTERINGS / f"{_PREFIXES[data]}{clustering}.json"
            if path.exists() and cells:
                yield from _clusters(data, system, path, cells)


def _clusters(data: str, system: str, path: Path, cells: Sequence[PreparedCell]) -> Rows:
    for scenario in names.scenarios(system):
        part, noise = _SCENARIOS[scenario]
        runs = read_clusterings(path, part=part)
        figures = _cluster_figures(cells, runs, path.name)
        best = best_per_cell(figures, noise=noise, least_share=LEAST_SHARES[data])
        for figure, values in _of_best(best, runs, noise).items():
            measured = Measured((fmean(values), pstdev(values)), len(values), "±")
            key = (names.CLUSTERS[data], names.cluster_cell(system, scenario, figure))
            yield key, Found(measured)


def weighted(release: Release) -> Rows:
    """Weighted scores of the stored evaluations, the best setting of every cell."""
    for name, file in names.WEIGHTED_FILES.items():
        runs = read_evaluations(release.folder / EVALUATION / file)
        best = [_best_setting(each.scores for each in cell) for _, cell in iter_cells(runs)]
        found = [each for each in best if each]
        measured = Measured(tuple(map(fmean, zip(*found, strict=True))), len(found))
        yield (names.WEIGHTED, f"{name}: {' / '.join(names.WEIGHTS)}"), Found(measured)


def figure_2(release: Release) -> Rows:
    """The stored averages of every system, stated; computed where its settings are stored, too."""
    for data in names.CLUSTERS:
        averages = release.stored_triples("aggregated_csv", data)
        for system, stored in names.AVERAGED.items():
            again = _of_settings(release, data, system) if stored in averages else None
            for at, figure in enumerate(names.WEIGHTS):
                key = (names.FIGURE_2, names.weighted_cell(data, system, figure))
                if stored in averages:
                    stated = Measured((averages[stored][at],))
                    yield key, Found(again.part(at, at + 1) if again else None, stated=stated)
    everywhere = _best_of_settings(release, "ArgKP21_MCArgSum_global", is_first_only=False)
    cell = names.weighted_cell("ArgKP21", "MCArgSum, all thresholds", names.WEIGHTS[0])
    yield (names.FIGURE_2, cell), Found(everywhere.part(0, 1))


def _of_settings(release: Release, data: str, system: str) -> Measured | None:
    if (data, system) not in names.BY_SETTING:
        return None
    part, is_first_only = names.BY_SETTING[data, system]
    return _best_of_settings(release, part, is_first_only=is_first_only)


def _best_of_settings(release: Release, part: str, *, is_first_only: bool) -> Measured:
    topics = release.gpt4o("evals", part)
    cells = [settings for stances in topics.values() for settings in stances.values()]
    allowed = set(cells[0]) if is_first_only else {key for cell in cells for key in cell}
    best = [
        _best_setting(scores for setting, scores in cell.items() if setting in allowed)
        for cell in cells
    ]
    found = [each for each in best if each]
    return Measured(tuple(map(fmean, zip(*found, strict=True))), len(found))


def candidates(release: Release) -> Rows:
    """Candidates of SMatchToPr before and after filling up, from the released qualities."""
    for cell in release.test_cells:
        topic = next(short for start, short in _TOPICS.items() if cell.topic.startswith(start))
        side = "supporting" if cell.stance > 0 else "opposing"
        quality = np.array([np.nan if each is None else each for each in cell.quality])
        counts = tuple(
            len(pick_candidates(cell.arguments, quality, rule=RULE, fill_up=share))
            for share in (0.0, 0.1)
        )
        measured = Measured(counts, len(cell.arguments))
        yield (names.CANDIDATES, f"{topic}, {side}: before / after fill-up"), Found(ours=measured)


def minilm(release: Release, say: Say) -> Rows:
    """The packaged model as match scorer, without any training."""
    embedder = SentenceEmbedder()
    both = {"ArgKP21": release.test_cells, "Debate": release.debate_cells}
    total, done = sum(map(len, both.values())), 0
    for data, cells in both.items():
        figures: dict[str, list[ClusterFigure]] = {}
        found: list[float | None] = []
        for cell in cells:
            figures[cell.name], own = _minilm_cell(embedder, cell)
            found.append(own)
            done += 1
            say(done, total, "Cells embedded and clustered")
        if cells:
            yield from _minilm_figures(data, figures, found)


def _minilm_cell(
    embedder: SentenceEmbedder, cell: PreparedCell
) -> tuple[list[ClusterFigure], float | None]:
    """All clusterings of a cell, and the share of arguments whose best key point is theirs."""
    vectors = embedder.encode(cell.arguments)
    merged = merge_clusters(vectors @ vectors.T, THRESHOLDS)
    figures = [cluster_figure(f"{m:g}", cell.reference, ids) for m, ids in merged.items()]
    assigned = assign(vectors @ embedder.encode(cell.key_points).T, threshold=-1.0)
    own = [cell.key_points.index(each) for each in cell.reference]
    return figures, accuracy(assigned.positions, own)


def _minilm_figures(
    data: str, figures: dict[str, list[ClusterFigure]], found: Sequence[float | None]
) -> Rows:
    noises: tuple[tuple[str, Noise], ...] = (("excluding", "exclude"), ("including", "include"))
    for word, noise in noises:
        mean = best_per_cell(figures, noise=noise, least_share=LEAST_SHARES[data]).mean
        key = (names.MINILM, f"{data}: ARI {word} noise, oracle")
        yield key, Found(ours=Measured((mean or 0.0,), len(figures)))
    key = (names.MINILM, f"{data}: argument → key point accuracy, mean over cells")
    yield key, Found(ours=Measured((_mean(found),), len(figures)))


def _cluster_figures(
    cells: Sequence[PreparedCell], runs: Sequence[StoredRun], file: str
) -> dict[str, list[ClusterFigure]]:
    reference = {cell.name: cell.reference for cell in cells}
    for run in runs:
        expected = len(reference.get(run.cell, ()))
        if len(run.cluster_ids) != expected:
            reason = f"{len(run.cluster_ids)} cluster ids for {expected} arguments"
            raise UnreadableFile(file, reason, column=f"{run.setting}, {run.cell}")
    return {
        name: [cluster_figure(run.setting, reference[name], run.cluster_ids) for run in of_cell]
        for name, of_cell in iter_cells(runs)
    }


def _of_best(best: BestPerCell, runs: Sequence[StoredRun], noise: Noise) -> dict[str, list[float]]:
    seconds = {(run.cell, run.setting): run.seconds for run in runs}
    chosen = best.chosen.items()
    index = [each.excluding if noise == "exclude" else each.including for _, each in chosen]
    # With noise as a cluster of its own every argument is in one.
    shares = [each.share if noise == "exclude" else 1.0 for _, each in chosen]
    times = [seconds[cell, each.setting] for cell, each in chosen]
    found = {
        names.ARI: [value for value in index if value is not None],
        names.SHARE: shares,
        names.SECONDS: [value for value in times if value is not None],
    }
    return {name: values for name, values in found.items() if values}


def _mean(values: Sequence[float | None]) -> float:
    return fmean(np.nan if value is None else value for value in values)


def _best_setting(settings: Iterable[Mapping[str, float]]) -> tuple[float, float, float] | None:
    """Weighted score, coverage and redundancy of the best setting that has a result."""
    scores = [
        (weighted_score(coverage, redundancy), coverage, redundancy)
        for each in settings
        for coverage, redundancy in [(each.get("llm_coverage"), each.get("llm_redundancy"))]
        if coverage is not None and redundancy is not None
    ]
    return max(scores, default=None)
