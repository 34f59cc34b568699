"""Pages of endpoints; above all, a key that goes in never comes out."""

import pytest
from django.core.management import call_command
from django.urls import reverse

from cqa_site.people.models import AuditEvent
from cqa_site.runs import handlers, jobs, keys
from cqa_site.runs.carrying import clients
from cqa_site.runs.models import Endpoint, Run
from tests.cast import make_campaign, make_member, make_study, sign_in
from tests.runs.made_runs import SENTINEL, make_endpoint, make_run

pytestmark = pytest.mark.django_db

assert handlers  # registers the jobs these tests run


@pytest.fixture
def study():
    return make_study()


@pytest.fixture
def researcher(study):
    return make_member(study, "researcher")


@pytest.fixture
def client(researcher):
    return sign_in(researcher)


@pytest.fixture
def endpoint(study, researcher):
    return make_endpoint(study, researcher)


FORM = {
    "name": "Lab server",
    "base_url": "https://models.example/v1/",
    "model": "small-1",
    "price_in": "0.15",
    "price_out": "0.6",
    "max_in_flight": "8",
    "deadline_seconds": "60",
}


def save(client, study, endpoint=None, **values):
    name, args = ("endpoint", [endpoint.public_id]) if endpoint else ("endpoint_new", [])
    return client.post(reverse(name, args=[study.public_id, *args]), FORM | values)


def test_a_new_endpoint_is_stored_with_its_key_encrypted(client, study):
    response = save(client, study, key=SENTINEL, extra_params='{"top_p": 0.5}')
    endpoint = Endpoint.objects.get()
    assert response.url == reverse("endpoint", args=[study.public_id, endpoint.public_id])
    assert endpoint.base_url == "https://models.example/v1"
    assert endpoint.extra_params == {"top_p": 0.5}
    assert keys.open_key(endpoint) == SENTINEL
    assert SENTINEL.encode() not in bytes(endpoint.key_ciphertext)
    # An empty key keeps the stored one, its own name is no second one.
    assert save(client, study, endpoint, key="", model="other-model").status_code == 302
    endpoint.refresh_from_db()
    assert (endpoint.model, keys.open_key(endpoint)) == ("other-model", SENTINEL)
    assert "name" in save(client, study).context["form"].errors
    save(client, study, endpoint, base_url="http://127.0.0.1:8000/v1")
    shown = client.get(response.url).text
    assert "so the key was cleared" in shown
    assert "EGRESS_ALLOW" in shown
    endpoint.refresh_from_db()
    assert not endpoint.has_key


@pytest.mark.parametrize(
    ("values", "field", "text"),
    [
        ({"base_url": "models.example/v1"}, "base_url", "https://"),
        ({"base_url": "ftp://models.example"}, "base_url", "https://"),
        ({"base_url": "https://"}, "base_url", "https://"),
        ({"base_url": "https://me:secret@models.example/v1"}, "base_url", "field of its own"),
        ({"base_url": "https://models.example/v1?x=1"}, "base_url", "Leave out"),
        ({"base_url": "https://models.example:99999/v1"}, "base_url", "no address"),
        ({"base_url": "https://[::1/v1"}, "base_url", "no address"),
        ({"base_url": "https://models.example/v1/chat/completions"}, "base_url", "before"),
        ({"key": "two words"}, "key", "spaces"),
        ({"key": "schlüssel"}, "key", "ASCII"),
        ({"extra_params": "{'a': 1}"}, "extra_params", "not acceptable JSON"),
        ({"extra_params": '{"stream": true}'}, "extra_params", "engine itself"),
        ({"extra_params": '{"seed": "one"}'}, "extra_params", "whole number"),
        ({"price_in": "-1"}, "price_in", "0"),
        ({"max_in_flight": "0"}, "max_in_flight", "1"),
        ({"model": ""}, "model", "required"),
    ],
)
def test_a_wrong_value_is_said_at_its_field(client, study, values, field, text):
    response = save(client, study, **values)
    assert response.status_code == 422
    assert any(text in error for error in response.context["form"].errors[field])
    assert not Endpoint.objects.exists()


def test_a_change_that_a_running_run_forbids_changes_nothing(client, study, endpoint, researcher):
    campaign = make_campaign(study, ordinary=25, controls=0)
    make_run(campaign, endpoint, researcher)
    Run.objects.update(state=Run.State.RUNNING)
    response = save(client, study, endpoint, model="other-model")
    endpoint.refresh_from_db()
    assert (response.status_code, endpoint.model) == (302, "stub-1")
    shown = client.get(response.url)
    assert "A run uses this endpoint." in shown.text
    client.post(reverse("endpoint_archive", args=[study.public_id, endpoint.public_id]))
    endpoint.refresh_from_db()
    assert not endpoint.is_archived


