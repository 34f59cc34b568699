"""Systems and scorers of the argument summarization paper, from its released data."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean, pstdev

import numpy as np

from argsum.methods.assignment import accuracy, assign
from argsum.methods.candidates import SMATCHTOPR_RULE, pick_candidates
from argsum.methods.cluster_figures import (
    BestPerCell,
    ClusterFigure,
    Noise,
    best_per_cell,
    cluster_figure,
)
from argsum.methods.count_scores import weighted_score
from argsum.methods.mcargsum import THRESHOLDS, merge_clusters
from argsum.methods.released_scores import (
    StoredRun,
    iter_cells,
    read_clusterings,
    read_evaluations,
)
from cqa_site.judging.embedding import SentenceEmbedder
from cqa_site.tabular import UnreadableFile
from cqa_site.web.published import Key, Measured
from cqa_site.web.reproduced import Say

from . import paper_published as published
from .paper_published_tables import GPT4O_PARTS, WEIGHTED_FILES
from .paper_release import CLUSTERINGS, EVALUATION, PreparedCell, Release

Found = Iterator[tuple[Key, Measured]]
USKPM, MCARGSUM = "ArgKP21_USKPM.json", "ArgKP21_MCArgSum_SBERT_all_mpnet_base.json"
# (name, file, part of the file, noise)
_CLUSTERED: tuple[tuple[str, str, str, Noise], ...] = (
    ("USKPM, excluding noise", USKPM, "clustering", "exclude"),
    ("USKPM, including noise", USKPM, "clustering", "include"),
    ("USKPM, iterative", USKPM, "iterative_clustering", "include"),
    ("MCArgSum, excluding noise", MCARGSUM, "clustering", "exclude"),
    ("MCArgSum, including noise", MCARGSUM, "clustering", "include"),
)
_TOPICS = {"Routine": "vaccination", "Social": "media", "The USA": "USA"}


def clusters(release: Release) -> Found:
    """The best stored clustering of every cell: index, share and seconds."""
    known = {(each.table, each.cell) for each in published.PUBLISHED}
    for name, file, part, noise in _CLUSTERED:
        runs = read_clusterings(release.folder / CLUSTERINGS / file, part=part)
        best = best_per_cell(_cluster_figures(release.test_cells, runs, file), noise=noise)
        for what, values in _of_best(best, runs, noise).items():
            key = (published.CLUSTERS, f"{name}: {what}")
            # The paper prints a share of 1 wherever noise counts as a cluster.
            if key in known:
                yield key, Measured((fmean(values), pstdev(values)), len(values))


def weighted(release: Release) -> Found:
    """Weighted scores of the stored evaluations, the best setting of every cell."""
    for name, file in WEIGHTED_FILES.items():
        runs = read_evaluations(release.folder / EVALUATION / file)
        best = [_best_setting(each.scores for each in cell) for _, cell in iter_cells(runs)]
        found = [each for each in best if each]
        yield (
            (published.WEIGHTED, name),
            Measured(tuple(map(fmean, zip(*found, strict=True))), len(found)),
        )


def weighted_gpt4o(release: Release) -> Found:
    """The same from what was read off the authors' repository."""
    for name, (part, is_first_only) in GPT4O_PARTS.items():
        topics = release.gpt4o("evals", part)
        cells = [settings for stances in topics.values() for settings in stances.values()]
        allowed = set(cells[0]) if is_first_only else {key for cell in cells for key in cell}
        best = [
            _best_setting(scores for setting, scores in cell.items() if setting in allowed)
            for cell in cells
        ]
        found = [each[0] for each in best if each]
        yield (published.GPT4O, name), Measured((fmean(found),), len(found))


def candidates(release: Release) -> Found:
    """Candidates of SMatchToPr before and after filling up, from the released qualities."""
    for cell in release.test_cells:
        topic = next(short for start, short in _TOPICS.items() if cell.topic.startswith(start))
        side = "supporting" if cell.stance > 0 else "opposing"
        quality = np.array([np.nan if each is None else each for each in cell.quality])
        counts = tuple(
            len(pick_candidates(cell.arguments, quality, rule=SMATCHTOPR_RULE, fill_up=share))
            for share in (0.0, 0.1)
        )
        yield (published.CANDIDATES, f"{topic}, {side}"), Measured(counts, len(cell.arguments))


def minilm(release: Release, say: Say) -> Found:
    """The packaged model as match scorer, without any training."""
    embedder = SentenceEmbedder()
    figures: dict[str, list[ClusterFigure]] = {}
    found: list[float | None] = []
    for done, cell in enumerate(release.test_cells, start=1):
        vectors = embedder.encode(cell.arguments)
        merged = merge_clusters(vectors @ vectors.T, THRESHOLDS)
        figures[cell.name] = [
            cluster_figure(f"{m:g}", cell.reference, ids) for m, ids in merged.items()
        ]
        assigned = assign(vectors @ embedder.encode(cell.key_points).T, threshold=-1.0)
        own = [cell.key_points.index(each) for each in cell.reference]
        found.append(accuracy(assigned.positions, own))
        say(done, len(release.test_cells), "Cells embedded and clustered")
    noises: tuple[tuple[str, Noise], ...] = (("excluding", "exclude"), ("including", "include"))
    for word, noise in noises:
        mean = best_per_cell(figures, noise=noise).mean
        yield (
            (published.MINILM, f"ARI {word} noise, oracle"),
            Measured((mean or 0.0,), len(figures)),
        )
    key = (published.MINILM, "argument → key point accuracy, mean over cells")
    yield key, Measured((_mean(found),), sum(len(cell.arguments) for cell in release.test_cells))


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
    return {
        "ARI": [value for value in index if value is not None],
        "share clustered": [each.share for _, each in chosen],
        "seconds": [
            value for cell, each in chosen if (value := seconds[cell, each.setting]) is not None
        ],
    }


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
