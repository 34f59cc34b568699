"""No text that arrives is lost: two tabs, lost replies, late arrivals, in any order."""

from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    rule,
    run_state_machine_as_test,
)

from annotation.actions import editing_drafts, editing_rounds
from annotation.actions.editing_drafts import RoundNotOpen, Sent, StaleDraft, save_draft
from annotation.actions.editing_revisions import Reasons, RevisionNotValid, submit
from annotation.models import DraftConflict, EarlierDraft, EditingTask, Revision
from tests.annotation.editing_cast import make_answers, make_round, tasks_of
from tests.cast import make_member, make_study

WORDING = Reasons(("wording",))


@pytest.fixture
def task(db):
    study = make_study()
    make_answers(study)
    return tasks_of(make_round(study))[0]


def again(task):
    return editing_drafts.fresh(task)


def save(task, text, base, client="a", sequence=1, **more):
    return save_draft(task=again(task), sent=Sent(text, base, client, sequence, **more))


def hand_in(task, text, base, client="a", sequence=1, key="k1", reasons=WORDING):
    sent = Sent(text, base, client, sequence)
    return submit(task=again(task), sent=sent, key=key, reasons=reasons, editor=task.editor)


# -- saving --------------------------------------------------------------------------------------


def test_the_desk_begins_with_the_machine_text(task):
    assert task.draft_version == 0
    assert task.text == task.machine_text == task.answer.text


def test_each_save_raises_the_version_and_keeps_the_answer_as_it_was(task):
    before = task.answer.text
    assert save(task, "one", 0).draft_version == 1
    saved = save(task, "two", 1, sequence=2)
    assert (saved.draft_version, saved.text) == (2, "two")
    task.answer.refresh_from_db()
    assert task.answer.text == before


def test_the_same_request_again_changes_nothing(task):
    save(task, "one", 0)
    assert save(task, "one", 0).draft_version == 1
    assert not DraftConflict.objects.exists()


def test_a_page_that_never_got_the_answer_goes_on_from_where_it_was(task):
    save(task, "one", 0, sequence=1)
    save(task, "one two", 0, sequence=2)
    assert save(task, "one two three", 0, sequence=3).text == "one two three"
    assert not DraftConflict.objects.exists()


def test_what_a_page_sent_earlier_and_comes_later_does_not_overwrite(task):
    save(task, "one two", 0, sequence=2)
    assert save(task, "one", 0, sequence=1).text == "one two"
    assert not DraftConflict.objects.exists()


def test_a_second_tab_meets_a_conflict_and_overwrites_nothing(task):
    save(task, "first tab", 0, client="a")
    with pytest.raises(StaleDraft) as stale:
        save(task, "second tab", 0, client="b")
    kept = stale.value.conflict
    assert (kept.text, kept.base_version, kept.met_version) == ("second tab", 0, 1)
    assert again(task).text == "first tab"
    with pytest.raises(StaleDraft) as repeated:
        save(task, "second tab", 0, client="b")
    assert repeated.value.conflict.pk == kept.pk


def test_a_page_without_script_is_taken_only_for_the_version_it_names(task):
    save(task, "one", 0, client="form", sequence=0)
    with pytest.raises(StaleDraft):
        save(task, "from the back button", 0, client="form", sequence=0)


def test_the_same_text_from_two_tabs_is_no_conflict(task):
    save(task, "both", 0, client="a")
    assert save(task, "both", 0, client="b").draft_version == 1


def test_a_draft_that_another_page_replaces_is_kept(task):
    save(task, "from a", 0, client="a")
    save(task, "from b", 1, client="b")
    earlier = EarlierDraft.objects.get()
    assert (earlier.version, earlier.text) == (1, "from a")


def test_a_draft_deleted_by_mistake_is_kept(task):
    save(task, "a long text that took an hour", 0)
    save(task, "", 1, sequence=2)
    assert again(task).text == ""
    assert EarlierDraft.objects.get().text == "a long text that took an hour"


def test_every_twentieth_draft_of_one_page_is_kept(task):
    for number in range(1, 42):
        save(task, f"text {number:03}", number - 1, sequence=number)
    assert [row.text for row in EarlierDraft.objects.order_by("version")] == [
        "text 020",
        "text 040",
    ]


