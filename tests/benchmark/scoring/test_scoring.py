"""Scoring by people: what is served, drafts that stay, totals by the server, blindness."""

import re
from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone

from annotation.corpus.models.questions import Argument
from benchmark.scoring.actions import rounds as scoring_rounds
from benchmark.scoring.actions.kind import ScoreContent
from benchmark.scoring.models.rounds import ScoringRound, ScoringSlot
from benchmark.scoring.models.sheets import KeptScore, ScoreSheet
from benchmark.scoring.reports.sheet_rows import counted_sheets
from cqa_site.rounds.models import Place
from cqa_site.rounds.opening import close_round, reopen_round
from cqa_site.rounds.saving import RoundNotOpen, Sent, save_draft
from tests.benchmark.made_rounds import full_form, make_round
from tests.benchmark.made_scores import give_list, make_scored_answers
from tests.cast import make_member, make_study, sign_in
from tests.flat import flat

pytestmark = pytest.mark.django_db
JSON = {"HTTP_ACCEPT": "application/json"}


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def researcher(study):
    return make_member(study, "researcher")


def address(name, study, *ids):
    return reverse(name, args=[study.public_id, *ids])


def begin(client, study, scoring_round) -> ScoreSheet:
    """Open the round as a person does, and return the sheet one is led to."""
    reply = client.get(address("score", study, scoring_round.public_id))
    assert reply.status_code == 302, reply.content.decode()[:2000]
    public_id = reply["Location"].rstrip("/").rsplit("/", 1)[1]
    return ScoreSheet.objects.get(public_id=public_id)


def submit(client, study, sheet, **changed):
    fields = full_form(base_version=str(sheet.version)) | {"client_key": f"k{sheet.pk}"} | changed
    return client.post(address("score_submit", study, sheet.public_id), fields, **JSON)


def test_two_people_score_every_answer_of_the_overlap(study, researcher):
    answers = make_scored_answers(study, questions=2, systems=("Alpha",))
    scoring_round = make_round(study, researcher, overlap_share=1.0)
    people = [sign_in(make_member(study, "annotator")) for _ in range(2)]
    for client in people:
        for _turn in answers:
            assert submit(client, study, begin(client, study, scoring_round)).status_code == 200
        page = client.get(address("score", study, scoring_round.public_id))
        assert "That was everything" in page.content.decode()
    sheets = ScoreSheet.objects.filter(state="submitted")
    assert sheets.count() == 4
    assert {sheet.total for sheet in sheets} == {15.0}
    assert not ScoringSlot.objects.exclude(state="done").exists()
    assert counted_sheets(scoring_round.rubric).count() == 4


def test_without_overlap_an_answer_goes_to_one_person(study, researcher):
    make_scored_answers(study, questions=1, systems=("Alpha",))
    scoring_round = make_round(study, researcher)
    first, second = (sign_in(make_member(study, "annotator")) for _ in range(2))
    sheet = begin(first, study, scoring_round)
    page = second.get(address("score", study, scoring_round.public_id)).content.decode()
    assert "Nothing free at the moment" in page
    submit(first, study, sheet)
    page = second.get(address("score", study, scoring_round.public_id)).content.decode()
    assert "That was everything" in page


def served(study, scoring_round, person) -> list[int]:
    """All answers, in the order in which they come to somebody who submits each."""
    client, order = sign_in(person), []
    for _turn in range(study.answers.count()):
        sheet = begin(client, study, scoring_round)
        assert submit(client, study, sheet).status_code == 200
        order.append(sheet.answer_id)
    return order


def test_answers_come_in_a_random_order_of_each_persons_own(study, researcher):
    make_scored_answers(study, systems=("Alpha", "Beta"), questions=6)
    scoring_round = make_round(study, researcher, overlap_share=1.0, overlap_raters=2)
    one, other = (
        served(study, scoring_round, make_member(study, "annotator")) for _person in range(2)
    )
    assert sorted(one) == sorted(other) == sorted(study.answers.values_list("pk", flat=True))
    assert len({tuple(one), tuple(other), tuple(sorted(one))}) == 3


def test_coming_back_leads_to_the_same_sheet(study, researcher):
    make_scored_answers(study)
    scoring_round = make_round(study, researcher)
    client = sign_in(make_member(study, "expert"))
    assert begin(client, study, scoring_round) == begin(client, study, scoring_round)
    assert ScoreSheet.objects.count() == 1


