"""Static files are packed again when anything about them changed, and only then."""

from unittest import mock

import pytest
from django.db import connection

from cqa_site import preparing

PACKAGES = ("account/", "admin/", "django_htmx/", "drf_spectacular", "mfa/", "rest_framework/")


@pytest.fixture
def style(settings, tmp_path):
    """The one file to pack."""
    source = tmp_path / "static" / "one.css"
    source.parent.mkdir()
    source.write_text("a { color: red }")
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATICFILES_DIRS = [source.parent]
    settings.STATIC_ROOT = tmp_path / "packed"
    return source


def test_files_are_packed_when_they_changed(style, settings, monkeypatch):
    assert preparing.pack_files()
    assert not preparing.pack_files()
    assert (settings.STATIC_ROOT / "one.css").is_file()
    style.touch()
    assert not preparing.pack_files()  # by content: an upgrade touches everything
    style.write_text("a { color: blue }")
    assert preparing.pack_files()
    style.with_name("two.css").write_text("b { color: red }")
    assert preparing.pack_files()
    monkeypatch.setattr(preparing, "version", lambda package: f"another {package}")
    assert preparing.pack_files()
    assert not preparing.pack_files()


def test_what_no_page_loads_is_not_packed():
    packages = [name for name in preparing.static_sources() if name.startswith(PACKAGES)]
    loaded = {
        "account/js/": "account onload",
        "django_htmx/": "django-htmx htmx-2.min",
        "mfa/js/": "recovery_codes webauthn-json webauthn",
    }
    files = [f"{folder}{name}.js" for folder, names in loaded.items() for name in names.split()]
    assert sorted(packages) == sorted(files)


def test_sources_are_read_once(style, monkeypatch):
    """What changes while they are packed is packed the next time."""
    pack = preparing._call

    def changed_meanwhile(command, **options):
        pack(command, **options)
        style.write_text("a { color: blue }")

    with monkeypatch.context() as patch:
        patch.setattr(preparing, "_call", changed_meanwhile)
        assert preparing.pack_files()
    assert preparing.pack_files()


def test_packing_that_was_broken_off_is_done_again(style, monkeypatch):
    preparing.pack_files()
    style.write_text("a { color: blue }")

    with monkeypatch.context() as patch:
        patch.setattr(preparing, "_call", mock.Mock(side_effect=OSError(28, "No space left")))
        with pytest.raises(OSError, match="No space"):
            preparing.pack_files()
    style.write_text("a { color: red }")  # as it was when it was packed
    assert preparing.pack_files()


@pytest.mark.django_db
def test_a_cache_in_the_database_has_its_table(settings):
    wanted = {"BACKEND": "django.core.cache.backends.db.DatabaseCache", "LOCATION": "kept_here"}
    settings.CACHES = {"default": wanted}
    assert not preparing.has_cache_tables()
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE kept_here (one integer)")
    assert preparing.has_cache_tables()
