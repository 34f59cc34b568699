"""A production site refuses to start unsafe, and is clean when everything is set."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from django.core.checks import run_checks
from django.test import override_settings

CACHES = "django.core.cache.backends"
ROOT = Path(__file__).resolve().parents[2]
SAFE = {
    "PRODUCTION": "true",
    "SECRET_KEY": "kJ8-sX2_wQ5.rT7zLmN0pVbC3dFgHy6uEaI9oRiK1jWqS4xZ-tBnM_lP8vYcD2fG",
    "ALLOWED_HOSTS": "counterpoint.example",
    "CSRF_TRUSTED_ORIGINS": "https://counterpoint.example",
    "SECRETS_KEYS": Fernet.generate_key().decode(),
}


def manage(tmp_path, *arguments, **environment):
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
    env = kept | {"DATA_DIR": str(tmp_path)} | environment
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120)


def safe_but(**changed):
    return {key: value for key, value in (SAFE | changed).items() if value is not None}


def long(*values):
    """A case of `make test-all`: each one starts a process."""
    return pytest.param(*values, marks=pytest.mark.long)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        long({"SECRET_KEY": None}, "PRODUCTION needs SECRET_KEY with at least 50 characters"),
        ({"SECRET_KEY": "short"}, "PRODUCTION needs SECRET_KEY with at least 50 characters"),
        long({"ALLOWED_HOSTS": None}, "PRODUCTION needs ALLOWED_HOSTS"),
        long({"ALLOWED_HOSTS": "*"}, "PRODUCTION needs ALLOWED_HOSTS"),
        long({"DEBUG": "true"}, "PRODUCTION and DEBUG cannot both be true"),
    ],
)
def test_unsafe_production_is_refused_in_plain_words(tmp_path, changed, words):
    result = manage(tmp_path, "check", "--tag", "security", **safe_but(**changed))
    assert result.returncode != 0
    assert words in result.stderr


UNSAFE = {
    "cqa.E001": {"CACHES": {"default": {"BACKEND": f"{CACHES}.dummy.DummyCache"}}},
    "cqa.E002": {"DEBUG": True},
    "cqa.E003": {"SECRET_KEY": "ab" * 40},
    "cqa.E004": {"ALLOWED_HOSTS": ["*.counterpoint.example"]},
    "cqa.E005": {"CSRF_COOKIE_SECURE": False},
    "cqa.E006": {"JOBS_INLINE": True},
    "cqa.E007": {"CSRF_TRUSTED_ORIGINS": ["http://counterpoint.example"]},
    "cqa.E008": {"SECRETS_KEYS": ["not a key"]},
    "cqa.E009": {"EGRESS_ALLOW": "localhost:8000"},
}


def test_whatever_is_unsafe_is_an_error_of_its_own():
    texts = {"PRODUCTION", "SECRET_KEY"}
    safe = {name: SAFE[name] if name in texts else [SAFE[name]] for name in SAFE}
    safe |= {"PRODUCTION": True, "CACHES": {"default": {"BACKEND": f"{CACHES}.db.DatabaseCache"}}}
    safe |= {"SESSION_COOKIE_SECURE": True, "CSRF_COOKIE_SECURE": True, "JOBS_INLINE": False}
    more = {
        ("cqa.E001",): {"CACHES": {"default": {"BACKEND": f"{CACHES}.locmem.LocMemCache"}}},
        ("cqa.E008",): {"SECRETS_KEYS": []},
        (): {},
        ("cqa.E002", "cqa.E006"): {"DEBUG": True, "JOBS_INLINE": True},
    }
    cases = {(name,): values for name, values in UNSAFE.items()}
    for names, values in (*cases.items(), *more.items()):
        with override_settings(**safe | values):
            errors = run_checks(tags=["security"])
        assert [each.id for each in errors if each.id.startswith("cqa.")] == list(names)


@pytest.mark.long
def test_one_start_tells_all_that_is_unsafe(tmp_path):
    wrong = {
        "cqa.E001": {"CACHE_URL": "locmem://"},
        "cqa.E003": {"SECRET_KEY": "ab" * 40},
        "cqa.E006": {"JOBS_INLINE": "true"},
        "cqa.E007": {"CSRF_TRUSTED_ORIGINS": "http://counterpoint.example"},
        "cqa.E008": {"SECRETS_KEYS": None},
        "cqa.E009": {"EGRESS_ALLOW": "localhost:8000"},
    }
    changed = {key: value for each in wrong.values() for key, value in each.items()}
    result = manage(tmp_path, "check", "--tag", "security", **safe_but(**changed))
    assert result.returncode != 0
    errors, _, rest = result.stderr.partition("WARNINGS:")
    assert sorted(re.findall(r"\((cqa\.E\d+)\)", errors)) == sorted(wrong)
    assert "cqa.E" not in rest


SHOW_MAIL = "from django.conf import settings as s; print(s.EMAIL_BACKEND, s.EMAIL_USE_TLS)"
USES_DATABASE = "from django.db import connection as c; c.cursor().execute('CREATE TABLE a (b)')"
CHECKED = f"from django.core.management import call_command; call_command('check'); {SHOW_MAIL}"


@pytest.mark.long
def test_embedded_site_makes_its_files_for_its_owner_only_and_writes_mail_out(tmp_path):
    result = manage(tmp_path, "shell", "--no-imports", "-c", f"{CHECKED}; {USES_DATABASE}")
    assert result.returncode == 0, result.stderr
    assert "no issues" in result.stdout
    assert "console.EmailBackend False" in result.stdout
    key, database = tmp_path / "secret_key", tmp_path / "counterpoint.sqlite3"
    assert key.stat().st_mode & 0o777 == database.stat().st_mode & 0o777 == 0o600
    assert len(key.read_text()) >= 50
    mail = "://me:secret@mail.example:587"
    changed = {"CACHE_URL": "locmem://", "EMAIL_URL": f"submission{mail}"}
    result = manage(tmp_path, "shell", "--no-imports", "-c", CHECKED, **changed)
    assert result.returncode == 0, result.stderr
    assert "no issues" in result.stdout
    assert "smtp.EmailBackend True" in result.stdout
    result = manage(tmp_path, "check", EMAIL_URL=f"smtp+tls{mail}")
    assert "EMAIL_URL must begin with" in result.stderr
