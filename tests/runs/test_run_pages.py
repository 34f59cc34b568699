"""Pages of judge runs: starting with a look at the price, steering, reading, comparing."""

import re
from functools import cached_property

import pytest
from django.contrib.messages import get_messages
from django.urls import reverse

from annotation.corpus.models import Argument
from annotation.judges.forms import RunForm
from annotation.judges.models import JudgeLabel
from cqa_site.judging.chat import ChatReply, Failure
from cqa_site.judging.extraction import UnscoredReason
from cqa_site.runs import progress
from cqa_site.runs.actions.endpoints import embedded_endpoint
from cqa_site.runs.ledger import gates
from cqa_site.runs.models import Call, Endpoint, Job, ProviderBatch, Reply, Run
from cqa_site.runs.templatetags.ledger import money
from tests.cast import make_label_round, make_member, make_study, sign_in
from tests.runs.judging import answer_by_text, good
from tests.runs.made_runs import first_prompt, make_endpoint, make_run
from tests.worlds import built_once

pytestmark = pytest.mark.django_db


FORM = {
    "choice": "all", "batch_size": "20", "temperature": "0", "max_tokens": "200", "seed": "1",
    "replicates": "1", "preflight": "ask", "mode": "live", "reuse": "on",
}  # fmt: skip


class RunLab:
    """A round of thirty sentences, an endpoint with a price, and somebody who looks at pages."""

    def __init__(self, items=30):
        self.study = make_study()
        self.researcher = make_member(self.study, "researcher")
        self.label_round = make_label_round(self.study, ordinary=items, controls=0)
        self.endpoint = make_endpoint(self.study, self.researcher)
        self.prompt = first_prompt(self.study, self.researcher)
        self.chosen = {"endpoint": str(self.endpoint.pk), "prompt": str(self.prompt.pk)}

    @cached_property
    def client(self):
        return sign_in(self.researcher)

    def url(self, name, *ids):
        return reverse(name, args=[self.study.public_id, *ids])

    def get(self, name, *ids, query=""):
        return self.client.get(self.url(name, *ids) + query)

    def page(self, run, name="run", query=""):
        return self.get(name, run.public_id, query=query)

    def new_run(self, **values):
        """Send the form."""
        return self.send("run_new", values)

    def estimate(self, **values):
        return self.send("run_estimate", values)

    def send(self, name, values):
        url = self.url(name, self.label_round.public_id)
        return self.client.post(url, FORM | self.chosen | values)

    def run(self, answer=answer_by_text, **chosen):
        """A run as far as it goes by itself."""
        plan = {"preflight": "off"} | chosen
        return make_run(self.label_round, self.endpoint, self.researcher, answer, **plan)


def build():
    """One without a run, and one with a run that is done."""
    judged = RunLab()
    judged.done = judged.run()
    Job.objects.all().delete()
    return RunLab(), judged


labs = built_once(build)


@pytest.fixture
def lab(labs):
    return labs[0]


@pytest.fixture
def judged(labs):
    return labs[1]


@pytest.fixture
def free(lab):
    """The same where requests cost nothing, so that a run starts at once."""
    Endpoint.objects.update(price_in=0, price_out=0)
    return lab


def test_a_run_with_a_price_starts_only_after_a_yes_to_exactly_this_price(lab):
    """The webhook's secret passes the question without being shown."""
    hook, secret = {"webhook_url": "https://hook.example/x"}, "a-very-long-secret-1"
    response = lab.new_run(**hook, webhook_secret=secret, sends_seed="on")
    assert response.status_code == 200
    assert secret not in response.text
    sealed = re.search(r'name="webhook_sealed" value="([^"]+)"', response.text).group(1)
    agreed = hook | {"webhook_sealed": sealed, "agreed": response.context["agreement"]}
    agreed["sends_seed"] = "on"
    assert f'name="agreed" value="{agreed["agreed"]}"' in response.text
    lab.new_run(**agreed, replicates="2", temperature="1")
    assert not lab.study.runs.exists()
    response = lab.new_run(**agreed)
    run = lab.study.runs.get()
    assert response.url == lab.url("run", run.public_id)
    assert run.spec["params"] == {"temperature": 0, "max_tokens": 200, "seed": 1}
    assert gates.unseal(run.webhook_ciphertext) == secret


