"""Invented comments on a swimming pool for the demo study, with an analysis."""

import json
import random
from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path

from django.db.models import Max
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from argsum.analysis.actions.analyses import count_analysis, count_points
from argsum.analysis.actions.edits import move_statements, set_state
from argsum.analysis.actions.themes import move_to_theme
from argsum.analysis.models import Analysis, FoundPoint, Placement
from argsum.datasets.actions import CellBook, RawComment, count_comments
from argsum.datasets.methods.preprocessing import COMMENT_STEPS
from argsum.datasets.models import Cell, Dataset
from argsum.datasets.reports.comments import COMMENTS
from argsum.scorers.actions.scorers import default_scorers
from cqa_site.people.models import Role, Study, User
from cqa_site.tabular.cells import text_key

TOPIC = "What do you think of the new pool?"
# A word that marks misplaced statements, and a superfluous key point.
MISPLACED = ("lane", "The water is clean, too.")
# Theme → words that identify the key points to move into it.
THEMES_BY_HAND = {
    "Prices": ("ticket",),
    "Water and rooms": ("cold", "clean", "dirty"),
    "Bus and opening hours": ("bus", "early"),
    "Staff and café": ("staff", "café"),
}

# Comments for the demo study, with a finished analysis
#
# The comments are invented. The analysis was computed once with the site's own scorers and stored
# as a file, because repeating it would take longer than the rest of the demo.

SEED = 8
COLUMN = "visitors"
POOL_ANALYSIS = Path(__file__).with_name("pool_found.json")
THEMES = Path(__file__).with_name("pool_comments.json")


def add_comments(*, study: Study, users: Mapping[str, User]) -> None:
    """Add a dataset of comments and its analysis."""
    actor = users[Role.RESEARCHER]
    analysis = _write_analysis(study, write_comments(study, actor), actor)
    _edit(analysis, actor)


def write_comments(study: Study, actor: User) -> Cell:
    """Store the comments in a cell of a new dataset, as an import does."""
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
    """Return the comments with author and date, in order of date."""
    rng = random.Random(SEED)  # noqa: S311  a simulation, not a secret
    drawn = []
    for theme in json.loads(THEMES.read_text("utf-8"))["themes"]:
        begin, end = map(date.fromisoformat, theme["days"])
        groups = theme["groups"]
        for place, text in enumerate(theme["texts"]):
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
    content = json.loads(POOL_ANALYSIS.read_text(encoding="utf-8"))
    match, quality = default_scorers(study, cell.dataset)
    analysis = Analysis.objects.create(
        study=study,
        number=(study.analyses.aggregate(last=Max("number"))["last"] or 0) + 1,
        name=cell.topic,
        cell=cell,
        match_scorer=match,
        quality_scorer=quality,
        cutoff=content["cutoff"],
        sure_from=content["sure_from"],
        language=content["language"],
        state=Analysis.State.DONE,
        created_by=actor,
    )
    points = FoundPoint.objects.bulk_create(
        FoundPoint(
            analysis=analysis,
            position=place,
            text=text,
            written=text,
            theme=theme,
            distinctness=distinctness,
        )
        for place, (text, theme, distinctness) in enumerate(
            zip(content["points"], content["themes"], content["distinct"], strict=True), start=1
        )
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
    """Edit as people would: move misplaced statements, hide a key point, assign themes."""
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
    for theme, words in THEMES_BY_HAND.items():
        analysis.refresh_from_db()
        points = [
            point
            for point in analysis.points.order_by("position")
            if any(word in point.text for word in words)
        ]
        move_to_theme(
            analysis=analysis, actor=actor, points=points, theme=theme, seen=analysis.revision
        )
