"""A study with rows of each kind of figures, and one more row that moves them."""

from annotation.figures.actions import LABEL_ROUNDS
from annotation.labelling.models import Assignment, VoteEvent
from argsum.leaderboard.actions import KEY_POINTS
from argsum.leaderboard.reports.board import board_choice
from benchmark.leaderboard.actions import BOARDS
from benchmark.rubrics.models import default_rubric
from cqa_site.people.models import Rater
from tests.argsum.made_cells import make_count, make_dataset, make_system_run
from tests.benchmark.made_scores import make_rater, make_scored_answers, make_sheets
from tests.cast import make_label_round


class LabelRounds:
    kind = LABEL_ROUNDS

    def __init__(self, study):
        self.subject = make_label_round(study, ordinary=4, controls=0, state="open")
        self.other = make_label_round(study, name="Other", ordinary=1, controls=0, state="open")
        self.owner = self.subject
        self.move()

    def move(self):
        rater = Rater.objects.create(study=self.subject.study, name="Invented")
        about = {"round": self.subject, "rater": rater, "state": "answered"}
        for place, item in enumerate(self.subject.items.all()):
            said = {"item": item, "label": place % 3, "answered_at": "2026-03-02T10:30Z"}
            row = Assignment.objects.create(**about, **said)
            event = {"client_key": f"k{row.pk}", "kind": "answer", "label": row.label}
            VoteEvent.objects.create(assignment=row, **event)


class Boards:
    kind = BOARDS

    def __init__(self, study):
        self.study = self.owner = study
        self.answers = make_scored_answers(study, questions=3)
        make_sheets(study, self.answers, [make_rater(study, "Ada"), make_rater(study, "Bo")])
        self.subject = default_rubric(study)

    def move(self):
        rater = make_rater(self.study, f"Rater {self.study.raters.count()}")
        make_sheets(self.study, self.answers[:1], [rater])


class KeyPoints:
    kind = KEY_POINTS

    def __init__(self, study):
        self.study = self.owner = study
        self.sets = list(make_system_run(make_dataset(study)).sets.order_by("pk"))
        self.move()
        self.move()

    @property
    def subject(self):
        return board_choice(self.study, {})

    def move(self):
        name = f"Rater {self.study.raters.count()}"
        rater = Rater.objects.create(study=self.study, kind="person", name=name)
        for place, each in enumerate(self.sets):
            make_count(each, rater, covered=place % 3, unique=2)


MADE = {made.kind.name: made for made in (LabelRounds, Boards, KeyPoints)}