def test_an_expert_who_edits_the_same_answer_meets_nothing_of_it(db):
    study = make_study()
    make_answers(study)
    mine, theirs = tasks_of(make_round(study, calibration=1, individual=0))
    assert mine.answer == theirs.answer
    save(mine, "mine", 0)
    assert again(theirs).text == theirs.machine_text
    assert save(theirs, "theirs", 0, client="b").text == "theirs"
    assert again(mine).text == "mine"


def test_time_is_what_the_page_claims_but_no_more_than_has_passed(task):
    saved = save(task, "one", 0, active_seconds=95)
    assert saved.active_seconds == 95
    assert save(task, "two", 1, sequence=2, active_seconds=600).active_seconds <= 96
    minutes_ago = timezone.now() - timedelta(minutes=5)
    EditingTask.objects.filter(pk=task.pk).update(draft_saved_at=minutes_ago)
    before = again(task).active_seconds
    assert save(task, "three", 2, sequence=3, active_seconds=200).active_seconds == before + 200
    long_ago = timezone.now() - timedelta(days=2)
    EditingTask.objects.filter(pk=task.pk).update(draft_saved_at=long_ago)
    saved = save(task, "four", 3, sequence=4, active_seconds=90_000)
    assert saved.active_seconds == before + 200 + editing_drafts.LONGEST_STRETCH


def test_after_the_end_a_late_text_is_kept_aside(task):
    save(task, "in time", 0)
    actor = make_member(task.editing_round.study, "researcher")
    editing_rounds.close_round(editing_round=task.editing_round, actor=actor)
    with pytest.raises(RoundNotOpen) as late:
        save(task, "too late", 1, sequence=2)
    assert late.value.conflict.text == "too late"
    assert again(task).text == "in time"
    assert save(task, "in time", 0).draft_version == 1
    with pytest.raises(RoundNotOpen):
        hand_in(task, "in time", 1)
    with pytest.raises(RoundNotOpen):
        hand_in(task, "later still", 1, sequence=3)
    assert set(task.conflicts.values_list("text", flat=True)) == {"too late", "later still"}
    assert not Revision.objects.exists()


# -- settling ------------------------------------------------------------------------------------


@pytest.fixture
def conflict(task):
    save(task, "stored", 0, client="a")
    with pytest.raises(StaleDraft) as stale:
        save(task, "arrived", 0, client="b")
    return stale.value.conflict


def settle(conflict, choice, base, merged=""):
    conflict = DraftConflict.objects.select_related("task").get(pk=conflict.pk)
    return editing_drafts.settle_conflict(
        conflict=conflict, choice=choice, base_version=base, merged=merged
    )


@pytest.mark.parametrize(
    ("choice", "text"), [("mine", "arrived"), ("theirs", "stored"), ("merged", "both")]
)
def test_one_text_goes_on_and_the_other_stays_in_the_history(task, conflict, choice, text):
    settle(conflict, choice, 1, merged="both")
    assert again(task).text == text
    conflict.refresh_from_db()
    assert conflict.settled_at
    assert conflict.choice == choice
    kept = {conflict.text, again(task).text, *task.earlier_drafts.values_list("text", flat=True)}
    assert {"stored", "arrived"} <= kept


def test_a_choice_made_from_an_old_view_asks_again(task, conflict):
    save(task, "stored and more", 1, client="a", sequence=2)
    with pytest.raises(StaleDraft) as stale:
        settle(conflict, "mine", 1)
    assert stale.value.conflict == conflict
    conflict.refresh_from_db()
    assert conflict.settled_at is None
    assert conflict.met_version == 2
    with pytest.raises(StaleDraft) as stale:
        settle(conflict, "merged", 1, merged="both")
    assert stale.value.conflict.text == "both"
    assert editing_drafts.open_conflicts(task) == [stale.value.conflict]


# -- submitting ----------------------------------------------------------------------------------


