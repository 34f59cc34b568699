"""Coverage of intervals for shares corrected by an audit.

``python -m benchmarks.verdicts.audit`` prints a table with 500 studies per line: coverage and
width of the corrected share, coverage of the machine's count alone, and the width of the sample
alone.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from argsum.analysis.methods.audit import (
    BANDS,
    BEHIND,
    AnsweredStratum,
    AuditedShare,
    Stratum,
    allocate,
    audited_precision,
    audited_recall,
    corrected_share,
    exact_interval,
)
from argsum.analysis.methods.prevalence import Share
from benchmarks.verdicts.simulating import Simulation, Study
from cqa_site.stats.arrays import FloatArray, IntArray

Generator = np.random.Generator
BoolArray = NDArray[np.bool_]
COMMENTS = 300
PERHAPS_OF_MADE, PERHAPS_OF_OTHERS = 0.5, 0.03
ROUNDING = 1e-9


class Audited(NamedTuple):
    """One study: its strata by band, and the truth about its comments."""

    strata: dict[str, AnsweredStratum]
    share: float
    precision: float
    recall: float
    machine: int


def audited(
    n: int, generator: Generator, made: float, precision: float, recall: float
) -> Audited | None:
    """Draw comments, a machine's placements, and n answers; None if no comment is placed."""
    makes = generator.random(COMMENTS) < made
    wrong = made * recall * (1 - precision) / precision / (1 - made)
    members = _bands(makes, np.where(makes, recall, wrong), generator)
    behind = members[BEHIND]
    strata = {}
    for band, drawn in _sample(members, n, generator).items():
        hits = int(makes[drawn].sum())
        strata[band] = AnsweredStratum(int(members[band].sum()), len(drawn), hits)
    if BEHIND not in strata or not makes.any():
        return None
    return Audited(
        strata,
        float(makes.mean()),
        float(makes[behind].mean()),
        float(behind[makes].mean()),
        int(behind.sum()),
    )


def _bands(makes: BoolArray, likely: FloatArray, generator: Generator) -> dict[str, BoolArray]:
    """Assign each comment to a band; ``likely`` is its probability of supporting the key point."""
    behind = generator.random(COMMENTS) < likely
    often = np.where(makes, PERHAPS_OF_MADE, PERHAPS_OF_OTHERS)
    perhaps = ~behind & (generator.random(COMMENTS) < often)
    return dict(zip(BANDS, (behind, perhaps, ~behind & ~perhaps), strict=True))


def _sample(members: dict[str, BoolArray], n: int, generator: Generator) -> dict[str, IntArray]:
    """Draw n comments in total, as an audit does; return their positions by band."""
    sizes = {Stratum(1, band): int(mask.sum()) for band, mask in members.items()}
    return {
        stratum.band: generator.choice(
            np.flatnonzero(members[stratum.band]), answers, replace=False
        )
        for stratum, answers in allocate(sizes, n).items()
    }


def group_holds(made: float, elsewhere: float, size: float, recalls: tuple[float, float]) -> Study:
    """Whether the corrected share of a group covers the share in the population of its comments.

    A share ``made`` of the group's comments make the key point, and a share ``elsewhere`` of the
    other comments. The machine's recall differs between the group and the others, and it wrongly
    includes one in twenty other comments.
    """

    def study(n: int, generator: Generator) -> bool | None:
        own = generator.random(COMMENTS) < size
        makes = generator.random(COMMENTS) < np.where(own, made, elsewhere)
        likely = np.where(makes, np.where(own, *recalls), 0.05)
        members = _bands(makes, likely, generator)
        drawn = _sample(members, n, generator)
        strata = [
            AnsweredStratum(int((mask & own).sum()), int(own[places].sum()), int(hits.sum()))
            for band, mask in members.items()
            if (mask & own).any()
            for places in [drawn.get(band, np.array([], dtype=int))]
            for hits in [makes[places] & own[places]]
        ]
        return holds(corrected_share([strata], comments=int(own.sum())), made)

    return study


def useless(n: int, generator: Generator, made: float) -> Audited | None:
    """Draw a study whose machine assigns one comment in seven to the key point at random.

    Precision is then the share itself, and recall the machine's share.
    """
    return audited(n, generator, made, made, 1 / 7)


def holds(interval: AuditedShare, truth: float) -> bool | None:
    """Whether the interval covers the truth; None if there is no interval."""
    if interval.low is None or interval.high is None:
        return None
    return interval.low - ROUNDING <= truth <= interval.high + ROUNDING


def _figure(name: str, study: Audited, made: float) -> bool | None:
    strata = list(study.strata.values())
    own = study.strata[BEHIND]
    others = [stratum for stratum in strata if stratum is not own]
    if name == "of these comments":
        return holds(corrected_share([strata]), study.share)
    if name == "beyond these comments":
        return holds(corrected_share([strata], comments=COMMENTS), made)
    if name == "precision":
        return holds(audited_precision([[own]]), study.precision)
    return holds(audited_recall([[own]], [others]), study.recall)


