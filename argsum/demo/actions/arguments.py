"""A dataset of arguments for the demo study, with systems and counts."""

import json
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from argsum.counting.models import CountingItem, CountingRound, CountingSlot, CountSheet
from argsum.datasets.actions import prepare_dataset
from argsum.datasets.methods.preprocessing import PAPER_STEPS
from argsum.datasets.models import Cell, CellArgument, Dataset, KeyPointMatch, ReferenceKeyPoint
from argsum.keypoints.models import SummarySet, SystemRun, SystemSummary
from cqa_site.people.models import Rater, Role, Study, User
from cqa_site.tabular.cells import text_key

# Invented results of two systems for the demo's arguments, written directly without computation
#
# The first system finds nearly every key point; the second finds half of them and repeats one.

SYSTEMS = (
    ("Invented system A (demo)", "mcargsum", 0.55),
    ("Invented system B (demo)", "smatchtopr", 0.4),
)
# Share of arguments that are assigned to a wrong key point.
SLIPS = 0.12
# Share of arguments without a cluster.
UNCLUSTERED = 0.1


def add_systems(dataset: Dataset, actor: User, rng: random.Random) -> list[SummarySet]:
    """Add one finished run per system, with a set for every cell."""
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
    picks = rng.sample(places, 2 if is_weak else rng.choice((3, 4)))
    if is_weak:
        picks.append(picks[0])
    texts = [groups[place][picks[:at].count(place)][1] for at, place in enumerate(picks)]
    own = {key: place for place, rows in groups.items() for key, _text in rows}
    arguments = list(cell.arguments.filter(left_out="").values_list("pk", flat=True))
    assigned = [_assigned(own[key], picks, rng) for key in arguments]
    clusters = [-1 if rng.random() < UNCLUSTERED else place for place in assigned]
    order = sorted(range(len(picks)), key=lambda place: -assigned.count(place))
    rank = {place: at for at, place in enumerate(order)} | {-1: -1}
    summary_set = SummarySet.objects.create(
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
            summary_set=summary_set,
            position=at,
            text=texts[place],
            cluster=at,
            prevalence=assigned.count(place),
        )
        for at, place in enumerate(order)
    )
    return summary_set


def _groups(cell: Cell) -> dict[int, list[tuple[int, str]]]:
    """Return the arguments that preprocessing kept, grouped by their key point's position."""
    groups: dict[int, list[tuple[int, str]]] = defaultdict(list)
    rows = cell.arguments.filter(left_out="", matches__is_match=True).order_by("position")
    for key, text, position in rows.values_list("pk", "text", "matches__key_point__position"):
        groups[position].append((key, text))
    return groups


def _assigned(own: int, picks: list[int], rng: random.Random) -> int:
    """Return the position of a summary of the argument's key point, or sometimes a wrong one."""
    right = [place for place, pick in enumerate(picks) if pick == own]
    if not right:
        return rng.choice([-1, rng.randrange(len(picks))])
    return rng.randrange(len(picks)) if rng.random() < SLIPS else rng.choice(right)


SOURCE = "demo"
PEOPLE = 2
# How often a rater marks a reference as partly covered instead.
DOUBTS = 0.25
COUNT_SEED = 17
ROUND_SIZE = 6
RATERS = 2


def add_counts(sets: Sequence[SummarySet], rng: random.Random) -> None:
    """Add a submitted sheet by each invented rater for every set."""
    if not sets:
        return
    study = sets[0].study
    raters = [
        Rater.objects.create(
            study=study,
            external_id=f"demo-counter-{number}",
            name=_("Invented counter %d") % number,
        )
        for number in range(1, PEOPLE + 1)
    ]
    sheets = []
    for position, summary_set in enumerate(sets, start=1):
        meant = _meant(summary_set)
        references = summary_set.cell.key_points.count()
        sheets += [
            _sheet(summary_set, rater, position, meant, references, rng) for rater in raters
        ]
    CountSheet.objects.bulk_create(sheets)


def _meant(summary_set: SummarySet) -> list[int]:
    """Return, for each summary, the position (from 0) of its text's key point."""
    texts = list(summary_set.summaries.order_by("position").values_list("text", flat=True))
    rows = CellArgument.objects.filter(
        cell=summary_set.cell, text__in=texts, matches__is_match=True
    )
    own = dict(rows.values_list("text", "matches__key_point__position"))
    return [own[text] - 1 for text in texts]


