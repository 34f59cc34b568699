"""Placement of a file's sets: how its scores and argument ids relate to stored data."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from django.utils.translation import gettext as _, gettext_lazy as lazy

from argsum.datasets.models import CellArgument, Dataset, KeyPointMatch
from argsum.imports.methods.clustering_order import (
    CLEAR,
    KEY_POINTS,
    LEAST_STRENGTH,
    ORDERS,
    CellClusterings,
    OrderFit,
    better_order,
    is_confirmed,
    order_fits,
    positions,
    word_strength,
)
from argsum.imports.methods.released_scores import StoredRun
from cqa_site.files.actions.imports import ImportEntry, ImportRefused, named_by

METRIC_SETS = "metrics"
LONGEST_NAME = 120
# Distinguishes imported scores from computed scores, regardless of the file.
SETTING = "imported"
_PREFIXES = ("ArgKP21_", "Debate_test_")

# The possible orders of cluster ids; see `argsum.imports.methods.clustering_order`.
ORDER_NAMES = {
    "key_points": lazy("sorted by key point, then text (released clusterings of ArgKP)"),
    "rows": lazy("in the order of the imported file's rows (released clusterings of Debate)"),
    "texts": lazy("sorted by text"),
}


def system_of(options: Mapping[str, Any], file_name: str) -> str:
    """Return the requested system, or the file name without its extension and corpus name."""
    for prefix in _PREFIXES:
        file_name = file_name.removeprefix(prefix)
    return named_by(options, "system", file_name, LONGEST_NAME)


@dataclass(frozen=True, slots=True)
class StoredEntry(ImportEntry):
    """Scores of one set.

    Attributes
    ----------
    dataset
        Name of the dataset.
    source, position
        File name and position in the file, which together identify an imported set. A file with
        the same name but with other sets at these positions is refused.
    of
        Number of sets in the file. If ``topic`` is empty, these are the sets that people counted,
        in the order of topic, stance and system, and ``position`` is the position in this order.
    scores
        Metric → value.
    scored_with
        The setting of these scores.
    clusters
        Clusters from a file of clusterings; the ids refer to the arguments in ``order``.
    order
        The requested order.
    together
        All clusterings of the same file, which are used to check the order.
    """

    is_row: ClassVar[bool] = False
    makes: ClassVar[str] = METRIC_SETS

    dataset: str
    source: str
    position: int
    of: int
    scores: Mapping[str, float] = field(default_factory=dict)
    topic: str = ""
    stance: int = 0
    system: str = ""
    setting: str = ""
    parameters: Mapping[str, float] = field(default_factory=dict)
    seconds: float | None = None
    clusters: StoredRun | None = None
    order: str = ""
    together: Sequence[StoredRun] = ()
    scored_with: str = SETTING


# Assignment of a file's cluster ids to stored arguments; ambiguous ids are refused.

CellKey = tuple[str, int]
# From this index on, the clusters almost equal the key points. Then it does not matter which
# argument of a key point an id refers to, and words cannot show it.
NEARLY_ALL = 0.75
# With fewer arguments, words may prove nothing even if the texts are right.
FEWEST_TOLD = 100


class MisplacedIdsError(Exception):
    """The ids of a clustering do not fit the stored arguments; the message gives the reason."""


class _Argument(NamedTuple):
    pk: int
    is_kept: bool
    key_point: str
    text: str


class ArgumentOrder:
    """Arguments of a dataset in the order of one file's ids.

    ``order`` is the requested order, one of `ORDERS`. If it is "", the order is detected: in the
    detected order, the ids must agree with the reference key points, and must do so clearly better
    than in any other order. In addition, words must show that the ids refer to these texts and not
    to other texts with the same key points.
    """

    def __init__(self, dataset: Dataset, order: str, runs: Sequence[StoredRun]) -> None:
        if order not in ("", *ORDERS):
            raise ImportRefused(_("There is no order named “%s”.") % order[:40])
        self._dataset = dataset
        self._asked = order
        self._runs = runs
        self.notes: list[str] = []
        self._order = "" if self._has_texts else self._checked()

    def arguments(self, run: StoredRun) -> list[int]:
        """Return the primary keys of the arguments, in the order of the run's ids.

        Raises
        ------
        MisplacedIdsError
            If the numbers of ids and arguments differ, or if the file names a missing argument.
        """
        key = (run.topic, run.stance)
        if self._has_texts:
            return self._named(run, self._stored.get(key, []))
        members = self._taking_part.get(key, [])
        if len(members) != len(run.cluster_ids):
            reason = _(
                "There are %(ids)d cluster ids, but the dataset keeps %(here)d of %(all)d "
                "arguments."
            )
            here, there = len(members), len(self._stored.get(key, []))
            raise MisplacedIdsError(
                reason % {"ids": len(run.cluster_ids), "here": here, "all": there}
            )
        return self._ordered[key]

    @property
    def _has_texts(self) -> bool:
        return any(run.texts for run in self._runs)

    @cached_property
    def _stored(self) -> Mapping[CellKey, list[_Argument]]:
        """All arguments of every cell, in file order."""
        rows = CellArgument.objects.filter(cell__dataset=self._dataset)
        matches = KeyPointMatch.objects.filter(argument__in=rows, is_match=True)
        points = dict(matches.values_list("argument", "key_point__text"))
        arguments = defaultdict(list)
        for pk, topic, stance, left_out, text in rows.order_by("cell", "position").values_list(
            "pk", "cell__topic", "cell__stance", "left_out", "text"
        ):
            arguments[topic, stance].append(_Argument(pk, not left_out, points.get(pk, ""), text))
        return arguments

    @cached_property
    def _taking_part(self) -> Mapping[CellKey, list[_Argument]]:
        """Arguments kept by preprocessing, or all arguments if only their number fits the ids."""
        arguments = {
            key: [argument for argument in cell if argument.is_kept]
            for key, cell in self._stored.items()
        }
        if self._are_as_many(self._stored) and not self._are_as_many(arguments):
            self.notes.append(
                _("The ids refer to all arguments, including those left out by preprocessing.")
            )
            return self._stored
        return arguments

    def _are_as_many(self, cells: Mapping[CellKey, list[_Argument]]) -> bool:
        return all(
            len(cells.get((run.topic, run.stance), [])) == len(run.cluster_ids)
            for run in self._runs
        )

    @cached_property
    def _ordered(self) -> Mapping[CellKey, list[int]]:
        return {
            key: [
                cell[at].pk for at in positions(self._order, [argument[2:] for argument in cell])
            ]
            for key, cell in self._taking_part.items()
        }

    def _checked(self) -> str:
        """Return the requested or detected order. Raises ImportRefused if the ids do not fit."""
        cells = self._clustered()
        fits = order_fits(cells)
        order = self._asked or self._recognised(fits, cells) or KEY_POINTS
        if other := better_order(order, fits):
            raise ImportRefused(_other_order(order, other, fits))
        if not self._asked and not is_confirmed(order, fits, cells):
            names = "; ".join(f"{name}: {ORDER_NAMES[name]}" for name in ORDERS)
            raise ImportRefused(
                _(
                    "The file does not name the arguments of its cluster ids, and the order "
                    "cannot be detected. Choose the order (%s), or name the arguments under "
                    "“arguments”."
                )
                % names
            )
        if cells and fits[order].strength < CLEAR:
            self.notes.append(
                _(
                    "The clusters agree with the key points no better than chance. Check that the "
                    "order of the arguments is right."
                )
            )
        elif fits[order].ari < NEARLY_ALL:
            self._check_words(order, cells)
        return order

    def _recognised(self, fits: Mapping[str, OrderFit], cells: Sequence[CellClusterings]) -> str:
        """Return an order that ids and words support instead of the default order, or ""."""
        best = max(fits, key=lambda name: fits[name].strength)
        if best == KEY_POINTS or not is_confirmed(best, fits, cells):
            return ""
        strength = word_strength(best, cells)
        if strength is None or strength < LEAST_STRENGTH:
            return ""
        text = _(
            "The ids fit the arguments %(order)s: the adjusted Rand index is %(here).3f, "
            "compared with %(usual).3f for arguments %(other)s."
        )
        self.notes.append(
            text
            % {
                "order": ORDER_NAMES[best],
                "here": fits[best].ari,
                "usual": fits[KEY_POINTS].ari,
                "other": ORDER_NAMES[KEY_POINTS],
            }
        )
        return best

    def _check_words(self, order: str, cells: Sequence[CellClusterings]) -> None:
        """Refuse ids that fit the key points if their clusters share no words."""
        strength = word_strength(order, cells)
        if strength is None or strength >= LEAST_STRENGTH:
            return
        if self._asked and sum(len(cell.arguments) for cell in cells) < FEWEST_TOLD:
            self.notes.append(
                _("The words in the clusters do not show that the ids refer to these texts.")
            )
            return
        raise ImportRefused(
            _(
                "The cluster ids fit the key points of these arguments, but clusters share no "
                "more words than other arguments of the same key point. They seem to refer to "
                "other texts, such as another half. Import the clustered file as a dataset, or "
                "name the arguments under “arguments”."
            )
        )

    def _clustered(self) -> list[CellClusterings]:
        """Return the cells with as many arguments as ids; the others are rejected later."""
        ids = defaultdict(list)
        for run in self._runs:
            cell = self._taking_part.get((run.topic, run.stance), [])
            if len(cell) == len(run.cluster_ids):
                ids[run.topic, run.stance].append(run.cluster_ids)
        return [
            CellClusterings([argument[2:] for argument in self._taking_part[key]], clusterings)
            for key, clusterings in ids.items()
        ]

    def _named(self, run: StoredRun, cell: Sequence[_Argument]) -> list[int]:
        known = {argument.text: argument.pk for argument in cell}
        if len(run.texts) != len(run.cluster_ids):
            reason = _("There are %(ids)d cluster ids, but the file names %(texts)d arguments.")
            raise MisplacedIdsError(
                reason % {"ids": len(run.cluster_ids), "texts": len(run.texts)}
            )
        for text in run.texts:
            if text not in known:
                raise MisplacedIdsError(
                    _("The dataset does not have the argument “%s”.") % text[:80]
                )
        return [known[text] for text in run.texts]


def _other_order(order: str, other: str, fits: Mapping[str, OrderFit]) -> str:
    reason = _(
        "The cluster ids do not fit the arguments %(order)s: their agreement with the "
        "key points (adjusted Rand index) is %(here).3f there, but %(there).3f for "
        "arguments %(other)s. If that is the right order, choose “%(key)s”, or name "
        "the arguments under “arguments”."
    )
    return reason % {
        "order": ORDER_NAMES[order],
        "here": fits[order].ari,
        "there": fits[other].ari,
        "other": ORDER_NAMES[other],
        "key": other,
    }
