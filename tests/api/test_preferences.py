"""Preferences by a program: rounds with controls, verdicts of people and judges, starting one."""

import pytest

from .routes import what_to_compare
from .test_behaviour import base

pytestmark = pytest.mark.django_db


def address(world, rest):
    return base(world) + rest


def two(world):
    """Answers of two systems to one question under one scenario."""
    first = world.study.answers.filter(system__name="Alpha", question__pairs__isnull=False).first()
    second = first.question.answers.get(system__name="Beta", scenario=first.scenario)
    return [str(first.public_id), str(second.public_id)]


def test_a_round_with_controls_of_ones_own(world, researcher):
    sent = what_to_compare(world) | {"size": 5, "controls": [two(world)]}
    made = researcher.post(address(world, "preference-rounds/"), sent, format="json")
    assert made.status_code == 201, made.data
    assert (made.data["pairs"], made.data["controls"]) == (5, sent["controls"])
    items = researcher.get(address(world, f"preference-rounds/{made.data['id']}/items/")).data
    (control,) = [each for each in items["results"] if each["known"]]
    better = control[control["known"]]
    assert better == sent["controls"][0][0]
    assert {control["first"], control["second"]} == set(sent["controls"][0])
    one = address(world, f"preference-rounds/{made.data['id']}/")
    changed = researcher.patch(one, {"seed": 9}, format="json")
    assert (changed.data["seed"], changed.data["controls"]) == (9, sent["controls"])


def test_results_by_a_judge(world, researcher):
    found = researcher.get(address(world, "preferences/")).data
    (judge,) = found["choices"]
    assert found["by"] == judge["name"] == str(world.preference_sheet.rater.public_id)
    n = world.study.pairs.count()
    assert (found["verdicts"], found["both_orders"], found["contradictions"]) == (2 * n, n, 0)
    assert sum(each["n"] for each in found["matrix"]) == 2 * n
    assert {each["system"] for each in found["ranking"]} | set(found["unranked"]) == {
        each["system"] for each in found["matrix"]
    }
    same = researcher.get(address(world, "preferences/"), {"by": judge["name"]}).data
    assert same["by"] == judge["name"]
    for wrong in ({"by": "people"}, {"who": "people"}):
        assert researcher.get(address(world, "preferences/"), wrong).status_code == 400


def test_verdicts_of_a_judge_name_their_run(world, researcher):
    url, run = address(world, "preference-sheets/"), str(world.preferring_run.public_id)
    found = researcher.get(url, {"run": run}).data
    assert found["count"] == 2 * world.study.pairs.count()
    row = found["results"][0]
    assert (row["rater_kind"], row["preference_round"]) == ("model", None)
    assert row["verdict"] in ("first", "second")
    assert researcher.get(url, {"rater_kind": "person"}).data["count"] == 0
