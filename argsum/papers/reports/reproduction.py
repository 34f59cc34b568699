"""Recompute the paper's figures from its released data."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple
from itertools import chain
from pathlib import Path
from statistics import fmean, pstdev

import numpy as np

from argsum.counting.methods.counts import weighted_score
from argsum.datasets.methods.preprocessing import ONE_KEY_POINT, ONE_SENTENCE, UNIQUE, prepare
from argsum.imports.methods.released_scores import (
    SOFT_PARTS,
    StoredRun,
    iter_cells,
    read_clusterings,
    read_evaluations,
    read_soft_scores,
    read_soft_seconds,
)
from argsum.metrics.methods import LLM, Correlations, pairwise_pearson, rouge_matrix, soft_scores
from argsum.scorers.methods.figures import (
    LEAST_SHARE,
    BestPerCell,
    ClusterFigure,
    Noise,
    best_per_cell,
    cluster_figure,
)
from argsum.systems.contract import pick_candidates
from argsum.systems.methods.clusters import THRESHOLDS, accuracy, assign, merge_clusters
from argsum.systems.ranking import SMATCHTOPR_RULE
from cqa_site.judging.embedding import SentenceEmbedder
from cqa_site.reproduction.figures import Key, MeasuredFigure, ReproducedValue, compare
from cqa_site.reproduction.reproduced import Reproduction, Say
from cqa_site.tabular import UnreadableFile
from . import release as names
from .release import (
    CLUSTERINGS,
    EVALUATION,
    GPT4O,
    HUMAN,
    SOFT_FILE,
    KeyPointRelease,
    PreparedCell,
    debate_counts,
)
from .tables import layouts, printed

Rows = Iterator[tuple[Key, ReproducedValue]]
# Minimum share of clustered arguments where unclustered arguments are left out. The paper
# prints 70 %, which reproduces its figures for Debate; those for ArgKP need 72.5 to 76.5 %.
LEAST_SHARES = {"ArgKP21": LEAST_SHARE, "Debate": 0.70}
_PREFIXES = {"ArgKP21": "ArgKP21_", "Debate": "Debate_test_"}
_SCENARIOS: dict[str, tuple[str, Noise]] = {
    names.EXCLUDING: ("clustering", "exclude"),
    names.INCLUDING: ("clustering", "include"),
    names.ITERATIVE: ("iterative_clustering", "include"),
}
_TOPICS = {"Routine": "vaccination", "Social": "media", "The USA": "USA"}


def clusters(release: KeyPointRelease) -> Rows:
    """Yield index, share and seconds of each cell's best stored clustering.

    Missing files are skipped.
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
            measured = MeasuredFigure((fmean(values), pstdev(values)), len(values), "±")
            key = (names.CLUSTERS[data], names.cluster_cell(system, scenario, figure))
            yield key, ReproducedValue(measured)


def weighted(release: KeyPointRelease) -> Rows:
    """Yield weighted scores from the stored evaluations, for the best setting of each cell."""
    for name, file in names.WEIGHTED_FILES.items():
        runs = read_evaluations(release.folder / EVALUATION / file)
        best = [_best_setting(run.scores for run in cell) for _, cell in iter_cells(runs)]
        triples = [triple for triple in best if triple]
        measured = MeasuredFigure(tuple(map(fmean, zip(*triples, strict=True))), len(triples))
        yield (names.WEIGHTED, f"{name}: {' / '.join(names.WEIGHTS)}"), ReproducedValue(measured)


