"""Sign-off of key points: who may, when it holds, and how its lapse shows."""

import pytest

from argsum.analysis.actions.edits import EditRefused, rename_point, set_state, undo_change
from argsum.analysis.actions.sign_off import sign_off
from argsum.analysis.models import Analysis, FoundPoint
from argsum.analysis.reports.sign_offs import sign_off_in_words, sign_off_of
from cqa_site.people.models import AuditEvent
from tests.argsum.signed_in import SignedIn
from tests.argsum.signed_in import page_text as flat
from tests.worlds import built_once

from .made_comments import fill, make_cell, write_analysis

pytestmark = pytest.mark.django_db


class Lab(SignedIn):
    """An analysis with three key points, written directly."""

    def __init__(self):
        super().__init__()
        self.cell = make_cell(self.study)
        fill(self.cell)
        self.analysis = write_analysis(self.study, self.cell)
        self.ids = {"analysis_id": self.analysis.public_id}
        self.first = self.analysis.points.get(position=1)

    def sign(self, seen=None):
        self.analysis.refresh_from_db()
        seen = self.analysis.revision if seen is None else seen
        return sign_off(analysis=self.analysis, actor=self.researcher, seen=seen)

    @property
    def usual(self):
        return {"analysis": self.analysis, "actor": self.researcher, "seen": 99}

    def state(self):
        return sign_off_of(Analysis.objects.get(pk=self.analysis.pk))


lab = built_once(Lab)


def test_a_sign_off_says_who_when_and_what_and_is_in_the_log(lab):
    assert not lab.state().is_valid
    signed = lab.sign()
    state = lab.state()
    assert (state.newest, state.is_valid, state.is_due) == (signed, True, False)
    assert [text for _pk, text, _theme in signed.points] == [
        "First point.", "Second point.", "Third point.",
    ]  # fmt: skip
    event = AuditEvent.objects.get(verb="key_points_signed_off")
    assert (event.actor, event.details["digest"]) == (lab.researcher, signed.digest)
    assert sign_off_in_words(state).startswith(f"Signed off by {lab.researcher} on 20")
    with pytest.raises(EditRefused, match="already signed off"):
        lab.sign()


@pytest.mark.parametrize("what", ["text", "theme", "hidden", "shown", "added"])
def test_it_lapses_with_any_change_of_what_is_shown_and_holds_again_when_undone(lab, what):
    hidden = lab.analysis.points.get(position=3)
    if what == "shown":
        set_state(**lab.usual, points=[hidden], verb="hidden")
    lab.sign()
    if what == "text":
        change = rename_point(**lab.usual, point=lab.first, text="Another one.")
    elif what in ("hidden", "shown"):
        change = set_state(**lab.usual, points=[hidden], verb=what)
    elif what == "theme":
        FoundPoint.objects.filter(pk=lab.first.pk).update(theme="Noise")
        change = None
    else:
        lab.analysis.points.create(position=9, text="New.", written="New.")
        change = None
    state = lab.state()
    assert (state.is_valid, state.is_due) == (False, True)
    assert "Changed since sign-off" in sign_off_in_words(state)
    assert "sign off again" in flat(lab.get("analysis"))
    if change is not None:
        undo_change(analysis=lab.analysis, actor=lab.researcher, change=change)
        assert lab.state().is_valid
    else:
        lab.sign()
        assert lab.state().is_valid
        assert lab.analysis.sign_offs.count() == 2


def test_moved_statements_do_not_lapse_it(lab):
    lab.sign()
    lab.analysis.placements.filter(point=lab.first).update(point=None)
    assert lab.state().is_valid


def test_nobody_signs_what_they_have_not_seen_or_what_waits(lab):
    rename_point(**lab.usual, point=lab.first, text="Another one.")
    with pytest.raises(EditRefused, match="edited in the meantime"):
        lab.sign(seen=0)
    FoundPoint.objects.filter(pk=lab.first.pk).update(state="proposed")
    with pytest.raises(EditRefused, match="1 key point is still proposed"):
        lab.sign()
    FoundPoint.objects.update(state="hidden")
    with pytest.raises(EditRefused, match="no key points"):
        lab.sign()
    Analysis.objects.update(state="failed")
    with pytest.raises(EditRefused, match="not finished"):
        lab.sign()


def test_the_page_signs_and_says_so(lab):
    assert "Sign off key points" in flat(lab.get("analysis"))
    lab.post("analysis_sign_off", {"seen": "x"})
    assert not lab.state().is_valid
    page = lab.client.post(lab.url("analysis_sign_off"), {"seen": 0}, follow=True)
    assert "The key points are signed off." in flat(page)
    page = flat(lab.get("analysis"))
    assert "Signed off by" in page
    assert "Sign off key points" not in page
    assert "Signed off by" in flat(lab.get("analysis_report"))


def test_programs_read_and_sign(lab):
    before = lab.told("analysis_sign_off")
    assert before == {
        "is_current": False, "by": None, "at": None, "digest": None, "revision": None,
        "shown": 3, "proposed": 0,
    }  # fmt: skip
    address = lab.url("api_analysis_sign_off")
    assert lab.api.post(address, {"seen": 7}, format="json").status_code == 409
    response = lab.api.post(address, {"seen": 0}, format="json")
    assert response.status_code == 201
    told = response.json()
    assert (told["is_current"], told["by"]) == (True, str(lab.researcher.public_id))
    assert lab.told("analysis_sign_off") == told
    assert lab.api.post(address, {"seen": 0}, format="json").status_code == 409
