"""All summarization systems of this repository and of other packages.

Another package lists its systems under the entry point `GROUP`. They are loaded when all
systems, or a system that is not ours, are first requested. A system that cannot be loaded is
listed as a `Fault`.
"""

import logging
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import Distribution, EntryPoint, distributions

from . import clustering, ranking
from .contract import SummarizationSystem, SystemNotValid

GROUP = "counterpoint.systems"
OWN = (ranking.BARH, ranking.SMATCHTOPR, clustering.USKPM, clustering.MCARGSUM)
logger = logging.getLogger(__name__)


class UnknownSystem(LookupError):
    """No system has this name; the message gives the reason, if known."""


@dataclass(frozen=True)
class Fault:
    """A system of another package that cannot be used, and the reason."""

    package: str
    name: str
    problem: str

    def __str__(self) -> str:
        return f"“{self.name}” of the package {self.package} cannot be used: {self.problem}"


def systems() -> tuple[SummarizationSystem, ...]:
    """Return all systems, ours first."""
    return (*OWN, *installed()[0])


def faults() -> tuple[Fault, ...]:
    """Return unusable systems of other packages."""
    return installed()[1]


def find_system(name: str) -> SummarizationSystem:
    """Return a system by name; raises `UnknownSystem`."""
    by_name = {system.name: system for system in OWN}
    if name not in by_name:
        by_name = {system.name: system for system in systems()}
    if name in by_name:
        return by_name[name]
    known = next((str(fault) for fault in faults() if fault.name == name), "")
    raise UnknownSystem(known or f"There is no system named “{name}”.")


def title_of(name: str) -> str:
    """Return a system's title, or its name if it is no longer installed."""
    try:
        return find_system(name).title
    except UnknownSystem:
        return name


@cache
def installed() -> tuple[tuple[SummarizationSystem, ...], tuple[Fault, ...]]:
    """Return systems of other packages, and faults of unusable ones; read once per process."""
    offered: list[SummarizationSystem] = []
    wrong: list[Fault] = []
    for dist in _packages():
        package = f"{dist.name} {dist.version}"[:200]
        for name, offer in _offers(dist).items():
            if isinstance(offer, SummarizationSystem):
                offered.append(replace(offer, package=package))
            else:
                wrong.append(Fault(package, name, offer))
    # If two packages offer the same name, neither system is used: the meaning of a run must not
    # change.
    times = Counter(system.name for system in (*OWN, *offered))
    wrong += [
        Fault(system.package, system.name, "another system has this name.")
        for system in offered
        if times[system.name] > 1
    ]
    return tuple(system for system in offered if times[system.name] == 1), tuple(wrong)


def _packages() -> list[Distribution]:
    """Return installed packages that have the entry point group, by name; the first copy wins."""
    packages: dict[str, Distribution] = {}
    for dist in distributions():
        if GROUP in (dist.read_text("entry_points.txt") or ""):
            packages.setdefault(str(dist.name).lower().replace("_", "-"), dist)
    return [packages[name] for name in sorted(packages)]


def _offers(dist: Distribution) -> dict[str, SummarizationSystem | str]:
    """Map each name to its system, or to its problem."""
    try:
        points = list(dist.entry_points.select(group=GROUP))
    except Exception:
        logger.exception("The entry points of the package %s", dist.name)
        return {GROUP: "its entry points cannot be read. See the server log."}
    return {point.name: _loaded(point, dist.name) for point in points}


def _loaded(point: EntryPoint, package: str) -> SummarizationSystem | str:
    """Return a system, or its problem if it cannot be loaded.

    Code of other packages may raise any exception, or exit.
    """
    try:
        system = point.load()
    except SystemNotValid as problem:
        return f"{problem}."
    except (Exception, SystemExit) as problem:
        logger.exception("The system “%s” of the package %s", point.name, package)
        return f"{type(problem).__name__} while it was loaded. See the server log."
    if not isinstance(system, SummarizationSystem):
        return f"{point.value} is not a SummarizationSystem."
    if system.name != point.name:
        return f"its name is “{system.name}”."
    return system
