"""Planning counting rounds: draw the sets."""

import random
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _

from argsum.counting.models import CountingItem, CountingRound
from argsum.datasets.models import Dataset, ReferenceKeyPoint
from argsum.keypoints.models import SummarySet, SystemSummary
from cqa_site.people.models import Study, User
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.opening import locked_round
from cqa_site.rounds.slots import CHUNK

from .guide import GUIDE

# A rater's order is made of all sets that are left; more would make serving slow.
MOST_SETS = 10_000
ONE, ALL = "one", "all"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Everything that decides which sets are judged, and how.

    ``per_cell`` takes one set of every system and cell, drawn among its settings, or all.
    """

    name: str
    seed: int
    dataset: Dataset | None = None
    split: str = ""
    systems: tuple[str, ...] = ()
    setting: str = ""
    per_cell: str = ONE
    leave_out_used: bool = False
    # None takes every set that matches.
    size: int | None = None
    raters: int = 3
    repeat_share: float = 0.0
    lease_minutes: int = 120
    instructions: str = GUIDE

    def recipe(self, found: int) -> dict[str, Any]:
        """What the round keeps of it: public ids, names and numbers."""
        return {
            "dataset": str(self.dataset.public_id) if self.dataset else None,
            "dataset_name": self.dataset.name if self.dataset else "",
            "split": self.split,
            "systems": list(self.systems),
            "setting": self.setting,
            "per_cell": self.per_cell,
            "leave_out_used": self.leave_out_used,
            "size": self.size,
            "found": found,
        }


SETTINGS = ("name", "seed", "raters", "repeat_share", "lease_minutes", "instructions")


@transaction.atomic
def plan_round(
    *, study: Study, plan: Plan, actor: User, round_: CountingRound | None = None
) -> CountingRound:
    """Make a draft round with its sets, or draw a draft's sets again.

    Raises RoundNotReady if no set matches, or too many would be taken.
    """
    planned = locked_round(round_, CountingRound.State.DRAFT) if round_ else None
    planned = planned or CountingRound(study=study, created_by=actor)
    drawn, found = drawn_sets(study=study, plan=plan, round_=round_)
    if not drawn:
        raise RoundNotReady(_("No set with key points and references matches."))
    if len(drawn) > MOST_SETS:
        raise RoundNotReady(
            _("%(found)d sets match; a round takes %(most)d at most. Draw a sample.")
            % {"found": len(drawn), "most": MOST_SETS}
        )
    for name in SETTINGS:
        setattr(planned, name, getattr(plan, name))
    planned.recipe = plan.recipe(found)
    planned.save()
    planned.items.all().delete()
    CountingItem.objects.bulk_create(
        (
            CountingItem(round=planned, summary_set_id=pk, position=position)
            for position, pk in enumerate(drawn, start=1)
        ),
        batch_size=CHUNK,
    )
    return planned


def drawn_sets(
    *, study: Study, plan: Plan, round_: CountingRound | None = None
) -> tuple[list[int], int]:
    """Keys of the sets that the plan draws, in their order, and how many matched."""
    rows = matching_sets(study=study, plan=plan, round_=round_)
    found = list(rows.order_by("pk").values_list("pk", "system", "setting", "cell"))
    strata: list[tuple[int, Hashable]] = [(pk, pk) for pk, *_rest in found]
    if plan.per_cell == ONE:
        strata = one_setting(found, seed=plan.seed)
    return draw_sets(strata, plan.size, seed=plan.seed), len(found)


def one_setting(
    sets: Sequence[tuple[int, str, str, int]], *, seed: int
) -> list[tuple[int, Hashable]]:
    """Sets of one setting of each system, as strata of system and cell for `draw_sets`.

    Drawn among the settings with sets in most cells, so that all judgements of a system are of
    the same setting and its mean is one that a leaderboard can show. Only a cell without that
    setting keeps its other sets.

    Parameters
    ----------
    sets
        Key, system, setting, cell.
    seed
        The same one draws the same settings.
    """
    rng = random.Random(seed)  # noqa: S311  an order, not a secret
    cells: dict[str, dict[str, set[int]]] = {}
    for _key, system, setting, cell in sets:
        cells.setdefault(system, {}).setdefault(setting, set()).add(cell)
    chosen = {}
    for system, settings in sorted(cells.items()):
        most = max(len(each) for each in settings.values())
        chosen[system] = rng.choice([name for name, each in settings.items() if len(each) == most])
    return [
        (key, (system, cell))
        for key, system, setting, cell in sets
        if setting == chosen[system] or cell not in cells[system][chosen[system]]
    ]


def draw_sets(strata: Iterable[tuple[int, Hashable]], size: int | None, *, seed: int) -> list[int]:
    """One set of every stratum, ``size`` of them or all, in a random order.

    The same sets and the same seed give the same draw.
    """
    rng = random.Random(seed)  # noqa: S311  an order, not a secret
    members: dict[Hashable, list[int]] = {}
    for key, stratum in sorted(strata, key=lambda each: each[0]):
        members.setdefault(stratum, []).append(key)
    chosen = sorted(rng.choice(each) for each in members.values())
    return rng.sample(chosen, len(chosen) if size is None else min(size, len(chosen)))


def matching_sets(
    *, study: Study, plan: Plan, round_: CountingRound | None = None
) -> QuerySet[SummarySet]:
    """Sets that a round may take: with key points, and with references to compare them with."""
    texts = SystemSummary.objects.filter(summary_set=OuterRef("pk"))
    references = ReferenceKeyPoint.objects.filter(cell=OuterRef("cell"))
    sets = study.summary_sets.filter(
        Exists(texts), Exists(references), state=SummarySet.State.DONE
    )
    if plan.dataset is not None:
        sets = sets.filter(cell__dataset=plan.dataset)
    if plan.split:
        sets = sets.filter(cell__split=plan.split)
    if plan.systems:
        sets = sets.filter(system__in=plan.systems)
    if plan.setting:
        sets = sets.filter(setting__contains=plan.setting)
    if plan.leave_out_used:
        used = CountingItem.objects.filter(summary_set=OuterRef("pk"), round__study=study)
        if round_ is not None:
            used = used.exclude(round=round_)
        sets = sets.filter(~Exists(used))
    return sets
