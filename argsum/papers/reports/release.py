"""The released data of the argument summarization paper, read for `manage.py reproduce argsum`."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from argsum.counting.methods.released import CountFile, read_counts, sets_of
from argsum.counting.methods.released_rows import LEFT_OUT, CountedSet
from argsum.datasets.methods.argkp_files import read_argkp
from argsum.datasets.methods.argument_columns import as_stance, as_text, named_rows
from argsum.datasets.methods.argument_files import read_argument_pairs
from argsum.datasets.methods.preprocessing import prepare
from argsum.datasets.methods.raw_cells import Misfit, RawCell
from argsum.imports.methods.clustering_order import KEY_POINTS, positions
from argsum.imports.methods.released_json import an_object, is_number, read_json
from argsum.metrics.methods.correlation import Correlations, Values, across_within
from cqa_site.tabular import UnreadableFile

ARGKP, PAIRS = "argkp2021", Path("argkp2021", "processed_with_quality.csv")
HUMAN, CLUSTERINGS, EVALUATION = "human", "clusterings", "evaluation"
GPT4O = Path(EVALUATION, "gpt4o_results.json")
SOFT = Path(EVALUATION, "soft_score.json")
DEBATE = Path("debate")
DEBATE_ALL, DEBATE_KEPT, DEBATE_HALF = (
    DEBATE / f"dataset_scores{part}.csv" for part in ("", "_processed", "_processed_test")
)


class ReleaseMissing(Exception):
    """Files of the release are not where they were looked for."""


class DebateRow(NamedTuple):
    """A row of the Debate data; ``reason`` is its only key point."""

    topic: str
    stance: int
    argument: str
    reason: str


@dataclass(frozen=True)
class PreparedCell:
    """A cell after preprocessing: its arguments in the order that stored cluster ids follow.

    `quality` and `reference` (the key point of each argument) run parallel to `arguments`;
    `key_points` are all of the cell.
    """

    topic: str
    stance: int
    arguments: tuple[str, ...]
    quality: tuple[float | None, ...]
    reference: tuple[str, ...]
    key_points: tuple[str, ...]

    @property
    def name(self) -> str:
        """As in `argsum.imports.methods.released_scores.StoredRun.cell`."""
        return f"{self.topic} ({self.stance})"


class Release:
    """The files of one folder, each read when it is first asked for.

    Raises
    ------
    ReleaseMissing
        Naming a part that is not there.
    """

    def __init__(self, data: Path) -> None:
        self.folder = data / "argsum" if (data / "argsum").is_dir() else data
        for part in (ARGKP, PAIRS, HUMAN, CLUSTERINGS, GPT4O, SOFT):
            if not (self.folder / part).exists():
                raise ReleaseMissing(f"{self.folder / part} is missing.")

    @cached_property
    def argkp(self) -> list[RawCell]:
        """All cells of the three splits."""
        return read_argkp(self.folder / ARGKP, name=ARGKP).cells

    @cached_property
    def pairs(self) -> list[RawCell]:
        """The authors' own file after preprocessing, with the quality of each argument."""
        return read_argument_pairs(self.folder / PAIRS, name=PAIRS.name).cells

    @cached_property
    def test_cells(self) -> tuple[PreparedCell, ...]:
        """The six cells of the test split, preprocessed here."""
        quality = {
            (cell.topic, cell.stance, each.text): each.quality
            for cell in self.pairs
            for each in cell.arguments
        }
        return tuple(_prepared(cell, quality) for cell in self.argkp if cell.split == "test")

    @cached_property
    def debate_rows(self) -> tuple[DebateRow, ...]:
        """Topic, stance, argument and reason of every row; empty without the files."""
        return _debate_rows(self.folder / DEBATE_ALL)

    @cached_property
    def debate_kept(self) -> tuple[DebateRow, ...]:
        """Those of the authors' file after preprocessing."""
        return _debate_rows(self.folder / DEBATE_KEPT)

    @cached_property
    def debate_half(self) -> tuple[DebateRow, ...]:
        """Those of the half that the paper works with, in its order."""
        return _debate_rows(self.folder / DEBATE_HALF)

    @cached_property
    def debate_cells(self) -> tuple[PreparedCell, ...]:
        """The cells of that half, whose rows stored cluster ids follow as they stand."""
        cells: dict[tuple[str, int], list[DebateRow]] = {}
        for row in self.debate_half:
            cells.setdefault((row.topic, row.stance), []).append(row)
        return tuple(
            PreparedCell(
                topic,
                stance,
                arguments=tuple(row.argument for row in rows),
                quality=(None,) * len(rows),
                reference=tuple(row.reason for row in rows),
                key_points=tuple(dict.fromkeys(row.reason for row in rows)),
            )
            for (topic, stance), rows in cells.items()
        )

    @cached_property
    def counts(self) -> tuple[CountFile, ...]:
        """What each annotator counted."""
        files = sorted((self.folder / HUMAN).glob("*.csv"))
        if not files:
            raise ReleaseMissing(f"{self.folder / HUMAN} has no CSV files.")
        return tuple(map(read_counts, files))

    @cached_property
    def keys(self) -> list[tuple[str, str, str]]:
        """Topic, stance and system of the sets that the paper counts, in order."""
        return [key for key in sets_of(self.counts) if LEFT_OUT not in key[2]]

    @cached_property
    def judged(self) -> list[list[CountedSet]]:
        """The sheets of each of these sets."""
        sheets: dict[tuple[str, str, str], list[CountedSet]] = {}
        for file in self.counts:
            for each in file.sets:
                sheets.setdefault(each.key, []).append(each)
        return [sheets[key] for key in self.keys]

    @cached_property
    def _gpt4o(self) -> Any:
        return read_json(self.folder / GPT4O, GPT4O.name)

    def gpt4o(self, *keys: str) -> dict[str, Any]:
        """A part of the results that were read off the authors' repository.

        Raises
        ------
        UnreadableFile
            If there is no such part.
        """
        found = an_object(self._gpt4o, GPT4O.name)
        for key in keys:
            found = an_object(found.get(key), GPT4O.name, key)
        return found

    def stored_triples(self, *keys: str) -> dict[str, tuple[float, ...]]:
        """Name → three numbers that were stored instead of the scores behind them."""
        found = self.gpt4o(*keys)
        for name, values in found.items():
            if not isinstance(values, list) or len(values) != 3 or not all(map(is_number, values)):
                raise UnreadableFile(GPT4O.name, "is no list of three numbers", column=name)
        return {name: tuple(map(float, values)) for name, values in found.items()}

    def by_people(self, column: str) -> list[float | None]:
        """Mean ``coverage`` or ``redundancy`` of each set over its annotators."""
        given = [[getattr(sheet, column) for sheet in sheets] for sheets in self.judged]
        sure = [[value for value in values if value is not None] for values in given]
        return [fmean(values) if values else None for values in sure]

    def with_people(self, metric: Values, column: str, file: str) -> Correlations:
        """Correlation of a metric of a file with people, over the sets.

        Raises
        ------
        UnreadableFile
            If the file has another number of sets.
        """
        if len(metric) != len(self.keys):
            raise UnreadableFile(file, f"{len(metric)} scores for {len(self.keys)} sets")
        cells = [f"{topic} ({stance})" for topic, stance, _ in self.keys]
        return across_within(metric, self.by_people(column), cells)


