"""Experts read and edit analyses; who answers an open audit does not see its analysis."""

import re
from functools import cached_property
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from argsum.analysis.actions.edits import rename_point
from argsum.analysis.actions.themes import sign_off
from argsum.analysis.models import Analysis, FoundPoint, PointChange, SignOff
from argsum.auditing.actions import AuditContent
from argsum.auditing.models import AuditSheet
from cqa_site.people.actions import rater_for
from cqa_site.people.models import AuditEvent
from cqa_site.rounds.access import decide_rater
from cqa_site.rounds.drafts import DraftSubmission, submit_sheet
from cqa_site.rounds.lifecycle import close_round, open_round
from cqa_site.rounds.models import COUNTED, Place
from cqa_site.rounds.queue import next_sheet, place_for
from tests.argsum.analysis.made_comments import make_cell, write_analysis
from tests.argsum.signed_in import page_text as flat
from tests.cast import make_member, sign_in
from tests.security.matrix import STUDY_ROUTES
from tests.worlds import built_once
from . import test_auditing

pytestmark = pytest.mark.django_db

# All addresses of an analysis that experts may open, and those of forms that they may send.
OPENED = ["analysis", "analysis_state", "analysis_history", "analysis_rest", "analysis_said"]
OPENED += ["found_point"]
SENT = ["analysis_edit", "analysis_undo", "analysis_rest_edit", "found_point_edit"]
SENT += ["analysis_sign_off"]
LINK = re.compile(r'(?:href|action|hx-get|hx-post)="(/s/[^"]+)"')


class Lab(test_auditing.Lab):
    """An expert is signed in."""

    def __init__(self):
        super().__init__()
        self.expert = make_member(self.study, "expert", "Ella")
        self.rater = rater_for(membership=self.expert.memberships.get())

    @property
    def ids(self):
        placed = self.analysis.placements.filter(point=self.points[0]).first()
        ids = {"statement_id": placed.argument.public_id, "revision": 1}
        return super().ids | ids | {"point_id": self.points[0].public_id}

    @cached_property
    def client(self):
        return sign_in(self.expert)

    def take(self, round_):
        return next_sheet(round_=round_, rater=self.rater).sheet

    def submit(self, sheet):
        sent = DraftSubmission(AuditContent("makes"), sheet.version)
        return submit_sheet(sheet=sheet, sent=sent, key=str(sheet.pk))

    def edit(self, name, /, **fields):
        seen = Analysis.objects.get(pk=self.analysis.pk).revision
        return self.post(name, {"seen": seen} | fields)

    def statuses(self):
        opened = {self.get(name).status_code for name in OPENED}
        return opened | {self.post(name).status_code for name in SENT}

    def stored(self):
        rows = (FoundPoint, PointChange, SignOff)
        return [list(model.objects.order_by("pk").values()) for model in rows]


lab = built_once(Lab)


def test_experts_edit_and_sign_off_in_their_own_name(lab):
    first, second, third = lab.points
    lab.edit("found_point_edit", verb="rename", text="It is quiet there.")
    both = [second.public_id, third.public_id]
    merge = {"verb": "merge", "point": both, "text": "Both of them.", "seen": 1}
    assert "Merged: Both of them." in flat(lab.post("analysis_edit", merge, htmx=True))
    statement = lab.analysis.placements.filter(point=first).first().argument
    lab.edit("found_point_edit", verb="move", statement=statement.public_id, to="none")
    lab.post("analysis_undo", revision=3)
    lab.edit("analysis_edit", verb="to_theme", point=first.public_id, to_theme="Noise")
    lab.edit("analysis_sign_off")
    edits = list(lab.analysis.changes.order_by("revision").values_list("verb", "actor"))
    verbs = ["renamed", "merged", "moved", "undone", "themed"]
    assert edits == [(verb, lab.expert.pk) for verb in verbs]
    signed = lab.analysis.sign_offs.get()
    assert (signed.actor, signed.revision) == (lab.expert, 5)
    page = lab.text("analysis_history")
    assert page.count(f'<div class="soft">{lab.expert}</div>') == 5
    assert f'{lab.expert} <span class="soft">· after edit 5' in page
    assert f"Signed off by {lab.expert}" in lab.text("analysis")


