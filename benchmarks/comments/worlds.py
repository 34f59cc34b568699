"""Eight invented worlds of comments, generated from a seed, with a known theme per statement.

The phrases are in `texts/`, one file per world; `common.toml` has those that all worlds share. A
theme is an aspect and a side, so two themes of one aspect contradict each other.
"""

import csv
import tomllib
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.comments.wording import Style, a_style, fill, opened, sentence

TEXTS = Path(__file__).parent / "texts"
WORLDS: tuple[str, ...] = (
    "vacuum",
    "banking",
    "centre",
    "office",
    "lectures",
    "webcourse",
    "hospital",
    "festival",
)

FIRST_DAY = date(2024, 1, 1)
DAYS = 366
NOISE = 0.08
STOCK = 0.03
# Share of statements with a detail (when, or who agrees) if a world is larger than its book.
DETAILED = 0.8
LEAST = 3
NUMBERS = {1: 0.66, 2: 0.23, 3: 0.11}
ZIPF = 0.85


@dataclass(frozen=True)
class Theme:
    """A possible opinion on an aspect, with its side."""

    aspect: str
    side: str
    title: str


@dataclass(frozen=True)
class Statement:
    """A sentence of a comment; noise has no theme."""

    text: str
    theme: str | None


@dataclass(frozen=True)
class Comment:
    text: str
    group: str
    date: str
    statements: list[Statement]


@dataclass(frozen=True)
class World:
    name: str
    topic: str
    comments: list[Comment]
    themes: dict[str, Theme]

    def contradicts(self, theme_a: str, theme_b: str) -> bool:
        """Whether both themes are about the same aspect, on different sides."""
        one, other = self.themes[theme_a], self.themes[theme_b]
        return one.aspect == other.aspect and one.side != other.side


@dataclass(frozen=True)
class Source:
    """A theme as described in its file: its phrases, and the groups and times that favour it."""

    theme: Theme
    phrases: list[str]
    groups: dict[str, float]
    trend: float


@dataclass(frozen=True)
class Book:
    """The content of a world's file; ``details`` are possible endings of statements."""

    name: str
    topic: str
    size: int
    groups: dict[str, float]
    chatter: list[str]
    verdicts: list[str]
    sources: dict[str, Source]
    details: list[str] = field(default_factory=list)


@dataclass
class Plan:
    """Author and date of a comment, and its themes in order; None is noise."""

    group: str
    day: int
    themes: list[str | None] = field(default_factory=list)


@cache
def read_book(name: str) -> Book:
    """Read the file of a world."""
    if name not in WORLDS:
        raise ValueError(f"There is no world called {name}.")
    data = _read(name)
    return Book(
        name=name,
        topic=data["topic"],
        size=data["size"],
        groups=data["groups"],
        chatter=_lines(data["chatter"]),
        verdicts=_lines(data["verdicts"]),
        sources={f"{each['aspect']} {each['side']}": _source(each) for each in data["theme"]},
    )


def make_world(name: str, seed: int = 1, size: int = 0) -> World:
    """Return the world with that name; the same seed always gives the same texts.

    With a ``size``, the world has that many comments, whose statements include details, so that
    most of them differ even in a large world.
    """
    book = read_book(name)
    if size:
        book = replace(book, size=size, details=_common()["details"])
    draw = Random(f"{name} {seed}")
    plans = _plans(book, draw)
    comments = [_comment(plan, book, draw) for plan in plans]
    themes = {key: source.theme for key, source in book.sources.items()}
    return World(name, book.topic, comments, themes)


