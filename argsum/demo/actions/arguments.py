"""Debate arguments for the demo study: a dataset, two systems' key points, two people's counts.

All of it is invented and written straight into the tables: no system has run, and nobody counted.
"""

import random
from collections.abc import Mapping, Sequence

from django.db.models import Max
from django.utils.translation import gettext as _

from annotation.corpus.models.questions import text_key
from argsum.datasets.actions.preparing import prepare_dataset
from argsum.datasets.methods.preprocessing import PAPER_STEPS
from argsum.datasets.models import Cell, CellArgument, Dataset, KeyPointMatch, ReferenceKeyPoint
from cqa_site.people.models import Role, Study, User

from . import garden_texts as demo_garden_texts
from . import library_texts as demo_library_texts
from . import parking_texts as demo_parking_texts
from .counts import add_counts, open_counting
from .systems import add_systems

SEED = 13
TOPICS = (demo_library_texts, demo_garden_texts, demo_parking_texts)
# Text of an argument, and the positions of the key points that it matches.
Text = tuple[str, tuple[int, ...]]


def add_arguments(*, study: Study, users: Mapping[str, User]) -> None:
    """Add the section of key points to the demo."""
    rng = random.Random(SEED)  # noqa: S311  a simulation, not a secret
    actor = users[Role.RESEARCHER]
    dataset = Dataset.objects.create(
        study=study,
        name=_("Invented debates (demo)"),
        source=_("Invented for the demo; nobody said or wrote any of it."),
        created_by=actor,
    )
    for texts in TOPICS:
        for stance, side in texts.SIDES.items():
            _add_cell(dataset, texts.TOPIC, stance, side, rng)
    prepare_dataset(dataset, steps=PAPER_STEPS)
    sets = add_systems(dataset, actor, rng)
    add_counts(sets, rng)
    open_counting(study, sets, actor)


def _add_cell(
    dataset: Dataset, topic: str, stance: int, side: Sequence, rng: random.Random
) -> None:
    last = dataset.cells.aggregate(last=Max("position"))["last"] or 0
    cell = Cell.objects.create(
        dataset=dataset,
        topic=topic,
        stance=stance,
        split=Cell.Split.TEST,
        position=last + 1,
    )
    key_points = ReferenceKeyPoint.objects.bulk_create(
        ReferenceKeyPoint(
            cell=cell, position=number, text=text, sha256=text_key(text), name=f"kp_{number}"
        )
        for number, text in enumerate(side[0], start=1)
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


def _texts(side: Sequence) -> list[Text]:
    matching, several, none, long = side
    texts: list[Text] = [
        (text, (place,)) for place, own in enumerate(matching.values()) for text in own
    ]
    texts += [(text, own) for text, own in several]
    texts += [(text, ()) for text in none]
    return texts + [(text, (place,)) for text, place in long]
