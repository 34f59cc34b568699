"""USKPM: UMAP's start-up time in the first process on a machine, and in later processes.

    python -m benchmarks.umap_compile

Each line is a separate process, with the seconds for importing UMAP, for its first use (which
compiles functions that no earlier process cached) and for the next use. "as it is" does not cache
compiled functions.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLAIN, KEPT = "as it is", "kept"


def main() -> None:
    if len(sys.argv) > 1:
        measure(sys.argv[1])
        return
    print(f"{'UMAP':10}{'process':>8}{'import s':>10}{'first s':>10}{'next s':>8}{'sum':>14}")
    for way in (PLAIN, KEPT):
        with tempfile.TemporaryDirectory() as folder:
            for number in (1, 2, 3):
                _report(way, number, folder)


def _report(way: str, number: int, folder: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.umap_compile", way],
        env=os.environ | {"DATA_DIR": folder},
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    loading, first, following, total = done.stdout.split()
    print(f"{way:10}{number:>8}{loading:>10}{first:>10}{following:>8}{total:>14}", flush=True)


def measure(way: str) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cqa_site.settings")
    import django

    django.setup()
    import numpy as np

    from argsum.systems import clustering

    begun = time.perf_counter()
    if way == PLAIN:
        import umap

        clustering.umap_class = lambda: umap.UMAP
    else:
        clustering.umap_class()
    vectors = np.random.default_rng(1).normal(size=(40, 384)).astype(np.float32)
    times = [time.perf_counter()]
    for _each in range(2):
        found = clustering.reduce_vectors(vectors)
        times.append(time.perf_counter())
    loading, first, following = np.diff([begun, *times])
    print(f"{loading:.1f} {first:.1f} {following:.2f} {found.sum():.4f}")


if __name__ == "__main__":
    main()
