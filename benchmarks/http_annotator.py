"""An annotator over real HTTP: signs in on the login page, labels until nothing is left.

Standard library only, so that the client costs little beside the server. Used
by the throughput benchmark and by the race test, which also needs to know
exactly what the server acknowledged.
"""

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
TIMEOUT = 60


@dataclass
class Acknowledged:
    """What the server confirmed: assignment id → label, and how long each round took."""

    labels: dict[str, int] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    retries: int = 0


class Annotator:
    """One browser: a keep-alive connection, cookies, the CSRF token."""

    def __init__(self, port: int, study: str, campaign: str, seed: int) -> None:
        self.port, self.random = port, random.Random(seed)
        self.base = f"/s/{study}/campaigns/{campaign}/label/"
        self.cookies: dict[str, str] = {}
        self.token = ""
        self.connection: http.client.HTTPConnection | None = None
        self.acknowledged = Acknowledged()

    def sign_in(self, email: str, password: str) -> None:
        """Use the login page as a person would."""
        _status, page = self.request("GET", "/accounts/login/")
        self.token = _found(CSRF, page)
        status, _page = self.request(
            "POST", "/accounts/login/", {"login": email, "password": password}
        )
        if status != 302:
            raise RuntimeError(f"signing in as {email} answered {status}")

    def label_until_done(self, deadline: float, think: float = 0.0) -> str:
        """Label whatever is served; return the state that ended it (or "deadline").

        ``think`` is the mean number of seconds a person looks at a sentence;
        each pause is drawn evenly between half and one and a half of it.
        """
        waiting, state = self._open_page(deadline)
        while time.monotonic() < deadline:
            if waiting:
                time.sleep(think * self.random.uniform(0.5, 1.5))
                waiting, state = self._label(waiting[0]["id"], deadline)
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

    def _label(self, assignment: str, deadline: float) -> tuple[list[dict], str]:
        """Send one answer under one key until the server confirms it."""
        label = self.random.randrange(4)
        fields = {"item": assignment, "label": label, "client_key": uuid.uuid4().hex}
        started = time.monotonic()
        status, body = self._insist("POST", self.base + "answer/", fields, deadline)
        if status != 200:
            raise RuntimeError(f"an answer was refused with {status}: {body[:300]!r}")
        self.acknowledged.seconds.append(time.monotonic() - started)
        reply = json.loads(body)
        self.acknowledged.labels[assignment] = label
        return reply["next"], reply["state"]

    def _insist(
        self, method: str, path: str, fields: dict | None, deadline: float
    ) -> tuple[int, bytes]:
        """Repeat after a lost connection or a 5xx, as the page's own queue does."""
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
        """Send one request over the kept connection; return status and body."""
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
        headers = {"Accept": "application/json" if fields and "item" in fields else "text/html"}
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{k}={v}" for k, v in self.cookies.items())
        body = None
        if fields is not None:
            headers |= {"Content-Type": "application/x-www-form-urlencoded"}
            headers |= {"X-CSRFToken": self.token}
            body = urllib.parse.urlencode(fields)
        self.connection.request(method, path, body, headers)
        response = self.connection.getresponse()
        for header in response.headers.get_all("Set-Cookie", []):
            name, _, rest = header.partition("=")
            self.cookies[name] = rest.partition(";")[0]
        return response.status, response.read()


def _found(pattern: re.Pattern[bytes], page: bytes) -> str:
    match = pattern.search(page)
    if match is None:
        raise RuntimeError("the page has no form token")
    return match[1].decode()
