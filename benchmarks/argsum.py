"""Argument summarization: time and memory of scores, clusters and systems, without a writer.

    python -m benchmarks.argsum
    python -m benchmarks.argsum --sizes 1000 --data ../shared/data

Prints one line for each step, on the test split of the released data if available, and on one
invented cell of each size. Every size is measured in its own process, so that peak memory is
measured separately. "kept" is the second use, which reads the files that the first use stored.
Systems run over their published grids, from score matrices to key points with assigned arguments.
"""

import argparse
import contextlib
import itertools
import logging
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("COUNTERPOINT_REFERENCE_DATA", ROOT.parent / "shared" / "data"))
TEST = "test"
# USKPM settings for invented cells; the test split uses the whole grid.
FEW = 1


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[1_000, 10_000])
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--without-uskpm", action="store_true", help="UMAP compiles for 20 s")
    parser.add_argument("--cells", default="", help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    options = parse_arguments()
    if options.cells:
        measure(options)
        return
    has_data = (options.data / "argsum").is_dir()
    for cells in [*([TEST] if has_data else []), *map(str, options.sizes)]:
        again = ["--cells", cells, "--data", str(options.data)]
        again += ["--without-uskpm"] if options.without_uskpm else []
        subprocess.run([sys.executable, "-m", "benchmarks.argsum", *again], check=True, cwd=ROOT)


def measure(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"DEBUG": "1", "DATA_DIR": folder, "TQDM_DISABLE": "1"}
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cqa_site.settings")
        import django

        django.setup()
        logging.disable(logging.INFO)
        cells = released(options.data) if options.cells == TEST else [invented(int(options.cells))]
        sizes = ", ".join(f"{len(cell.arguments):,}" for cell in cells)
        print(f"\n{len(cells)} cells with {sizes} arguments" if len(cells) > 1 else f"\n{sizes}")
        Measuring(cells).run(with_uskpm=not options.without_uskpm)


def released(data: Path):
    """Return the six cells of the test split."""
    from argsum.papers.reports.release import KeyPointRelease

    return KeyPointRelease(data).test_cells


def invented(n: int):
    """Return a cell of n different sentences with randomly combined parts."""
    from argsum.papers.reports.release import PreparedCell

    parts = (
        "Night buses;Late trams;Early trains;Shared taxis;Ferries after dark;Evening lifts;"
        "Cycle lanes;Lit footpaths;Rural buses;Weekend shuttles",
        "help;protect;serve;annoy;cost;support;tire;reward",
        "nurses;bakers;students;parents;old people;shopkeepers;drivers;guests;pupils;neighbours",
        "because they run when nothing else does;since streets are empty by then;"
        "although hardly anybody knows the timetable;as a car is too expensive for most;"
        "because somebody has to pay for them;since noise wakes whole families;"
        "as walking home alone is unsafe;although the town promised more",
        "in winter;every week;on holidays;in small towns;near the harbour;at the border;"
        "during storms;after concerts",
    )
    words = list(itertools.product(*(part.split(";") for part in parts)))
    generator = np.random.default_rng(1)
    chosen = generator.choice(len(words), size=n, replace=False)
    texts = tuple(" ".join(words[place]) for place in chosen)
    return PreparedCell(
        "Transport at night",
        1,
        arguments=texts,
        quality=tuple(generator.uniform(0.4, 1.0, n).tolist()),
        reference=tuple(words[place][3] for place in chosen),
        key_points=tuple(part.strip() for part in parts[3].split(";")),
    )


class Measuring:
    """All steps over some cells, in order; each step reports the total over its cells."""

    def __init__(self, cells) -> None:
        from argsum.scorers.actions.models import weights_hash
        from argsum.scorers.actions.scorers import match_scorer_of
        from argsum.scorers.models import Scorer
        from cqa_site.judging.embedding import PACKAGED_MODEL

        self.cells = cells
        self.scorer = match_scorer_of(
            Scorer(
                name="MiniLM",
                task="match",
                kind="bi_encoder",
                base_model=PACKAGED_MODEL,
                sha256=weights_hash(PACKAGED_MODEL),
            )
        )
        self.n = sum(len(cell.arguments) for cell in cells)

    def run(self, *, with_uskpm: bool) -> None:
        with timed("model loaded"), contextlib.redirect_stderr(None):
            self.scorer.inner.embedder.encode(["One sentence."])
        with timed("sentence vectors", per=self.n, unit="arguments"):
            self.vectors = [self.scorer.inner.vectors(cell.arguments) for cell in self.cells]
        with timed("match matrices"):
            self.match = self._matrices()
        with timed("vectors and matrices, kept"):
            self.match = self._matrices()
        self._mcargsum()
        from argsum.systems import ranking

        self._extractive("BarH", ranking.THRESHOLDS, self._barh)
        self._extractive("SMatchToPr", ranking.REDUNDANCIES, self._smatchtopr)
        if with_uskpm:
            self._uskpm()

    def _matrices(self):
        return [self.scorer.matrix(cell.arguments, cell.arguments) for cell in self.cells]

    def _mcargsum(self) -> None:
        from argsum.systems.methods.clusters import THRESHOLDS, is_summarizable, merge_clusters

        count = len(THRESHOLDS) * len(self.cells)
        with timed("MCArgSum: clusters", per=count, unit="settings"):
            found = [merge_clusters(match, THRESHOLDS) for match in self.match]
        with timed("MCArgSum: key points, assigned", per=count, unit="settings") as note:
            results = [
                self._of_clusters(match, ids)
                for match, by_threshold in zip(self.match, found, strict=True)
                for ids in by_threshold.values()
                if is_summarizable(ids)
            ]
            note.append(f"{len(results)} with a result")

    def _of_clusters(self, match, ids):
        from argsum.systems.methods.clusters import assign, central_argument, members

        central = [central_argument(match, places) for places in members(ids).values()]
        return assign(match[:, central])

    def _extractive(self, name: str, thresholds, solve) -> None:
        from argsum.systems.contract import FILL_UPS

        count = len(FILL_UPS) * len(thresholds) * len(self.cells)
        with timed(f"{name}: whole", per=count, unit="settings") as note:
            sizes = [
                size
                for cell, match in zip(self.cells, self.match, strict=True)
                for share in FILL_UPS
                for size in solve(cell, match, share, thresholds)
            ]
            candidates, key_points = zip(*sizes, strict=True)
            note.append(f"up to {max(candidates):,} candidates, {max(key_points):,} key points")

    def _barh(self, cell, match, share, thresholds):
        from argsum.systems.ranking import BARH_RULE, barh

        rows = self._candidates(cell, BARH_RULE, share)
        between = match[np.ix_(rows, rows)]
        for threshold in thresholds:
            kept = barh(match[:, rows], between, own=rows, threshold=threshold)
            yield self._assigned(match, rows, kept)

    def _smatchtopr(self, cell, match, share, thresholds):
        from argsum.systems.ranking import SMATCHTOPR_RULE, keep_different, rank_candidates

        rows = self._candidates(cell, SMATCHTOPR_RULE, share)
        between = match[np.ix_(rows, rows)]
        ranked = rank_candidates(between, np.array(cell.quality)[rows])
        for threshold in thresholds:
            kept = keep_different(between, ranked, redundancy=threshold)
            yield self._assigned(match, rows, kept)

    def _candidates(self, cell, rule, share):
        from argsum.systems.contract import pick_candidates

        return pick_candidates(cell.arguments, np.array(cell.quality), rule=rule, fill_up=share)

    def _assigned(self, match, rows, kept):
        from argsum.systems.methods.clusters import assign

        assign(match[:, [rows[place] for place in kept]])
        return len(rows), len(kept)

    def _uskpm(self) -> None:
        from argsum.systems.clustering import (
            COMPONENTS,
            MIN_DISTANCES,
            NEIGHBOURS,
            density_clusters,
            join_clusters,
            reduce_vectors,
        )

        grid = list(itertools.product(NEIGHBOURS, COMPONENTS, MIN_DISTANCES))
        grid = grid if len(self.cells) > 1 else grid[-FEW:]
        count = len(grid) * len(self.cells)
        with timed("USKPM: UMAP compiled"):
            reduce_vectors(self.vectors[0][:50])
        with timed("USKPM: UMAP", per=count, unit="settings"):
            reduced = [
                reduce_vectors(vectors, neighbours=near, components=size, min_distance=apart)
                for vectors in self.vectors
                for near, size, apart in grid
            ]
        with timed("USKPM: density clusters", per=count, unit="settings"):
            ids = list(map(density_clusters, reduced))
        with timed("USKPM: iterative clustering", per=count, unit="settings"):
            for place, each in enumerate(ids):
                ids[place] = join_clusters(self.vectors[place // len(grid)], each)
        with timed("USKPM: key points, assigned", per=count, unit="settings"):
            for place, each in enumerate(ids):
                self._of_clusters(self.match[place // len(grid)], each)


@contextlib.contextmanager
def timed(name: str, *, per: int = 0, unit: str = ""):
    """Print the time of the block, followed by the notes that the block appends to the list."""
    notes: list[str] = []
    wall, busy = time.perf_counter(), time.process_time()
    yield notes
    wall, busy = time.perf_counter() - wall, time.process_time() - busy
    if per:
        notes.insert(0, f"{1000 * wall / per:,.2f} ms for each of {per:,} {unit}")
    text = ", ".join(notes)
    print(
        f"{name:<32}{wall:>9.3f} s  CPU {busy:>9.3f} s  peak {peak_mib():>6.0f} MiB  {text}",
        flush=True,
    )


def peak_mib() -> float:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


if __name__ == "__main__":
    main()
