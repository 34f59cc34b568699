"""What an examination finds, lines of the log as a machine reads them, fresh figures, backups."""

import io
import json
import logging

import pytest
from django.core.management import call_command
from django.test import override_settings

from cqa_site.upkeep.backups import backup as making, files
from cqa_site.upkeep.doctor import examinations
from cqa_site.upkeep.doctor.examination import EXAMINATIONS, look_at
from cqa_site.upkeep.doctor.findings import CheckState, Finding
from cqa_site.upkeep.watching import figures, views
from cqa_site.web.logging import SECURITY, JsonLines
from .backup_sites import PASSPHRASE, UPLOAD, make_empty, make_lab

assert examinations  # they register themselves


class Lines:
    """What was written, line by line."""

    def __init__(self) -> None:
        self.stream = io.StringIO()

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def all(self) -> list[dict]:
        return [json.loads(line) for line in self.text.splitlines()]

    def of(self, logger: str) -> list[dict]:
        return [line for line in self.all if line["logger"] == logger]

    @property
    def events(self) -> list[str]:
        return [line["message"] for line in self.of(SECURITY)]


@pytest.fixture
def lines():
    """Every line from INFO on, as production writes it."""
    found, root = Lines(), logging.getLogger()
    handler = logging.StreamHandler(found.stream)
    handler.setFormatter(JsonLines())
    levels = {each: each.level for each in (root, logging.getLogger("django"))}
    root.addHandler(handler)
    for each in levels:
        each.setLevel(logging.INFO)
    yield found
    root.removeHandler(handler)
    for each, level in levels.items():
        each.setLevel(level)


@pytest.fixture
def fresh():
    """Nothing is remembered of an earlier look at the figures."""
    views._scrape.cache_clear()
    figures._ENDED.clear()


class Finds:
    """What an examination finds now, by its key, and words in what it says, remedy and command."""

    def __call__(self, key: str) -> Finding:
        return look_at(EXAMINATIONS[key])

    def _told(self, state: CheckState, key: str, words: tuple[str, ...]) -> Finding:
        found = self(key)
        assert found.state == state, found
        for word in words:
            assert word in f"{found.says}\n{found.remedy}\n{found.command}", (word, found)
        return found

    def well(self, key: str, *words: str) -> Finding:
        return self._told(CheckState.WELL, key, words)

    def look(self, key: str, *words: str) -> Finding:
        return self._told(CheckState.LOOK, key, words)

    def wrong(self, key: str, *words: str) -> Finding:
        return self._told(CheckState.WRONG, key, words)


@pytest.fixture
def finds():
    return Finds()


@pytest.fixture(scope="module")
def cheap_passphrases():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "COST", 2**8)
        yield


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    for name in ("files/imports/one", "scorers/a/model.safetensors", "scores/computed.npy"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(UPLOAD)
    with override_settings(DATA_DIR=folder):
        yield folder


@pytest.fixture(scope="module")
def backup(cheap_passphrases, data_dir, django_db_setup, django_db_blocker, tmp_path_factory):
    """A backup of the lab, made once; the database is empty again afterwards."""
    path = tmp_path_factory.mktemp("backups") / "lab.zip"
    with django_db_blocker.unblock():
        make_lab()
        making.make_backup(path, keys=files.keys_here(), passphrase=PASSPHRASE)
        call_command("flush", interactive=False, verbosity=0)
    return path


@pytest.fixture(scope="module")
def empty(django_db_setup, django_db_blocker, tmp_path_factory):
    path = tmp_path_factory.mktemp("empty") / "site.sqlite3"
    with django_db_blocker.unblock():
        make_empty(path)
    return path
