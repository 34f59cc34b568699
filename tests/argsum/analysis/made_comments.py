"""Invented comments in one cell, key points made from their words, and analyses of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, timedelta

import pytest

from argsum.analysis.actions.analyses import count_analysis, count_points, start_analysis
from argsum.analysis.methods import key_points
from argsum.analysis.methods.key_points import NONE, ClusteringResult
from argsum.analysis.models import Analysis, FoundPoint, Placement
from argsum.datasets.models import Cell, CellArgument, Comment, CommentStatement, Dataset
from cqa_site.people.models import Study, User
from cqa_site.runs import jobs
from cqa_site.tabular.cells import text_key

TOPIC = "The town library"
# Word that every statement of a theme ends with → what else they say.
THEMES = {
    "quiet": ("Reading upstairs is", "The hall is", "My corner was", "Evenings there are"),
    "parking": ("Nobody finds", "We gave up on", "There is too little", "Sundays have free"),
    "catalogue": ("I love the new", "Searching takes long in the", "They improved their"),
}


def found_by_word(texts: Sequence[str], tools, *, counts: Sequence[int] = ()) -> ClusteringResult:
    """As `finding.find_points`: statements that end with the same word are a key point."""
    tools.say(0.1, "reading the statements")
    ends = [text.rstrip(".").rsplit(" ", 1)[-1] for text in texts]
    sizes = Counter(ends)
    words = [word for word, size in sizes.most_common() if size >= 2]
    placed = [words.index(word) if word in words else NONE for word in ends]
    points = tuple(texts[ends.index(word)] for word in words)
    scores = tuple(0.9 - row / 1000 for row in range(len(texts)))
    sure = tuple(score >= 0.895 for score in scores)
    return ClusteringResult(points, tuple(placed), scores, sure, 0.425)


def placed_by_word(
    texts: Sequence[str], points: Sequence[str], behind: Sequence[Sequence[str]], tools
) -> tuple[list[int], list[float], list[bool]]:
    """As `finding.place_new`: by the last word of any statement behind."""
    ends = [{each.rstrip(".").rsplit(" ", 1)[-1] for each in own} for own in behind]
    found = []
    for text in texts:
        end = text.rstrip(".").rsplit(" ", 1)[-1]
        found.append(next((place for place, own in enumerate(ends) if end in own), NONE))
    scores = [0.5 if place != NONE else 0.1 for place in found]
    return found, scores, [False] * len(found)


def theme_statements() -> list[str]:
    return [f"{begin} {word}." for word, begins in THEMES.items() for begin in begins]


def make_cell(study: Study, *, name: str = "Library comments") -> Cell:
    """A dataset of one topic without any argument."""
    dataset = Dataset.objects.create(study=study, name=name)
    return Cell.objects.create(dataset=dataset, topic=TOPIC, stance=0, position=1)


def say(cell: Cell, *statements: str, day: date | None = None, **attributes: str) -> Comment:
    """A comment of some sentences; sentences that were said before are the same argument."""
    position = cell.comments.count() + 1
    about = {"text": " ".join(statements), "attributes": attributes, "written_on": day}
    comment = cell.comments.create(position=position, key=f"{position}", **about)
    for place, text in enumerate(statements, start=1):
        CommentStatement.objects.create(
            comment=comment, argument=add_statement(cell, text), position=place
        )
    return comment


def comment_on_all(cell: Cell) -> None:
    """A comment for each argument that the cell has."""
    for number, argument in enumerate(cell.arguments.order_by("position"), start=1):
        text = f"{argument.text} I know what I am talking about."
        about = {"text": text, "attributes": {"town": "Altdorf" if number % 2 else "Neudorf"}}
        about |= {"key": str(number), "written_on": date(2026, 1, number)}
        comment = cell.comments.create(position=number, **about)
        CommentStatement.objects.create(comment=comment, argument=argument, position=1)


def add_statement(cell: Cell, text: str) -> CellArgument:
    """A statement, or the equal one that is there."""
    found = cell.arguments.filter(sha256=text_key(text)).first()
    return found or CellArgument.objects.create(
        cell=cell, position=cell.arguments.count() + 1, text=text, sha256=text_key(text)
    )


def fill(cell: Cell) -> None:
    """A comment for each statement in two towns, day by day, and two that say two things."""
    for number, text in enumerate(theme_statements()):
        day = date(2026, 1, 1) + timedelta(days=number)
        say(cell, text, day=day, town="Altdorf" if number % 2 else "Neudorf")
    say(cell, "The hall is quiet.", "Nobody finds parking.", day=date(2026, 2, 1), town="Altdorf")
    say(cell, "The hall is quiet.", "My corner was quiet.", day=date(2026, 2, 2), town="Neudorf")


def analyse(cell: Cell, actor: User | None = None, **chosen) -> Analysis:
    """Start an analysis and let a worker do it."""
    from tests.argsum.made_cells import make_scorer

    study = cell.dataset.study
    scorer = study.scorers.filter(task="match").first() or make_scorer(study)
    made = start_analysis(study=study, actor=actor, cell=cell, **{"match_scorer": scorer} | chosen)
    return work(made)


def work(analysis: Analysis) -> Analysis:
    jobs.drain()
    analysis.refresh_from_db()
    return analysis


def write_analysis(study: Study, cell: Cell, *, number: int = 1, **fields) -> Analysis:
    """An analysis that is done, with three key points, written directly; nothing is computed."""
    from tests.argsum.made_cells import make_scorer

    usual = {
        "name": cell.topic,
        "match_scorer": study.scorers.filter(task="match").first() or make_scorer(study),
        "state": Analysis.State.DONE,
        "cutoff": 0.425,
    }
    made = Analysis.objects.create(study=study, cell=cell, number=number, **usual | fields)
    keys = list(cell.arguments.order_by("position").values_list("pk", flat=True))
    points = [
        FoundPoint.objects.create(
            analysis=made, position=place, text=text, written=text, statements=0, comments=0
        )
        for place, text in enumerate(("First point.", "Second point.", "Third point."), start=1)
    ]
    for row, key in enumerate(keys):
        point = points[row % 4] if row % 4 < 3 else None
        Placement.objects.create(
            analysis=made, argument_id=key, point=point, score=0.9 - row / 1000
        )
    count_analysis(made)
    count_points(made)
    made.save()
    return made


@contextmanager
def reading_words() -> Iterator[None]:
    """Key points by the last word of each statement, in place of a model's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(key_points, "find_points", found_by_word)
        patch.setattr(key_points, "place_new", placed_by_word)
        yield
