"""Leaving out everybody below a control accuracy: counts by hand, one action, its undoing."""

import pytest
from django.core.cache import cache

from annotation.consensus.reports import counted_votes, machine_labels, vote_table
from annotation.labelling.models import Exclusion
from annotation.quality.actions import (
    exclude_below,
    exclude_rater,
    reinstate_rater,
    undo_exclusion,
)
from annotation.quality.reports.controls import curve_chart, exclusion_curve, preview_exclusion
from cqa_site.people.models import AuditEvent, Rater
from cqa_site.runs.models import Job
from tests.annotation.voting import imported, make_raters, vote
from tests.cast import make_member, make_study
from tests.worlds import built_once

pytestmark = pytest.mark.django_db

# Two control items (known label 3), then four ordinary ones; the third column is wrong on both
# controls, the second on one.
CONTROLS = [[3, 3, 0], [3, 0, 0]]
ORDINARY = [[1, 1, 3], [2, 0, 0], [None, None, 2], [1, 2, 3]]


class Lab:
    """A round with controls on which one of three raters is right."""

    def __init__(self):
        self.study = make_study()
        self.researcher = make_member(self.study, "researcher")
        crowd, controls = make_raters(self.study, 3), [(0, 3), (1, 3)]
        self.label_round = imported(
            self.study, crowd, votes=CONTROLS + ORDINARY, controls=controls
        )


lab = built_once(Lab)


@pytest.fixture(autouse=True)
def _nothing_kept():
    cache.clear()


def exclude(label_round, researcher, below, reason="x"):
    asked = {"below": below, "rule": "accuracy", "reason": reason, "actor": researcher}
    return exclude_below(label_round=label_round, **asked)


def names(label_round):
    places = label_round.places.filter(excluded_at__isnull=False)
    return list(places.order_by("rater").values_list("rater", flat=True))


def test_the_preview_says_what_remains_and_is_counted_once(label_round, researcher, monkeypatch):
    seen = preview_exclusion(label_round, 0.5, "accuracy")
    assert seen["excluded"] == 1
    now, then = seen["now"], seen["then"]
    assert (now["raters"], now["votes"], now["without"], now["ties"]) == (3, 10, 0, 1)
    assert now["labels"] == (1, 1, 1, 1)  # 1, 0, 2, and the higher of 1 2 3
    assert (then["raters"], then["votes"], then["without"], then["ties"]) == (2, 6, 1, 2)
    assert then["labels"] == (0, 1, 2, 0)
    assert preview_exclusion(label_round, 0.5, "surely")["excluded"] == 0
    assert exclude(label_round, researcher, 0) is None
    assert not Exclusion.objects.exists()
    assert not AuditEvent.objects.exists()
    monkeypatch.setattr("annotation.quality.reports.controls._ordinary", None)
    assert preview_exclusion(label_round, 0.5, "accuracy") == seen


def test_everybody_below_is_one_action_with_a_line_in_the_log_for_each(label_round, researcher):
    made = exclude(label_round, researcher, 0.6, "The paper's rule")
    _best, *low = Rater.objects.filter(kind="person", user=None).order_by("pk")
    assert names(label_round) == [rater.pk for rater in low]
    said = AuditEvent.objects.filter(verb="rater_excluded", reason="The paper's rule")
    assert said.count() == 2
    assert AuditEvent.objects.get(verb="annotators_excluded").details["annotators"] == 2
    assert Job.objects.filter(kind="final_labels").count() == 1
    assert counted_votes(label_round).count() == 5
    assert undo_exclusion(exclusion=made, actor=researcher) == 2
    assert names(label_round) == []
    assert AuditEvent.objects.filter(verb="rater_reinstated").count() == 2
    assert undo_exclusion(exclusion=made, actor=researcher) is None


def test_undoing_leaves_what_was_decided_one_by_one(label_round, researcher):
    _best, middle, worst = Rater.objects.filter(kind="person", user=None).order_by("pk")
    exclude_rater(label_round=label_round, rater=worst, reason="A robot", actor=researcher)
    made = exclude(label_round, researcher, 0.6)
    assert made.places.get().rater == middle
    assert undo_exclusion(exclusion=made, actor=researcher) == 1
    assert names(label_round) == [worst.pk]


def test_who_was_let_in_and_excluded_again_stays_out(label_round, researcher):
    made = exclude(label_round, researcher, 0.5)
    rater = made.places.get().rater
    reinstate_rater(label_round=label_round, rater=rater, reason="a mistake", actor=researcher)
    exclude_rater(label_round=label_round, rater=rater, reason="no mistake", actor=researcher)
    assert undo_exclusion(exclusion=made, actor=researcher) == 0
    assert names(label_round) == [rater.pk]


@pytest.mark.long
def test_the_curve_agrees_with_the_previews(label_round):
    rows = exclusion_curve(label_round)
    assert [row["below"] for row in rows][::5] == [0, 0.25, 0.5, 0.75, 1]
    for row in rows:
        then = preview_exclusion(label_round, row["below"], "accuracy")["then"]
        assert {**then, "below": row["below"]} == row
    for name in ("figures", "labels"):
        drawn = curve_chart(label_round, rows, name, "wide")["layer"]
        assert [each["data"]["values"] for each in drawn if each["mark"]["type"] == "line"]


def test_a_machine_in_the_file_is_none_of_the_crowd(label_round, researcher, client):
    before, seen = exclusion_curve(label_round), preview_exclusion(label_round, 0.5, "accuracy")
    model = Rater.objects.create(study=label_round.study, kind="model", name="GPT")
    for item in label_round.items.all():
        vote(item, model, 0)  # wrong on both controls
    assert exclusion_curve(label_round) == before
    assert preview_exclusion(label_round, 0.5, "accuracy") == seen
    exclude(label_round, researcher, 1)
    assert model.pk not in names(label_round)
    assert vote_table(label_round, exclude=False)["rater"].nunique() == 3
    assert machine_labels(label_round).count() == 6
    page = client.get(quality_page(label_round))
    assert model.pseudonym not in page.text


def quality_page(label_round):
    return f"/s/{label_round.study.public_id}/label-rounds/{label_round.public_id}/quality/"


def here(label_round, tail=""):
    return f"{quality_page(label_round)}exclude-low/{tail}"


def test_the_page_previews_excludes_and_undoes(label_round, client, django_assert_max_num_queries):
    with django_assert_max_num_queries(30):
        page = client.get(here(label_round), {"below": "0.6", "rule": "accuracy"})
    assert page.context["preview"]["excluded"] == 2
    asked = {"below": "0.6", "rule": "accuracy"}
    assert client.post(here(label_round), asked).status_code == 422
    assert client.get(here(label_round), {"below": "2"}).status_code == 422
    assert names(label_round) == []
    client.post(here(label_round), asked | {"reason": "The paper's rule"})
    assert len(names(label_round)) == 2
    assert "Reinstate 2 annotators" in client.get(here(label_round)).content.decode()
    made = Exclusion.objects.get()
    client.post(here(label_round, f"{made.public_id}/undo/"))
    assert names(label_round) == []
    for name in ("figures.svg", "labels.png", "figures.csv", "figures.tex"):
        assert client.get(f"{quality_page(label_round)}{name}").status_code == 200
    assert client.get(f"{quality_page(label_round)}other.svg").status_code == 404
