"""What a file of stored scores says about one set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, ClassVar

from django.utils.translation import gettext_lazy as _

from argsum.imports.methods.released_scores import StoredRun
from cqa_site.files.actions.rows import Entry

BOOK = "metrics"
LONGEST_NAME = 120
# Tells stored scores from those that were computed here, whatever file they come from.
SETTING = "imported"
_PREFIXES = ("ArgKP21_", "Debate_test_")

# What cluster ids may follow, as `argsum.imports.methods.clustering_order` has it.
ORDER_NAMES = {
    "key_points": _("sorted by key point, then text (released clusterings of ArgKP)"),
    "rows": _("as the rows of the imported file stand (released clusterings of Debate)"),
    "texts": _("sorted by text"),
}


def system_of(options: Mapping[str, Any], file_name: str) -> str:
    """The name of the system asked for, or the file's without ending and corpus."""
    asked = str(options.get("system") or "").strip()
    stem = PurePath(file_name).stem
    for prefix in _PREFIXES:
        stem = stem.removeprefix(prefix)
    return (asked or stem or file_name)[:LONGEST_NAME]


@dataclass(frozen=True, slots=True)
class StoredEntry(Entry):
    """Scores of one set.

    Attributes
    ----------
    dataset
        Its name.
    source, position
        File, and the place in it; both together name a set that the file brings. A file of the
        same name with other sets at these places is refused.
    of
        How many sets the file is about. Where ``topic`` is empty, they are the sets that people
        counted, in the order of topic, stance and system, and ``position`` is the place there.
    scores
        Metric → value.
    scored_with
        The setting of these scores.
    clusters
        Of a file of clusterings; its ids follow the arguments in ``order``.
    order
        What was asked for; see `placing.Placing`.
    together
        All clusterings of the same file, by which the order is checked.
    """

    is_row: ClassVar[bool] = False

    dataset: str
    source: str
    position: int
    of: int
    scores: Mapping[str, float] = field(default_factory=dict)
    topic: str = ""
    stance: int = 0
    system: str = ""
    setting: str = ""
    parameters: Mapping[str, float] = field(default_factory=dict)
    seconds: float | None = None
    clusters: StoredRun | None = None
    order: str = ""
    together: Sequence[StoredRun] = ()
    scored_with: str = SETTING
