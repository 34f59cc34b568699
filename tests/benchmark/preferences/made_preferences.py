"""Preference rounds for tests, with people who compare in them."""

from collections.abc import Callable

from django.urls import reverse

from annotation.answers.models import Answer
from annotation.generation.actions.answer_runs import condition
from benchmark.preferences.actions import PreferencePlan, plan_round
from benchmark.preferences.kind import PreferenceContent
from benchmark.preferences.models import PreferenceRound, PreferenceSheet
from cqa_site.people.actions import rater_for
from cqa_site.people.models import Rater, Study, User
from cqa_site.rounds.drafts import DraftSubmission, submit_sheet
from cqa_site.rounds.lifecycle import open_round
from cqa_site.rounds.queue import next_sheet
from tests.benchmark.made_scores import make_scored_answers

JSON = {"HTTP_ACCEPT": "application/json"}


def make_pairs_round(
    study: Study, actor: User, *, opens: bool = True, **fields
) -> PreferenceRound:
    """A round over pairs of the study's answers."""
    plan = PreferencePlan(**{"name": "First pairs", "seed": 1, "size": 4, "raters": 1} | fields)
    made = plan_round(study=study, plan=plan, actor=actor)
    if opens:
        open_round(round_=made, actor=actor)
    made.refresh_from_db()
    return made


def make_pairs(study: Study, actor: User, **fields) -> PreferenceRound:
    """Answers of three systems to four questions, and a round over them."""
    make_scored_answers(study, systems=("Alpha", "Beta", "Gamma"), questions=4)
    return make_pairs_round(study, actor, **fields)


def make_people_beside(study: Study, *systems: str) -> None:
    """Answers of people, who had no prompt, to the questions that systems answered under one."""
    made = make_scored_answers(study, systems=(*systems, "People"), questions=4)
    people = [each.pk for each in made if each.system.name == "People"]
    bare = {"scenario": 0, "condition": condition(study, scenario=0)}
    Answer.objects.filter(pk__in=people).update(**bare)


def address(name: str, study: Study, *ids) -> str:
    """The address of a page of the study."""
    return reverse(name, args=[study.public_id, *ids])


def begin(client, study: Study, round_: PreferenceRound) -> PreferenceSheet | None:
    """Open the round as a person does; the sheet one is led to, or None where there is none."""
    reply = client.get(address("prefer", study, round_.public_id))
    if reply.status_code == 200:
        return None
    public_id = reply["Location"].rstrip("/").rsplit("/", 1)[1]
    return PreferenceSheet.objects.get(public_id=public_id)


def say(client, study: Study, sheet: PreferenceSheet, verdict: str, **changed):
    """Submit a verdict as the script does."""
    fields = {"base_version": str(sheet.version), "client_key": f"k{sheet.pk}"}
    url = address("prefer_submit", study, sheet.public_id)
    return client.post(url, fields | {"verdict": verdict} | changed, **JSON)


def make_comparer(study: Study, user: User) -> Rater:
    """The rater who stands for a member."""
    return rater_for(membership=user.memberships.get(study=study))


def compare_all(
    round_: PreferenceRound,
    rater: Rater,
    verdict_of: Callable[[PreferenceSheet], str],
    comment: str = "",
    at_most: int = 100,
) -> list[PreferenceSheet]:
    """Submit a verdict, first, second, tie or both_bad, on whatever comes; without a browser."""
    done: list[PreferenceSheet] = []
    while len(done) < at_most:
        sheet = next_sheet(round_=round_, rater=rater).sheet
        if sheet is None:
            break
        content = PreferenceContent(verdict_of(sheet), comment)
        done.append(
            submit_sheet(sheet=sheet, sent=DraftSubmission(content, 0), key=f"k{sheet.pk}")
        )
    return done
