"""An endpoint offered to all studies: its key stays where it is, and the offer can end."""

import pytest
from django.core.exceptions import PermissionDenied
from django.urls import reverse

from cqa_site.judging.chat import CallFailed, Failure
from cqa_site.people.models import AuditEvent
from cqa_site.runs.actions.endpoints import (
    add_offered,
    archive_endpoint,
    change_endpoint,
    new_offers,
    set_offered,
)
from cqa_site.runs.actions.runs import RunRefused, resume_run
from cqa_site.runs.carrying import clients, worker
from cqa_site.runs.ledger import gates
from cqa_site.runs.ledger.turns import Turn, take_turn
from cqa_site.runs.models import Endpoint, Reply, Run
from cqa_site.runs.progress import pause_in_words
from tests.api.conftest import client_of
from tests.cast import make_member, make_study, sign_in
from tests.lengths import mostly
from tests.runs.judging import Lab, answer_by_text, script
from tests.runs.made_runs import SENTINEL, make_endpoint
from tests.runs.turns import planned, readings, replies

pytestmark = pytest.mark.django_db


@pytest.fixture
def giver():
    """The study that offers."""
    return make_study("Secret giver")


@pytest.fixture
def boss(giver):
    """A site administrator who is in that study."""
    person = make_member(giver, "researcher")
    person.is_staff = True
    person.save()
    return person


@pytest.fixture
def offered(giver, boss):
    endpoint = make_endpoint(giver, boss, "Cluster", max_in_flight=8)
    set_offered(endpoint=endpoint, actor=boss, is_offered=True)
    return endpoint


@pytest.fixture
def lab():
    """Another study, which uses what was offered."""
    return Lab(items=6)


@pytest.fixture
def added(lab, offered):
    endpoint = add_offered(study=lab.study, actor=lab.researcher, offered=offered)
    lab.endpoint = endpoint
    return endpoint


def page(client, study, name="endpoints", *args):
    return client.get(reverse(name, args=[study.public_id, *args]))


def fresh(endpoint):
    return Endpoint.objects.get(pk=endpoint.pk)


def let_answer(monkeypatch):
    """The server answers, whichever study asks."""
    client = script(monkeypatch, answer_by_text)
    monkeypatch.setitem(clients.MAKERS, Endpoint.Kind.SHARED, lambda endpoint: client)
    return client


def test_one_click_adds_it_and_neither_key_nor_study_is_shown(lab, giver, offered):
    client = sign_in(lab.researcher)
    seen = [page(client, lab.study), page(client, lab.study, "endpoint_new")]
    for shown in seen:
        assert "Cluster" in shown.text
        assert "stub-1" in shown.text
    post = reverse("endpoint_add", args=[lab.study.public_id])
    for _again in range(2):
        reply = client.post(post, {"offer": offered.public_id})
        assert reply.status_code == 302
    (added,) = lab.study.endpoints.filter(kind=Endpoint.Kind.SHARED)
    assert bytes(added.key_ciphertext) == b""
    assert gates.open_key(added) == SENTINEL
    assert (added.price_in, added.capabilities) == (offered.price_in, offered.capabilities)
    assert not new_offers(lab.study).exists()
    seen += [page(client, lab.study), page(client, lab.study, "endpoint", added.public_id)]
    for shown in seen:
        assert giver.name not in shown.text
        assert str(giver.public_id) not in shown.text
        assert SENTINEL not in shown.text
        assert SENTINEL[-4:] not in shown.text
    assert AuditEvent.objects.filter(study=lab.study, verb="endpoint_added").count() == 1
    # A second one of that name gets a number.
    archive_endpoint(endpoint=added, actor=lab.researcher)
    again = add_offered(study=lab.study, actor=lab.researcher, offered=offered)
    assert again.name == "Cluster (2)"


