"""No text that arrives is lost: earlier drafts, both texts of a conflict, tabs in any order.

What editing shares with all kinds of work is tested in tests/rounds.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from django.db import transaction
from django.test import TestCase
from django.utils import timezone
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    rule,
    run_state_machine_as_test,
)

from annotation.editing.actions.kind import settle_text
from annotation.editing.models import EarlierDraft, EditingRound, EditingSheet, Revision
from cqa_site.people.models import User
from cqa_site.rounds.drafts import LONGEST_STRETCH, RoundNotOpen, StaleDraft, save_draft
from cqa_site.rounds.kind import SheetNotValid
from cqa_site.rounds.lifecycle import close_round, find_violations, reopen_round
from tests.annotation import editing_cast
from tests.annotation.editing_cast import first_sheet, make_answers, make_round, sent, sheets_of
from tests.cast import make_member, make_study
from tests.worlds import built_once

sheet = built_once(first_sheet)


def again(sheet):
    return EditingSheet.objects.select_related("answer", "round", "rater__user").get(pk=sheet.pk)


def save(sheet, text, base, client="a", sequence=1, **more):
    given = sent(text, base, client, sequence, **more)
    return save_draft(sheet=again(sheet), sent=given)


def hand_in(sheet, text, base, client="a", sequence=1, key="k1", **more):
    return editing_cast.hand_in(
        again(sheet), text, base, key, client=client, sequence=sequence, **more
    )


def test_a_draft_that_another_page_replaces_or_somebody_deletes_by_mistake_is_kept(sheet):
    assert sheet.version == 0
    assert sheet.text == sheet.machine_text == sheet.answer.text
    save(sheet, "from a", 0, client="a")
    save(sheet, "a long text that took an hour", 1, client="b")
    save(sheet, "", 2, client="b", sequence=2)
    assert again(sheet).text == ""
    stored = [(1, "from a"), (2, "a long text that took an hour")]
    rows = EarlierDraft.objects.order_by("version")
    assert list(rows.values_list("version", "text")) == stored
    # So is every twentieth draft of one page.
    for number in range(3, 44):
        save(sheet, f"text {number:03}", number, client="c", sequence=number)
    assert [row.text for row in rows][2:] == ["", "text 019", "text 039"]


def test_short_times_are_rounded_and_not_cut(sheet):
    just_now = timezone.now() - timedelta(seconds=2.6)
    EditingSheet.objects.filter(pk=sheet.pk).update(served_at=just_now, saved_at=None)
    assert save(sheet, "one", 0, active_seconds=3).active_seconds == 3


def test_time_is_what_the_page_claims_but_no_more_than_has_passed(sheet):
    saved = save(sheet, "one", 0, active_seconds=95)
    assert saved.active_seconds == 95
    assert save(sheet, "two", 1, sequence=2, active_seconds=600).active_seconds <= 96
    minutes_ago = timezone.now() - timedelta(minutes=5)
    EditingSheet.objects.filter(pk=sheet.pk).update(saved_at=minutes_ago)
    before = again(sheet).active_seconds
    assert save(sheet, "three", 2, sequence=3, active_seconds=200).active_seconds == before + 200
    long_ago = timezone.now() - timedelta(days=2)
    EditingSheet.objects.filter(pk=sheet.pk).update(saved_at=long_ago)
    saved = save(sheet, "four", 3, sequence=4, active_seconds=90_000)
    assert saved.active_seconds == before + 200 + LONGEST_STRETCH


def kept_of(sheet):
    return {kept.content["text"] for kept in sheet.conflicts.all()}


def settle(sheet, kept, choice, base, merged=""):
    settle_text(sheet=again(sheet), conflict=kept, choice=choice, base_version=base, merged=merged)


def test_a_choice_made_from_an_old_view_asks_again(sheet):
    save(sheet, "stored", 0, client="a")
    with pytest.raises(StaleDraft) as stale:
        save(sheet, "arrived", 0, client="b")
    kept = stale.value.conflict
    save(sheet, "stored and more", 1, client="a", sequence=2)
    with pytest.raises(StaleDraft) as stale:
        settle(sheet, kept, "mine", 1)
    assert stale.value.conflict == kept
    assert kept_of(sheet) == {"arrived"}
    with pytest.raises(StaleDraft):
        settle(sheet, kept, "merged", 1, merged="both")
    assert kept_of(sheet) == {"arrived", "both"}
    assert again(sheet).text == "stored and more"


def test_submitting_makes_numbered_revisions_with_checks_and_time(sheet):
    save(sheet, "one", 0, active_seconds=40)
    first = hand_in(sheet, "one", 1)
    assert (first.number, first.text, first.reasons) == (1, "one", ["wording"])
    assert first.active_seconds == 40
    assert first.checks["length"] is False
    stored = again(sheet)
    assert (stored.progress, stored.version) == ("submitted", 1)
    second = hand_in(sheet, "two", 1, sequence=2, key="k2")
    assert (second.number, second.active_seconds) == (2, 40)
    first.refresh_from_db()
    assert first.text == "one"


def test_what_is_no_revision_is_still_a_draft(sheet):
    for number, (text, reasons, message) in enumerate(
        (
            (sheet.machine_text, (), "No change needed"),
            ("changed", (), "Choose at least one reason"),
            ("changed", ("unchanged",), "Choose at least one reason"),
            ("changed", ("other",), "Describe the other reason"),
            ("  \n", ("length",), "The text is empty"),
        )
    ):
        with pytest.raises(SheetNotValid, match=message):
            hand_in(sheet, text, again(sheet).version, sequence=number + 1, reasons=reasons)
        assert again(sheet).text == text
    assert not Revision.objects.exists()
    # An unchanged answer is submitted once, by somebody who says that it is good.
    more = {"base": again(sheet).version, "reasons": ("unchanged",)}
    hand_in(sheet, sheet.machine_text, sequence=8, **more)
    more["base"] = again(sheet).version
    with pytest.raises(SheetNotValid, match="Nothing has changed since revision 1"):
        hand_in(sheet, sheet.machine_text, sequence=9, key="k2", **more)
    assert Revision.objects.get().text == sheet.answer.text


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

    round: EditingRound
    actor: User

    def __init__(self):
        super().__init__()
        self.before = transaction.savepoint()
        (self.sheet,) = sheets_of(self.round)
        self.opened, self.written, self.sent = 0, 0, []
        self.typed_over = defaultdict(set)

    @rule(target=tabs)
    def open_tab(self):
        self.opened += 1
        sheet = again(self.sheet)
        return Tab(f"tab{self.opened}", sheet.version, sheet.text)

    @rule(tab=tabs, grows=st.booleans())
    def write(self, tab, grows):
        if tab.is_stuck:
            return
        self.written += 1
        tab.text = (tab.text if grows else "") + f" word{self.written}"
        tab.sequence += 1

    def request(self, tab):
        """What the tab sends now; an earlier text of its own may be typed over by it.

        Two tabs may have sent the same text, and each goes on from it in its own way.
        """
        for earlier in tab.sent:
            if earlier != tab.text:
                self.typed_over[earlier].add(tab.text)
        tab.sent.append(tab.text)
        return sent(tab.text, tab.version, tab.client, tab.sequence)

    @rule(tab=tabs, is_lost=st.booleans())
    def save(self, tab, is_lost):
        if tab.is_stuck or not tab.sequence:
            return
        self.sent.append(tab.text)
        self.deliver(tab, self.request(tab), is_lost)

    @rule(target=late, tab=tabs)
    def send_slowly(self, tab):
        """A request that will arrive after others, or a second time."""
        if not tab.sequence or tab.is_stuck:
            return None
        return self.request(tab)

    @rule(given=consumes(late))
    def arrive(self, given):
        if given is None:
            return
        self.sent.append(given.content.text)
        self.try_to(lambda: save_draft(sheet=again(self.sheet), sent=given))

    @rule(tab=tabs, is_lost=st.booleans(), has_reason=st.booleans())
    def submit(self, tab, is_lost, has_reason):
        if tab.is_stuck:
            return
        tab.sequence += 1
        self.sent.append(tab.text)
        given = self.request(tab)
        revision = self.try_to(
            lambda: hand_in(
                self.sheet,
                given.content.text,
                given.base_version,
                given.client,
                given.sequence,
                key=f"{tab.client}-{tab.sequence}",
                reasons=("wording",) if has_reason else (),
            ),
            tab,
        )
        if revision and not is_lost:
            tab.version = again(self.sheet).version

    @rule(choice=st.sampled_from(["mine", "theirs", "merged"]), is_old=st.booleans())
    def settle(self, choice, is_old):
        waiting = self.sheet.conflicts.last()
        if waiting is None:
            return
        self.written += 1
        merged = f"merged{self.written}"
        base = again(self.sheet).version - (1 if is_old else 0)
        if choice == "merged":
            self.sent.append(merged)
        self.try_to(lambda: settle(self.sheet, waiting, choice, max(0, base), merged))

    @rule()
    def close_and_reopen(self):
        close_round(round_=self.round, actor=self.actor)
        for sheet in sheets_of(self.round):
            self.sent.append(f"late{self.written}")
            self.try_to(
                lambda sheet=sheet: save_draft(
                    sheet=sheet, sent=sent(f"late{self.written}", sheet.version, "late", 1)
                )
            )
        reopen_round(round_=self.round, actor=self.actor)

    def deliver(self, tab, given, is_lost):
        saved = self.try_to(lambda: save_draft(sheet=again(self.sheet), sent=given), tab)
        if saved and not is_lost:
            tab.version = saved.version

    def try_to(self, act, tab=None):
        try:
            return act()
        except (StaleDraft, RoundNotOpen):
            if tab:
                tab.is_stuck = True
        except SheetNotValid:
            pass
        return None

    @invariant()
    def every_text_is_there_or_its_own_page_went_on_from_it(self):
        sheet = again(self.sheet)
        revisions = [(each.number, each.text) for each in sheet.events.all()]
        kept = {
            sheet.text,
            # A text that nobody changed is the machine's, which stays.
            sheet.machine_text,
            *kept_of(sheet),
            *sheet.earlier_drafts.values_list("text", flat=True),
            *(text for _number, text in revisions),
        }
        for text in self.sent:
            assert self.later_texts(text) & kept, f"{text!r} is lost"
        assert [number for number, _text in revisions] == list(range(1, len(revisions) + 1))
        assert sheet.is_to_do or revisions[-1][1] == sheet.text

    def teardown(self):
        try:
            assert not list(find_violations())
        finally:
            transaction.savepoint_rollback(self.before)

    def later_texts(self, text):
        """The text, and all that pages which sent it went on with."""
        found, ahead = set(), {text}
        while ahead:
            found |= ahead
            ahead = set().union(*(self.typed_over[each] for each in ahead)) - found
        return found


class TestTwoTabs(TestCase):
    """One round for all runs of the machine, each of which is taken back."""

    @classmethod
    def setUpTestData(cls):
        study = make_study()
        make_answers(study, questions=1)
        TwoTabs.round = make_round(study, experts=1, calibration=0, individual=1)
        TwoTabs.actor = make_member(study, "researcher")

    def test_no_text_is_lost_in_any_order(self):
        run_state_machine_as_test(
            TwoTabs,
            settings=settings(
                max_examples=settings.default.max_examples // 5,
                stateful_step_count=25,
                suppress_health_check=list(HealthCheck),
            ),
        )
