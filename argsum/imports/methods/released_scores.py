"""The authors' released scores and clusterings, read from JSON."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

from argsum.metrics.methods import LLM
from cqa_site.tabular import UnreadableFile, printable_name
from cqa_site.tabular.cells import StrictJsonError, loads
from cqa_site.tabular.shapes import MEGABYTE

_MOST_BYTES = 64 * MEGABYTE
_SETTING = re.compile(r"\(?\s*(-?[\d.]+(?:e-?\d+)?(?:\s*,\s*-?[\d.]+(?:e-?\d+)?)*)\s*,?\s*\)?")


def read_json(path: str | os.PathLike[str], name: str) -> Any:
    try:
        return loads(Path(path).read_bytes(), max_bytes=_MOST_BYTES)
    except StrictJsonError as error:
        raise UnreadableFile(name, str(error)) from None
    except OSError as error:
        raise UnreadableFile(name, f"cannot be opened ({error.strerror})") from None


def an_object(value: Any, file: str, column: str | None = None) -> dict[str, Any]:
    if not isinstance(value, dict):
        place = None if column is None else printable_name(column)
        raise UnreadableFile(file, "is not a JSON object with the expected content", column=place)
    return value


def _content(path: str | os.PathLike[str], name: str | None) -> tuple[dict[str, Any], str]:
    file_name = name or Path(path).name
    return an_object(read_json(path, file_name), file_name), file_name


def parameter_names(content: dict[str, Any], file: str) -> list[str]:
    names = content.get("parameter_names")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UnreadableFile(file, "is not a list of names", column="parameter_names")
    return names


def parameters_of(setting: str, names: list[str], file: str) -> dict[str, float]:
    match = _SETTING.fullmatch(setting)
    values = match[1].split(",") if match else []
    try:
        return dict(zip(names, map(float, values), strict=True))
    except ValueError:
        reason = f"{printable_name(setting, 60)} lacks {', '.join(names)}"
        raise UnreadableFile(file, reason) from None


def stance_of(text: str, file: str, topic: str) -> int:
    if text not in ("-1", "1"):
        raise UnreadableFile(file, f"the stance {text[:20]!r} is neither 1 nor -1", column=topic)
    return int(text)


def scores_of(content: Any, file: str, place: str) -> dict[str, float]:
    scores = an_object(content, file, place)
    for key, value in scores.items():
        if not is_number(value):
            raise UnreadableFile(file, f"{printable_name(key, 60)} is not a number", column=place)
    return scores


def seconds_of(content: Any) -> float | None:
    value = content.get("runtime") if isinstance(content, dict) else None
    return float(value) if is_number(value) else None


def cluster_ids_of(content: Any, file: str, place: str) -> tuple[int, ...]:
    ids = an_object(content, file, place).get("cluster_ids")
    if not isinstance(ids, list) or not all(
        isinstance(number, int) and not isinstance(number, bool) and number >= -1 for number in ids
    ):
        raise UnreadableFile(
            file, "cluster_ids is not a list of whole numbers from -1", column=place
        )
    return tuple(ids)


def texts_of(named: dict[str, Any], topic: str, stance: str, file: str) -> tuple[str, ...]:
    """Return the arguments of a cell, each text once, if the file names them."""
    if not named:
        return ()
    place = f"arguments, {topic} ({stance})"
    texts = an_object(named.get(topic, {}), file, place).get(stance)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise UnreadableFile(file, "is not a list of texts", column=printable_name(place))
    if len(set(texts)) != len(texts):
        raise UnreadableFile(file, "names an argument twice", column=printable_name(place))
    return tuple(texts)


def is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


# Stored scores and clusterings in the JSON format of the authors' release.
#
# ``soft_score.json`` maps a similarity function to lists ``sP``, ``sR`` and ``sF1`` over the sets
# that people counted, in the order of topic, stance and file. The results of GPT-4o map
# ``llm_coverage`` and ``llm_redundancy`` to temperatures with lists over the same sets. An
# evaluation file maps topic, stance and setting to scores. A clustering file maps setting, topic
# and stance to cluster ids; `clustering_order` finds their order, unless the file names the
# arguments behind its ids (topic → stance → texts) under ``arguments``. Settings are tuples of
# numbers as text, and ``parameter_names`` names the numbers.

SOFT_PARTS = ("sP", "sR", "sF1")
# Parts of a clustering file: the clusters before and after iterative clustering.
CLUSTERINGS = ("clustering", "iterative_clustering")


@dataclass(frozen=True)
class StoredRun:
    """One setting on one cell.

    Attributes
    ----------
    topic, stance
        The cell; stance is -1 or 1.
    parameters
        Name → number, in the order of the file.
    scores
        The stored scores, such as ``llm_coverage``; empty if the setting gave no result.
    seconds
        The stored runtime, or None.
    cluster_ids
        From a clustering file; -1 is unclustered.
    texts
        The arguments behind the ids; empty if the file does not name them.
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
        """Topic and stance of the cell."""
        return f"{self.topic} ({self.stance})"

    @property
    def setting(self) -> str:
        """Parameters as text."""
        return ", ".join(f"{name}={value:g}" for name, value in self.parameters.items())


