"""Invented comments on a pool for the demo study, with an analysis."""

import json
import random
from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path

from django.db.models import Max
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from annotation.corpus.models import text_key
from argsum.analysis.actions.analyses import count_analysis, count_points
from argsum.analysis.actions.edits import move_statements, set_state
from argsum.analysis.models import Analysis, FoundPoint, Placement
from argsum.datasets.actions import CellBook, RawComment, count_comments
from argsum.datasets.methods.preprocessing import COMMENT_STEPS
from argsum.datasets.models import Cell, Dataset
from argsum.datasets.reports.comments import COMMENTS
from argsum.scorers.actions.scorers import default_scorers
from cqa_site.people.models import Role, Study, User

TOPIC = "What do you think of the new pool?"
SWIMMERS, FAMILIES, SCHOOLS = "swimmers", "families", "schools"
# Whatever speaks of it belongs behind one key point; and a key point that nobody needs.
MISPLACED = ("lane", "The water is clean, too.")
# First and last day, who says it, and what; sentences of a comment stand in one string.
SAID = (
    # The water was warm at first.
    (
        ("2026-02-20", "2026-05-30"),
        (FAMILIES, FAMILIES, SCHOOLS),
        (
            "The water is far too cold.",
            "The water has become too cold for small children.",
            "My son had blue lips after ten minutes because the water is so cold.",
            "Please heat the water, it is freezing.",
            "Our pupils shiver, the water is too cold for lessons.",
            "The water is much colder than it was in January.",
            "The children's pool is too cold. The staff could not say why.",
            "We left early since the water was ice cold.",
            "Too cold! Nobody wants to learn to swim in cold water.",
        ),
    ),
    (
        ("2025-12-05", "2026-05-30"),
        (SWIMMERS, SWIMMERS, SWIMMERS, SCHOOLS),
        (
            "The lanes are too crowded after work.",
            "After five o'clock there are ten people in every lane.",
            "You cannot swim in the evening because the lanes are so full.",
            "We need more lanes for people who swim lengths.",
            "The lanes are overcrowded in the evening.",
            "Too many people in one lane, I keep bumping into others.",
            "Lanes are full as soon as the clubs arrive.",
            "One lane for slow and one for fast swimmers is not enough.",
            "The lanes are crowded. I gave up on Mondays.",
        ),
    ),
    (
        ("2025-12-05", "2026-05-30"),
        (FAMILIES, FAMILIES, SWIMMERS),
        (
            "A ticket is too expensive for a family of four.",
            "The entrance fee is far too high.",
            "We can afford the pool once a month, not more.",
            "Twelve euros for an hour is too expensive.",
            "The price of a ticket should be lower for children.",
            "Far too expensive for what it is.",
            "The tickets cost twice as much as in the old pool.",
            "Why is there no cheaper ticket for families?",
            "The entrance fee is too high. My daughter loves the slide, though.",
        ),
    ),
    (
        ("2025-12-05", "2026-05-30"),
        (FAMILIES, FAMILIES, FAMILIES, SCHOOLS),
        (
            "The slide is great fun.",
            "Our children love the big slide.",
            "The slide alone is worth the visit.",
            "My kids went down the slide thirty times.",
            "The new slide is fantastic for children.",
            "The slide is the best thing about this pool.",
            "The children talk about the slide all week.",
            "What a slide!",
        ),
    ),
    (
        ("2025-12-05", "2026-05-30"),
        (SWIMMERS, FAMILIES, SCHOOLS),
        (
            "The staff are friendly and helpful.",
            "The lifeguards are always kind to the children.",
            "Very friendly people at the desk.",
            "The staff helped us at once when my bag was gone.",
            "The lifeguards are friendly and keep an eye on everybody.",
            "Friendly staff, every single time.",
            "The team at the entrance is patient with thirty noisy pupils.",
            "The staff are kind. The showers work.",
            "I have never met such helpful staff in a pool.",
        ),
    ),
    (
        ("2025-12-05", "2026-05-30"),
        (SWIMMERS, FAMILIES),
        (
            "The changing rooms are dirty.",
            "There is hair on the floor of the changing rooms every day.",
            "Nobody cleans the changing rooms in the afternoon.",
            "The floor of the changing rooms is filthy.",
            "Dirty changing rooms, I put my shoes on outside.",
            "The changing rooms need to be cleaned more often.",
            "The changing rooms smell and are never cleaned.",
            "It is a lovely building. The changing rooms are dirty.",
        ),
    ),
    (
        ("2025-12-05", "2026-05-30"),
        (SWIMMERS,),
        (
            "Opening at six in the morning is perfect for me.",
            "I can swim before work now that it opens at six.",
            "The early opening hours are a blessing.",
            "Thank you for opening early.",
            "Early opening lets me swim before the office.",
            "It opens early enough to swim before work.",
            "Opening early was the best decision. The water is clean, too.",
        ),
    ),
    (
        ("2025-12-05", "2026-05-30"),
        (SCHOOLS, SCHOOLS, FAMILIES),
        (
            "The bus does not stop anywhere near the pool.",
            "We need a bus stop in front of the pool.",
            "Without a car it is hard to get to the pool.",
            "Our class walks for twenty minutes because no bus goes there.",
            "A bus to the pool would help all schools.",
            "There is no bus to the pool on Sundays.",
            "The nearest bus stop is a mile away from the pool.",
            "No bus, so the lesson is half over when we arrive.",
        ),
    ),
    (
        ("2025-12-05", "2026-05-30"),
        (FAMILIES, SWIMMERS),
        (
            "The café only sells chips and sweets.",
            "I wish that the café had something healthy.",
            "The food in the café is greasy.",
            "The café has nothing but chips.",
            "Fruit instead of chips in the café, please.",
            "The café is closed whenever we are hungry.",
        ),
    ),
    (
        ("2025-12-05", "2026-05-30"),
        (FAMILIES, SWIMMERS, SCHOOLS),
        (
            "No complaints.",
            "I was there twice.",
            "See you next week!",
            "My locker key has the number 214.",
            "n/a",
            "We came from the next village.",
            "Greetings from class 4b.",
        ),
    ),
)

