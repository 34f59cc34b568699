"""Simulated people over real HTTP: they sign in on the login page and work until nothing is left.

Uses only the standard library, so that the client costs little compared with the server. Used
by the throughput benchmark and by the race test, which also needs to know exactly what the
server acknowledged.
"""

import gzip
import html
import http.client
import json
import random
import re
import time
import urllib.parse
import uuid
from dataclasses import dataclass, field

CSRF = re.compile(rb'name="csrfmiddlewaretoken" value="([^"]+)"')
PAGE = re.compile(rb'<script id="[a-z-]+" type="application/json">(.*?)</script>', re.S)
WRITTEN = re.compile(r'<textarea [^>]*id="text"[^>]*>\n?(.*?)</textarea>', re.S)
TIMEOUT = 60
# With more items than this, a page does not request more, as in label.js.
ENOUGH = 20


@dataclass
class Acknowledged:
    """Labels that the server confirmed, by assignment id, and the time of each request.

    ``seconds`` are the times of the submits alone, ``until_next`` the times until the next item is
    available. ``queries`` are counted per submit, if the server reports them.
    """

    labels: dict[str, int] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    until_next: list[float] = field(default_factory=list)
    queries: list[int] = field(default_factory=list)
    retries: int = 0


class Annotator:
    """A browser with a keep-alive connection, cookies and a CSRF token."""

    def __init__(self, port: int, base: str, seed: int) -> None:
        self.port, self.base, self.random = port, base, random.Random(seed)
        # Address of the last page, and number of queries of the last response.
        self.address, self.queries = "", 0
        self.cookies: dict[str, str] = {}
        # Headers that a proxy would add.
        self.headers: dict[str, str] = {}
        self.token = ""
        self.connection: http.client.HTTPConnection | None = None
        self.acknowledged = Acknowledged()

    def sign_in(self, email: str, password: str) -> None:
        """Sign in on the login page as a person would."""
        _status, page = self.request("GET", "/accounts/login/")
        self.token = _found(CSRF, page)
        status, _page = self.request(
            "POST", "/accounts/login/", {"login": email, "password": password}
        )
        if status != 302:
            raise RuntimeError(f"signing in as {email} answered {status}")

    def label_until_done(self, deadline: float, think: float = 0.0) -> str:
        """Label all served items; return the state that ended the work (or "deadline").

        ``think`` is the mean number of seconds a person looks at a sentence. Each pause is drawn
        uniformly between half and one and a half times this mean.
        """
        waiting, state = self._open_page(deadline)
        while time.monotonic() < deadline:
            if waiting:
                time.sleep(think * self.random.uniform(0.5, 1.5))
                done, *waiting = waiting
                found, state = self._label(done["id"], deadline, len(waiting) > ENOUGH)
                waiting = found or waiting
            elif state in ("finished", "stopped", "share_cap", "not_open"):
                return state
            else:
                time.sleep(0.3)
                waiting, state = self._open_page(deadline)
        return "deadline"

    def _open_page(self, deadline: float) -> tuple[list[dict], str]:
        _status, page = self._insist("GET", self.base, None, deadline)
        token = CSRF.search(page)
        self.token = token[1].decode() if token else self.token
        found = PAGE.search(page)
        state = json.loads(found[1]) if found else {"items": [], "state": "held"}
        return state["items"], state["state"]

    def _label(self, assignment: str, deadline: float, has_enough: bool) -> tuple[list[dict], str]:
        """Send one answer, always under the same key, until the server confirms it."""
        label = self.random.randrange(4)
        fields = {"item": assignment, "label": label, "client_key": uuid.uuid4().hex}
        fields |= {"has_enough": "on"} if has_enough else {}
        started = time.monotonic()
        reply = json.loads(self._submit(self.base + "answer/", fields, deadline))
        self.acknowledged.until_next.append(time.monotonic() - started)
        self.acknowledged.labels[assignment] = label
        return reply["next"], reply["state"]

    def _submit(self, path: str, fields: dict, deadline: float) -> bytes:
        started = time.monotonic()
        status, body = self._insist("POST", path, fields, deadline)
        if status != 200:
            raise RuntimeError(f"an answer was refused with {status}: {body[:300]!r}")
        self.acknowledged.seconds.append(time.monotonic() - started)
        self.acknowledged.queries.append(self.queries)
        return body

    def _insist(
        self, method: str, path: str, fields: dict | None, deadline: float
    ) -> tuple[int, bytes]:
        """Retry after a lost connection or a 5xx response, as the page's own queue does."""
        while True:
            try:
                status, body = self.request(method, path, fields)
                if status < 500:
                    return status, body
            except (OSError, http.client.HTTPException):
                self.connection = None
            if time.monotonic() > deadline:
                raise TimeoutError(f"{method} {path} got no answer in time")
            self.acknowledged.retries += 1
            time.sleep(0.1)

    def request(self, method: str, path: str, fields: dict | None = None) -> tuple[int, bytes]:
        """Send one request over the open connection; return status and body.

        Redirects of GET requests are followed.
        """
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        is_answer = bool(fields) and "client_key" in fields
        headers = {"Accept": "application/json" if is_answer else "text/html"}
        headers |= {"Accept-Encoding": "gzip"} | self.headers
        # Like a browser whose service worker can display the next page.
        headers |= {"Prefer": "return=representation"} if is_answer else {}
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{k}={v}" for k, v in self.cookies.items())
        body = None
        if fields is not None:
            headers |= {"Content-Type": "application/x-www-form-urlencoded"}
            headers |= {"X-CSRFToken": self.token}
            body = urllib.parse.urlencode(fields, doseq=True)
        self.connection.request(method, path, body, headers)
        response = self.connection.getresponse()
        for header in response.headers.get_all("Set-Cookie", []):
            name, _, rest = header.partition("=")
            self.cookies[name] = rest.partition(";")[0]
        content = response.read()
        if response.headers.get("Content-Encoding") == "gzip":
            content = gzip.decompress(content)
        if method == "GET" and response.status == 302:
            return self.request("GET", response.headers["Location"])
        self.address = response.headers.get("Content-Location", path)
        self.queries = int(response.headers.get("X-Queries", 0))
        return response.status, content


