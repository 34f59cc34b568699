"""What holds for every kind of run, written once; `every_kind` has a small study for each."""

import pytest
from django.utils import timezone

from cqa_site.judging.chat import ChatReply
from cqa_site.runs import planning
from cqa_site.runs.actions import runs as control
from cqa_site.runs.actions.runs import hold_back
from cqa_site.runs.carrying import worker
from cqa_site.runs.carrying.worker import drain_inline
from cqa_site.runs.integrity import find_violations
from cqa_site.runs.kinds import KINDS, about, kind_of
from cqa_site.runs.ledger.replies import FinishedRequest
from cqa_site.runs.models import Attempt, Call, Gate, Job, Reply, Run
from cqa_site.runs.planning import estimate_run, write_calls
from cqa_site.runs.tasks import wake
from cqa_site.web.limits import CourtesyThrottle
from tests.api.conftest import client_of
from tests.cast import sign_in
from tests.lengths import mostly
from tests.runs.every_kind import CASES, without_models
from tests.runs.judging import script
from tests.runs.turns import A_DAY, change, readings, turn

pytestmark = pytest.mark.django_db

assert worker  # registers the jobs these tests run
State = Run.State
# What the check says of a row that was changed.
CHANGED = (
    "differs from its reply",
    "does not match its hash",
    "a result from an earlier lease",
    "its points add up to another",
)


@pytest.fixture(scope="module", params=CASES)
def kind(request):
    return request.param


# What the ledger does for all kinds alike, and what tests of their rooms ask, too.
SOME_KINDS = pytest.mark.parametrize("kind", mostly(CASES, "relevance"), indirect=True)


@pytest.fixture(scope="module")
def built(kind, build_once):
    return build_once(CASES[kind].build)


@pytest.fixture
def world(built, db, monkeypatch):
    without_models(monkeypatch)
    monkeypatch.setattr(CourtesyThrottle, "rate", None)
    return built.copy()


@pytest.fixture
def case(kind):
    return CASES[kind]


@pytest.fixture
def client(case, monkeypatch):
    """The scripted endpoint; it keeps the requests that it got."""
    return script(monkeypatch, case.answer)


def planned(world, **chosen):
    """A run whose requests are written down and wait."""
    run = world.start(**chosen)
    write_calls(run)
    run.refresh_from_db()
    Job.objects.all().delete()
    return run


def carry(run):
    """Send what may be sent; no job follows."""
    drain_inline()
    run.refresh_from_db()
    return run


def stored(case, run):
    """The requests of which a row was stored, each under the fence of its last attempt."""
    rows = [row for name in case.rows for row in getattr(run, name).select_related("call")]
    assert all(row.fence == row.call.fence for row in rows if hasattr(row, "fence"))
    return sorted(row.call_id for row in rows)


def calls_of(run):
    return sorted(run.calls.values_list("pk", flat=True))


def violations():
    return list(find_violations())


def test_every_registered_kind_is_tried_out_here():
    assert set(CASES) == set(KINDS)


