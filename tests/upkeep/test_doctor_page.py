"""What is told of all that was found, on the page and on the terminal, and what is never told.

Also where little or nothing works: refused settings, no package, no database.
"""

import json
import os
import socket
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path
from unittest import mock

import pytest
from django.core.management import call_command
from django.urls import reverse

from cqa_site.people.models import Role, User
from cqa_site.upkeep.doctor import examination, findings as starting
from cqa_site.upkeep.doctor.examination import EXAMINATIONS, Examination, Family, examine
from cqa_site.upkeep.doctor.findings import CheckState, look, well, wrong
from tests.cast import make_member, make_study, sign_in

ROOT = Path(__file__).parents[2]
FULL = wrong("The disk is full.", "Make room:", "du -x / | sort -h")
OLD = look("The newest backup is <old>.", "Make one.")


def only(monkeypatch, *looks, **values):
    """Let these functions be all that is examined."""
    monkeypatch.setattr(examination, "_RUNNING", {})
    for key in list(EXAMINATIONS):
        monkeypatch.delitem(EXAMINATIONS, key)
    for number, each in enumerate(looks):
        key = f"files.{number}"
        made = Examination(key, Family.FILES, f"Thing {number}", each, **values)
        monkeypatch.setitem(EXAMINATIONS, key, made)


@pytest.mark.django_db
class TestPage:
    @pytest.fixture
    def admin(self):
        return sign_in(User.objects.create_superuser("root@site.example", "a long password"))

    def test_what_is_wrong_comes_first_with_its_remedy(self, admin, monkeypatch):
        only(monkeypatch, lambda: well("All is there."), lambda: OLD, lambda: FULL)
        page = admin.get(reverse("site_state")).content.decode()
        places = [page.index(words) for words in ("is full.", "&lt;old&gt;", "All is there.")]
        assert places == sorted(places)
        assert 'value="du -x / | sort -h"' in page
        assert "1 problem found." in page
        assert "1 of 3 checks" in " ".join(page.split())

    def test_what_could_not_be_examined_is_not_called_well(self, admin, monkeypatch):
        def broken():
            raise OSError(5, "Input/output error")

        only(monkeypatch, lambda: well("All is there."), broken)
        page = " ".join(admin.get(reverse("site_state")).text.split())
        assert "No problems found, but 1 check could not be run." in page

    def test_the_whole_site_is_examined_and_no_secret_shown(self, admin, settings):
        settings.CELERY_BROKER_TRANSPORT = None
        settings.CELERY_BROKER_URL = "redis://:hunter2@127.0.0.1:1/0"
        settings.EMAIL_HOST_PASSWORD = "hunter2"
        page = admin.get(reverse("site_state")).content.decode()
        assert "redis://127.0.0.1:1" in page
        assert "Administrators" in page
        for secret in ("hunter2", settings.SECRET_KEY, *settings.SECRETS_KEYS):
            assert secret not in page

    def test_administrators_alone_find_it(self, admin):
        address = reverse("site_state")
        assert admin.post(address).status_code == 405
        boss = make_member(make_study(), Role.ADMIN)
        assert sign_in(boss).get(address).status_code == 403
        assert address in admin.get(reverse("home")).content.decode()
        assert address in admin.get(reverse("account")).content.decode()
        reader = sign_in(User.objects.create_user("reader@site.example", "a long password"))
        assert address not in reader.get(reverse("home")).content.decode()
        assert address not in reader.get(reverse("account")).content.decode()


class TestTime:
    def test_a_host_that_hangs_costs_no_more_than_the_deadline(self, monkeypatch, settings):
        settings.JOBS_INLINE = False
        asked = []
        with socket.create_server(("127.0.0.1", 0)) as listener:

            def hang():
                asked.append(1)
                with socket.create_connection(listener.getsockname(), timeout=0.6) as near:
                    return well(f"It said {near.recv(1)!r}.")

            only(monkeypatch, hang, lambda: FULL)
            began = time.monotonic()
            first, full = examine(0.2)
            assert time.monotonic() - began < 0.5
            assert first.finding.state == CheckState.UNKNOWN
            assert "0.2 seconds" in first.finding.says
            assert full.finding == FULL
            # Whoever looks again meanwhile asks no second time, and hears what came of the first.
            again, _full = examine(2)
            assert again.finding.says == "The machine reported an error: timed out."
        assert asked == [1]

    def test_an_examination_that_breaks_breaks_no_other(self, monkeypatch):
        def fail():
            return 1 / 0

        only(monkeypatch, fail, lambda: FULL)
        broken, full = examine(1)
        assert broken.finding.state == CheckState.UNKNOWN
        assert "ZeroDivisionError" in broken.finding.says
        assert full.finding == FULL

    def test_a_database_that_is_away_is_asked_once(self, monkeypatch):
        only(monkeypatch, lambda: FULL, lambda: well("?"), asks_database=True, must_answer=True)
        first, second = examine(1)
        assert first.finding == FULL
        assert second.finding.says == "The database does not respond."


