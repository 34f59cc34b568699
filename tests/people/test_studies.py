"""Opening a study, its settings, and the list of studies."""

import pytest
from django.urls import reverse

from cqa_site.people.models import AuditEvent, Membership, Role, Study, User
from tests import cast


def test_site_administrator_opens_a_study_and_is_its_admin(site_admin):
    client = cast.sign_in(site_admin)
    assert b"Open the first study" in client.get("/").content
    response = client.post(
        "/studies/new/",
        {"name": "Tea", "description": "About tea", "is_demo": "on", "created_by": "7"},
    )
    study = Study.objects.get()
    assert response.url == reverse("study", args=[study.public_id])
    assert (study.name, study.is_demo, study.created_by) == ("Tea", False, site_admin)
    assert Membership.objects.get(study=study).role == Role.ADMIN
    assert AuditEvent.objects.get(study=study).verb == "study_created"


def test_staff_may_open_studies_too(db):
    staff = User.objects.create_user("staff@site.example", "a long password", is_staff=True)
    assert cast.sign_in(staff).get("/studies/new/").status_code == 200


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


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.EXPERT])
def test_whoever_works_in_a_study_opens_none(people, role, settings):
    settings.RESEARCHERS_OPEN_STUDIES = True
    assert cast.sign_in(people[role]).get("/studies/new/").status_code == 403


def test_a_goal_nobody_knows_is_refused(site_admin):
    reply = cast.sign_in(site_admin).post("/studies/new/", {"name": "Tea", "goal": "gold"})
    assert reply.status_code == 422
    assert not Study.objects.exists()


@pytest.mark.parametrize("role", list(Role.values))
def test_members_may_not_open_studies(people, role, settings):
    settings.RESEARCHERS_OPEN_STUDIES = False
    client = cast.sign_in(people[role])
    assert client.get("/studies/new/").status_code == 403
    assert client.post("/studies/new/", {"name": "Mine"}).status_code == 403
    assert Study.objects.count() == 1


def test_study_without_a_name_is_refused(site_admin):
    assert cast.sign_in(site_admin).post("/studies/new/", {"name": ""}).status_code == 422
    assert not Study.objects.exists()


def test_site_administrator_is_no_member_of_other_studies(site_admin, study):
    client = cast.sign_in(site_admin)
    assert client.get(reverse("study", args=[study.public_id])).status_code == 404
    assert "Study A" not in client.get("/").content.decode()


def test_admin_changes_name_and_description_only(admin, study, people):
    before = Study.objects.values().get(pk=study.pk)
    admin.post(
        reverse("study_settings", args=[study.public_id]),
        {"name": "Renamed", "description": "New", "is_demo": "on", "public_id": "0" * 32},
    )
    after = Study.objects.values().get(pk=study.pk)
    assert after == before | {"name": "Renamed", "description": "New"}
    event = AuditEvent.objects.get()
    assert (event.verb, event.details) == ("study_changed", {"before": "Study A"})


def test_refused_name_is_not_shown_as_if_it_were_stored(admin, study):
    page = admin.post(reverse("study_settings", args=[study.public_id]), {"name": ""})
    assert page.status_code == 422
    assert "Study A</a>" in page.content.decode()


@pytest.mark.parametrize("role", ["annotator", "expert", "researcher"])
def test_others_may_not_change_the_study(study, people, role):
    client = cast.sign_in(people[role])
    path = reverse("study_settings", args=[study.public_id])
    assert client.get(path).status_code == 403
    assert client.post(path, {"name": "Mine"}).status_code == 403


def test_member_of_one_study_goes_straight_to_it(people, study):
    response = cast.sign_in(people["annotator"]).get("/")
    assert response.url == reverse("study", args=[study.public_id])


def test_member_of_two_studies_chooses(people, study, other_study):
    other_study.memberships.create(user=people["annotator"], role=Role.EXPERT)
    page = cast.sign_in(people["annotator"]).get("/").content.decode()
    for words in ("Study A", "Study B", "Annotator", "Expert"):
        assert words in page
    assert "New study" not in page


def test_person_without_a_study_is_told_how_to_get_into_one(db):
    person = User.objects.create_user("alone@site.example", "a long password")
    assert b"invitation" in cast.sign_in(person).get("/").content


def test_list_of_studies_costs_the_same_for_many(site_admin, django_assert_max_num_queries):
    for number in range(30):
        cast.make_study(f"Study {number}").memberships.create(user=site_admin, role=Role.ADMIN)
    client = cast.sign_in(site_admin)
    with django_assert_max_num_queries(3):
        client.get("/")


def test_whoever_opens_no_study_gets_back_to_the_list(study):
    """With one study alone the first page would lead into it again."""
    client = cast.sign_in(cast.make_member(study, "admin"))
    page = client.get(reverse("study_new")).content.decode()
    assert page.count(f'href="{reverse("home")}?all=1"') == 2