def test_a_lapsed_reservation_goes_on_and_the_late_sheet_is_kept_as_an_extra(study, researcher):
    make_scored_answers(study, questions=1, systems=("Alpha",))
    scoring_round = make_round(study, researcher)
    slow, quick = (sign_in(make_member(study, "annotator")) for _ in range(2))
    late = begin(slow, study, scoring_round)
    ScoringSlot.objects.update(lease_until=timezone.now() - timedelta(minutes=1))
    submit(quick, study, begin(quick, study, scoring_round))
    assert submit(slow, study, late).status_code == 200
    late.refresh_from_db()
    assert (late.state, late.is_extra, late.total) == ("submitted", True, 15.0)
    assert counted_sheets(scoring_round.rubric).count() == 1


def test_a_lapsed_reservation_nobody_took_still_counts(study, researcher):
    make_scored_answers(study, questions=1, systems=("Alpha",))
    scoring_round = make_round(study, researcher)
    client = sign_in(make_member(study, "annotator"))
    sheet = begin(client, study, scoring_round)
    ScoringSlot.objects.update(lease_until=timezone.now() - timedelta(minutes=1))
    submit(client, study, sheet)
    sheet.refresh_from_db()
    assert not sheet.is_extra
    assert ScoringSlot.objects.get().state == "done"


def test_the_page_says_nothing_about_system_scenario_and_file(study, researcher):
    make_scored_answers(study, systems=("Secretive",), questions=1, scenarios=(3,))
    scoring_round = make_round(study, researcher)
    client = sign_in(make_member(study, "annotator"))
    sheet = begin(client, study, scoring_round)
    text = sheet.answer.text
    page = client.get(address("score_form", study, sheet.public_id)).content.decode()
    assert "kayak 0" in page
    # The invented text names its system itself; everything else on the page must not.
    page = page.replace(text, "")
    for secret in ("Secretive", "Secretive.json", "scenario", str(sheet.answer.public_id)):
        assert secret not in page, secret


def test_drafts_are_saved_and_come_back(study, researcher):
    make_scored_answers(study)
    scoring_round = make_round(study, researcher)
    client = sign_in(make_member(study, "annotator"))
    sheet = begin(client, study, scoring_round)
    text = urlencode({"points-C1": "1", "points-C9": "2", "points-C2": "x", "unable-C2": "broken"})
    text += "&" + urlencode({"note-C9": "Three of five & more"})
    sent = {"text": text, "base_version": 0, "client": "page-1", "sequence": 1}
    reply = client.post(address("score_save", study, sheet.public_id), sent, **JSON)
    assert reply.json()["version"] == 1
    sheet.refresh_from_db()
    assert sheet.draft == {
        "points": {"C1": 1, "C9": 2},
        "unable": {"C2": "broken"},
        "notes": {"C9": "Three of five & more"},
        "comment": "",
    }
    assert (sheet.state, sheet.points, sheet.total) == ("open", {}, None)
    page = flat(client.get(address("score_form", study, sheet.public_id)).content.decode())
    assert 'name="points-C9" value="2" checked' in page
    assert "Three of five &amp; more" in page


def test_two_tabs_keep_both_versions(study, researcher):
    make_scored_answers(study)
    scoring_round = make_round(study, researcher)
    client = sign_in(make_member(study, "annotator"))
    sheet = begin(client, study, scoring_round)
    save = address("score_save", study, sheet.public_id)
    one = {"text": "points-C1=1", "base_version": 0, "client": "one", "sequence": 1}
    two = {"text": "points-C1=0", "base_version": 0, "client": "two", "sequence": 1}
    assert client.post(save, one, **JSON).status_code == 200
    reply = client.post(save, two, **JSON)
    assert (reply.status_code, reply.json()["error"]) == (409, "conflict")
    assert client.post(save, two, **JSON).status_code == 409
    kept = KeptScore.objects.get()
    page = client.get(address("score_form", study, sheet.public_id)).content.decode()
    assert "Two versions of this sheet" in page
    settle = address("score_settle", study, sheet.public_id, kept.public_id)
    assert client.post(settle, {"choice": "mine"}).status_code == 303
    sheet.refresh_from_db()
    assert sheet.draft["points"] == {"C1": 0}
    # The version that lost is kept in turn.
    assert KeptScore.objects.get().content["points"] == {"C1": 1}
    settle = address("score_settle", study, sheet.public_id, KeptScore.objects.get().public_id)
    for unclear in ({}, {"choice": "other"}):
        assert client.post(settle, unclear).status_code == 303
        assert KeptScore.objects.count() == 1
    client.post(settle, {"choice": "stored"})
    assert not KeptScore.objects.exists()


