"""The invented data of the other tests holds together."""

import pytest

from cqa_site.people.models import Rater
from tests.argsum.made_cells import make_argsum
from tests.cast import make_study

pytestmark = pytest.mark.django_db


def test_one_of_everything():
    study = make_study("Key points")
    rater = Rater.objects.create(study=study, kind="person", name="A")
    made = make_argsum(study, rater)
    assert made.dataset.cells.count() == 2
    assert made.summary_set.summaries.count() == 3
    assert made.counting_round.slots.count() == 4