def test_sign_offs_cost_no_queries_and_asking_costs_experts_one(lab):
    lab.open(name="Closed", size=8)
    close_round(round_=lab.analysis.audit_rounds.get(), actor=lab.researcher)
    visitors, address = (sign_in(lab.researcher), lab.client), lab.url("analysis_history")
    numbers = []
    for signed in (1, 4):
        for _time in range(signed):
            lab.analysis.sign_offs.create(digest="", revision=0, actor=lab.researcher)
        for visitor in visitors:
            visitor.get(address)
            with CaptureQueriesContext(connection) as captured:
                page = visitor.get(address)
            numbers.append(len(captured))
    assert numbers[:2] == numbers[2:] == [numbers[0], numbers[0] + 1]
    assert numbers[0] <= 8
    assert flat(page).count(f'{lab.researcher} <span class="soft">· before any edit') == 5


def test_no_link_of_an_experts_pages_is_refused(lab):
    """Nor does a button: what researchers may is not there."""
    followed = set()
    for name in ("study", "analyses", *OPENED):
        for address in LINK.findall(lab.get(name).content.decode()):
            followed.add(unescape(address).partition("?")[0])
    assert lab.url("analysis_sign_off") in followed
    refused = [address for address in followed if lab.client.get(address).status_code == 403]
    assert refused == []
    # All addresses of experts are tried here.
    of_an_analysis = {
        name for name, route in STUDY_ROUTES.items()
        if "e" in route.roles and name.startswith(("analysis", "found_point"))
    }  # fmt: skip
    assert of_an_analysis == {*OPENED, *SENT, "analysis_audit_leave"}


def test_an_open_audit_closes_its_analysis_to_experts(lab):
    assert lab.statuses() <= {200, 302, 404, 422}
    drawn = lab.open(opens=False)
    assert lab.get("analysis").status_code == 200
    open_round(round_=drawn, actor=lab.researcher)
    before = lab.stored()
    assert lab.statuses() == {409}
    assert lab.stored() == before
    page = flat(lab.get("analysis"))
    assert "Not available to you during the audit" in page
    assert not any(point.text in page for point in lab.points)
    assert lab.get("analysis", htmx=True)["HX-Refresh"] == "true"
    assert sign_in(lab.researcher).get(lab.url("analysis")).status_code == 200
    other = write_analysis(lab.study, make_cell(lab.study), number=2)
    assert lab.get("analysis", analysis_id=other.public_id).status_code == 200


def test_who_answered_waits_until_the_round_is_closed(lab):
    audit = lab.open(size=8)
    for _pair in range(8):
        lab.submit(lab.take(audit))
    assert lab.take(audit) is None
    # They can still change each answer.
    page = flat(lab.get("analysis"))
    assert "Continue checking" in page
    assert "Read the analysis instead" not in page
    lab.post("analysis_audit_leave")
    assert lab.get("analysis").status_code == 409
    assert AuditSheet.objects.filter(COUNTED, round=audit).count() == 8
    close_round(round_=audit, actor=lab.researcher)
    assert lab.get("analysis").status_code == 200


def test_who_reads_the_analysis_instead_gets_no_pair_and_counts_nowhere(lab):
    audit = lab.open()
    begun = lab.take(audit)
    assert "Read the analysis instead" in flat(lab.get("analysis"))
    lab.post("analysis_audit_leave")
    assert lab.get("analysis").status_code == 200
    assert lab.take(audit) is None
    assert lab.submit(begun).is_extra
    assert not AuditSheet.objects.filter(COUNTED, round=audit).exists()
    assert lab.get("analysis").status_code == 200
    event = AuditEvent.objects.get(verb__startswith="auditor")
    assert (event.actor, event.reason) == (lab.expert, "Chose to read the analysis instead.")
    place = Place.objects.get(round=audit, rater=lab.rater)
    decide_rater(place=place_for(round_=audit, rater=lab.rater), actor=lab.researcher,
                 decision="reinstate")  # fmt: skip
    place.refresh_from_db()
    assert not place.is_excluded
    assert lab.get("analysis").status_code == 409


@pytest.mark.parametrize("how", ["edited", "signed off"])
def test_who_edited_or_signed_off_gets_no_pair_of_a_later_audit(lab, how):
    edit = {"analysis": lab.analysis, "actor": lab.expert, "seen": 0}
    if how == "edited":
        rename_point(**edit, point=lab.points[0], text="Another one.")
    else:
        sign_off(**edit)
    audit = lab.open()
    assert lab.take(audit) is None
    place = Place.objects.get(round=audit)
    assert place.exclusion_reason == "Edited or signed off the analysis before."
    assert lab.get("analysis").status_code == 200
    other = make_member(lab.study, "expert")
    assert sign_in(other).get(lab.url("analysis")).status_code == 409
