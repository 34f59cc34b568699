"""Simulate all verdicts under their nulls and all intervals: python -m benchmarks.verdicts.

Prints a table, followed by its worst figure. Exits with 1 if a limit is broken by more than two
Monte Carlo standard errors: at most 5 % false sentences, at least 93 % coverage, at least 80 %
power. With ``--quick`` there are few studies, so a figure must also exceed what chance alone
produces among so many cells.
``--only TEXT`` runs the simulations whose sentence, rule or module contains the text.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import django

from benchmarks.verdicts.simulating import Share, Simulation, excess, is_broken, run

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cqa_site.settings")

COLUMNS = ("sentence or interval", "true of the data", "n", "studies", "share", "limit")
LIMITS = {"false": "false ≤ .05", "covered": "covered ≥ .93", "found": "found ≥ .80"}
OTHERS = ("simulating", "__main__")


def modules() -> list[str]:
    """Return the names of the modules that contain simulations."""
    names = (each.name for each in pkgutil.iter_modules([str(Path(__file__).parent)]))
    return sorted(name for name in names if name not in OTHERS)


def simulations() -> Iterator[tuple[str, int, Simulation]]:
    """Yield every simulation with its module and its position there."""
    django.setup()
    for name in modules():
        module = importlib.import_module(f"benchmarks.verdicts.{name}")
        for at, each in enumerate(module.SIMULATIONS):
            yield name, at, each


def _share(job: tuple[str, int, int, int]) -> Share:
    name, at, size, studies = job
    module = importlib.import_module(f"benchmarks.verdicts.{name}")
    return run(module.SIMULATIONS[at], size, studies)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few studies, in under a minute")
    parser.add_argument("--only", default="", help="a part of a sentence, a rule or a module")
    asked = parser.parse_args(arguments)
    chosen = [
        each for each in simulations()
        if asked.only.lower() in f"{each[0]}|{each[2].rule}|{each[2].says}".lower()
    ]  # fmt: skip
    jobs = [
        (name, at, size, each.quick if asked.quick else each.full)
        for name, at, each in chosen
        for size in each.sizes
    ]
    found = {(name, at): each for name, at, each in chosen}
    print(f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|", sep="\n")
    broken: list[str] = []
    worst: tuple[float, str] = (-1e9, "no simulation was chosen")
    with ProcessPoolExecutor(max(1, os.cpu_count() or 1)) as pool:
        for job, share in zip(jobs, pool.map(_share, jobs), strict=True):
            line = _line(found[job[:2]], job[2], share)
            print(line, flush=True)
            worst = max(worst, (excess(found[job[:2]], share), line))
            if is_broken(found[job[:2]], share, len(jobs) if asked.quick else 1):
                broken.append(line)
    print(f"\nBroken limits: {len(broken)} of {len(jobs)}", *broken, sep="\n")
    print(f"Worst, {worst[0]:+.1f} standard errors beyond its limit:\n{worst[1]}")
    return int(bool(broken))


def _line(simulation: Simulation, size: int, share: Share) -> str:
    return (
        f"| {simulation.says} | {simulation.truth} | {size} {simulation.unit} | {share.n} "
        f"| {share.value:.3f} ± {share.error:.3f} | {LIMITS[simulation.counts]} |"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
