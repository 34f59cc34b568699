"""Sign-off of key points: who may, when it holds, and how its lapse shows."""

import pytest

from argsum.analysis.actions.edits import EditRefused
from argsum.analysis.actions.themes import sign_off
from argsum.analysis.models import Analysis, FoundPoint
from argsum.analysis.reports.history import sign_off_in_words, sign_off_of
from cqa_site.people.models import AuditEvent
from tests.argsum.signed_in import page_text as flat
from tests.worlds import built_once
from .labs import PointsLab

pytestmark = pytest.mark.django_db


class Lab(PointsLab):
    def sign(self, seen=None):
        seen = self.seen if seen is None else seen
        return sign_off(analysis=self.analysis, actor=self.boss, seen=seen)

    def state(self):
        return sign_off_of(self.fresh())


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
    assert (event.actor, event.details["digest"]) == (lab.boss, signed.digest)
    assert sign_off_in_words(state).startswith(f"Signed off by {lab.boss} on 20")
    with pytest.raises(EditRefused, match="already signed off"):
        lab.sign()


@pytest.mark.parametrize("what", ["text", "theme", "hidden", "shown", "added"])
def test_it_lapses_with_any_change_of_what_is_shown_and_holds_again_when_undone(lab, what):
    if what == "shown":
        lab.put("hidden", lab.third)
    lab.sign()
    change = None
    if what == "text":
        change = lab.rename(lab.first, "Another one.")
    elif what in ("hidden", "shown"):
        change = lab.put(what, lab.third)
    elif what == "theme":
        FoundPoint.objects.filter(pk=lab.first.pk).update(theme="Noise")
    else:
        lab.analysis.points.create(position=9, text="New.", written="New.")
    state = lab.state()
    assert (state.is_valid, state.is_due) == (False, True)
    assert "Changed since sign-off" in sign_off_in_words(state)
    if change is not None:
        lab.undo(change)
    else:
        lab.sign()
        assert lab.analysis.sign_offs.count() == 2
    assert lab.state().is_valid


def test_nobody_signs_what_they_have_not_seen_or_what_waits(lab):
    lab.rename(lab.first, "Another one.")
    for seen, state, which, reason in (
        (0, "shown", "First", "edited in the meantime"),
        (1, "proposed", "Another", "1 key point is still proposed"),
        (1, "hidden", "", "no key points"),
    ):
        FoundPoint.objects.filter(text__startswith=which).update(state=state)
        with pytest.raises(EditRefused, match=reason):
            lab.sign(seen)
    Analysis.objects.update(state="failed")
    with pytest.raises(EditRefused, match="not finished"):
        lab.sign()


def test_the_page_signs_and_says_so_until_key_points_change(lab):
    assert "Sign off key points" in lab.text("analysis")
    lab.post("analysis_sign_off", {"seen": "x"})
    assert not lab.state().is_valid
    page = lab.client.post(lab.url("analysis_sign_off"), {"seen": 0}, follow=True)
    assert "The key points are signed off." in flat(page)
    page = lab.text("analysis")
    assert "Signed off by" in page
    assert "Sign off key points" not in page
    assert "Signed off by" in lab.text("analysis_report")
    # Statements may move.
    lab.analysis.placements.filter(point=lab.first).update(point=None)
    assert lab.state().is_valid
    lab.rename(lab.first, "Another one.")
    assert "sign off again" in lab.text("analysis")


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
    assert (told["is_current"], told["by"]) == (True, str(lab.boss.public_id))
    assert lab.told("analysis_sign_off") == told
    assert lab.api.post(address, {"seen": 0}, format="json").status_code == 409
