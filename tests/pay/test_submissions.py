"""The platform's list: its export, its differences from the site, and items reclaimed."""

from datetime import timedelta

from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from annotation.labelling.models import Slot
from cqa_site.people.models import AuditEvent
from cqa_site.rounds.crowd.participants import PlatformIds, take_part
from cqa_site.rounds.crowd.platform import apply_status
from cqa_site.rounds.crowd.submissions import (
    SubmissionRow,
    differences,
    reclaim_items,
    store_submissions,
)
from cqa_site.rounds.models import Participant, PlatformSubmission
from tests.people.crowd import CODES, create_link, label_items
from tests.worlds import built_once
from .crowd import Crowd

HEAD = "Submission id,Participant id,Status,Completion code,Age\n"


def make_crowd():
    crowd = Crowd(people=6)
    for person in crowd.people[:3]:
        crowd.work(person)
    label_items(crowd.people[4], 1)
    return crowd


crowd = built_once(make_crowd)


def listed(number, status, code="", participant=None):
    return SubmissionRow(f"SUB-{number}", participant or f"PID-{number}", status, code)


ROWS = [
    listed(0, "APPROVED", CODES["completed_code"]),
    listed(1, "AWAITING-REVIEW", "NOCODE"),
    listed(2, "AWAITING-REVIEW", "GUESSED"),
    listed(3, "AWAITING-REVIEW", "X", participant="PID-other"),
    listed(4, "RETURNED"),
    listed(8, "AWAITING-REVIEW", "SHARED-CODE"),
    listed(9, "TIMED-OUT"),
]


def compared(crowd):
    return {row.submission: row.problem for row in differences(crowd.link)}


def store(crowd, rows=ROWS):
    return store_submissions(link=crowd.link, rows=rows, actor=crowd.researcher)


def test_differences_by_submission(crowd, django_assert_num_queries):
    assert differences(crowd.link) == [], "without a list nothing is known to differ"
    assert store(crowd) == 7
    with django_assert_num_queries(3):
        differences(crowd.link)
    assert compared(crowd) == {
        "SUB-1": "missing_code",
        "SUB-2": "other_code",
        "SUB-3": "other_person",
        "SUB-4": "ended_there",
        "SUB-8": "unknown_here",
        "SUB-5": "unknown_there",
    }


def test_who_came_after_the_list_or_by_another_link_is_known(crowd):
    store(crowd)
    crowd.come(30)
    assert "SUB-30" not in compared(crowd)
    store(crowd)
    assert compared(crowd)["SUB-30"] == "unknown_there"
    other, _secret = create_link(crowd.round, crowd.researcher)
    take_part(link=other, ids=PlatformIds("PID-8", session="SUB-8"), browser="browser-8")
    assert "SUB-8" not in compared(crowd)
    store(crowd, [listed(8, "APPROVED", participant="PID-other")])
    assert compared(crowd)["SUB-8"] == "unknown_here"


def test_statuses_that_contradict_the_outcome(crowd):
    store(crowd, [listed(0, "RETURNED"), listed(5, "APPROVED", "X"), listed(1, "ACTIVE")])
    said = compared(crowd)
    assert (said["SUB-0"], said["SUB-5"], said.get("SUB-1")) == ("other_status",) * 2 + (None,)
    row = next(row for row in differences(crowd.link) if row.submission == "SUB-0")
    assert (row.here, row.there) == ("Completed", "RETURNED")


def test_the_same_list_twice_changes_nothing(crowd):
    rows = PlatformSubmission.objects.values_list("submission", "status", "code")
    assert store(crowd) == 7
    before = list(rows.all())
    assert (store(crowd), list(rows.all())) == (0, before)
    assert not Participant.objects.filter(platform_status="RETURNED").exists()


def test_reclaiming_gives_items_back_and_keeps_work(crowd):
    store(crowd)
    held = Slot.objects.filter(round=crowd.round, state="leased").count()
    assert held
    assert reclaim_items(link=crowd.link, actor=crowd.researcher) == 1
    person = Participant.objects.get(pk=crowd.people[4].pk)
    assert (person.outcome, person.platform_status) == ("returned", "RETURNED")
    assert Slot.objects.filter(round=crowd.round, state="leased").count() < held
    assert person.user.raters.get().assignments.filter(state="answered").count() == 1
    assert reclaim_items(link=crowd.link, actor=crowd.researcher) == 0
    event = AuditEvent.objects.get(verb="participant_ended")
    assert event.actor == crowd.researcher


