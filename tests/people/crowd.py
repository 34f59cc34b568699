"""People who come in by a crowd link, as their browsers do."""

import itertools
from datetime import timedelta

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.labelling.actions.serving import member_place, next_work
from annotation.labelling.actions.votes import SubmittedLabel, answer
from annotation.labelling.models import LabelRound
from cqa_site.people.models import Membership
from cqa_site.rounds.crowd import participants
from cqa_site.rounds.lifecycle import open_round
from tests import cast

CODES = {
    "completed_code": "CODE-COMPLETED",
    "screened_out_code": "CODE-SCREENED",
    "no_work_code": "CODE-NOWORK",
    "fault_code": "CODE-FAULT",
}
IDS = {"PROLIFIC_PID": "PID-5f1", "STUDY_ID": "STUDY-1", "SESSION_ID": "SESSION-1"}
DONE = "/join/done/"
KEYS = itertools.count()


class Lab:
    """A study with a member of each role and an open label round."""

    def __init__(self):
        self.study = cast.make_study("Study A")
        self.people = {
            role: cast.make_member(self.study, role, name=f"The {role}") for role in cast.ROLES
        }
        self.label_round = cast.make_label_round(self.study, ordinary=8, controls=2)
        open_round(round_=self.label_round, actor=self.people["admin"])


def label_items(participant, count):
    """Answer as many items as wanted, the way the labelling page does it."""
    membership = Membership.objects.get(user=participant.user)
    label_round = LabelRound.objects.get(pk=participant.link.round_id)
    place = member_place(label_round=label_round, membership=membership)
    for _number in range(count):
        row = next_work(label_round=label_round, place=place).assignments[0]
        answer_item(row, f"key-{participant.pk}-{next(KEYS)}")


def answer_item(row, key):
    answer(rater=row.rater, assignment=row, given=SubmittedLabel(client_key=key, label=1))


def make_link(label_round, people, **fields):
    usual = {"platform": "Prolific", "required_items": 4, "max_participants": 3}
    return create_link(label_round, people["researcher"], **(usual | fields))


def create_link(round_, actor, **fields):
    """A link that is open for a day, and its secret."""
    usual = CODES | {"required_items": 2, "expires_at": timezone.now() + timedelta(days=1)}
    return participants.create_link(round_=round_, actor=actor, **(usual | fields))


def open_link(client, secret, ids=IDS):
    return client.get(reverse("join", kwargs={"secret": secret}), ids)


def come_in(secret, ids=IDS, client=None):
    """A browser that opened the link and pressed the button, and the answer."""
    client = client or Client()
    assert open_link(client, secret, ids).url == "/join/start/"
    return client, client.post("/join/start/")


def codes_in(text):
    return [code for code in CODES.values() if code in text]


def finish(client):
    """The codes on the page after the button at the end."""
    return codes_in(client.post(DONE, follow=True).text)
