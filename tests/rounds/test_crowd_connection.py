"""The connection of a crowd link to its platform: its form, its secrets, and the doctor."""

from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse

from cqa_site.judging.transport import egress
from cqa_site.judging.transport.egress import FetchedReply
from cqa_site.pay.stand_in import PlatformStandIn
from cqa_site.people.models import Study
from cqa_site.rounds.crowd.platform import connect_link
from cqa_site.rounds.crowd.tokens import fetch_keys_and_date
from cqa_site.rounds.models import ParticipantLink, Round
from cqa_site.upkeep.doctor.examinations import work
from cqa_site.upkeep.doctor.findings import CheckState
from tests.cast import sign_in
from tests.pay.crowd import Crowd
from tests.worlds import built_once

SECRETS = {"hook_secret": "a-long-secret-1", "api_token": "token-of-the-platform"}
crowd = built_once(lambda: Crowd(entry="signed"))


@pytest.fixture
def page(crowd):
    client, ids = sign_in(crowd.researcher), [crowd.study.public_id, crowd.round.public_id]
    address = reverse("crowd_link_connect", args=[*ids, crowd.link.public_id])
    return lambda **fields: client.post(address, fields, follow=True)


def stored():
    return ParticipantLink.objects.get()


def test_a_refused_connection_keeps_what_was_typed(page, crowd):
    reply = page(platform_study="a b", **SECRETS)
    assert reply.status_code == 422
    assert 'value="a b"' in reply.text
    assert "Copy the ID from the platform" in reply.text
    assert not any(secret in reply.text for secret in SECRETS.values())
    assert not stored().has_secrets
    # A browser must not fill in the password of this site.
    assert reply.text.count('autocomplete="new-password"') == 2
    # The page stands at another address; its other controls lead to their own.
    here = reverse("crowd_links", args=[crowd.study.public_id, crowd.round.public_id])
    assert f'<form class="stack wide" method="post" data-unsaved action="{here}">' in reply.text
    assert 'href="?' not in reply.text


def test_a_refused_connection_says_so_wherever_its_link_stands(page, crowd, monkeypatch):
    ParticipantLink.objects.update(closed_at=crowd.link.created_at)
    assert "Copy the ID from the platform" in page(platform_study="a b").text
    monkeypatch.setattr("cqa_site.rounds.crowd.pages.SHOWN_LINKS", 0)
    assert "Copy the ID from the platform" in page(platform_study="a b").text


def test_a_link_into_a_closed_round_is_not_open(page, crowd):
    Round.objects.update(state="closed")
    text = page(platform_study="STUDY-1").text
    assert "Open until" not in text
    assert "Round closed" in text
    # A round can be opened again; until then the connection serves its payments.
    assert "Codes and connection" in text


def test_saving_the_study_does_not_bring_deleted_secrets_back(crowd):
    saves = {"actor": crowd.researcher, "platform_study": "STUDY-1"}
    connect_link(link=crowd.link, **saves, **SECRETS)
    earlier = stored()
    connect_link(link=stored(), **saves, hook_secret="", delete_secrets=True)
    connect_link(link=earlier, **saves, hook_secret="")
    assert not stored().has_secrets


def test_secrets_are_deleted_also_when_the_link_is_closed(page, crowd):
    assert 'name="delete_secrets"' not in page(platform_study="STUDY-1").text
    connect_link(link=crowd.link, actor=crowd.researcher, platform_study="STUDY-1", **SECRETS)
    ParticipantLink.objects.update(closed_at=crowd.link.created_at)
    both = page(platform_study="STUDY-1", delete_secrets="on", api_token="another")
    assert both.status_code == 422
    assert 'name="delete_secrets"' in both.text
    assert stored().has_secrets
    reply = page(platform_study="STUDY-1", delete_secrets="on")
    assert reply.status_code == 200
    assert not stored().has_secrets
    assert "Codes and connection" not in reply.text


def test_a_date_that_nobody_can_read_refuses_no_entry(monkeypatch):
    headers = {"date": "Mon, 01 Jan 99999999999 0:0 GMT"}
    reply = FetchedReply(status=200, body=b"", headers=headers, milliseconds=1)
    monkeypatch.setattr(egress, "get_json_reply", lambda *_args, **_kwargs: ({"keys": []}, reply))
    assert fetch_keys_and_date() == ({}, None)


def test_the_doctor_fetches_the_keys_and_compares_clocks(crowd, settings, monkeypatch):
    finding = work.crowd_platform()
    assert finding.state == CheckState.WRONG
    assert "cannot be fetched" in finding.says
    with PlatformStandIn() as platform:
        settings.EGRESS_ALLOW = "127.0.0.0/8:*"
        for name, value in platform.settings.items():
            setattr(settings, name, value)
        assert work.crowd_platform().says == "The platform publishes 1 key."
        late = type("Late", (datetime,), {"now": lambda zone: datetime.now(zone) + HOUR})
        monkeypatch.setattr(work, "datetime", late)
        finding = work.crowd_platform()
        assert finding.state == CheckState.WRONG
        assert "differ by 3" in finding.says
    for model, fields in (
        (ParticipantLink, {"entry": "ids"}),
        (Round, {"state": "closed"}),
        (Study, {"archived_at": datetime.now(UTC)}),
    ):
        model.objects.update(**fields)
        assert work.crowd_platform().state == CheckState.WELL
        ParticipantLink.objects.update(entry="signed")
        (Round.objects.update(state="open"), Study.objects.update(archived_at=None))
        assert work.crowd_platform().state == CheckState.WRONG


HOUR = timedelta(hours=1)
