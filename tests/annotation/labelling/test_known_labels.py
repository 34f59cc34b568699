"""Control items from labels of other rounds: what is offered, what is taken, and who gets it."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.consensus.actions.consensus import recompute_final_labels
from annotation.consensus.actions.decisions import adjudicate, undo_last
from annotation.labelling.actions.exercises import keep_training
from annotation.labelling.actions.rounds import save_version
from annotation.labelling.actions.serving import how_far
from annotation.labelling.models import Assignment, Item
from cqa_site.people.models import AuditEvent
from cqa_site.rounds.controls import control_offers, take_offers
from cqa_site.rounds.kind import RoundNotReady
from cqa_site.rounds.lifecycle import find_violations, open_round
from cqa_site.rounds.queue import place_for
from tests.annotation.voting import imported, label_all, make_raters
from tests.cast import make_label_round, make_member, make_study, sign_in
from tests.worlds import built_once

#        settled    agreed     two words  settled    tie        settled as it was
VOTES = [[1, 2, 3], [1, 1, 1], [0, 1, 3], [0, 3, 3], [3, 0, 2], [2, 2, 1]]
SETTLED = {0: 2, 3: 3, 5: 2}


class Lab:
    """Disputes of an imported round, some of them settled, and a draft that needs controls."""

    def __init__(self):
        self.study = make_study()
        self.researcher = make_member(self.study, "researcher")
        self.crowd = make_raters(self.study, 3)
        self.expert, other = make_raters(self.study, 2, kind="expert")
        self.source = imported(self.study, self.crowd, votes=VOTES)
        recompute_final_labels(self.source)
        items = self.source.items.order_by("pk").select_related("argument")
        self.arguments = [item.argument for item in items]
        for place, label in {**SETTLED, 2: 1}.items():
            self.decide(place, label)
        self.decide(2, 0, other)
        self.target = make_label_round(self.study, ordinary=8, controls=0, name="Next")

    def decide(self, place, label, rater=None):
        about = {"argument": self.arguments[place], "rater": rater or self.expert}
        adjudicate(label_round=self.source, label=label, **about)

    def has(self, place, **fields):
        argument = self.arguments[place]
        key = str(argument.public_id)
        return Item.objects.create(round=self.target, argument=argument, external_id=key, **fields)

    def offers(self, **where):
        """Place and label of what can be taken, or place and reason of what cannot."""
        places = {argument.pk: place for place, argument in enumerate(self.arguments)}
        return {
            places[offer.source.pk]: str(offer.reason) or offer.known["label"]
            for offer in control_offers(self.target)
            if all(getattr(offer, name) == value for name, value in where.items())
        }

    def take(self, **which):
        return take_offers(round_=self.target, actor=self.researcher, **which)

    def open(self):
        open_round(round_=self.target, actor=self.researcher)
        self.target.refresh_from_db()

    def controls(self):
        rows = self.target.items.filter(control_label__isnull=False)
        places = {argument.pk: place for place, argument in enumerate(self.arguments)}
        return {places[pk]: label for pk, label in rows.values_list("argument", "control_label")}


lab = built_once(Lab)


def test_settled_disputes_and_agreed_labels_are_offered(lab):
    assert lab.offers(is_settled=True) == {**SETTLED, 2: "experts chose different labels"}
    assert lab.offers(is_settled=False) == {1: 1}
    last = undo_last(label_round=lab.source, rater=lab.expert)
    assert last.argument == lab.arguments[2]
    assert lab.offers(is_settled=True) == {**SETTLED, 2: 0}
    # Nor are labels on another scale.
    levels = lab.source.guideline.levels[:2]
    lab.source.guideline = save_version(
        study=lab.study, title="Short", body="", levels=levels, actor=None
    )
    lab.source.save()
    assert lab.offers() == {}


def test_a_draft_takes_all_that_are_settled_and_its_ordinary_items_become_controls(lab):
    lab.has(0)
    lab.has(5, control_label=1)
    assert lab.offers(is_settled=True)[5] == "already a control item of this round"
    assert lab.offers(is_present=True, reason="") == {0: 2}
    assert lab.take(is_settled=True) == 2
    assert lab.controls() == {0: 2, 3: 3, 5: 1}
    assert lab.target.items.count() == 8 + 3
    event = AuditEvent.objects.get(verb="controls_taken")
    assert sorted(event.details["labels"].values()) == [2, 3]
    with pytest.raises(RoundNotReady, match="No known answer"):
        lab.take(is_settled=True)
    with pytest.raises(RoundNotReady, match="experts chose different labels"):
        lab.take(source=lab.arguments[2].public_id)
    with pytest.raises(LookupError):
        lab.take(source=lab.arguments[4].public_id)
    lab.target.controls_per_block = 0
    lab.target.save()
    assert set(lab.offers().values()) == {"the blocks of this round have no control items"}


def test_what_trains_people_before_another_round_is_no_control(lab):
    other = make_label_round(lab.study, ordinary=1, controls=0, name="Other")
    keep_training(other, {lab.arguments[0].pk: 2})
    assert lab.offers(is_settled=True)[0] == "used for training before a round"
    assert lab.take(is_settled=True) == 2
    assert lab.controls() == {3: 3, 5: 2}


def test_nobody_gets_a_control_whose_label_may_be_their_own(lab):
    """In a running round, to which the items are added without slots."""
    lab.has(5)
    lab.has(1, control_label=1)
    lab.open()
    running = "an ordinary item of this round, which is running"
    assert lab.offers(is_settled=True) == {
        0: 2, 3: 3, 5: running, 2: "experts chose different labels"
    }  # fmt: skip
    assert lab.take(source=lab.arguments[0].public_id) == 1
    assert lab.take(is_settled=True) == 1
    assert lab.controls() == {0: 2, 1: 1, 3: 3}
    assert not lab.target.slots.filter(item__control_label__isnull=False).exists()
    (newcomer,) = make_raters(lab.study, 1)
    for rater, met in ((lab.crowd[0], set()), (lab.expert, {1}), (newcomer, {0, 1, 3})):
        place = place_for(round_=lab.target, rater=rater)
        before = how_far(label_round=lab.target, place=place, times=[], served=0).all
        n_done = label_all(place)
        got = Assignment.objects.filter(round=lab.target, rater=rater)
        controls = got.filter(item__control_label__isnull=False)
        known = {lab.arguments.index(row.item.argument) for row in controls}
        # Two blocks of nine ordinary items or more have room for two or three.
        assert known <= met
        assert len(known) == min(len(met), 3)
        assert n_done == before == 9 + len(known)
    assert list(find_violations()) == []


def test_all_are_taken_in_a_number_of_statements_that_does_not_grow(
    lab, django_assert_max_num_queries
):
    source = imported(lab.study, lab.crowd, votes=[[1, 1, 1], [2, 2, 2]] * 40, name="Large")
    recompute_final_labels(source)
    lab.arguments = [item.argument for item in source.items.select_related("argument")]
    for place in range(60):
        lab.has(place)
    with django_assert_max_num_queries(40):
        n = lab.take()
    assert n > 80
    assert lab.target.items.filter(control_label__isnull=False).count() == n


def test_page_and_programs_take_one_or_all(lab):
    client = sign_in(lab.researcher)
    ids = [lab.study.public_id, lab.target.public_id]
    page, take = reverse("round_controls", args=ids), reverse("round_control_take", args=ids)
    with CaptureQueriesContext(connection) as captured:
        text = client.get(page).text
    assert len(captured) <= 30
    assert "Settled disputes from other rounds" in text
    assert "experts chose different labels (1)" in text
    assert "Use all 3 as" in text
    assert f'href="{page}"' in client.get(reverse("label_round_items", args=ids)).text
    chosen = lab.arguments[3].public_id
    for _again in (1, 2):
        answer = client.post(take, {"id": chosen}, follow=True)
        assert answer.status_code == 200
    assert "already a control item of this round" in answer.text
    assert lab.controls() == {3: 3}
    client.post(take, {"settled": "1"})
    client.post(take)
    assert lab.controls() == SETTLED | {1: 1}
    for wrong in ("x", str(lab.study.public_id)):
        assert "no longer offered" in client.post(take, {"id": wrong}, follow=True).text
