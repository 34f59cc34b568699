"""Leaderboard of a dataset, and the choices behind it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _

from argsum.counting.methods.counts import WEIGHT
from argsum.counting.methods.released_counts import LEFT_OUT
from argsum.datasets.models import Cell, Dataset
from argsum.keypoints.models import SummarySet
from argsum.leaderboard.methods import (
    SELECTIONS,
    Selection,
    SetFigures,
    SystemRow,
    Terms,
    board,
    figure,
)
from argsum.metrics.methods import COVERAGE_SCORE, LLM
from argsum.scorers.methods.figures import LEAST_SHARE
from cqa_site.people.models import Study
from cqa_site.runs.models import Run
from cqa_site.web.pages import NotThere
from .scores import (
    PEOPLE,
    ScoreSource,
    cluster_values,
    counted_sheets,
    metric_values,
    people_means,
    same_judge,
    sources_of,
)

# Since version 2, intervals are t intervals over topics, corrected for skewness.
RECIPE_VERSION = 2
ENDED = (SummarySet.State.DONE, SummarySet.State.NO_RESULT)
# A slider gives decimals; 60ths include halves, thirds, quarters, fifths and sixths.
STEPS = 60
NOTHING = ScoreSource("none")
LONGEST_NAME = 120


@dataclass(frozen=True)
class BoardChoice:
    """Choices of a leaderboard page.

    Attributes
    ----------
    dataset, split
        Source of the cells; the dataset is None if the study has no dataset.
    datasets, splits
        Available datasets, and the splits of the chosen dataset.
    coverage, redundancy
        Sources of the two scores.
    sources
        Available sources.
    terms
        Weight, selection and minimum share.
    without
        Systems with this text in their names are left out; an empty text leaves out no system.
    usual
        Default of ``without``.
    """

    study: Study
    dataset: Dataset | None
    split: str
    datasets: list[Dataset] = field(default_factory=list)
    splits: list[str] = field(default_factory=list)
    coverage: ScoreSource = NOTHING
    redundancy: ScoreSource = NOTHING
    sources: tuple[ScoreSource, ...] = ()
    terms: Terms = Terms()  # noqa: RUF009  frozen
    without: str = ""
    usual: str = ""

    @property
    def chosen(self) -> Dataset:
        """Dataset of the choice; raises NotThere if the study has no dataset."""
        if self.dataset is None:
            raise NotThere(_("There are no datasets."))
        return self.dataset

    @property
    def query(self) -> str:
        """Choice as a URL query."""
        if self.dataset is None:
            return ""
        return urlencode(
            {
                "dataset": self.dataset.public_id,
                "split": self.split,
                "coverage": self.coverage.key,
                "redundancy": self.redundancy.key,
                "weight": f"{self.terms.weight:.6f}",
                "selection": self.terms.selection,
                "share": f"{self.terms.least_share:g}",
                "without": self.without,
            }
        )

    @cached_property
    def coverage_sources(self) -> list[ScoreSource]:
        return [source for source in self.sources if _may_be(source, "coverage")]

    @cached_property
    def redundancy_sources(self) -> list[ScoreSource]:
        return [source for source in self.sources if _may_be(source, "redundancy")]


def board_choice(study: Study, query: Mapping[str, str]) -> BoardChoice:
    """Read the choice from the URL; unknown values fall back to defaults from the data."""
    datasets = list(study.argument_datasets.order_by("-created_at", "-pk"))
    dataset = next(
        (candidate for candidate in datasets if str(candidate.public_id) == query.get("dataset")),
        None,
    )
    dataset = dataset or _first_with_sets(study, datasets)
    if dataset is None:
        return BoardChoice(study, None, "")
    splits = _splits(dataset)
    split = query.get("split", "")
    if split not in splits:
        split = Cell.Split.TEST if Cell.Split.TEST in splits else splits[0] if splits else ""
    usual = usually_left_out(study, dataset=str(dataset.public_id))
    without = query.get("without", usual).strip()[:LONGEST_NAME]
    sets = ended_sets(study, dataset, split, without)
    judged = counted_sheets(sets).aggregate(n=Count("summary_set", distinct=True))["n"]
    people = [ScoreSource(PEOPLE, sets=judged)] if judged else []
    sources = (*people, *sources_of(sets))
    return BoardChoice(
        study,
        dataset,
        split,
        datasets,
        splits,
        coverage=_source(sources, "coverage", query.get("coverage", "")),
        redundancy=_source(sources, "redundancy", query.get("redundancy", "")),
        sources=sources,
        terms=terms_of(query),
        without=without,
        usual=usual,
    )


def terms_of(query: Mapping[str, str]) -> Terms:
    """Return weight, selection and minimum share from a URL; invalid values become defaults."""
    weight = _number(query.get("weight"), WEIGHT)
    nearest = round(weight * STEPS) / STEPS
    wanted = query.get("selection", "")
    selection: Selection = next((option for option in SELECTIONS if option == wanted), "dev")
    return Terms(
        nearest if abs(nearest - weight) < 1e-3 else weight,
        selection,
        _number(query.get("share"), LEAST_SHARE),
    )


def ended_sets(
    study: Study, dataset: Dataset, split: str, without: str = ""
) -> QuerySet[SummarySet]:
    """Return finished sets of a dataset's cells in one split, with or without a result.

    Systems with ``without`` in their names are left out.
    """
    rows = study.summary_sets.filter(
        cell__dataset=dataset, cell__split=split, state__in=ENDED
    ).order_by("system", "pk")
    return rows.exclude(system__contains=without) if without else rows


def usually_left_out(study: Study, *, dataset: str = "") -> str:
    """Return the system name to leave out of a study or dataset, as in the paper.

    The paper left systems with this name out of people's counts. The result is empty unless counts
    of such systems were imported from files. Uses one query.
    """
    rows = study.summary_sets.filter(system__contains=LEFT_OUT, count_sheets__source__gt="")
    rows = rows.filter(cell__dataset__public_id=dataset) if dataset else rows
    return LEFT_OUT if rows.exists() else ""


def _may_be(source: ScoreSource, dimension: str) -> bool:
    return source.metric == PEOPLE or source.dimension == dimension


def _source(sources: tuple[ScoreSource, ...], dimension: str, wanted: str) -> ScoreSource:
    """Return the requested source or, by default, people, a language model or Coverage Score."""
    fitting = [source for source in sources if _may_be(source, dimension)]
    usual = [source for source in fitting if source.metric in (PEOPLE, *LLM, COVERAGE_SCORE)]
    matches = [source for source in fitting if source.key == wanted]
    return next(iter([*matches, *usual, *fitting]), NOTHING)


def _first_with_sets(study: Study, datasets: list[Dataset]) -> Dataset | None:
    used = set(study.summary_sets.order_by().values_list("cell__dataset", flat=True).distinct())
    return next(iter([*(dataset for dataset in datasets if dataset.pk in used), *datasets]), None)


def _splits(dataset: Dataset) -> list[str]:
    """Return the splits with sets, or all splits if there are no sets yet."""
    rows = (
        dataset.cells.order_by()
        .values_list("split")
        .annotate(n=Count("summary_sets", filter=Q(summary_sets__state__in=ENDED)))
    )
    counts = dict(rows)
    return sorted(split for split, n in counts.items() if n) or sorted(counts)


def _number(text: Any, usual: float) -> float:
    try:
        value = float(text)
    except (TypeError, ValueError):
        return usual
    return value if 0 <= value <= 1 else usual


# Leaderboard from the current rows of a dataset

NO_CLUSTERS = (None, None, None)


@dataclass(frozen=True)
class SummaryBoard:
    """Rows of a leaderboard, and their input."""

    choice: BoardChoice
    cells: tuple[Cell, ...]
    rows: list[SystemRow]
    public_ids: dict[int, str]
    has_dev: bool
    # Incomplete judge runs behind the scores.
    unfinished: tuple[Run, ...] = ()

    @cached_property
    def digest(self) -> str:
        """Hash of all displayed content, used as the cache key of charts."""
        rows = [
            (row.system, row.setting, row.selection, row.by_cell, sorted(row.figures.items()))
            for row in self.rows
        ]
        return sha256(f"{self.choice.query}{rows}".encode()).hexdigest()[:16]

    @property
    def topics(self) -> dict[str, str]:
        """Map each cell to its topic."""
        return {str(cell.pk): cell.topic for cell in self.cells}

    @property
    def is_oracle(self) -> bool:
        """Whether any setting was chosen by the figure that judges it."""
        return any(row.selection == "oracle" for row in self.rows)


def summary_board(choice: BoardChoice) -> SummaryBoard:
    """Build the leaderboard, using at most eighteen queries for any number of sets."""
    if choice.dataset is None:
        return SummaryBoard(choice, (), [], {}, has_dev=False)
    cells = tuple(choice.dataset.cells.filter(split=choice.split).order_by("position"))
    keys = [str(cell.pk) for cell in cells]
    sets, public_ids = scored_sets(choice, choice.split)
    dev = dev_sets(choice)
    topics = {str(cell.pk): cell.topic for cell in cells}
    rows = board(sets, dev, keys, choice.terms, topics)
    return SummaryBoard(
        choice, cells, rows, public_ids, has_dev=bool(dev), unfinished=unfinished_runs(choice)
    )


def dev_sets(choice: BoardChoice) -> list[SetFigures]:
    """Return the sets of the dev split if the settings are chosen on it, or [] otherwise."""
    if choice.dataset is None or choice.split == Cell.Split.DEV:
        return []
    if choice.terms.selection != "dev":
        return []
    return scored_sets(_on_dev(choice, choice.dataset), Cell.Split.DEV)[0]


def unfinished_runs(choice: BoardChoice) -> tuple[Run, ...]:
    """Return the unfinished runs of the chosen sources, using at most two queries."""
    runs = []
    for source in (choice.coverage, choice.redundancy):
        if source.metric in LLM:
            own = {"metric_scores__metric": source.metric}
            own["metric_scores__setting"] = source.setting
            rows = Run.objects.filter(study=choice.study, **own).exclude(state=Run.State.DONE)
            runs += list(rows.only("number", "state")[:1])
    return tuple(runs)


def _on_dev(choice: BoardChoice, dataset: Dataset) -> BoardChoice:
    """Return the choice for the dev split, with the same judges."""
    rows = ended_sets(choice.study, dataset, Cell.Split.DEV, choice.without)

    def there(source: ScoreSource) -> ScoreSource:
        return source if source == NOTHING else same_judge(source, rows)

    return replace(choice, coverage=there(choice.coverage), redundancy=there(choice.redundancy))


def scored_sets(choice: BoardChoice, split: str) -> tuple[list[SetFigures], dict[int, str]]:
    """Return a split's sets and their figures, decisive sets last, and their public ids."""
    if choice.dataset is None:
        return [], {}
    rows = ended_sets(choice.study, choice.dataset, split, choice.without)
    names = ("pk", "public_id", "system", "setting", "cell", "seconds", "system_run")
    records = list(rows.values_list(*names))
    if not records:
        return [], {}
    coverage = _values(rows, choice.coverage, "coverage")
    redundancy = _values(rows, choice.redundancy, "redundancy")
    clusters = cluster_values(rows, f"{choice.dataset.public_id}:{split}")
    # Scores and clusters of one setting may be two sets from two files.
    imported = {
        (system, setting, cell): clusters[pk]
        for pk, _id, system, setting, cell, _seconds, run in records
        if run is None and pk in clusters
    }
    sets = []
    for pk, _public_id, system, setting, cell, seconds, run in records:
        usual = imported.get((system, setting, cell), NO_CLUSTERS) if run is None else NO_CLUSTERS
        excluding, including, share = clusters.get(pk, usual)
        sets.append(
            SetFigures(
                pk,
                system,
                setting,
                str(cell),
                coverage.get(pk),
                redundancy.get(pk),
                excluding,
                including,
                share,
                seconds,
            )
        )
    # Settings in the order of their runs. If two runs have the same name and setting, the run with
    # scores counts, then the newer run.
    order: dict[str, int] = {}
    for figures in sorted(sets, key=lambda set_figures: set_figures.key):
        order.setdefault(figures.setting, figures.key)

    def place(set_figures: SetFigures) -> tuple[int, bool, int]:
        has_score = figure(set_figures, "weighted", choice.terms) is not None
        return order[set_figures.setting], has_score, set_figures.key

    return sorted(sets, key=place), {pk: str(public_id) for pk, public_id, *_rest in records}


def _values(rows: QuerySet[SummarySet], source: ScoreSource, dimension: str) -> dict[int, float]:
    if source == NOTHING:
        return {}
    if source.metric == PEOPLE:
        return people_means(rows)[dimension]
    return metric_values(rows, source)
