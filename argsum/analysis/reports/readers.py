"""Rounds that close an analysis to people who answer in them; later apps register them."""

from collections.abc import Callable, Sequence
from typing import Any

from argsum.analysis.models import Analysis
from cqa_site.people.models import User

# Open rounds about an analysis in which a person answers or could, each with ``has_answers``.
BlindingSource = Callable[[Analysis, User], Sequence[Any]]
SOURCES: list[BlindingSource] = []


def blinding_rounds(analysis: Analysis, user: User) -> list[Any]:
    """Return the open rounds that close the analysis to the person."""
    return [round_ for source in SOURCES for round_ in source(analysis, user)]
