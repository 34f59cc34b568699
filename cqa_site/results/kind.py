"""What a kind of figures says about itself; how it is kept is the same for all."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from cqa_site.people.models import Study

from .models import Snapshot


@dataclass(frozen=True)
class Computed:
    """What one run over the rows gave: the packed table, its sha256, marker, recipe, figures."""

    rows: bytes
    sha256: str
    marker: str
    recipe: dict[str, Any]
    figures: dict[str, Any]


class ResultKind(ABC):
    """Figures that can be frozen; one object of each kind is registered.

    Attributes
    ----------
    name
        In manifests, and before ``_frozen``, ``_published``, ``_withdrawn`` in a study's history.
    Model
        The table of its snapshots.
    subject
        The fields of which each combination has one live snapshot.
    owner
        The field whose row is the lock under which numbers are given out and snapshots freeze;
        numbers count within it.
    """

    name: str
    Model: type[Snapshot]
    subject: tuple[str, ...]
    owner: str = "study"

    @abstractmethod
    def place(self, subject: Any) -> dict[str, Any]:
        """Fields of a snapshot that say what it is about, its owner among them."""

    @abstractmethod
    def marker(self, subject: Any) -> str:
        """A cheap digest of everything the figures depend on."""

    @abstractmethod
    def compute(self, subject: Any) -> Computed:
        """Read the rows once and compute every figure from what was read; stores nothing."""

    @abstractmethod
    def figures_of(self, rows: bytes, recipe: dict[str, Any]) -> dict[str, Any]:
        """The figures that plain rows give by a stored recipe; the parts that can be checked."""

    def about(self, snapshot: Any) -> str:
        """What a snapshot is about, for a study's history."""
        return ""

    def study_of(self, snapshot: Any) -> Study:
        """The study in whose history it stands."""
        study: Study = snapshot.study
        return study

    def changes(self, before: Any, after: Any) -> dict[str, Any]:
        """What moved since the snapshot of the same subject that was frozen last, if any."""
        return {}

    def live(self, subject: Any) -> Any:
        """The live snapshot of a subject, as a queryset of one row or none."""
        return self.Model._default_manager.filter(**self.place(subject), frozen_at__isnull=True)

    def more_files(self, snapshot: Any) -> dict[str, bytes]:
        """What else stands in an archive."""
        return {}


KINDS: dict[str, ResultKind] = {}


def register(kind: ResultKind) -> None:
    """Make a kind known to the checks; in the app's ``ready()``."""
    KINDS[kind.name] = kind