def test_only_a_site_administrator_offers(giver, boss):
    researcher = make_member(giver, "admin")
    endpoint = make_endpoint(giver, boss)
    client = sign_in(researcher)
    url = reverse("endpoint_offer", args=[giver.public_id, endpoint.public_id])
    assert client.post(url, {"is_offered": "true"}).status_code == 403
    assert "Offer endpoint" not in page(client, giver, "endpoint", endpoint.public_id).text
    with pytest.raises(PermissionDenied):
        set_offered(endpoint=endpoint, actor=researcher, is_offered=True)
    api = reverse("api_endpoint_offer", args=[giver.public_id, endpoint.public_id])
    reply = client_of(researcher).post(api, {"is_offered": True}, format="json")
    assert reply.status_code == 403
    assert not fresh(endpoint).is_offered
    client = sign_in(boss)
    assert "Offer endpoint" in page(client, giver, "endpoint", endpoint.public_id).text
    assert client.post(url, {"is_offered": "true"}).status_code == 302
    assert fresh(endpoint).is_offered
    # Those of the study may end what it pays for.
    sign_in(researcher).post(url, {"is_offered": "false"})
    assert not fresh(endpoint).is_offered
    verbs = AuditEvent.objects.filter(study=giver).values_list("verb", flat=True)
    assert {"endpoint_offered", "endpoint_withdrawn"} <= set(verbs)


def test_what_is_shared_cannot_be_changed_or_offered_on(lab, boss, added, offered):
    evil = {"base_url": "https://evil.example/v1"}
    make = evil | {"name": "Ours", "max_in_flight": "2", "key": "x" * 20}
    url = reverse("endpoint", args=[lab.study.public_id, added.public_id])
    assert sign_in(lab.researcher).post(url, make).status_code == 302
    added = fresh(added)
    assert (added.name, added.max_in_flight, added.base_url) == ("Ours", 2, offered.base_url)
    assert bytes(added.key_ciphertext) == b""
    set_offered(endpoint=added, actor=boss, is_offered=True)
    assert not fresh(added).is_offered
    api = reverse("api_endpoint", args=[lab.study.public_id, added.public_id])
    assert client_of(lab.researcher).patch(api, evil, format="json").status_code == 400


def withdraw(offered, boss):
    set_offered(endpoint=offered, actor=boss, is_offered=False)


def archive(offered, boss):
    archive_endpoint(endpoint=offered, actor=boss)


def move(offered, boss):
    values = {"base_url": "https://elsewhere.example/v1"}
    change_endpoint(endpoint=offered, actor=boss, values=values, key="sk-of-elsewhere-0123456789")


def other_model(offered, boss):
    change_endpoint(endpoint=offered, actor=boss, values={"model": "stub-2"})


def delete_study(offered, boss):
    offered.study.delete()


ENDS = [withdraw, archive, move, other_model, delete_study]


@pytest.mark.parametrize("end", mostly(ENDS, withdraw))
def test_what_is_withdrawn_sends_nothing_more(lab, added, offered, boss, end, monkeypatch):
    run = planned(lab)
    first = take_turn(added, "a", Turn(), 2)
    assert len(first.outgoing) == 2
    end(fresh(offered), boss)
    # The worker still holds the endpoint and client it began with; where the gate itself is gone,
    # its lane breaks and another one begins.
    served = fresh(added) if end is delete_study else added
    after = take_turn(served, "a", Turn(finished=replies(first.outgoing)), 512)
    assert after.outgoing == []
    take_turn(served, "a", Turn(read=readings(after)), 512)
    run.refresh_from_db()
    assert run.state == Run.State.PAUSED
    assert "no longer offered to this study" in pause_in_words(run)
    # What was on its way is stored.
    assert Reply.objects.filter(study=lab.study).count() == 2
    added = fresh(added)
    assert not added.has_key
    with pytest.raises(gates.KeyUnreadable, match="no longer offered"):
        gates.open_key(added)
    with pytest.raises(CallFailed) as failed:
        clients.client_for(added)
    assert failed.value.kind is Failure.KEY
    run = Run.objects.get(pk=run.pk)
    with pytest.raises(RunRefused, match="no longer offered"):
        resume_run(run=run, actor=lab.researcher)
    with pytest.raises(RunRefused, match="no longer offered"):
        lab.start(endpoint=added, seed=2)
    # However a run came to work, nothing leaves.
    Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING, pause_reason="")
    sent = let_answer(monkeypatch)
    worker.drain_inline()
    assert sent.requests == []
    shown = page(sign_in(lab.researcher), lab.study)
    assert "No longer offered" in shown.text