def test_submitting_makes_numbered_revisions_with_checks_and_time(task):
    save(task, "one", 0, active_seconds=40)
    first = hand_in(task, "one", 1)
    assert (first.number, first.text, first.reasons) == (1, "one", ["wording"])
    assert first.active_seconds == 40
    assert first.checks["length"] is False
    stored = again(task)
    assert (stored.state, stored.draft_version) == ("submitted", 2)
    second = hand_in(task, "two", 2, sequence=2, key="k2")
    assert (second.number, second.active_seconds) == (2, 40)
    first.refresh_from_db()
    assert first.text == "one"


def test_a_change_makes_a_submitted_task_one_to_do_again(task):
    hand_in(task, "one", 0)
    assert save(task, "one more", 2, sequence=2).state == "open"
    assert Revision.objects.count() == 1


def test_a_request_sent_twice_makes_one_revision(task):
    first = hand_in(task, "one", 0)
    version = again(task).draft_version
    assert hand_in(task, "one", 0) == first
    assert Revision.objects.count() == 1
    assert again(task).draft_version == version


def test_a_key_used_for_another_text_is_another_revision(task):
    hand_in(task, "one", 0)
    assert hand_in(task, "two", 0, sequence=2).number == 2


def test_a_submission_from_an_old_view_is_a_conflict_like_a_save(task):
    save(task, "first tab", 0, client="a")
    with pytest.raises(StaleDraft) as stale:
        hand_in(task, "second tab", 0, client="b")
    assert stale.value.conflict.text == "second tab"
    assert not Revision.objects.exists()
    hand_in(task, "first tab", 1, client="a", sequence=2, key="k2")
    with pytest.raises(StaleDraft):
        save(task, "a tab that was left open", 1, client="c")


@pytest.mark.parametrize(
    ("text", "reasons", "message"),
    [
        ("changed", Reasons(), "Choose at least one reason"),
        ("changed", Reasons(("unchanged",)), "Choose at least one reason"),
        ("changed", Reasons(("other",)), "Say in the comment"),
        ("  \n", Reasons(("length",)), "The text is empty"),
    ],
)
def test_what_is_no_revision_is_still_a_draft(task, text, reasons, message):
    with pytest.raises(RevisionNotValid, match=message):
        hand_in(task, text, 0, reasons=reasons)
    assert again(task).text == text
    assert not Revision.objects.exists()


def test_an_unchanged_answer_can_be_submitted_without_a_reason_but_once(task):
    hand_in(task, task.machine_text, 0, reasons=Reasons())
    with pytest.raises(RevisionNotValid, match="Nothing has changed since revision 1"):
        hand_in(task, task.machine_text, 1, sequence=2, key="k2", reasons=Reasons())
    assert Revision.objects.get().text == task.answer.text


# -- any order at all ----------------------------------------------------------------------------


@dataclass
class Tab:
    """A page: what it believes, what it wrote, and whether it waits for a decision."""

    client: str
    version: int
    text: str
    sequence: int = 0
    is_stuck: bool = False
    sent: list[str] = field(default_factory=list)


