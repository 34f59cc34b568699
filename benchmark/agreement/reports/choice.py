"""Which snapshot's figures of agreement a page shows, and which part of them."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.db.models import F, QuerySet
from django.utils.translation import gettext as _

from benchmark.agreement.methods.figures import Agreement, Pair
from benchmark.leaderboard.models import BoardSnapshot
from cqa_site.people.models import Study
from cqa_site.web.not_there import NotThere

PEOPLE = "people"
TOTAL = "total"
MEASURES = (
    "alpha_interval",
    "alpha_ordinal",
    "pearson",
    "spearman",
    "kendall",
    "leniency",
    "exact",
)
APART = "~"


@dataclass(frozen=True)
class Choice:
    """What is looked at, from the address; anything that does not exist falls back.

    Attributes
    ----------
    column, measure
        Of the tables of all pairs.
    first, second
        Keys of the pair shown in detail; empty without any pair.
    judge
        Key of the judge of the verdict; empty without judges.
    snapshot, rubric
        As in the address, empty where it does not name them.
    condition
        Id of the condition that the figures are of; empty for all of them together.
    """

    column: str = TOTAL
    measure: str = MEASURES[0]
    first: str = ""
    second: str = ""
    judge: str = ""
    snapshot: str = ""
    rubric: str = ""
    condition: str = ""

    @classmethod
    def from_query(
        cls, query: Mapping[str, str], figures: Agreement, condition: str = ""
    ) -> Choice:
        columns = [each.key for each in figures.columns]
        pairs = [(each.first, each.second) for each in figures.pairs]
        judges = [each.key for each in figures.judges]
        wanted = tuple(query.get("pair", "").split(APART))
        first, second = wanted if wanted in pairs else pairs[0] if pairs else ("", "")
        return cls(
            column=_one_of(query.get("column"), columns),
            measure=_one_of(query.get("measure"), list(MEASURES)),
            first=first,
            second=second,
            judge=_one_of(query.get("judge"), judges),
            snapshot=query.get("snapshot", ""),
            rubric=query.get("rubric", ""),
            condition=condition,
        )

    @property
    def pair(self) -> str:
        """The pair as the address names it."""
        return f"{self.first}{APART}{self.second}" if self.first else ""

    @property
    def query(self) -> str:
        """The query part of an address that leads back to this choice."""
        parts = {
            "column": self.column if self.column != TOTAL else "",
            "measure": self.measure if self.measure != MEASURES[0] else "",
            "pair": self.pair,
            "judge": self.judge,
            "snapshot": self.snapshot,
            "rubric": self.rubric,
            "condition": self.condition,
        }
        return urlencode({name: value for name, value in parts.items() if value})

    @property
    def where(self) -> str:
        """The part of the query that names the snapshot, and the condition."""
        parts = {"snapshot": self.snapshot, "rubric": self.rubric, "condition": self.condition}
        return urlencode({name: value for name, value in parts.items() if value})


def snapshot_of(study: Study, query: Mapping[str, str]) -> BoardSnapshot | None:
    """The snapshot named by ``snapshot`` or ``rubric``, else the one computed last.

    It has the figures of agreement as ``agreement`` and neither rows nor other figures. Raises
    NotThere for one that is named and is not there.
    """
    rows: QuerySet = study.board_snapshots.filter(computed_at__isnull=False)
    rows = rows.defer("rows", "figures").annotate(agreement=F("figures__agreement"))
    wanted = {"public_id": query.get("snapshot"), "rubric__public_id": query.get("rubric")}
    named = {name: _uuid(value) for name, value in wanted.items() if value}
    rows = rows.filter(**named).select_related("rubric").order_by("-computed_at", "-number")
    found: BoardSnapshot | None = rows.first()
    if named and found is None:
        raise NotThere(_("There is no such leaderboard."))
    return found


def state_of(snapshot: BoardSnapshot, choice: Choice) -> str:
    """Names what a page shows; changes with the sheets and with the choice."""
    told = f"{snapshot.public_id}:{snapshot.sha256}:{choice.query}"
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def pair_of(figures: Agreement, choice: Choice) -> Pair | None:
    """The figures of the pair shown in detail."""
    wanted = (choice.first, choice.second)
    return next((each for each in figures.pairs if (each.first, each.second) == wanted), None)


def _one_of(wanted: str | None, known: list[str]) -> str:
    return wanted if wanted in known else (known[0] if known else "")


def _uuid(text: str | None) -> uuid.UUID:
    try:
        return uuid.UUID(text or "")
    except ValueError:
        raise NotThere(_("There is no such leaderboard.")) from None
