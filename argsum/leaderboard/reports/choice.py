"""What a page of the leaderboard shows: dataset, split, sources of scores, terms."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _

from argsum.counting.methods.released_rows import LEFT_OUT
from argsum.counting.methods.scores import WEIGHT
from argsum.datasets.models import Cell, Dataset
from argsum.keypoints.models import SummarySet
from argsum.leaderboard.methods.system_board import SELECTIONS, Selection, Terms
from argsum.metrics.methods.names import COVERAGE_SCORE, LLM
from argsum.scorers.methods.cluster_figures import LEAST_SHARE
from cqa_site.people.models import Study
from cqa_site.web.not_there import NotThere

from .set_scores import PEOPLE, Source, counted_sheets, sources_of

# Since 2 intervals are t over topics, corrected for skewness.
RECIPE_VERSION = 2
ENDED = (SummarySet.State.DONE, SummarySet.State.NO_RESULT)
# A slider gives decimals; 60ths hit halves, thirds, quarters, fifths and sixths.
STEPS = 60
NOTHING = Source("none")
LONGEST_NAME = 120


@dataclass(frozen=True)
class BoardChoice:
    """What a page of the leaderboard shows.

    Attributes
    ----------
    dataset, split
        Which cells; None without any dataset.
    datasets, splits
        What there is to choose from: splits with their cells.
    coverage, redundancy
        Where the two scores come from.
    sources
        What there is to choose from.
    terms
        Weight, selection, least share.
    without
        Systems with this in their names are left out; empty leaves out none.
    usual
        What is left out where nobody says anything.
    """

    study: Study
    dataset: Dataset | None
    split: str
    datasets: list[Dataset] = field(default_factory=list)
    splits: list[str] = field(default_factory=list)
    coverage: Source = NOTHING
    redundancy: Source = NOTHING
    sources: tuple[Source, ...] = ()
    terms: Terms = Terms()  # noqa: RUF009  frozen
    without: str = ""
    usual: str = ""

    @property
    def chosen(self) -> Dataset:
        """The dataset, of a study that has one."""
        if self.dataset is None:
            raise NotThere(_("There is no dataset."))
        return self.dataset

    @property
    def query(self) -> str:
        """The choice as an address carries it."""
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
    def coverage_sources(self) -> list[Source]:
        """Sources of coverage."""
        return [each for each in self.sources if _may_be(each, "coverage")]

    @cached_property
    def redundancy_sources(self) -> list[Source]:
        """Sources of redundancy."""
        return [each for each in self.sources if _may_be(each, "redundancy")]


def board_choice(study: Study, query: Mapping[str, str]) -> BoardChoice:
    """What an address asks for; anything unknown falls back to what the data suggest."""
    datasets = list(study.argument_datasets.order_by("-created_at", "-pk"))
    dataset = next(
        (each for each in datasets if str(each.public_id) == query.get("dataset")), None
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
    sources = _sources(sets)
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
    """Weight, selection and least share of an address; the defaults for anything out of range."""
    weight = _number(query.get("weight"), WEIGHT)
    nearest = round(weight * STEPS) / STEPS
    wanted = query.get("selection", "")
    selection: Selection = next((each for each in SELECTIONS if each == wanted), "dev")
    return Terms(
        nearest if abs(nearest - weight) < 1e-3 else weight,
        selection,
        _number(query.get("share"), LEAST_SHARE),
    )


def ended_sets(
    study: Study, dataset: Dataset, split: str, without: str = ""
) -> QuerySet[SummarySet]:
    """Sets of a dataset's cells of one split that have ended, with a result or without one.

    Systems with ``without`` in their names are left out.
    """
    rows = study.summary_sets.filter(
        cell__dataset=dataset, cell__split=split, state__in=ENDED
    ).order_by("system", "pk")
    return rows.exclude(system__contains=without) if without else rows


def usually_left_out(study: Study, *, dataset: str = "") -> str:
    """What to leave out of a study, or of one of its datasets by public id, as the paper did.

    That is the name of the systems that it left out of its people's counts, where counts of them
    came from files; empty elsewhere. One query.
    """
    rows = study.summary_sets.filter(system__contains=LEFT_OUT, count_sheets__source__gt="")
    rows = rows.filter(cell__dataset__public_id=dataset) if dataset else rows
    return LEFT_OUT if rows.exists() else ""


def _sources(sets: QuerySet[SummarySet]) -> tuple[Source, ...]:
    judged = counted_sheets(sets).aggregate(n=Count("summary_set", distinct=True))["n"]
    people = [Source(PEOPLE, sets=judged)] if judged else []
    return (*people, *sources_of(sets))


def _may_be(source: Source, dimension: str) -> bool:
    return source.metric == PEOPLE or source.dimension == dimension


def _source(sources: tuple[Source, ...], dimension: str, wanted: str) -> Source:
    """The source asked for, else people, a language model, or the Coverage Score."""
    fitting = [each for each in sources if _may_be(each, dimension)]
    usual = [each for each in fitting if each.metric in (PEOPLE, *LLM, COVERAGE_SCORE)]
    asked = [each for each in fitting if each.key == wanted]
    return next(iter([*asked, *usual, *fitting]), NOTHING)


def _first_with_sets(study: Study, datasets: list[Dataset]) -> Dataset | None:
    used = set(study.summary_sets.order_by().values_list("cell__dataset", flat=True).distinct())
    return next(iter([*(each for each in datasets if each.pk in used), *datasets]), None)


def _splits(dataset: Dataset) -> list[str]:
    """Splits whose cells have sets; all of them where no set is there yet."""
    rows = (
        dataset.cells.order_by()
        .values_list("split")
        .annotate(n=Count("summary_sets", filter=Q(summary_sets__state__in=ENDED)))
    )
    found = dict(rows)
    return sorted(split for split, n in found.items() if n) or sorted(found)


def _number(text: Any, usual: float) -> float:
    try:
        value = float(text)
    except (TypeError, ValueError):
        return usual
    return value if 0 <= value <= 1 else usual
