"""What two invented people counted in the demo's sets, and an open round for real ones."""

import random
from collections import defaultdict
from collections.abc import Sequence

from django.utils import timezone
from django.utils.translation import gettext as _

from argsum.counting.models import CountingItem, CountingRound, CountingSlot, CountSheet
from argsum.datasets.models import CellArgument
from argsum.keypoints.models import SummarySet
from cqa_site.people.models import Rater, Study, User

SOURCE = "demo"
PEOPLE = 2
# How often one of them sees a reference as partly covered instead.
DOUBTS = 0.25
SEED = 17
ROUND_SIZE = 6
RATERS = 2


def add_counts(sets: Sequence[SummarySet], rng: random.Random) -> None:
    """A submitted sheet of each invented person for every set."""
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
    for position, each in enumerate(sets, start=1):
        meant = _meant(each)
        references = each.cell.key_points.count()
        sheets += [_sheet(each, rater, position, meant, references, rng) for rater in raters]
    CountSheet.objects.bulk_create(sheets)


def _meant(summary_set: SummarySet) -> list[int]:
    """For each summary the position, from 0, of the key point that its text was written for."""
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
    """An open round over the first sets of each system, for members of the demo to count."""
    now = timezone.now()
    made = CountingRound.objects.create(
        study=study,
        name=_("Count key points (demo)"),
        state=CountingRound.State.OPEN,
        instructions=_("All texts of this round are invented; judge them as if they were not."),
        seed=SEED,
        raters=RATERS,
        recipe={"sets": ROUND_SIZE},
        created_by=actor,
        opened_at=now,
    )
    half = len(sets) // 2
    chosen = [*sets[: ROUND_SIZE // 2], *sets[half : half + ROUND_SIZE // 2]]
    items = CountingItem.objects.bulk_create(
        CountingItem(round=made, summary_set=each, position=position)
        for position, each in enumerate(chosen, start=1)
    )
    CountingSlot.objects.bulk_create(
        CountingSlot(round=made, item=item, number=number)
        for item in items
        for number in range(1, RATERS + 1)
    )