# Comments for the demo study with an analysis that is done.
#
# The comments are invented. The analysis is what the site's own scorers made of them once, kept as
# a file: finding it again would take longer than all the rest of the demo.


SEED = 8
COLUMN = "visitors"
FOUND = Path(__file__).with_name("pool_found.json")


def add_comments(*, study: Study, users: Mapping[str, User]) -> None:
    """Add a dataset of comments and its analysis."""
    actor = users[Role.RESEARCHER]
    analysis = _write_analysis(study, write_comments(study, actor), actor)
    _edit(analysis, actor)


def write_comments(study: Study, actor: User) -> Cell:
    """Store the comments in a cell of their own dataset, like an import."""
    dataset = Dataset.objects.create(
        study=study,
        name=_("Invented comments (demo)"),
        source=_("Invented for the demo; nobody said or wrote any of it."),
        recipe={"holds": COMMENTS, "steps": list(COMMENT_STEPS)},
        created_by=actor,
    )
    cell = Cell.objects.create(dataset=dataset, topic=TOPIC, stance=Cell.Stance.NONE, position=1)
    CellBook(cell, COMMENT_STEPS).add(raw_comments(), write=True)
    count_comments(dataset, attributes=[COLUMN], group=COLUMN)
    return cell


def raw_comments() -> list[RawComment]:
    """Return the comments with author and date, in date order."""
    rng = random.Random(SEED)  # noqa: S311  a simulation, not a secret
    drawn = []
    for (first, last), groups, texts in SAID:
        begin, end = date.fromisoformat(first), date.fromisoformat(last)
        for place, text in enumerate(texts):
            day = begin + timedelta(days=rng.randint(0, (end - begin).days))
            drawn.append((day, text, groups[place % len(groups)]))
    return [
        RawComment(
            key=text_key(f"demo {number}"),
            text=text,
            name=f"{number}",
            attributes={COLUMN: group},
            written_on=day,
            source="",
        )
        for number, (day, text, group) in enumerate(sorted(drawn), start=1)
    ]


def _write_analysis(study: Study, cell: Cell, actor: User) -> Analysis:
    content = json.loads(FOUND.read_text(encoding="utf-8"))
    match, quality = default_scorers(study, cell.dataset)
    analysis = Analysis.objects.create(
        study=study,
        number=(study.analyses.aggregate(last=Max("number"))["last"] or 0) + 1,
        name=cell.topic,
        cell=cell,
        match_scorer=match,
        quality_scorer=quality,
        choice=content["choice"],
        sure_from=content["sure_from"],
        language=content["language"],
        state=Analysis.State.DONE,
        created_by=actor,
    )
    points = FoundPoint.objects.bulk_create(
        FoundPoint(analysis=analysis, position=place, text=text, written=text)
        for place, text in enumerate(content["points"], start=1)
    )
    keys = dict(cell.arguments.filter(left_out="").values_list("text", "pk"))
    Placement.objects.bulk_create(
        Placement(
            analysis=analysis,
            argument_id=keys[text],
            point=None if at is None else points[at],
            score=score,
            is_sure=is_sure,
        )
        for text, (at, score, is_sure) in content["placed"].items()
    )
    count_analysis(analysis)
    count_points(analysis)
    analysis.save()
    Analysis.objects.filter(pk=analysis.pk).update(done_at=Now(), placed_at=Now())
    return analysis


def _edit(analysis: Analysis, actor: User) -> None:
    """Edit the analysis as people would: move misplaced statements, hide empty key points."""
    word, rest = MISPLACED
    crowd = analysis.points.filter(text__icontains=word).get()
    others = analysis.placements.filter(argument__text__icontains=word).exclude(point=crowd)
    for point in analysis.points.filter(pk__in=others.values("point")).order_by("position"):
        own = list(others.filter(point=point).values_list("argument", flat=True))
        analysis.refresh_from_db()
        move_statements(
            analysis=analysis,
            actor=actor,
            point=point,
            statements=own,
            to=crowd,
            seen=analysis.revision,
        )
    analysis.refresh_from_db()
    idle = list(analysis.points.filter(text=rest))
    set_state(analysis=analysis, actor=actor, points=idle, verb="hidden", seen=analysis.revision)
