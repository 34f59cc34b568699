"""How often signals of typing mark honest writers, and how often programs.

    python -m benchmarks.typing_signals [--people 10000] [--texts 20]

Writers are invented and seeded. An honest one types 60 to 400 characters a text, at a speed drawn
around a median of 4 characters per second (log sd .35 between people), pauses, and now and then
quotes the item. Some dictate, and some write in another program and paste all of it. What stands
out is decided by `cqa_site.rounds.typing_signals`.
"""

import argparse
from typing import NamedTuple

import numpy as np


class Writer(NamedTuple):
    """Shares of texts quoted in part, pasted as a whole or dictated, and the typing speed."""

    quotes: float = 0.15
    pastes: float = 0.02
    dictates: float = 0.0
    speed: float = 4.0
    fills_trap: float = 0.0


WRITERS = {
    "honest": Writer(),
    "honest, quotes in half of the texts": Writer(quotes=0.5),
    "honest, fast (median 8 a second)": Writer(speed=8.0),
    "honest, dictates": Writer(dictates=1.0),
    "honest, writes in another program": Writer(pastes=1.0),
    "pastes three quarters of the texts": Writer(pastes=0.75),
    "a program that types (50 a second)": Writer(speed=50.0),
    "a program that fills in fields": Writer(pastes=1.0, fills_trap=0.5),
}


def counts_of(writer: Writer, texts: int, rng: np.random.Generator) -> dict[str, float]:
    """The sums over one writer's texts, as a round's page shows them."""
    lengths = rng.integers(60, 401, texts)
    own = writer.speed * rng.lognormal(0, 0.35)
    is_pasted = rng.random(texts) < writer.pastes
    is_dictated = ~is_pasted & (rng.random(texts) < writer.dictates)
    is_typed = ~is_pasted & ~is_dictated
    quoted = np.where(rng.random(texts) < writer.quotes, rng.uniform(0.2, 0.6, texts), 0)
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
        "traps": int((rng.random(texts) < writer.fills_trap).sum()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--people", type=int, default=10_000)
    parser.add_argument("--texts", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    import os

    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cqa_site.settings")
    django.setup()
    from cqa_site.rounds.typing_signals import TypingSummary

    rng = np.random.default_rng(options.seed)
    names = ("mostly pasted", "faster than people type", "filled in the hidden field")
    print("| writers |", " | ".join(names), "|")
    print("|---|" + "---|" * len(names))
    for title, writer in WRITERS.items():
        rows = [counts_of(writer, options.texts, rng) for _ in range(options.people)]
        signals = [TypingSummary(rater=None, **row).signals for row in rows]  # type: ignore[arg-type]
        shares = [100 * sum(name in row for row in signals) / len(rows) for name in names]
        print(f"| {title} |", " | ".join(f"{share:.1f} %" for share in shares), "|")


if __name__ == "__main__":
    main()
