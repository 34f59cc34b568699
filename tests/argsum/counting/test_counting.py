"""Judging of sets by people: what is served, drafts that stay, counts by the server, blindness."""

from datetime import timedelta
from urllib.parse import urlencode

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from argsum.counting.actions.kind import CountContent
from argsum.counting.models import CountEvent, CountingSlot, CountSheet, KeptCount
from cqa_site.rounds.models import COUNTED, Place
from cqa_site.rounds.opening import close_round, reopen_round
from cqa_site.rounds.saving import RoundNotOpen, Sent, content_of, save_draft
from tests.argsum.counting.made_counting import marked_form, open_counting
from tests.argsum.made_cells import TOPIC, make_dataset, make_set
from tests.cast import make_member, make_study, sign_in
from tests.flat import flat

pytestmark = pytest.mark.django_db
JSON = {"HTTP_ACCEPT": "application/json"}


@pytest.fixture
def study():
    made = make_study()
    for cell in make_dataset(made).cells.all():
        make_set(cell, system="Secretive")
    return made


@pytest.fixture
def researcher(study):
    return make_member(study, "researcher")


@pytest.fixture
def counting(study, researcher):
    """Two sets, each for one person."""
    return open_counting(study, researcher)


@pytest.fixture
def annotator(study):
    return sign_in(make_member(study, "annotator"))


def address(name, study, *ids):
    return reverse(name, args=[study.public_id, *ids])


def begin(client, study, counting_round) -> CountSheet:
    """Open the round as a person does, and return the sheet one is led to."""
    reply = client.get(address("count", study, counting_round.public_id))
    assert reply.status_code == 302, reply.content.decode()[:2000]
    public_id = reply["Location"].rstrip("/").rsplit("/", 1)[1]
    return CountSheet.objects.get(public_id=public_id)


def submit(client, study, sheet, **changed):
    fields = marked_form(base_version=str(sheet.version), client_key=f"k{sheet.pk}") | changed
    return client.post(address("count_submit", study, sheet.public_id), fields, **JSON)


def save(client, study, sheet, fields, *, page="p"):
    """A save as the script sends it: the whole form as one text."""
    sent = {"text": urlencode(fields, doseq=True), "base_version": 0}
    sent |= {"client": page, "sequence": 1}
    return client.post(address("count_save", study, sheet.public_id), sent, **JSON)


def test_the_counts_follow_from_the_marks(study, counting, annotator):
    sheet = begin(annotator, study, counting)
    assert (sheet.references, sheet.summaries) == (2, 3)
    assert submit(annotator, study, sheet).status_code == 200
    sheet.refresh_from_db()
    assert (sheet.state, sheet.covered, sheet.unique) == ("submitted", 1.5, 2.5)
    assert (sheet.coverage, sheet.redundancy) == (0.75, pytest.approx(1 / 6))
    assert sheet.marks == {
        "references": {"0": {"level": "full", "by": [0, 2]}, "1": {"level": "part", "by": [1]}},
        "groups": [[0], [1], [2]],
        "partly": [2],
        "empty": [],
    }
    assert (sheet.covered_is_typed, sheet.unique_is_typed) == (False, False)
    call_command("check_integrity")


def test_a_typed_count_overrides_the_marks_and_both_are_stored(study, counting, annotator):
    sheet = begin(annotator, study, counting)
    submit(annotator, study, sheet, covered="2", unique="1,5")
    sheet.refresh_from_db()
    assert (sheet.covered, sheet.unique) == (2, 1.5)
    assert (sheet.covered_is_typed, sheet.unique_is_typed) == (True, True)
    assert sheet.marks["references"]["1"]["level"] == "part"
    call_command("check_integrity")


def test_an_unsure_count_is_kept_apart_and_in_no_figure(study, counting, annotator):
    sheet = begin(annotator, study, counting)
    submit(annotator, study, sheet, covered_unsure="1", covered="1")
    sheet.refresh_from_db()
    assert (sheet.covered, sheet.coverage, sheet.covered_is_unsure) == (None, None, True)
    assert (sheet.unique, sheet.unique_is_unsure) == (2.5, False)
    assert not sheet.covered_is_typed
    call_command("check_integrity")


@pytest.mark.parametrize("given", ["2.5", "-1", "0.3", "one", "nan", "inf", "1e999"])
def test_a_typed_count_outside_the_half_steps_is_refused(study, counting, annotator, given):
    reply = submit(annotator, study, begin(annotator, study, counting), covered=given)
    assert reply.status_code == 422
    assert "half steps" in reply.json()["detail"]
    assert not CountSheet.objects.filter(state="submitted").exists()


