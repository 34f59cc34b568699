"""Control pairs: from points or given, hidden among the others, and in no ranking."""

import re

import pytest

from benchmark.preferences.actions import PreferencePlan, plan_round
from benchmark.preferences.kind import PREFERRING
from benchmark.preferences.models import PreferenceItem, PreferenceSheet
from benchmark.preferences.reports import choices_of, known_verdict, results_of, with_known
from benchmark.rubrics.models import default_rubric
from benchmark.scoring.models import ScoreSheet
from cqa_site.rounds import lifecycle
from cqa_site.rounds.access import decide_rater
from cqa_site.rounds.controls import set_control, set_example
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.models import Place
from cqa_site.rounds.progress import progress_of
from tests.benchmark.made_scores import make_rater, make_scored_answers
from tests.benchmark.preferences.made_judges import make_preferring_run, says_later
from tests.benchmark.preferences.made_preferences import (
    address,
    begin,
    compare_all,
    make_comparer,
    make_pairs_round,
    say,
)
from tests.cast import make_member, make_study, sign_in
from tests.people.test_plans import KINDS, begun
from tests.runs.made_runs import make_endpoint
from tests.worlds import built_once

POINTS = {"Alpha": 16, "Beta": 11, "Gamma": 5}


class Lab:
    """Three systems' answers to six questions; a person gave them 16, 11 and 5 points."""

    def __init__(self):
        self.study = make_study("Controls")
        self.researcher = make_member(self.study, "researcher")
        self.answers = make_scored_answers(self.study, systems=tuple(POINTS), questions=6)
        rubric = default_rubric(self.study)
        rater = make_rater(self.study, "Scorer")
        ScoreSheet.objects.bulk_create(
            ScoreSheet(
                study=self.study,
                answer=answer,
                rubric=rubric,
                rater=rater,
                source="points.csv",
                position=place,
                state="submitted",
                total=POINTS[answer.system.name],
                maximum=rubric.rubric.maximum,
            )
            for place, answer in enumerate(self.answers)
        )

    def round(self, **fields):
        return make_pairs_round(self.study, self.researcher, **{"size": 8} | fields)

    def two(self, better, worse, question=0):
        by_name = {each.system.name: each for each in self.answers[question * 3 :][:3]}
        return by_name[better].public_id, by_name[worse].public_id


lab = built_once(Lab)


def controls(round_):
    return round_.items.filter(known__isnull=False).select_related(
        "pair__first__system", "pair__second__system"
    )


def better_of(item):
    return getattr(item.pair, item.known["verdict"]).system.name


def worse_of(item):
    other = {"first": "second", "second": "first"}[item.known["verdict"]]
    return getattr(item.pair, other).system.name


def test_a_share_of_the_pairs_is_drawn_by_points_and_stands_anywhere(lab):
    made = lab.round(control_share=0.25, control_gap=10)
    found = [(better_of(item), worse_of(item)) for item in controls(made)]
    assert found == [("Alpha", "Gamma")] * 2
    assert made.items.count() == 8
    half = lab.round(name="Half", size=9, control_share=0.5, control_gap=5, leave_out_used=False)
    places = set(controls(half).values_list("position", flat=True))
    assert len(places) not in (0, 9)
    assert places not in (set(range(1, 1 + len(places))), set(range(10 - len(places), 10)))
    assert not controls(lab.round(name="None", leave_out_used=False)).exists()
    with pytest.raises(RoundNotReady, match="only 0 differ by 12 points"):
        lab.round(name="Far", control_share=0.25, control_gap=12, leave_out_used=False)


def test_given_pairs_are_controls_whatever_their_points_and_part_of_the_share(lab):
    made = lab.round(controls=(lab.two("Gamma", "Alpha"),), control_share=0.25, control_gap=10)
    assert sorted(better_of(item) for item in controls(made)) == ["Alpha", "Gamma"]
    assert made.items.count() == 8
    (given,) = (item for item in controls(made) if better_of(item) == "Gamma")
    assert (worse_of(given), made.items.filter(pair=given.pair).count()) == ("Alpha", 1)


def test_an_example_is_no_control_of_a_new_draw(lab):
    given = lab.two("Gamma", "Alpha")
    plan = PreferencePlan(name="Pairs", seed=1, size=4, controls=(given,))
    about = {"study": lab.study, "plan": plan, "actor": lab.researcher}
    made = plan_round(**about)
    (item,) = controls(made)
    set_example(round_=made, thing=item.pair, known=item.known, actor=lab.researcher)
    with pytest.raises(RoundNotReady, match="example"):
        plan_round(**about, round_=made)


@pytest.mark.long
def test_answers_that_never_meet_are_no_control(lab):
    alpha, _ = lab.two("Alpha", "Beta", question=0)
    _, beta = lab.two("Alpha", "Beta", question=1)
    foreign = make_scored_answers(make_study("Foreign"))
    for pair in ((alpha, beta), (foreign[0].public_id, foreign[1].public_id)):
        with pytest.raises(RoundNotReady, match="cannot be compared"):
            lab.round(controls=(pair,))


