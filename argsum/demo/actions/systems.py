"""What two invented systems make of the demo's arguments: written directly, nothing is computed.

The first finds nearly every key point; the second finds half of them and says one of them twice.
"""

import random
from collections import defaultdict

from django.db.models import Max
from django.utils import timezone

from argsum.datasets.models import Cell, Dataset
from argsum.keypoints.models import SummarySet, SystemRun, SystemSummary
from cqa_site.people.models import User

SYSTEMS = (
    ("Invented system A (demo)", "mcargsum", 0.55),
    ("Invented system B (demo)", "smatchtopr", 0.4),
)
# How often an argument is put to another key point than its own.
SLIPS = 0.12
# The share of arguments that stay in no cluster.
UNCLUSTERED = 0.1


def add_systems(dataset: Dataset, actor: User, rng: random.Random) -> list[SummarySet]:
    """One finished run of each, with a set for every cell."""
    last = dataset.study.system_runs.aggregate(last=Max("number"))["last"] or 0
    sets = []
    for number, (label, system, threshold) in enumerate(SYSTEMS, start=1):
        now = timezone.now()
        run = SystemRun.objects.create(
            study=dataset.study,
            number=last + number,
            label=label,
            dataset=dataset,
            split=Cell.Split.TEST,
            system=system,
            grid={"threshold": [threshold]},
            state=SystemRun.State.DONE,
            created_by=actor,
            ended_at=now,
        )
        for cell in dataset.cells.all():
            sets.append(_add_set(run, cell, threshold, rng, is_weak=number == len(SYSTEMS)))
    return sets


def _add_set(
    run: SystemRun, cell: Cell, threshold: float, rng: random.Random, *, is_weak: bool
) -> SummarySet:
    groups = _groups(cell)
    places = sorted(groups)
    found = rng.sample(places, 2 if is_weak else rng.choice((3, 4)))
    if is_weak:
        found.append(found[0])
    texts = [groups[place][found[:at].count(place)][1] for at, place in enumerate(found)]
    own = {key: place for place, rows in groups.items() for key, _text in rows}
    arguments = list(cell.arguments.filter(left_out="").values_list("pk", flat=True))
    assigned = [_assigned(own[key], found, rng) for key in arguments]
    clusters = [-1 if rng.random() < UNCLUSTERED else place for place in assigned]
    order = sorted(range(len(found)), key=lambda place: -assigned.count(place))
    rank = {place: at for at, place in enumerate(order)} | {-1: -1}
    made = SummarySet.objects.create(
        study=run.study,
        cell=cell,
        system_run=run,
        system=run.label,
        parameters={"threshold": threshold},
        setting=f"threshold={threshold:g}",
        state=SummarySet.State.DONE,
        seconds=round(rng.uniform(0.2, 1.5), 2),
        arguments=arguments,
        clusters=[rank[place] for place in clusters],
        assigned=[rank[place] for place in assigned],
        scores=[round(rng.uniform(0.35, 0.95), 3) for _argument in arguments],
        done_at=run.ended_at,
    )
    SystemSummary.objects.bulk_create(
        SystemSummary(
            summary_set=made,
            position=at,
            text=texts[place],
            cluster=at,
            prevalence=assigned.count(place),
        )
        for at, place in enumerate(order)
    )
    return made


def _groups(cell: Cell) -> dict[int, list[tuple[int, str]]]:
    """Kept arguments by the position of the key point that they match."""
    groups: dict[int, list[tuple[int, str]]] = defaultdict(list)
    rows = cell.arguments.filter(left_out="", matches__is_match=True).order_by("position")
    for key, text, position in rows.values_list("pk", "text", "matches__key_point__position"):
        groups[position].append((key, text))
    return groups


def _assigned(own: int, found: list[int], rng: random.Random) -> int:
    """A summary of its own key point where there is one and nobody slips."""
    right = [place for place, each in enumerate(found) if each == own]
    if not right:
        return rng.choice([-1, rng.randrange(len(found))])
    return rng.randrange(len(found)) if rng.random() < SLIPS else rng.choice(right)