def figure_holds(name: str, made: float, precision: float, recall: float) -> Study:
    """Whether the interval of a figure covers the truth of a study."""

    def study(n: int, generator: Generator) -> bool | None:
        drawn = audited(n, generator, made, precision, recall)
        return None if drawn is None else _figure(name, drawn, made)

    return study


CASES = {
    "3 % make it, precision .6": (0.03, 0.6, 0.85),
    "3 % make it, precision .95, half missed": (0.03, 0.95, 0.5),
    "10 % make it, precision .75": (0.1, 0.75, 0.85),
    "30 % make it, precision .6": (0.3, 0.6, 0.85),
    "30 % make it, precision .95, half missed": (0.3, 0.95, 0.5),
    "60 % make it, precision .85": (0.6, 0.85, 0.85),
}
FIGURES = {
    "of these comments": "Corrected count [low, high]",
    "beyond these comments": "Corrected share [low, high]",
    "precision": "Precision of placements [low, high]",
    "recall": "Recall of placements [low, high]",
}
SIZES = {name: (20, 60) if name == "precision" else (10, 20, 60) for name in FIGURES}
GROUPS = {
    "3 % of a third make it, 10 % elsewhere": (0.03, 0.1, 1 / 3, (0.6, 0.9)),
    "10 % of a half, 3 % elsewhere": (0.1, 0.03, 0.5, (0.6, 0.9)),
    "30 % of a third, 10 % elsewhere": (0.3, 0.1, 1 / 3, (0.5, 0.9)),
    "60 % of a fifth, 30 % elsewhere": (0.6, 0.3, 0.2, (0.9, 0.5)),
}
OF_GROUPS = tuple(
    Simulation(
        says="Corrected share of a group [low, high]",
        rule="interval",
        truth=truth,
        counts="covered",
        sizes=(60, 150),
        unit=f"answers about one key point, {COMMENTS} comments, some of them in the group",
        study=group_holds(*case),
        quick=60,
        full=2000,
    )
    for truth, case in GROUPS.items()
)
SIMULATIONS = OF_GROUPS + tuple(
    Simulation(
        says=says,
        rule="interval",
        truth=truth,
        counts="covered",
        sizes=SIZES[name],
        unit=f"answers about one key point, {COMMENTS} comments",
        study=figure_holds(name, *case),
        quick=60,
        full=2000,
    )
    for name, says in FIGURES.items()
    for truth, case in CASES.items()
)


# The table with 500 studies per line


STUDIES = 500
HEAD = ("share", "precision", "recall", "answers", "corrected", "width", "machine alone", "alone")


def _line(n: int, made: float, draw: Callable[[Generator], Audited | None]) -> list[float]:
    """Return coverage and width for the corrected share, the machine and the sample."""
    generator = np.random.default_rng(40)
    rows = []
    while len(rows) < STUDIES:
        study = draw(generator)
        if study is None:
            continue
        share = corrected_share([list(study.strata.values())], comments=COMMENTS)
        is_held = holds(share, made)
        if is_held is None or share.low is None or share.high is None:
            continue
        machine = Share(study.machine, COMMENTS)
        weights = [(part.pairs / COMMENTS, part.answers) for part in study.strata.values()]
        effective = 1 / sum(weight**2 / answers for weight, answers in weights)
        low, high = exact_interval(share.value or 0.0, effective, 0.95)
        widths = [share.high - share.low, high - low]
        by_machine = (machine.low or 0) <= made <= (machine.high or 0)
        rows.append([is_held, widths[0], by_machine, widths[1]])
    return [float(column) for column in np.mean(rows, axis=0)]


def main() -> None:
    print(f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|", sep="\n")
    lowest = 1.0
    for made, precision, recall, n in product(
        (0.03, 0.1, 0.3), (0.6, 0.75, 0.85, 0.95), (0.5, 0.85), (10, 60)
    ):
        figures = _line(n, made, lambda g, x=(made, precision, recall), n=n: audited(n, g, *x))
        lowest = min(lowest, figures[0])
        _print(f"{made:.0%}", f"{precision:g}", f"{recall:g}", n, figures)
    for made, n in product((0.03, 0.1, 0.3), (10, 60)):
        figures = _line(n, made, lambda g, made=made, n=n: useless(n, g, made))
        lowest = min(lowest, figures[0])
        _print(f"{made:.0%}", "useless", "1/7", n, figures)
    print(f"\nLowest coverage of a corrected share: {lowest:.3f}")


def _print(made: str, precision: str, recall: str, n: int, figures: list[float]) -> None:
    numbers = [f"{figures[0]:.3f}", f"{figures[1]:.3f}", f"{figures[2]:.3f}", f"{figures[3]:.3f}"]
    print(f"| {' | '.join([made, precision, recall, str(n), *numbers])} |", flush=True)


if __name__ == "__main__":
    main()