TURNED = {"first": "second", "second": "first"}


def meet(lab, round_, *, is_met):
    """Judge everything; of controls the known side, or the other one; else a tie."""

    def verdict(sheet):
        known = sheet.known and sheet.known["verdict"]
        return (known if is_met else TURNED.get(known)) or "tie"

    compare_all(round_, make_comparer(lab.study, make_member(lab.study, "annotator")), verdict)


@pytest.mark.long
@pytest.mark.parametrize(("is_met", "met"), [(True, 2), (False, 0)])
def test_how_many_controls_a_person_met_and_none_of_who_is_left_out(lab, is_met, met):
    made = lab.round(control_share=0.25, control_gap=10)
    meet(lab, made, is_met=is_met)
    (row,) = progress_of(made)
    [answers] = PREFERRING.control_answers(made).values()
    assert (row.sheets, len(answers), sum(answer.is_right for answer in answers)) == (8, 2, met)
    page = sign_in(lab.researcher).get(address("preference_round", lab.study, made.public_id))
    text = page.text
    assert f"{met} of 2" in text
    assert text.count(">System known to be better</th>") == 1
    assert list(lifecycle.find_violations()) == []
    decide_rater(place=Place.objects.get(round=made), actor=lab.researcher, decision="exclude")
    (row,) = progress_of(made)
    assert row.sheets == 0


def test_controls_rank_no_system(lab):
    made = lab.round(control_share=0.25, control_gap=10)
    meet(lab, made, is_met=True)
    (people,) = choices_of(lab.study)
    results = results_of(lab.study, people)
    assert (people.sheets, results.n_verdicts) == (6, 6)
    assert set(results.merged.frame["outcome"]) == {"tie"}


def test_a_judge_meets_controls_too(lab):
    """Its verdicts follow what rounds have as control items now, not when it gave them."""
    made = lab.round(control_share=0.25, control_gap=10)
    run = make_preferring_run(
        lab.study, make_endpoint(lab.study, lab.researcher), lab.researcher, says_later
    )
    client = sign_in(lab.researcher)

    def ranked():
        choices = choices_of(lab.study)
        known = [known_verdict(sheet) for sheet in with_known(run.preference_sheets.all())]
        assert known.count("") == choices[0].sheets
        return choices[0].sheets, results_of(lab.study, choices[0]).n_verdicts

    assert ranked() == (12, 12)
    # "Alpha" comes first in the alphabet and is the better one of every control.
    assert "0 of 2" in client.get(address("run", lab.study, run.public_id)).text
    pair, later = controls(made).first().pair, made.items.filter(known__isnull=True).first()
    set_control(round_=made, item=later, known={"verdict": "tie"}, actor=lab.researcher)
    assert ranked() == (10, 10)
    # Another round has people rank a pair that is a control item here.
    other = lab.round(name="Other", leave_out_used=False)
    other.items.filter(position=1).update(pair=pair)
    assert ranked()[0] > 10


def test_the_page_of_a_control_is_that_of_any_pair(lab):
    made = lab.round(control_share=0.5, control_gap=10)
    client = sign_in(make_member(lab.study, "annotator"))
    say(client, lab.study, begin(client, lab.study, made), "tie")
    kinds = {}
    while len(kinds) < 2 and (sheet := begin(client, lab.study, made)) is not None:
        page = client.get(address("prefer_form", lab.study, sheet.public_id)).text
        assert "control" not in page.lower().replace("aria-controls", "")
        kinds[bool(sheet.known)] = set(re.findall(r"<[\w-]+|[\w-]+(?==\")|\"[\w]+\"(?=: )", page))
        say(client, lab.study, sheet, "tie")
    assert kinds[True] == kinds[False]


def test_a_sheet_that_lost_what_its_item_knows_is_found(lab):
    made = lab.round(control_share=0.25, control_gap=10)
    meet(lab, made, is_met=True)
    PreferenceSheet.objects.filter(known__isnull=False).update(known=None)
    lost = [text for text in lifecycle.find_violations() if "different known answer" in text]
    assert len(lost) == 2


@pytest.mark.long
def test_the_form_of_a_round(lab):
    client = sign_in(lab.researcher)
    url = address("preference_round_new", lab.study)
    one, other = lab.two("Alpha", "Beta")
    form = begun(client, KINDS["prefer"], lab.study) | {"name": "By hand", "size": "8"}
    for wrong in (f"{one}", f"{one} {one}", f"{one} nobody", f"{one} {other}\n{other} {one}"):
        assert client.post(url, form | {"controls": wrong}).status_code == 422
    assert client.post(url, form | {"controls": f"{one} {other}\n"}).status_code == 302
    item = PreferenceItem.objects.filter(known__isnull=False).get()
    edit = address("preference_round_edit", lab.study, item.round.public_id)
    assert f"{one} {other}" in client.get(edit).text