def test_a_count_that_is_none_keeps_nothing_else_from_being_stored(study, counting, annotator):
    sheet = begin(annotator, study, counting)
    fields = marked_form(covered="2 of 5", unique="1.5", comment="Close call.")
    reply = save(annotator, study, sheet, fields)
    assert (reply.status_code, reply.json()["version"]) == (422, 1)
    assert "“2 of 5” is no count" in reply.json()["detail"]
    sheet.refresh_from_db()
    stored = content_of(sheet)
    assert (stored.comment, stored.covered, stored.unique) == ("Close call.", None, 1.5)
    assert stored.marks["references"]["0"] == {"level": "full", "by": [0, 2]}
    page = annotator.get(address("count_form", study, sheet.public_id)).content.decode()
    assert 'value="2 of 5"' in page
    assert submit(annotator, study, sheet, covered="2 of 5").status_code == 422
    assert submit(annotator, study, sheet, covered="2").status_code == 200
    assert not CountSheet.objects.filter(draft__isnull=False).exists()


def test_without_script_a_count_that_is_none_comes_back(study, counting, annotator):
    sheet = begin(annotator, study, counting)
    fields = marked_form(covered="<2.3>", comment="Close call.")
    reply = annotator.post(address("count_save", study, sheet.public_id), fields)
    page = reply.content.decode()
    assert (reply.status_code, 'value="&lt;2.3&gt;"' in page) == (422, True)
    # What comes next is based on what was stored.
    assert 'name="base_version" value="1"' in page
    sheet.refresh_from_db()
    assert sheet.draft["comment"] == "Close call."


def test_every_reference_and_summary_has_to_be_decided(study, counting, annotator):
    sheet = begin(annotator, study, counting)
    reply = submit(annotator, study, sheet, **{"level-1": "", "group-2": ""})
    assert (reply.status_code, reply.json()["missing"]) == (422, ["reference-1", "summary-2"])
    sheet.refresh_from_db()
    # What was entered is the draft now, ticks included.
    assert sheet.draft["marks"]["references"]["1"] == {"level": "", "by": [1]}
    changed = {"base_version": str(sheet.version), "level-1": "", "covered": "1.5"}
    assert submit(annotator, study, sheet, **changed).status_code == 200


def test_not_every_statement_can_repeat_another(study, counting, annotator):
    sheet = begin(annotator, study, counting)
    same = {"group-0": "A", "group-1": "A", "group-2": "A"}
    reply = submit(annotator, study, sheet, **same)
    assert (reply.status_code, reply.json()["missing"]) == (422, ["summary-2"])


def test_a_summary_that_says_nothing_adds_nothing(study, counting, annotator):
    sheet = begin(annotator, study, counting)
    submit(annotator, study, sheet, **{"group-1": "0", "group-2": "A", "partly-2": ""})
    sheet.refresh_from_db()
    assert (sheet.unique, sheet.marks["groups"], sheet.marks["empty"]) == (1, [[0, 2]], [1])


@pytest.mark.parametrize(
    "wrong", [{"by-0": ["7"]}, {"group-0": "Z"}, {"level-0": "mostly"}, {"comment": "x" * 5001}]
)
def test_marks_that_no_form_sends_are_refused(study, counting, annotator, wrong):
    sheet = begin(annotator, study, counting)
    assert submit(annotator, study, sheet, **wrong).status_code == 422
    sheet.refresh_from_db()
    assert (sheet.state, sheet.draft) == ("open", None)


def test_each_set_goes_to_as_many_people_as_asked(study, researcher):
    counting_round = open_counting(study, researcher, raters=2)
    people = [sign_in(make_member(study, role)) for role in ("annotator", "expert", "annotator")]
    for client in people[:2]:
        for _turn in range(2):
            sheet = begin(client, study, counting_round)
            assert submit(client, study, sheet).status_code == 200
    for client in people:
        page = client.get(address("count", study, counting_round.public_id)).content.decode()
        assert "That was everything" in page
    assert study.count_sheets.filter(COUNTED).count() == 4
    assert not CountingSlot.objects.exclude(state="done").exists()
    pairs = CountSheet.objects.values_list("summary_set", "rater")
    assert len(set(pairs)) == 4


def test_what_somebody_holds_nobody_else_gets(study, counting, annotator):
    first = begin(annotator, study, counting)
    other = sign_in(make_member(study, "annotator"))
    second = begin(other, study, counting)
    assert first.summary_set_id != second.summary_set_id
    third = sign_in(make_member(study, "annotator"))
    page = third.get(address("count", study, counting.public_id)).content.decode()
    assert "Nothing free at the moment" in page
    assert begin(annotator, study, counting) == first