@SOME_KINDS
def test_a_run_from_its_form_to_its_page(
    kind, world, client, monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.setattr(planning, "CANARIES", 1)
    browser = sign_in(world.researcher)
    form_page = world.url(world.form, *world.ids)
    form = browser.get(form_page).context["form"]
    given = {each.name: each.initial for each in form if each.initial not in (None, "")}
    given = {name: value for name, value in given.items() if value is not False}
    given |= {"endpoint": world.endpoint.pk, "prompt": world.plan.prompt.pk, "name": "By hand"}
    given |= {"replicates": "1", "preflight": "ask", "extra": "", "max_tokens": "900"}
    given |= world.fields
    asks = browser.post(form_page, given)
    assert asks.status_code == 200, asks.context["form"].errors
    assert not Run.objects.exists()
    agreed = {"agreed": asks.context["agreement"]}
    with django_capture_on_commit_callbacks(execute=True):
        answer = browser.post(form_page, given | agreed)
    run = Run.objects.get()
    page = world.url("run", run.public_id)
    assert answer["Location"] == page
    assert (run.kind, run.state, run.name) == (kind, State.CHECKED, "By hand")
    assert run.preflight["valid"] == len(client.requests) == 1
    with django_capture_on_commit_callbacks(execute=True):
        assert browser.post(world.url("run_go_on", run.public_id))["Location"] == page
    run.refresh_from_db()
    assert run.state == State.DONE
    assert len(client.requests) == run.planned == asks.context["estimate"].requests
    assert violations() == []
    text = browser.get(page).text
    assert run.spec_hash in text
    assert 'hx-trigger="every' not in text
    assert "Key matches" in call_page(browser, world, run)
    home = kind_of(run).home
    listed = browser.get(world.url(home.route))
    # Runs that write are listed as what they write for.
    assert f"Run #{run.number}" in listed.text or home.section == "key_points"


def call_page(browser, world, run):
    """The page of the first request, after the table of all of them."""
    table = browser.get(world.url("run_calls", run.public_id))
    assert table.context["page"].paginator.count == run.planned
    call = run.calls.order_by("position").first()
    return browser.get(world.url("run_call", run.public_id, call.public_id)).text


@SOME_KINDS
def test_a_run_by_a_program(kind, world, client, django_capture_on_commit_callbacks):
    program = client_of(world.researcher)
    base = f"/api/v1/studies/{world.study.public_id}/runs/"
    body = world.body | {
        "kind": kind,
        "endpoint": str(world.endpoint.public_id),
        "prompt": str(world.plan.prompt.public_id),
        "preflight": "off",
    }
    if kind != "preferring":
        body["replicates"] = 1

    def post(path, status, **changed):
        with django_capture_on_commit_callbacks(execute=True):
            answer = program.post(base + path, body | changed, format="json")
        assert answer.status_code == status, answer.content
        return answer.json()

    nobody = "00000000-0000-0000-0000-000000000007"
    for wrong in ({"endpoint": nobody}, {"prompt": nobody}, {"unknown": 1}, {"max_tokens": None}):
        assert post("", 400, **wrong)["errors"].keys() == wrong.keys()
    told = post("estimate/", 200, cap_micro=1)
    assert told["passes_cap"] is True
    assert not Run.objects.exists()
    run = program.get(f"{base}{post('', 201)['id']}/").json()
    assert (run["kind"], run["state"], run["planned"]) == (kind, "done", told["requests"])
    assert run["unscored"] == 0
    assert [row["id"] for row in program.get(f"{base}?kind={kind}").json()["results"]] == [
        run["id"]
    ]
    other = next(each for each in CASES if each != kind)
    assert program.get(f"{base}?kind={other}").json()["results"] == []
    calls = program.get(f"{base}{run['id']}/calls/").json()
    assert calls["count"] == run["planned"] == len(client.requests)
    call = program.get(f"{base}{run['id']}/calls/{calls['results'][0]['id']}/").json()
    assert call["asked"]["is_same"] is True
    assert [attempt["outcome"] for attempt in call["attempts"]] == ["replied"]


@SOME_KINDS
def test_a_plan_takes_what_its_estimate_says_and_a_second_one_is_the_first(world, case):
    found, is_sampled = estimate_run(control.draft(world.plan, world.study))
    assert not is_sampled
    run = world.start()
    assert world.start() == run
    assert sign_in(world.researcher).get(world.url("run", run.public_id)).status_code == 200
    assert write_calls(run) == found.requests > 1
    assert write_calls(run) == 0
    assert sum(run.calls.values_list("reserve_micro", flat=True)) == found.cost_micro
    assert str(about(run))


@SOME_KINDS
def test_writing_requests_costs_the_same_queries_for_one_and_for_all(
    world, django_assert_max_num_queries
):
    run = world.start()
    of_kind = kind_of(run)
    subjects = list(of_kind.subjects(run))
    assert len({subject.name for subject in subjects}) == len(subjects) > 1
    run.prompt.system  # noqa: B018  loaded here, not below
    with django_assert_max_num_queries(100) as alone:
        of_kind.questions(run, subjects[:1])
    with django_assert_max_num_queries(len(alone)):
        assert len(of_kind.questions(run, subjects)) == len(subjects)


@SOME_KINDS
def test_a_prompt_is_previewed_as_it_would_be_sent(kind, world):
    prompt, run = world.plan.prompt, world.start()
    url = world.url("prompt_preview", prompt.public_id)
    text = {"name": "x", "system": prompt.system, "user": prompt.user, "note": ""}
    preview = sign_in(world.researcher).post(url, text).context["preview"]
    questions = kind_of(run).questions(run, list(kind_of(run).subjects(run)))
    asked = [question.messages for question in questions]
    if kind in ("writing", "point_proposal", "point_assignment"):
        # No study is asked for its clusters: the first arguments of a cell stand for one. Others
        # are previewed with as many statements as is usual.
        preview["messages"], asked = preview["messages"][0], [each[0] for each in asked]
    assert preview["messages"] in asked


@SOME_KINDS
def test_replies_are_stored_once_and_used_again(kind, world, case, client):
    run = carry(planned(world))
    assert run.state == State.DONE
    assert stored(case, run) == calls_of(run)
    assert Reply.objects.count() == len(client.requests) == run.planned
    assert (run.budget.reserved_micro, violations()) == (0, [])
    assert run.budget.spent_micro > 0
    if kind == "writing":
        # Clusters with a key point are not asked about again.
        run.written_parts.all().delete()
    Job.objects.all().delete()
    second = carry(planned(world))
    assert (second.reused, second.budget.spent_micro) == (run.planned, 0)
    assert stored(case, second) == calls_of(second)
    assert len(client.requests) == run.planned


@SOME_KINDS
def test_a_reply_without_a_value_is_unscored_with_a_reason_until_it_is_asked_again(
    world, case, monkeypatch
):
    empty = script(monkeypatch, lambda request: ChatReply(text="", finish_reason="stop"))
    run = carry(planned(world))
    assert run.state == State.DONE
    assert set(run.calls.values_list("state", "reason")) == {(Call.State.UNSCORED, "empty")}
    tries = 2 if run.params.get("temperature") == 0 else 3
    assert len(empty.requests) == tries * run.planned
    assert violations() == []
    browser = sign_in(world.researcher)
    assert "The reply was empty" in browser.get(world.url("run", run.public_id)).text
    script(monkeypatch, case.answer)
    with pytest.raises(control.RunRefused):
        control.retry_unscored(run=run, actor=world.researcher, reasons=["refused"])
    assert control.retry_unscored(run=run, actor=world.researcher) == run.planned
    carry(run)
    assert run.state == State.DONE
    assert set(run.calls.values_list("state", "reason")) == {(Call.State.DONE, "")}
    assert stored(case, run) == calls_of(run)
    assert violations() == []


@SOME_KINDS
def test_a_late_reply_is_kept_and_changes_nothing(world, case):
    run = planned(world)
    sent = turn(world).outgoing
    change(sent, lease_until=timezone.now() - A_DAY)
    # Long enough ago that the first worker has no share any more.
    Gate.objects.update(workers={})
    taken = turn(world, "b", does_reap=True).outgoing
    late = turn(world, "a", finished=[answered(each, "") for each in sent])
    assert late.to_read == []
    assert set(Attempt.objects.filter(fence=1).values_list("outcome", flat=True)) == {"stale"}
    assert Reply.objects.filter(attempts__fence=1).count() == len(sent)
    assert stored(case, run) == []
    in_time = [answered(each, case.answer(each.request)) for each in taken]
    turn(world, "b", read=readings(turn(world, "b", finished=in_time)))
    assert stored(case, run) == sorted(each.call.pk for each in taken)
    assert {each.call.fence for each in taken} == {2}
    assert violations() == []


def answered(sent, text):
    return FinishedRequest(sent, reply=ChatReply(text, "stop", "m", tokens_in=100, tokens_out=10))


def test_what_contradicts_the_ledger_is_found(world, case, client):
    run = carry(planned(world))
    assert violations() == []
    for name in case.rows:
        rows = getattr(run, name)
        first = rows.order_by("pk").first()
        rows.filter(pk=first.pk).delete()
        assert any(f"call {first.call_id} " in said for said in violations()), name
    changed = getattr(run, case.rows[0]).order_by("pk").last()
    rows = type(changed).objects.filter(pk=changed.pk)
    if fence := getattr(changed, "fence", None):
        rows.update(fence=99)
        assert any(f"call {changed.call_id} " in said for said in violations())
        rows.update(fence=fence)
    before = set(violations())
    rows.update(**case.changed)
    said = set(violations()) - before
    assert [each for each in said if any(words in each for words in CHANGED)], said


@SOME_KINDS
def test_a_run_is_paused_resumed_and_cancelled(world, case, client):
    run = planned(world)
    control.pause_run(run=run, actor=world.researcher)
    carry(run)
    assert (run.state, run.pause_reason, client.requests) == (State.PAUSED, "person", [])
    control.resume_run(run=run, actor=world.researcher)
    sent = turn(world, room=1).outgoing
    control.cancel_run(run=run, actor=world.researcher)
    kept = turn(world, finished=[answered(each, case.answer(each.request)) for each in sent])
    turn(world, read=readings(kept))
    carry(run)
    assert (run.state, client.requests) == (State.CANCELLED, [])
    assert stored(case, run) == [each.call.pk for each in sent]
    assert run.calls.filter(state=Call.State.CANCELLED).count() == run.planned - 1
    assert violations() == []
    with pytest.raises(control.RunRefused):
        control.resume_run(run=run, actor=world.researcher)


@SOME_KINDS
def test_a_run_stops_at_its_cap_and_after_a_restore(world, client):
    run = carry(planned(world, cap_micro=1))
    assert (run.state, run.pause_reason, client.requests) == (State.PAUSED, "budget", [])
    assert violations() == []
    control.set_cap(run=run, actor=world.researcher, cap_micro=None)
    control.resume_run(run=run, actor=world.researcher)
    assert hold_back("default").runs == 1
    wake()
    run.refresh_from_db()
    assert (run.pause_reason, client.requests) == (Run.RESTORED, [])
    control.resume_run(run=run, actor=world.researcher)
    assert carry(run).state == State.DONE
