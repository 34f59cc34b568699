"""Pages of researchers: planning, the round, and what the verdicts say beside the points."""

import csv
import io
import itertools
from types import SimpleNamespace

import pytest

from benchmark.preferences import reports
from benchmark.preferences.finding import finding
from benchmark.preferences.kind import turned
from benchmark.preferences.methods.ranking import rank_by_preference
from benchmark.rubrics.models import default_rubric
from cqa_site.rounds.access import decide_rater
from tests.benchmark.made_scores import make_rater, make_sheets
from tests.benchmark.preferences.made_preferences import (
    address,
    compare_all,
    make_comparer,
    make_pairs,
    make_pairs_round,
    make_people_beside,
)
from tests.benchmark.preferences.methods.made_verdicts import drawn, times, verdicts
from tests.cast import make_member, make_study, sign_in
from tests.worlds import built_once

# Alpha is better than Beta, Beta than Gamma; every third verdict is a tie.
ORDER = ("Alpha", "Beta", "Gamma")


class Lab:
    """Twelve pairs of three systems' answers, on which two people agree."""

    def __init__(self):
        self.study = make_study()
        self.researcher = make_member(self.study, "researcher")
        self.round = make_pairs(self.study, self.researcher, size=12, raters=2)
        for _person in range(2):
            compare(self.study, self.round)


lab = built_once(Lab)


@pytest.fixture
def client(lab):
    return sign_in(lab.researcher)


def compare(study, round_) -> None:
    """Verdicts by the order of systems, with ties among them."""
    turns = itertools.count()

    def verdict(sheet):
        first, second = (
            ORDER.index(answer.system.name) for answer in (sheet.pair.first, sheet.pair.second)
        )
        return "tie" if next(turns) % 3 == 0 else "first" if first < second else "second"

    annotator = make_comparer(study, make_member(study, "annotator"))
    compare_all(round_, annotator, verdict, "Why not")


def rows_of(client, study, figure) -> list[dict[str, str]]:
    reply = client.get(address("preferences_figure", study, figure, "csv"))
    assert reply.status_code == 200
    assert reply["Content-Disposition"].startswith("attachment")
    return list(csv.DictReader(io.StringIO(reply.content.decode("utf-8-sig"))))


def test_the_ranking_says_what_people_said_and_leads_to_their_rows(
    lab, client, django_assert_max_num_queries
):
    study = lab.study
    with django_assert_max_num_queries(16):
        page = client.get(address("preferences", study)).text
    assert "24 verdicts by 2 people on 12 pairs from 4 questions." in page
    assert "Alpha has the highest strength of 3 systems." in page
    assert "The order was not tested: verdicts on fewer than 10 questions" in page
    assert "these data cannot tell" not in page
    assert "leads: it is preferred" not in page
    assert "Not ranked" not in page
    ranking = rows_of(client, study, "ranking")
    assert [row["system"] for row in ranking] == list(ORDER)
    assert [row["rank"] for row in ranking] == ["1", "2", "3"]
    assert (ranking[0]["low"], ranking[0]["rank_low"], ranking[0]["tie_group"]) == ("", "", "")
    assert float(ranking[0]["win_rate"]) > 0.5
    meetings = {(row["system"], row["against"]): row for row in rows_of(client, study, "matrix")}
    assert meetings["Alpha", "Beta"]["wins"] == meetings["Beta", "Alpha"]["losses"] != "0"
    with django_assert_max_num_queries(14):
        verdicts = rows_of(client, study, "verdicts")
    assert len(verdicts) == 24
    assert verdicts[0]["reason"] == "Why not"
    assert verdicts[0]["rater"].startswith("R-")
    assert client.get(address("preferences_figure", study, "nothing", "csv")).status_code == 404


@pytest.mark.long
def test_points_stand_beside_preferences_and_contradict_them(lab, client):
    study = lab.study
    rubric = default_rubric(study)
    points = {"Alpha": 0, "Beta": 0, "Gamma": 1}
    rater = make_rater(study, "Someone")
    make_sheets(study, list(study.answers.all()), [rater])
    for name, each in points.items():
        given = dict.fromkeys(rubric.rubric.keys, each)
        sheets = study.score_sheets.filter(answer__system__name=name)
        sheets.update(points=given, total=rubric.rubric.total(given))
    page = client.get(address("preferences", study)).text
    assert "Mean points by people" in page
    assert "Spearman −0.87; 2 of 2 pairs of systems are in the opposite order" in page
    ranking = {row["system"]: row for row in rows_of(client, study, "ranking")}
    assert float(ranking["Gamma"]["mean_points"]) == 15


