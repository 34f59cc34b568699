"""Six invented surveys, handwritten by authors who did not know the software.

Three are in English, two in German and one in French. Each file in `surveys/` has one row per
statement, with its comment, aspect and side. A statement that is not about the topic has neither
aspect nor side. A comment consists of its statements, joined by spaces.
"""

import csv
from collections import defaultdict
from pathlib import Path

from benchmarks.comments.worlds import Comment, Statement, Theme, World

FOLDER = Path(__file__).parent / "surveys"
# Name → language and topic. Settings may be chosen on the first three; the others are held out.
SURVEYS = {
    "bikes": ("en", "The bike-sharing scheme"),
    "fourday": ("en", "The trial of a four-day week"),
    "termine": ("de", "Online-Terminvergabe"),
    "recycling": ("en", "The new recycling collection"),
    "mensa": ("de", "Die Mensa nach der Umstellung"),
    "tramway": ("fr", "La ligne de tramway"),
}
HELD_OUT = ("recycling", "mensa", "tramway")


def read_survey(name: str) -> World:
    """Return a survey's comments and themes; a theme is an aspect and a side."""
    themes: dict[str, Theme] = {}
    statements: dict[str, list[Statement]] = defaultdict(list)
    with (FOLDER / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            title = f"{row['aspect']} {row['side']}".strip()
            if title:
                themes[title] = Theme(row["aspect"], row["side"], title)
            statements[row["comment"]].append(Statement(row["statement"], title or None))
    comments = [
        Comment(" ".join(part.text for part in parts), "", "", parts)
        for parts in statements.values()
    ]
    return World(name, SURVEYS[name][1], comments, themes)
