"""People compare answers: what is served and shown, sides, verdicts, what repeats and stays."""

import json
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from benchmark.preferences.actions import Plan, plan_round
from benchmark.preferences.kind import PREFERRING, PreferenceContent, turned
from benchmark.preferences.models import KeptPreference, Pair, PreferenceEvent, PreferenceSheet
from cqa_site.people.models import hash_secret
from cqa_site.rounds.crowd.participants import PlatformIds, take_part
from cqa_site.rounds.integrity import find_violations
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.models import ParticipantLink
from cqa_site.rounds.opening import close_round
from tests.benchmark.made_scores import make_scored_answers
from tests.benchmark.preferences.made_preferences import (
    JSON,
    address,
    begin,
    make_pairs,
    make_pairs_round,
    make_people_beside,
    say,
)
from tests.cast import make_campaign, make_member, make_study, sign_in
from tests.flat import flat

pytestmark = pytest.mark.django_db
KEYS = {"user", "sheet", "version", "client", "saved_at"}


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def researcher(study):
    return make_member(study, "researcher")


@pytest.fixture
def annotator(study):
    return sign_in(make_member(study, "annotator"))


def work(client, study, round_, verdict="left") -> list[PreferenceSheet]:
    """Compare everything that there is."""
    done = []
    while (sheet := begin(client, study, round_)) is not None:
        assert say(client, study, sheet, verdict).status_code == 200
        done.append(sheet)
    return done


def test_two_people_compare_every_pair_with_sides_by_chance_and_even(study, researcher):
    round_ = make_pairs(study, researcher, size=8, raters=2)
    for _person in range(2):
        client = sign_in(make_member(study, "annotator"))
        done = work(client, study, round_)
        assert len(done) == 8
        assert sum(sheet.is_swapped for sheet in done) == 4
        page = client.get(address("prefer", study, round_.public_id)).content.decode()
        assert "That was everything" in page
    sides = PreferenceSheet.objects.values_list("pair", "is_swapped")
    assert len(set(sides)) > 8
    assert not list(find_violations())


def test_the_form_knows_question_and_texts_and_nothing_else(study, researcher, annotator):
    round_ = make_pairs(study, researcher, name="Autumn")
    sheet = begin(annotator, study, round_)
    page = annotator.get(address("prefer_form", study, sheet.public_id)).content.decode()
    texts = [sheet.pair.first.text, sheet.pair.second.text]
    left, right = reversed(texts) if sheet.is_swapped else texts
    assert 0 < page.index(left) < page.index(right)
    rest = page.replace(left, "").replace(right, "")
    for hidden in (
        sheet.pair.first.system.name,
        sheet.pair.second.system.name,
        sheet.pair.first.get_scenario_display(),
        str(sheet.pair.first.public_id),
        str(sheet.pair.second.public_id),
        sheet.pair.first.source,
        "swapped",
        "links systems",
        "uncertain",
    ):
        assert hidden not in rest, hidden
    told = re.search(r'<script id="prefer-page" type="application/json">(.*?)</script>', page)
    assert set(json.loads(told[1])) == KEYS


def test_a_known_verdict_is_met_or_not():
    sheet = PreferenceSheet(verdict="first")
    assert PREFERRING.mark(sheet, {"verdict": "first"}) == (1, 1)
    assert PREFERRING.mark(sheet, {"verdict": "tie"}) == (0, 1)


@pytest.mark.parametrize("verdict", ["left", "right", "tie", "both_bad"])
def test_sides_become_answers_on_the_server(study, researcher, annotator, verdict):
    round_ = make_pairs(study, researcher)
    for is_swapped in (False, True):
        sheet = begin(annotator, study, round_)
        PreferenceSheet.objects.filter(pk=sheet.pk).update(is_swapped=is_swapped)
        assert say(annotator, study, sheet, verdict, comment=" Clearer. ").status_code == 200
        sheet.refresh_from_db()
        wanted = {"left": "first", "right": "second"}.get(verdict, verdict)
        if is_swapped:
            wanted = {"first": "second", "second": "first"}.get(wanted, wanted)
        assert (sheet.verdict, sheet.comment) == (wanted, "Clearer.")
        assert turned(sheet.verdict, is_swapped=is_swapped) == verdict
        page = flat(annotator.get(address("prefer_form", study, sheet.public_id)).content.decode())
        assert re.search(rf'value="{verdict}" aria-pressed="true"', page)


def test_the_same_request_twice_is_one_verdict_and_a_change_is_another(
    study, researcher, annotator
):
    round_ = make_pairs(study, researcher)
    sheet = begin(annotator, study, round_)
    first, again = (say(annotator, study, sheet, "tie") for _time in range(2))
    assert first.json()["page"] == again.json()["page"]
    assert PreferenceEvent.objects.count() == 1
    sheet.refresh_from_db()
    assert say(annotator, study, sheet, "both_bad", client_key="other").status_code == 200
    assert PreferenceEvent.objects.count() == 2
    own = annotator.get(address("prefer_own", study, round_.public_id)).content.decode()
    assert "Both bad" in own
    assert "Equally good" not in own


