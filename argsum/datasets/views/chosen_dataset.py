"""The dataset that a page is narrowed to, and what stands for the state of its figures."""

from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import urlencode

from django.http import HttpRequest

from argsum.datasets.models import Dataset
from cqa_site.people.models import Study

LONGEST = 120


@dataclass(frozen=True)
class ChosenDataset:
    """All datasets of a study, and the public id of the chosen one; empty for all of them.

    Systems with ``without`` in their names are left out; empty leaves out none. ``usual`` is
    what an address means that does not say.
    """

    all: list[Dataset]
    chosen: str
    without: str = ""
    usual: str = ""

    @property
    def query(self) -> str:
        """As addresses carry it."""
        given = {"dataset": self.chosen} if self.chosen else {}
        return urlencode(given | ({} if self.without == self.usual else {"without": self.without}))


def chosen_dataset(request: HttpRequest, study: Study, usual: str = "") -> ChosenDataset:
    """What an address asks for; an unknown dataset means all, no ``without`` the usual one."""
    found = list(study.argument_datasets.all())
    wanted = request.GET.get("dataset", "")
    known = wanted in {str(each.public_id) for each in found}
    without = request.GET.get("without", usual).strip()[:LONGEST]
    return ChosenDataset(found, wanted if known else "", without, usual)


def state_of(*shown: object) -> str:
    """A short hash of what is shown; browsers keep charts under it."""
    return sha256(repr(shown).encode()).hexdigest()[:16]
