"""Which system wrote the answers of a file, and under which prompt: proposed, then corrected."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from annotation.answers.models.answers import Answer, System
from annotation.imports.methods.raw_answers import HUMAN, is_human, propose_origin
from cqa_site.files.models import ImportFile

Kind = ImportFile.Kind
Scenario = Answer.Scenario
SILVER_SYSTEM = "gpt-3.5-turbo"
LONGEST_NAME = 120
HUMANS = System.Kind.HUMAN


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


def origin_of(kind: str, file_name: str, options: Mapping[str, Any]) -> Origin:
    """What was chosen for a file, else what its kind and name suggest."""
    system, scenario = _proposed(kind, file_name)
    system = (options.get("system") or "").strip() or system[:LONGEST_NAME]
    if options.get("scenario") is not None:
        scenario = int(options["scenario"])
    return Origin(system, HUMANS if kind == Kind.GOLD else kind_of(system, scenario), scenario)


def _proposed(kind: str, file_name: str) -> tuple[str, int]:
    if kind == Kind.SILVER:
        return SILVER_SYSTEM, Scenario.FULL
    if kind == Kind.GOLD:
        return HUMAN, Scenario.NONE
    return propose_origin(file_name)


def kind_of(system: str, scenario: int) -> str:
    """What a system probably is, from its name and whether it was prompted."""
    if is_human(system):
        return HUMANS
    return System.Kind.MODEL if scenario != Scenario.NONE else System.Kind.IMPORTED
