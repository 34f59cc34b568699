"""Queries whose SQL is made once give what their querysets give."""

import uuid

import pytest
from django.db import connection, models, transaction
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext

from cqa_site.people.models import Membership, Study
from cqa_site.web.bulk_queries import PreparedQuery
from tests.cast import make_member, make_study

pytestmark = pytest.mark.django_db


def found(study: uuid.UUID, user: int) -> models.QuerySet[Membership]:
    rows = Membership.objects.select_related("study", "user").filter(user=user, role="annotator")
    return rows.filter(study__public_id=study).annotate(n=models.Count("study__memberships"))


def prepared():
    return PreparedQuery(found, study=models.UUIDField(), user=Study._meta.pk)


def test_rows_are_those_of_the_queryset_each_time():
    asked = prepared()
    for name in ("Boats", "Rafts"):
        study = make_study(name)
        user = make_member(study, "annotator")
        make_member(study, "admin")
        with CaptureQueriesContext(connection) as statements:
            (row,) = asked(study=study.public_id, user=user.pk)
            assert (row.study.name, row.user.email, row.role) == (name, user.email, "annotator")
        assert len(statements) == 1
        (same,) = found(study.public_id, user.pk)
        assert vars(row).keys() == vars(same).keys()
        assert row == same
        assert row.n == same.n == 2
        assert asked(study=uuid.uuid4(), user=user.pk) == []
    assert asked(study=study.public_id, user=0) == []


def test_a_value_that_does_not_reach_the_query_is_told():
    asked = PreparedQuery(
        lambda study, user: Membership.objects.filter(study__public_id=study),
        study=models.UUIDField(),
        user=Study._meta.pk,
    )
    with pytest.raises(ValueError, match="does not reach"):
        asked(study=uuid.uuid4(), user=1)


@pytest.mark.django_db(transaction=True)
def test_locks_need_a_transaction():
    asked = PreparedQuery(
        lambda user: Membership.objects.select_for_update().filter(user=user), user=Study._meta.pk
    )
    with pytest.raises(TransactionManagementError):
        asked(user=1)
    with transaction.atomic():
        assert asked(user=1) == []