@pytest.mark.long
def test_points_of_answers_without_a_scenario_stand_beside_mixed_preferences(study, researcher):
    make_people_beside(study, "Alpha")
    round_ = make_pairs_round(study, researcher, size=4, is_mixed=True)
    annotator = make_comparer(study, make_member(study, "annotator"))
    compare_all(round_, annotator, lambda sheet: turned("left", is_swapped=sheet.is_swapped))
    client = sign_in(researcher)
    make_sheets(study, list(study.answers.all()), [make_rater(study, "Someone")])
    page = client.get(address("preferences", study)).text
    assert "Mean points by people" in page
    points = {row["system"]: row["mean_points"] for row in rows_of(client, study, "ranking")}
    assert set(points) == {"Alpha", "People"}
    assert all(points.values())


def test_who_is_left_out_does_not_count(lab, client):
    study = lab.study
    for place in lab.round.places.all():
        decide_rater(place=place, actor=lab.researcher, decision="exclude", reason="fast")
    page = client.get(address("preferences", study)).text
    assert "No verdicts yet" in page
    assert client.get(address("preferences_figure", study, "ranking", "csv")).status_code == 404
    assert rows_of(client, study, "verdicts") == []


@pytest.mark.long
def test_repeats_are_read_together_and_a_pair_of_two_rounds_has_its_last_verdict(
    study, researcher
):
    round_ = make_pairs(study, researcher, size=8, repeat_share=0.5)
    compare(study, round_)
    people = reports.results_of(study, reports.people_of(study))
    assert people.n_verdicts == 11
    assert (people.n_again, len(people.merged)) == (3, 8)
    # By this seed some of the pairs come on the same side once more.
    again = {"name": "Again", "seed": 2, "leave_out_used": False}
    other = make_pairs_round(study, researcher, size=12, **again)
    compare_all(other, round_.sheets.first().rater, lambda sheet: "both_bad")
    people = reports.results_of(study, reports.people_of(study))
    assert len(people.merged) == 12
    assert people.ranking.both_bad.value > 0


PEOPLE = SimpleNamespace(is_judge=False)


def found_in(table):
    results = SimpleNamespace(
        ranking=rank_by_preference(table), merged=table, n_verdicts=len(table), beside=None
    )
    return finding(results, PEOPLE)


def test_a_leader_is_told_apart_from_every_other_or_was_never_beaten():
    rows = [*times(18, "a", "b", "first"), *times(2, "b", "a", "first")]
    found = found_in(verdicts(*rows))
    assert found.says == "a leads: it is preferred to the other system."
    assert found.sure.startswith("Holm-adjusted p < 0.001.")
    assert (found.mark, found.terms) == ("good", ("Holm-adjusted p",))
    rows = [*times(10, "a", "b", "first"), *times(2, "a", "b", "tie")]
    found = found_in(verdicts(*rows))
    assert found.says == "a leads: it is preferred to the other system."
    assert "a was never beaten: it won 10 of 12. b never won: it lost 10 of 12." in found.sure
    assert "Shown instead: win rates, with penalized strengths." in found.sure


def test_who_is_only_first_is_not_said_to_lead():
    found = found_in(drawn(n=600, n_questions=30))
    assert found.says == (
        "s0 has the highest strength of 5 systems; these data cannot tell it apart from s1."
    )
    assert "With 80 % power, these questions can detect a win rate of 68 %" in found.sure
    assert "If s0 and s1 differ as much as they do here, about 89 questions" in found.sure
    assert found.mark == ""
    rows = [*times(10, "a", "b", "first"), *times(10, "a", "b", "second")]
    assert found_in(verdicts(*rows)).says == "a and b share the highest strength of 2 systems."
    found = found_in(verdicts(*times(5, "a", "b", "first")))
    assert found.says == "a has the highest strength of 2 systems."
    assert "The order was not tested: verdicts on fewer than 10 questions" in found.sure
    assert found.mark == "warn"