def test_without_script_the_buttons_of_a_plain_form_do_the_same(study, researcher, annotator):
    round_ = make_pairs(study, researcher)
    sheet = begin(annotator, study, round_)
    url = address("prefer_submit", study, sheet.public_id)
    reply = annotator.post(url, {"base_version": 0, "verdict": "left", "comment": ""})
    assert reply.status_code == 303
    assert reply["Location"] != address("prefer_form", study, sheet.public_id)
    following = begin(annotator, study, round_)
    page = annotator.get(address("prefer_form", study, following.public_id)).content.decode()
    assert address("prefer_form", study, sheet.public_id) in page


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "Say which answer is better"),
        ({"verdict": "first"}, "left, right, tie or both_bad"),
        ({"verdict": "left", "comment": "x" * 2_001}, "longer than 2000"),
    ],
)
def test_what_is_no_verdict_is_refused_with_the_reason(study, researcher, annotator, fields, said):
    sheet = begin(annotator, study, make_pairs(study, researcher))
    url = address("prefer_submit", study, sheet.public_id)
    reply = annotator.post(url, {"base_version": 0} | fields, **JSON)
    assert reply.status_code == 422
    assert said in reply.json()["detail"]
    assert annotator.post(url, {"base_version": 0} | fields).status_code == 422
    sheet.refresh_from_db()
    assert (sheet.state, sheet.verdict) == ("open", "")


def test_a_draft_of_another_tab_is_kept_beside_the_stored_one(study, researcher, annotator):
    sheet = begin(annotator, study, make_pairs(study, researcher))
    save = address("prefer_save", study, sheet.public_id)
    fields = {"base_version": 0, "client": "one", "sequence": 1, "verdict": "left"}
    assert annotator.post(save, fields, **JSON).status_code == 200
    late = fields | {"client": "two", "verdict": "right", "comment": "Shorter."}
    reply = annotator.post(save, late, **JSON)
    assert reply.status_code == 409
    assert "B is better" in reply.json()["conflict"]
    kept = KeptPreference.objects.get()
    settle = address("prefer_settle", study, sheet.public_id, kept.public_id)
    assert annotator.post(settle, {"choice": "mine"}).status_code == 303
    sheet.refresh_from_db()
    is_swapped = sheet.is_swapped
    assert PreferenceContent(**sheet.draft) == PreferenceContent(
        turned("right", is_swapped=is_swapped), "Shorter."
    )


def test_a_pair_comes_again_with_the_sides_exchanged(study, researcher, annotator):
    round_ = make_pairs(study, researcher, size=8, repeat_share=0.25)
    done = work(annotator, study, round_)
    again = [sheet for sheet in done if sheet.replicate]
    assert len(again) == 2
    for sheet in again:
        first = PreferenceSheet.objects.get(pair=sheet.pair, replicate=0)
        assert first.is_swapped != sheet.is_swapped


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
    plan = Plan(name="R", seed=1, size=3)
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
    assert f"{one.first.condition} / {one.second.condition}" in flat(page.content.decode())


def test_strangers_and_crowd_participants_find_nothing(study, researcher, annotator):
    round_ = make_pairs(study, researcher)
    sheet = begin(annotator, study, round_)
    other = make_study("Study B")
    stranger = sign_in(make_member(other, "annotator"))
    for name, row in (("prefer", round_), ("prefer_own", round_), ("prefer_form", sheet)):
        assert stranger.get(address(name, study, row.public_id)).status_code == 404
        assert stranger.get(address(name, other, row.public_id)).status_code == 404
    link = ParticipantLink.objects.create(
        study=study,
        round=make_campaign(study),
        created_by=researcher,
        secret_hash=hash_secret("link"),
        expires_at=timezone.now() + timedelta(days=1),
    )
    person = take_part(link=link, ids=PlatformIds("PID"), browser="browser").user
    participant = sign_in(person)
    for name, row in (("prefer", round_), ("prefer_own", round_), ("prefer_form", sheet)):
        assert participant.get(address(name, study, row.public_id)).status_code == 404
    colleague = sign_in(make_member(study, "annotator"))
    assert colleague.get(address("prefer_form", study, sheet.public_id)).status_code == 404


def test_a_closed_round_takes_nothing_and_keeps_what_came(study, researcher, annotator):
    round_ = make_pairs(study, researcher)
    sheet = begin(annotator, study, round_)
    close_round(round_=round_, actor=researcher)
    assert say(annotator, study, sheet, "left").status_code == 409
    assert KeptPreference.objects.count() == 1
    page = annotator.get(address("prefer_form", study, sheet.public_id)).content.decode()
    assert "This round is closed" in page