def figure_2(release: KeyPointRelease) -> Rows:
    """Yield the stored averages of all systems, recomputed where their settings are stored."""
    for data in names.CLUSTERS:
        averages = release.stored_triples("aggregated_csv", data)
        for system, stored in names.AVERAGED.items():
            again = _of_settings(release, data, system) if stored in averages else None
            for at, figure in enumerate(names.WEIGHTS):
                key = (names.FIGURE_2, names.weighted_cell(data, system, figure))
                if stored in averages:
                    stated = MeasuredFigure((averages[stored][at],))
                    yield (
                        key,
                        ReproducedValue(again.part(at, at + 1) if again else None, stated=stated),
                    )
    everywhere = _best_of_settings(release, "ArgKP21_MCArgSum_global", is_first_only=False)
    cell = names.weighted_cell("ArgKP21", "MCArgSum, all thresholds", names.WEIGHTS[0])
    yield (names.FIGURE_2, cell), ReproducedValue(everywhere.part(0, 1))


def _of_settings(release: KeyPointRelease, data: str, system: str) -> MeasuredFigure | None:
    if (data, system) not in names.BY_SETTING:
        return None
    part, is_first_only = names.BY_SETTING[data, system]
    return _best_of_settings(release, part, is_first_only=is_first_only)


def _best_of_settings(
    release: KeyPointRelease, part: str, *, is_first_only: bool
) -> MeasuredFigure:
    topics = release.gpt4o("evals", part)
    cells = [settings for stances in topics.values() for settings in stances.values()]
    allowed = set(cells[0]) if is_first_only else {key for cell in cells for key in cell}
    best = [
        _best_setting(scores for setting, scores in cell.items() if setting in allowed)
        for cell in cells
    ]
    triples = [triple for triple in best if triple]
    return MeasuredFigure(tuple(map(fmean, zip(*triples, strict=True))), len(triples))


def candidates(release: KeyPointRelease) -> Rows:
    """Yield SMatchToPr's candidate counts before and after fill-up, using released qualities."""
    for cell in release.test_cells:
        topic = next(short for start, short in _TOPICS.items() if cell.topic.startswith(start))
        side = "supporting" if cell.stance > 0 else "opposing"
        quality = np.array([np.nan if score is None else score for score in cell.quality])
        counts = tuple(
            len(pick_candidates(cell.arguments, quality, rule=SMATCHTOPR_RULE, fill_up=share))
            for share in (0.0, 0.1)
        )
        measured = MeasuredFigure(counts, len(cell.arguments))
        yield (
            (names.CANDIDATES, f"{topic}, {side}: before / after fill-up"),
            ReproducedValue(ours=measured),
        )


def minilm(release: KeyPointRelease, say: Say) -> Rows:
    """Yield figures for the packaged model, used as a match scorer without training."""
    embedder = SentenceEmbedder()
    both = {"ArgKP21": release.test_cells, "Debate": release.debate_cells}
    total, done = sum(map(len, both.values())), 0
    for data, cells in both.items():
        figures: dict[str, list[ClusterFigure]] = {}
        accuracies: list[float | None] = []
        for cell in cells:
            figures[cell.name], own = _minilm_cell(embedder, cell)
            accuracies.append(own)
            done += 1
            say(done, total, "Cells embedded and clustered")
        if cells:
            yield from _minilm_figures(data, figures, accuracies)


def _minilm_cell(
    embedder: SentenceEmbedder, cell: PreparedCell
) -> tuple[list[ClusterFigure], float | None]:
    """Return a cell's cluster figures and the share of arguments with the right key point."""
    vectors = embedder.encode(cell.arguments)
    merged = merge_clusters(vectors @ vectors.T, THRESHOLDS)
    figures = [cluster_figure(f"{m:g}", cell.reference, ids) for m, ids in merged.items()]
    assigned = assign(vectors @ embedder.encode(cell.key_points).T, threshold=-1.0)
    own = [cell.key_points.index(key_point) for key_point in cell.reference]
    return figures, accuracy(assigned.positions, own)