@pytest.mark.parametrize("end", [withdraw, archive, move])
def test_the_other_study_reads_that_it_ended_but_not_by_whom(lab, added, offered, boss, end):
    run = planned(lab, mode=Run.Mode.BATCH)
    assert clients.prepare(run) is not None
    end(fresh(offered), boss)
    (event,) = AuditEvent.objects.filter(study=lab.study, verb="endpoint_withdrawn")
    assert (event.actor, event.subject) == (None, added.name)
    # A batch that was not sent is given back.
    clients.tend()
    run.refresh_from_db()
    assert run.state == Run.State.PAUSED
    assert run.calls.filter(state="ready").count() == 6


@pytest.mark.long
def test_offering_it_again_lets_its_runs_go_on(lab, added, offered, boss, monkeypatch):
    run = planned(lab)
    withdraw(fresh(offered), boss)
    take_turn(added, "a", Turn(), 512)
    set_offered(endpoint=fresh(offered), actor=boss, is_offered=True)
    let_answer(monkeypatch)
    resume_run(run=Run.objects.get(pk=run.pk), actor=lab.researcher)
    worker.drain_inline()
    run.refresh_from_db()
    assert run.state == Run.State.DONE


def test_a_moved_server_is_offered_anew_and_never_followed(lab, added, offered, boss):
    """Who was offered one server gets no key of another, and no other answers its runs."""
    move(fresh(offered), boss)
    assert not fresh(offered).is_offered
    set_offered(endpoint=fresh(offered), actor=boss, is_offered=True)
    assert fresh(added).is_withdrawn
    assert fresh(added).base_url == "https://models.example/v1"
    assert new_offers(lab.study).get() == offered
    again = add_offered(study=lab.study, actor=lab.researcher, offered=fresh(offered))
    assert (again.name, again.base_url) == ("Cluster (2)", "https://elsewhere.example/v1")
    assert gates.open_key(fresh(again)) == "sk-of-elsewhere-0123456789"


def test_a_stale_copy_offers_nothing_again(offered, boss):
    """A change by somebody whose page is older than the withdrawal, and the other way round."""
    before = fresh(offered)
    withdraw(fresh(offered), boss)
    change_endpoint(endpoint=before, actor=boss, values={"name": "Renamed"})
    assert not fresh(offered).is_offered
    seen = fresh(offered)
    move(fresh(offered), boss)
    set_offered(endpoint=seen, actor=boss, is_offered=True)
    assert not fresh(offered).is_offered


def test_prices_key_and_probe_follow_the_original(added, offered, boss):
    values = {"price_in": 9, "extra_params": {"top_p": 0.5}}
    change_endpoint(endpoint=fresh(offered), actor=boss, values=values, key="sk-new-0123456789")
    assert gates.open_key(fresh(added)) == "sk-new-0123456789"
    assert (fresh(added).price_in, fresh(added).extra_params) == (9, {"top_p": 0.5})
    assert fresh(added).probed_at is None


def test_all_studies_together_keep_the_limit_and_each_its_own(lab, added, offered, boss):
    other = Lab(items=30)
    second = add_offered(study=other.study, actor=other.researcher, offered=offered)
    change_endpoint(endpoint=second, actor=other.researcher, values={"max_in_flight": 5})
    second = fresh(second)
    planned(other, endpoint=second)
    planned(lab)
    # As the gate stands after many good replies.
    take_turn(offered, "a", Turn(), 512)
    gate = offered.gate
    gate.refresh_from_db()
    gate.state |= {"limit": 64.0}
    gate.save()
    assert len(take_turn(second, "a", Turn(), 512).outgoing) == 5
    assert len(take_turn(second, "a", Turn(), 512).outgoing) == 0
    # Eight for both: three are left.
    assert len(take_turn(added, "a", Turn(), 512).outgoing) == 3


@pytest.mark.long
def test_stored_replies_stay_in_each_study(lab, added, offered, boss, monkeypatch):
    sent = let_answer(monkeypatch)
    other = Lab(items=6)
    second = add_offered(study=other.study, actor=other.researcher, offered=offered)
    lab.endpoint, other.endpoint = added, second
    for each in (lab, other):
        planned(each)
        worker.drain_inline()
        assert Reply.objects.filter(study=each.study).count() == 6
    assert len(sent.requests) == 12
