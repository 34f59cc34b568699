"""Experts read and edit analyses; who answers an open audit does not see its analysis."""

import re
from functools import cached_property
from html import unescape

import pytest

from argsum.analysis.actions.edits import rename_point
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
from tests.api.conftest import client_of
from tests.argsum.analysis.made_comments import make_cell, write_analysis
from tests.argsum.signed_in import SignedIn
from tests.argsum.signed_in import page_text as flat
from tests.cast import make_member, sign_in
from tests.security.matrix import STUDY_ROUTES
from tests.worlds import built_once

from .made_auditing import make_analysis, open_audit

pytestmark = pytest.mark.django_db

# All addresses of an analysis that experts may open.
OPENED = [
    "analysis",
    "analysis_state",
    "analysis_history",
    "analysis_rest",
    "analysis_said",
    "found_point",
]
SENT = [
    "analysis_edit",
    "analysis_undo",
    "analysis_rest_edit",
    "found_point_edit",
    "analysis_sign_off",
]
FILES = {
    "analysis_report_file": {"name": "statements.csv"},
    "analysis_groups_figure": {"figure": "groups", "format": "csv"},
    "analysis_trends_figure": {"figure": "periods", "format": "csv"},
    "analysis_audit_figure": {"figure": "corrected", "format": "csv"},
}
PROGRAMS = [
    "analysis",
    "found_points",
    "found_point_statements",
    "analysis_rest",
    "themes",
    "point_changes",
    "analysis_sign_off",
    "analysis_audit",
    "analysis_report",
    "analysis_groups",
    "analysis_trends",
    "audit_items",
    "audit_sheets",
]
LINK = re.compile(r'(?:href|action|hx-get|hx-post)="(/s/[^"]+)"')


class Lab(SignedIn):
    """An analysis of 13 comments, and an expert who is signed in."""

    def __init__(self):
        super().__init__()
        self.analysis = make_analysis(self.study)
        self.points = list(self.analysis.points.order_by("position"))
        self.expert = make_member(self.study, "expert", "Ella")

    @property
    def ids(self):
        placed = self.analysis.placements.filter(point=self.points[0]).first()
        return {
            "analysis_id": self.analysis.public_id,
            "point_id": self.points[0].public_id,
            "public_id": self.points[0].public_id,
            "statement_id": placed.argument.public_id,
            "revision": 1,
        }

    @cached_property
    def client(self):
        return sign_in(self.expert)

    @cached_property
    def api(self):
        return client_of(self.expert)

    @property
    def rater(self):
        return rater_for(membership=self.expert.memberships.get())

    def open(self, **fields):
        return open_audit(self.study, self.researcher, **{"size": 39} | fields)

    def take(self, round_):
        return next_sheet(round_=round_, rater=self.rater).sheet

    def answer(self, sheet):
        sent = DraftSubmission(AuditContent("makes"), sheet.version)
        return submit_sheet(sheet=sheet, sent=sent, key=str(sheet.pk))

    def statuses(self):
        return {
            *(self.get(name).status_code for name in OPENED),
            *(self.post(name).status_code for name in SENT),
        }

    def stored(self):
        rows = (FoundPoint, PointChange, SignOff)
        return [list(model.objects.order_by("pk").values()) for model in rows]


lab = built_once(Lab)


def edit(lab, name, /, **fields):
    seen = Analysis.objects.get(pk=lab.analysis.pk).revision
    return lab.post(name, {"seen": seen} | fields)


def test_experts_edit_and_sign_off_in_their_own_name(lab):
    first, second, third = lab.points
    edit(lab, "found_point_edit", verb="rename", text="It is quiet there.")
    both = [second.public_id, third.public_id]
    merge = {"verb": "merge", "point": both, "text": "Both of them.", "seen": 1}
    assert "Merged: Both of them." in flat(lab.post("analysis_edit", merge, htmx=True))
    statement = lab.analysis.placements.filter(point=first).first().argument
    edit(lab, "found_point_edit", verb="move", statement=statement.public_id, to="none")
    lab.post("analysis_undo", revision=3)
    edit(lab, "analysis_edit", verb="to_theme", point=first.public_id, to_theme="Noise")
    edit(lab, "analysis_sign_off")
    edits = list(lab.analysis.changes.order_by("revision").values_list("verb", "actor"))
    verbs = ["renamed", "merged", "moved", "undone", "themed"]
    assert edits == [(verb, lab.expert.pk) for verb in verbs]
    signed = lab.analysis.sign_offs.get()
    assert (signed.actor, signed.revision) == (lab.expert, 5)
    page = lab.text("analysis_history")
    assert page.count(f'<div class="soft">{lab.expert}</div>') == 5
    assert f'{lab.expert} <span class="soft">· after edit 5' in page
    assert f"Signed off by {lab.expert}" in lab.text("analysis")