def split_worlds(seed: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return four worlds for development and four held-out worlds."""
    chosen = set(Random(f"split {seed}").sample(WORLDS, len(WORLDS) // 2))
    return (
        tuple(name for name in WORLDS if name in chosen),
        tuple(name for name in WORLDS if name not in chosen),
    )


def write_csv(world: World, path: Path | str, columns: str = "full") -> None:
    """Write the comments to a file: all columns or, with `one`, only the texts."""
    if columns not in ("full", "one"):
        raise ValueError(f"Columns are full or one, not {columns}.")
    names = ("comment", "group", "date") if columns == "full" else ("comment",)
    with Path(path).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for each in world.comments:
            writer.writerow((each.text, each.group, each.date)[: len(names)])


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((TEXTS / f"{name}.toml").read_text(encoding="utf-8"))


@cache
def _common() -> dict[str, list[str]]:
    return {key: _lines(text) for key, text in _read("common").items()}


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _source(data: dict[str, Any]) -> Source:
    return Source(
        theme=Theme(data["aspect"], data["side"], data["title"]),
        phrases=_lines(data["phrases"]),
        groups=data.get("groups", {}),
        trend=data.get("trend", 0.0),
    )


def _plans(book: Book, draw: Random) -> list[Plan]:
    """Plan the group, day and themes of every comment; each theme occurs at least a few times."""
    common = dict(zip(_shuffled(book.sources, draw), _zipf(len(book.sources)), strict=True))
    plans, counts = [], []
    for _ in range(book.size):
        group = draw.choices(list(book.groups), list(book.groups.values()))[0]
        plans.append(Plan(group, draw.randrange(DAYS)))
        counts.append(draw.choices(list(NUMBERS), list(NUMBERS.values()))[0])
    noisy = _noisy(counts, draw)
    for at, (plan, count) in enumerate(zip(plans, counts, strict=True)):
        for place in range(count):
            theme = None if (at, place) in noisy else _theme(plan, book, common, draw)
            plan.themes.append(theme)
    _top_up(plans, book, draw)
    return plans


def _shuffled(keys: dict[str, Source], draw: Random) -> list[str]:
    return draw.sample(list(keys), len(keys))


def _zipf(number: int) -> list[float]:
    return [1 / rank**ZIPF for rank in range(1, number + 1)]


def _noisy(counts: list[int], draw: Random) -> set[tuple[int, int]]:
    """Choose the positions of noise; a comment of several statements keeps at least one theme."""
    places = [(at, place) for at, count in enumerate(counts) for place in range(count)]
    number = round(NOISE * len(places))
    chosen: set[tuple[int, int]] = set()
    taken: set[int] = set()
    for place in draw.sample(places, len(places)):
        if len(chosen) < number and place[0] not in taken:
            chosen.add(place)
            taken.add(place[0])
    return chosen


def _theme(plan: Plan, book: Book, common: dict[str, float], draw: Random) -> str:
    """Draw a theme of an aspect that this comment has not mentioned yet."""
    keys = [key for key in book.sources if _new(key, plan, book)]
    return draw.choices(keys, [common[key] * _pull(book.sources[key], plan) for key in keys])[0]


def _new(key: str, plan: Plan, book: Book) -> bool:
    aspects = {book.sources[each].theme.aspect for each in plan.themes if each}
    # A small world may have fewer aspects than a long comment has statements; sides still agree.
    if len(aspects) == len({source.theme.aspect for source in book.sources.values()}):
        return key in plan.themes
    return book.sources[key].theme.aspect not in aspects


def _pull(source: Source, plan: Plan) -> float:
    """Return how much more or less common a theme is in this group at this time of year."""
    return source.groups.get(plan.group, 1.0) * (1 + source.trend * (2 * plan.day / DAYS - 1))


def _top_up(plans: list[Plan], book: Book, draw: Random) -> None:
    """Give positions of the most common themes to themes that occur too rarely."""
    counts = Counter(theme for plan in plans for theme in plan.themes if theme)
    for key in book.sources:
        while counts[key] < LEAST:
            most = counts.most_common(1)[0][0]
            homes = [plan for plan in plans if plan.themes == [most]]
            draw.choice(homes).themes[0] = key
            counts[most] -= 1
            counts[key] += 1


def _comment(plan: Plan, book: Book, draw: Random) -> Comment:
    style = a_style(draw)
    statements: list[Statement] = []
    for at, theme in enumerate(plan.themes):
        last = at == len(plan.themes) - 1
        said = {statement.text for statement in statements}
        text = _text(theme, at, len(plan.themes), style, book, draw)
        while text in said:
            text = _text(theme, at, len(plan.themes), style, book, draw)
        statements.append(Statement(text if last else _stopped(text), theme))
    day = FIRST_DAY + timedelta(days=plan.day)
    text = " ".join(statement.text for statement in statements)
    return Comment(text, plan.group, day.isoformat(), statements)


def _stopped(text: str) -> str:
    return text if text[-1] in ".?!" else text + "."


def _text(theme: str | None, at: int, number: int, style: Style, book: Book, draw: Random) -> str:
    """Return a statement in the style of the comment."""
    last = at == number - 1
    if theme is None:
        return _noise(number == 1, style, last, book, draw)
    phrases = book.sources[theme].phrases
    # People repeat one another word for word: the first phrase of a theme is its stock phrase.
    if draw.random() < STOCK:
        return phrases[0][:1].upper() + phrases[0][1:]
    phrase = fill(draw.choice(phrases), draw)
    if book.details and phrase[-1] not in "?!" and draw.random() < DETAILED:
        phrase = f"{phrase}, {fill(draw.choice(book.details), draw)}"
    common = _common()
    if at and draw.random() < 0.22:
        phrase = opened(phrase, draw.choice(common["joiners"]))
    elif not at and draw.random() < 0.12:
        phrase = opened(phrase, draw.choice(common["openers"]))
    return sentence(phrase, style, last, draw)


def _noise(alone: bool, style: Style, last: bool, book: Book, draw: Random) -> str:
    """Return a statement without a theme; only a comment without other statements may be `n/a`."""
    kinds = [book.chatter, _common()["chatter"], book.verdicts]
    if alone:
        kinds.append(_common()["empty"])
    kind = draw.choice(kinds)
    phrase = fill(draw.choice(kind), draw)
    if kind is book.verdicts:
        return phrase[:1].upper() + phrase[1:]
    return sentence(phrase, style, last, draw)
