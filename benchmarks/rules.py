"""How many careless annotators the rules find, and how many honest ones they suspect.

    python -m benchmarks.rules
    python -m benchmarks.rules --people 2000 --answers 400

Annotators are invented and seeded; the rules are those that the page of a round begins with, and
they look after each block of five answers, as in a label round. An honest annotator gives the
known label of a sentence in `HONEST` of all cases and else a neighbouring one, needs a lognormal
time around a median of their own, and skips and flags now and then. Two other honest annotators
have labelled each sentence. The others differ from that in one habit.
"""

import argparse
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from statistics import median
from typing import NamedTuple

import numpy as np

from cqa_site.rounds.rules.measures import MEASURES, RecentAnswer, find

BLOCK = 5
# Shares of the labels 0 to 3 of a round, and how often an honest label is the known one.
SHARES, HONEST = (0.45, 0.2, 0.15, 0.2), 0.75
# The rule about times as for 20 expected seconds an item.
FASTEST = 4.0
NOW = datetime(2026, 1, 1)


class Habits(NamedTuple):
    """What differs between annotators; ``alike`` is how often the label is 0 unread."""

    seconds: float = 12.0
    skips: float = 0.02
    flags: float = 0.03
    alike: float = 0.0
    guesses: float = 0.0


KINDS = {
    "honest": Habits(),
    "honest, quick (median 6 s)": Habits(seconds=6.0),
    "honest, skips 20 %": Habits(skips=0.2),
    "fast (median 2 s)": Habits(seconds=2.0),
    "one value in 95 %": Habits(alike=0.95),
    "one value always, never skips": Habits(alike=1.0, skips=0.0),
    "skips 80 %": Habits(skips=0.8),
    "flags 70 %": Habits(flags=0.7),
    "guesses half of them": Habits(guesses=0.5),
    "guesses all": Habits(guesses=1.0),
}


def honest_labels(known: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels of one honest annotator for the known ones."""
    step = rng.choice((-1, 1), known.shape)
    step = np.where(known == 0, 1, np.where(known == len(SHARES) - 1, -1, step))
    return np.where(rng.random(known.shape) < HONEST, known, known + step)


def answers_of(habits: Habits, number: int, rng: np.random.Generator) -> list[RecentAnswer]:
    """One annotator's answers, oldest first."""
    known = rng.choice(len(SHARES), number, p=SHARES)
    others = [honest_labels(known, rng) for _ in range(2)]
    labels = np.where(rng.random(number) < habits.alike, 0, honest_labels(known, rng))
    guessed = rng.integers(0, len(SHARES), number)
    labels = np.where(rng.random(number) < habits.guesses, guessed, labels)
    own_median = habits.seconds * rng.lognormal(0, 0.25)
    seconds = own_median * rng.lognormal(0, 0.6, number)
    skipped, flagged = (rng.random(number) < share for share in (habits.skips, habits.flags))
    answers = []
    for row in range(number):
        label = None if skipped[row] else int(labels[row])
        is_decided = others[0][row] == others[1][row] and label is not None
        agrees = bool(label == others[0][row]) if is_decided else None
        answer = RecentAnswer(NOW, float(seconds[row]), label, label is None, bool(flagged[row]))
        answers.append(replace(answer, agrees=agrees))
    return answers


def first_finds(answers: list[RecentAnswer]) -> dict[str, int]:
    """Map each rule that is ever met to the number of answers by then."""
    rules = {
        name: {
            "action": "warn",
            "window": measure.window,
            "threshold": FASTEST if name == "fast" else measure.threshold,
        }
        for name, measure in MEASURES.items()
    }
    finds: dict[str, int] = {}
    for end in range(BLOCK, len(answers) + 1, BLOCK):
        for finding in find(rules, answers[max(0, end - 100) : end][::-1]):
            finds.setdefault(finding.measure.name, end)
    return finds


def row(cells: Iterable[object]) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=1_000)
    parser.add_argument("--answers", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    print(row(["annotators", *MEASURES]))
    print(row(["---"] * (len(MEASURES) + 1)))
    for kind, habits in KINDS.items():
        finds = [
            first_finds(answers_of(habits, options.answers, rng)) for _ in range(options.people)
        ]
        cells = []
        for name in MEASURES:
            numbers = [found[name] for found in finds if name in found]
            share = f"{100 * len(numbers) / options.people:.1f} %"
            cells.append(f"{share} ({median(numbers):.0f})" if numbers else "0")
        print(row([kind, *cells]))
    chance = sum(share ** MEASURES["one_value"].window for share in SHARES)
    print(f"one window is one value by chance: {chance:.2g}")


if __name__ == "__main__":
    main()
