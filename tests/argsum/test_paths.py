"""The way from comments to key points."""

import pytest
from django.urls import reverse

from argsum.paths import steps
from tests.cast import make_member, make_study, sign_in

pytestmark = pytest.mark.django_db


def test_the_first_step_opens_the_imports_with_the_kind_for_comments():
    study = make_study()
    client = sign_in(make_member(study, "researcher"))
    first = steps(study)[0]
    assert first.url == f"{reverse('imports', args=[study.public_id])}?kind=comments"
    page = client.get(first.url).content.decode()
    assert '<option value="comments" selected>Comments, one a row' in page
    other = client.get(reverse("imports", args=[study.public_id]), {"kind": "nothing"})
    assert 'value="" selected>Find out from its content' in other.content.decode()