def read_soft_scores(
    path: str | os.PathLike[str], *, name: str | None = None
) -> dict[str, dict[str, list[float]]]:
    """Map function and part of `SOFT_PARTS` to one score per set, without ``runtime``.

    All readers here raise UnreadableFile for unexpected content and name its location in the file.
    """
    content, file_name = _content(path, name)
    soft_scores = {
        function: {
            part: _numbers(parts.get(part), file_name, function, part) for part in SOFT_PARTS
        }
        for function, stored in content.items()
        for parts in [an_object(stored, file_name, function)]
    }
    _check_lengths(soft_scores, file_name)
    return soft_scores


def _numbers(values: Any, file: str, place: str, part: str = "") -> list[float]:
    if not isinstance(values, list) or not all(map(is_number, values)):
        raise UnreadableFile(file, f"{part} is not a list of numbers".lstrip(), column=place)
    return [float(value) for value in values]


def _check_lengths(scores: Mapping[str, Mapping[str, list[float]]], file: str) -> None:
    if len({len(values) for lists in scores.values() for values in lists.values()}) != 1:
        raise UnreadableFile(file, "the lists of scores differ in length")


def read_soft_seconds(
    path: str | os.PathLike[str], *, name: str | None = None
) -> dict[str, float]:
    """Map each similarity function to its total seconds; functions without times are left out."""
    content, file_name = _content(path, name)
    soft_seconds = {}
    for function, parts in content.items():
        times = an_object(parts, file_name, function).get("runtime")
        if isinstance(times, list) and times and all(map(is_number, times)):
            soft_seconds[function] = float(sum(times))
    return soft_seconds


def read_llm_scores(
    path: str | os.PathLike[str], *, name: str | None = None
) -> dict[str, dict[str, list[float]]]:
    """Map temperature and metric of `argsum.metrics.methods.LLM` to one score per set."""
    content, file_name = _content(path, name)
    llm_scores: dict[str, dict[str, list[float]]] = {}
    for metric in LLM:
        for temperature, values in an_object(content.get(metric, {}), file_name, metric).items():
            place = f"{metric}, temperature {temperature}"
            lists = llm_scores.setdefault(temperature, {})
            lists[metric] = _numbers(values, file_name, place)
    _check_lengths(llm_scores, file_name)
    return llm_scores


def read_evaluations(
    path: str | os.PathLike[str], *, name: str | None = None
) -> tuple[StoredRun, ...]:
    """Return the runs of an evaluation file in order, including those without a result."""
    content, file_name = _content(path, name)
    names = parameter_names(content, file_name)
    return tuple(
        StoredRun(
            topic,
            stance,
            parameters_of(setting, names, file_name),
            scores={key: float(value) for key, value in scores.items() if key != "runtime"},
            seconds=seconds_of(scores),
        )
        for topic, stances in an_object(content.get("scores"), file_name, "scores").items()
        for text, settings in an_object(stances, file_name, topic).items()
        for stance in [stance_of(text, file_name, topic)]
        for setting, record in an_object(settings, file_name, f"{topic} ({text})").items()
        for scores in [scores_of(record, file_name, f"{topic} ({text}), {setting}")]
    )


def read_clusterings(
    path: str | os.PathLike[str], *, part: str = CLUSTERINGS[0], name: str | None = None
) -> tuple[StoredRun, ...]:
    """Return the runs of a clustering file in order; empty if the file lacks ``part``."""
    content, file_name = _content(path, name)
    names = parameter_names(content, file_name)
    if part not in content:
        return ()
    named = an_object(content.get("arguments", {}), file_name, "arguments")
    return tuple(
        StoredRun(
            topic,
            stance_of(text, file_name, topic),
            parameters_of(setting, names, file_name),
            seconds=seconds_of(record),
            cluster_ids=cluster_ids_of(record, file_name, f"{setting}, {topic} ({text})"),
            texts=texts_of(named, topic, text, file_name),
        )
        for setting, topics in an_object(content[part], file_name, part).items()
        for topic, stances in an_object(topics, file_name, setting).items()
        for text, record in an_object(stances, file_name, topic).items()
    )


def iter_cells(runs: Sequence[StoredRun]) -> Iterator[tuple[str, list[StoredRun]]]:
    """Yield the runs of each cell, in order of first appearance."""
    cells: dict[str, list[StoredRun]] = {}
    for run in runs:
        cells.setdefault(run.cell, []).append(run)
    yield from cells.items()