def test_a_late_sheet_is_kept_as_an_extra(study, counting, annotator):
    late = begin(annotator, study, counting)
    CountingSlot.objects.filter(sheet=late).update(
        lease_until=timezone.now() - timedelta(minutes=1)
    )
    quick = sign_in(make_member(study, "annotator"))
    for _turn in range(2):
        submit(quick, study, begin(quick, study, counting))
    assert submit(annotator, study, late).status_code == 200
    late.refresh_from_db()
    assert (late.state, late.is_extra, late.covered) == ("submitted", True, 1.5)
    assert study.count_sheets.filter(COUNTED).count() == 2
    call_command("check_integrity")


def test_the_page_says_nothing_about_system_setting_and_prevalence(study, counting, annotator):
    sheet = begin(annotator, study, counting)
    summary_set = sheet.summary_set
    page = annotator.get(address("count_form", study, sheet.public_id)).content.decode()
    assert TOPIC in page
    stance = summary_set.cell.get_stance_display()
    assert all(text in page for text in ("The second point again", stance))
    own = annotator.get(address("count_own", study, counting.public_id)).content.decode()
    secrets = (
        "Secretive",
        summary_set.setting,
        str(summary_set.public_id),
        str(summary_set.cell.public_id),
        str(summary_set.cell.dataset.public_id),
        "threshold",
        "revalence",
    )
    for secret in secrets:
        assert secret not in page, secret
        assert secret not in own, secret


def test_nobody_opens_the_sheet_of_somebody_else(study, counting, annotator, researcher):
    sheet = begin(annotator, study, counting)
    other = sign_in(make_member(study, "annotator"))
    form = address("count_form", study, sheet.public_id)
    assert other.get(form).status_code == 404
    for name in ("count_save", "count_submit"):
        assert other.post(address(name, study, sheet.public_id), marked_form()).status_code == 404
    assert sign_in(researcher).get(address("count_form", study, sheet.public_id)).status_code in (
        403,
        404,
    )


def test_drafts_come_back_with_their_running_counts(study, counting, annotator):
    sheet = begin(annotator, study, counting)
    reply = save(annotator, study, sheet, {"level-0": "full", "group-1": "B", "comment": "Hm."})
    said = reply.json()
    assert (said["version"], said["covered"], said["unique"]) == (1, 1.0, 1.0)
    sheet.refresh_from_db()
    assert (sheet.state, sheet.marks, sheet.covered) == ("open", {}, None)
    page = flat(annotator.get(address("count_form", study, sheet.public_id)).content.decode())
    assert 'name="level-0" value="full" checked' in page
    assert "Hm.</textarea>" in page


def test_two_tabs_keep_both_versions(study, counting, annotator):
    sheet = begin(annotator, study, counting)
    assert save(annotator, study, sheet, {"level-0": "full"}, page="one").status_code == 200
    reply = save(annotator, study, sheet, {"level-0": "none"}, page="two")
    assert (reply.status_code, reply.json()["error"]) == (409, "conflict")
    assert "not covered" in reply.json()["conflict"]
    kept = KeptCount.objects.get()
    settle = address("count_settle", study, sheet.public_id, kept.public_id)
    assert annotator.post(settle, {}).status_code == 303
    assert annotator.post(settle, {"choice": "mine"}).status_code == 303
    sheet.refresh_from_db()
    assert sheet.draft["marks"]["references"]["0"]["level"] == "none"
    # The version that lost is kept in turn.
    kept = KeptCount.objects.get()
    assert kept.content["marks"]["references"]["0"]["level"] == "full"
    settle = address("count_settle", study, sheet.public_id, kept.public_id)
    annotator.post(settle, {"choice": "stored"})
    assert not KeptCount.objects.exists()


def test_the_same_submission_twice_is_one_event(study, counting, annotator):
    sheet = begin(annotator, study, counting)
    assert [submit(annotator, study, sheet).status_code for _ in range(2)] == [200, 200]
    assert CountEvent.objects.count() == 1


def test_a_changed_mind_counts_when_submitted_again(study, counting, annotator):
    sheet = begin(annotator, study, counting)
    submit(annotator, study, sheet)
    sheet.refresh_from_db()
    again = {"base_version": str(sheet.version), "client_key": "again", "level-1": "none"}
    assert submit(annotator, study, sheet, **again).status_code == 200
    sheet.refresh_from_db()
    assert (sheet.covered, sheet.marks["references"]["1"]["by"]) == (1, [])
    levels = [each.content["marks"]["references"]["1"]["level"] for each in sheet.events.all()]
    assert levels == ["part", "none"]
    call_command("check_integrity")


def test_nothing_is_lost_when_the_round_closes(study, counting, annotator, researcher):
    sheet = begin(annotator, study, counting)
    close_round(round_=counting, actor=researcher)
    reply = submit(annotator, study, sheet)
    assert (reply.status_code, reply.json()["error"]) == (409, "closed")
    assert KeptCount.objects.get().content["marks"]["groups"] == [[0], [1], [2]]
    with pytest.raises(RoundNotOpen):
        save_draft(sheet=sheet, sent=Sent(CountContent(comment="late"), 0))
    reopen_round(round_=counting, actor=researcher)
    assert submit(annotator, study, sheet).status_code == 200


