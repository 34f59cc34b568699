"""The people page: members and their roles."""

import re

import pytest
from django.db import OperationalError
from django.urls import reverse

from cqa_site.people.actions import LastAdmin, change_role, deactivate_member
from cqa_site.people.models import AuditEvent, Membership, Role, User
from tests import cast
from .at_once import at_once


def page(client, study):
    return client.get(reverse("members", args=[study.public_id]))


def set_role(client, study, person, role, /, **more):
    address = reverse("member_role", args=[study.public_id, person.public_id])
    return client.post(address, {"role": role} | more)


def set_active(client, study, person, active):
    address = reverse("member_active", args=[study.public_id, person.public_id])
    return client.post(address, {"active": active})


def role_of(study, person):
    return Membership.objects.get(study=study, user=person).role


def test_researcher_sees_people_without_controls(researcher, study, people):
    User.objects.filter(pk=people["expert"].pk).update(name="<img src=x onerror=alert(1)>")
    text = page(researcher, study).text
    assert "The annotator" in text
    assert "Deactivate" not in text
    assert "Invite someone" not in text
    assert "<img" not in text


def test_admin_changes_a_role_and_nothing_else(admin, study, people, other_study):
    set_role(admin, study, people["expert"], "expert")
    for unknown in ("", "owner", "ADMIN", "annotator "):
        set_role(admin, study, people["expert"], unknown)
    assert role_of(study, people["expert"]) == "expert"
    assert not AuditEvent.objects.exists(), "it is the same"
    before = Membership.objects.values().get(user=people["expert"])
    more = {"user": people["admin"].pk, "study": other_study.pk, "is_active": "", "is_staff": "on"}
    set_role(admin, study, people["expert"], "researcher", **more)
    after = Membership.objects.values().get(user=people["expert"])
    assert after == before | {"role": "researcher"}
    people["expert"].refresh_from_db()
    assert not people["expert"].is_staff
    event = AuditEvent.objects.get(verb="member_role_changed")
    assert (event.study, event.actor) == (study, people["admin"])
    assert event.details == {"before": "expert", "after": "researcher"}


def test_last_admin_keeps_role_and_access_until_another_is_there(admin, study, people):
    second = cast.make_member(study, Role.ADMIN)
    mine = Membership.objects.get(user=people["admin"])
    # One who is inactive here, and one who is inactive everywhere, do not count.
    Membership.objects.filter(user=second).update(is_active=False)
    with pytest.raises(LastAdmin):
        deactivate_member(membership=mine, actor=people["admin"])
    Membership.objects.filter(user=second).update(is_active=True)
    User.objects.filter(pk=second.pk).update(is_active=False)
    with pytest.raises(LastAdmin):
        change_role(membership=mine, role=Role.EXPERT, actor=people["admin"])
    set_role(admin, study, people["admin"], "researcher")
    set_active(admin, study, people["admin"], "no")
    mine.refresh_from_db()
    assert (mine.role, mine.is_active) == ("admin", True)
    assert "needs an active admin" in page(admin, study).text
    User.objects.filter(pk=second.pk).update(is_active=True)
    assert set_role(admin, study, people["admin"], "annotator").url == "/"
    assert page(admin, study).status_code == 403


def test_deactivated_member_is_out_at_once_and_comes_back_with_the_role(admin, study, people):
    expert = cast.sign_in(people["expert"])
    overview = reverse("study", args=[study.public_id])
    assert expert.get(overview).status_code == 200
    set_active(admin, study, people["expert"], "no")
    assert expert.get(overview).status_code == 404
    assert "Study A" not in expert.get("/").text
    set_active(admin, study, people["expert"], "yes")
    assert expert.get(overview).status_code == 200
    assert role_of(study, people["expert"]) == "expert"
    verbs = list(AuditEvent.objects.order_by("pk").values_list("verb", flat=True))
    assert verbs == ["member_deactivated", "member_reactivated"]


@pytest.mark.django_db(transaction=True)
def test_two_admins_cannot_remove_each_other_at_the_same_time(study, people):
    second = cast.make_member(study, Role.ADMIN)
    admins = [people["admin"], second]

    def step_down(mine):
        while True:
            try:
                return change_role(membership=mine, role=Role.ANNOTATOR, actor=mine.user)
            except LastAdmin:
                return None
            except OperationalError:  # the in-memory database of the suite does not wait
                continue

    memberships = [Membership.objects.get(user=person) for person in admins]
    assert at_once(step_down, memberships) == [None, None]
    assert study.memberships.filter(role=Role.ADMIN, is_active=True).count() == 1


def test_page_costs_the_same_for_many_people(admin, study, people, django_assert_max_num_queries):
    for _ in range(60):
        cast.make_member(study, Role.ANNOTATOR)
    with django_assert_max_num_queries(8):
        text = page(admin, study).text
    assert "1–50 of 64" in text
    addresses = re.findall(r'(?:action|href)="([^"]+)"', text)
    assert not [address for address in addresses if re.search(r"/\d+/", address)], "public ids"
    second = admin.get(reverse("members", args=[study.public_id]) + "?page=2")
    assert "51–64 of 64" in second.text