def _debate_rows(path: Path) -> tuple[DebateRow, ...]:
    if not path.exists():
        return ()
    needed = ("topic", "stance", "argument", "key_point")
    try:
        return tuple(
            DebateRow(
                as_text(row.values, "topic"),
                as_stance(row.values),
                as_text(row.values, "argument"),
                as_text(row.values, "key_point"),
            )
            for row in named_rows(path, name=path.name, needed=needed)
        )
    except Misfit as error:
        raise UnreadableFile(path.name, error.reason, column=error.column) from None


def _prepared(cell: RawCell, quality: dict[tuple[str, int, str], float | None]) -> PreparedCell:
    kept = prepare([each.text for each in cell.arguments], cell.matched()).kept
    own = {a: cell.key_points[k].text for (a, k), is_match in cell.matches.items() if is_match}
    given = [(own[place], cell.arguments[place].text) for place in kept]
    rows = [given[at] for at in positions(KEY_POINTS, given)]
    return PreparedCell(
        cell.topic,
        cell.stance,
        arguments=tuple(text for _, text in rows),
        quality=tuple(quality.get((cell.topic, cell.stance, text)) for _, text in rows),
        reference=tuple(key_point for key_point, _ in rows),
        key_points=tuple(each.text for each in cell.key_points),
    )