def test_a_newer_webhook_is_stronger_than_the_list(crowd):
    store(crowd)
    later = timezone.now() + timedelta(minutes=1)
    apply_status(crowd.people[4], "ACTIVE", later)
    assert "SUB-4" not in compared(crowd)
    assert reclaim_items(link=crowd.link, actor=crowd.researcher) == 0
    assert Participant.objects.get(pk=crowd.people[4].pk).outcome == "running"


def upload(client, crowd, text, name="prolific_export.csv"):
    file = SimpleUploadedFile(name, text if isinstance(text, bytes) else text.encode())
    return client.post(crowd.page("crowd_submissions"), {"file": file}, follow=True)


def test_an_export_is_taken_and_shows_what_differs(crowd, researcher):
    rows = "SUB-0,PID-0,APPROVED,CODE-COMPLETED,30\nSUB-4,PID-4,RETURNED,,41\n"
    page = upload(researcher, crowd, HEAD + rows)
    assert "2 submissions read, 2 new" in page.text.replace("of them ", "")
    assert "Ended on the platform, still running here" in page.text
    assert "Reclaim the items of 1 person" in " ".join(page.text.split())
    done = researcher.post(crowd.page("crowd_money", "reclaim"), follow=True)
    assert "Participation ended for 1 person." in done.text
    old_names = "session_id,participant_id,status,entered_code\n"
    assert upload(researcher, crowd, old_names).status_code == 422


BAD = {
    "Participant id,Status,Completion code\nP,APPROVED,\n": "has no column “Submission id”",
    HEAD + "SUB-1,PID-1,APPROVED,,3\n<b>,PID-2,APPROVED,,3\n": (
        "export.csv, row 3, column Submission id: is not a valid platform ID"
    ),
    HEAD + "SUB-1,,APPROVED,,3\n": "row 2, column Participant id: is not a valid platform ID",
    HEAD + "SUB-1,PID-1,,,3\n": "row 2, column Status: is not a valid platform status",
    HEAD + "SUB-1,PID-1,APPROVED," + "x" * 41 + ",3\n": "Completion code: is longer",
    HEAD + "SUB-1,PID-1,APPROVED,A,3\nSUB-1,PID-1,APPROVED,B,3\n": "row 3, column Sub",
    b"\x00\x01": "export.csv",
}


REAL = (
    "Submission id,Participant id,Status,Started at,Time taken,Completion code,Age,Country\n"
    '5f1a,5e0b,APPROVED,2026-05-04T10:00:00.000000Z,"612,5",CODE-COMPLETED,30,Österreich\n'
    '5f1b,5e0c,AWAITING REVIEW,,,NOCODE,DATA_EXPIRED,"Côte d\'Ivoire"\n'
)
POINTS = REAL.replace('"612,5"', "612.5")
FORMS = {
    "UTF-8": REAL.encode(),
    "UTF-8 with a mark": REAL.encode("utf-8-sig"),
    "UTF-16": REAL.encode("utf-16"),
    "a spreadsheet's": POINTS.replace(",", ";").encode("utf-8-sig"),
    "tabs": POINTS.replace(",", "\t").encode(),
    "lines of Windows": REAL.replace("\n", "\r\n").encode(),
    "spaces": REAL.replace("5f1a,5e0b", " 5f1a ,5e0b ").encode(),
    "Windows-1252": REAL.encode("cp1252"),
    "Windows-1250": REAL.replace("ô", "ó").encode("cp1250"),
}


def test_exports_as_platforms_and_spreadsheets_write_them(crowd, researcher, subtests):
    for name, content in FORMS.items():
        with subtests.test(name):
            PlatformSubmission.objects.all().delete()
            assert "2 submissions read" in upload(researcher, crowd, content).text
            rows = PlatformSubmission.objects.values_list("submission", "status", "code")
            assert list(rows) == [
                ("5f1a", "APPROVED", "CODE-COMPLETED"),
                ("5f1b", "AWAITING-REVIEW", "NOCODE"),
            ]


def test_a_bad_export_stores_nothing_and_says_where(crowd, researcher, subtests):
    for text, message in BAD.items():
        with subtests.test(str(text)[-40:]):
            page = upload(researcher, crowd, text, name="export.csv")
            assert page.status_code == 422
            assert message in page.text
    assert not PlatformSubmission.objects.exists()
