"""Which state of votes, final labels and judges a set of figures shows.

Nothing heavy is loaded here: a page that has seen the state asks for it every few seconds.
"""

import hashlib
import json
from dataclasses import dataclass
from typing import Self

from django.db.models import BigIntegerField, Count, Max, Sum
from django.http import QueryDict

from annotation.figures.reports.snapshots import marker
from annotation.judges.models import JudgeLabel
from annotation.labelling.models.campaigns import Campaign

RECIPE_VERSION = 3


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What somebody wants to look at: one judge, a second one, common arguments only."""

    judge: str = ""
    other: str = ""
    is_common: bool = False

    @classmethod
    def from_query(cls, query: QueryDict) -> Self:
        """Read the part of an address behind the question mark."""
        return cls(
            judge=query.get("judge", "")[:80],
            other=query.get("other", "")[:80],
            is_common=query.get("common") == "1",
        )

    @property
    def query(self) -> str:
        """The same choice as part of an address."""
        chosen = QueryDict(mutable=True)
        named = {"judge": self.judge, "other": self.other, "common": "1" if self.is_common else ""}
        chosen.update({name: value for name, value in named.items() if value})
        return chosen.urlencode()


def state_of(campaign: Campaign) -> str:
    """A short name that changes when votes, final labels or judges' labels change; 4 queries."""
    labels = JudgeLabel.objects.filter(campaign=campaign).order_by("run", "trained")
    judged = labels.values_list("run", "trained").annotate(Count("pk"), Count("label"), Max("at"))
    ids = Sum("argument", output_field=BigIntegerField())
    final = campaign.final_labels.order_by("label").values_list("label").annotate(Count("pk"), ids)
    runs = campaign.judge_runs.order_by("run").values_list("run", "run__state")
    seen = [RECIPE_VERSION, marker(campaign), list(judged), list(final), list(runs)]
    return hashlib.sha256(json.dumps(seen, default=str).encode()).hexdigest()[:16]