def test_a_page_follows_its_own_save_whose_answer_it_never_got(study, researcher):
    make_scored_answers(study)
    scoring_round = make_round(study, researcher)
    client = sign_in(make_member(study, "annotator"))
    sheet = begin(client, study, scoring_round)
    save = address("score_save", study, sheet.public_id)
    for sequence, points in enumerate("101", 1):
        sent = {"text": f"points-C1={points}", "base_version": 0, "client": "p"}
        reply = client.post(save, sent | {"sequence": sequence}, **JSON)
        assert reply.json()["version"] == sequence
    late = {"text": "points-C1=0", "base_version": 0, "client": "p", "sequence": 2}
    assert client.post(save, late, **JSON).json()["version"] == 3
    sheet.refresh_from_db()
    assert sheet.draft["points"] == {"C1": 1}
    assert not KeptScore.objects.exists()


def test_a_sheet_needs_points_or_a_reason_for_every_criterion(study, researcher):
    make_scored_answers(study)
    scoring_round = make_round(study, researcher)
    client = sign_in(make_member(study, "annotator"))
    sheet = begin(client, study, scoring_round)
    reply = submit(client, study, sheet, **{"points-C7": ""})
    assert (reply.status_code, reply.json()["missing"]) == (422, ["C7"])
    sheet.refresh_from_db()
    # What was entered is the draft now.
    assert (sheet.state, len(sheet.draft["points"])) == ("open", 14)
    other = {"points-C7": "x", "unable-C7": "other"}
    # Sheets as the page has them now: the draft was stored with the refusal.
    assert submit(client, study, sheet, **other).json()["missing"] == ["C7"]
    sheet.refresh_from_db()
    assert submit(client, study, sheet, **other, **{"note-C7": "Cut off"}).status_code == 200
    sheet.refresh_from_db()
    assert (sheet.unable, sheet.total, sheet.state) == ({"C7": "other"}, None, "submitted")


@pytest.mark.parametrize("points", ["2", "-1", "1.5", "one", "999999999999", "1e0"])
def test_points_off_the_scale_are_refused_with_their_criterion(study, researcher, points):
    make_scored_answers(study)
    scoring_round = make_round(study, researcher)
    client = sign_in(make_member(study, "annotator"))
    sheet = begin(client, study, scoring_round)
    reply = submit(client, study, sheet, **{"points-C1": points})
    assert reply.status_code == 422
    assert "C1" in reply.json()["detail"]
    assert not ScoreSheet.objects.filter(state="submitted").exists()


def test_the_same_submission_twice_is_one_event(study, researcher):
    make_scored_answers(study)
    scoring_round = make_round(study, researcher)
    client = sign_in(make_member(study, "annotator"))
    sheet = begin(client, study, scoring_round)
    assert [submit(client, study, sheet).status_code for _ in range(2)] == [200, 200]
    assert sheet.events.count() == 1


def test_a_page_that_came_back_with_its_old_key_loses_nothing(study, researcher):
    make_scored_answers(study)
    scoring_round = make_round(study, researcher)
    client = sign_in(make_member(study, "annotator"))
    sheet = begin(client, study, scoring_round)
    submit(client, study, sheet)
    late = submit(client, study, sheet, **{"points-C1": "0", "note-C1": "Changed my mind."})
    assert (late.status_code, late.json()["error"]) == (409, "conflict")
    assert KeptScore.objects.get().content["notes"] == {"C1": "Changed my mind."}
    sheet.refresh_from_db()
    fresh = {"base_version": str(sheet.version), "points-C1": "0"}
    assert submit(client, study, sheet, **fresh).status_code == 200
    sheet.refresh_from_db()
    assert (sheet.total, sheet.events.count()) == (14.0, 2)