class TwoTabs(RuleBasedStateMachine):
    """Tabs of one expert save and submit; replies get lost and requests arrive late or twice."""

    tabs = Bundle("tabs")
    late = Bundle("late")

    def __init__(self):
        super().__init__()
        study = make_study()
        make_answers(study, questions=2)
        self.round = make_round(study, experts=1, calibration=0, individual=1)
        (self.task,) = tasks_of(self.round)
        self.actor = make_member(study, "researcher")
        self.opened, self.written, self.sent = 0, 0, []
        self.typed_over = {}

    @rule(target=tabs)
    def open_tab(self):
        self.opened += 1
        task = again(self.task)
        return Tab(f"tab{self.opened}", task.draft_version, task.text)

    @rule(tab=tabs, grows=st.booleans())
    def write(self, tab, grows):
        if tab.is_stuck:
            return
        self.written += 1
        tab.text = (tab.text if grows else "") + f" word{self.written}"
        tab.sequence += 1

    def request(self, tab):
        """What the tab sends now; an earlier text of its own may be typed over by it."""
        for earlier in tab.sent:
            if earlier != tab.text:
                self.typed_over[earlier] = tab.text
        tab.sent.append(tab.text)
        self.sent.append(tab.text)
        return Sent(tab.text, tab.version, tab.client, tab.sequence)

    @rule(tab=tabs, is_lost=st.booleans())
    def save(self, tab, is_lost):
        if tab.is_stuck or not tab.sequence:
            return
        self.deliver(tab, self.request(tab), is_lost)

    @rule(target=late, tab=tabs)
    def send_slowly(self, tab):
        """A request that will arrive after others, or a second time."""
        if not tab.sequence or tab.is_stuck:
            return None
        tab.sent.append(tab.text)
        return Sent(tab.text, tab.version, tab.client, tab.sequence)

    @rule(sent=consumes(late))
    def arrive(self, sent):
        if sent is None:
            return
        self.sent.append(sent.text)
        self.try_to(lambda: save_draft(task=again(self.task), sent=sent))

    @rule(tab=tabs, is_lost=st.booleans(), has_reason=st.booleans())
    def submit(self, tab, is_lost, has_reason):
        if tab.is_stuck:
            return
        tab.sequence += 1
        sent = self.request(tab)
        reasons = Reasons(("wording",) if has_reason else ())
        revision = self.try_to(
            lambda: submit(
                task=again(self.task),
                sent=sent,
                key=f"{tab.client}-{tab.sequence}",
                reasons=reasons,
                editor=self.task.editor,
            ),
            tab,
        )
        if revision and not is_lost:
            tab.version = again(self.task).draft_version

    @rule(choice=st.sampled_from(["mine", "theirs", "merged"]), is_old=st.booleans())
    def settle(self, choice, is_old):
        waiting = editing_drafts.open_conflicts(self.task)
        if not waiting:
            return
        self.written += 1
        merged = f"merged{self.written}"
        base = again(self.task).draft_version - (1 if is_old else 0)
        if choice == "merged":
            self.sent.append(merged)
        self.try_to(lambda: settle(waiting[0], choice, max(0, base), merged))

    @rule()
    def close_and_reopen(self):
        editing_rounds.close_round(editing_round=self.round, actor=self.actor)
        for task in tasks_of(self.round):
            self.sent.append(f"late{self.written}")
            self.try_to(
                lambda task=task: save_draft(
                    task=task, sent=Sent(f"late{self.written}", task.draft_version, "late", 1)
                )
            )
        editing_rounds.reopen_round(editing_round=self.round, actor=self.actor)

    def deliver(self, tab, sent, is_lost):
        saved = self.try_to(lambda: save_draft(task=again(self.task), sent=sent), tab)
        if saved and not is_lost:
            tab.version = saved.draft_version

    def try_to(self, act, tab=None):
        try:
            return act()
        except (StaleDraft, RoundNotOpen):
            if tab:
                tab.is_stuck = True
        except RevisionNotValid:
            pass
        return None

    @invariant()
    def every_text_is_there_or_its_own_page_went_on_from_it(self):
        task = again(self.task)
        revisions = list(task.revisions.values_list("number", "text"))
        kept = {
            task.text,
            *task.conflicts.values_list("text", flat=True),
            *task.earlier_drafts.values_list("text", flat=True),
            *(text for _number, text in revisions),
        }
        for text in self.sent:
            self.find(text, kept)
        assert [number for number, _text in revisions] == list(range(1, len(revisions) + 1))
        assert task.state == "open" or revisions[-1][1] == task.text

    def find(self, text, kept):
        """Follow the page's own later texts until one is kept."""
        seen = set()
        while text not in kept:
            assert text in self.typed_over, f"{text!r} is lost"
            assert text not in seen, f"{text!r} is lost"
            seen.add(text)
            text = self.typed_over[text]


class TestTwoTabs(TestCase):
    """Each run of the machine in a transaction of its own, which Django's TestCase rolls back."""

    def test_no_text_is_lost_in_any_order(self):
        run_state_machine_as_test(
            TwoTabs,
            settings=settings(
                max_examples=20,
                stateful_step_count=30,
                deadline=None,
                suppress_health_check=list(HealthCheck),
            ),
        )
