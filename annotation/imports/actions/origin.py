"""Which system wrote the answers of a file, and under which prompt: proposed, then corrected."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _

from annotation.answers.models.answers import Answer, System
from annotation.imports.methods.raw_answers import HUMAN, is_human, propose_origin

Scenario = Answer.Scenario
SILVER_SYSTEM = "gpt-3.5-turbo"
LONGEST_NAME = 120
HUMANS = System.Kind.HUMAN
Options = Mapping[str, Any]


@dataclass(frozen=True)
class Origin:
    """A system by name, what it is, and the scenario (0 for none)."""

    system: str
    system_kind: str
    scenario: int

    def __str__(self) -> str:
        if self.scenario == Scenario.NONE:
            return _("Written by “%s”, under no scenario.") % self.system
        shown = {"system": self.system, "scenario": Scenario(self.scenario).label}
        return _("Written by “%(system)s” under scenario %(scenario)s.") % shown


def origin_of(file_name: str, options: Options, proposed: tuple[str, int] | None = None) -> Origin:
    """What was chosen for a file, else what is proposed, else what its name suggests."""
    system, scenario = proposed or propose_origin(file_name)
    system = (options.get("system") or "").strip() or system[:LONGEST_NAME]
    if options.get("scenario") is not None:
        scenario = int(options["scenario"])
    return Origin(system, kind_of(system, scenario), scenario)


def silver_origin(file_name: str, options: Options) -> Origin:
    """Of answers with arguments: the release was written by one model."""
    return origin_of(file_name, options, (SILVER_SYSTEM, Scenario.FULL))


def gold_origin(file_name: str, options: Options) -> Origin:
    """Of edited answers: whatever they are called, people wrote them."""
    found = origin_of(file_name, options, (HUMAN, Scenario.NONE))
    return replace(found, system_kind=HUMANS)


def kind_of(system: str, scenario: int) -> str:
    """What a system probably is, from its name and whether it was prompted."""
    if is_human(system):
        return HUMANS
    return System.Kind.MODEL if scenario != Scenario.NONE else System.Kind.IMPORTED
