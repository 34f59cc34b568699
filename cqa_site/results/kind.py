"""What a kind of figures says about itself; how it is kept is the same for all."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as lazy

from cqa_site.people.models import Study

from .models import Snapshot

# More than these say nothing more of what is missing.
MOST_UNMADE = 6


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
    version
        Of its recipes; earlier ones made intervals and tests in other ways.
    subject
        The fields of which each combination has one live snapshot.
    owner
        The field whose row is the lock under which numbers are given out and snapshots freeze;
        numbers count within it.
    in_study
        The path from a snapshot to its study.
    what
        What the figures are, in a word or two.
    page
        The name of the address of a snapshot, with (study, number).
    unmade_says
        What becomes of figures that are not there yet when somebody opens their page.
    """

    name: str
    Model: type[Snapshot]
    version: int
    subject: tuple[str, ...]
    owner: str = "study"
    in_study: str = "study"
    what: str | Promise
    page: str
    unmade_says: str | Promise = lazy("not computed yet: opening the page computes them")
    # What `about` and `url` read beside a snapshot.
    needed: tuple[str, ...] = ()

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

    def comparable(self, figures: dict[str, Any]) -> dict[str, Any]:
        """What of the figures, stored or computed again, an earlier version had, too."""
        return figures

    def about(self, snapshot: Any) -> str:
        """What a snapshot is about, for a study's history."""
        return ""

    def url(self, snapshot: Any) -> str:
        """Where a snapshot is looked at."""
        return reverse(self.page, args=[self.study_of(snapshot).public_id, snapshot.number])

    def newest(self, study: Study) -> Any:
        """Its computed snapshots in a study, newest first, without rows and figures."""
        rows = self.Model._default_manager.filter(**{self.in_study: study})
        computed = rows.filter(computed_at__isnull=False).select_related(*self.needed)
        return computed.defer("rows", "figures", "changes").order_by("-computed_at", "-pk")

    def unmade(self, study: Study) -> Iterable[tuple[str, str]]:
        """What has rows but no figures yet: name and address of the page; a query or two."""
        return ()

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
