"""Rankings by preferences: seconds to fit, to resample and to plan; and how good intervals are.

    python -m benchmarks.preferences
    python -m benchmarks.preferences --coverage 600

Verdicts are drawn from the model, seeded. Seconds are those of the processor, on one thread, so
that a busy machine changes little. ``--coverage`` draws that many studies whose questions favour
systems of their own, and counts how often intervals hold what endless questions would give, and
how often equal systems are told apart.
"""

import argparse
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import pandas as pd

from benchmark.preferences.methods.answer_pairs import Candidate
from benchmark.preferences.methods.davidson import fit_strengths
from benchmark.preferences.methods.pair_planning import plan_pairs
from benchmark.preferences.methods.paired import Verdicts
from benchmark.preferences.methods.preference_ranking import rank_by_preference

SIZES = ((10, 2_000, 100), (26, 2_000, 50), (50, 20_000, 500))
STUDIES = ((50, 20), (200, 5))
NU, OF_QUESTION = 0.7, 0.7


def drawn(strength: np.ndarray, n: int, n_questions: int, spread: float, seed: int) -> Verdicts:
    """Verdicts; a question moves every system's log strength by a normal draw."""
    generator = np.random.default_rng(seed)
    k = len(strength)
    moved = strength + spread * generator.normal(size=(n_questions, k))
    question = np.arange(n) % n_questions
    first = generator.integers(0, k, n)
    second = (first + generator.integers(1, k, n)) % k
    half = (moved[question, first] - moved[question, second]) / 2
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
    print(f"{'systems':>8} {'verdicts':>9} {'questions':>10} {'fit, s':>8} {'1,000 draws, s':>15}")
    for k, n, n_questions in SIZES:
        verdicts = drawn(np.linspace(1, -1, k), n, n_questions, 0.0, seed=1)
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


def measure_coverage(replicates: int) -> None:
    for n_questions, each in STUDIES:
        n, strength = n_questions * each, np.linspace(1, -1, 6)
        truth = fit_strengths(drawn(strength, 400_000, 20_000, OF_QUESTION, 99)).by_system()
        held, apart, any_apart = [], [], []
        for seed in range(replicates):
            verdicts = drawn(strength, n, n_questions, OF_QUESTION, seed)
            found = rank_by_preference(verdicts, n_resamples=400, seed=seed)
            gaps = [(pair, truth[pair.first] - truth[pair.second]) for pair in found.pairs]
            held += [pair.low <= gap <= pair.high for pair, gap in gaps]
            equal = drawn(0 * strength, n, n_questions, OF_QUESTION, seed)
            pairs = rank_by_preference(equal, n_resamples=400, seed=seed).pairs
            apart += [pair.p < 0.05 for pair in pairs]
            any_apart.append(any(pair.is_separable for pair in pairs))
        print(
            f"{n_questions} questions, {each} verdicts each, {replicates} studies: differences "
            f"held {np.mean(held):.3f}; equal systems: p < .05 {np.mean(apart):.3f}, "
            f"any two told apart {np.mean(any_apart):.3f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--coverage", type=int, metavar="STUDIES", default=0)
    options = parser.parse_args()
    if options.coverage:
        measure_coverage(options.coverage)
    else:
        measure_speed()


if __name__ == "__main__":
    main()
