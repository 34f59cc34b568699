"""Stored scores and clusterings as the authors release them, in JSON.

``soft_score.json`` maps a similarity function to lists ``sP``, ``sR`` and ``sF1`` over the sets
that people counted, in the order of topic, stance and file. The results of GPT-4o map
``llm_coverage`` and ``llm_redundancy`` to temperatures with lists over the same sets. An
evaluation file maps topic, stance and setting to scores; a clustering file maps setting, topic
and stance to cluster ids, whose order `clustering_order` is about; a file may name the arguments
that its ids follow, topic → stance → texts, under ``arguments``. Settings are tuples of numbers as
text, beside ``parameter_names``.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from argsum.metrics.methods.names import LLM
from cqa_site.tabular import UnreadableFile

from .released_json import (
    an_object,
    cluster_ids_of,
    is_number,
    parameter_names,
    parameters_of,
    read_json,
    scores_of,
    seconds_of,
    stance_of,
    texts_of,
)

SOFT_PARTS = ("sP", "sR", "sF1")
# Of a clustering file: the clusters as they are, and after iterative clustering.
CLUSTERINGS = ("clustering", "iterative_clustering")


@dataclass(frozen=True)
class StoredRun:
    """One setting on one cell.

    Attributes
    ----------
    topic, stance
        The cell; stance is -1 or 1.
    parameters
        name → number, in the order of the file.
    scores
        What was stored, such as ``llm_coverage``; empty where the setting gave no result.
    seconds
        The stored runtime; None without one.
    cluster_ids
        Of a clustering file; -1 is unclustered.
    texts
        The arguments that the ids follow; empty where the file does not name them.
    """

    topic: str
    stance: int
    parameters: dict[str, float]
    scores: dict[str, float] = field(default_factory=dict)
    seconds: float | None = None
    cluster_ids: tuple[int, ...] = ()
    texts: tuple[str, ...] = ()

    @property
    def cell(self) -> str:
        """Topic and stance."""
        return f"{self.topic} ({self.stance})"

    @property
    def setting(self) -> str:
        """The parameters as text."""
        return ", ".join(f"{name}={value:g}" for name, value in self.parameters.items())


def read_soft_scores(
    path: str | os.PathLike[str], *, name: str | None = None
) -> dict[str, dict[str, list[float]]]:
    """Similarity function → part of `SOFT_PARTS` → one score per set; ``runtime`` is left out.

    Raises
    ------
    UnreadableFile
        If it is no such file, or its lists differ in length; naming the function and the part.
    """
    shown = name or Path(path).name
    found: dict[str, dict[str, list[float]]] = {}
    lengths = set()
    for function, parts in an_object(read_json(path, shown), shown).items():
        found[function] = {}
        for part in SOFT_PARTS:
            values = an_object(parts, shown, function).get(part)
            if not isinstance(values, list) or not all(map(is_number, values)):
                raise UnreadableFile(shown, f"{part} is no list of numbers", column=function)
            found[function][part] = [float(value) for value in values]
            lengths.add(len(values))
    if len(lengths) != 1:
        raise UnreadableFile(shown, "the lists of scores differ in length")
    return found


def read_soft_seconds(
    path: str | os.PathLike[str], *, name: str | None = None
) -> dict[str, float]:
    """Similarity function → seconds over all sets; those without stored times are left out."""
    shown = name or Path(path).name
    found = {}
    for function, parts in an_object(read_json(path, shown), shown).items():
        times = an_object(parts, shown, function).get("runtime")
        if isinstance(times, list) and times and all(map(is_number, times)):
            found[function] = float(sum(times))
    return found


def read_llm_scores(
    path: str | os.PathLike[str], *, name: str | None = None
) -> dict[str, dict[str, list[float]]]:
    """Temperature → metric of `metric_names.LLM` → one score per set.

    Raises
    ------
    UnreadableFile
        If it is no such file, or its lists differ in length; naming metric and temperature.
    """
    shown = name or Path(path).name
    content = an_object(read_json(path, shown), shown)
    found: dict[str, dict[str, list[float]]] = {}
    lengths = set()
    for metric in LLM:
        for temperature, values in an_object(content.get(metric, {}), shown, metric).items():
            if not isinstance(values, list) or not all(map(is_number, values)):
                place = f"{metric}, temperature {temperature}"
                raise UnreadableFile(shown, "is no list of numbers", column=place)
            found.setdefault(temperature, {})[metric] = [float(value) for value in values]
            lengths.add(len(values))
    if len(lengths) != 1:
        raise UnreadableFile(shown, "the lists of scores differ in length")
    return found


def read_evaluations(
    path: str | os.PathLike[str], *, name: str | None = None
) -> tuple[StoredRun, ...]:
    """The runs of an evaluation file, in its order; also those that gave no result.

    Raises
    ------
    UnreadableFile
        If it is no such file, naming topic, stance and setting.
    """
    shown = name or Path(path).name
    content = an_object(read_json(path, shown), shown)
    names = parameter_names(content, shown)
    return tuple(
        StoredRun(
            topic,
            stance,
            parameters_of(setting, names, shown),
            scores={key: float(value) for key, value in scores.items() if key != "runtime"},
            seconds=seconds_of(scores),
        )
        for topic, stances in an_object(content.get("scores"), shown, "scores").items()
        for text, settings in an_object(stances, shown, topic).items()
        for stance in [stance_of(text, shown, topic)]
        for setting, given in an_object(settings, shown, f"{topic} ({text})").items()
        for scores in [scores_of(given, shown, f"{topic} ({text}), {setting}")]
    )


def read_clusterings(
    path: str | os.PathLike[str], *, part: str = CLUSTERINGS[0], name: str | None = None
) -> tuple[StoredRun, ...]:
    """The runs of a clustering file, in its order.

    Parameters
    ----------
    path, name
        The file, and what it is called in messages.
    part
        One of `CLUSTERINGS`; a file without it has no such runs.

    Raises
    ------
    UnreadableFile
        If it is no such file, naming setting, topic and stance.
    """
    shown = name or Path(path).name
    content = an_object(read_json(path, shown), shown)
    names = parameter_names(content, shown)
    if part not in content:
        return ()
    named = an_object(content.get("arguments", {}), shown, "arguments")
    return tuple(
        StoredRun(
            topic,
            stance_of(text, shown, topic),
            parameters_of(setting, names, shown),
            seconds=seconds_of(given),
            cluster_ids=cluster_ids_of(given, shown, f"{setting}, {topic} ({text})"),
            texts=texts_of(named, topic, text, shown),
        )
        for setting, topics in an_object(content[part], shown, part).items()
        for topic, stances in an_object(topics, shown, setting).items()
        for text, given in an_object(stances, shown, topic).items()
    )


def iter_cells(runs: Sequence[StoredRun]) -> Iterator[tuple[str, list[StoredRun]]]:
    """The runs of each cell, cells in order of first appearance."""
    cells: dict[str, list[StoredRun]] = {}
    for run in runs:
        cells.setdefault(run.cell, []).append(run)
    yield from cells.items()
