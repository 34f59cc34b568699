"""`manage.py site` says the true reason when it cannot start or has to stop."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest
from django.core.management import CommandError

from cqa_site.people.management.commands import site

WAIT = 40
READS_PROC = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@pytest.fixture
def port():
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(port, folder):
    return subprocess.Popen(
        [sys.executable, "manage.py", "site", "--no-worker", "--port", str(port)],
        env=os.environ | {"DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "cqa_site.settings"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def children_of(pid):
    """Keys of the child processes, from /proc."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in children.split()]


def wait_until_listening(port):
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline:
        with closing(socket.socket()) as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("the site does not listen")


def is_alive(pid):
    """Whether a process still runs; one that ended and was not fetched does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_port_in_use_is_refused_even_if_it_would_be_shared(port):
    with closing(socket.socket()) as earlier:
        earlier.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        earlier.bind(("127.0.0.1", port))
        earlier.listen()
        with pytest.raises(CommandError, match=f"port {port}: Address already in use"):
            site.Command().handle(host="127.0.0.1", port=port)


def test_the_end_of_the_web_server_is_not_blamed_on_the_port(port):
    site.check_port("127.0.0.1", port)
    said = {-9: "SIGKILL", -11: "SIGSEGV", 1: "code 1; see the lines above"}
    for code, words in said.items():
        text = site._how_it_ended(code)
        assert words in text
        assert "port" not in text


@pytest.mark.long
@READS_PROC
def test_a_command_that_is_killed_takes_everything_with_it(port, tmp_path):
    first = start(port, tmp_path)
    wait_until_listening(port)
    (web,) = children_of(first.pid)
    family = [web, *children_of(web)]
    first.kill()
    first.communicate()
    deadline = time.monotonic() + WAIT
    while any(map(is_alive, family)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in family if is_alive(pid)]
    # Nobody answers there with old code beside the next one.
    site.check_port("127.0.0.1", port)


@pytest.mark.long
@READS_PROC
def test_a_killed_web_server_is_called_that_and_leaves_nothing_behind(port, tmp_path):
    running = start(port, tmp_path)
    wait_until_listening(port)
    (web,) = children_of(running.pid)
    os.kill(web, signal.SIGKILL)
    # Ends only when the process that answered requests has ended, too.
    assert "ended by SIGKILL" in running.communicate(timeout=WAIT)[1]
    site.check_port("127.0.0.1", port)
