"""Opening a study, its settings, its log, and the list of studies."""

import pytest
from django.urls import reverse

from cqa_site.people.access import record
from cqa_site.people.models import AuditEvent, Membership, Role, Study, User
from cqa_site.rounds.lifecycle import open_round
from tests import cast
from tests.flat import flat


def test_site_administrator_opens_a_study_and_is_its_admin(site_admin):
    client = cast.sign_in(site_admin)
    assert b"Create the first study" in client.get("/").content
    sent = {"name": "Tea", "description": "About tea", "is_demo": "on", "created_by": "7"}
    response = client.post("/studies/new/", sent)
    study = Study.objects.get()
    assert response.url == reverse("study", args=[study.public_id])
    assert (study.name, study.is_demo, study.created_by) == ("Tea", False, site_admin)
    assert Membership.objects.get(study=study).role == Role.ADMIN
    assert AuditEvent.objects.get(study=study).verb == "study_created"
    for fields in ({"name": ""}, {"name": "Tea", "goal": "gold"}):
        assert client.post("/studies/new/", fields).status_code == 422
    assert Study.objects.count() == 1


@pytest.mark.parametrize("role", [Role.RESEARCHER, Role.ADMIN])
def test_whoever_runs_a_study_opens_another_where_the_site_allows_it(people, role, settings):
    client = cast.sign_in(people[role])
    settings.RESEARCHERS_OPEN_STUDIES = True
    assert client.get("/").status_code == 302
    assert b"New study" in client.get("/?all=1").content
    reply = client.post("/studies/new/", {"name": "Mine", "goal": "judge"})
    mine = Study.objects.get(name="Mine")
    assert reply.url == reverse("study", args=[mine.public_id])
    assert mine.goal == "judge"
    assert b"Can a judge replace my annotators?" in client.get(reply.url).content


def test_nobody_else_opens_one(people, settings):
    staff = User.objects.create_user("staff@site.example", "a long password", is_staff=True)
    assert cast.sign_in(staff).get("/studies/new/").status_code == 200
    for is_allowed, roles in ((False, Role.values), (True, (Role.ANNOTATOR, Role.EXPERT))):
        settings.RESEARCHERS_OPEN_STUDIES = is_allowed
        for role in roles:
            client = cast.sign_in(people[role])
            assert client.get("/studies/new/").status_code == 403
            assert client.post("/studies/new/", {"name": "Mine"}).status_code == 403
    assert Study.objects.count() == 1


def test_admin_changes_name_and_description_only(admin, study, people):
    before = Study.objects.values().get(pk=study.pk)
    settings_page = reverse("study_settings", args=[study.public_id])
    refused = admin.post(settings_page, {"name": ""})
    assert refused.status_code == 422
    assert "Study A</a>" in refused.text, "not as if it were stored"
    more = {"is_demo": "on", "public_id": "0" * 32}
    admin.post(settings_page, {"name": "Renamed", "description": "New"} | more)
    after = Study.objects.values().get(pk=study.pk)
    assert after == before | {"name": "Renamed", "description": "New"}
    event = AuditEvent.objects.get()
    assert (event.verb, event.details) == ("study_changed", {"before": "Study A"})


def test_member_of_one_study_goes_straight_to_it_and_of_two_chooses(people, study, other_study):
    client = cast.sign_in(people["annotator"])
    assert client.get("/").url == reverse("study", args=[study.public_id])
    other_study.memberships.create(user=people["annotator"], role=Role.EXPERT)
    page = client.get("/").text
    for words in ("Study A", "Study B", "Annotator", "Expert"):
        assert words in page
    assert "New study" not in page


def test_person_without_a_study_is_told_how_to_get_into_one(site_admin, study):
    person = User.objects.create_user("alone@site.example", "a long password")
    assert b"invitation" in cast.sign_in(person).get("/").content
    # Who looks after the site is no member of its studies.
    assert "Study A" not in cast.sign_in(site_admin).get("/").text


def test_list_of_studies_costs_the_same_for_many(site_admin, django_assert_max_num_queries):
    for number in range(30):
        cast.make_study(f"Study {number}").memberships.create(user=site_admin, role=Role.ADMIN)
    client = cast.sign_in(site_admin)
    with django_assert_max_num_queries(3):
        client.get("/")


def test_who_works_in_two_studies_sees_on_the_first_page_what_waits(study):
    member = cast.make_member(study, "annotator")
    other = cast.make_study("Study B")
    other.memberships.create(user=member, role=Role.ANNOTATOR)
    for each, name in ((study, "Everyday choices"), (other, "Winter")):
        label_round = cast.make_label_round(each, name=name)
        open_round(round_=label_round, actor=cast.make_member(each, "researcher"))
    closed = cast.make_label_round(other, name="Last year", state="closed")
    page = cast.sign_in(member).get("/").text
    assert page.index("Everyday choices") < page.index("Winter")
    assert page.count("Start labelling") == 2
    winter = other.rounds.get(name="Winter")
    assert reverse("label", args=[other.public_id, winter.public_id]) in page
    assert closed.name not in page


def log(client, study, page=1):
    return client.get(reverse("audit", args=[study.public_id]) + f"?page={page}").text


def test_log_is_paginated_newest_first(
    researcher, study, other_study, people, django_assert_max_num_queries
):
    record(study=other_study, actor=None, verb="thing_done", subject="PRIVATE")
    record(study=None, actor=people["admin"], verb="token_created", subject="PRIVATE")
    assert "No activity yet" in log(researcher, study)
    for number in range(60):
        record(study=study, actor=people["admin"], verb="thing_done", subject=f"thing {number}")
    with django_assert_max_num_queries(5):
        text = log(researcher, study)
    assert "1–50 of 60" in text
    assert "PRIVATE" not in text
    assert "Thing done" in text
    assert text.index("thing 59") < text.index("thing 58")
    assert "thing 9<" not in text
    assert "thing 0<" in log(researcher, study, 2)


def test_log_shows_reason_and_details_as_text_and_nested_counts_in_words(
    researcher, study, people
):
    counts = {"items": {"new": 3, "same": 0}, "votes": {"new": 0}}
    details = {"counts": counts, "items": [1, 2], "before": "in"}
    said = {"reason": "<b>always 3</b>"} | details
    record(study=study, actor=people["admin"], verb="import_applied", subject="x", **said)
    text = flat(log(researcher, study))
    assert "&lt;b&gt;always 3&lt;/b&gt;" in text
    assert "<b>always" not in text
    assert "before" in text
    assert "items new 3" in text
    assert "votes" not in text
    assert "</span> 1, 2" in text
