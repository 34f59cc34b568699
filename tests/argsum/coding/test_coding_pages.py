"""Pages and interface of proposals, sign-off and assignments."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from argsum.coding.forms import PointAssignmentForm, PointProposalForm
from argsum.coding.models import CodedStatement
from argsum.coding.reports import CodingKey, proposal_of
from cqa_site.runs.integrity import find_violations
from tests.argsum.analysis.labs import Answered
from tests.argsum.analysis.made_writing import carry, go_on
from tests.argsum.signed_in import page_text
from tests.runs.made_runs import scripted
from tests.worlds import built_once
from . import test_assignment
from .made_coding import TEXTS, assigns, proposal_plan, proposes

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("word_scorer")]


class Lab(test_assignment.Lab):
    """Forms of its pages, and a model that proposes key points, too."""

    def propose(self):
        plan = proposal_plan(self.analysis, self.endpoint, self.boss)
        return carry(self.analysis, self.boss, proposes, plan)

    def form(self, page, **fields):
        """The fields of a form as it is offered, with others in their place."""
        form = self.get(page).context["form"]
        given = {each.name: each.initial for each in form if each.initial not in (None, "", False)}
        usual = {"endpoint": self.endpoint.pk, "replicates": "1", "extra": "", "preflight": "off"}
        prompt = form.fields["prompt"].queryset.first()
        return given | usual | {"prompt": prompt.pk} | fields


class Assigned(Answered, Lab):
    """Statements that a model assigned."""


lab = built_once(Lab)
assigned = built_once(Assigned)


def test_the_whole_way_on_pages(lab, django_capture_on_commit_callbacks):
    """Propose, accept, sign off, assign; each page says what comes next."""
    page = lab.text("analysis")
    assert "Propose key points with a language model" in page
    with scripted(proposes), django_capture_on_commit_callbacks(execute=True):
        fields = lab.form("point_proposal", statements=6)
        agreement = lab.post("point_proposal", fields).context["agreement"]
        lab.post("point_proposal", fields | {"agreed": agreement})
    lab.propose()
    assert "Already exists" in lab.text("run", run_id=lab.analysis.coding.public_id)
    lab.analysis.points.filter(text=TEXTS["quiet"]).update(state="proposed")
    page = lab.text("analysis")
    assert "Changed since sign-off" in page
    assert "Sign off key points" not in page
    lab.post("analysis_edit", {"verb": "take_all", "seen": 99})
    page = lab.text("analysis")
    assert "Signed off by Ada" in page
    assert "Assign statements with a language model" in page
    run = lab.assign()
    text = lab.text("run", run_id=run.public_id)
    assert "Match scores agree" in text
    assert "Audit the placements" in text
    assert "assigned statements" in lab.text("analysis")
    history = lab.text("analysis_history")
    assert "Statements assigned by a language model" in history
    assert f"Run #{run.number}" in history
    report = lab.text("analysis_report")
    assert "stub-1, prompt v1" in report
    assert "Assigned by a language model" in report


def test_the_price_comes_first_and_without_a_sign_off_the_page_says_what_to_do(lab):
    for page in ("point_proposal", "point_assignment"):
        text = page_text(lab.post(f"{page}_estimate", lab.form(page)))
        assert "Cost without retries" in text
        assert "token limit for replies is tight" not in text
        tight = page_text(lab.post(f"{page}_estimate", lab.form(page, max_tokens=50)))
        assert "token limit for replies is tight" in tight
    assert PointProposalForm.base_fields["max_tokens"].initial >= 80 * 20
    assert PointAssignmentForm.base_fields["max_tokens"].initial >= 100 * 10
    # Without a sign off the page says what to do.
    lab.analysis.sign_offs.all().delete()
    page = lab.text("point_assignment")
    assert "Key points are not signed off" in page
    answer = lab.post("point_assignment", {"kind": "x"})
    assert answer.status_code == 422
    form = {"endpoint": lab.endpoint.pk}
    assert "not signed off" in page_text(lab.post("point_assignment_estimate", form))
    # Accepting all can hide what the program found.
    lab.analysis.points.update(state="hidden")
    lab.analysis.points.update(text="Other")
    run = lab.propose()
    assert "Accept all and hide key points found by the program" in lab.text("analysis")
    page = page_text(lab.post("analysis_edit", {"verb": "replace", "seen": 99}, htmx=True))
    assert "Accepted" in page
    assert lab.analysis.points.filter(state="shown", writer=run).count() == 3


def test_a_program_starts_both_and_reads_codes(assigned):
    lab, run = assigned, assigned.run
    prompts = {each["kind"]: each["id"] for each in lab.told("prompts")["results"]}
    usual = {"analysis": str(lab.analysis.public_id), "endpoint": str(lab.endpoint.public_id)}
    kinds = {"point_proposal": "propose_key_points", "point_assignment": "assign_statements"}
    for kind, prompt in kinds.items():
        body = usual | {"kind": kind, "prompt": prompts[prompt]}
        response = lab.api.post(lab.url("api_runs"), body, format="json")
        assert response.status_code == 201, response.json()
        lab.study.runs.update(state="cancelled")
    lab.rows(run).filter(argument=lab.moved[0]).update(agrees=False)
    (row,) = lab.told("run_codes", {"agrees": "false"}, run_id=run.public_id)["results"]
    statement = lab.cell.arguments.get(pk=lab.moved[0])
    assert row == {
        "statement": str(statement.public_id), "attempt": 1, "codes": ["K3"],
        "note": "It says so.", "reason": "", "nearest": "K3", "agrees": False,
        "call": row["call"],
    }  # fmt: skip
    other = lab.propose()
    assert lab.api.get(lab.url("api_run_codes", run_id=other.public_id)).status_code == 404


def test_more_statements_cost_no_more_queries(assigned):
    lab, run = assigned, assigned.run
    pages = [("analysis", {}), ("run", {"run_id": run.public_id}), ("analysis_report", {})]

    def queries():
        numbers = []
        for name, ids in pages:
            with CaptureQueriesContext(connection) as captured:
                lab.text(name, **ids)
            numbers.append(len(captured))
        return numbers

    run.coded_statements.update(agrees=False)
    queries()
    many = queries()
    CodedStatement.objects.exclude(argument=lab.moved[0]).delete()
    assert queries() == many


def test_a_run_that_changed_nothing_says_so_and_the_ledger_survives_the_analysis(assigned):
    lab, run = assigned, assigned.run
    assert "assigned statements" in lab.text("analysis")
    change = lab.analysis.changes.get(verb="coded")
    lab.undo(change)
    page = lab.text("analysis")
    assert "assigned statements" not in page
    assert "changed nothing here, or its changes were undone" in page
    assert f"Run #{run.number}" in page
    # Ledger and pages of the runs survive the analysis.
    proposed = lab.propose()
    lab.delete()
    assert lab.rows(run).count() == 13
    assert len(CodingKey.of(run.calls.first().subject_ids).statements) == 4
    assert proposed.proposed_lists.count() == 4
    assert {entry.point for entry in proposal_of(proposed).entries} == {None}
    assert list(find_violations()) == []
    for each in (run, proposed):
        assert "a deleted analysis" in lab.text("run", run_id=each.public_id)
        lab.text("run_calls", run_id=each.public_id)


def test_an_error_of_an_earlier_run_is_not_shown_on_the_page_of_the_next(lab):
    first = lab.begin()
    change = lab.rename(lab.quiet, "It is loud.")
    go_on(assigns)
    said = "Key points have changed since they were signed off"
    assert said in lab.text("run", run_id=first.public_id)
    lab.undo(change)
    second = lab.start()
    assert said not in lab.text("run", run_id=second.public_id)
