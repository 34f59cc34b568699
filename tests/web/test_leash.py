"""What is started on a leash ends with its starter, whether it wants to or not."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from cqa_site import leash
from tests.people.test_site_command import is_alive

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
ROOT = Path(__file__).resolve().parents[2]
# Starts one that hears no SIGTERM, and says its number.
STUBBORN = """
import signal, subprocess, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "60"], stdout=subprocess.DEVNULL)
signal.signal(signal.SIGTERM, signal.SIG_DFL)
print(child.pid, flush=True)
time.sleep(60)
"""
GRACE = 0.2


def started(*command, **options):
    """The head of a group, and what it started."""
    head = subprocess.Popen(
        [sys.executable, *command], stdout=subprocess.PIPE, start_new_session=True, **options
    )
    return head, int(head.stdout.readline())


def ends(pid):
    """Whether a process is gone soon."""
    deadline = time.monotonic() + 30
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not is_alive(pid)


def test_what_ignores_sigterm_is_killed_when_the_starter_is_gone(tmp_path):
    (tmp_path / "stubborn.py").write_text(STUBBORN)
    main = f"from cqa_site import leash; leash.GRACE_SECONDS = {GRACE}; leash.main()"
    path = {"PYTHONPATH": f"{ROOT}:{tmp_path}"}
    head, child = started("-c", main, "stubborn", stdin=subprocess.PIPE, env=path)
    assert is_alive(child)
    head.stdin.close()
    assert head.wait(10) == -15
    assert ends(child)


def test_what_ignores_sigterm_is_killed_when_a_group_is_stopped(monkeypatch):
    monkeypatch.setattr(leash, "GRACE_SECONDS", GRACE)
    head, child = started("-c", STUBBORN)
    leash.stop(head)
    assert ends(child)
