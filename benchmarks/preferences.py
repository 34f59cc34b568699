"""Rankings by preferences: time to fit strengths, rank with intervals and tests, and plan pairs.

    python -m benchmarks.preferences

Verdicts are drawn from the model with a fixed seed. Times are processor seconds on one thread,
which a busy machine changes little. `benchmarks.verdicts` checks the intervals and tests.
"""

import argparse
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd

from benchmark.preferences.methods.davidson import fit_strengths
from benchmark.preferences.methods.pair_planning import plan_pairs
from benchmark.preferences.methods.pairs import Candidate
from benchmark.preferences.methods.ranking import rank_by_preference
from benchmark.preferences.methods.verdict_tables import Verdicts

SIZES = ((10, 2_000, 100), (26, 2_000, 50), (50, 20_000, 500))
NU = 0.7


def drawn(strength: np.ndarray, n: int, n_questions: int, seed: int) -> Verdicts:
    """Draw verdicts from Davidson's model."""
    generator = np.random.default_rng(seed)
    k = len(strength)
    question = np.arange(n) % n_questions
    first = generator.integers(0, k, n)
    second = (first + generator.integers(1, k, n)) % k
    half = (strength[first] - strength[second]) / 2
    lot = generator.random(n) * (np.exp(half) + np.exp(-half) + NU)
    outcome = np.where(lot < np.exp(half), "first", "second")
    outcome[(lot >= np.exp(half)) & (lot < np.exp(half) + NU)] = "tie"
    names = np.array([f"system {place:02}" for place in range(k)])
    fixed = {"pair": range(n), "rater": "r", "side": "left"}
    columns = {"question": question, "first": names[first], "second": names[second]}
    return Verdicts.from_frame(pd.DataFrame({**columns, "outcome": outcome, **fixed}))


def seconds(function) -> float:
    function()
    start = time.process_time()
    function()
    return time.process_time() - start


def measure_speed() -> None:
    print(f"{'systems':>8} {'verdicts':>9} {'questions':>10} {'fit, s':>8} {'ranking, s':>15}")
    for k, n, n_questions in SIZES:
        verdicts = drawn(np.linspace(1, -1, k), n, n_questions, seed=1)
        fit = seconds(lambda verdicts=verdicts: fit_strengths(verdicts))
        whole = seconds(lambda verdicts=verdicts: rank_by_preference(verdicts))
        print(f"{k:>8} {n:>9,} {n_questions:>10} {fit:>8.3f} {whole:>15.2f}", flush=True)
    for k, n, n_questions in SIZES:
        answers = [
            Candidate(answer=f"{place} {question}", question=question, system=f"{place}")
            for place in range(k)
            for question in range(n_questions)
        ]
        spent = seconds(lambda answers=answers, n=n: plan_pairs(answers, n, seed=1))
        print(f"plan of {n:,} pairs of {k} systems on {n_questions} questions: {spent:.2f} s")


def main() -> None:
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    measure_speed()


if __name__ == "__main__":
    main()
