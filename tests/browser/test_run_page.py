"""Judge runs in a browser: the estimate follows the form, the page follows the run."""

import pytest
from django.utils import timezone

from cqa_site.runs.models import Call, Run, WorkerBeat
from tests.cast import make_label_round, make_member, make_study
from tests.runs.judging import good
from tests.runs.made_runs import make_endpoint, make_run

pytestmark = pytest.mark.browser


def make_world():
    """A researcher, a round, and an endpoint."""
    study = make_study()
    researcher = make_member(study, "researcher")
    label_round = make_label_round(study, ordinary=25, controls=0)
    WorkerBeat.objects.create(worker="w", host="h", process_id=1, seen_at=timezone.now())
    return researcher, label_round, make_endpoint(study, researcher)


@pytest.fixture
def place(world):
    return world


def test_the_estimate_follows_the_form_and_a_price_asks_for_a_yes(place, visit):
    researcher, label_round, _endpoint = place
    visitor = visit(researcher)
    page = visitor.go("run_new", label_round.study.public_id, label_round.public_id)
    requests = page.locator("#estimate dd").first
    requests.get_by_text("25", exact=True).wait_for()
    page.locator("details.advanced > summary").click()
    page.fill("#id_replicates", "2")
    page.locator("#id_replicates").press("Tab")
    requests.get_by_text("50", exact=True).wait_for()
    page.fill("#id_replicates", "1")
    page.get_by_role("button", name="Start run").click()
    page.get_by_role("heading", name="It may cost up to").wait_for()
    assert not Run.objects.exists()
    assert visitor.axe() == []


def test_the_page_follows_the_run_and_stops_asking_when_it_waits(place, visit):
    researcher, label_round, endpoint = place
    run = make_run(label_round, endpoint, researcher, lambda request: good(2))
    Run.objects.update(state=Run.State.RUNNING)
    asked = []
    visitor = visit(researcher)
    visitor.context.on("request", lambda request: asked.append(request.url))
    page = visitor.go("run", label_round.study.public_id, run.public_id)
    page.get_by_text("20 of 25 requests finished").wait_for()
    first = run.calls.filter(state=Call.State.READY).first()
    Call.objects.filter(pk=first.pk).update(state=Call.State.CANCELLED)
    page.get_by_text("21 of 25 requests finished").wait_for()
    page.locator("#pause").focus()
    page.wait_for_timeout(2500)
    assert page.evaluate("document.activeElement.id") == "pause"
    Run.objects.update(state=Run.State.CHECKED)
    page.get_by_role("button", name="Continue").wait_for()
    page.wait_for_timeout(500)
    asked.clear()
    page.wait_for_timeout(2600)
    assert asked == []
