"""Training a match scorer on a busy machine: the cost of a step by thread wait policy.

    python -m benchmarks.training_threads [--steps 6]

Each line is a separate process that trains all-MiniLM-L6-v2 on an invented cell with two threads,
like every training. It runs alone and while other processes keep all cores but one busy, and
reports wall-clock and processor seconds per step. "spinning" is OpenMP's default, "passive" the
setting of this site.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
SPINNING, PASSIVE = "spinning", "passive"
BUSY = "while True: pass"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--way", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        measure(options.way, options.steps)
        return
    cores = os.cpu_count() or 1
    print(f"{'busy cores':<12}{'waiting':<12}{'wall s a step':>16}{'processor s a step':>22}")
    for busy in (0, max(1, cores - 1)):
        for way in (SPINNING, PASSIVE):
            wall, cpu = _measured(way, busy, options.steps)
            print(f"{busy} of {cores:<7}{way:<12}{wall:>16}{cpu:>22}", flush=True)


def _measured(way: str, busy: int, steps: int) -> list[str]:
    others = [subprocess.Popen([sys.executable, "-c", BUSY]) for _each in range(busy)]
    try:
        with tempfile.TemporaryDirectory() as folder:
            again = ["-m", "benchmarks.training_threads", "--way", way, "--steps", str(steps)]
            done = subprocess.run(
                [sys.executable, *again],
                env=os.environ | {"DATA_DIR": folder, "TQDM_DISABLE": "1"},
                capture_output=True,
                text=True,
                check=True,
                cwd=ROOT,
            )
    finally:
        for each in others:
            each.kill()
            each.wait()
    return done.stdout.split()[-2:]


def measure(way: str, steps: int) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cqa_site.settings")
    if way == SPINNING:
        # Loaded before the settings, which then have no effect.
        import torch  # noqa: F401
    import django

    django.setup()
    from argsum.scorers.actions.torch_training import MatchTraining
    from argsum.scorers.methods.training import ScorerRecipe, TrainingCell
    from cqa_site.judging.embedding import PACKAGED_MODEL

    rng = np.random.default_rng(1)
    words = [f"word{number}" for number in range(500)]
    texts = tuple(" ".join(rng.choice(words, size=14)) for _each in range(120))
    points = tuple(" ".join(rng.choice(words, size=6)) for _each in range(6))
    labels = np.zeros((len(texts), len(points)), dtype=np.int8)
    labels[np.arange(len(texts)), np.arange(len(texts)) % len(points)] = 1
    cell = TrainingCell("Buses", 1, texts, points, labels, tuple(range(len(texts))))
    recipe = ScorerRecipe(steps=steps + 2, checks=1, members=1)
    times: list[tuple[float, float]] = []
    training = MatchTraining(PACKAGED_MODEL, {"train": [cell], "dev": [cell]}, recipe)
    training.run(lambda *said: times.append((time.perf_counter(), time.process_time())))
    # The first two steps allocate memory.
    wall, cpu = (np.diff([each[at] for each in times[1 : steps + 2]]).mean() for at in (0, 1))
    print(f"{wall:.2f} {cpu:.2f}")


if __name__ == "__main__":
    main()
