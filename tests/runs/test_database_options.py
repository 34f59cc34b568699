"""What the connection asks of PostgreSQL."""

import pytest
from django.db import connection

pytestmark = pytest.mark.django_db


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no planner of cursors")
def test_reading_in_blocks_is_planned_for_all_rows():
    with connection.cursor() as cursor:
        cursor.execute("SHOW cursor_tuple_fraction")
        assert float(cursor.fetchone()[0]) == 1.0


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no server")
def test_a_lost_worker_and_a_lost_server_are_noticed():
    with connection.cursor() as cursor:
        cursor.execute("SHOW tcp_keepalives_idle")
        assert cursor.fetchone()[0] == "30"
    assert connection.connection.info.get_parameters()["keepalives_idle"] == "30"
