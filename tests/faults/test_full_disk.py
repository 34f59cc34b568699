"""A server whose data folder lies on a file system that is full, seen from outside."""

import os
import subprocess
import urllib.error
import urllib.request

import pytest

from benchmarks.http_annotator import Annotator
from benchmarks.label_round_server import PASSWORD, LabelRoundServer
from tests.faults.fault_site import SETTINGS

SIZE_MB = 24


@pytest.fixture
def small_disk(tmp_path):
    """A file system in memory, of a few megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}m", "counterpoint", str(folder)]
    if os.geteuid() or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only root may mount a file system, and not everywhere")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def site(small_disk):
    folder = small_disk / "data"
    folder.mkdir()
    served = LabelRoundServer(people=1, items=40, workers=1, settings=SETTINGS, folder=folder)
    try:
        served.prepare()
        served.start()
        yield served
    finally:
        served.remove()


def status_of(site, path):
    try:
        return urllib.request.urlopen(f"http://127.0.0.1:{site.port}{path}", timeout=30).status
    except urllib.error.HTTPError as error:
        return error.code


def fill(folder):
    """Leave no byte."""
    content = b"x" * 4096
    with (folder / "filler").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(content)
        except OSError:
            pass
    return folder / "filler"


@pytest.mark.long
def test_a_full_disk_refuses_what_is_stored_and_ends_nothing(site, small_disk):
    browser = Annotator(site.port, site.work, seed=1)
    browser.sign_in("a0@bench.example", PASSWORD)
    waiting, _state = browser._open_page(1e12)
    process = site.process.pid
    filler = fill(small_disk)
    # Every name of an address that is new to the counters asks them for room.
    pages = ["/", "/accounts/login/", "/accounts/password/reset/", "/help/", "/account/", "/x/"]
    seen = {path: status_of(site, path) for _again in range(3) for path in pages}
    assert set(seen.values()) <= {200, 302, 404, 503}, seen
    fields = {"item": waiting[0]["id"], "label": 1, "client_key": "first"}
    status, _body = browser.request("POST", browser.base + "answer/", fields)
    assert status == 503
    assert status_of(site, "/healthz") in (200, 503)
    assert site.process.poll() is None
    filler.unlink()
    status, body = browser.request("POST", browser.base + "answer/", fields)
    assert status == 200, body
    assert site.process.pid == process
