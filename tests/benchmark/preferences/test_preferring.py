"""What is special about comparing: sides, verdicts, pairs that link, known answers.

What comparing shares with all kinds of work is tested in tests/rounds.
"""

import re

import pytest

from benchmark.preferences.actions import PreferencePlan, plan_round
from benchmark.preferences.kind import turned
from benchmark.preferences.models import Pair, PreferenceSheet
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.lifecycle import find_violations
from tests.benchmark.made_scores import make_scored_answers
from tests.benchmark.preferences.made_preferences import (
    JSON,
    address,
    begin,
    compare_all,
    make_comparer,
    make_pairs,
    make_pairs_round,
    make_people_beside,
    say,
)
from tests.cast import make_member, make_study, sign_in
from tests.flat import flat
from tests.worlds import built_once


class Lab:
    """Eight pairs, each for two people, and two people."""

    def __init__(self):
        self.study = make_study()
        self.researcher = make_member(self.study, "researcher")
        self.annotators = [make_member(self.study, "annotator") for _ in range(2)]
        self.round = make_pairs(self.study, self.researcher, size=8, raters=2)


lab = built_once(Lab)


@pytest.fixture
def annotator(lab):
    return sign_in(lab.annotators[0])


def test_sides_are_even_for_everybody_and_exchanged_where_a_pair_comes_again(lab):
    for user in lab.annotators:
        done = compare_all(lab.round, make_comparer(lab.study, user), lambda sheet: "first")
        assert len(done) == 8
        assert sum(sheet.is_swapped for sheet in done) == 4
    sides = PreferenceSheet.objects.values_list("pair", "is_swapped")
    assert len(set(sides)) > 8
    assert not list(find_violations())
    again = {"repeat_share": 0.25, "name": "Again", "leave_out_used": False}
    round_ = make_pairs_round(lab.study, lab.researcher, size=8, **again)
    rater = make_comparer(lab.study, lab.annotators[0])
    done = compare_all(round_, rater, lambda sheet: "tie")
    repeats = [sheet for sheet in done if sheet.replicate]
    assert len(repeats) == 2
    for sheet in repeats:
        first = PreferenceSheet.objects.get(round=round_, pair=sheet.pair, replicate=0)
        assert first.is_swapped != sheet.is_swapped


@pytest.mark.parametrize("verdict", ["left", "right", "tie", "both_bad"])
def test_both_texts_stand_on_their_sides_which_become_answers_on_the_server(
    lab, annotator, verdict
):
    for is_swapped in (False, True):
        sheet = begin(annotator, lab.study, lab.round)
        PreferenceSheet.objects.filter(pk=sheet.pk).update(is_swapped=is_swapped)
        page = annotator.get(address("prefer_form", lab.study, sheet.public_id)).text
        texts = [sheet.pair.first.text, sheet.pair.second.text]
        left, right = reversed(texts) if is_swapped else texts
        assert 0 < page.index(left) < page.index(right)
        said = say(annotator, lab.study, sheet, verdict, comment=" Clearer. ")
        assert said.status_code == 200
        sheet.refresh_from_db()
        wanted = {"left": "first", "right": "second"}.get(verdict, verdict)
        if is_swapped:
            wanted = {"first": "second", "second": "first"}.get(wanted, wanted)
        assert (sheet.verdict, sheet.comment) == (wanted, "Clearer.")
        assert turned(sheet.verdict, is_swapped=is_swapped) == verdict
        page = flat(annotator.get(address("prefer_form", lab.study, sheet.public_id)).text)
        assert re.search(rf'value="{verdict}" aria-pressed="true"', page)


NO_VERDICT = [
    ({}, "Choose the better answer"),
    ({"verdict": "first"}, "“left”, “right”, “tie” or “both_bad”"),
    ({"verdict": "left", "comment": "x" * 2_001}, "longer than 2000"),
]


def test_what_is_no_verdict_is_refused_with_the_reason(lab, annotator):
    sheet = begin(annotator, lab.study, lab.round)
    url = address("prefer_submit", lab.study, sheet.public_id)
    for fields, said in NO_VERDICT:
        reply = annotator.post(url, {"base_version": 0} | fields, **JSON)
        assert (reply.status_code, said in reply.json()["detail"]) == (422, True), fields
        assert annotator.post(url, {"base_version": 0} | fields).status_code == 422
    sheet.refresh_from_db()
    assert (sheet.state, sheet.verdict) == ("open", "")


def test_pairs_link_all_systems_and_meet_under_one_condition(study, researcher):
    make_scored_answers(
        study, systems=("Alpha", "Beta", "Gamma", "Delta"), questions=2, scenarios=(1, 3)
    )
    round_ = make_pairs_round(study, researcher, size=6)
    pairs = Pair.objects.filter(items__round=round_)
    linked, left = {"Alpha"}, list(pairs.select_related("first__system", "second__system"))
    for _step in left:
        for pair in left:
            names = {pair.first.system.name, pair.second.system.name}
            assert pair.first.question_id == pair.second.question_id == pair.question_id
            assert pair.first.condition_id == pair.second.condition_id
            linked |= names if names & linked else set()
    assert linked == {"Alpha", "Beta", "Gamma", "Delta"}
    assert [item.pair_id for item in round_.items.all()] == [
        item.pair_id
        for item in make_pairs_round(
            study, researcher, size=6, name="Twin", leave_out_used=False
        ).items.all()
    ]
    used = set(pairs.values_list("pk", flat=True))
    fresh = make_pairs_round(study, researcher, size=6, name="Others")
    assert not used & set(fresh.items.values_list("pair", flat=True))


def test_a_plan_that_links_nothing_says_why(study, researcher):
    make_scored_answers(study, systems=("Alpha",), questions=2)
    plan = PreferencePlan(name="R", seed=1, size=3)
    with pytest.raises(RoundNotReady, match="at least two systems"):
        plan_round(study=study, plan=plan, actor=researcher)
    make_scored_answers(study, systems=("Beta",), questions=2)
    with pytest.raises(RoundNotReady, match="no question was answered"):
        plan_round(study=study, plan=plan, actor=researcher)


def test_answers_without_a_scenario_meet_others_where_a_plan_mixes(study, researcher):
    make_people_beside(study, "Alpha")
    with pytest.raises(RoundNotReady, match="no question was answered"):
        make_pairs_round(study, researcher, size=4)
    round_ = make_pairs_round(study, researcher, size=4, is_mixed=True)
    pairs = Pair.objects.filter(items__round=round_)
    assert pairs.count() == 4
    assert set(pairs.values_list("first__scenario", "second__scenario")) == {(1, 0)}
    page = sign_in(researcher).get(address("preference_round", study, round_.public_id))
    one = pairs.first()
    assert f"{one.first.condition} / {one.second.condition}" in flat(page.text)