def test_a_run_without_a_price_starts_at_once_and_the_same_again_leads_to_it(free):
    assert free.new_run(look="1").context["estimate"].requests == 30
    assert not free.study.runs.exists()
    assert last_message(free.new_run(name="First try")) == "Run #1 is being prepared."
    assert free.study.runs.get().name == "First try"
    free.study.runs.update(state=Run.State.PAUSED, pause_reason="person")
    said = last_message(free.new_run())
    assert said == "No new run was started, because run #1 has the same requests (paused)."
    assert free.study.runs.count() == 1


def last_message(response):
    return str(list(get_messages(response.wsgi_request))[-1])


def test_the_form_says_what_does_not_fit_and_marks_endpoints_that_never_answered(lab):
    silent = make_endpoint(lab.study, lab.researcher, "A silent one")
    Endpoint.objects.filter(pk=silent.pk).update(probed_at=None)
    response = lab.new_run(choice="sample")
    assert response.status_code == 422
    for shown in (response, lab.estimate(choice="sample")):
        assert "Enter the sample size." in shown.text
    labels = [label for _value, label in response.context["form"].fields["endpoint"].choices]
    assert labels == ["Stub · stub-1", "A silent one · stub-1 (no successful probe yet)"]
    assert not lab.study.runs.exists()


def test_a_server_is_proposed_before_the_built_in_model(lab):
    embedded_endpoint(study=lab.study)
    choices = lab.estimate(choice="all").context["form"].fields["endpoint"].choices
    first, second = (label for _value, label in choices)
    assert (first, second.partition(" · ")[0]) == ("Stub · stub-1", "Built-in model")


WRONG = [
    ({"choice": "sample"}, "sample", "sample size"),
    ({"max_tokens": ""}, "max_tokens", "not bounded"),
    ({"extra": "{"}, "extra", "not valid JSON"),
    ({"extra": "[1]"}, "extra", "JSON object"),
    ({"extra": '{"temperature": 1}'}, "extra", "its own field"),
    ({"extra": '{"messages": []}'}, "extra", "set by the engine"),
    ({"extra": '{"max_completion_tokens": "x"}'}, "extra", "whole number"),
    ({"extra": '{"a": 1, "a": 2}'}, "extra", "occurs twice"),
    ({"webhook_url": "ftp://x.example"}, "webhook_url", "https://"),
    ({"webhook_url": "https://x.example/", "webhook_secret": "short"}, "webhook_secret", "16"),
    ({"webhook_url": "https://x.example/", "webhook_sealed": "x"}, "webhook_secret", "again"),
    ({"replicates": "51"}, "replicates", "50"),
    ({"cap": "-1"}, "cap", "0"),
    ({"temperature": "nan"}, "temperature", "number"),
]


def test_a_wrong_value_is_an_error_of_its_field(lab):
    for values, field, text in WRONG:
        given = FORM | lab.chosen | values
        form = RunForm(given, label_round=lab.label_round, actor=lab.researcher)
        assert any(text in error for error in form.errors[field]), values


def test_a_run_may_travel_as_batches_but_not_to_the_model_in_the_box(free):
    extra = '{"max_completion_tokens": 150}'
    free.new_run(mode="batch", max_tokens="", extra=extra)
    run = free.study.runs.get()
    assert run.mode == Run.Mode.BATCH
    assert run.spec["params"] == {"temperature": 0, "max_completion_tokens": 150}
    Endpoint.objects.update(kind="embedded")
    response = free.new_run(mode="batch")
    assert "no batch service" in str(response.context["form"].errors["mode"])


def test_the_pre_flight_asks_limits_change_and_a_run_that_goes_on_is_watched(lab):
    run = lab.run(lambda request: "?" if "point 7" in str(request) else good(2), preflight="ask")
    shown = lab.page(run).text
    assert "Every sample reply gave the same result." in shown
    assert lab.url("run_go_on", run.public_id) in shown
    # The sample is listed whatever became of it.
    link = lab.url("run_calls", run.public_id) + "?state=sample"
    assert f'href="{link}"' in shown
    assert lab.client.get(link).context["page"].paginator.count == 20
    limits = lab.url("run_limits", run.public_id)
    for given, cap, ceiling in (({"cap": "1.5", "ceiling": "3"}, 1_500_000, 3), ({}, None, None)):
        lab.client.post(limits, given)
        run = lab.study.runs.select_related("budget").get()
        assert (run.budget.cap_micro, run.ceiling) == (cap, ceiling)
        assert ('value="1.5"' in lab.page(run).text) == bool(given)
    response = lab.client.post(limits, {"cap": "much"}, follow=True)
    assert "Spending cap" in str(next(iter(response.context["messages"])))
    fragment = lab.url("run_progress", run.public_id)
    assert lab.client.get(fragment)["HX-Trigger"] == "job-ended"
    lab.client.post(lab.url("run_go_on", run.public_id))
    run.refresh_from_db()
    assert run.state == Run.State.RUNNING
    assert 'hx-trigger="every 2s"' in lab.page(run).text
    assert "HX-Trigger" not in lab.client.get(fragment)


