"""A backup that somebody made ends in one refusal, and nothing of it is there afterwards."""

import hashlib
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.test import override_settings

from cqa_site.upkeep.management.commands import restore
from .backup_drafts import Draft, crafted
from .backup_sites import PASSPHRASE, copy_of
from .crafted_backups import all_cases

pytestmark = pytest.mark.django_db(transaction=True)
CASES = all_cases()
LONGEST_MESSAGE = 700


@pytest.fixture(autouse=True)
def _connections_of_its_own(transactional_db, django_db_blocker):
    with django_db_blocker.unblock():
        yield


@pytest.fixture(scope="module")
def draft(backup):
    return Draft.of(backup)


@pytest.fixture
def place(empty, tmp_path, monkeypatch):
    """An empty installation, that a restore fills."""
    config, folder = copy_of(empty, tmp_path / "site"), tmp_path / "site"
    monkeypatch.setattr(restore, "configured", lambda: config)
    (tmp_path / "passphrase").write_text(PASSPHRASE)
    with override_settings(DATA_DIR=folder):
        yield folder


def files_below(folder: Path) -> dict[str, str]:
    """Sums of all files by their place; folders may stay."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if not path.is_dir()
    }


def restored(path: Path, *, with_keys: bool) -> None:
    """What the command does with a file."""
    more = {"passphrase_file": str(path.parent / "passphrase")} if with_keys else {}
    call_command("restore", path, without_keys=not with_keys, **more)


@pytest.mark.parametrize("step", [23, pytest.param(1, marks=pytest.mark.long)])
def test_a_crafted_backup_is_refused_and_leaves_nothing(
    draft, place, tmp_path, step, subtests, capsys
):
    path = tmp_path / "backup.zip"
    for name in list(CASES)[::step]:
        change, words = CASES[name]
        path.write_bytes(crafted(draft, change))
        before = files_below(tmp_path)
        with subtests.test(name):
            with pytest.raises(CommandError) as refused:
                restored(path, with_keys=name.startswith("keys"))
            message = str(refused.value)
            assert words in message
            assert len(message) < LONGEST_MESSAGE
            assert files_below(tmp_path) == before
    # One that is not changed is restored.
    path.write_bytes(draft.copy().written())
    restored(path, with_keys=True)
    assert (place / "files/imports/one").is_file()
    assert "All tables match the backup" in capsys.readouterr().out
