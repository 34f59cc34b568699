"""What one label asks of the database."""

import uuid

import pytest
from django.urls import reverse

from annotation.labelling.models.rounds import Assignment
from tests.annotation.voting import opened
from tests.cast import make_member, make_study, sign_in

pytestmark = pytest.mark.django_db


@pytest.mark.long
def test_a_label_takes_nine_statements(django_assert_num_queries):
    study = make_study()
    label_round = opened(study, ordinary=200, controls=30)
    client = sign_in(make_member(study, "annotator"))
    ids = [study.public_id, label_round.public_id]
    assert client.get(reverse("label", args=ids)).status_code == 200
    waiting = Assignment.objects.filter(round=label_round, state="served")
    rows = list(waiting.order_by("block", "position"))
    assert len(rows) > 20

    def send(row):
        fields = {"item": row.public_id, "client_key": uuid.uuid4().hex, "label": 2}
        reply = client.post(
            reverse("label_answer", args=ids),
            fields | {"has_enough": "on"},
            headers={"Accept": "application/json"},
        )
        assert reply.json()["saved"] == {"id": str(row.public_id), "label": 2}

    send(rows[0])
    # Session, person, two for the transaction, place, what is held, slot, answer, event.
    with django_assert_num_queries(9):
        send(rows[1])
    assert waiting.count() >= 20