class TestCommand:
    def told(self, monkeypatch, *findings, **options):
        only(monkeypatch, *(lambda each=each: each for each in findings))
        out, code = StringIO(), 0
        try:
            call_command("doctor", stdout=out, **options)
        except SystemExit as end:
            code = end.code
        return code, out.getvalue()

    def test_it_is_read_at_a_glance(self, monkeypatch):
        code, text = self.told(monkeypatch, well("Fine."), OLD, FULL)
        assert text == (
            "WRONG    Files: Thing 2\n"
            "         The disk is full.\n"
            "         Make room:\n"
            "           du -x / | sort -h\n"
            "\n"
            "LOOK     Files: Thing 1\n"
            "         The newest backup is <old>.\n"
            "         Make one.\n"
            "\n"
            "WELL     Files  Thing 0\n"
            "\n"
            "3 checked: 1 wrong, 1 with warnings, 1 OK.\n"
        )
        assert code == 1

    def test_what_many_found_is_told_once(self, monkeypatch):
        _code, text = self.told(monkeypatch, FULL, OLD, FULL)
        assert text.startswith("WRONG    Thing 0, Thing 2\n         The disk is full.\n")
        assert text.count("The disk is full.") == 1
        assert text.endswith("3 checked: 2 wrong, 1 with warnings.\n")

    def test_lines_are_no_longer_than_a_terminal(self, monkeypatch):
        long = wrong("word " * 60, "word " * 60, more=("word " * 60,))
        _code, text = self.told(monkeypatch, long, well("word " * 60), verbosity=2)
        assert max(map(len, text.splitlines())) <= 100

    def test_scripts_are_told_by_the_exit_code(self, monkeypatch):
        cases = [(well("a"), True, 0), (OLD, False, 0), (OLD, True, 1), (FULL, False, 1)]
        for finding, strict, code in cases:
            assert self.told(monkeypatch, finding, strict=strict)[0] == code, finding

    def test_programs_read_json(self, monkeypatch):
        _code, text = self.told(monkeypatch, FULL, json=True)
        row = {"key": "files.0", "family": "Files", "name": "Thing 0", "state": "wrong"}
        row |= {"says": "The disk is full.", "more": []}
        row |= {"remedy": "Make room:", "command": "du -x / | sort -h"}
        assert json.loads(text) == [row]


def doctor(folder, *arguments, **environment):
    kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
    env = kept | {"DATA_DIR": str(folder)} | environment
    command = [sys.executable, "manage.py", "doctor", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=60, check=False
    )


REFUSED = [
    ({"PRODUCTION": "true"}, "PRODUCTION needs SECRET_KEY", "secrets.token_urlsafe(64)"),
    ({"DATABASE_URL": "mysql://u:hunter2@h/d"}, "must begin with sqlite://", ".env"),
    ({"DATABASE_URL": "postgres://u:hunter2/x@h/d"}, "DATABASE_URL", ".env"),
    ({"EXPORT_RETENTION_DAYS": "hunter2"}, "EXPORT_RETENTION_DAYS", ".env"),
    ({"DATA_DIR": "/proc/nowhere"}, "/proc/nowhere", "DATA_DIR"),
]


@pytest.mark.long
@pytest.mark.parametrize(("environment", "words", "remedy"), REFUSED)
def test_settings_that_are_refused_are_named(tmp_path, environment, words, remedy):
    found = doctor(tmp_path, **environment)
    assert (found.returncode, found.stderr) == (1, "")
    assert found.stdout.startswith("WRONG    Settings: Start\n")
    assert words in found.stdout
    assert remedy in found.stdout
    assert "hunter2" not in found.stdout


@pytest.mark.long
def test_a_package_that_is_missing(tmp_path):
    """A module of its name that cannot be found stands before the real one."""
    (tmp_path / "csp.py").write_text("raise ModuleNotFoundError('gone', name='csp')")
    found = doctor(tmp_path, "--json", PYTHONPATH=str(tmp_path))
    (row,) = json.loads(found.stdout)
    assert found.returncode == 1
    assert (row["key"], row["family"], row["more"]) == ("settings.start", "Settings", [])
    assert "the package csp is not installed" in row["says"]
    assert row["command"].endswith("-m pip install -r requirements-site.txt")


def test_a_missing_package_is_looked_for_where_it_is_named(monkeypatch):
    named = {"sentry_sdk": "watching", "opentelemetry.sdk": "watching", "django_htmx": "site"}
    for module, file in named.items():
        missing = mock.Mock(side_effect=ModuleNotFoundError(name=module))
        monkeypatch.setattr("django.setup", missing)
        found = starting.why_not()
        assert module in found.says
        assert found.command.endswith(f"-m pip install -r requirements-{file}.txt")


@pytest.mark.long
def test_a_database_that_hangs_costs_seconds_and_all_else_is_examined(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgres://site:hunter2@127.0.0.1:{silent.getsockname()[1]}/lab"
        began = time.monotonic()
        found = doctor(tmp_path, "--json", DATABASE_URL=url)
    assert time.monotonic() - began < 20
    assert found.returncode == 1
    rows = {row["key"]: row for row in json.loads(found.stdout)}
    away = rows["database.answers"]
    assert away["state"] == "wrong"
    assert "PostgreSQL on 127.0.0.1 (database lab) does not respond" in away["says"]
    assert away["command"].startswith("pg_isready -h 127.0.0.1")
    assert rows["database.migrations"]["says"] == "The database does not respond."
    assert rows["files.media"]["state"] == "well"
    assert "hunter2" not in found.stdout + found.stderr
