"""Every published figure of argument summarization that needs no foreign model, with ours."""

from collections import Counter
from itertools import chain
from pathlib import Path

import numpy as np

from argsum.methods.cluster_figures import cluster_figure
from argsum.methods.count_scores import CountScore, mean_coverage, mean_redundancy
from argsum.methods.metric_correlation import Correlations, pairwise_pearson
from argsum.methods.preprocessing import ONE_KEY_POINT, ONE_SENTENCE, UNIQUE, prepare
from argsum.methods.released_scores import SOFT_PARTS, read_soft_scores
from argsum.methods.soft_scores import SoftScores, coverage_score, soft_scores
from argsum.methods.text_similarity import rouge_matrix
from cqa_site.tabular import UnreadableFile
from cqa_site.web.published import Figure, Measured, compare
from cqa_site.web.reproduced import Say

from . import paper_published as published
from .paper_published_tables import SOFT_FUNCTIONS
from .paper_release import GPT4O, HUMAN, SOFT, Release
from .paper_systems import Found, candidates, clusters, minilm, weighted, weighted_gpt4o


def argsum_figures(data: Path, say: Say) -> list[Figure]:
    """Figures in the order of `paper_published.PUBLISHED`; embedding takes some seconds.

    Raises
    ------
    ReleaseMissing
        If a file is not there.
    UnreadableFile
        If one is damaged.
    """
    release = Release(data)
    parts = (
        counts(release),
        people(release),
        stored_soft_scores(release),
        rouge_again(release),
        llm_counts(release),
        clusters(release),
        weighted(release),
        weighted_gpt4o(release),
        candidates(release),
        examples(),
        minilm(release, say),
    )
    return compare(dict(chain.from_iterable(parts)), published.PUBLISHED)


def counts(release: Release) -> Found:
    """What preprocessing leaves of every split."""
    left: Counter[tuple[str, str]] = Counter()
    kept: set[tuple[str, int, str]] = set()
    for cell in release.argkp:
        prepared = prepare([each.text for each in cell.arguments], cell.matched())
        left.update({(cell.split, step): n for step, n in prepared.counts.items()})
        kept.update(
            (cell.topic, cell.stance, cell.arguments[place].text) for place in prepared.kept
        )
    released = {
        (cell.topic, cell.stance, each.text) for cell in release.pairs for each in cell.arguments
    }
    topics = Counter(split for split, _ in {(cell.split, cell.topic) for cell in release.argkp})
    found = {
        "topics in train / dev / test": tuple(topics[each] for each in ("train", "dev", "test")),
        "labelled pairs": (sum(len(cell.matches) for cell in release.argkp),),
        "test: unique arguments": (left["test", UNIQUE],),
        "test: … with exactly one key point": (left["test", ONE_KEY_POINT],),
        "test: … of one sentence": (left["test", ONE_SENTENCE],),
        "train: kept arguments": (left["train", ONE_SENTENCE],),
        "dev: kept arguments": (left["dev", ONE_SENTENCE],),
        "kept arguments that are those of the released file": (len(kept & released),),
    }
    for cell_name, numbers in found.items():
        yield (published.DATA, cell_name), Measured(numbers)


def people(release: Release) -> Found:
    """How far annotators agree with each other."""
    yield (published.PEOPLE, "sets"), Measured((len(release.keys),), len(release.keys))
    for column in ("coverage", "redundancy"):
        raters = {
            file.rater: [given.get(key) for key in release.keys]
            for file in release.counts
            for given in [{each.key: getattr(each, column) for each in file.sets}]
        }
        mean = pairwise_pearson(raters).mean
        key = (published.PEOPLE, f"{column}, mean Pearson of two annotators")
        yield key, Measured((np.nan if mean is None else mean,), len(release.keys))


def stored_soft_scores(release: Release) -> Found:
    """Soft scores that were stored, with people's coverage."""
    stored = read_soft_scores(release.folder / SOFT)
    for name, function in SOFT_FUNCTIONS.items():
        if function not in stored:
            raise UnreadableFile(SOFT.name, f"has no {function}")
        for part in SOFT_PARTS:
            found = release.with_people(stored[function][part], "coverage", SOFT.name)
            yield (published.SOFT, f"{name}, {part}"), _correlations(found)


def rouge_again(release: Release) -> Found:
    """ROUGE-1 computed from the texts that people read."""
    sets = [sheets[0] for sheets in release.judged]
    scores = [
        soft_scores(rouge_matrix("rouge_1", each.references, each.summaries)) for each in sets
    ]
    for name, values in _parts(scores).items():
        found = release.with_people(values, "coverage", HUMAN)
        yield (published.ROUGE, f"ROUGE 1, {name}"), _correlations(found)


def llm_counts(release: Release) -> Found:
    """Counts of a language model that were stored, with people's."""
    for column in ("coverage", "redundancy"):
        for temperature, values in release.gpt4o(f"llm_{column}").items():
            found = release.with_people(values, column, GPT4O.name)
            yield (published.LLM, f"{column}, temperature {temperature}"), _correlations(found)


def examples() -> Found:
    """The worked examples."""
    similarity = np.array([[0.9, 0.2, 0.1], [0.3, 0.8, 0.4]])
    soft = soft_scores(similarity)
    figure = cluster_figure("", "aabbc", [0, 0, 1, -1, -1])
    found = {
        "soft scores: sP / sR / sF1": (soft.precision, soft.recall, soft.f1),
        "coverage score, threshold .8": (coverage_score(similarity, 0.8),),
        "coverage of 3 replies: value, unparsable, clipped": _counted(
            mean_coverage([3.5, 5, None], 4)
        ),
        "redundancy of 3 replies: value, unparsable, clipped": _counted(
            mean_redundancy([3, 6, 2.5], 5)
        ),
        "ARI excluding noise / share clustered / including noise": (
            figure.excluding,
            figure.share,
            figure.including,
        ),
    }
    for cell, numbers in found.items():
        yield (published.EXAMPLES, cell), Measured(tuple(map(_number, numbers)))


def _parts(scores: list[SoftScores]) -> dict[str, list[float | None]]:
    return {
        "sP": [each.precision for each in scores],
        "sR": [each.recall for each in scores],
        "sF1": [each.f1 for each in scores],
    }


def _correlations(found: Correlations) -> Measured:
    numbers = (found.across, found.within_mean, found.within_sd)
    return Measured(tuple(map(_number, numbers)), found.n)


def _counted(score: CountScore) -> tuple[float | None, ...]:
    return score.value, score.unparsable, score.clipped


def _number(value: float | None) -> float:
    """Missing is nan, which differs from every printed number."""
    return np.nan if value is None else float(value)
