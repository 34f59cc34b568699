"""A server whose PostgreSQL hangs or is away, or whose disk is full, seen from outside."""

import http.client
import json
import os
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
import uuid
from contextlib import suppress
from urllib.parse import urlsplit

import psycopg
import pytest

from benchmarks.databases import postgres_database
from benchmarks.http_annotator import PAGE, Annotator
from benchmarks.label_round_server import PASSWORD, LabelRoundServer
from tests.faults.fault_site import SETTINGS


class Proxy:
    """Carries bytes to PostgreSQL, or holds them (``hang``), or refuses (``cut``).

    It begins to hang by itself at the first bytes that contain ``trap``.
    """

    def __init__(self, host: str, port: int) -> None:
        self.target = (host, port)
        self.mode = "carry"
        self.trap = b""
        self.pairs: list[socket.socket] = []
        self.silent: set[socket.socket] = set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def set(self, mode: str) -> None:
        """Change what happens from now on; connections there are die with it."""
        self.mode = mode
        for each in self.pairs if mode == "cut" else ():
            each.close()

    def lose(self) -> None:
        """Let another server answer from now on: connections there are stay open and silent."""
        self.silent.update(self.pairs[0::2])
        for far in self.pairs[1::2]:
            with suppress(OSError):
                far.shutdown(socket.SHUT_RDWR)
        self.mode = "carry"

    def close(self) -> None:
        """End everything."""
        self.listener.close()
        self.set("cut")

    def _accept(self) -> None:
        while True:
            try:
                near, _address = self.listener.accept()
            except OSError:
                return
            if self.mode == "cut":
                near.close()
                continue
            far = socket.create_connection(self.target)
            self.pairs += [near, far]
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(source, sink), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while block := source.recv(65_536):
                if self.trap and self.trap in block:
                    self.trap, self.mode = b"", "hang"
                while self.mode == "hang":
                    time.sleep(0.02)
                sink.sendall(block)
        except OSError:
            pass
        if not self.silent & {source, sink}:
            source.close()
            sink.close()


@pytest.fixture
def behind_proxy(migrated):
    with postgres_database(migrated) as url:
        parts = urlsplit(url)
        proxy = Proxy(parts.hostname, parts.port)
        through = parts._replace(netloc=f"{parts.username}@127.0.0.1:{proxy.port}").geturl()
        site = LabelRoundServer(
            database_url=through, people=1, items=20, controls=4, workers=1, settings=SETTINGS
        )
        try:
            site.prepare()
            site.start()
            yield site, proxy
        finally:
            site.remove()
            proxy.close()


def health(site) -> tuple[int, float]:
    started = time.monotonic()
    try:
        address = f"http://127.0.0.1:{site.port}/healthz"
        status = urllib.request.urlopen(address, timeout=30).status
    except urllib.error.HTTPError as error:
        status = error.code
    return status, time.monotonic() - started


def answer_of(browser: Annotator) -> dict:
    """A label for the next sentence of somebody who is signed in."""
    _status, page = browser.request("GET", browser.base)
    item = json.loads(PAGE.search(page)[1])["items"][0]["id"]
    browser.token = browser.cookies["csrftoken"]
    return {"item": item, "label": 1, "client_key": uuid.uuid4().hex}


def at_work(site) -> tuple[Annotator, dict]:
    browser = Annotator(site.port, site.work, seed=1)
    browser.sign_in("a0@bench.example", PASSWORD)
    return browser, answer_of(browser)


def post(browser: Annotator, path: str, fields: dict) -> http.client.HTTPResponse:
    """One post as the outbox sends it."""
    cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    headers = {"Accept": "application/json", "Cookie": cookies, "X-CSRFToken": browser.token}
    address = f"http://127.0.0.1:{browser.port}{path}"
    request = urllib.request.Request(address, urllib.parse.urlencode(fields).encode(), headers)
    try:
        return urllib.request.urlopen(request, timeout=60)
    except urllib.error.HTTPError as error:
        return error


def label_at_once(browser: Annotator, answer: dict, count: int, replies: list) -> list:
    """Threads that send the same label; each adds status, Retry-After and seconds to a list."""

    def label():
        started = time.monotonic()
        reply = post(browser, browser.base + "answer/", answer)
        seconds = time.monotonic() - started
        replies.append((reply.status, int(reply.headers["Retry-After"] or 0), seconds))

    threads = [threading.Thread(target=label) for _request in range(count)]
    for thread in threads:
        thread.start()
    return threads


def assert_refused(threads: list, replies: list, within: float) -> None:
    for thread in threads:
        thread.join(timeout=60)
    assert [status for status, _again, _seconds in replies] == [503] * len(threads)
    assert all(again > 0 for _status, again, _seconds in replies)
    assert max(seconds for _status, _again, seconds in replies) < within


def assert_saved(browser: Annotator, answer: dict) -> None:
    """Sooner or later."""
    deadline = time.monotonic() + 60
    while (reply := post(browser, browser.base + "answer/", answer)).status != 200:
        assert (reply.status, time.monotonic() < deadline) == (503, True)
        time.sleep(0.5)
    assert json.loads(reply.read())["saved"]["label"] == 1


def assert_unwell(site, within: float) -> None:
    for _ in range(3):
        status, seconds = health(site)
        assert (status, seconds < within) == (503, True), seconds


def test_a_database_that_answers_nothing_frees_its_requests(behind_proxy):
    """It accepts connections, as a stalled disk lets it; eight requests are on their way."""
    site, proxy = behind_proxy
    (browser, answer), replies = at_work(site), []
    proxy.set("hang")
    threads = label_at_once(browser, answer, 8, replies)
    time.sleep(0.2)
    assert_unwell(site, within=2.0)
    # Twice the time that the pool waits for a connection.
    assert_refused(threads, replies, within=13)
    proxy.set("carry")
    assert_saved(browser, answer)


@pytest.mark.long
@pytest.mark.parametrize("mode", ["cut", "hang"])
def test_health_and_labels_while_the_database_is_away(behind_proxy, mode):
    site, proxy = behind_proxy
    browser, answer = at_work(site)
    assert health(site)[0] == 200
    proxy.set(mode)
    assert_unwell(site, within=1.0)
    for _ in range(3 if mode == "cut" else 0):
        refused = post(browser, browser.base + "answer/", answer)
        assert refused.status == 503
        assert int(refused.headers["Retry-After"]) > 0
        assert health(site)[1] < 1.0
    proxy.set("carry")
    assert_saved(browser, answer)
    assert health(site)[0] == 200


@pytest.mark.long
def test_a_row_that_somebody_holds_frees_its_requests(behind_proxy):
    """Somebody left a transaction open; more labels of the row wait than there are threads."""
    site, _proxy = behind_proxy
    (browser, answer), replies = at_work(site), []
    with psycopg.connect(site.database_url) as holder:
        holder.execute("SELECT * FROM annotation_assignment FOR UPDATE")
        threads = label_at_once(browser, answer, 6, replies)
        # Ten seconds for the person's row, ten for the label's; there are four threads for six.
        assert_refused(threads, replies, within=45)
        assert health(site)[0] == 200
    assert post(browser, browser.base + "answer/", answer).status == 200


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