def _minilm_figures(
    data: str, figures: dict[str, list[ClusterFigure]], accuracies: Sequence[float | None]
) -> Rows:
    noises: tuple[tuple[str, Noise], ...] = (("excluding", "exclude"), ("including", "include"))
    for word, noise in noises:
        mean = best_per_cell(figures, noise=noise, least_share=LEAST_SHARES[data]).mean
        key = (names.MINILM, f"{data}: ARI {word} noise, oracle")
        yield key, ReproducedValue(ours=MeasuredFigure((mean or 0.0,), len(figures)))
    key = (names.MINILM, f"{data}: argument → key point accuracy, mean over cells")
    yield key, ReproducedValue(ours=MeasuredFigure((_mean(accuracies),), len(figures)))


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
    index = [figure.excluding if noise == "exclude" else figure.including for _, figure in chosen]
    # If noise is a cluster of its own, every argument belongs to a cluster.
    shares = [figure.share if noise == "exclude" else 1.0 for _, figure in chosen]
    times = [seconds[cell, figure.setting] for cell, figure in chosen]
    figures = {
        names.ARI: [value for value in index if value is not None],
        names.SHARE: shares,
        names.SECONDS: [value for value in times if value is not None],
    }
    return {name: values for name, values in figures.items() if values}


def _mean(values: Sequence[float | None]) -> float:
    return fmean(np.nan if value is None else value for value in values)


def _best_setting(settings: Iterable[Mapping[str, float]]) -> tuple[float, float, float] | None:
    """Return weighted score, coverage and redundancy of the best setting that has results."""
    scores = [
        (weighted_score(coverage, redundancy), coverage, redundancy)
        for setting in settings
        for coverage, redundancy in [(setting.get("llm_coverage"), setting.get("llm_redundancy"))]
        if coverage is not None and redundancy is not None
    ]
    return max(scores, default=None)


# All published argument summarization figures that need no external model, next to ours.

NO_FILE = "its file is not in this folder"
_OF_CSV = {"llm_coverage": "cov", "llm_redundancy": "red"}


def argsum_reproduction(data: Path, say: Say) -> Reproduction:
    """Compute the figures and tables in the paper's order; embedding takes a few seconds.

    Raises
    ------
    KeyPointReleaseMissing
        If a file that most figures need is missing.
    UnreadableFile
        If a file is damaged.
    """
    release = KeyPointRelease(data)
    parts = (
        counts(release),
        debate_counts(release),
        people(release),
        stored_soft_scores(release),
        llm_counts(release),
        clusters(release),
        weighted(release),
        figure_2(release),
        candidates(release),
        minilm(release, say),
    )
    values = dict(chain.from_iterable(parts))
    rows = printed()
    missing = {row.key: NO_FILE for row in rows if row.key not in values and not row.why}
    return Reproduction(tuple(compare(values, rows, reasons=missing)), layouts())


def correlations(correlation: Correlations) -> MeasuredFigure:
    """Return the correlations across and within cells, with the sd; NaN if undefined."""
    numbers = (correlation.across, correlation.within_mean, correlation.within_sd)
    return MeasuredFigure(tuple(map(_number, numbers)), correlation.n, "/±")


def counts(release: KeyPointRelease) -> Iterator[tuple[Key, ReproducedValue]]:
    """Yield the number of arguments that remain after preprocessing in each split."""
    left: Counter[tuple[str, str]] = Counter()
    arguments: set[tuple[str, int, str]] = set()
    for cell in release.argkp:
        prepared = prepare([argument.text for argument in cell.arguments], cell.matched())
        left.update({(cell.split, step): n for step, n in prepared.counts.items()})
        arguments.update(
            (cell.topic, cell.stance, cell.arguments[place].text) for place in prepared.kept
        )
    released = {
        (cell.topic, cell.stance, argument.text)
        for cell in release.pairs
        for argument in cell.arguments
    }
    topics = Counter(split for split, _ in {(cell.split, cell.topic) for cell in release.argkp})
    figures = {
        "topics in train / dev / test": tuple(topics[name] for name in ("train", "dev", "test")),
        "labelled pairs": (sum(len(cell.matches) for cell in release.argkp),),
        "test: unique arguments": (left["test", UNIQUE],),
        "test: … with exactly one key point": (left["test", ONE_KEY_POINT],),
        "test: … of one sentence": (left["test", ONE_SENTENCE],),
        "train: kept arguments": (left["train", ONE_SENTENCE],),
        "dev: kept arguments": (left["dev", ONE_SENTENCE],),
        "kept arguments that are those of the released file": (len(arguments & released),),
    }
    for cell_name, numbers in figures.items():
        yield (names.DATA, cell_name), ReproducedValue(MeasuredFigure(numbers))