def _sheet(
    summary_set: SummarySet,
    rater: Rater,
    position: int,
    meant: list[int],
    references: int,
    rng: random.Random,
) -> CountSheet:
    groups: dict[int, list[int]] = defaultdict(list)
    for place, reference in enumerate(meant):
        groups[reference].append(place)
    levels = {
        reference: "part" if rng.random() < DOUBTS else "full" for reference in sorted(groups)
    }
    marks = {
        "references": {
            str(reference): {
                "level": levels.get(reference, "none"),
                "by": groups.get(reference, []),
            }
            for reference in range(references)
        },
        "groups": [groups[reference] for reference in sorted(groups)],
        "partly": [],
        "empty": [],
    }
    covered = sum(1.0 if level == "full" else 0.5 for level in levels.values())
    return CountSheet(
        study=summary_set.study,
        summary_set=summary_set,
        rater=rater,
        source=SOURCE,
        position=position,
        state=CountSheet.State.SUBMITTED,
        marks=marks,
        covered=covered,
        unique=len(groups),
        references=references,
        summaries=len(meant),
        coverage=covered / references,
        redundancy=1 - len(groups) / len(meant),
        comment=_("Invented by a simulation for the demo."),
        submitted_at=timezone.now(),
    )


def open_counting(study: Study, sets: Sequence[SummarySet], actor: User) -> None:
    """Open a counting round with the first sets of each system, for members of the demo."""
    now = timezone.now()
    counting_round = CountingRound.objects.create(
        study=study,
        name=_("Count key points (demo)"),
        state=CountingRound.State.OPEN,
        instructions=_("All texts in this round are invented; judge them as if they were real."),
        seed=COUNT_SEED,
        raters=RATERS,
        recipe={"sets": ROUND_SIZE},
        created_by=actor,
        opened_at=now,
    )
    half = len(sets) // 2
    chosen = [*sets[: ROUND_SIZE // 2], *sets[half : half + ROUND_SIZE // 2]]
    items = CountingItem.objects.bulk_create(
        CountingItem(round=counting_round, summary_set=summary_set, position=position)
        for position, summary_set in enumerate(chosen, start=1)
    )
    CountingSlot.objects.bulk_create(
        CountingSlot(round=counting_round, item=item, number=number)
        for item in items
        for number in range(1, RATERS + 1)
    )


# Debate arguments for the demo study: a dataset, key points by two systems, counts by two people
#
# All data are invented and written directly to the tables: no system has run, and nobody has
# counted.

SEED = 13
DEBATES = Path(__file__).with_name("debates.json")
# Text of an argument, and positions of the key points that it matches.
Text = tuple[str, list[int]]


def add_arguments(*, study: Study, users: Mapping[str, User]) -> None:
    """Add arguments, key points and counts to the demo."""
    rng = random.Random(SEED)  # noqa: S311  a simulation, not a secret
    actor = users[Role.RESEARCHER]
    dataset = Dataset.objects.create(
        study=study,
        name=_("Invented debates (demo)"),
        source=_("Invented for the demo; nobody said or wrote any of it."),
        created_by=actor,
    )
    for debate in json.loads(DEBATES.read_text("utf-8"))["debates"]:
        for stance, side in debate["sides"].items():
            _add_cell(dataset, debate["topic"], int(stance), side, rng)
    prepare_dataset(dataset, steps=PAPER_STEPS)
    sets = add_systems(dataset, actor, rng)
    add_counts(sets, rng)
    open_counting(study, sets, actor)


def _add_cell(
    dataset: Dataset, topic: str, stance: int, side: dict[str, Any], rng: random.Random
) -> None:
    last = dataset.cells.aggregate(last=Max("position"))["last"] or 0
    cell = Cell.objects.create(
        dataset=dataset, topic=topic, stance=stance, split=Cell.Split.TEST, position=last + 1
    )
    key_points = ReferenceKeyPoint.objects.bulk_create(
        ReferenceKeyPoint(
            cell=cell, position=number, text=text, sha256=text_key(text), name=f"kp_{number}"
        )
        for number, text in enumerate(side["one"], start=1)
    )
    texts = _texts(side)
    rng.shuffle(texts)
    arguments = CellArgument.objects.bulk_create(
        CellArgument(
            cell=cell,
            position=number,
            text=text,
            sha256=text_key(text),
            name=f"arg_{number}",
            quality=round(rng.uniform(0.45, 0.98), 3),
        )
        for number, (text, _own) in enumerate(texts, start=1)
    )
    KeyPointMatch.objects.bulk_create(
        KeyPointMatch(argument=argument, key_point=key_point, is_match=place in own)
        for argument, (_text, own) in zip(arguments, texts, strict=True)
        for place, key_point in enumerate(key_points)
    )


def _texts(side: dict[str, Any]) -> list[Text]:
    texts: list[Text] = [
        (text, [place]) for place, own in enumerate(side["one"].values()) for text in own
    ]
    texts += [(text, own) for text, own in side["several"]]
    texts += [(text, []) for text in side["none"]]
    return texts + [(text, [place]) for text, place in side["long"]]