def test_the_longest_notes_in_any_script_fit(study, researcher):
    make_scored_answers(study)
    scoring_round = make_round(study, researcher)
    client = sign_in(make_member(study, "annotator"))
    sheet = begin(client, study, scoring_round)
    notes = {f"note-C{number}": "字" * 2_000 for number in range(1, 16)}
    sent = {"text": urlencode(notes | {"comment": "字" * 2_000}), "base_version": 0}
    reply = client.post(address("score_save", study, sheet.public_id), sent, **JSON)
    assert reply.status_code == 200, reply.content
    sheet.refresh_from_db()
    assert len(sheet.draft["notes"]["C15"]) == 2_000


def test_a_changed_mind_counts_when_submitted_again(study, researcher):
    make_scored_answers(study)
    scoring_round = make_round(study, researcher)
    client = sign_in(make_member(study, "annotator"))
    sheet = begin(client, study, scoring_round)
    submit(client, study, sheet)
    sheet.refresh_from_db()
    changed = full_form(base_version=str(sheet.version), **{"points-C1": "0"})
    client.post(address("score_save", study, sheet.public_id), changed, **JSON)
    sheet.refresh_from_db()
    assert (sheet.total, sheet.draft["points"]["C1"]) == (15.0, 0)
    submit(client, study, sheet, client_key="again", **{"points-C1": "0"})
    sheet.refresh_from_db()
    assert (sheet.total, sheet.draft, sheet.events.count()) == (14.0, None, 2)
    assert [event.content["points"]["C1"] for event in sheet.events.all()] == [1, 0]


def test_a_draft_is_not_submitted_after_the_end(study, researcher):
    make_scored_answers(study, questions=1, systems=("Alpha",))
    scoring_round = make_round(study, researcher)
    client = sign_in(make_member(study, "annotator"))
    sheet = begin(client, study, scoring_round)
    client.post(address("score_save", study, sheet.public_id), full_form(), **JSON)
    close_round(round_=scoring_round, actor=researcher)
    sheet.refresh_from_db()
    reply = submit(client, study, sheet)
    assert (reply.status_code, reply.json()["error"]) == (409, "closed")
    sheet.refresh_from_db()
    assert (sheet.state, sheet.kept.count()) == ("open", 0)


def test_a_plain_form_goes_on_after_a_gap(study, researcher):
    make_scored_answers(study, questions=1, systems=("Alpha",))
    client = sign_in(make_member(study, "annotator"))
    sheet = begin(client, study, make_round(study, researcher))
    here = address("score_submit", study, sheet.public_id)
    gap = full_form() | {"points-C3": ""}
    page = client.post(here, gap)
    assert page.status_code == 422
    base = re.search(r'name="base_version" value="(\d+)"', page.text)[1]
    assert client.post(here, full_form(base_version=base)).status_code == 303
    sheet.refresh_from_db()
    assert (sheet.state, sheet.kept.count()) == ("submitted", 0)


def test_nothing_typed_is_lost_when_the_round_closes(study, researcher):
    make_scored_answers(study)
    scoring_round = make_round(study, researcher)
    client = sign_in(make_member(study, "annotator"))
    sheet = begin(client, study, scoring_round)
    close_round(round_=scoring_round, actor=researcher)
    reply = submit(client, study, sheet)
    assert (reply.status_code, reply.json()["error"]) == (409, "closed")
    assert len(KeptScore.objects.get().content["points"]) == 15
    with pytest.raises(RoundNotOpen):
        save_draft(sheet=sheet, sent=Sent(ScoreContent({"C1": 1}), 0))
    reopen_round(round_=scoring_round, actor=researcher)
    assert submit(client, study, sheet).status_code == 200


