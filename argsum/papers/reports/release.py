"""The paper's released data and the names of its figures, plus the Debate data."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from argsum.counting.methods.released_counts import (
    LEFT_OUT,
    CountedSet,
    CountFile,
    read_counts,
    sets_of,
)
from argsum.datasets.methods.argument_cells import RawCell, as_stance, as_text, named_table
from argsum.datasets.methods.argument_files import read_argkp, read_argument_pairs
from argsum.datasets.methods.preprocessing import (
    ONE_KEY_POINT,
    ONE_SENTENCE,
    is_one_published_sentence,
    prepare,
    summed,
)
from argsum.imports.methods.clustering_order import KEY_POINTS, positions
from argsum.imports.methods.released_scores import an_object, is_number, read_json
from argsum.metrics.methods import Correlations, Values, across_within
from cqa_site.reproduction.figures import Key, MeasuredFigure, ReproducedValue
from cqa_site.tabular import BadCell, UnreadableFile

ARGKP, PAIRS = "argkp2021", Path("argkp2021", "processed_with_quality.csv")
HUMAN, CLUSTERINGS, EVALUATION = "human", "clusterings", "evaluation"
GPT4O = Path(EVALUATION, "gpt4o_results.json")
SOFT_FILE = Path(EVALUATION, "soft_score.json")
DEBATE_FOLDER = Path("debate")
DEBATE_ALL, DEBATE_KEPT, DEBATE_HALF = (
    DEBATE_FOLDER / f"dataset_scores{part}.csv" for part in ("", "_processed", "_processed_test")
)


class KeyPointReleaseMissing(Exception):
    """Files of the release are missing from the folder."""


class DebateRow(NamedTuple):
    """A row of the Debate data; ``reason`` is its only key point."""

    topic: str
    stance: int
    argument: str
    reason: str


@dataclass(frozen=True)
class PreparedCell:
    """A cell after preprocessing, with its arguments in the order of the stored cluster ids.

    `quality` and `reference` (the key point of each argument) are parallel to `arguments`.
    `key_points` lists all key points of the cell.
    """

    topic: str
    stance: int
    arguments: tuple[str, ...]
    quality: tuple[float | None, ...]
    reference: tuple[str, ...]
    key_points: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name, in the format of `argsum.imports.methods.released_scores.StoredRun.cell`."""
        return f"{self.topic} ({self.stance})"


