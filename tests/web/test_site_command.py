"""`manage.py site` says the true reason when it cannot start or has to stop."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing

import pytest
from django.core.management import CommandError

from cqa_site.web.management.commands import site

WAIT = 40


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
    path = f"/proc/{pid}/task/{pid}/children"
    with open(path) as file:
        return [int(child) for child in file.read().split()]


def wait_until_listening(port):
    deadline = time.monotonic() + WAIT
    while time.monotonic() < deadline:
        with closing(socket.socket()) as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("the site does not listen")


def test_a_port_in_use_is_refused_even_if_it_would_be_shared(port):
    with closing(socket.socket()) as earlier:
        earlier.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        earlier.bind(("127.0.0.1", port))
        earlier.listen()
        with pytest.raises(CommandError, match=f"port {port}: Address already in use"):
            site.Command().handle(host="127.0.0.1", port=port, no_worker=True)


def test_a_free_port_is_fine(port):
    site._check_port("127.0.0.1", port)


@pytest.mark.parametrize(
    ("code", "words"), [(-9, "SIGKILL"), (-11, "SIGSEGV"), (1, "code 1; the lines above say why")]
)
def test_the_end_of_the_web_server_is_not_blamed_on_the_port(code, words):
    text = site._how_it_ended(code)
    assert words in text
    assert "port" not in text


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_an_earlier_site_whose_command_was_killed_is_found(port, tmp_path):
    first = start(port, tmp_path)
    try:
        wait_until_listening(port)
        (web,) = children_of(first.pid)
        first.kill()
        first.wait()
        try:
            second = start(port, tmp_path)
            errors = second.communicate(timeout=WAIT)[1]
        finally:
            os.kill(web, signal.SIGTERM)
        assert second.returncode == 1
        assert 'look for "granian cqa_site"' in errors
    finally:
        first.kill()
        first.communicate()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_killed_web_server_is_called_that_and_leaves_nothing_behind(port, tmp_path):
    running = start(port, tmp_path)
    wait_until_listening(port)
    (web,) = children_of(running.pid)
    os.kill(web, signal.SIGKILL)
    # Ends only when the process that answered requests has ended, too.
    assert "ended by SIGKILL" in running.communicate(timeout=WAIT)[1]
    site._check_port("127.0.0.1", port)