def test_the_key_is_in_no_page_log_or_message(client, study, researcher, endpoint, caplog, capsys):
    """Everything a researcher can open, after the key was typed, kept, mistyped and archived."""
    campaign = make_campaign(study, ordinary=4, controls=0)
    run = make_run(campaign, endpoint, researcher, preflight="off")
    sid = study.public_id
    seen = [
        save(client, study, endpoint, key=SENTINEL, price_in="-1"),
        save(client, study, key=SENTINEL, base_url="nonsense"),
        save(client, study, key=SENTINEL),
        client.get(reverse("endpoint", args=[sid, endpoint.public_id])),
        client.get(reverse("endpoint_new", args=[sid])),
        client.get(reverse("endpoints", args=[sid])),
        client.get(reverse("run", args=[sid, run.public_id])),
        client.get(reverse("run_calls", args=[sid, run.public_id])),
        client.get(reverse("run_call", args=[sid, run.public_id, run.calls.first().public_id])),
        client.get(reverse("run_new", args=[sid, campaign.public_id])),
        client.get(reverse("audit", args=[sid])),
        client.post(reverse("endpoint_archive", args=[sid, endpoint.public_id]), follow=True),
        client.get(reverse("audit", args=[sid])),
    ]
    for response in seen:
        assert response.status_code in (200, 302, 422)
        assert SENTINEL not in response.text
        assert SENTINEL[3:-4] not in response.text
    assert any("…WXYZ" in response.text for response in seen)
    assert seen[3].status_code == 200
    assert client.get(reverse("endpoint", args=[sid, endpoint.public_id])).status_code == 404
    call_command("dumpdata", "runs.endpoint")
    assert SENTINEL not in capsys.readouterr().out
    assert SENTINEL not in caplog.text
    assert not AuditEvent.objects.filter(details__icontains=SENTINEL[3:-4]).exists()


def test_a_probe_is_a_job_and_its_findings_are_shown(client, study, endpoint, monkeypatch):
    class Found:
        def as_dict(self):
            return {"seed": {"works": True, "evidence": "two equal answers"}}

    class Client:
        async def probe(self, model):
            return Found()

        async def close(self):
            """Nothing to give back."""

    monkeypatch.setitem(clients.MAKERS, Endpoint.Kind.REMOTE, lambda endpoint: Client())
    client.post(reverse("endpoint_probe", args=[study.public_id, endpoint.public_id]))
    url = reverse("endpoint", args=[study.public_id, endpoint.public_id])
    assert "data-reload-on-job" in client.get(url).text
    jobs.drain()
    shown = client.get(url).text
    assert "takes a seed" in shown
    assert "two equal answers" in shown
    assert "data-reload-on-job" not in shown


def test_the_model_in_the_box_comes_with_one_press_and_says_what_it_is(client, study):
    assert (
        "Add the model in the box" in client.get(reverse("endpoints", args=[study.public_id])).text
    )
    for _press in range(2):
        client.post(reverse("endpoint_embedded", args=[study.public_id]))
    endpoint = Endpoint.objects.get()
    shown = client.get(reverse("endpoints", args=[study.public_id])).text
    assert "Demonstration: answers at chance level" in shown
    url = reverse("endpoint", args=[study.public_id, endpoint.public_id])
    assert set(client.get(url).context["form"].fields) == {"name", "deadline_seconds"}
    client.post(url, {"name": "Tiny", "deadline_seconds": "90", "model": "gpt", "key": SENTINEL})
    client.post(reverse("endpoint_archive", args=[study.public_id, endpoint.public_id]))
    endpoint.refresh_from_db()
    assert (endpoint.name, endpoint.model) == ("Tiny", "smollm2-135m-instruct")
    assert not endpoint.has_key
    assert not endpoint.is_archived


def test_the_list_costs_the_same_queries_however_long(
    client, study, researcher, django_assert_max_num_queries
):
    for number in range(12):
        make_endpoint(study, researcher, f"Server {number}")
    with django_assert_max_num_queries(6):
        response = client.get(reverse("endpoints", args=[study.public_id]))
    assert len(response.context["page"].object_list) == 12


@pytest.mark.parametrize("elsewhere", ["//evil.example/", "https://evil.example/", "javascript:0"])
def test_the_model_in_the_box_leads_back_to_the_form_it_was_missing_in(client, study, elsewhere):
    add = reverse("endpoint_embedded", args=[study.public_id])
    back = reverse("generation_new", args=[study.public_id])
    assert client.post(add, {"next": back})["Location"] == back
    assert client.post(add, {"next": elsewhere})["Location"].startswith(
        add.removesuffix("embedded/")
    )
