"""Pages of researchers: planning, the round, and what the verdicts say beside the points."""

import csv
import io

import pytest

from benchmark.preferences import reports
from benchmark.preferences.models import PreferenceRound
from benchmark.rubrics.actions import default_rubric
from cqa_site.rounds.models import Place
from cqa_site.rounds.qualifying import decide_rater
from tests.benchmark.made_scores import make_rater, make_sheets
from tests.benchmark.preferences.made_preferences import (
    address,
    begin,
    make_pairs,
    make_pairs_round,
    make_people_beside,
    say,
)
from tests.cast import make_member, make_study, sign_in

pytestmark = pytest.mark.django_db
# Alpha is better than Beta, Beta than Gamma; every third verdict is a tie.
ORDER = ("Alpha", "Beta", "Gamma")


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def researcher(study):
    return make_member(study, "researcher")


@pytest.fixture
def client(researcher):
    return sign_in(researcher)


def compare(study, round_, people: int = 1) -> None:
    """Verdicts by the order of systems, with ties among them."""
    for _person in range(people):
        client = sign_in(make_member(study, "annotator"))
        turn = 0
        while (sheet := begin(client, study, round_)) is not None:
            places = [ORDER.index(sheet.pair.first.system.name)]
            places.append(ORDER.index(sheet.pair.second.system.name))
            wants_left = (places[0] < places[1]) != sheet.is_swapped
            verdict = "tie" if turn % 3 == 0 else "left" if wants_left else "right"
            assert say(client, study, sheet, verdict, comment="Why not").status_code == 200
            turn += 1


def rows_of(client, study, figure) -> list[dict[str, str]]:
    reply = client.get(address("preferences_figure", study, figure, "csv"))
    assert reply.status_code == 200
    assert reply["Content-Disposition"].startswith("attachment")
    return list(csv.DictReader(io.StringIO(reply.content.decode("utf-8-sig"))))


def test_a_round_is_planned_opened_watched_and_closed_on_pages(study, researcher, client):
    make_pairs(study, researcher, opens=False)
    PreferenceRound.objects.all().delete()
    page = client.get(address("preference_round_new", study)).content.decode()
    assert "People who compare each pair" in page
    fields = {
        "name": "Autumn",
        "size": 5,
        "raters": 1,
        "seed": 3,
        "repeat_share": 0,
        "lease_minutes": 60,
        "control_share": 0,
        "control_gap": 5,
        "asks_reason": "on",
    }
    url = address("preference_round_new", study)
    one = study.systems.first().public_id
    assert client.post(url, fields | {"systems": [one]}).status_code == 422
    assert client.post(url, fields | {"size": 1}).status_code == 422
    assert client.post(url, fields).status_code == 302
    round_ = PreferenceRound.objects.get()
    assert round_.items.count() == 5
    edit = address("preference_round_edit", study, round_.public_id)
    assert 'value="Autumn"' in client.get(edit).content.decode()
    assert client.post(edit, fields | {"size": 6}).status_code == 302
    assert round_.items.count() == 6
    for move, state in (("open", "open"), ("close", "closed"), ("reopen", "open")):
        client.post(address(f"preference_round_{move}", study, round_.public_id))
        round_.refresh_from_db()
        assert round_.state == state
    compare(study, round_)
    page = client.get(address("preference_round", study, round_.public_id)).content.decode()
    assert "6 of 6 sheets submitted" in page
    assert "Alpha" in page
    assert "Autumn" in client.get(address("preference_rounds", study)).content.decode()


def test_the_ranking_says_what_people_said_and_leads_to_their_rows(study, researcher, client):
    round_ = make_pairs(study, researcher, size=12, raters=2)
    compare(study, round_, people=2)
    page = client.get(address("preferences", study)).content.decode()
    assert "24 verdicts of 2 people on 12 pairs of 4 questions." in page
    assert "Alpha leads 3 systems" in page
    assert "Not ranked" not in page
    ranking = rows_of(client, study, "ranking")
    assert [row["system"] for row in ranking] == list(ORDER)
    assert [row["rank"] for row in ranking] == ["1", "2", "3"]
    assert float(ranking[0]["low"]) < float(ranking[0]["log_strength"])
    meetings = {(row["system"], row["against"]): row for row in rows_of(client, study, "matrix")}
    assert meetings["Alpha", "Beta"]["wins"] == meetings["Beta", "Alpha"]["losses"] != "0"
    verdicts = rows_of(client, study, "verdicts")
    assert len(verdicts) == 24
    assert verdicts[0]["reason"] == "Why not"
    assert verdicts[0]["rater"].startswith("R-")
    assert client.get(address("preferences_figure", study, "nothing", "csv")).status_code == 404


