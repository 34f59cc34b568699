"""What pages and the interface need to know about each kind of run.

An app names the parts of its kinds by dotted paths when it is loaded, and they are imported at
first use. So the pages of one app show, start and list runs of another that it never imports.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.utils.functional import Promise
from django.utils.module_loading import import_string
from django.utils.translation import gettext_lazy as lazy

from cqa_site.judging.prompts import Layout


@dataclass(frozen=True, slots=True)
class PromptKind:
    """One kind of prompt: its name, its placeholders and the file it begins with."""

    name: Promise
    layout: Layout
    file: Path


@dataclass(frozen=True, slots=True)
class Home:
    """The section in which runs of a kind stand, the address of their list, and its title."""

    section: str
    route: str
    title: Promise


JUDGES = Home("judges", "runs", lazy("Judges"))


@dataclass(frozen=True, slots=True)
class KindParts:
    """Everything about a kind of run beside the engine's own `RunKind`.

    Parameters
    ----------
    name
        What runs of this kind are called.
    prompts
        Path of a mapping: kind of prompt → `PromptKind`.
    tried_on
        Path of what its prompts are tried out on; see `cqa_site.runs.previewing`.
    subjects
        Path of what its requests are about; see `cqa_site.runs.subjects`.
    page
        Path of a function ``(request, study, run)`` that makes the page of one run.
    start
        Path of how the interface starts one; see `annotation.api.run_starts`.
    home
        Where its runs are listed.
    about
        Path of a function that says in a few words what a run is about; without one, the name.
    """

    name: Promise
    prompts: str
    tried_on: str
    subjects: str
    page: str
    start: str
    home: Home = JUDGES
    about: str = ""


PARTS: dict[str, KindParts] = {}


def describe(kind: str, parts: KindParts) -> None:
    """Make the parts of a kind of run known."""
    PARTS[kind] = parts


@cache
def part_of(kind: str, part: str) -> Any:
    """A part that is named by its path; KeyError for a kind that nobody described."""
    return import_string(getattr(PARTS[kind], part))


def about(kind: str, run: Any) -> str:
    """What a run is about, in a few words."""
    if kind not in PARTS:
        return kind
    return str(part_of(kind, "about")(run)) if PARTS[kind].about else str(PARTS[kind].name)


@cache
def prompt_kinds() -> Mapping[str, PromptKind]:
    """All kinds of prompts, in the order in which kinds of runs were described."""
    return {name: each for kind in PARTS for name, each in part_of(kind, "prompts").items()}


def run_kind_of(prompt_kind: str) -> str:
    """The kind of run to which a kind of prompt belongs; KeyError if none has it."""
    for kind in PARTS:
        if prompt_kind in part_of(kind, "prompts"):
            return kind
    raise KeyError(prompt_kind)
