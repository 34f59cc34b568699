"""What the connection asks of PostgreSQL."""

import pytest
from django.db import connection

pytestmark = pytest.mark.django_db


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no planner of cursors")
def test_reading_in_blocks_is_planned_for_all_rows():
    with connection.cursor() as cursor:
        cursor.execute("SHOW cursor_tuple_fraction")
        assert float(cursor.fetchone()[0]) == 1.0