def test_points_stand_beside_preferences_and_contradict_them(study, researcher, client):
    round_ = make_pairs(study, researcher, size=12)
    compare(study, round_)
    rubric = default_rubric(study)
    points = {"Alpha": 0, "Beta": 0, "Gamma": 1}
    rater = make_rater(study, "Someone")
    for answer in study.answers.select_related("system"):
        make_sheets(study, [answer], [rater])
        given = dict.fromkeys(rubric.rubric.keys, points[answer.system.name])
        total = rubric.rubric.total(given)
        answer.score_sheets.update(points=given, total=total)
    page = client.get(address("preferences", study)).content.decode()
    assert "Mean points by people" in page
    assert "Spearman -0.87; 2 of 2 pairs of systems" in page
    ranking = {row["system"]: row for row in rows_of(client, study, "ranking")}
    assert float(ranking["Gamma"]["mean_points"]) == 15


def test_points_of_answers_without_a_scenario_stand_beside_mixed_preferences(
    study, researcher, client
):
    make_people_beside(study, "Alpha")
    round_ = make_pairs_round(study, researcher, size=4, is_mixed=True)
    annotator = sign_in(make_member(study, "annotator"))
    while (sheet := begin(annotator, study, round_)) is not None:
        say(annotator, study, sheet, "left")
    make_sheets(study, list(study.answers.all()), [make_rater(study, "Someone")])
    page = client.get(address("preferences", study)).content.decode()
    assert "Mean points by people" in page
    points = {row["system"]: row["mean_points"] for row in rows_of(client, study, "ranking")}
    assert set(points) == {"Alpha", "People"}
    assert all(points.values())


def test_who_is_left_out_does_not_count(study, researcher, client):
    compare(study, make_pairs(study, researcher, size=6))
    decide_rater(place=Place.objects.get(), actor=researcher, decision="exclude", reason="fast")
    page = client.get(address("preferences", study)).content.decode()
    assert "No verdict yet" in page
    assert client.get(address("preferences_figure", study, "ranking", "csv")).status_code == 404
    assert rows_of(client, study, "verdicts") == []


def test_repeats_are_read_together_and_a_pair_of_two_rounds_has_its_last_verdict(
    study, researcher
):
    round_ = make_pairs(study, researcher, size=12, repeat_share=0.5)
    compare(study, round_)
    found = reports.results_of(study, reports.people_of(study))
    assert found.n_verdicts == 18
    assert (found.n_again, len(found.merged)) == (6, 12)
    client = sign_in(round_.sheets.first().rater.user)
    # By this seed some of the pairs come on the same side once more.
    again = {"name": "Again", "seed": 2, "leave_out_used": False}
    other = make_pairs_round(study, researcher, size=12, **again)
    while (sheet := begin(client, study, other)) is not None:
        assert say(client, study, sheet, "both_bad").status_code == 200
    found = reports.results_of(study, reports.people_of(study))
    assert len(found.merged) == 12
    assert found.ranking.both_bad.value > 0


def test_later_rounds_ask_about_what_is_uncertain(study, researcher):
    compare(study, make_pairs(study, researcher, size=6))
    strengths = reports.known_strengths(study)
    assert strengths.systems[0] == "Alpha"
    later = make_pairs_round(study, researcher, size=6, name="Later")
    assert later.items.count() == 6


def test_pages_ask_the_same_number_of_queries_however_much_there_is(
    study, researcher, client, django_assert_max_num_queries
):
    round_ = make_pairs(study, researcher, size=12, raters=2)
    compare(study, round_, people=2)
    with django_assert_max_num_queries(16):
        client.get(address("preferences", study))
    with django_assert_max_num_queries(14):
        client.get(address("preferences_figure", study, "verdicts", "csv"))
    with django_assert_max_num_queries(18):
        client.get(address("preference_round", study, round_.public_id))


def test_other_studies_find_nothing(study, researcher):
    round_ = make_pairs(study, researcher)
    other = make_study("Study B")
    stranger = sign_in(make_member(other, "researcher"))
    for place in (study, other):
        reply = stranger.get(address("preference_round", place, round_.public_id))
        assert reply.status_code == 404
    assert stranger.get(address("preferences", study)).status_code == 404