def test_without_script_the_plain_form_works(study, counting, annotator):
    sheet = begin(annotator, study, counting)
    place = [sheet.public_id]
    reply = annotator.post(address("count_save", study, *place), marked_form(**{"level-1": ""}))
    assert (reply.status_code, reply["Location"]) == (303, address("count_form", study, *place))
    sheet.refresh_from_db()
    reply = annotator.post(
        address("count_submit", study, *place),
        marked_form(**{"level-1": "", "base_version": str(sheet.version)}),
    )
    page = flat(reply.content.decode())
    assert (reply.status_code, "Still undecided: reference 2" in page) == (422, True)
    assert 'name="partly-2" value="1" checked' in page
    reply = annotator.post(
        address("count_submit", study, *place), marked_form(base_version=str(sheet.version))
    )
    following = CountSheet.objects.get(state="open")
    assert reply["Location"] == address("count_form", study, following.public_id)


def test_an_excluded_person_frees_the_slots_and_can_come_back(
    study, counting, annotator, researcher
):
    sheet = begin(annotator, study, counting)
    submit(annotator, study, sheet)
    place = Place.objects.get()
    boss = sign_in(researcher)
    decide = address("counting_rater", study, counting.public_id, place.rater.public_id)
    boss.post(decide, {"decision": "exclude", "reason": "Guessed."})
    sheet.refresh_from_db()
    assert (sheet.is_extra, sheet.slot) == (True, None)
    assert CountingSlot.objects.filter(state="open").count() == 2
    page = annotator.get(address("count", study, counting.public_id)).content.decode()
    assert "no more work for you" in page
    boss.post(decide, {"decision": "reinstate"})
    sheet.refresh_from_db()
    assert (sheet.is_extra, sheet.slot.state) == (False, "done")
    verbs = list(study.audit_events.order_by("pk").values_list("verb", flat=True))
    assert verbs[-2:] == ["counter_exclude", "counter_reinstate"]
    call_command("check_integrity")


def test_own_sets_come_a_second_time_and_earlier_sheets_are_closed(study, researcher):
    for number in range(6):
        for cell in study.argument_datasets.get().cells.all():
            make_set(cell, system=f"System {number}")
    counting_round = open_counting(study, researcher, repeat_share=0.2)
    client = sign_in(make_member(study, "annotator"))
    sheets = []
    while client.get(address("count", study, counting_round.public_id)).status_code == 302:
        sheets.append(begin(client, study, counting_round))
        submit(client, study, sheets[-1])
    repeats = CountSheet.objects.filter(replicate=1)
    # A fifth of 14, rounded up at the end.
    assert (len(sheets), repeats.count()) == (17, 3)
    assert repeats.values("summary_set").distinct().count() == 3
    form = address("count_form", study, sheets[0].public_id)
    assert client.get(form).status_code == 404
    close_round(round_=counting_round, actor=researcher)
    assert client.get(form).status_code == 200
    call_command("check_integrity")


def test_the_order_is_the_raters_own_and_stays(study, researcher):
    for number in range(2):
        for cell in study.argument_datasets.get().cells.all():
            make_set(cell, system=f"System {number}")
    counting_round = open_counting(study, researcher, raters=3)
    orders = []
    for _person in range(3):
        client = sign_in(make_member(study, "annotator"))
        while client.get(address("count", study, counting_round.public_id)).status_code == 302:
            submit(client, study, begin(client, study, counting_round))
        rater = Place.objects.order_by("pk").last().rater
        rows = CountSheet.objects.filter(rater=rater).order_by("place")
        orders.append(tuple(rows.values_list("summary_set", flat=True)))
    assert {len(each) for each in orders} == {6}
    # Two of three people may draw the same of 720 orders by chance.
    assert len(set(orders)) > 1


def test_integrity_finds_counts_that_are_not_of_their_marks(study, counting, annotator, capsys):
    submit(annotator, study, begin(annotator, study, counting))
    CountSheet.objects.update(covered=2, coverage=1)
    with pytest.raises(CommandError):
        call_command("check_integrity")
    said = "".join(capsys.readouterr())
    assert "its marks give 1.5" in said
    assert "other covered, coverage than its last submission" in said


def test_the_first_page_of_an_annotator_leads_to_the_round(study, counting, annotator):
    page = annotator.get(reverse("study", args=[study.public_id])).content.decode()
    assert address("count", study, counting.public_id) in page
    assert "Start judging" in page
    submit(annotator, study, begin(annotator, study, counting))
    page = annotator.get(reverse("study", args=[study.public_id])).content.decode()
    assert "1 judged by you" in page
