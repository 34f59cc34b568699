"""Documentation as pages of the site: every file in `docs`, with a search by section.

The addresses end with the names of the files, so that links between files also work here.
"""

import re
from dataclasses import dataclass
from functools import cache

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.text import Truncator, slugify

from cqa_site.web.pages import glossary

HEADING = re.compile(r"^(#{1,3}) +(.+)$", re.M)
# Markdown syntax that is removed from plain text.
MARKS = re.compile(r"!\[[^\]]*\]\([^)]*\)|\]\([^)]*\)|[`*|#>\[\]]|-{3,}")
MOST_SHOWN = 30
LONGEST = 100
# Length of the excerpt of a section in a search result, in characters.
EXCERPT = 220


@dataclass(frozen=True)
class HelpSection:
    """A heading and its text, without markup, for search and quotation."""

    page: str
    of: str
    title: str
    anchor: str
    text: str


@dataclass(frozen=True)
class Page:
    """One file: its name without the extension, its title, and its Markdown without the title."""

    name: str
    title: str
    body: str
    sections: tuple[HelpSection, ...]


@cache
def pages() -> dict[str, Page]:
    """Return every documentation file, read once per process."""
    folder = settings.BASE_DIR / "docs"
    files = {
        path.relative_to(folder).with_suffix("").as_posix(): path for path in folder.rglob("*.md")
    }
    return {name: _page(name, file.read_text(encoding="utf-8")) for name, file in files.items()}


def _page(name: str, text: str) -> Page:
    first, _line, body = text.partition("\n")
    title = first.removeprefix("# ")
    heads = list(HEADING.finditer(text))
    sections = []
    ends = [match.start() for match in heads[1:]] + [len(text)]
    for head, end in zip(heads, ends, strict=True):
        plain = " ".join(MARKS.sub(" ", text[head.end() : end]).split())
        anchor = "" if head[1] == "#" else slugify(head[2])
        sections.append(HelpSection(name, title, head[2].replace("`", ""), anchor, plain))
    return Page(name, title, body, tuple(sections))


def search(words: list[str]) -> list[tuple[HelpSection, str]]:
    """Return sections that contain all search words, with excerpts.

    Glossary terms come first. Then come sections with the words in the heading, sections with the
    words as a phrase, and the other sections, each group in the order of the index.
    """
    wanted = [word.casefold() for word in words]
    begin = [re.compile(rf"\b{re.escape(word)}") for word in wanted]
    order = [page.name for _title, listed in _parts() for page in listed]
    hits = [
        (passage, _excerpt(passage.text, wanted[0]))
        for page in pages().values()
        for passage in page.sections
        if all(
            word in f"{passage.of} {passage.title} {passage.text}".casefold() for word in wanted
        )
    ]

    def rank(row: tuple[HelpSection, str]) -> tuple[bool, bool, int]:
        section = row[0]
        in_title = all(pattern.search(section.title.casefold()) for pattern in begin)
        in_a_row = " ".join(wanted) in f"{section.title} {section.text}".casefold()
        place = order.index(section.page) if section.page in order else len(order)
        return (not in_title, not in_a_row, place)

    return (_meanings(wanted) + sorted(hits, key=rank))[:MOST_SHOWN]


def _meanings(wanted: list[str]) -> list[tuple[HelpSection, str]]:
    """Return glossary terms that match the search words."""
    called = {
        meaning.anchor: meaning
        for meaning in glossary().values()
        if all(word in meaning.words.casefold() for word in wanted)
    }
    title = pages()["glossary"].title
    return [
        (HelpSection("glossary", title, meaning.words, meaning.anchor, meaning.text), meaning.text)
        for meaning in called.values()
    ]


def _excerpt(text: str, word: str) -> str:
    at = text.casefold().find(word)
    start = max(0, text.rfind(" ", 0, max(0, at - 60)) + 1)
    return ("… " if start else "") + Truncator(text[start:]).chars(EXCERPT)


@login_required
def help_page(request: HttpRequest, page: str = "index") -> HttpResponse:
    """Show one file of the documentation, or search results from all files."""
    document = pages().get(page)
    if document is None:
        raise Http404
    words = request.GET.get("q", "")[:LONGEST].strip()
    context = {
        "page": document,
        "parts": _parts(),
        "words": words,
        "results": search(words.split()) if words else None,
    }
    return render(request, "help.html", context)


def _parts() -> list[tuple[str, list[Page]]]:
    """Return the parts of the index, each with its title and its files in order."""
    known = pages()
    parts = []
    for part in known["index"].body.split("\n## ")[1:]:
        title, _line, entries = part.partition("\n")
        named = re.findall(r"\]\(([\w/-]+)\.md\)", entries)
        parts.append((title, [known[name] for name in named if name in known]))
    return parts


urlpatterns = [
    path("help/", help_page, name="help"),
    path("help/<path:page>.md", help_page, name="help_page"),
]