def people(release: KeyPointRelease) -> Iterator[tuple[Key, ReproducedValue]]:
    """Yield the agreement between annotators."""
    yield (names.PEOPLE, "sets"), ReproducedValue(MeasuredFigure((len(release.keys),)))
    for column in ("coverage", "redundancy"):
        raters = {
            file.rater: [scores.get(key) for key in release.keys]
            for file in release.counts
            for scores in [{sheet.key: getattr(sheet, column) for sheet in file.sets}]
        }
        pairs = pairwise_pearson(raters)
        key = (names.PEOPLE, f"{column}, mean Pearson of two annotators")
        yield key, ReproducedValue(MeasuredFigure((_number(pairs.mean),), len(release.keys)))
        for pair in pairs.pairs:
            key = (names.PEOPLE, f"{column}, Pearson of {pair.first} and {pair.second}")
            yield key, ReproducedValue(MeasuredFigure((_number(pair.value),), pair.n))


def stored_soft_scores(release: KeyPointRelease) -> Iterator[tuple[Key, ReproducedValue]]:
    """Yield stored soft scores with human coverage; recompute ROUGE-1 from the texts."""
    again = _rouge_again(release)
    stored = read_soft_scores(release.folder / SOFT_FILE)
    seconds = read_soft_seconds(release.folder / SOFT_FILE)
    for name, function in names.SOFT_FUNCTIONS.items():
        if function not in stored:
            raise UnreadableFile(SOFT_FILE.name, f"has no {function}")
        for part in SOFT_PARTS:
            correlation = release.with_people(stored[function][part], "coverage", SOFT_FILE.name)
            ours = again[part] if name == names.ROUGE else None
            yield (names.SOFT, f"{name}, {part}"), ReproducedValue(correlations(correlation), ours)
        if function in seconds:
            yield (
                (names.SOFT, f"{name}, seconds"),
                ReproducedValue(MeasuredFigure((seconds[function],))),
            )


def _rouge_again(release: KeyPointRelease) -> dict[str, MeasuredFigure]:
    """Compute ROUGE-1 from the texts that annotators read."""
    sets = [sheets[0] for sheets in release.judged]
    scores = [
        soft_scores(rouge_matrix("rouge_1", sheet.references, sheet.summaries)) for sheet in sets
    ]
    parts = zip(SOFT_PARTS, zip(*map(astuple, scores), strict=True), strict=True)
    return {
        part: correlations(release.with_people(values, "coverage", HUMAN))
        for part, values in parts
    }


def llm_counts(release: KeyPointRelease) -> Iterator[tuple[Key, ReproducedValue]]:
    """Yield correlations of a language model's counts with human counts.

    They are computed if the scores of the sets are stored; otherwise the stored correlations are
    used.
    """
    for metric in LLM:
        column = metric.removeprefix("llm_")
        stored = release.gpt4o("corr_csv").get(_OF_CSV[metric], [])
        for temperature, values in zip(names.TEMPERATURES, stored, strict=False):
            stated = MeasuredFigure(tuple(map(float, values)), signs="/±")
            yield (
                (names.LLM, f"{column}, temperature {temperature}"),
                ReproducedValue(stated=stated),
            )
        for temperature, values in release.gpt4o(metric).items():
            correlation = release.with_people(values, column, GPT4O.name)
            yield (
                (names.LLM, f"{column}, temperature {temperature}"),
                ReproducedValue(correlations(correlation)),
            )


def _number(value: float | None) -> float:
    """Return nan for a missing value, because nan differs from every printed number.

    Counts remain integers.
    """
    return np.nan if value is None else value
