"""Detection of variations of a form letter: share found, false members, and speed.

    python -m benchmarks.near_duplicates [--seed 1] [--large 10000]

Each language has an invented letter that people send with a different greeting and name, an added
or omitted sentence, other words, typing errors, and paragraphs in a different order; "heavy"
variations have twice as many changes. The other comments are handwritten ones from
`benchmarks.comments.survey_files`, generated ones from `benchmarks.comments.worlds`, comments that
quote one to three sentences of the letter and add their own, a letter from the other side, and
short comments that many people write in the same way. A false member is in the letter's group but
not a variation of it. Comments in other groups also share half of their text: they quote the same
sentence, or were generated from the same book.
"""

import argparse
import time
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from argsum.datasets.methods import near_duplicates
from benchmarks.comments.survey_files import SURVEYS, read_survey
from benchmarks.comments.worlds import WORLDS, make_world

LETTERS = Path(__file__).parent / "comments" / "letters.toml"
ALIKE = ("Very good.", "Keep it up!", "no comment", "Everything was fine, thank you very much.")
# Language of the handwritten comments that are mixed with each language's letters.
BESIDE = {"en": "en", "de": "de", "fr": "fr", "es": "fr", "ja": "en"}


@dataclass(frozen=True)
class LetterSet:
    """Comments in random order, and the indices of the letter's variations."""

    texts: list[str]
    letters: frozenset[int]


@cache
def letters() -> dict[str, Any]:
    """Return the letter of each language and the possible changes to it."""
    return tomllib.loads(LETTERS.read_text(encoding="utf-8"))


def vary(letter: dict[str, Any], draw: Random, times: int = 1) -> str:
    """Write the letter as one person sends it."""
    paragraphs = [list(paragraph) for paragraph in letter["paragraphs"]]
    for _time in range(times):
        if draw.random() < 0.5:
            draw.choice(paragraphs[:2]).pop(draw.randrange(2))
        if draw.random() < 0.5:
            own = draw.choice(paragraphs)
            own.insert(draw.randint(0, len(own)), draw.choice(letter["inserts"]))
    if draw.random() < 0.3:
        draw.shuffle(paragraphs)
    text = "\n\n".join(" ".join(paragraph) for paragraph in paragraphs)
    words = draw.randint(0, 4 * times)
    for old, new in draw.sample(letter["words"], min(words, len(letter["words"]))):
        text = text.replace(old, new)
    for _typo in range(draw.randint(0, 4 * times)):
        at = draw.randrange(len(text) - 2)
        slip = draw.choice((text[at + 1] + text[at], "", text[at] * 2))
        text = text[:at] + slip + text[at + 2 :]
    ends = f"{draw.choice(letter['endings'])}\n{draw.choice(letter['names'])}"
    return f"{draw.choice(letter['greetings'])}\n\n{text}\n\n{ends}".strip()


def make_set(
    language: str, comments: int = 1000, share: float = 0.3, *, seed: int = 1, times: int = 1
) -> LetterSet:
    """Create comments, a share of which are variations of a language's letter."""
    draw = Random(f"{seed}-{language}-{comments}")
    letter = letters()[language]
    variations = [vary(letter, draw, times) for _copy in range(round(comments * share))]
    others = [letter["rival"], *others_of(language, comments - len(variations) - 1, draw)]
    texts = [(text, True) for text in variations] + [(text, False) for text in others]
    draw.shuffle(texts)
    return LetterSet(
        [text for text, _is_letter in texts],
        frozenset(at for at, (_text, is_letter) in enumerate(texts) if is_letter),
    )


