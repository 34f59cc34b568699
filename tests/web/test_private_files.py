"""What an installation makes for itself at its first start, by whichever process is first."""

import fcntl
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from cqa_site.private_files import make_private, own_secret


def mode(path):
    return path.stat().st_mode & 0o777


def test_processes_that_start_together_have_one_secret(tmp_path):
    """A lock belongs to an open file, so threads are as good as processes."""
    together = threading.Barrier(4, timeout=60)

    def start(number):
        together.wait()
        return own_secret(tmp_path / str(number // 4))

    with ThreadPoolExecutor(4) as beside:
        found = list(beside.map(start, range(400)))
    for number in range(100):
        assert {*found[4 * number : 4 * number + 4]} == {(tmp_path / str(number)).read_text()}


def test_an_empty_file_is_as_none(tmp_path):
    path = tmp_path / "secret_key"
    path.touch()
    made = own_secret(path)
    assert len(made) > 80
    assert own_secret(path) == path.read_text() == made
    assert mode(path) == 0o600
    assert os.listdir(tmp_path) == ["secret_key"]


def test_whoever_waited_takes_what_was_made_meanwhile(tmp_path, monkeypatch):
    path = tmp_path / "secret_key"
    lock, made = fcntl.flock, []

    def another_is_first(file, how):
        monkeypatch.setattr(fcntl, "flock", lock)
        made.append(own_secret(path))
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", another_is_first)
    assert [own_secret(path)] == made


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes files for others")
def test_what_root_makes_belongs_to_whom_the_folder_does(tmp_path):
    os.chown(tmp_path, 12345, 12346)
    own_secret(tmp_path / "secret_key")
    make_private(tmp_path / "site.sqlite3")
    for name in ("secret_key", "site.sqlite3"):
        found = (tmp_path / name).stat()
        assert (found.st_uid, found.st_gid) == (12345, 12346)
