"""How many careless and how many honest people the rules and typing signals find.

    python -m benchmarks.rules [--people 1000] [--number 200]
    python -m benchmarks.rules typing --people 10000 --number 20

People are invented and seeded. The rules are the defaults on the page of a round, and they are
checked after each block of five answers, as in a label round. An honest annotator gives the known
label of a sentence with probability `HONEST` and otherwise a neighbouring label, needs a lognormal
time around a personal median, and skips and flags occasionally. Two other honest annotators have
labelled each sentence. An honest writer types 60 to 400 characters per text, at a speed drawn
around a median of 4 characters per second (log sd .35 between people), and sometimes quotes the
item. The other people differ from the honest ones in one habit.
"""

import argparse
import os
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from cqa_site.rounds.rules.measures import MEASURES, OF_CONTROLS, RecentAnswer, find

BLOCK = 5
# Shares of the labels 0 to 3 in a round, and how often an honest label equals the known one.
SHARES, HONEST = (0.45, 0.2, 0.15, 0.2), 0.75
# The rule about times, for 20 expected seconds per item.
FASTEST = 4.0
NOW = datetime(2026, 1, 1)
# Rules about control items are left out, because they need none of these habits.
RULES = {
    name: {
        "action": "warn",
        "window": measure.window,
        "threshold": FASTEST if name == "fast" else measure.threshold,
    }
    for name, measure in MEASURES.items()
    if name not in OF_CONTROLS
}
SIGNALS = ("mostly pasted", "very fast typing", "filled in the hidden field")


class Habits(NamedTuple):
    """The differences between simulated people.

    ``seconds`` is the median time per item and ``alike`` the share of items labelled 0 unread.
    ``quotes``, ``pastes`` and ``dictates`` are the shares of texts that are quoted in part, pasted
    as a whole or dictated. ``speed`` is the number of characters typed per second.
    """

    seconds: float = 12.0
    skips: float = 0.02
    flags: float = 0.03
    alike: float = 0.0
    guesses: float = 0.0
    quotes: float = 0.15
    pastes: float = 0.02
    dictates: float = 0.0
    speed: float = 4.0
    fills_trap: float = 0.0


ANNOTATORS = {
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


WRITERS = {
    "honest": Habits(),
    "honest, quotes in half of the texts": Habits(quotes=0.5),
    "honest, fast (median 8 a second)": Habits(speed=8.0),
    "honest, dictates": Habits(dictates=1.0),
    "honest, writes in another program": Habits(pastes=1.0),
    "pastes three quarters of the texts": Habits(pastes=0.75),
    "a program that types (50 a second)": Habits(speed=50.0),
    "a program that fills in fields": Habits(pastes=1.0, fills_trap=0.5),
}


def honest_labels(known: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the labels of an honest annotator for items with known labels."""
    step = rng.choice((-1, 1), known.shape)
    step = np.where(known == 0, 1, np.where(known == len(SHARES) - 1, -1, step))
    return np.where(rng.random(known.shape) < HONEST, known, known + step)


def answers_of(habits: Habits, number: int, rng: np.random.Generator) -> list[RecentAnswer]:
    """Return one annotator's answers, oldest first."""
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
    """Map each rule that is triggered to the number of answers up to that point."""
    finds: dict[str, int] = {}
    for end in range(BLOCK, len(answers) + 1, BLOCK):
        for finding in find(RULES, answers[max(0, end - 100) : end][::-1]):
            finds.setdefault(finding.measure.name, end)
    return finds


def rule_cells(habits: Habits, options: Any, rng: np.random.Generator) -> list[str]:
    """Return the share of people who trigger each rule, and after how many answers (median)."""
    finds = [first_finds(answers_of(habits, options.number, rng)) for _ in range(options.people)]
    cells = []
    for name in RULES:
        numbers = [met[name] for met in finds if name in met]
        share = f"{100 * len(numbers) / options.people:.1f} %"
        cells.append(f"{share} ({median(numbers):.0f})" if numbers else "0")
    return cells


def counts_of(habits: Habits, texts: int, rng: np.random.Generator) -> dict[str, float]:
    """Return the totals over one writer's texts, as shown on the page of a round."""
    lengths = rng.integers(60, 401, texts)
    own = habits.speed * rng.lognormal(0, 0.35)
    is_pasted = rng.random(texts) < habits.pastes
    is_dictated = ~is_pasted & (rng.random(texts) < habits.dictates)
    is_typed = ~is_pasted & ~is_dictated
    quoted = np.where(rng.random(texts) < habits.quotes, rng.uniform(0.2, 0.6, texts), 0)
    typed = (lengths * (1 - quoted) * is_typed).astype(int)
    pasted = lengths * is_pasted + (lengths * quoted * is_typed).astype(int)
    seconds = (typed / (own * rng.lognormal(0, 0.15, texts))).sum()
    return {
        "texts": texts,
        "typed": int(typed.sum()),
        "pasted": int(pasted.sum()),
        "inserted": int((lengths * is_dictated).sum()),
        "pastes": int((pasted > 0).sum()),
        "seconds": float(seconds),
        "traps": int((rng.random(texts) < habits.fills_trap).sum()),
    }


def signal_cells(habits: Habits, options: Any, rng: np.random.Generator) -> list[str]:
    """Return the share of writers who trigger each signal."""
    from cqa_site.rounds.typing_signals import TypingSummary

    rows = [counts_of(habits, options.number, rng) for _ in range(options.people)]
    signals = [TypingSummary(rater=None, **row).signals for row in rows]  # type: ignore[arg-type]
    return [f"{100 * sum(name in row for row in signals) / len(rows):.1f} %" for name in SIGNALS]


def row(cells: Iterable[object]) -> str:
    """Return a row of a Markdown table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("about", nargs="?", choices=("answers", "typing"), default="answers")
    parser.add_argument("--people", type=int, default=1_000)
    parser.add_argument("--number", type=int, default=200, help="of answers, or of texts")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cqa_site.settings")
    django.setup()
    people, names, cells_of = ANNOTATORS, list(RULES), rule_cells
    if options.about == "typing":
        people, names, cells_of = WRITERS, list(SIGNALS), signal_cells
    rng = np.random.default_rng(options.seed)
    print(row(["people", *names]))
    print(row(["---"] * (len(names) + 1)))
    for kind, habits in people.items():
        print(row([kind, *cells_of(habits, options, rng)]))
    if options.about == "answers":
        chance = sum(share ** MEASURES["one_value"].window for share in SHARES)
        print(f"one window is one value by chance: {chance:.2g}")


if __name__ == "__main__":
    main()
