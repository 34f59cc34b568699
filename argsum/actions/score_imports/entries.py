"""What a file of stored scores says about one set."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, ClassVar

from annotation.actions.importing.rows import Extra

BOOK = "metrics"
LONGEST_NAME = 120
# Tells stored scores from those that were computed here, whatever file they come from.
SETTING = "imported"
_PREFIX = "ArgKP21_"


def system_of(options: Mapping[str, Any], file_name: str) -> str:
    """The name of the system asked for, or the file's without ending and corpus."""
    asked = str(options.get("system") or "").strip()
    return (asked or PurePath(file_name).stem.removeprefix(_PREFIX) or file_name)[:LONGEST_NAME]


@dataclass(frozen=True, slots=True)
class StoredEntry(Extra):
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
        Ids in the order of key point and text; None where the file has none.
    """

    book: ClassVar[str] = BOOK

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
    clusters: tuple[int, ...] | None = None
    scored_with: str = SETTING
