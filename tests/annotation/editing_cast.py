"""Answers, experts and rounds that the editing tests use."""

import itertools

from annotation.editing.actions import rounds as editing_rounds
from annotation.editing.actions.kind import EditContent
from annotation.editing.models import EditingSheet, Revision
from cqa_site.people.models import Role
from cqa_site.rounds.drafts import DraftSubmission, submit_sheet
from cqa_site.rounds.lifecycle import open_round
from tests.annotation.made_answers import make_answer, make_list, make_question
from tests.cast import make_member, make_study

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
    plan = editing_rounds.EditingPlan(calibration=calibration, individual=individual, **values)
    boss = make_member(study, Role.RESEARCHER)
    planned = editing_rounds.plan_round(study=study, plan=plan, actor=boss)
    if is_open:
        open_round(round_=planned, actor=boss)
        planned.refresh_from_db()
    return planned


def sheets_of(editing_round, user=None, **filters):
    """Sheets with everything at hand, in the order of the desks."""
    sheets = EditingSheet.objects.filter(round=editing_round, **filters)
    if user is not None:
        sheets = sheets.filter(rater__user=user)
    needed = ("rater__user", "round__study", "answer__question__comparison")
    return list(sheets.select_related(*needed).order_by("rater", "place"))


def first_sheet():
    """Of two experts with a calibration answer and one of their own each."""
    study = make_study()
    make_answers(study)
    return sheets_of(make_round(study))[0]


def sent(text, base=0, client="", sequence=0, reasons=(), comment="", active_seconds=0):
    """What a page sends."""
    content = EditContent(text, list(reasons), comment)
    return DraftSubmission(content, base, client, sequence, active_seconds)


def hand_in(sheet, text, base=0, key="", reasons=("wording",), comment="", **more):
    """Submit a text; returns the revision."""
    given = sent(text, base, reasons=reasons, comment=comment, **more)
    stored = submit_sheet(sheet=sheet, sent=given, key=key or text[:60])
    return Revision.objects.filter(sheet=stored).last()