def test_the_edits_page_lists_sign_offs_with_as_many_queries(lab, django_assert_num_queries):
    def sign():
        lab.analysis.sign_offs.create(digest="", revision=0, actor=lab.researcher)

    sign()
    assert f'{lab.researcher} <span class="soft">· before any edit' in lab.text("analysis_history")
    with django_assert_num_queries(9):
        lab.get("analysis_history")
    for _number in range(4):
        sign()
    with django_assert_num_queries(9):
        lab.get("analysis_history")


def test_no_link_of_an_experts_pages_is_refused(lab):
    """Nor does a button: what researchers may is not there."""
    followed = set()
    for name in ("study", "analyses", *OPENED):
        for address in LINK.findall(lab.get(name).content.decode()):
            followed.add(unescape(address).partition("?")[0])
    assert lab.url("analysis_sign_off") in followed
    refused = [address for address in followed if lab.client.get(address).status_code == 403]
    assert refused == []


def test_files_and_programs_stay_with_researchers(lab):
    lab.open()
    for name, ids in FILES.items():
        assert lab.get(name, **ids).status_code == 403
        assert sign_in(lab.researcher).get(lab.url(name, **ids)).status_code == 200
    audit = lab.analysis.audit_rounds.get().public_id
    for name in PROGRAMS:
        ids = {"public_id": lab.analysis.public_id} if name == "analysis" else {}
        address = lab.url(f"api_{name}", audit_id=audit, **ids)
        assert lab.api.get(address).status_code == 403, name
        assert client_of(lab.researcher).get(address).status_code == 200, name


def test_all_addresses_of_experts_are_tried_here():
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
    assert "Closed to you during the audit" in page
    assert not any(point.text in page for point in lab.points)
    assert lab.get("analysis", htmx=True)["HX-Refresh"] == "true"
    assert sign_in(lab.researcher).get(lab.url("analysis")).status_code == 200
    other = write_analysis(lab.study, make_cell(lab.study), number=2)
    assert lab.get("analysis", analysis_id=other.public_id).status_code == 200


def test_who_answered_waits_until_the_round_is_closed(lab):
    audit = lab.open()
    for _pair in range(39):
        lab.answer(lab.take(audit))
    assert lab.take(audit) is None
    # They can still change each answer.
    page = flat(lab.get("analysis"))
    assert "Continue checking" in page
    assert "Read the analysis instead" not in page
    lab.post("analysis_audit_leave")
    assert lab.get("analysis").status_code == 409
    assert AuditSheet.objects.filter(COUNTED, round=audit).count() == 39
    close_round(round_=audit, actor=lab.researcher)
    assert lab.get("analysis").status_code == 200


def test_who_reads_the_analysis_instead_gets_no_pair_and_counts_nowhere(lab):
    audit = lab.open()
    begun = lab.take(audit)
    assert "Read the analysis instead" in flat(lab.get("analysis"))
    lab.post("analysis_audit_leave")
    assert lab.get("analysis").status_code == 200
    assert lab.take(audit) is None
    assert lab.answer(begun).is_extra
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


def test_who_edited_an_analysis_gets_no_pair_of_a_later_audit(lab):
    other = make_member(lab.study, "expert")
    rename_point(
        analysis=lab.analysis, actor=lab.expert, seen=0, point=lab.points[0], text="Another one."
    )
    audit = lab.open()
    assert lab.take(audit) is None
    place = Place.objects.get(round=audit)
    assert place.exclusion_reason == "Edited or signed off the analysis before."
    assert lab.get("analysis").status_code == 200
    assert sign_in(other).get(lab.url("analysis")).status_code == 409


def test_asking_costs_experts_one_query_more(lab, django_assert_num_queries):
    lab.open(name="Closed", size=8)
    close_round(round_=lab.analysis.audit_rounds.get(), actor=lab.researcher)
    client = sign_in(lab.researcher)
    for who, number in ((client, 8), (lab.client, 9)):
        who.get(lab.url("analysis_history"))
        with django_assert_num_queries(number):
            who.get(lab.url("analysis_history"))