class KeyPointRelease:
    """The files of a release folder; each file is read when it is first needed.

    Raises
    ------
    KeyPointReleaseMissing
        If a required file is missing; the message names it.
    """

    def __init__(self, data: Path) -> None:
        self.folder = data / "argsum" if (data / "argsum").is_dir() else data
        for part in (ARGKP, PAIRS, HUMAN, CLUSTERINGS, GPT4O, SOFT_FILE):
            if not (self.folder / part).exists():
                raise KeyPointReleaseMissing(f"{self.folder / part} is missing.")

    @cached_property
    def argkp(self) -> list[RawCell]:
        """All cells of the three splits."""
        return read_argkp(self.folder / ARGKP, name=ARGKP).cells

    @cached_property
    def pairs(self) -> list[RawCell]:
        """The authors' preprocessed file, with the quality of each argument."""
        return read_argument_pairs(self.folder / PAIRS, name=PAIRS.name).cells

    @cached_property
    def test_cells(self) -> tuple[PreparedCell, ...]:
        """The six cells of the test split, preprocessed by this software."""
        quality = {
            (cell.topic, cell.stance, argument.text): argument.quality
            for cell in self.pairs
            for argument in cell.arguments
        }
        return tuple(_prepared(cell, quality) for cell in self.argkp if cell.split == "test")

    @cached_property
    def debate_rows(self) -> tuple[DebateRow, ...]:
        """Topic, stance, argument and reason of every row; empty if the file is missing."""
        return _debate_rows(self.folder / DEBATE_ALL)

    @cached_property
    def debate_kept(self) -> tuple[DebateRow, ...]:
        """Rows of the authors' file after preprocessing."""
        return _debate_rows(self.folder / DEBATE_KEPT)

    @cached_property
    def debate_half(self) -> tuple[DebateRow, ...]:
        """Rows of the half that the paper uses, in its order."""
        return _debate_rows(self.folder / DEBATE_HALF)

    @cached_property
    def debate_cells(self) -> tuple[PreparedCell, ...]:
        """Cells of the released half; stored cluster ids follow the order of their rows."""
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
        """The counts of each annotator."""
        files = sorted((self.folder / HUMAN).glob("*.csv"))
        if not files:
            raise KeyPointReleaseMissing(f"{self.folder / HUMAN} has no CSV files.")
        return tuple(map(read_counts, files))

    @cached_property
    def keys(self) -> list[tuple[str, str, str]]:
        """Topic, stance and system of the paper's sets, in order."""
        return [key for key in sets_of(self.counts) if LEFT_OUT not in key[2]]

    @cached_property
    def judged(self) -> list[list[CountedSet]]:
        """The sheets for each set."""
        sheets: dict[tuple[str, str, str], list[CountedSet]] = {}
        for file in self.counts:
            for sheet in file.sets:
                sheets.setdefault(sheet.key, []).append(sheet)
        return [sheets[key] for key in self.keys]

    @cached_property
    def _gpt4o(self) -> Any:
        return read_json(self.folder / GPT4O, GPT4O.name)

    def gpt4o(self, *keys: str) -> dict[str, Any]:
        """Return a part of the results read from the authors' repository.

        Raises
        ------
        UnreadableFile
            If the part is missing.
        """
        part = an_object(self._gpt4o, GPT4O.name)
        for key in keys:
            part = an_object(part.get(key), GPT4O.name, key)
        return part

    def stored_triples(self, *keys: str) -> dict[str, tuple[float, ...]]:
        """Map each name to three stored numbers whose underlying scores were not released."""
        gpt4o = self.gpt4o(*keys)
        for name, values in gpt4o.items():
            if not isinstance(values, list) or len(values) != 3 or not all(map(is_number, values)):
                raise UnreadableFile(GPT4O.name, "is not a list of three numbers", column=name)
        return {name: tuple(map(float, values)) for name, values in gpt4o.items()}

    def by_people(self, column: str) -> list[float | None]:
        """Return each set's mean ``coverage`` or ``redundancy`` over its annotators."""
        ratings = [[getattr(sheet, column) for sheet in sheets] for sheets in self.judged]
        sure = [[value for value in values if value is not None] for values in ratings]
        return [fmean(values) if values else None for values in sure]

    def with_people(self, metric: Values, column: str, file: str) -> Correlations:
        """Return the correlation of a file's metric with human ratings over the sets.

        Raises
        ------
        UnreadableFile
            If the file has a different number of sets.
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
        with named_table(path, name=path.name, needed=needed) as table:
            return tuple(
                DebateRow(
                    as_text(row.values, "topic"),
                    as_stance(row.values),
                    as_text(row.values, "argument"),
                    as_text(row.values, "key_point"),
                )
                for row in table.rows
            )
    except BadCell as error:
        raise UnreadableFile(path.name, error.reason, column=error.column) from None


def _prepared(cell: RawCell, quality: dict[tuple[str, int, str], float | None]) -> PreparedCell:
    places = prepare([argument.text for argument in cell.arguments], cell.matched()).kept
    own = {a: cell.key_points[k].text for (a, k), is_match in cell.matches.items() if is_match}
    pairs = [(own[place], cell.arguments[place].text) for place in places]
    rows = [pairs[at] for at in positions(KEY_POINTS, pairs)]
    return PreparedCell(
        cell.topic,
        cell.stance,
        arguments=tuple(text for _, text in rows),
        quality=tuple(quality.get((cell.topic, cell.stance, text)) for _, text in rows),
        reference=tuple(key_point for key_point, _ in rows),
        key_points=tuple(point.text for point in cell.key_points),
    )


# Names of the paper's figures, here and in the released files.

DATA, DEBATE, PEOPLE = "data", "Debate data", "people"
SOFT, ROUGE, LLM = "soft score", "ROUGE 1", "language-model counts"
COVERAGE = "coverage score"
CLUSTERS = {"ArgKP21": "clusters of ArgKP, oracle", "Debate": "clusters of Debate, oracle"}
WEIGHTED, FIGURE_2 = "weighted, GPT-3.5, oracle", "weighted, GPT-4o, oracle"
OWN_WEIGHTED = "weighted, oracle"
CANDIDATES, MINILM = "candidates", "all-MiniLM-L6-v2"

# Maps names in the paper's table to the file's similarity functions.
SOFT_FUNCTIONS = {
    ROUGE: "rouge_1",
    "BERTScore F1": "bert_score_f",
    "MoverScore": "mover_score",
    "BARTScore CNN/DM": "bart_score_cnndm_rs",
    "BARTScore Parabank": "bart_score_parabank_rs",
    "BLEURT": "bleurt",
    "MENLI": "menli",
}
TEMPERATURES = ("0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1.0")
MATCH_SCORERS = ("BarH", "SMatchToPr", "MCArgSum")
MATCH_THRESHOLDS = (
    "0.40", "0.45", "0.50", "0.55", "0.60", "0.65", "0.70", "0.75", "0.80", "0.85", "0.90",
)  # fmt: skip

# Maps systems in the paper's cluster tables to the names of their clusterings.
CLUSTERED = {
    "USKPM": "USKPM",
    "MCArgSum": "MCArgSum_SBERT_all_mpnet_base",
    "MCArgSum (BarH)": "MCArgSum_RoBERTa",
    "MCArgSum (SMatchToPr)": "MCArgSum_SBERT_RoBERTa",
}
# Released clusterings for which the paper reports no figures.
FURTHER = {"MCArgSum (DeBERTa)": "MCArgSum_DeBERTa"}
EXCLUDING, INCLUDING, ITERATIVE = "Excl. noise", "Incl. noise", "IC"
ARI, SHARE, SECONDS = "ARI", "Proportion clustered", "Runtime"
CLUSTER_FIGURES = (ARI, SHARE, SECONDS)

# Maps systems of figure 2 to their names in the stored averages.
AVERAGED = {
    "BarH": "BarH",
    "BarH, written candidates": "BarH+cand",
    "BarH, written summaries": "BarH+sum",
    "SMatchToPr": "SMatchToPr",
    "SMatchToPr, written candidates": "SMatchToPr+cand",
    "SMatchToPr, written summaries": "SMatchToPr+sum",
    "USKPM": "USKPM",
    "MCArgSum": "MCArgSum",
}
WEIGHTS = ("weighted score", "coverage", "redundancy")
# Maps (data, system of figure 2) to the part of the file that has the scores of single
# settings, and to whether only the settings of its first cell are used.
BY_SETTING = {
    ("ArgKP21", "BarH, written candidates"): ("ArgKP21_BarH_Candidates", False),
    ("ArgKP21", "BarH, written summaries"): ("ArgKP21_BarH_Key_Points", False),
    ("ArgKP21", "MCArgSum"): ("ArgKP21_MCArgSum_global", True),
    ("Debate", "MCArgSum"): ("Debate_MCArgSum_global", False),
}
# Maps systems of the GPT-3.5 era to their evaluation files.
WEIGHTED_FILES = {
    "BarH": "ArgKP21_BarH.json",
    "BarH, written candidates": "ArgKP21_BarH_Candidates.json",
    "SMatchToPr": "ArgKP21_SMatchToPr.json",
    "SMatchToPr, written candidates": "ArgKP21_SMatchToPr_Candidates.json",
    "USKPM": "ArgKP21_USKPM.json",
    "MCArgSum, global": "ArgKP21_MCArgSum_SBERT_all_mpnet_base_global.json",
    "MCArgSum, local": "ArgKP21_MCArgSum_SBERT_all_mpnet_base_local.json",
}


def scenarios(system: str) -> tuple[str, ...]:
    """Return the paper's noise scenarios for a system's clusters."""
    noises = (EXCLUDING, INCLUDING)
    return (*noises, ITERATIVE) if system == "USKPM" else noises


def cluster_cell(system: str, scenario: str, figure: str) -> str:
    return f"{system}, {scenario}: {figure}"


def weighted_cell(data: str, system: str, figure: str) -> str:
    return f"{data}, {system}: {figure}"


ROWS_COUNT = "a text repeated with the same reason has one reason"
MARKS_COUNT = "also: repeated marks end one sentence, dots before a capital letter end one"


def debate_counts(release: KeyPointRelease) -> Iterator[tuple[Key, ReproducedValue]]:
    """Yield the number of arguments after each step, by the paper's rules and by ours.

    Yields nothing if the files are missing.
    """
    rows = release.debate_rows
    if not rows:
        return
    times = Counter((row.topic, row.stance, row.argument) for row in rows)
    once = [row for row in rows if times[row[:3]] == 1]
    single = {row for row in once if is_one_published_sentence(row.argument)}
    ours = _our_funnel(release)
    values = {
        "topics": ReproducedValue(_count(len({row.topic for row in rows}))),
        "arguments": ReproducedValue(_count(len(rows))),
        "unique arguments": ReproducedValue(_count(len(times))),
        "… with exactly one reason": ReproducedValue(
            _count(len(once)), _count(ours[ONE_KEY_POINT]), ROWS_COUNT
        ),
        "… of one sentence": ReproducedValue(
            _count(len(single)), _count(ours[ONE_SENTENCE]), f"{ROWS_COUNT}; {MARKS_COUNT}"
        ),
        "… that are those of the released file": ReproducedValue(
            _count(len(single & set(release.debate_kept)))
        ),
        "… in the released half": ReproducedValue(_count(len(single & set(release.debate_half)))),
        "reasons of a topic and stance": ReproducedValue(_count(_reasons(single))),
        "reasons of a topic and stance in the half": ReproducedValue(
            _count(_reasons(release.debate_half))
        ),
    }
    for cell, value in values.items():
        yield (DEBATE, cell), value


def _our_funnel(release: KeyPointRelease) -> dict[str, int]:
    cells = read_argument_pairs(release.folder / DEBATE_ALL, name=DEBATE_ALL.name).cells
    return summed(
        prepare([argument.text for argument in cell.arguments], cell.matched()).counts
        for cell in cells
    )


def _reasons(rows: Iterable[DebateRow]) -> int:
    return len({(row.topic, row.stance, row.reason) for row in rows})


def _count(number: int) -> MeasuredFigure:
    return MeasuredFigure((number,))
