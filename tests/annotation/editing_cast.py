"""Answers, experts and rounds that the editing tests use."""

import itertools

from annotation.actions import editing_rounds
from annotation.models import EditingTask
from cqa_site.people.models import Role
from tests.annotation.made_answers import make_answer, make_list, make_question
from tests.cast import make_member

NUMBERS = itertools.count(1)
TEXT = """Summary:
Tea is calmer and coffee is quicker, so it depends on the hour [1].

Main Aspects of Comparison:
- Caffeine: Tea has little of it [1].
- Speed: Coffee works at once [2].

Best Option:
Tea"""


def make_answers(study, questions=6, choices=1, text=TEXT):
    """``choices`` answers of one system to each of some questions with three arguments."""
    made = []
    for _turn in range(questions):
        question = make_question(study, pair=("tea", f"coffee {next(NUMBERS)}"))
        listed = make_list(question)
        for choice in range(1, choices + 1):
            made.append(make_answer(question, text=text, listed=listed, choice=choice))
    return made


def make_round(
    study, *, experts=2, people=None, calibration=1, individual=1, is_open=True, **fields
):
    """A round over the answers of the study, for new experts, open unless told otherwise."""
    people = people or [make_member(study, Role.EXPERT) for _ in range(experts)]
    values = {"name": f"Round {next(NUMBERS)}", "seed": 1, "experts": tuple(people)} | fields
    plan = editing_rounds.Plan(calibration=calibration, individual=individual, **values)
    boss = make_member(study, Role.RESEARCHER)
    planned = editing_rounds.plan_round(study=study, plan=plan, actor=boss)
    if is_open:
        editing_rounds.open_round(editing_round=planned, actor=boss)
        planned.refresh_from_db()
    return planned


def tasks_of(editing_round, user=None, **filters):
    """Tasks with everything at hand, in the order of the desks."""
    tasks = EditingTask.objects.filter(editing_round=editing_round, **filters)
    if user is not None:
        tasks = tasks.filter(editor=user)
    needed = ("editor", "editing_round__study", "answer__question__comparison")
    return list(tasks.select_related(*needed).order_by("editor", "position"))
