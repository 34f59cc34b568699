"""Several people judging sets at the same moment."""

import pytest
from django.db import connection

from tests.benchmark.made_race import assert_everything_gets_its_sheets

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgres,
    pytest.mark.skipif(
        connection.vendor != "postgresql", reason="SQLite has one writer, so nobody meets"
    ),
]


@pytest.mark.parametrize("raters", [1, 3])
def test_every_set_gets_its_sheets(raters):
    assert_everything_gets_its_sheets("count", raters)