def test_a_finished_run_shows_its_batches_and_moves_no_more_but_can_be_made_again(judged):
    run = judged.done
    batch = ProviderBatch.objects.create(run=run, state="submitted", remote_status="in_progress")
    run.calls.filter(position__lt=7).update(batch=batch)
    refused = judged.client.post(judged.url("run_pause", run.public_id), follow=True)
    assert [str(message) for message in refused.context["messages"]] == ["The run is done."]
    assert [row.size for row in refused.context["batches"]] == [7]
    assert "in_progress" in refused.text
    # Where the judge stands beside people is one click away.
    assert f'href="{judged.url("judges", judged.label_round.public_id)}"' in refused.text
    response = judged.client.post(judged.url("run_again", run.public_id))
    again = judged.study.runs.get(number=2)
    assert response.url == judged.url("run", again.public_id)
    assert again.spec["reuse"] is False
    judged.client.post(judged.url("run_cancel", again.public_id))
    again.refresh_from_db()
    assert again.state == Run.State.CANCELLED


def test_unscored_requests_are_asked_again_by_reason(lab):
    def answer(request):
        text = request.messages[-1]["content"]
        if "point 7." in text:
            return "no json"
        return good(9) if "point 8." in text else answer_by_text(request)

    run = lab.run(answer)
    shown = lab.page(run).text
    assert "The reply contained no JSON object." in shown
    assert "does not fit the request: a value is outside the scale" in shown
    url = lab.url("run_retry", run.public_id)
    lab.client.post(url, {"reason": "no_json"})
    assert run.calls.filter(state=Call.State.READY).count() == 1
    assert run.calls.get(state=Call.State.UNSCORED).reason == "out_of_set"


@pytest.mark.long
def test_the_list_filters_by_label_round_and_state(judged):
    second = make_label_round(judged.study, ordinary=25, controls=0, name="Round 2")
    make_run(second, judged.endpoint, judged.researcher, lambda request: good(1))

    def numbers(query):
        found = judged.get("runs", query=query).context["page"]
        return [run.number for run in found]

    assert numbers("") == [2, 1]
    assert numbers(f"?label_round={judged.label_round.public_id}") == [1]
    assert numbers("?state=checked") == [2]
    assert numbers("?label_round=nonsense&state=nonsense") == [2, 1]


@pytest.mark.long
def test_pages_cost_the_same_queries_however_many_runs_and_calls(
    judged, django_assert_max_num_queries
):
    run = judged.done
    for seed in (2, 3, 4):
        judged.run(seed=seed)
    rid, round_id = run.public_id, judged.label_round.public_id
    assert judged.client
    costs = [
        (8, "runs", [], ""), (15, "run", [rid], ""), (12, "run_progress", [rid], ""),
        (9, "run_calls", [rid], ""), (10, "run_call", [rid, run.calls.first().public_id], ""),
        (12, "run_compare", [round_id], "?a=1&b=2"), (14, "run_new", [round_id], ""),
    ]  # fmt: skip
    for most, name, ids, query in costs:
        with django_assert_max_num_queries(most, info=name):
            assert judged.get(name, *ids, query=query).status_code == 200


@pytest.mark.long
def test_a_run_that_waits_is_on_the_first_page_of_researchers_only(lab):
    run = lab.run(lambda request: good(2), preflight="ask")
    link = lab.url("run", run.public_id)
    assert link in lab.get("study").text
    for role in ("annotator", "expert"):
        client = sign_in(make_member(lab.study, role))
        assert link not in client.get(lab.url("study")).text


