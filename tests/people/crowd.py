"""People who come in by a crowd link, as their browsers do."""

from datetime import timedelta

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from cqa_site.rounds.crowd import participants

CODES = {
    "completed_code": "CODE-COMPLETED",
    "screened_out_code": "CODE-SCREENED",
    "no_work_code": "CODE-NOWORK",
    "fault_code": "CODE-FAULT",
}
IDS = {"PROLIFIC_PID": "PID-5f1", "STUDY_ID": "STUDY-1", "SESSION_ID": "SESSION-1"}
DONE = "/join/done/"


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