def test_without_script_the_plain_form_works(study, researcher):
    make_scored_answers(study)
    scoring_round = make_round(study, researcher)
    client = sign_in(make_member(study, "annotator"))
    sheet = begin(client, study, scoring_round)
    save = address("score_save", study, sheet.public_id)
    assert client.post(save, full_form(**{"points-C3": ""})).status_code == 303
    sheet.refresh_from_db()
    submit_to = address("score_submit", study, sheet.public_id)
    fields = full_form(base_version="1", **{"points-C3": "", "note-C1": "<b>bold</b>"})
    page = client.post(submit_to, fields | {"client_key": "a"})
    assert page.status_code == 422
    assert "Without points: C3" in page.content.decode()
    assert "&lt;b&gt;bold&lt;/b&gt;" in page.content.decode()
    sheet.refresh_from_db()
    fields = full_form(base_version=str(sheet.version), client_key="b")
    reply = client.post(submit_to, fields)
    following = begin(client, study, scoring_round)
    assert reply["Location"] == address("score_form", study, following.public_id)


def test_examples_come_first_show_their_key_and_decide(study, researcher):
    answers = make_scored_answers(study, questions=3, systems=("Alpha",))
    scoring_round = make_round(study, researcher, examples=tuple(answers[:2]), pass_mark=0.7)
    client = sign_in(make_member(study, "annotator"))
    for _turn in range(2):
        sheet = begin(client, study, scoring_round)
        assert sheet.is_example
        reply = submit(client, study, sheet)
        assert reply.json()["page"] == address("score_form", study, sheet.public_id)
        page = client.get(reply.json()["page"]).content.decode()
        assert "Differs" in page
        # The key was seen: this sheet cannot change any more.
        assert (
            submit(client, study, sheet, client_key="z", **{"points-C9": "2"}).status_code == 409
        )
    place = Place.objects.get()
    # C9 to C12 give up to 2 points, and 1 was given.
    assert (round(place.score, 4), place.is_passed) == (round(11 / 15, 4), True)
    assert not begin(client, study, scoring_round).is_example
    assert counted_sheets(scoring_round.rubric).count() == 0


def test_who_does_not_pass_waits_for_a_researcher(study, researcher):
    answers = make_scored_answers(study, questions=2, systems=("Alpha",))
    scoring_round = make_round(study, researcher, examples=tuple(answers[:1]), pass_mark=0.9)
    client = sign_in(make_member(study, "annotator"))
    seen = submit(client, study, begin(client, study, scoring_round)).json()["page"]
    assert "Back to the study" in client.get(seen).content.decode()
    page = client.get(address("score", study, scoring_round.public_id)).content.decode()
    assert "did not agree with the key" in page
    home = reverse("study", args=[study.public_id])
    assert "Waits for a researcher" in client.get(home).content.decode()
    rater = Place.objects.get().rater
    decide = address("scoring_rater", study, scoring_round.public_id, rater.public_id)
    office = sign_in(researcher)
    cannot = f"{rater} cannot go on: {scoring_round.name}"
    assert cannot in office.get(home).content.decode()
    told = office.post(decide, {"decision": "pass", "reason": "talked"}, follow=True)
    text = told.content.decode()
    assert f"{rater} can go on" in text
    assert "Let in by a researcher" in text
    assert cannot not in office.get(home).content.decode()
    assert "Waits for a researcher" not in client.get(home).content.decode()
    sheet = begin(client, study, scoring_round)
    assert not sheet.is_example
    submit(client, study, sheet)
    assert counted_sheets(scoring_round.rubric).count() == 1
    office.post(decide, {"decision": "exclude", "reason": "all the same points"})
    assert counted_sheets(scoring_round.rubric).count() == 0
    office.post(decide, {"decision": "reinstate"})
    assert counted_sheets(scoring_round.rubric).count() == 1


def test_blind_repeats_come_later_and_earlier_sheets_are_out_of_sight(study, researcher):
    make_scored_answers(study, questions=10, systems=("Alpha",))
    scoring_round = make_round(study, researcher, repeat_share=0.2)
    client = sign_in(make_member(study, "annotator"))
    seen = []
    for turn in range(12):
        sheet = begin(client, study, scoring_round)
        seen.append(sheet)
        # What comes a second time is one of those left, and no figure says which it was.
        assert f"{turn} / 12 done" in left_of(client, study, sheet)
        submit(client, study, sheet)
    repeats = [sheet for sheet in seen if sheet.replicate]
    assert len(repeats) == 2
    assert len({sheet.answer_id for sheet in seen}) == 10
    for again in repeats:
        first = next(sheet for sheet in seen if sheet.answer_id == again.answer_id)
        assert again.place - first.place > 5
    hidden = client.get(address("score_form", study, seen[0].public_id))
    assert hidden.status_code == 404
    listed = client.get(address("score_own", study, scoring_round.public_id)).content.decode()
    assert str(seen[-1].public_id) in listed
    assert str(seen[0].public_id) not in listed
    page = client.get(address("score_form", study, seen[-1].public_id)).content.decode()
    assert "replicate" not in page


