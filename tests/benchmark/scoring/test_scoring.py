"""What is special about scoring: points, reasons and notes, hints, examples with their key.

What scoring shares with all kinds of work is tested in tests/rounds.
"""

from urllib.parse import urlencode

import pytest

from annotation.corpus.models import Argument
from benchmark.scoring import actions as scoring_rounds
from benchmark.scoring.models import ScoreSheet
from benchmark.scoring.reports.sheets import counted_sheets
from cqa_site.rounds.access import decide_rater
from cqa_site.rounds.models import Place
from tests.benchmark.made_rounds import make_round
from tests.benchmark.made_scores import give_list, make_scored_answers
from tests.cast import make_member, make_study, sign_in
from tests.flat import flat
from tests.worlds import built_once
from .made_scoring import JSON, address, begin, submit


class Lab:
    """Eight answers, a researcher and somebody who scores."""

    def __init__(self):
        self.study = make_study()
        self.researcher = make_member(self.study, "researcher")
        self.annotator = make_member(self.study, "annotator")
        self.answers = make_scored_answers(self.study)
        self.round = make_round(self.study, self.researcher)

    def make_round(self, **fields):
        return make_round(self.study, self.researcher, **{"name": "Another round"} | fields)

    def begin(self, client, round_=None):
        return begin(client, self.study, round_ or self.round)

    def submit(self, client, sheet, **changed):
        return submit(client, self.study, sheet, **changed)

    def address(self, name, *ids):
        return address(name, self.study, *ids)


lab = built_once(Lab)


@pytest.fixture
def client(lab):
    return sign_in(lab.annotator)


@pytest.fixture
def sheet(lab, client):
    return lab.begin(client)


# -- what a form holds ---------------------------------------------------------------------------


def test_drafts_are_saved_and_come_back(lab, client, sheet):
    text = urlencode({"points-C1": "1", "points-C9": "2", "points-C2": "x", "unable-C2": "broken"})
    text += "&" + urlencode({"note-C9": "Three of five & more"})
    sent = {"text": text, "base_version": 0, "client": "page-1", "sequence": 1}
    assert client.post(lab.address("score_save", sheet.public_id), sent, **JSON).status_code == 200
    sheet.refresh_from_db()
    assert sheet.draft == {
        "points": {"C1": 1, "C9": 2},
        "unable": {"C2": "broken"},
        "notes": {"C9": "Three of five & more"},
        "comment": "",
    }
    assert (sheet.state, sheet.points, sheet.total) == ("open", {}, None)
    page = flat(client.get(lab.address("score_form", sheet.public_id)).text)
    assert 'name="points-C9" value="2" checked' in page
    assert "Three of five &amp; more" in page


def test_a_sheet_needs_points_or_a_reason_for_every_criterion(lab, client, sheet):
    reply = lab.submit(client, sheet, **{"points-C7": ""})
    assert (reply.status_code, reply.json()["missing"]) == (422, ["C7"])
    sheet.refresh_from_db()
    # What was entered is the draft now.
    assert (sheet.state, len(sheet.draft["points"])) == ("open", 14)
    other = {"points-C7": "x", "unable-C7": "other"}
    # Sheets as the page has them now: the draft was stored with the refusal.
    assert lab.submit(client, sheet, **other).json()["missing"] == ["C7"]
    sheet.refresh_from_db()
    assert lab.submit(client, sheet, **other, **{"note-C7": "Cut off"}).status_code == 200
    sheet.refresh_from_db()
    assert (sheet.unable, sheet.total, sheet.state) == ({"C7": "other"}, None, "submitted")


def test_the_total_is_the_servers(lab, client, sheet):
    assert lab.submit(client, sheet, total="19", **{"points-C1": "0"}).status_code == 200
    sheet.refresh_from_db()
    assert (sheet.total, sheet.maximum) == (14.0, 19)


@pytest.mark.parametrize("points", ["2", "-1", "1.5", "one", "999999999999", "1e0"])
def test_points_off_the_scale_are_refused_with_their_criterion(lab, client, sheet, points):
    reply = lab.submit(client, sheet, **{"points-C1": points})
    assert reply.status_code == 422
    assert "C1" in reply.json()["detail"]
    assert not ScoreSheet.objects.filter(state="submitted").exists()


def test_the_longest_notes_in_any_script_fit(lab, client, sheet):
    notes = {f"note-C{number}": "字" * 2_000 for number in range(1, 16)}
    sent = {"text": urlencode(notes | {"comment": "字" * 2_000}), "base_version": 0}
    reply = client.post(lab.address("score_save", sheet.public_id), sent, **JSON)
    assert reply.status_code == 200, reply.content
    sheet.refresh_from_db()
    assert len(sheet.draft["notes"]["C15"]) == 2_000


# -- examples ------------------------------------------------------------------------------------


def test_examples_show_their_key(lab, client):
    practice = lab.make_round(examples=tuple(lab.answers[:2]), pass_mark=0.7)
    for _turn in range(2):
        sheet = lab.begin(client, practice)
        page = lab.submit(client, sheet).json()["page"]
        assert page == lab.address("score_form", sheet.public_id)
        assert "Differs" in client.get(page).text
    place = Place.objects.get()
    # C9 to C12 give up to 2 points, and 1 was given.
    assert (round(place.score, 4), place.is_passed) == (round(11 / 15, 4), True)
    assert not lab.begin(client, practice).is_example
    assert counted_sheets(practice.rubric).count() == 0
    lab.submit(client, lab.begin(client, practice))
    assert counted_sheets(practice.rubric).count() == 1
    decide_rater(place=place, actor=lab.researcher, decision="exclude")
    assert counted_sheets(practice.rubric).count() == 0


def test_a_key_is_given_on_its_page_with_the_reasons(lab):
    office = sign_in(lab.researcher)
    row = lab.make_round(opens=False)
    item = row.items.get(answer=lab.answers[0])
    key = lab.address("round_example", row.public_id, item.position)
    full = {each.key: each.maximum for each in row.rubric.rubric.criteria}
    assert office.post(key, full | {"why-C1": "Because"}).status_code == 302
    assert row.items.get(answer=lab.answers[0]).key_notes == {"C1": "Because"}


# -- what stands on the page ---------------------------------------------------------------------


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


# -- planning ------------------------------------------------------------------------------------


def test_a_share_of_the_answers_goes_to_several_people(lab):
    shared = lab.make_round(overlap_share=0.5, overlap_raters=3)
    wanted = [item.slots.count() for item in shared.items.all()]
    assert sorted(wanted) == [1] * 4 + [3] * 4


def test_a_round_is_drawn_with_probabilities_and_drawn_again(lab):
    drawn = lab.make_round(opens=False, size=4)
    assert drawn.items.count() == 4
    assert set(drawn.items.values_list("probability", flat=True)) == {0.5}
    assert drawn.recipe["found"] == 8
    plan = scoring_rounds.ScoringPlan(name="Drawn again", rubric=drawn.rubric, seed=2, size=2)
    scoring_rounds.plan_round(study=lab.study, plan=plan, actor=lab.researcher, round_=drawn)
    assert drawn.items.count() == 2
