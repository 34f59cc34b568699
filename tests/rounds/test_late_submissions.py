"""A request that comes twice, or after the one that followed it, changes nothing on any sheet."""

import pytest
from django.urls import reverse

from annotation.labelling.models import VoteEvent
from cqa_site.rounds.drafts import content_of
from cqa_site.rounds.lifecycle import open_round
from tests.cast import make_label_round, make_member, make_study, sign_in
from tests.worlds import built_of
from .made_work import SHEETS, Sitting

HTML = {"headers": {"Accept": "text/html"}}


built, world = built_of(Sitting, SHEETS, "score")


def test_a_submission_that_was_overtaken_by_the_next_one_changes_nothing(world):
    full, changed = world.work.full, world.work.changed
    page = {"base": 0, "client": "a"}
    world.submit(world.sheet, changed, key="second", sequence=2, **page)
    sheet = world.submit(world.sheet, full, key="first", sequence=1, **page)
    assert (world.kind.submitted(sheet), content_of(sheet)) == (changed, changed)
    assert sheet.events.count() == 1
    assert not sheet.conflicts.exists()


def test_a_plain_form_that_is_sent_twice_is_one_submission(world):
    visitor = sign_in(world.people[0])
    form = world.work.full_form | {"base_version": "0", "client_key": "once"}
    for _press in range(2):
        reply = visitor.post(world.address("_submit", world.sheet), form, **HTML)
        assert reply.status_code == 303
    assert world.again(world.sheet).events.count() == 1


@pytest.mark.parametrize(("second", "status"), [("2", 303), ("1", 409)])
def test_a_plain_label_that_is_sent_twice_is_one_answer(db, second, status):
    study = make_study()
    label_round = make_label_round(study, ordinary=5, controls=1)
    open_round(round_=label_round, actor=make_member(study, "researcher"))
    visitor = sign_in(make_member(study, "annotator"))
    place = [study.public_id, label_round.public_id]
    shown = visitor.get(reverse("label_next", args=place), **HTML).json()["next"][0]["id"]
    form = {"item": shown, "client_key": "once"}
    answer = reverse("label_answer", args=place)
    assert visitor.post(answer, form | {"label": "2"}, **HTML).status_code == 303
    assert visitor.post(answer, form | {"label": second}, **HTML).status_code == status
    assert [*VoteEvent.objects.values_list("label", flat=True)] == [2]