def left_of(client, study, sheet):
    page = client.get(address("score_form", study, sheet.public_id)).text
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page))


def test_the_page_says_what_is_left_and_how_long_it_takes_at_the_persons_pace(study, researcher):
    make_scored_answers(study, questions=10, systems=("Alpha",))
    scoring_round = make_round(study, researcher)
    client = sign_in(make_member(study, "annotator"))
    # Two answers are with somebody else, and with one of those it stays.
    ScoringSlot.objects.filter(round=scoring_round, item__position=1).update(state="done")
    lease = timezone.now() + timedelta(hours=1)
    held = ScoringSlot.objects.filter(round=scoring_round, item__position=2)
    held.update(state="leased", lease_until=lease)
    for seconds in (60, 600, 120):
        sheet = begin(client, study, scoring_round)
        assert "min left" not in left_of(client, study, sheet)
        submit(client, study, sheet)
        ScoreSheet.objects.filter(pk=sheet.pk).update(active_seconds=seconds)
    sheet = begin(client, study, scoring_round)
    assert "3 / 8 done about 10 min left" in left_of(client, study, sheet)
    held.update(state="open", lease_until=None)
    assert "3 / 9 done about 12 min left" in left_of(client, study, sheet)
    close_round(round_=scoring_round, actor=researcher)
    assert "3 / 3 done" in left_of(client, study, sheet)


def test_sheets_of_others_and_drafts_of_rounds_do_not_exist(study, researcher):
    make_scored_answers(study)
    draft = make_round(study, researcher, opens=False, name="Draft")
    scoring_round = make_round(study, researcher)
    owner, other = (sign_in(make_member(study, "annotator")) for _ in range(2))
    sheet = begin(owner, study, scoring_round)
    assert other.get(address("score_form", study, sheet.public_id)).status_code == 404
    assert submit(other, study, sheet).status_code == 404
    assert other.get(address("score", study, draft.public_id)).status_code == 404
    stranger = make_study("Study B")
    client = sign_in(make_member(stranger, "annotator"))
    assert client.get(address("score_form", stranger, sheet.public_id)).status_code == 404


def test_hints_are_shown_only_where_the_round_says_so(study, researcher):
    make_scored_answers(study)
    client = sign_in(make_member(study, "annotator"))
    with_hints = make_round(study, researcher)
    without = make_round(study, researcher, shows_hints=False, name="Bare")
    pages = [
        client.get(address("score_form", study, begin(client, study, each).public_id))
        for each in (with_hints, without)
    ]
    assert ["Hints, counted by code" in page.content.decode() for page in pages] == [True, False]


def test_the_arguments_an_answer_cites_stand_beside_it_unless_the_round_says_no(study, researcher):
    first, other = make_scored_answers(study, questions=1)
    give_list(first, ["A kayak 0 is quick.", "A canoe 0 is <wide>."])
    give_list(other, ["Nobody should see this here."])
    client = sign_in(make_member(study, "annotator"))
    for fields in ({}, {"shows_arguments": False, "name": "Bare"}):
        scoring_round = make_round(study, researcher, **fields)
        # Whichever comes first, its own list is shown and nothing else.
        sheet = begin(client, study, scoring_round)
        page = client.get(address("score_form", study, sheet.public_id)).text
        mine, theirs = ("is quick", "Nobody should")
        if sheet.answer_id == other.pk:
            mine, theirs = theirs, mine
        assert theirs not in page
        assert (mine in page) == (not fields)
        assert ('<a class="cited" href="#argument-1-1"' in flat(page).replace("\n", " ")) == (
            not fields
        )
        for secret in ("source.example", "badge label-", "No label", "Alpha.json", "Beta.json"):
            assert secret not in page
        for argument in Argument.objects.all():
            assert str(argument.public_id) not in page


