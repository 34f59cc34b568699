"""Find faults in the markup of a page without a browser.

A browser takes half a second for a page, this takes milliseconds.
"""

from collections import Counter
from collections.abc import Collection
from html.parser import HTMLParser

# What has a name of its own, or none that anybody hears.
UNASKED = {"hidden", "submit", "button", "reset", "image"}
VOID = {"area", "base", "br", "col", "embed", "hr", "img"} | {"input", "link", "meta", "source"}
NAMES = ("aria-label", "aria-labelledby", "title")
HEADINGS = {"h1", "h2", "h3", "h4", "h5", "h6"}
SAID = {"a", "button", "summary", *HEADINGS}
FIELDS = {"input", "select", "textarea"}
# Without it the server refuses what a form sends.
TOKEN = "csrfmiddlewaretoken"


class Markup(HTMLParser):
    """Collects the controls of a page and everything that could name them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[tuple[str, dict[str, str], list[str]]] = []
        self.inside: Counter[str] = Counter()
        self.fields: list[tuple[str, dict[str, str]]] = []
        self.labelled: set[str] = set()
        self.ids: list[str] = []
        self.headings = 0
        self.faults: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.headings += tag == "h1"
        if tag == "label" and "for" in attributes:
            self.labelled.add(attributes["for"])
        is_asked = attributes.get("type") not in UNASKED and "hidden" not in attributes
        if tag in FIELDS and is_asked and not self.is_inside("label"):
            self.fields.append((tag, attributes))
        if tag == "img" and "alt" not in attributes:
            self.faults.append(f"image without a text: {attributes.get('src')}")
        if attributes.get("name") == TOKEN:
            self.say(TOKEN, {"form"})
        # What an image or another element inside is called is said aloud, too.
        self.say(attributes.get("alt", "") + attributes.get("aria-label", ""))
        if tag not in VOID:
            self.open.append((tag, attributes, []))
            self.inside[tag] += 1

    def handle_data(self, data: str) -> None:
        self.say(data)

    def handle_endtag(self, tag: str) -> None:
        while self.is_inside(tag):
            name, found, said = self.open.pop()
            self.inside[name] -= 1
            if name in SAID and not (said or self.is_named_or_hidden(found)):
                self.faults.append(f"{name} without a name: {found}")
            if name == "form" and found.get("method") == "post" and TOKEN not in said:
                self.faults.append(f"form without its token: {found}")
            if name == tag:
                break

    def is_inside(self, tag: str) -> bool:
        """Whether an element of that name is open."""
        return self.inside[tag] > 0

    def is_named_or_hidden(self, found: dict[str, str]) -> bool:
        """Whether an element needs no words of its own."""
        around = (found, *(up for _, up, _ in self.open))
        return any(found.get(each, "").strip() for each in NAMES) or any(
            "hidden" in each for each in around
        )

    def say(self, words: str, where: Collection[str] = SAID) -> None:
        """Add to the text of what is open and has to have one."""
        if words.strip():
            for tag, _found, said in self.open:
                if tag in where:
                    said.append(words)


def faults_of(text: str) -> list[str]:
    """Return what lacks a name, a text, a token or a heading, and ids used twice."""
    page = Markup(text)
    nameless = [
        f"{tag} without a name: {found}"
        for tag, found in page.fields
        if found.get("id") not in page.labelled and not any(found.get(name) for name in NAMES)
    ]
    twice = [f"id used twice: {each}" for each, times in Counter(page.ids).items() if times > 1]
    missing = [] if page.headings or "<main" not in text else ["no heading of the page"]
    return [*page.faults, *nameless, *twice, *missing]
