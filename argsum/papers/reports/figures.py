"""Every published figure of argument summarization that needs no foreign model, with ours."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import astuple
from itertools import chain
from pathlib import Path

import numpy as np

from argsum.datasets.methods.preprocessing import ONE_KEY_POINT, ONE_SENTENCE, UNIQUE, prepare
from argsum.imports.methods.released_scores import SOFT_PARTS, read_soft_scores, read_soft_seconds
from argsum.metrics.methods.correlation import Correlations, pairwise_pearson
from argsum.metrics.methods.names import LLM
from argsum.metrics.methods.soft_scores import soft_scores
from argsum.metrics.methods.text_similarity import rouge_matrix
from cqa_site.reproduction.figures import Found, Key, Measured, compare
from cqa_site.reproduction.reproduced import Reproduction, Say
from cqa_site.tabular import UnreadableFile

from . import names
from .debate import debate_counts
from .layouts import layouts
from .printed import printed
from .release import GPT4O, HUMAN, SOFT, Release
from .systems import candidates, clusters, figure_2, minilm, weighted

NO_FILE = "its file is not in this folder"
_OF_CSV = {"llm_coverage": "cov", "llm_redundancy": "red"}


def argsum_reproduction(data: Path, say: Say) -> Reproduction:
    """Figures in the order of the paper, and its tables; embedding takes some seconds.

    Raises
    ------
    ReleaseMissing
        If a file that most figures need is not there.
    UnreadableFile
        If one is damaged.
    """
    release = Release(data)
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
    found = dict(chain.from_iterable(parts))
    rows = printed()
    missing = {each.key: NO_FILE for each in rows if each.key not in found and not each.why}
    return Reproduction(tuple(compare(found, rows, reasons=missing)), layouts())


def correlations(found: Correlations) -> Measured:
    """Across / within ± sd; NaN where one is not defined."""
    numbers = (found.across, found.within_mean, found.within_sd)
    return Measured(tuple(map(_number, numbers)), found.n, "/±")


def counts(release: Release) -> Iterator[tuple[Key, Found]]:
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
        yield (names.DATA, cell_name), Found(Measured(numbers))


def people(release: Release) -> Iterator[tuple[Key, Found]]:
    """How far annotators agree with each other."""
    yield (names.PEOPLE, "sets"), Found(Measured((len(release.keys),)))
    for column in ("coverage", "redundancy"):
        raters = {
            file.rater: [given.get(key) for key in release.keys]
            for file in release.counts
            for given in [{each.key: getattr(each, column) for each in file.sets}]
        }
        found = pairwise_pearson(raters)
        key = (names.PEOPLE, f"{column}, mean Pearson of two annotators")
        yield key, Found(Measured((_number(found.mean),), len(release.keys)))
        for pair in found.pairs:
            key = (names.PEOPLE, f"{column}, Pearson of {pair.first} and {pair.second}")
            yield key, Found(Measured((_number(pair.value),), pair.n))


def stored_soft_scores(release: Release) -> Iterator[tuple[Key, Found]]:
    """Soft scores that were stored, with people's coverage; ours of ROUGE-1 are from the texts."""
    again = _rouge_again(release)
    stored = read_soft_scores(release.folder / SOFT)
    seconds = read_soft_seconds(release.folder / SOFT)
    for name, function in names.SOFT_FUNCTIONS.items():
        if function not in stored:
            raise UnreadableFile(SOFT.name, f"has no {function}")
        for part in SOFT_PARTS:
            found = release.with_people(stored[function][part], "coverage", SOFT.name)
            ours = again[part] if name == names.ROUGE else None
            yield (names.SOFT, f"{name}, {part}"), Found(correlations(found), ours)
        if function in seconds:
            yield (names.SOFT, f"{name}, seconds"), Found(Measured((seconds[function],)))


def _rouge_again(release: Release) -> dict[str, Measured]:
    """ROUGE-1 computed here from the texts that people read."""
    sets = [sheets[0] for sheets in release.judged]
    scores = [
        soft_scores(rouge_matrix("rouge_1", each.references, each.summaries)) for each in sets
    ]
    parts = zip(SOFT_PARTS, zip(*map(astuple, scores), strict=True), strict=True)
    return {
        part: correlations(release.with_people(values, "coverage", HUMAN))
        for part, values in parts
    }


def llm_counts(release: Release) -> Iterator[tuple[Key, Found]]:
    """Counts of a language model with people's.

    Computed where the scores of the sets were stored; else the stored correlations are stated.
    """
    for metric in LLM:
        column = metric.removeprefix("llm_")
        stored = release.gpt4o("corr_csv").get(_OF_CSV[metric], [])
        for temperature, values in zip(names.TEMPERATURES, stored, strict=False):
            stated = Measured(tuple(map(float, values)), signs="/±")
            yield (names.LLM, f"{column}, temperature {temperature}"), Found(stated=stated)
        for temperature, values in release.gpt4o(metric).items():
            found = release.with_people(values, column, GPT4O.name)
            yield (names.LLM, f"{column}, temperature {temperature}"), Found(correlations(found))


def _number(value: float | None) -> float:
    """Missing is nan, which differs from every printed number; counts stay whole."""
    return np.nan if value is None else value
