"""Ordinal alpha with its item-jackknife interval, compared with the krippendorff package.

    python benchmarks/agreement.py
    python benchmarks/agreement.py --votes 500000 --raters 2000 --items-per-vote 0.2 --labels 20

The ratings are invented and seeded. Our time covers everything from the long table with text
names to the value and its interval. The package computes no interval; its time covers only its
own call, which receives the finished counts of each item and label.
"""

import argparse
import resource
import sys
import time

import krippendorff
import numpy as np
import pandas as pd

from cqa_site.stats.agreement import krippendorff_alpha
from cqa_site.stats.ratings import Ratings


def invented_votes(
    n_votes: int, n_raters: int, items_per_vote: float, n_labels: int, seed: int
) -> pd.DataFrame:
    """Return a long table in which each item has different raters."""
    generator = np.random.default_rng(seed)
    n_items = max(1, round(n_votes * items_per_vote))
    item = np.arange(n_votes) % n_items
    # Consecutive raters from a random start, so that no rater gets an item twice.
    rater = (
        generator.integers(0, n_raters, n_items)[item] + np.arange(n_votes) // n_items
    ) % n_raters
    score = generator.normal(size=n_items)[item] + 0.8 * generator.normal(size=n_votes)
    value = np.clip(np.floor((score + 2) * n_labels / 4), 0, n_labels - 1)
    names = {
        "item": pd.Series(item).map("i{}".format),
        "rater": pd.Series(rater).map("r{}".format),
    }
    return pd.DataFrame({**names, "value": value})


def ours(table: pd.DataFrame) -> tuple[float, float | None, float | None]:
    found = krippendorff_alpha(Ratings.from_frame(table), "ordinal")
    return found.value, found.low, found.high


def package(counts: pd.DataFrame) -> float:
    return float(
        krippendorff.alpha(
            value_counts=counts.to_numpy(),
            value_domain=counts.columns.to_numpy(),
            level_of_measurement="ordinal",
        )
    )


def best_time(function, table: pd.DataFrame, repeats: int):
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        answer = function(table)
        times.append(time.perf_counter() - start)
    return min(times), answer


def peak_mib() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--votes", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--raters", type=int, default=500)
    parser.add_argument("--items-per-vote", type=float, default=1 / 3, help="1/3: 3 votes an item")
    parser.add_argument("--labels", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=3, help="the fastest run counts")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


def main() -> None:
    options = parse_arguments()
    if round(1 / options.items_per_vote) >= options.raters:
        sys.exit("more votes an item than raters: raise --raters or --items-per-vote")
    print(f"{options.raters} raters, labels 0-{options.labels - 1}, seed {options.seed}")
    print(
        f"{'votes':>9} {'items':>8} {'alpha':>8} {'interval':>19} {'seconds':>8} "
        f"{'package':>8} {'ratio':>6} {'differs':>9} {'peak MiB':>9}"
    )
    for n_votes in options.votes:
        table = invented_votes(
            n_votes, options.raters, options.items_per_vote, options.labels, options.seed
        )
        seconds, (value, low, high) = best_time(ours, table, options.repeats)
        # Read before the package runs, because the peak memory of a process never decreases.
        peak = peak_mib()
        counts = pd.crosstab(table["item"], table["value"])
        package_seconds, packaged = best_time(package, counts, options.repeats)
        print(
            f"{n_votes:>9} {table['item'].nunique():>8} {value:>8.5f} "
            f"{f'[{low:.5f}, {high:.5f}]':>19} {seconds:>8.3f} {package_seconds:>8.3f} "
            f"{seconds / package_seconds:>6.2f} {abs(value - packaged):>9.1e} {peak:>9.0f}"
        )


if __name__ == "__main__":
    main()