def test_serving_and_saving_take_few_queries(study, researcher, django_assert_max_num_queries):
    make_scored_answers(study, questions=40, systems=("Alpha", "Beta"))
    scoring_round = make_round(study, researcher, overlap_share=0.5)
    client = sign_in(make_member(study, "annotator"))
    submit(client, study, begin(client, study, scoring_round))
    with django_assert_max_num_queries(24):
        sheet = begin(client, study, scoring_round)
    with django_assert_max_num_queries(10):
        client.get(address("score_form", study, sheet.public_id))
    save = address("score_save", study, sheet.public_id)
    with django_assert_max_num_queries(12):
        client.post(save, {"text": "points-C1=1", "base_version": 0}, **JSON)


def test_a_round_is_drawn_with_probabilities_and_drawn_again(study, researcher):
    make_scored_answers(study, questions=10, systems=("Alpha", "Beta"))
    drawn = make_round(study, researcher, opens=False, size=8)
    assert drawn.items.count() == 8
    assert set(drawn.items.values_list("probability", flat=True)) == {0.4}
    assert drawn.recipe["found"] == 20
    plan = scoring_rounds.Plan(name="First round", rubric=drawn.rubric, seed=2, size=4)
    scoring_rounds.plan_round(study=study, plan=plan, actor=researcher, round_=drawn)
    assert drawn.items.count() == 4


def test_the_pages_of_rounds(study, researcher, django_assert_max_num_queries):
    answers = make_scored_answers(study, questions=4)
    office = sign_in(researcher)
    form = office.get(address("scoring_round_new", study))
    assert form.status_code == 200
    fields = {
        "name": "By form",
        "rubric": str(form.context["form"].initial["rubric"]),
        "seed": 1,
        "overlap_share": 0.5,
        "overlap_raters": 2,
        "repeat_share": 0,
        "pass_mark": 0.7,
        "lease_minutes": 60,
        "is_balanced": "on",
        "shows_hints": "on",
        "scenarios": ["1"],
    }
    made = office.post(address("scoring_round_new", study), fields)
    assert made.status_code == 302, made.context["form"].errors
    row = ScoringRound.objects.get(study=study)
    key = address("scoring_example", study, row.public_id, answers[0].public_id)
    full = {f"points-{each.key}": each.maximum for each in row.rubric.rubric.criteria}
    assert office.post(key, full | {"note-C1": "Because"}).status_code == 302
    assert row.items.get(answer=answers[0]).key_notes == {"C1": "Because"}
    assert office.post(address("scoring_round_open", study, row.public_id)).status_code == 302
    page = office.get(address("scoring_round", study, row.public_id)).content.decode()
    assert "Open: nobody has begun yet" in page
    assert "People are at work" not in page
    client = sign_in(make_member(study, "annotator"))
    begin(client, study, row)
    with django_assert_max_num_queries(14):
        page = office.get(address("scoring_round", study, row.public_id)).content.decode()
    assert "People are at work" in page
    assert "0 of 11 sheets submitted" in page
    with django_assert_max_num_queries(8):
        assert "By form" in office.get(address("scoring_rounds", study)).content.decode()
    first = client.get(reverse("study", args=[study.public_id])).content.decode()
    assert "By form" in first
    assert "Start scoring" in first


def test_an_excluded_person_leaves_their_places_to_others(study, researcher):
    make_scored_answers(study, questions=3, systems=("Alpha",))
    scoring_round = make_round(study, researcher)
    careless, careful = (sign_in(make_member(study, "annotator")) for _ in range(2))
    office = sign_in(researcher)
    for _turn in range(3):
        submit(careless, study, begin(careless, study, scoring_round))
    rater = Place.objects.get().rater
    decide = address("scoring_rater", study, scoring_round.public_id, rater.public_id)
    office.post(decide, {"decision": "exclude", "reason": "careless"})
    call_command("check_integrity")
    assert (
        "no more work for you"
        in careless.get(address("score", study, scoring_round.public_id)).content.decode()
    )
    submit(careful, study, begin(careful, study, scoring_round))
    assert counted_sheets(scoring_round.rubric).count() == 1
    # One place is taken by now and one reserved; the third counts again.
    office.post(decide, {"decision": "reinstate"})
    assert counted_sheets(scoring_round.rubric).count() == 2
    assert ScoreSheet.objects.filter(is_extra=True).count() == 2
    call_command("check_integrity")
