"""A signed-in researcher over real HTTP, who starts a run on its page and watches its progress."""

import http.cookiejar
import re
import urllib.parse
import urllib.request

from benchmarks.judging_site import JudgingSite
from benchmarks.label_round_server import PASSWORD

TOKEN = r'name="csrfmiddlewaretoken" value="([^"]+)"'
AGREED = r'name="agreed" value="([^"]+)"'
OPTION = r'<select name="{}".*?<option value="([^"]+)"'


class Researcher:
    """A browser with a signed-in user."""

    def __init__(self, site: JudgingSite) -> None:
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self._open = urllib.request.build_opener(jar).open
        self._root = f"http://127.0.0.1:{site.port}"
        self._study = f"/s/{site.study}"
        self._new = f"{self._study}/label-rounds/{site.label_round}/judges/new/"
        page, _answer = self.ask("/accounts/login/")
        self.ask("/accounts/login/", page, login="boss@bench.example", password=PASSWORD)

    def ask(self, path: str, form: str = "", **values: object):
        """Return a page and its response; if a form is given, post it."""
        body = None
        if form:
            token = _found(TOKEN, form)
            body = urllib.parse.urlencode(values | {"csrfmiddlewaretoken": token}).encode()
        with self._open(self._root + path, body, timeout=60) as answer:
            return answer.read().decode(), answer

    def start_run(self) -> str:
        """Fill in the form for a new run, accept its price, and return the run's id."""
        page, _answer = self.ask(self._new)
        values = {
            "choice": "all", "endpoint": _found(OPTION.format("endpoint"), page),
            "prompt": _found(OPTION.format("prompt"), page), "batch_size": 20, "temperature": 0,
            "max_tokens": 200, "seed": 1, "replicates": 1, "preflight": "off", "mode": "live",
        }  # fmt: skip
        page, _answer = self.ask(self._new, page, **values)
        page, answer = self.ask(self._new, page, **values, agreed=_found(AGREED, page))
        return _found(r"/judges/runs/([0-9a-f-]{36})/", answer.url)

    def sees_the_end(self, run: str) -> bool:
        """Whether the progress fragment shows that the run has ended."""
        _page, answer = self.ask(f"{self._study}/judges/runs/{run}/progress/")
        return answer.headers.get("HX-Trigger") == "job-ended"


def _found(pattern: str, text: str) -> str:
    match = re.search(pattern, text, re.DOTALL)
    if match is None:
        raise RuntimeError(f"the page has nothing like {pattern}")
    return match[1]
