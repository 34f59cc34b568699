"""Nothing that somebody filled in is lost or stored twice, whatever the kind of sheet."""

import pytest

from cqa_site.rounds.drafts import RoundNotOpen, StaleDraft, content_of, resolve_conflict
from cqa_site.rounds.kind import SheetNotValid
from cqa_site.rounds.lifecycle import close_round, find_violations, reopen_round
from tests.worlds import built_of
from .made_work import SERVED, SHEETS, Sitting

built, world = built_of(Sitting, SHEETS, "score")


@pytest.fixture
def full(world):
    return world.work.full


@pytest.fixture
def changed(world):
    return world.work.changed


def stored(world):
    return content_of(world.again(world.sheet))


def kept(world):
    content = world.kind.Content
    return [content(**each.content) for each in world.sheet.conflicts.order_by("pk")]


def test_a_draft_is_stored_and_submits_nothing(world, full):
    submitted = world.kind.submitted(world.sheet)
    assert world.save(world.sheet, full).version == 1
    sheet = world.again(world.sheet)
    assert (sheet.state, sheet.submitted_at) == ("open", None)
    assert not world.slots(state="done").exists()
    assert (content_of(sheet), world.kind.submitted(sheet)) == (full, submitted)
    assert not sheet.events.exists()


def test_the_same_save_again_changes_nothing(world, full):
    world.save(world.sheet, full, client="a", sequence=1)
    assert world.save(world.sheet, full, client="a", sequence=1).version == 1
    assert world.save(world.sheet, full, client="b", sequence=1).version == 1
    assert kept(world) == []


def test_a_page_that_never_got_the_answer_goes_on_from_where_it_was(world, full, changed):
    for sequence, content in enumerate((full, changed, full), 1):
        saved = world.save(world.sheet, content, client="a", sequence=sequence)
        assert saved.version == sequence
    # What it sent earlier and comes later overwrites nothing.
    world.save(world.sheet, changed, client="a", sequence=2)
    assert (stored(world), kept(world)) == (full, [])


def test_a_second_tab_overwrites_nothing_and_is_kept_once(world, full, changed):
    world.save(world.sheet, full, client="a", sequence=1)
    for _time in range(2):
        with pytest.raises(StaleDraft) as stale:
            world.save(world.sheet, changed, client="b", sequence=1)
    assert (stored(world), kept(world)) == (full, [changed])
    assert stale.value.conflict == world.sheet.conflicts.get()
    assert stale.value.conflict.base_version == 0


def test_a_page_without_script_is_taken_only_for_the_version_it_names(world, full, changed):
    world.save(world.sheet, full)
    with pytest.raises(StaleDraft):
        world.save(world.sheet, changed)
    assert world.save(world.sheet, changed, 1).version == 2


def test_the_work_of_two_people_never_meets(world, full):
    other = world.take(1)
    before = content_of(other)
    world.save(world.sheet, full)
    assert content_of(world.again(other)) == before
    assert world.sheet.pk != other.pk


def test_a_submission_settles_the_sheet_and_its_slot(world, full):
    world.save(world.sheet, world.work.changed, client="a", sequence=1)
    sheet = world.submit(world.sheet, full)
    assert (sheet.state, sheet.draft, sheet.slot.state) == ("submitted", None, "done")
    assert world.kind.submitted(sheet) == full
    assert sheet.is_counted
    assert world.kind.Content(**sheet.events.get().content) == full
    assert list(find_violations()) == []


def test_the_same_submission_twice_is_one(world):
    first, again = (world.submit(world.sheet, key="once", base=0) for _time in range(2))
    assert first.version == again.version
    assert world.sheet.events.count() == 1


def test_a_page_that_came_back_with_its_old_key_loses_nothing(world, changed):
    world.submit(world.sheet, key="old", base=0)
    with pytest.raises(StaleDraft):
        world.submit(world.sheet, changed, key="old", base=0)
    assert kept(world) == [changed]
    sheet = world.submit(world.sheet, changed, key="old")
    assert world.kind.submitted(sheet) == changed
    assert sheet.events.count() == 2


def test_a_changed_mind_counts_when_it_is_submitted(world, full, changed):
    world.submit(world.sheet)
    world.save(world.sheet, changed, 1)
    sheet = world.again(world.sheet)
    assert (world.kind.submitted(sheet), content_of(sheet)) == (full, changed)
    sheet = world.submit(sheet, changed)
    assert (world.kind.submitted(sheet), sheet.draft) == (changed, None)
    said = [world.kind.Content(**event.content) for event in sheet.events.order_by("pk")]
    assert said == [full, changed]
    assert list(find_violations()) == []


def test_what_was_submitted_and_comes_back_is_no_draft(world, full, changed):
    world.submit(world.sheet)
    world.save(world.sheet, changed, 1)
    world.save(world.sheet, full, 2)
    assert world.again(world.sheet).draft is None


def test_what_cannot_be_submitted_is_still_a_draft(world):
    with pytest.raises(SheetNotValid):
        world.submit(world.sheet, world.work.unfit)
    sheet = world.again(world.sheet)
    assert (sheet.state, content_of(sheet), sheet.version) == ("open", world.work.unfit, 1)
    assert not sheet.events.exists()
    assert not world.slots(state="done").exists()


def test_a_submission_from_an_old_view_is_a_conflict_like_a_save(world, full, changed):
    world.save(world.sheet, full, client="a", sequence=1)
    with pytest.raises(StaleDraft):
        world.submit(world.sheet, changed, base=0, client="b", sequence=1)
    assert (world.again(world.sheet).state, kept(world)) == ("open", [changed])


def test_after_the_end_what_comes_is_kept_aside_until_the_round_opens_again(world, full, changed):
    world.save(world.sheet, full)
    close_round(round_=world.round, actor=world.researcher)
    for take in (world.save, world.submit):
        with pytest.raises(RoundNotOpen):
            take(world.sheet, changed, base=1)
    # What is stored already is lost by nothing, and submitted by nothing either.
    assert world.save(world.sheet, full).version == 1
    with pytest.raises(RoundNotOpen):
        world.submit(world.sheet, full)
    assert (stored(world), kept(world)) == (full, [changed])
    assert world.again(world.sheet).state == "open"
    reopen_round(round_=world.round, actor=world.researcher)
    assert world.submit(world.sheet, changed).state == "submitted"


@pytest.fixture
def aside(world):
    """A draft that met a newer one."""
    if world.name not in SERVED:
        pytest.skip("texts are settled in a way of their own, see test_editing_drafts")
    world.save(world.sheet, world.work.full, client="a", sequence=1)
    with pytest.raises(StaleDraft) as stale:
        world.save(world.sheet, world.work.changed, client="b", sequence=1)
    return stale.value.conflict


def test_a_kept_draft_goes_on_and_the_other_is_kept_in_turn(world, aside, full, changed):
    resolve_conflict(sheet=world.again(world.sheet), conflict=aside, is_wanted=True)
    assert (stored(world), kept(world)) == (changed, [full])
    resolve_conflict(
        sheet=world.again(world.sheet), conflict=world.sheet.conflicts.get(), is_wanted=False
    )
    assert (stored(world), kept(world)) == (changed, [])


def test_a_choice_after_the_end_changes_nothing(world, aside, full, changed):
    close_round(round_=world.round, actor=world.researcher)
    with pytest.raises(RoundNotOpen):
        resolve_conflict(sheet=world.again(world.sheet), conflict=aside, is_wanted=True)
    assert (stored(world), kept(world)) == (full, [changed])
