"""The leaderboard of systems on a dataset, made of the rows as they are now."""

from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256

from django.db.models import QuerySet

from argsum.datasets.models import Cell, Dataset
from argsum.keypoints.models import SummarySet
from argsum.leaderboard.methods.system_board import Scored, SystemRow, board, figure
from argsum.metrics.methods.names import LLM
from cqa_site.runs.models import Run

from .choice import NOTHING, BoardChoice, ended_sets
from .set_scores import PEOPLE, Source, cluster_values, metric_values, people_means, same_judge

NO_CLUSTERS = (None, None, None)


@dataclass(frozen=True)
class SummaryBoard:
    """The rows of a leaderboard, and what they were made of."""

    choice: BoardChoice
    cells: tuple[Cell, ...]
    rows: list[SystemRow]
    public_ids: dict[int, str]
    has_dev: bool
    # Judge runs that scores come from and that did not ask about everything.
    unfinished: tuple[Run, ...] = ()

    @cached_property
    def digest(self) -> str:
        """Stands for everything that is shown; charts are kept under it."""
        shown = [
            (row.system, row.setting, row.selection, row.by_cell, sorted(row.figures.items()))
            for row in self.rows
        ]
        return sha256(f"{self.choice.query}{shown}".encode()).hexdigest()[:16]

    @property
    def topics(self) -> dict[str, str]:
        """Cell → its topic."""
        return {str(cell.pk): cell.topic for cell in self.cells}

    @property
    def is_oracle(self) -> bool:
        """Whether a setting was chosen by the figure it is judged by."""
        return any(row.selection == "oracle" for row in self.rows)


def summary_board(choice: BoardChoice) -> SummaryBoard:
    """Make the leaderboard; at most eighteen queries however many sets there are."""
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


def dev_sets(choice: BoardChoice) -> list[Scored]:
    """Sets of the dev split, where settings are chosen by them."""
    if choice.dataset is None or choice.split == Cell.Split.DEV:
        return []
    if choice.terms.selection != "dev":
        return []
    return scored_sets(_on_dev(choice, choice.dataset), Cell.Split.DEV)[0]


def unfinished_runs(choice: BoardChoice) -> tuple[Run, ...]:
    """Runs of the chosen sources that are not done; two queries at most."""
    found = []
    for source in (choice.coverage, choice.redundancy):
        if source.metric in LLM:
            own = {"metric_scores__metric": source.metric}
            own["metric_scores__setting"] = source.setting
            rows = Run.objects.filter(study=choice.study, **own).exclude(state=Run.State.DONE)
            found += list(rows.only("number", "state")[:1])
    return tuple(found)


def _on_dev(choice: BoardChoice, dataset: Dataset) -> BoardChoice:
    """The same judges on the dev split."""
    rows = ended_sets(choice.study, dataset, Cell.Split.DEV, choice.without)

    def there(source: Source) -> Source:
        return source if source == NOTHING else same_judge(source, rows)

    return replace(choice, coverage=there(choice.coverage), redundancy=there(choice.redundancy))


def scored_sets(choice: BoardChoice, split: str) -> tuple[list[Scored], dict[int, str]]:
    """Every set of a split with its figures, those that count last; and the sets' public ids."""
    if choice.dataset is None:
        return [], {}
    rows = ended_sets(choice.study, choice.dataset, split, choice.without)
    names = ("pk", "public_id", "system", "setting", "cell", "seconds", "system_run")
    found = list(rows.values_list(*names))
    if not found:
        return [], {}
    coverage = _values(rows, choice.coverage, "coverage")
    redundancy = _values(rows, choice.redundancy, "redundancy")
    clusters = cluster_values(rows, f"{choice.dataset.public_id}:{split}")
    # Scores and clusters of one setting may come from two files, as two sets.
    imported = {
        (system, setting, cell): clusters[pk]
        for pk, _id, system, setting, cell, _seconds, run in found
        if run is None and pk in clusters
    }
    sets = []
    for pk, _public_id, system, setting, cell, seconds, run in found:
        usual = imported.get((system, setting, cell), NO_CLUSTERS) if run is None else NO_CLUSTERS
        excluding, including, share = clusters.get(pk, usual)
        sets.append(
            Scored(
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
    # Settings in the order in which they were run. Of two runs with the same name and setting
    # the one with scores counts, then the newer.
    order: dict[str, int] = {}
    for each in sorted(sets, key=lambda one: one.key):
        order.setdefault(each.setting, each.key)

    def place(each: Scored) -> tuple[int, bool, int]:
        has_score = figure(each, "weighted", choice.terms) is not None
        return order[each.setting], has_score, each.key

    return sorted(sets, key=place), {pk: str(public_id) for pk, public_id, *_rest in found}


def _values(rows: QuerySet[SummarySet], source: Source, dimension: str) -> dict[int, float]:
    if source == NOTHING:
        return {}
    if source.metric == PEOPLE:
        return people_means(rows)[dimension]
    return metric_values(rows, source)
