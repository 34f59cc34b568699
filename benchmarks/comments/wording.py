"""Turning phrases into written comments: choice of alternatives, openers and typing errors."""

import re
from dataclasses import dataclass
from random import Random

SLOT = re.compile(r"\{([^{}]*)\}")
WORD = re.compile(r"[A-Za-z]{5,}")

MISSPELT = {
    "definitely": "definately",
    "a lot": "alot",
    "receive": "recieve",
    "separate": "seperate",
    "their": "thier",
    "believe": "beleive",
    "until": "untill",
    "too": "to",
    "it's": "its",
    "don't": "dont",
    "doesn't": "doesnt",
    "can't": "cant",
    "didn't": "didnt",
}
SHORTENED = {
    "because": "bc",
    "really": "rly",
    "you": "u",
    "minutes": "mins",
    "people": "ppl",
    "with": "w/",
    "without": "w/o",
    "though": "tho",
    "and": "&",
}


@dataclass(frozen=True)
class Style:
    """How one person writes throughout a comment."""

    lower: bool
    stopless: bool
    typos: bool
    shortens: bool
    shouts: bool


def a_style(draw: Random) -> Style:
    """Draw a style; most people write plainly, and each habit is drawn independently."""
    return Style(
        lower=draw.random() < 0.14,
        stopless=draw.random() < 0.22,
        typos=draw.random() < 0.13,
        shortens=draw.random() < 0.06,
        shouts=draw.random() < 0.07,
    )


def fill(phrase: str, draw: Random) -> str:
    """Choose one alternative of each `{a|b}`; alternatives may be nested."""
    while found := SLOT.search(phrase):
        choice = draw.choice(found[1].split("|"))
        phrase = phrase[: found.start()] + choice + phrase[found.end() :]
    return re.sub(r" {2,}", " ", phrase).strip()


def sentence(phrase: str, style: Style, last: bool, draw: Random) -> str:
    """Return the phrase as a sentence in this style.

    Only the last sentence of a comment may lack its full stop; otherwise nobody could tell where
    one statement ends and the next begins.
    """
    text = phrase
    if style.shortens:
        text = _replaced(text, SHORTENED, draw)
    if style.typos:
        text = _slip(_replaced(text, MISSPELT, draw), draw)
    text = text.lower() if style.lower else text[:1].upper() + text[1:]
    if text[-1] in "?!":
        return text
    if last and style.stopless:
        return text
    return text + (draw.choice(("!", "!", "!!")) if style.shouts else ".")


def opened(phrase: str, opener: str) -> str:
    """Return the phrase preceded by an opener, such as `Honestly,`."""
    return f"{opener} {phrase}"


def _replaced(text: str, table: dict[str, str], draw: Random) -> str:
    for word, other in table.items():
        if draw.random() < 0.7:
            text = re.sub(rf"\b{re.escape(word)}\b", other, text)
    return text


def _slip(text: str, draw: Random) -> str:
    """Swap, drop or double a letter in one of the longer words."""
    words = list(WORD.finditer(text))
    if not words:
        return text
    word = draw.choice(words)
    # First and last letters stay, as in most typing errors of real people.
    at = draw.randrange(word.start() + 1, word.end() - 2)
    kind = draw.randrange(3)
    if kind == 0:
        return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    return text[:at] + text[at + 1 :] if kind == 1 else text[:at] + text[at] + text[at:]