class SheetWorker(Annotator):
    """A person who fills in one sheet after another, each on its own page."""

    def __init__(self, port: int, base: str, seed: int, kind: str) -> None:
        super().__init__(port, base, seed)
        self.filled = FORMS[kind]
        self.version = 0

    def label_until_done(self, deadline: float, think: float = 0.0) -> str:
        """Fill in all served sheets; return "finished" or "deadline"."""
        sheet = self._open_sheet(self.base, deadline)
        while sheet is not None and time.monotonic() < deadline:
            time.sleep(think * self.random.uniform(0.5, 1.5))
            started = time.monotonic()
            desk = self.address
            reply = self._submit(desk + "submit/", self._filled(sheet), deadline)
            # After the last sheet, the response has an address instead of a page. An editing page
            # keeps its address and shows a link to the next text.
            if PAGE.search(reply) and self.address != desk:
                sheet = self._read_sheet(reply)
            else:
                sheet = self._open_sheet(self.base, deadline)
            self.acknowledged.until_next.append(time.monotonic() - started)
        return "deadline" if sheet else "finished"

    def _open_sheet(self, path: str, deadline: float) -> str | None:
        """Return the page of a sheet, or None if no sheet is waiting."""
        return self._read_sheet(self._insist("GET", path, None, deadline)[1])

    def _read_sheet(self, page: bytes) -> str | None:
        if (found := PAGE.search(page)) is None:
            return None
        self.token = _found(CSRF, page)
        self.version = json.loads(found[1])["version"]
        return page.decode()

    def _filled(self, page: str) -> dict:
        key = {"base_version": self.version, "client_key": uuid.uuid4().hex}
        return key | self.filled(self.random, page)


def _scored(chance: random.Random, _page: str) -> dict:
    return {f"points-C{number}": chance.randrange(2) for number in range(1, 16)}


def _counted(chance: random.Random, page: str) -> dict:
    """Cover every reference by a summary, and treat each summary as a separate statement."""
    references, summaries = page.count('id="reference-'), page.count('id="summary-')
    levels = {f"level-{each}": "full" for each in range(references)}
    by = {f"by-{each}": [chance.randrange(summaries)] for each in range(references)}
    return levels | by | {f"group-{each}": "ABCDEFGHIJ"[each] for each in range(summaries)}


def _preferred(chance: random.Random, _page: str) -> dict:
    return {"verdict": chance.choice(["left", "right", "tie", "both_bad"])}


def _edited(_chance: random.Random, page: str) -> dict:
    written = WRITTEN.search(page)
    if written is None:
        raise RuntimeError("the desk has no text")
    text = html.unescape(written[1])
    return {"text": text.replace("lighter", "much lighter"), "reasons": ["wording"]}


FORMS = {"score": _scored, "count": _counted, "prefer": _preferred, "edit": _edited}


def _found(pattern: re.Pattern[bytes], page: bytes) -> str:
    match = pattern.search(page)
    if match is None:
        raise RuntimeError("the page has no form token")
    return match[1].decode()
