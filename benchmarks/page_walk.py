"""The pages a visitor reaches by following links, and the files a browser loads for each page.

`page_speed` measures these pages, and tests/web/test_page_weight.py limits their weights.
"""

import re
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

GZIP = {"accept-encoding": "gzip"}
# Maximum number of pages per URL pattern, with different ids or queries.
OF_ONE_ADDRESS = 3
FACE = re.compile(r"@font-face\s*{([^}]*)}")
FILE = re.compile(r"""url\(["']?([^"')]+)""")
RANGE = re.compile(r"U\+([0-9A-Fa-f]+)(?:-([0-9A-Fa-f]+))?")

# Number of bytes as sent, and decompressed content.
Load = Callable[[str], tuple[int, bytes]]


@dataclass
class Page:
    """A visitor's page: the name of its URL pattern, and its bytes as sent."""

    who: str
    name: str
    address: str
    html: int
    text: str = field(repr=False)

    def weight(self, load: Load) -> int:
        """Return the bytes of a first visit: the page and every file it loads."""
        return self.html + sum(load(address)[0] for address in self.files(load))

    def files(self, load: Load) -> set[str]:
        """Return the URLs of all files that a wide browser window loads in the light scheme."""
        seen = Seen(self.address, self.text)
        styles = [each for each in seen.loads if urlsplit(each).path.endswith(".css")]
        return seen.loads | {
            font for each in styles for font in fonts(each, load(each)[1].decode(), self.text)
        }


class Seen(HTMLParser):
    """The links of a page, and the files that it loads."""

    def __init__(self, address: str, text: str) -> None:
        super().__init__()
        self.address = address
        self.links: list[str] = []
        self.loads: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record one element; images embedded in the page are not loaded."""
        given = {name: value or "" for name, value in attrs}
        if tag == "a" and "download" not in given:
            self.links.append(self._whole(given.get("href", "")))
        # A fragment that the page requests as soon as it has loaded.
        if "load" in given.get("hx-trigger", ""):
            self.links.append(self._whole(given.get("hx-get", "")))
        wanted = _loaded(tag, given)
        if wanted and not wanted.startswith("data:"):
            self.loads.add(self._whole(wanted))

    def _whole(self, address: str) -> str:
        return urldefrag(urljoin(self.address, address)).url


def _loaded(tag: str, given: dict[str, str]) -> str:
    """Return the URL that a browser requests immediately because of an element; "" if none."""
    if tag in ("script", "img"):
        return given.get("src", "")
    if tag == "link":
        rel = given.get("rel", "")
        return given.get("href", "") if rel in ("stylesheet", "icon", "preload") else ""
    if tag == "use":
        return given.get("href", "").partition("#")[0]
    return given.get("hx-get", "") if "load" in given.get("hx-trigger", "") else ""


def fonts(address: str, style: str, text: str) -> Iterator[str]:
    """Yield the fonts of a style sheet that a page with this text needs."""
    letters = {ord(each) for each in text}
    for face in FACE.findall(style):
        ranges = [(int(low, 16), int(high or low, 16)) for low, high in RANGE.findall(face)]
        if not ranges or any(low <= each <= high for each in letters for low, high in ranges):
            yield from (urljoin(address, file) for file in FILE.findall(face))


def walk(
    who: str,
    client: Any,
    starts: list[str],
    without: Collection[str] = (),
    most: int = OF_ONE_ADDRESS,
) -> list[Page]:
    """Return the pages that can be reached by links from the start, a few for each URL pattern."""
    pages, waiting, known = [], deque(starts), set(starts)
    often: Counter[str] = Counter()
    while waiting:
        address = waiting.popleft()
        name = _name(address)
        if not name or name in without or often[name] == most:
            continue
        often[name] += 1
        response = client.get(address, headers=GZIP)
        if response.has_header("Location"):
            found = [urljoin(address, response["Location"])]
        elif response.status_code == 200 and response["Content-Type"].startswith("text/html"):
            pages.append(_page(who, name, address, response))
            found = Seen(address, pages[-1].text).links
        else:
            continue
        fresh = [each for each in dict.fromkeys(found) if each not in known]
        known.update(fresh)
        waiting.extend(fresh)
    return pages


def _name(address: str) -> str:
    """Return the name of a URL's pattern; "" for other sites and the API."""
    from django.urls import Resolver404, resolve

    parts = urlsplit(address)
    if parts.netloc or parts.path.startswith("/api/"):
        return ""
    try:
        return resolve(parts.path).url_name or ""
    except Resolver404:
        return ""


def _page(who: str, name: str, address: str, response: Any) -> Page:
    import gzip

    content = response.content
    packed = response.has_header("Content-Encoding")
    text = (gzip.decompress(content) if packed else content).decode()
    return Page(who, name, address, len(content), text)
