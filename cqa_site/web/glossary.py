"""The glossary: words with the sentence that `docs/glossary.md` has for each.

A word is known by its name there, or by one of several in a row (*run, call, attempt*).
"""

import re
from dataclasses import dataclass
from functools import cache

from django.conf import settings
from django.utils.text import slugify

ROW = re.compile(r"^\| (?!term \|)(.+?) \| (.+) \|$", re.M)
# What makes Markdown of plain text.
MARKS = re.compile(r"[*`]")


@dataclass(frozen=True)
class Meaning:
    """A row: the word or words, what they mean, and the row's name on the page."""

    words: str
    text: str
    anchor: str


@cache
def glossary() -> dict[str, Meaning]:
    """Every word with its meaning, read once a process."""
    text = (settings.BASE_DIR / "docs" / "glossary.md").read_text(encoding="utf-8")
    rows = [Meaning(head, MARKS.sub("", said), slugify(head)) for head, said in ROW.findall(text)]
    return {word: row for row in rows for word in {row.words, *row.words.split(", ")}}
