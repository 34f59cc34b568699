"""The way to the best answers."""

import pytest
from django.urls import reverse

from tests import cast

pytestmark = pytest.mark.django_db


def test_scorers_are_people_or_models():
    study = cast.make_study()
    client = cast.sign_in(cast.make_member(study, "researcher"))
    page = client.get(reverse("study", args=[study.public_id]), {"path": "answers"})
    for name in ("scoring_rounds", "scoring_runs"):
        assert f'href="{reverse(name, args=[study.public_id])}">' in page.content.decode()
