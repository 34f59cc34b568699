"""Find faults in the markup of a page without a browser.

A browser takes half a second for a page, this takes milliseconds.
"""

from collections import Counter

from lxml import html

# What has a name of its own, or none that anybody hears.
UNASKED = ("hidden", "submit", "button", "reset", "image")
NAMES = ("aria-label", "aria-labelledby", "title")
SAID = "//a | //button | //summary | //h1 | //h2 | //h3 | //h4 | //h5 | //h6"
# Without it the server refuses what a form sends.
TOKEN = "csrfmiddlewaretoken"


def faults_of(text: str) -> list[str]:
    """Return what lacks a name, a text, a token or a heading, and ids used twice."""
    page = html.document_fromstring(text or "<p>")
    labelled = page.xpath("//label/@for")
    nameless = [each for each in page.xpath(SAID) if not is_said(each)]
    nameless += [
        field
        for field in page.xpath("//input | //select | //textarea")
        if is_asked(field) and field.get("id") not in labelled and not is_named(field)
    ]
    images = [
        f"image without a text: {each.get('src')}" for each in page.xpath("//img[not(@alt)]")
    ]
    forms = page.xpath(f"//form[@method='post'][not(.//*[@name='{TOKEN}'])]")
    ids = Counter(page.xpath("//@id"))
    return [
        *images,
        *(f"{each.tag} without a name: {dict(each.attrib)}" for each in nameless),
        *(f"form without its token: {dict(each.attrib)}" for each in forms),
        *(f"id used twice: {each}" for each, times in ids.items() if times > 1),
        *(["no heading of the page"] if page.xpath("//main") and not page.xpath("//h1") else []),
    ]


def is_named(element: html.HtmlElement) -> bool:
    return any(element.get(name, "").strip() for name in NAMES)


def is_asked(field: html.HtmlElement) -> bool:
    """Whether somebody fills it in, outside of the label that names it."""
    is_seen = field.get("type") not in UNASKED and field.get("hidden") is None
    return is_seen and not field.xpath("ancestor::label")


def is_said(element: html.HtmlElement) -> bool:
    """Whether an element has words, also those of an image inside, or needs none of its own."""
    words = [element.text_content(), *element.xpath(".//@alt | .//*/@aria-label")]
    is_hidden = element.xpath("ancestor-or-self::*[@hidden]")
    return bool(is_named(element) or is_hidden or "".join(words).strip())