def others_of(language: str, number: int, draw: Random) -> list[str]:
    """Write comments that are not the letter: identical ones, quotations, long and short ones."""
    sentences = [text for own in letters()[language]["paragraphs"] for text in own]
    own = list(own_comments(BESIDE[language]))
    draw.shuffle(own)
    others = [draw.choice(ALIKE) for _copy in range(number // 10)] + own[: number // 3]
    rest = [*own[number // 3 :], *draw.sample(made_comments(), len(made_comments()))]
    # Each of these comments has more of its own text than it quotes.
    for _copy in range(number // 20):
        quoted = " ".join(draw.sample(sentences, draw.randint(1, 3)))
        words = ""
        while len(words) < 1.5 * len(quoted):
            words += " " + rest.pop()
        others.append(quoted + words)
    return (others + rest)[:number]


@cache
def made_comments() -> list[str]:
    """Return all invented comments that have one statement; longer comments share statements."""
    comments = [comment for name in WORLDS for comment in make_world(name, 1).comments]
    return [comment.text for comment in comments if len(comment.statements) == 1]


@cache
def own_comments(language: str) -> list[str]:
    """Return the handwritten comments in a language."""
    names = [name for name, (code, _topic) in SURVEYS.items() if code == language]
    return [comment.text for name in names for comment in read_survey(name).comments]


@dataclass(frozen=True)
class Measured:
    """Share of letters in their group, other members of it, and comments in other groups."""

    found: float
    false: int
    elsewhere: int
    seconds: float

    @property
    def cells(self) -> tuple[str, ...]:
        """The values in the format of the tables."""
        numbers = (f"{self.found:.1%}", str(self.false), str(self.elsewhere))
        return (*numbers, f"{self.seconds:.2f}")


def measure(letter_set: LetterSet) -> Measured:
    """Find near-duplicates and compare them with the known letters."""
    begun = time.perf_counter()
    groups = near_duplicates.find_near_duplicates(letter_set.texts)
    seconds = time.perf_counter() - begun
    hits = [len(letter_set.letters.intersection(group.members)) for group in groups]
    false = sum(len(own.members) - n for own, n in zip(groups, hits, strict=True) if n)
    elsewhere = sum(len(own.members) for own, n in zip(groups, hits, strict=True) if not n)
    recall = max(hits, default=0) / len(letter_set.letters)
    return Measured(recall, false, elsewhere, seconds)


def independent_pairs(least: int) -> tuple[int, float]:
    """Return the number of pairs of long enough handwritten comments, and the largest overlap."""
    most, pairs = 0.0, 0
    for name in SURVEYS:
        plains = [near_duplicates.plain_text(row.text) for row in read_survey(name).comments]
        shingles = [near_duplicates.shingles_of(text) for text in plains if len(text) >= least]
        for at, first in enumerate(shingles):
            for second in shingles[at + 1 :]:
                most = max(most, near_duplicates.shared_of(first, second))
                pairs += 1
    return pairs, most


def show(title: str, rows: Sequence[Sequence[str]], heads: Sequence[str]) -> None:
    """Print a table."""
    print(f"\n{title}")
    widths = [max(len(row[at]) for row in (heads, *rows)) for at in range(len(heads))]
    for row in (heads, *rows):
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--large", type=int, default=10_000)
    options = parser.parse_args()
    measure(make_set("en", 50))
    rows = []
    for language in letters():
        for times in (1, 2):
            letter_set = make_set(language, seed=options.seed, times=times)
            kind = "heavy" if times == 2 else "usual"
            rows.append((language, kind, *measure(letter_set).cells))
    heads = ("letter", "changes", "found", "false", "elsewhere", "seconds")
    show("1,000 comments, 300 of them one letter", rows, heads)
    rows = []
    for share in (0.03, 0.3):
        letter_set = make_set("en", options.large, share, seed=options.seed)
        rows.append((f"{share:.0%}", *measure(letter_set).cells))
    show(f"{options.large:,} comments", rows, ("letters", *heads[2:]))
    usual, rows = near_duplicates.LEAST_SHARED, []
    for least in (0.3, 0.4, 0.5, 0.55, 0.6, 0.7):
        near_duplicates.LEAST_SHARED = least
        usual_sets, heavy_sets = (
            [measure(make_set(name, seed=options.seed, times=times)) for name in letters()]
            for times in (1, 2)
        )
        worst = [min(row.found for row in figures) for figures in (usual_sets, heavy_sets)]
        every = (*usual_sets, *heavy_sets)
        wrong = (sum(row.false for row in every), sum(row.elsewhere for row in every))
        rows.append((f"{least:.2f}", *(f"{found:.1%}" for found in worst), *map(str, wrong)))
    near_duplicates.LEAST_SHARED = usual
    heads = ("least", "found, worst language", "heavy changes", "false", "elsewhere")
    show("By the least share of the longer text", rows, heads)
    rows = []
    for length in (20, 40, 60, 80, 100, 120):
        pairs, most = independent_pairs(length)
        rows.append((str(length), f"{pairs:,}", f"{most:.2f}"))
    show("Independent comments of a survey", rows, ("characters", "pairs", "most shared"))


if __name__ == "__main__":
    main()