def test_a_call_shows_request_attempts_raw_reply_and_reading(lab):
    odd = {"text": "<script>alert(1)</script>", "finish_reason": "stop", "model": "stub-1"}
    odd |= {"body": '{"choices": ["<b>raw</b>"]}', "tokens_in": 100, "tokens_out": 5}

    def answer(request):
        text = request.messages[-1]["content"]
        if "point 8." in text and request.params["max_tokens"] == 200:
            return ChatReply(text='{"reason": "It', finish_reason="length")
        return ChatReply(**odd) if "point 7." in text else answer_by_text(request)

    run = lab.run(answer)
    call = run.calls.get(reason="no_json")
    response = lab.get("run_call", run.public_id, call.public_id)
    assert response.context["asked"].is_same
    assert len(response.context["attempts"]) == 2
    assert "tea beats coffee in point 7." in response.text
    assert "=== begin " in response.text
    assert "&lt;script&gt;alert(1)" in response.text
    assert "<script>alert(1)" not in response.text
    assert "&lt;b&gt;raw&lt;/b&gt;" in response.text
    Reply.objects.filter(pk=call.reply_id).update(body="x" * 100_250)
    Argument.objects.filter(pk=call.subject_ids[0]).update(text="Something else.")
    response = lab.get("run_call", run.public_id, call.public_id)
    assert "250 more characters are stored." in response.text
    assert response.context["asked"].is_same is False
    # One that was asked again with a larger limit still matches.
    longer = run.calls.get(token_limit=400)
    response = lab.get("run_call", run.public_id, longer.public_id)
    assert response.context["asked"].is_same is True
    assert "limit of 400 tokens" in response.text


def label_as(run, labels):
    """Give the run's arguments these labels in order; None makes an answer unscored."""
    rows = JudgeLabel.objects.filter(run=run).order_by("argument")
    for row, label in zip(rows, labels, strict=True):
        row.label, row.reason = label, "" if label is not None else "no_json"
        row.rationale = f"because {run.number}-{label}"
        row.save()


@pytest.fixture
def few():
    return RunLab(items=5)


def compared(lab):
    response = lab.get("run_compare", lab.label_round.public_id, query="?a=1&b=2")
    return response.context["compared"], response.text


@pytest.mark.long
def test_two_runs_are_compared_on_the_sentences_both_labelled(few):
    one, two = few.run(), few.run(seed=2)
    label_as(one, [0, 1, 2, 3, None])
    label_as(two, [0, 1, 3, 0, 2])
    found, _text = compared(few)
    assert (found.n_common, found.n_first, found.n_second) == (4, 4, 5)
    same, ordinal, interval = found.estimates
    assert same.value == 0.5
    # By hand: observed 2(1 + 9)/8 over expected 2·sum of squared differences of all pairs / 56.
    # The labels are 0 0 0 1 1 2 3 3: squared differences of its 28 pairs sum to 92.
    assert interval.value == pytest.approx(1 - (20 / 8) / (184 / 56))
    assert ordinal.level == "ordinal"
    assert found.confusion == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0]]
    assert [row.labels for row in found.differing] == [(3, 0), (2, 3)]
    assert found.differing[0].rationales == ("because 1-3", "because 2-0")
    label_as(one, [None] * 5)
    found, text = compared(few)
    assert found.n_common == 0
    assert text.count("not defined") == 3
    for query in ("?a=x&b=1", "?a=99&b=1", "?a=1&b=%C2%B2"):
        assert few.get("run_compare", few.label_round.public_id, query=query).status_code == 404


@pytest.mark.long
def test_replicates_count_with_their_most_frequent_label(few):
    one = few.run(replicates=4, params={"temperature": 1, "max_tokens": 200})
    label_as(few.run(), [2] * 5)
    for row in one.judge_labels.all():
        JudgeLabel.objects.filter(pk=row.pk).update(label=(1, 3, 1, 3)[row.replicate])
    found, _text = compared(few)
    assert [row.labels for row in found.differing] == [(3, 2)] * 5


def test_every_reason_has_a_sentence_and_money_is_shown_in_units():
    for name in [*Failure, *UnscoredReason, "poison"]:
        sentence = progress.reason_in_words(getattr(name, "value", name))
        assert sentence.endswith(".")
        assert "_" not in sentence.replace("EGRESS_ALLOW", "")
    assert progress.reason_in_words("parser_keyerror").endswith("(keyerror).")
    units = {None: "–", 0: "0", 1: "< 0.0001", 100: "0.0001", 12_345: "0.0123"}
    units |= {1_500_000: "1.50", 2_000_000: "2.00", 1_234_567_890: "1,234.5679"}
    assert {micro: money(micro) for micro in units} == units
