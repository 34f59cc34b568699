"""Analyses that are edited or that language models work for, with two researchers."""

from collections.abc import Callable
from typing import Any

from argsum.analysis.actions import edits
from argsum.analysis.actions.analyses import delete_analysis
from argsum.analysis.models import Analysis, FoundPoint, PointChange
from cqa_site.judging.chat import ChatRequest
from cqa_site.people.models import Role
from cqa_site.runs.actions.runs import RunPlan, cancel_run, retry_unscored, start_run
from cqa_site.runs.models import Run
from tests.argsum.signed_in import SignedIn
from tests.cast import make_member, make_study
from tests.runs.made_runs import carry_run, make_endpoint
from .made_comments import analyse, fill, make_cell, reading_words, say, write_analysis
from .made_writing import WORDS, carry, noting, scoring_words


class AnalysisLab(SignedIn):
    """Comments of a town library; Ada is signed in, and Ben edits, too."""

    analysis: Analysis

    def __init__(self) -> None:
        self.study = make_study()
        self.researcher = self.boss = make_member(self.study, Role.RESEARCHER, "Ada")
        self.other = make_member(self.study, Role.RESEARCHER, "Ben")
        self.cell = make_cell(self.study)
        fill(self.cell)

    @property
    def ids(self) -> dict[str, Any]:
        return {"analysis_id": self.analysis.public_id}

    @property
    def seen(self) -> int:
        return self.fresh().revision

    def fresh(self) -> Analysis:
        """The analysis as another request reads it."""
        return Analysis.objects.get(pk=self.analysis.pk)

    def at(self, point: FoundPoint | None) -> list[int]:
        rows = self.analysis.placements.filter(point=point)
        return sorted(rows.values_list("argument", flat=True))

    def do(self, action: Callable, **given: Any) -> PointChange:
        """Edit as Ada does who sees what is there."""
        usual = {"analysis": self.analysis, "actor": self.boss, "seen": self.seen}
        return action(**usual | given)

    def rename(self, point: FoundPoint, text: str, **given: Any) -> PointChange:
        return self.do(edits.rename_point, point=point, text=text, **given)

    def move(
        self, point: FoundPoint | None, statements: list[int], to: FoundPoint | None
    ) -> PointChange:
        return self.do(edits.move_statements, point=point, statements=statements, to=to)

    def put(self, verb: str, *points: FoundPoint) -> PointChange:
        return self.do(edits.set_state, points=points, verb=verb)

    def undo(self, change: PointChange) -> PointChange:
        return edits.undo_change(analysis=self.analysis, actor=self.boss, change=change)

    def delete(self) -> None:
        self.analysis.refresh_from_db()
        delete_analysis(analysis=self.analysis, actor=self.boss)


class PointsLab(AnalysisLab):
    """Three key points, written directly: 3, 3 and 3 statements, and two that fit none."""

    def __init__(self, **fields: Any) -> None:
        super().__init__()
        self.analysis = write_analysis(self.study, self.cell, **fields)
        self.first, self.second, self.third = self.analysis.points.order_by("position")


class WordLab(AnalysisLab):
    """An analysis whose key points are about the hall, parking and the catalogue.

    Subclasses say by which plan a model is asked, what it usually replies, and what else was said.
    """

    plan_of: Callable
    usually: Callable
    further: tuple[str, ...] = ()

    def __init__(self) -> None:
        super().__init__()
        for text in self.further:
            say(self.cell, text)
        with reading_words():
            self.analysis = analyse(self.cell, self.boss)
        self.endpoint = make_endpoint(self.study, self.boss)
        self.quiet, self.parking, self.catalogue = map(self.point, WORDS)

    def point(self, word: str) -> FoundPoint:
        return self.analysis.points.get(text__iendswith=f"{word}.")

    def plan(self, **chosen: Any) -> RunPlan:
        return self.plan_of(self.analysis, self.endpoint, self.boss, **chosen)

    def start(self, **chosen: Any) -> Run:
        """A run that nobody carries."""
        return start_run(study=self.study, actor=self.boss, plan=self.plan(**chosen))

    def begin(self, answer: Callable | None = None, **chosen: Any) -> Run:
        """Only the requests; nobody has used what came back."""
        run = carry_run(self.study, self.boss, answer or self.usually, self.plan(**chosen))
        self.analysis.refresh_from_db()
        return run

    def ask(self, answer: Callable | None = None, **chosen: Any) -> Run:
        """Have a scripted model reply, and let workers do what follows from it."""
        return carry(self.analysis, self.boss, answer or self.usually, self.plan(**chosen))

    def error(self) -> str:
        self.analysis.refresh_from_db()
        return self.analysis.job.error

    def retry(self, run: Run) -> None:
        retry_unscored(run=run, actor=self.boss)

    def cancel(self, run: Run) -> None:
        cancel_run(run=run, actor=self.boss)

    def texts(self) -> list[str]:
        return list(self.analysis.points.order_by("position").values_list("text", flat=True))

    def places(self) -> list[tuple]:
        """Everything about every placement but its score."""
        rows = self.analysis.placements.order_by("argument", "point")
        return list(rows.values_list("argument", "point", "is_by_hand", "is_sure"))


class Answered:
    """Before a lab's class: the same after a model replied as usual."""

    def __init__(self) -> None:
        super().__init__()
        self.texts_before, self.places_before = self.texts(), self.places()
        self.asked: list[ChatRequest] = []
        with scoring_words():
            self.run = self.ask(noting(self.asked, self.usually))
