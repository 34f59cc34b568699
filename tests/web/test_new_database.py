"""Tables of a new SQLite database, made straight from the models, are those of the migrations."""

import re
from unittest import mock

import pytest
from django.core.management import call_command
from django.db import connections

from cqa_site import migrating
from cqa_site.upkeep.backups.tables import registered, with_file

# What SQLite counts for itself.
OWN_TABLES = "name NOT LIKE 'sqlite_%'"
DATA = {
    "migrations": "SELECT app, name FROM django_migrations",
    "kinds": "SELECT app_label, model FROM django_content_type",
    "permissions": "SELECT p.codename, p.name, c.app_label, c.model FROM auth_permission p "
    "JOIN django_content_type c ON c.id = p.content_type_id",
}


@pytest.fixture
def new(tmp_path, settings, django_db_blocker):
    """The connection to an empty file, where migrations count."""
    settings.MIGRATION_MODULES = {}
    file = with_file(tmp_path / "new.sqlite3")
    with django_db_blocker.unblock(), registered("new", file) as alias:
        yield connections[alias]


@pytest.mark.long
def test_a_new_database_is_like_a_migrated_one(new, tmp_path):
    assert migrating.make_all_tables(new)
    with registered("old", with_file(tmp_path / "old.sqlite3")) as alias:
        call_command("migrate", database=alias, interactive=False, verbosity=0)
        old = connections[alias]
        made, migrated = schema(new), schema(old)
        assert len(made) > 400
        assert "annotation_corpussearch_new" in made
        assert [name for name in made | migrated if made.get(name) != migrated.get(name)] == []
        assert data(new) == data(old)
        tables = [name for name, parts in made.items() if parts[0].startswith("CREATE TABLE")]
        assert {name: count(new, name) for name in tables} == {
            name: count(old, name) for name in tables
        }


def test_a_database_that_holds_a_table_is_left_alone(new):
    with new.cursor() as cursor:
        cursor.execute("CREATE TABLE other (id integer)")
    assert not migrating.make_all_tables(new)
    assert new.introspection.table_names() == ["other"]


def test_what_is_stopped_leaves_nothing(new, monkeypatch):
    stop = mock.Mock(side_effect=KeyboardInterrupt)
    monkeypatch.setattr(migrating, "emit_post_migrate_signal", stop)
    with pytest.raises(KeyboardInterrupt):
        migrating.make_all_tables(new)
    assert new.introspection.table_names() == []


def schema(connection):
    """The parts of each table, index and trigger; columns in the order of their names."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT name, sql FROM sqlite_master WHERE {OWN_TABLES}")
        return {name: parts_of(sql or "") for name, sql in cursor.fetchall()}


def parts_of(sql):
    """The columns and constraints of a table, each in one text; of anything else, all of it."""
    table = re.match(r"(CREATE TABLE [^(]+)\((.*)\)\s*\Z", sql, re.DOTALL)
    if not table:
        return [sql]
    parts, depth = [""], 0
    for letter in table[2]:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [table[1].strip(), *sorted(part.strip() for part in parts)]


def data(connection):
    with connection.cursor() as cursor:
        return {name: sorted(cursor.execute(sql).fetchall()) for name, sql in DATA.items()}


def count(connection, table):
    with connection.cursor() as cursor:
        return cursor.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0]
